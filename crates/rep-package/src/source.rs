//! Where skills come from: a folder, an archive, or an index at an address. All of a skill is read before anything is checked.

use std::path::Path;

use rep_library::{find, read};
use rep_model::{Skill, SkillTree};

use crate::error::{PackageError, PackageErrorCode};
use crate::index::{self, Fetched, Indexed};
use crate::lock::{Installed, Lock, Origin};
use crate::place::{Bytes, Placed};
use crate::scope::InstallScope;
use crate::{files, working_copy};

/// The largest index, and the largest SKILL.md, that are fetched.
const INDEX_BYTES_MAX: u64 = 8 << 20;
/// The most skills that are taken from one source.
const SKILLS_MAX: usize = 1000;
/// The most names that are suggested.
const NAMES_MAX: usize = 20;

/// A skill that can be installed.
#[derive(Clone, Debug)]
pub struct OfferedSkill {
    /// Its name, which can be a folder's.
    pub name: String,
    /// What it says of itself.
    pub description: String,
    /// Its files.
    pub files: Vec<Placed>,
    /// Where it comes from.
    pub origin: Origin,
}

impl OfferedSkill {
    /// A skill of its own files: the name is the one it gives itself, else that of its folder.
    fn new(fallback: &str, files: Vec<Placed>, origin: Origin) -> Result<Self, PackageError> {
        let (skill, _) = Skill::parse(tree(fallback, &files));
        let name = skill.name().unwrap_or(fallback).to_owned();
        let description =
            skill.front().and_then(rep_model::Frontmatter::description).map_or("", |text| text.value).to_owned();
        if !is_folder_name(&name) {
            let message = format!("`{}` cannot be the name of a folder", name.escape_debug());
            return Err(
                PackageError::new(PackageErrorCode::InvalidSkill, message).remedy("its author gives it another name")
            );
        }
        Ok(Self { name, description, files, origin })
    }

    /// Its files as the checks read them, in a folder of its own name.
    pub fn tree(&self) -> SkillTree {
        tree(&self.name, &self.files)
    }
}

fn tree(folder: &str, files: &[Placed]) -> SkillTree {
    read::held(folder, folder, files.iter().map(|file| (file.path.as_str(), file.bytes(), file.is_executable)))
}

/// Whether a skill's name can be a folder's, everywhere. Whether it is a good one is for the checks to say.
fn is_folder_name(name: &str) -> bool {
    let is_letter = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.');
    !name.is_empty()
        && name.len() <= 200
        && !name.starts_with('.')
        && !name.ends_with('.')
        && name.chars().all(is_letter)
}

fn is_address(source: &str) -> bool {
    source.starts_with("http://") || source.starts_with("https://")
}

/// The skills a source offers, in order of name. `wanted` are the names that were asked for; none means all. `warn` hears what
/// was skipped.
pub fn offered_skills(
    source: &str,
    wanted: &[String],
    scope: &InstallScope,
    warn: &mut dyn FnMut(&str),
) -> Result<Vec<OfferedSkill>, PackageError> {
    let path = Path::new(source);
    let mut offered = if is_address(source) {
        from_index(source, wanted, warn)?
    } else if path.is_file() && rep_archive::is_archive_name(source) {
        from_archive(path, scope)?
    } else if path.exists() {
        from_folder(path, scope, warn)?
    } else {
        return Err(unknown(source));
    };
    if offered.len() > SKILLS_MAX {
        let count = offered.len();
        let message = format!("`{source}` has {count} skills, and no more than {SKILLS_MAX} are installed at once");
        return Err(PackageError::new(PackageErrorCode::TooMany, message).remedy("name a folder further down"));
    }
    offered.sort_by(|one, two| one.name.cmp(&two.name));
    // The same skill for several hosts, as repositories have it, is one; different ones of a name are ambiguous.
    offered.dedup_by(|two, one| one.name == two.name && files::digest(&one.files) == files::digest(&two.files));
    if let Some(missing) = wanted.iter().find(|name| !offered.iter().any(|one| one.name == **name)) {
        return Err(absent(missing, source, &offered));
    }
    if !wanted.is_empty() {
        offered.retain(|one| wanted.contains(&one.name));
    }
    if let Some(pair) = offered.windows(2).find(|pair| pair[0].name == pair[1].name) {
        let [one, two] = [&pair[0], &pair[1]].map(|one| one.origin.skill_path.as_deref().unwrap_or("SKILL.md"));
        let message = format!("`{source}` has two skills called `{}`: {one} and {two}", pair[0].name);
        return Err(PackageError::new(PackageErrorCode::Ambiguous, message).remedy("name the folder of one of them"));
    }
    Ok(offered)
}

fn unknown(source: &str) -> PackageError {
    let error = PackageError::new(PackageErrorCode::UnknownSource, format!("there is no `{source}`"));
    if source.split('/').count() == 2 && !source.starts_with('.') {
        let folder = source.rsplit('/').next().unwrap_or_default();
        return error
            .remedy(format!("repositories are not fetched: `git clone` it first, then `rep install {folder}`"));
    }
    error.remedy("a source is a folder, a .skill, .zip or .tar.gz, or an https address with an index of skills")
}

fn absent(name: &str, source: &str, offered: &[OfferedSkill]) -> PackageError {
    let error = PackageError::new(PackageErrorCode::SkillNotFound, format!("`{source}` has no skill `{name}`"));
    let names: Vec<&str> = offered.iter().map(|one| one.name.as_str()).take(NAMES_MAX).collect();
    if names.is_empty() { error } else { error.remedy(format!("it has {}", names.join(", "))) }
}

fn opened(bytes: &[u8], shown: &str) -> Result<(Vec<rep_archive::ArchiveEntry>, Option<String>), PackageError> {
    rep_archive::open(bytes).map_err(|error| {
        PackageError::new(PackageErrorCode::InvalidArchive, format!("`{shown}` was not opened: {error}"))
    })
}

fn from_archive(path: &Path, scope: &InstallScope) -> Result<Vec<OfferedSkill>, PackageError> {
    let shown = path.display().to_string();
    let bytes = files::read_file(path, rep_archive::ARCHIVE_BYTES_MAX).map_err(|error| {
        PackageError::new(PackageErrorCode::Unreadable, format!("could not read `{shown}`: {error}"))
    })?;
    let (found, top) = opened(&bytes, &shown)?;
    let stem =
        path.file_name().and_then(|name| name.to_str()).and_then(|name| name.split('.').next()).unwrap_or_default();
    let fallback = top.unwrap_or_else(|| stem.to_owned());
    let skills = files::split(found.into_iter().map(Placed::from).collect());
    if skills.is_empty() {
        return Err(no_manifest(&shown));
    }
    let origin = |folder: &str| Origin {
        kind: "local".to_owned(),
        source: scope.portable(path),
        skill_path: Some(if folder.is_empty() { "SKILL.md".to_owned() } else { format!("{folder}/SKILL.md") }),
        ..Origin::default()
    };
    let named =
        |folder: &str| folder.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(&fallback).to_owned();
    skills.into_iter().map(|(folder, files)| OfferedSkill::new(&named(&folder), files, origin(&folder))).collect()
}

fn no_manifest(shown: &str) -> PackageError {
    PackageError::new(PackageErrorCode::NotASkill, format!("`{shown}` holds no SKILL.md"))
}

fn from_folder(
    path: &Path,
    scope: &InstallScope,
    warn: &mut dyn FnMut(&str),
) -> Result<Vec<OfferedSkill>, PackageError> {
    let mut found = Vec::new();
    for note in find::skills(path, |skill| found.push(skill))? {
        warn(&note);
    }
    let root = if path.is_file() {
        path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
    } else {
        path
    };
    let commit = working_copy::commit(root);
    let mut offered = Vec::new();
    for skill in found {
        let shown = &skill.shown;
        if skill.is_lone_file {
            warn(&format!("`{shown}` is a lone file and no folder that hosts read; it is passed over"));
            continue;
        }
        if skill.is_linked {
            warn(&format!("`{shown}` is reached by a link and is passed over; name it itself to install it"));
            continue;
        }
        let has_manifest = ["SKILL.md", "skill.md"].iter().any(|name| skill.path.join(name).exists());
        if !has_manifest {
            return Err(no_manifest(shown));
        }
        let below = skill.path.strip_prefix(root).unwrap_or(&skill.path).to_string_lossy().into_owned();
        let skill_path = if below.is_empty() { "SKILL.md".to_owned() } else { format!("{below}/SKILL.md") };
        let origin = Origin {
            kind: "local".to_owned(),
            source: scope.portable(root),
            skill_path: Some(skill_path),
            commit: commit.clone(),
            ..Origin::default()
        };
        offered.push(OfferedSkill::new(&read::folder_name(&skill.path), files::read(&skill.path)?, origin)?);
    }
    Ok(offered)
}

fn fetched(url: &str, most: u64) -> Result<Vec<u8>, PackageError> {
    rep_net::fetch::fetch(url, most)
        .map_err(|error| PackageError::new(PackageErrorCode::FetchFailed, error.to_string()))
}

/// The index of an address: the first of the places it may be at.
fn indexed(source: &str, warn: &mut dyn FnMut(&str)) -> Result<Vec<Indexed>, PackageError> {
    let mut first = None;
    for url in index::candidates(source) {
        let bytes = match fetched(&url, INDEX_BYTES_MAX) {
            Ok(bytes) => bytes,
            Err(error) => {
                first.get_or_insert(error);
                continue;
            }
        };
        let (skills, skipped) = index::parse(&bytes, &url)
            .map_err(|reason| PackageError::new(PackageErrorCode::InvalidIndex, format!("`{url}`: {reason}")))?;
        for note in skipped {
            warn(&note);
        }
        return Ok(skills);
    }
    let none = || PackageError::new(PackageErrorCode::FetchFailed, format!("`{source}` has no index of skills"));
    let [one, two] = index::PLACES;
    Err(first.unwrap_or_else(none).remedy(format!("an index of skills is looked for at {one} and {two}")))
}

fn from_index(source: &str, wanted: &[String], warn: &mut dyn FnMut(&str)) -> Result<Vec<OfferedSkill>, PackageError> {
    let mut skills = indexed(source, warn)?;
    if skills.is_empty() {
        let message = format!("the index of `{source}` has no skill that can be installed");
        return Err(PackageError::new(PackageErrorCode::NotASkill, message));
    }
    if !wanted.is_empty() && wanted.iter().all(|name| skills.iter().any(|skill| skill.name == *name)) {
        skills.retain(|skill| wanted.contains(&skill.name));
    }
    skills.into_iter().map(|skill| from_index_entry(source, &skill)).collect()
}

/// Fetches one skill of an index, and compares what comes with what the index says.
fn from_index_entry(source: &str, skill: &Indexed) -> Result<OfferedSkill, PackageError> {
    let whole = |url: &str, digest: &str, most: u64| {
        let bytes = fetched(url, most)?;
        if files::digest_of(&bytes) == digest {
            return Ok(bytes);
        }
        let message = format!("what `{url}` sent is not what its index says: it has another digest");
        Err(PackageError::new(PackageErrorCode::DigestMismatch, message)
            .remedy("tell whoever runs the server; nothing was installed"))
    };
    let file = |path: &str, bytes: Vec<u8>| Placed {
        path: path.to_owned(),
        content: Bytes::Here(bytes),
        is_executable: false,
    };
    let found = match &skill.fetched {
        Fetched::Manifest(url, digest) => vec![file("SKILL.md", whole(url, digest, INDEX_BYTES_MAX)?)],
        Fetched::Archive(url, digest) => {
            let (entries, _) = opened(&whole(url, digest, rep_archive::ARCHIVE_BYTES_MAX)?, url)?;
            entries.into_iter().map(Placed::from).collect()
        }
        Fetched::Files(list) => {
            let all = list.iter().map(|(path, url)| Ok(file(path, fetched(url, INDEX_BYTES_MAX)?)));
            all.collect::<Result<Vec<Placed>, PackageError>>()?
        }
    };
    let host = index::server(source).and_then(|server| server.split("://").nth(1)).unwrap_or(source);
    let host = host.rsplit('@').next().unwrap_or(host);
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    let origin = Origin {
        kind: "well-known".to_owned(),
        source: name.to_owned(),
        url: Some(source.to_owned()),
        index_digest: Some(skill.fetched.digest().map_or_else(|| files_digest(&found), str::to_owned)),
        ..Origin::default()
    };
    let offered = OfferedSkill::new(&skill.name, found, origin)?;
    if offered.name != skill.name {
        let message = format!("the index calls it `{}` and the skill calls itself `{}`", skill.name, offered.name);
        return Err(PackageError::new(PackageErrorCode::InvalidSkill, message));
    }
    Ok(offered)
}

/// The digest of files of an index without digests, as the npm tool computes it: paths and contents with zeros between.
fn files_digest(found: &[Placed]) -> String {
    let mut sorted: Vec<&Placed> = found.iter().collect();
    sorted.sort_by(|one, two| one.path.cmp(&two.path));
    let bytes: Vec<u8> =
        sorted.iter().flat_map(|file| [file.path.as_bytes(), &[0], file.bytes(), &[0]].concat()).collect();
    files::digest_of(&bytes)
}

/// How an installed skill compares with its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceState {
    /// The source has the same.
    Current,
    /// The source has something else; says what.
    Outdated(String),
    /// The source is there, and the skill is not; says where.
    Gone(String),
    /// The source cannot be asked; says why.
    Unknown(String),
}

impl SourceState {
    /// The word in results.
    pub const fn as_str(&self) -> &'static str {
        match self {
            SourceState::Current => "current",
            SourceState::Outdated(_) => "outdated",
            SourceState::Gone(_) => "gone",
            SourceState::Unknown(_) => "unknown",
        }
    }

    /// Why it is not current; empty if it is.
    pub fn reason(&self) -> &str {
        match self {
            SourceState::Current => "",
            SourceState::Outdated(why) | SourceState::Gone(why) | SourceState::Unknown(why) => why,
        }
    }
}

/// An installed skill, compared with its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceComparison {
    /// The skill's name.
    pub name: String,
    /// Its source: an address, or a path as the lock file has it.
    pub source: String,
    /// How they compare.
    pub state: SourceState,
}

/// Compares the installed skills of these names, or all, with their sources. `warn` hears what of an index was skipped.
pub fn compare_with_sources(
    names: &[String],
    scope: &InstallScope,
    warn: &mut dyn FnMut(&str),
) -> Result<Vec<SourceComparison>, PackageError> {
    let lock: Lock = scope.lock()?;
    let names = if names.is_empty() { lock.names() } else { names.to_vec() };
    let mut all = Vec::with_capacity(names.len());
    for name in names {
        let skill = scope.installed(&lock, &name)?;
        let state = source_state(&name, &skill, scope, warn);
        let source = skill.origin.url.unwrap_or(skill.origin.source);
        all.push(SourceComparison { name, source, state });
    }
    Ok(all)
}

fn source_state(name: &str, skill: &Installed, scope: &InstallScope, warn: &mut dyn FnMut(&str)) -> SourceState {
    let origin = &skill.origin;
    match (origin.kind.as_str(), &origin.url) {
        ("well-known", Some(url)) => match indexed(url, warn) {
            Err(error) => SourceState::Unknown(error.message),
            Ok(skills) => match skills.iter().find(|one| one.name == name) {
                None => SourceState::Gone(format!("the index of `{url}` no longer has it")),
                Some(one) => match (one.fetched.digest(), &origin.index_digest) {
                    (Some(new), Some(old)) if new == old => SourceState::Current,
                    (Some(_), _) => SourceState::Outdated("the index has another digest".to_owned()),
                    (None, _) => match from_index_entry(url, one) {
                        Ok(offered) if Some(files_digest(&offered.files)) == origin.index_digest => {
                            SourceState::Current
                        }
                        Ok(_) => SourceState::Outdated("its files changed".to_owned()),
                        Err(error) => SourceState::Unknown(error.message),
                    },
                },
            },
        },
        ("local", _) if !skill.is_foreign => local_state(name, skill, scope),
        (kind, _) => SourceState::Unknown(format!("the source is of the kind `{kind}`, which another tool keeps")),
    }
}

fn local_state(name: &str, skill: &Installed, scope: &InstallScope) -> SourceState {
    let origin = &skill.origin;
    let path = scope.base.join(&origin.source);
    if !path.exists() {
        return SourceState::Unknown(format!("`{}` is not there", origin.source));
    }
    let found = if path.is_file() {
        from_archive(&path, scope).map(|skills| skills.into_iter().find(|one| one.name == name).map(|one| one.files))
    } else {
        let manifest = path.join(origin.skill_path.as_deref().unwrap_or("SKILL.md"));
        let folder = manifest.parent().unwrap_or(&path).to_owned();
        if folder.is_dir() { files::read(&folder).map(Some).map_err(PackageError::from) } else { Ok(None) }
    };
    match found {
        Err(error) => SourceState::Unknown(error.message),
        Ok(None) => SourceState::Gone(format!("`{}` no longer has it", origin.source)),
        Ok(Some(files)) if files::digest(&files) == skill.digest => SourceState::Current,
        Ok(Some(_)) => {
            let commit = if path.is_dir() { working_copy::commit(&path) } else { None };
            match (&origin.commit, commit) {
                (Some(old), Some(new)) if *old != new => {
                    SourceState::Outdated(format!("{} → {}", short_commit(old), short_commit(&new)))
                }
                _ => SourceState::Outdated("its files changed".to_owned()),
            }
        }
    }
}

fn short_commit(commit: &str) -> &str {
    commit.get(..10).unwrap_or(commit)
}
