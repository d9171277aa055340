//! Where skills come from: a folder, an archive, or an index at an address. All of a skill is read before anything is judged.

use std::path::{Path, PathBuf};

use rep_library::{find, read};
use rep_model::{Skill, SkillTree};
use rep_package::index::{self, Fetched, Indexed};
use rep_package::lock::{Installed, Origin};
use rep_package::place::{Bytes, Placed};
use rep_package::{files, working_copy};

use crate::exit::Failure;
use crate::installed::{Scope, relative};
use crate::output::Output;

/// The largest index, and the largest SKILL.md, that are fetched.
const INDEX_BYTES_MAX: u64 = 8 << 20;
/// The most skills that are taken from one source.
const SKILLS_MAX: usize = 1000;

/// A skill that can be installed.
pub(crate) struct Offered {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) files: Vec<Placed>,
    pub(crate) origin: Origin,
}

impl Offered {
    /// Its files as the checks read them, in a folder of its own name.
    pub(crate) fn tree(&self) -> SkillTree {
        held(&self.name, &self.name, &self.files)
    }
}

fn held(shown: &str, folder: &str, files: &[Placed]) -> SkillTree {
    read::held(shown, folder, files.iter().map(|file| (file.path.as_str(), file.bytes(), file.is_executable)))
}

/// Whether a source is an address.
pub(crate) fn is_address(source: &str) -> bool {
    source.starts_with("http://") || source.starts_with("https://")
}

/// The skills a source offers, in order of name. `wanted` are the names that were asked for; none means all.
pub(crate) fn offered(
    source: &str,
    wanted: &[String],
    scope: &Scope,
    output: &mut Output,
) -> Result<Vec<Offered>, Failure> {
    let mut offered = if is_address(source) {
        of_index(source, wanted, output)?
    } else {
        let path = Path::new(source);
        let is_file = path.is_file();
        if is_file && rep_archive::is_archive_name(source) {
            of_archive(path, scope)?
        } else if path.exists() {
            of_folder(path, scope, output)?
        } else {
            return Err(unknown(source));
        }
    };
    if offered.len() > SKILLS_MAX {
        let message =
            format!("`{source}` has {} skills, and no more than {SKILLS_MAX} are installed at once", offered.len());
        return Err(Failure::unable("TOO_MANY", message).hint("name a folder further down"));
    }
    offered.sort_by(|one, two| one.name.cmp(&two.name));
    // The same skill for several hosts, as repositories have it, is one; different ones of a name are a question.
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
        return Err(Failure::unable("AMBIGUOUS", message).hint("name the folder of one of them"));
    }
    Ok(offered)
}

fn unknown(source: &str) -> Failure {
    let failure = Failure::unable("UNKNOWN_SOURCE", format!("there is no `{source}`"));
    if source.split('/').count() == 2 && !source.starts_with('.') {
        return failure.hint(format!(
            "repositories are not fetched: `git clone` it first, then `rep install {}`",
            source.rsplit('/').next().unwrap_or_default()
        ));
    }
    failure.hint("a source is a folder, a .skill, .zip or .tar.gz, or an https address with an index of skills")
}

fn absent(name: &str, source: &str, offered: &[Offered]) -> Failure {
    let failure = Failure::unable("SKILL_NOT_FOUND", format!("`{source}` has no skill `{name}`"));
    let names: Vec<&str> = offered.iter().map(|one| one.name.as_str()).take(20).collect();
    if names.is_empty() { failure } else { failure.hint(format!("it has {}", names.join(", "))) }
}

/// A skill of its own files: the name is the one it gives itself, else that of its folder.
fn one(fallback: &str, files: Vec<Placed>, origin: Origin) -> Result<Offered, Failure> {
    let (skill, _) = Skill::parse(held(fallback, fallback, &files));
    let name = skill.name().unwrap_or(fallback).to_owned();
    let description =
        skill.front().and_then(rep_model::Frontmatter::description).map_or("", |text| text.value).to_owned();
    if !is_folder_name(&name) {
        let message = format!("`{}` cannot be the name of a folder", name.escape_debug());
        return Err(Failure::findings("INVALID_SKILL", message).hint("its author gives it another name"));
    }
    Ok(Offered { name, description, files, origin })
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

fn of_archive(path: &Path, scope: &Scope) -> Result<Vec<Offered>, Failure> {
    let shown = path.display();
    let bytes = files::read_file(path, rep_archive::ARCHIVE_BYTES_MAX)
        .map_err(|error| Failure::unable("UNREADABLE", format!("could not read `{shown}`: {error}")))?;
    let (found, top) = rep_archive::open(&bytes)
        .map_err(|error| Failure::unable("INVALID_ARCHIVE", format!("`{shown}` was not opened: {error}")))?;
    let stem =
        path.file_name().and_then(|name| name.to_str()).and_then(|name| name.split('.').next()).unwrap_or_default();
    let fallback = top.unwrap_or_else(|| stem.to_owned());
    let skills = files::split(found.into_iter().map(Placed::from).collect());
    if skills.is_empty() {
        return Err(Failure::unable("NOT_A_SKILL", format!("`{shown}` holds no SKILL.md")));
    }
    let origin = |folder: &str| Origin {
        kind: "local".to_owned(),
        source: portable(path, scope),
        skill_path: Some(if folder.is_empty() { "SKILL.md".to_owned() } else { format!("{folder}/SKILL.md") }),
        ..Origin::default()
    };
    let named =
        |folder: &str| folder.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(&fallback).to_owned();
    skills.into_iter().map(|(folder, files)| one(&named(&folder), files, origin(&folder))).collect()
}

fn of_folder(path: &Path, scope: &Scope, output: &mut Output) -> Result<Vec<Offered>, Failure> {
    let mut found = Vec::new();
    let left_out = find::skills(path, |skill| found.push(skill))?;
    for note in left_out {
        output.warn(&note);
    }
    let root = if path.is_file() {
        path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
    } else {
        path
    };
    let commit = working_copy::commit(root);
    let mut offered = Vec::new();
    for skill in found {
        if skill.is_lone_file {
            output.warn(&format!("`{}` is a lone file and no folder that hosts read; it is passed over", skill.shown));
            continue;
        }
        if skill.is_linked {
            output.warn(&format!(
                "`{}` is reached by a link and is passed over; name it itself to install it",
                skill.shown
            ));
            continue;
        }
        let has_manifest = ["SKILL.md", "skill.md"].iter().any(|name| skill.path.join(name).exists());
        if !has_manifest {
            return Err(Failure::unable("NOT_A_SKILL", format!("`{}` holds no SKILL.md", skill.shown)));
        }
        let below = skill.path.strip_prefix(root).unwrap_or(&skill.path).to_string_lossy().into_owned();
        let skill_path = if below.is_empty() { "SKILL.md".to_owned() } else { format!("{below}/SKILL.md") };
        let origin = Origin {
            kind: "local".to_owned(),
            source: portable(root, scope),
            skill_path: Some(skill_path),
            commit: commit.clone(),
            ..Origin::default()
        };
        offered.push(one(&read::folder_name(&skill.path), files::read(&skill.path)?, origin)?);
    }
    Ok(offered)
}

/// A path as a lock file has it: seen from the project where that can be, so that it means the same for everybody.
fn portable(path: &Path, scope: &Scope) -> String {
    let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let base = std::fs::canonicalize(&scope.base).unwrap_or_else(|_| scope.base.clone());
    if scope.is_personal {
        return real.to_string_lossy().into_owned();
    }
    let seen = relative(&base, &real).to_string_lossy().into_owned();
    match seen.as_str() {
        "" => ".".to_owned(),
        _ if seen == ".." || seen.starts_with("../") => seen,
        _ => format!("./{seen}"),
    }
}

/// The path of a source a lock file names.
fn local(source: &str, scope: &Scope) -> PathBuf {
    scope.base.join(source)
}

fn fetched(url: &str, most: u64) -> Result<Vec<u8>, Failure> {
    rep_net::fetch::fetch(url, most).map_err(|error| Failure::unable("FETCH_FAILED", error.to_string()))
}

/// The index of an address: the first of the places it may be at.
fn indexed(source: &str, output: &mut Output) -> Result<Vec<Indexed>, Failure> {
    let mut last = None;
    for url in index::candidates(source) {
        let bytes = match fetched(&url, INDEX_BYTES_MAX) {
            Ok(bytes) => bytes,
            Err(failure) => {
                last.get_or_insert(failure);
                continue;
            }
        };
        let (skills, passed) = index::parse(&bytes, &url)
            .map_err(|reason| Failure::unable("INVALID_INDEX", format!("`{url}`: {reason}")))?;
        for note in passed {
            output.warn(&note);
        }
        return Ok(skills);
    }
    let failure = last.unwrap_or_else(|| Failure::unable("FETCH_FAILED", format!("`{source}` has no index of skills")));
    Err(failure.hint(format!("an index of skills is looked for at {} and {}", index::PLACES[0], index::PLACES[1])))
}

fn of_index(source: &str, wanted: &[String], output: &mut Output) -> Result<Vec<Offered>, Failure> {
    let mut skills = indexed(source, output)?;
    if skills.is_empty() {
        return Err(Failure::unable(
            "NOT_A_SKILL",
            format!("the index of `{source}` has no skill that can be installed"),
        ));
    }
    if !wanted.is_empty() && wanted.iter().all(|name| skills.iter().any(|skill| skill.name == *name)) {
        skills.retain(|skill| wanted.contains(&skill.name));
    }
    skills.into_iter().map(|skill| of_entry(source, &skill)).collect()
}

/// Fetches one skill of an index, and holds what comes against what the index says.
fn of_entry(source: &str, skill: &Indexed) -> Result<Offered, Failure> {
    let whole = |url: &str, digest: &str, most: u64| {
        let bytes = fetched(url, most)?;
        if files::digest_of(&bytes) == digest {
            return Ok(bytes);
        }
        let message = format!("what `{url}` sent is not what its index says: it has another digest");
        Err(Failure::refused("DIGEST_MISMATCH", message).hint("tell whoever runs the server; nothing was installed"))
    };
    let file = |path: &str, bytes: Vec<u8>| Placed {
        path: path.to_owned(),
        content: Bytes::Here(bytes),
        is_executable: false,
    };
    let found = match &skill.fetched {
        Fetched::Manifest(url, digest) => vec![file("SKILL.md", whole(url, digest, INDEX_BYTES_MAX)?)],
        Fetched::Archive(url, digest) => {
            let bytes = whole(url, digest, rep_archive::ARCHIVE_BYTES_MAX)?;
            let (entries, _) = rep_archive::open(&bytes)
                .map_err(|error| Failure::unable("INVALID_ARCHIVE", format!("`{url}` was not opened: {error}")))?;
            entries.into_iter().map(Placed::from).collect()
        }
        Fetched::Files(list) => {
            let all = list.iter().map(|(path, url)| Ok(file(path, fetched(url, INDEX_BYTES_MAX)?)));
            all.collect::<Result<Vec<Placed>, Failure>>()?
        }
    };
    let host = index::server(source).and_then(|server| server.split("://").nth(1)).unwrap_or(source);
    let host = host.rsplit('@').next().unwrap_or(host);
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    let origin = Origin {
        kind: "well-known".to_owned(),
        source: name.to_owned(),
        url: Some(source.to_owned()),
        index_digest: Some(skill.fetched.digest().map_or_else(|| of_files(&found), str::to_owned)),
        ..Origin::default()
    };
    let offered = one(&skill.name, found, origin)?;
    if offered.name != skill.name {
        let message = format!("the index calls it `{}` and the skill calls itself `{}`", skill.name, offered.name);
        return Err(Failure::findings("INVALID_SKILL", message));
    }
    Ok(offered)
}

/// What stands for files of an index without digests: the npm tool's way, paths and contents with zeros between.
fn of_files(found: &[Placed]) -> String {
    let mut sorted: Vec<&Placed> = found.iter().collect();
    sorted.sort_by(|one, two| one.path.cmp(&two.path));
    let bytes: Vec<u8> =
        sorted.iter().flat_map(|file| [file.path.as_bytes(), &[0], file.bytes(), &[0]].concat()).collect();
    files::digest_of(&bytes)
}

/// How an installed skill stands to its source.
pub(crate) enum Standing {
    Current,
    Outdated(String),
    /// The source is there, and the skill is not.
    Gone(String),
    /// The source cannot be asked.
    Unknown(String),
}

impl Standing {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Standing::Current => "current",
            Standing::Outdated(_) => "outdated",
            Standing::Gone(_) => "gone",
            Standing::Unknown(_) => "unknown",
        }
    }

    pub(crate) fn why(&self) -> &str {
        match self {
            Standing::Current => "",
            Standing::Outdated(why) | Standing::Gone(why) | Standing::Unknown(why) => why,
        }
    }
}

/// Asks the source of an installed skill whether there is another version.
pub(crate) fn standing(name: &str, skill: &Installed, scope: &Scope, output: &mut Output) -> Standing {
    let origin = &skill.origin;
    match (origin.kind.as_str(), &origin.url) {
        ("well-known", Some(url)) => match indexed(url, output) {
            Err(failure) => Standing::Unknown(failure.message),
            Ok(skills) => match skills.iter().find(|one| one.name == name) {
                None => Standing::Gone(format!("the index of `{url}` no longer has it")),
                Some(one) => match (one.fetched.digest(), &origin.index_digest) {
                    (Some(new), Some(old)) if new == old => Standing::Current,
                    (Some(_), _) => Standing::Outdated("the index has another digest".to_owned()),
                    (None, _) => match of_entry(url, one) {
                        Ok(offered) if Some(of_files(&offered.files)) == origin.index_digest => Standing::Current,
                        Ok(_) => Standing::Outdated("its files changed".to_owned()),
                        Err(failure) => Standing::Unknown(failure.message),
                    },
                },
            },
        },
        ("local", _) if !skill.is_foreign => of_local(name, skill, scope),
        (kind, _) => Standing::Unknown(format!("the source is of the kind `{kind}`, which another tool keeps")),
    }
}

fn of_local(name: &str, skill: &Installed, scope: &Scope) -> Standing {
    let origin = &skill.origin;
    let path = local(&origin.source, scope);
    if !path.exists() {
        return Standing::Unknown(format!("`{}` is not there", origin.source));
    }
    let found = if path.is_file() {
        of_archive(&path, scope).map(|skills| skills.into_iter().find(|one| one.name == name).map(|one| one.files))
    } else {
        let manifest = path.join(origin.skill_path.as_deref().unwrap_or("SKILL.md"));
        let folder = manifest.parent().unwrap_or(&path).to_owned();
        if folder.is_dir() { files::read(&folder).map(Some).map_err(Failure::from) } else { Ok(None) }
    };
    match found {
        Err(failure) => Standing::Unknown(failure.message),
        Ok(None) => Standing::Gone(format!("`{}` no longer has it", origin.source)),
        Ok(Some(files)) if files::digest(&files) == skill.digest => Standing::Current,
        Ok(Some(_)) => {
            let commit = if path.is_dir() { working_copy::commit(&path) } else { None };
            match (&origin.commit, commit) {
                (Some(old), Some(new)) if *old != new => Standing::Outdated(format!("{} → {}", cut(old), cut(&new))),
                _ => Standing::Outdated("its files changed".to_owned()),
            }
        }
    }
}

fn cut(commit: &str) -> &str {
    commit.get(..10).unwrap_or(commit)
}
