//! Compares installed skills with their sources.

use rep_net::git::GitReference;

use super::grammar::RepositorySource;
use super::recorded::{RecordedSources, SourceMoment};
use super::{find_member, local, registry, repository, well_known};
use crate::capabilities::{AddedCapability, SkillCapabilities};
use crate::client::SourceClient;
use crate::error::{PackageError, PackageErrorCode};
use crate::lock::{InstalledSkill, SkillsLockFile};
use crate::scope::InstallScope;
use crate::{files, working_copy};

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
    /// What the code of its source needs, and the installed code does not.
    pub added: Vec<AddedCapability>,
}

/// Compares the named installed skills, or all, with their sources. `warn` receives a message for each skipped
/// index entry.
pub fn compare_with_sources(
    names: &[String],
    scope: &InstallScope,
    client: &SourceClient,
    warn: &mut dyn FnMut(&str),
) -> Result<Vec<SourceComparison>, PackageError> {
    let lock: SkillsLockFile = scope.read_lock_file()?;
    let names = if names.is_empty() { lock.skill_names() } else { names.to_vec() };
    let mut all = Vec::with_capacity(names.len());
    for name in names {
        let skill = scope.find_installed(&lock, &name)?;
        let state = check_source(&name, &skill, scope, client, warn);
        let added = if matches!(state, SourceState::Outdated(_)) {
            list_added_capabilities(&name, &skill, scope, client)
        } else {
            Vec::new()
        };
        let source = skill.origin.url.unwrap_or(skill.origin.source);
        all.push(SourceComparison { name, source, state, added });
    }
    Ok(all)
}

/// Lists what the newest version needs and the installed one does not. A source that cannot be read again lists nothing.
fn list_added_capabilities(
    name: &str,
    skill: &InstalledSkill,
    scope: &InstallScope,
    client: &SourceClient,
) -> Vec<AddedCapability> {
    let sources = RecordedSources { scope, client };
    let Ok(Some(offered)) = sources.load(name, &skill.origin, SourceMoment::Newest, &mut |_| {}) else {
        return Vec::new();
    };
    scope.known_capabilities(name, skill).added_in(&SkillCapabilities::from_tree(offered.to_scanned_tree()))
}

fn check_source(
    name: &str,
    skill: &InstalledSkill,
    scope: &InstallScope,
    client: &SourceClient,
    warn: &mut dyn FnMut(&str),
) -> SourceState {
    let origin = &skill.origin;
    let reference = origin.reference.as_deref();
    match RepositorySource::from_lock(&origin.kind, &origin.source, origin.url.as_deref(), reference) {
        Ok(Some(source)) => return check_repository(name, skill, &source, client, warn),
        Ok(None) => {}
        Err(reason) => return SourceState::Unknown(reason),
    }
    match (origin.kind.as_str(), &origin.url) {
        ("well-known", Some(url)) => check_index(name, skill, url, client, warn),
        ("oci", _) => check_registry(name, skill, client, warn),
        ("local", _) if !skill.is_foreign => check_local_source(name, skill, scope),
        (kind, _) => SourceState::Unknown(format!("the source type `{kind}` belongs to another tool")),
    }
}

/// Compares a skill with its registry: the digest of the manifest first, then the content.
fn check_registry(
    name: &str,
    skill: &InstalledSkill,
    client: &SourceClient,
    warn: &mut dyn FnMut(&str),
) -> SourceState {
    match registry::load_recorded(name, &skill.origin, SourceMoment::Newest, client, warn) {
        Err(error) if error.code == PackageErrorCode::UnknownSource => SourceState::Gone(error.message),
        Err(error) => SourceState::Unknown(error.message),
        Ok(None) => SourceState::Gone(format!("`{}` no longer contains it", skill.origin.source)),
        Ok(Some(offered)) if is_same_content(skill, &offered.files) => SourceState::Current,
        Ok(Some(offered)) => {
            let shown = |origin: &crate::lock::InstallOrigin| origin.reference.clone().unwrap_or_default();
            let (old, new) = (shown(&skill.origin), shown(&offered.origin));
            let moved = format!("the tag `{new}` has other content");
            SourceState::Outdated(if old == new { moved } else { format!("{old} → {new}") })
        }
    }
}

fn check_index(
    name: &str,
    skill: &InstalledSkill,
    url: &str,
    client: &SourceClient,
    warn: &mut dyn FnMut(&str),
) -> SourceState {
    let skills = match well_known::fetch_index(url, client, warn) {
        Ok(skills) => skills,
        Err(error) => return SourceState::Unknown(error.message),
    };
    let Some(one) = skills.iter().find(|one| one.name == name) else {
        return SourceState::Gone(format!("the index of `{url}` no longer contains it"));
    };
    let old = skill.origin.index_digest.as_deref();
    match one.download.digest() {
        Some(new) if Some(new) == old => SourceState::Current,
        Some(_) => SourceState::Outdated("the index has a different digest".to_owned()),
        None => match well_known::load_from_index_entry(url, one, client) {
            Ok(offered) if Some(well_known::compute_npm_index_digest(&offered.files).as_str()) == old => {
                SourceState::Current
            }
            Ok(_) => SourceState::Outdated("its files changed".to_owned()),
            Err(error) => SourceState::Unknown(error.message),
        },
    }
}

/// Compares a skill with its repository: first the commit, then the content.
fn check_repository(
    name: &str,
    skill: &InstalledSkill,
    source: &RepositorySource,
    client: &SourceClient,
    warn: &mut dyn FnMut(&str),
) -> SourceState {
    let old = skill.origin.commit.as_deref();
    if source.reference.as_ref().is_some_and(GitReference::is_full_commit) {
        return SourceState::Current;
    }
    let found = client.fetch_commit(&source.url, source.reference.as_ref()).and_then(|commit| {
        if old == Some(commit.id.as_str()) {
            return Ok((commit, None));
        }
        let wanted = [name.to_owned()];
        let offered = repository::load_from_commit(source, &commit, &wanted, warn)?;
        Ok((commit, Some(find_member(offered, name)?)))
    });
    match found {
        Err(error) if error.code == PackageErrorCode::NotASkill => SourceState::Gone(error.message),
        Err(error) => SourceState::Unknown(error.message),
        Ok((_, None)) => SourceState::Current,
        Ok((_, Some(None))) => SourceState::Gone(format!("`{}` no longer contains it", source.url)),
        Ok((_, Some(Some(offered)))) if is_same_content(skill, &offered.files) => SourceState::Current,
        Ok((commit, Some(Some(_)))) => SourceState::Outdated(match old {
            Some(old) => format!("{} → {}", shorten_commit(old), shorten_commit(&commit.id)),
            None => "its files changed".to_owned(),
        }),
    }
}

/// Whether files are those that were installed. Another tool records one hash only.
fn is_same_content(skill: &InstalledSkill, files: &[crate::atomic_dir::PackageFile]) -> bool {
    if skill.is_foreign {
        return files::compute_npm_hash(files) == skill.computed_hash;
    }
    files::digest_files(files) == skill.digest
}

fn check_local_source(name: &str, skill: &InstalledSkill, scope: &InstallScope) -> SourceState {
    let origin = &skill.origin;
    let path = scope.base.join(&origin.source);
    if !path.exists() {
        return SourceState::Unknown(format!("`{}` does not exist", origin.source));
    }
    let found = if path.is_file() {
        local::load_from_archive(&path, scope).and_then(|members| Ok(find_member(members, name)?.map(|one| one.files)))
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
