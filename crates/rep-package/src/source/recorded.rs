//! Loads a skill from the source that the lock file records for it.
//!
//! A lock file comes with a repository and is not trusted: its addresses are parsed as strictly as those that a user
//! writes, and what they offer is compared with the recorded digests by the callers.

use std::path::Path;

use rep_library::skill_reader;
use rep_net::git::{CachedCommit, GitReference};

use super::grammar::RepositorySource;
use super::{OfferedSkill, find_member, local, registry, repository, well_known};
use crate::client::SourceClient;
use crate::error::{PackageError, PackageErrorCode};
use crate::lock::InstallOrigin;
use crate::requirement::SkillRequirement;
use crate::scope::InstallScope;
use crate::{files, working_copy};

/// Which state of a source is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SourceMoment {
    /// The one that was installed: the recorded commit or manifest, if the source still has it.
    Recorded,
    /// What the source has now, for what was asked for.
    Newest,
}

/// Where recorded skills are loaded from.
pub(crate) struct RecordedSources<'a> {
    /// The project or home directory that paths are relative to.
    pub(crate) scope: &'a InstallScope,
    /// How other machines are reached.
    pub(crate) client: &'a SourceClient,
}

impl RecordedSources<'_> {
    /// Loads a skill from its source. Returns `None` if the source no longer has it.
    pub(crate) fn load(
        &self,
        name: &str,
        origin: &InstallOrigin,
        moment: SourceMoment,
        warn: &mut dyn FnMut(&str),
    ) -> Result<Option<OfferedSkill>, PackageError> {
        self.client.check_origin(origin)?;
        if let Some(source) = parse_repository(origin)? {
            return self.load_from_repository(name, &source, origin, moment, warn);
        }
        match (origin.kind.as_str(), &origin.url) {
            ("well-known", Some(url)) => {
                let skills = well_known::fetch_index(url, self.client, warn)?;
                let Some(one) = skills.iter().find(|one| one.name == name) else { return Ok(None) };
                well_known::load_from_index_entry(url, one, self.client).map(Some)
            }
            ("local", _) => self.load_local(name, origin),
            ("oci", _) => registry::load_recorded(name, origin, moment, self.client, warn),
            (kind, _) => Err(PackageError::new(
                PackageErrorCode::UnknownSource,
                format!("`{name}` comes from a source of the type `{}`, which rep does not read", kind.escape_debug()),
            )),
        }
    }

    /// Loads a skill that another one requires, from the source of that one. Returns `None` if the source does not have
    /// it.
    pub(crate) fn load_sibling(
        &self,
        origin: &InstallOrigin,
        requirement: &SkillRequirement,
        warn: &mut dyn FnMut(&str),
    ) -> Result<Option<OfferedSkill>, PackageError> {
        self.client.check_origin(origin)?;
        let name = requirement.name.as_str();
        if origin.kind == "local" {
            return self.load_local_sibling(name, origin, warn);
        }
        if origin.kind == "oci" {
            return registry::load_sibling(origin, requirement, self.client, warn);
        }
        if let Some(source) = parse_repository(origin)? {
            // The same commit: both skills were published together.
            let commit = self.recorded_commit(&source, origin)?;
            return find_in_commit(&source, &commit, name, "", warn);
        }
        self.load(name, origin, SourceMoment::Newest, warn)
    }

    fn load_from_repository(
        &self,
        name: &str,
        source: &RepositorySource,
        origin: &InstallOrigin,
        moment: SourceMoment,
        warn: &mut dyn FnMut(&str),
    ) -> Result<Option<OfferedSkill>, PackageError> {
        let commit = match moment {
            SourceMoment::Recorded => self.recorded_commit(source, origin)?,
            SourceMoment::Newest => self.client.fetch_commit(&source.url, source.reference.as_ref())?,
        };
        let folder = skill_folder(origin);
        find_in_commit(source, &commit, name, folder, warn)
    }

    /// Fetches the recorded commit. A server that no longer has it still has the branch or tag, whose content is compared
    /// by the caller.
    fn recorded_commit(&self, source: &RepositorySource, origin: &InstallOrigin) -> Result<CachedCommit, PackageError> {
        let commit = origin.commit.as_deref().map(GitReference::parse).transpose();
        let commit = commit.map_err(|reason| PackageError::new(PackageErrorCode::RefusedSource, reason))?;
        let Some(commit) = commit.filter(GitReference::is_full_commit) else {
            return self.client.fetch_commit(&source.url, source.reference.as_ref());
        };
        match self.client.fetch_commit(&source.url, Some(&commit)) {
            Err(error) if error.code == PackageErrorCode::NoReference => {
                self.client.fetch_commit(&source.url, source.reference.as_ref())
            }
            found => found,
        }
    }

    fn load_local(&self, name: &str, origin: &InstallOrigin) -> Result<Option<OfferedSkill>, PackageError> {
        let path = self.local_path(origin)?;
        if path.is_file() {
            let found = local::load_from_archive(&path, self.scope)?;
            return find_member(found, name);
        }
        let folder = path.join(skill_folder(origin));
        if !folder.join("SKILL.md").exists() && !folder.join("skill.md").exists() {
            return Ok(None);
        }
        let origin = InstallOrigin { commit: working_copy::read_commit(&path), ..origin.clone() };
        let found = files::read_skill_files(&folder)?;
        Ok(Some(OfferedSkill::new(&skill_reader::folder_name(&folder), found, origin)?).filter(|one| one.name == name))
    }

    /// Finds a skill beside another one: in the directory that was installed, or else in the directory around it.
    fn load_local_sibling(
        &self,
        name: &str,
        origin: &InstallOrigin,
        warn: &mut dyn FnMut(&str),
    ) -> Result<Option<OfferedSkill>, PackageError> {
        let path = self.local_path(origin)?;
        if path.is_file() {
            return self.load_local(name, origin);
        }
        let is_root = skill_folder(origin).is_empty();
        let root = if is_root { path.parent().unwrap_or(&path) } else { path.as_path() };
        let beside = if is_root { root.join(name) } else { root.join(skill_folder(origin)).with_file_name(name) };
        let search = if beside.is_dir() { beside.as_path() } else { root };
        // The directory around a skill may contain anything: only a directory with the name counts.
        if is_root && !beside.is_dir() {
            return Ok(None);
        }
        let found = local::load_from_folder(search, self.scope, warn)?;
        find_member(found, name)
    }

    fn local_path(&self, origin: &InstallOrigin) -> Result<std::path::PathBuf, PackageError> {
        let path = self.scope.base.join(&origin.source);
        if path.exists() {
            return Ok(path);
        }
        let message = format!("the source `{}` does not exist", origin.source);
        Err(PackageError::new(PackageErrorCode::UnknownSource, message))
    }
}

fn parse_repository(origin: &InstallOrigin) -> Result<Option<RepositorySource>, PackageError> {
    let reference = origin.reference.as_deref();
    RepositorySource::from_lock(&origin.kind, &origin.source, origin.url.as_deref(), reference)
        .map_err(|reason| PackageError::new(PackageErrorCode::RefusedSource, reason))
}

/// Returns the directory of a skill in its source; empty for the root.
fn skill_folder(origin: &InstallOrigin) -> &str {
    let path = origin.skill_path.as_deref().unwrap_or("SKILL.md");
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let is_plain = !Path::new(folder).is_absolute() && !folder.split('/').any(|part| part == "..");
    if is_plain { folder } else { "" }
}

/// Finds a skill of a commit: in the recorded directory, or else anywhere.
fn find_in_commit(
    source: &RepositorySource,
    commit: &CachedCommit,
    name: &str,
    folder: &str,
    warn: &mut dyn FnMut(&str),
) -> Result<Option<OfferedSkill>, PackageError> {
    let wanted = [name.to_owned()];
    let mut paths = vec![folder];
    paths.extend((!folder.is_empty()).then_some(""));
    for path in paths {
        let source = RepositorySource { path: path.to_owned(), ..source.clone() };
        match repository::load_from_commit(&source, commit, &wanted, warn) {
            Ok(found) => {
                if let Some(one) = find_member(found, name)? {
                    return Ok(Some(one));
                }
            }
            Err(error) if error.code == PackageErrorCode::NotASkill => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}
