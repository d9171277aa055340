//! Loads skills from a source: a directory, an archive, or an index at a URL. A skill is read completely before it
//! is checked.

use std::path::Path;

use rep_library::{discovery, skill_reader};
use rep_model::{Skill, SkillTree};

use crate::atomic_dir::{PackageFile, PackageFileContent};
use crate::error::{PackageError, PackageErrorCode};
use crate::index::{self, IndexedSkill, SkillDownload};
use crate::lock::{InstallOrigin, InstalledSkill, SkillsLockFile};
use crate::scope::InstallScope;
use crate::{files, working_copy};

/// The maximum size of a fetched index or SKILL.md.
const INDEX_BYTES_MAX: u64 = 8 << 20;
/// The maximum number of skills from one source.
const SKILLS_MAX: usize = 1000;
/// The maximum number of names in a suggestion.
const NAMES_MAX: usize = 20;

/// A skill that can be installed.
#[derive(Clone, Debug)]
pub struct OfferedSkill {
    /// Its name, which is also a valid directory name.
    pub name: String,
    /// Its description.
    pub description: String,
    /// Its files.
    pub files: Vec<PackageFile>,
    /// Its source.
    pub origin: InstallOrigin,
}

impl OfferedSkill {
    /// Creates a skill from its files. The name is the declared one, or else that of its directory.
    fn new(fallback: &str, files: Vec<PackageFile>, origin: InstallOrigin) -> Result<Self, PackageError> {
        let (skill, _) = Skill::parse(build_skill_tree(fallback, &files));
        let name = skill.name().unwrap_or(fallback).to_owned();
        let description =
            skill.frontmatter().and_then(rep_model::Frontmatter::description).map_or("", |text| text.value).to_owned();
        if !is_folder_name(&name) {
            let message = format!("`{}` is not a valid directory name", name.escape_debug());
            return Err(
                PackageError::new(PackageErrorCode::InvalidSkill, message).remedy("ask its author to rename it")
            );
        }
        Ok(Self { name, description, files, origin })
    }

    /// Returns its files as the checks read them, in a directory with its name.
    pub fn to_skill_tree(&self) -> SkillTree {
        build_skill_tree(&self.name, &self.files)
    }
}

fn build_skill_tree(folder: &str, files: &[PackageFile]) -> SkillTree {
    skill_reader::build_tree(
        folder,
        folder,
        files.iter().map(|file| (file.path.as_str(), file.bytes(), file.is_executable)),
    )
}

/// Whether a skill's name is a valid directory name on every system. The checks decide whether it is a good name.
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

/// Loads the skills that a source offers, sorted by name. `wanted` are the requested names; empty means all. `warn`
/// receives a message for each skipped skill.
pub fn load_offered_skills(
    source: &str,
    wanted: &[String],
    scope: &InstallScope,
    warn: &mut dyn FnMut(&str),
) -> Result<Vec<OfferedSkill>, PackageError> {
    let path = Path::new(source);
    let mut offered = if is_address(source) {
        load_from_index(source, wanted, warn)?
    } else if path.is_file() && rep_archive::is_archive_name(source) {
        load_from_archive(path, scope)?
    } else if path.exists() {
        load_from_folder(path, scope, warn)?
    } else {
        return Err(unknown_source_error(source));
    };
    if offered.len() > SKILLS_MAX {
        let count = offered.len();
        let message = format!("`{source}` has {count} skills; at most {SKILLS_MAX} can be installed at once");
        return Err(PackageError::new(PackageErrorCode::TooMany, message).remedy("pass a subdirectory"));
    }
    offered.sort_by(|one, two| one.name.cmp(&two.name));
    // Repositories often contain the same skill for several hosts; it counts once. Different skills with one name
    // are ambiguous.
    offered.dedup_by(|two, one| {
        one.name == two.name && files::digest_files(&one.files) == files::digest_files(&two.files)
    });
    if let Some(missing) = wanted.iter().find(|name| !offered.iter().any(|one| one.name == **name)) {
        return Err(missing_skill_error(missing, source, &offered));
    }
    if !wanted.is_empty() {
        offered.retain(|one| wanted.contains(&one.name));
    }
    if let Some(pair) = offered.windows(2).find(|pair| pair[0].name == pair[1].name) {
        let [one, two] = [&pair[0], &pair[1]].map(|one| one.origin.skill_path.as_deref().unwrap_or("SKILL.md"));
        let message = format!("`{source}` has two skills named `{}`: {one} and {two}", pair[0].name);
        return Err(PackageError::new(PackageErrorCode::Ambiguous, message).remedy("pass the directory of one of them"));
    }
    Ok(offered)
}

fn unknown_source_error(source: &str) -> PackageError {
    let error = PackageError::new(PackageErrorCode::UnknownSource, format!("`{source}` does not exist"));
    if source.split('/').count() == 2 && !source.starts_with('.') {
        let folder = source.rsplit('/').next().unwrap_or_default();
        return error.remedy(format!("repositories are not fetched; run `git clone`, then `rep install {folder}`"));
    }
    error.remedy("pass a directory, a .skill, .zip or .tar.gz file, or an https URL with an index of skills")
}

fn missing_skill_error(name: &str, source: &str, offered: &[OfferedSkill]) -> PackageError {
    let error = PackageError::new(PackageErrorCode::SkillNotFound, format!("`{source}` has no skill `{name}`"));
    let names: Vec<&str> = offered.iter().map(|one| one.name.as_str()).take(NAMES_MAX).collect();
    if names.is_empty() { error } else { error.remedy(format!("its skills are: {}", names.join(", "))) }
}

fn open_archive(bytes: &[u8], shown: &str) -> Result<(Vec<rep_archive::ArchiveEntry>, Option<String>), PackageError> {
    rep_archive::open(bytes).map_err(|error| {
        PackageError::new(PackageErrorCode::InvalidArchive, format!("could not open `{shown}`: {error}"))
    })
}

fn load_from_archive(path: &Path, scope: &InstallScope) -> Result<Vec<OfferedSkill>, PackageError> {
    let shown = path.display().to_string();
    let bytes = files::read_file(path, rep_archive::ARCHIVE_BYTES_MAX).map_err(|error| {
        PackageError::new(PackageErrorCode::Unreadable, format!("could not read `{shown}`: {error}"))
    })?;
    let (found, top) = open_archive(&bytes, &shown)?;
    let stem =
        path.file_name().and_then(|name| name.to_str()).and_then(|name| name.split('.').next()).unwrap_or_default();
    let fallback = top.unwrap_or_else(|| stem.to_owned());
    let skills = files::split_into_skills(found.into_iter().map(PackageFile::from).collect());
    if skills.is_empty() {
        return Err(no_manifest_error(&shown));
    }
    let origin = |folder: &str| InstallOrigin {
        kind: "local".to_owned(),
        source: scope.portable_path(path),
        skill_path: Some(if folder.is_empty() { "SKILL.md".to_owned() } else { format!("{folder}/SKILL.md") }),
        ..InstallOrigin::default()
    };
    let named =
        |folder: &str| folder.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(&fallback).to_owned();
    skills.into_iter().map(|(folder, files)| OfferedSkill::new(&named(&folder), files, origin(&folder))).collect()
}

fn no_manifest_error(shown: &str) -> PackageError {
    PackageError::new(PackageErrorCode::NotASkill, format!("`{shown}` does not contain a SKILL.md"))
}

fn load_from_folder(
    path: &Path,
    scope: &InstallScope,
    warn: &mut dyn FnMut(&str),
) -> Result<Vec<OfferedSkill>, PackageError> {
    let mut found = Vec::new();
    for note in discovery::find_skills(path, |skill| found.push(skill))? {
        warn(&note);
    }
    let root = if path.is_file() {
        path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
    } else {
        path
    };
    let commit = working_copy::read_commit(root);
    let mut offered = Vec::new();
    for skill in found {
        let shown = &skill.shown;
        if skill.is_lone_file {
            warn(&format!("skipped `{shown}`: it is a single file, and hosts read directories"));
            continue;
        }
        if skill.is_linked {
            warn(&format!("skipped `{shown}`: it is behind a link; pass its own path to install it"));
            continue;
        }
        let has_manifest = ["SKILL.md", "skill.md"].iter().any(|name| skill.path.join(name).exists());
        if !has_manifest {
            return Err(no_manifest_error(shown));
        }
        let below = skill.path.strip_prefix(root).unwrap_or(&skill.path).to_string_lossy().into_owned();
        let skill_path = if below.is_empty() { "SKILL.md".to_owned() } else { format!("{below}/SKILL.md") };
        let origin = InstallOrigin {
            kind: "local".to_owned(),
            source: scope.portable_path(root),
            skill_path: Some(skill_path),
            commit: commit.clone(),
            ..InstallOrigin::default()
        };
        offered.push(OfferedSkill::new(
            &skill_reader::folder_name(&skill.path),
            files::read_skill_files(&skill.path)?,
            origin,
        )?);
    }
    Ok(offered)
}

fn fetch_bytes(url: &str, most: u64) -> Result<Vec<u8>, PackageError> {
    rep_net::fetch::fetch_file(url, most)
        .map_err(|error| PackageError::new(PackageErrorCode::FetchFailed, error.to_string()))
}

/// Fetches the index of a URL from the first path that has one.
fn fetch_index(source: &str, warn: &mut dyn FnMut(&str)) -> Result<Vec<IndexedSkill>, PackageError> {
    let mut first = None;
    for url in index::list_candidate_urls(source) {
        let bytes = match fetch_bytes(&url, INDEX_BYTES_MAX) {
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
    let [one, two] = index::INDEX_PATHS;
    Err(first.unwrap_or_else(none).remedy(format!("an index must be at {one} or {two}")))
}

fn load_from_index(
    source: &str,
    wanted: &[String],
    warn: &mut dyn FnMut(&str),
) -> Result<Vec<OfferedSkill>, PackageError> {
    let mut skills = fetch_index(source, warn)?;
    if skills.is_empty() {
        let message = format!("the index of `{source}` has no installable skill");
        return Err(PackageError::new(PackageErrorCode::NotASkill, message));
    }
    if !wanted.is_empty() && wanted.iter().all(|name| skills.iter().any(|skill| skill.name == *name)) {
        skills.retain(|skill| wanted.contains(&skill.name));
    }
    skills.into_iter().map(|skill| load_from_index_entry(source, &skill)).collect()
}

/// Fetches one skill of an index, and compares it with the digest in the index.
fn load_from_index_entry(source: &str, skill: &IndexedSkill) -> Result<OfferedSkill, PackageError> {
    let whole = |url: &str, digest: &str, most: u64| {
        let bytes = fetch_bytes(url, most)?;
        if files::digest_bytes(&bytes) == digest {
            return Ok(bytes);
        }
        let message = format!("the content of `{url}` does not match the digest in its index");
        Err(PackageError::new(PackageErrorCode::DigestMismatch, message)
            .remedy("nothing was installed; report this to the server's operator"))
    };
    let file = |path: &str, bytes: Vec<u8>| PackageFile {
        path: path.to_owned(),
        content: PackageFileContent::InMemory(bytes),
        is_executable: false,
    };
    let found = match &skill.download {
        SkillDownload::Manifest(url, digest) => vec![file("SKILL.md", whole(url, digest, INDEX_BYTES_MAX)?)],
        SkillDownload::Archive(url, digest) => {
            let (entries, _) = open_archive(&whole(url, digest, rep_archive::ARCHIVE_BYTES_MAX)?, url)?;
            entries.into_iter().map(PackageFile::from).collect()
        }
        SkillDownload::Files(list) => {
            let all = list.iter().map(|(path, url)| Ok(file(path, fetch_bytes(url, INDEX_BYTES_MAX)?)));
            all.collect::<Result<Vec<PackageFile>, PackageError>>()?
        }
    };
    let host = index::server_origin(source).and_then(|server| server.split("://").nth(1)).unwrap_or(source);
    let host = host.rsplit('@').next().unwrap_or(host);
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    let origin = InstallOrigin {
        kind: "well-known".to_owned(),
        source: name.to_owned(),
        url: Some(source.to_owned()),
        index_digest: Some(skill.download.digest().map_or_else(|| compute_npm_index_digest(&found), str::to_owned)),
        ..InstallOrigin::default()
    };
    let offered = OfferedSkill::new(&skill.name, found, origin)?;
    if offered.name != skill.name {
        let message =
            format!("the index names it `{}`, but the skill declares the name `{}`", skill.name, offered.name);
        return Err(PackageError::new(PackageErrorCode::InvalidSkill, message));
    }
    Ok(offered)
}

/// Computes the digest of files of an index without digests, as the npm tool does: paths and contents, separated by
/// zero bytes.
fn compute_npm_index_digest(found: &[PackageFile]) -> String {
    let mut sorted: Vec<&PackageFile> = found.iter().collect();
    sorted.sort_by(|one, two| one.path.cmp(&two.path));
    let bytes: Vec<u8> =
        sorted.iter().flat_map(|file| [file.path.as_bytes(), &[0], file.bytes(), &[0]].concat()).collect();
    files::digest_bytes(&bytes)
}

/// The result of comparing an installed skill with its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceState {
    /// The source has the same version.
    Current,
    /// The source has a different version. Contains the difference.
    Outdated(String),
    /// The source no longer contains the skill. Contains the source.
    Gone(String),
    /// The source could not be read. Contains the reason.
    Unknown(String),
}

impl SourceState {
    /// Returns the name in JSON results.
    pub const fn as_str(&self) -> &'static str {
        match self {
            SourceState::Current => "current",
            SourceState::Outdated(_) => "outdated",
            SourceState::Gone(_) => "gone",
            SourceState::Unknown(_) => "unknown",
        }
    }

    /// Returns why it is not current; empty if it is.
    pub fn reason(&self) -> &str {
        match self {
            SourceState::Current => "",
            SourceState::Outdated(why) | SourceState::Gone(why) | SourceState::Unknown(why) => why,
        }
    }
}

/// An installed skill compared with its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceComparison {
    /// The skill's name.
    pub name: String,
    /// Its source: a URL, or a path as in the lock file.
    pub source: String,
    /// The result.
    pub state: SourceState,
}

/// Compares the named installed skills, or all, with their sources. `warn` receives a message for each skipped
/// index entry.
pub fn compare_with_sources(
    names: &[String],
    scope: &InstallScope,
    warn: &mut dyn FnMut(&str),
) -> Result<Vec<SourceComparison>, PackageError> {
    let lock: SkillsLockFile = scope.read_lock_file()?;
    let names = if names.is_empty() { lock.skill_names() } else { names.to_vec() };
    let mut all = Vec::with_capacity(names.len());
    for name in names {
        let skill = scope.find_installed(&lock, &name)?;
        let state = check_source(&name, &skill, scope, warn);
        let source = skill.origin.url.unwrap_or(skill.origin.source);
        all.push(SourceComparison { name, source, state });
    }
    Ok(all)
}

fn check_source(name: &str, skill: &InstalledSkill, scope: &InstallScope, warn: &mut dyn FnMut(&str)) -> SourceState {
    let origin = &skill.origin;
    match (origin.kind.as_str(), &origin.url) {
        ("well-known", Some(url)) => match fetch_index(url, warn) {
            Err(error) => SourceState::Unknown(error.message),
            Ok(skills) => match skills.iter().find(|one| one.name == name) {
                None => SourceState::Gone(format!("the index of `{url}` no longer contains it")),
                Some(one) => match (one.download.digest(), &origin.index_digest) {
                    (Some(new), Some(old)) if new == old => SourceState::Current,
                    (Some(_), _) => SourceState::Outdated("the index has a different digest".to_owned()),
                    (None, _) => match load_from_index_entry(url, one) {
                        Ok(offered) if Some(compute_npm_index_digest(&offered.files)) == origin.index_digest => {
                            SourceState::Current
                        }
                        Ok(_) => SourceState::Outdated("its files changed".to_owned()),
                        Err(error) => SourceState::Unknown(error.message),
                    },
                },
            },
        },
        ("local", _) if !skill.is_foreign => check_local_source(name, skill, scope),
        (kind, _) => SourceState::Unknown(format!("the source type `{kind}` belongs to another tool")),
    }
}

fn check_local_source(name: &str, skill: &InstalledSkill, scope: &InstallScope) -> SourceState {
    let origin = &skill.origin;
    let path = scope.base.join(&origin.source);
    if !path.exists() {
        return SourceState::Unknown(format!("`{}` does not exist", origin.source));
    }
    let found = if path.is_file() {
        load_from_archive(&path, scope)
            .map(|skills| skills.into_iter().find(|one| one.name == name).map(|one| one.files))
    } else {
        let manifest = path.join(origin.skill_path.as_deref().unwrap_or("SKILL.md"));
        let folder = manifest.parent().unwrap_or(&path).to_owned();
        if folder.is_dir() { files::read_skill_files(&folder).map(Some).map_err(PackageError::from) } else { Ok(None) }
    };
    match found {
        Err(error) => SourceState::Unknown(error.message),
        Ok(None) => SourceState::Gone(format!("`{}` no longer contains it", origin.source)),
        Ok(Some(files)) if files::digest_files(&files) == skill.digest => SourceState::Current,
        Ok(Some(_)) => {
            let commit = if path.is_dir() { working_copy::read_commit(&path) } else { None };
            match (&origin.commit, commit) {
                (Some(old), Some(new)) if *old != new => {
                    SourceState::Outdated(format!("{} → {}", shorten_commit(old), shorten_commit(&new)))
                }
                _ => SourceState::Outdated("its files changed".to_owned()),
            }
        }
    }
}

fn shorten_commit(commit: &str) -> &str {
    commit.get(..10).unwrap_or(commit)
}
