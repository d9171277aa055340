//! Reads skills from a commit of a git repository.
//!
//! The files come from git's object store. Nothing is checked out, so attributes, filters and hooks of the repository
//! have no effect. A link counts as the file of the same skill that it points to; any other link, and a submodule in a
//! skill, is refused.

use std::collections::BTreeMap;

use rep_model::{ResolvedSkillPath, Skill, resolve_skill_path};
use rep_net::git::{CachedCommit, GitReference, GitTreeEntry, GitTreeEntryKind, RemoteReference};

use super::grammar::RepositorySource;
use super::{OfferedSkill, SourceMember, build_skill_tree, no_manifest_error};
use crate::atomic_dir::{PackageFile, PackageFileContent};
use crate::client::SourceClient;
use crate::error::{PackageError, PackageErrorCode};
use crate::files;
use crate::lock::InstallOrigin;

/// The maximum size of a file, and of all files of a skill.
const FILE_BYTES_MAX: u64 = 64 << 20;
const SKILL_BYTES_MAX: u64 = 512 << 20;
/// The maximum size of a SKILL.md.
const MANIFEST_BYTES_MAX: u64 = 8 << 20;
/// The maximum number of files of a skill.
const FILES_MAX: usize = 20_000;
/// How a file of Git LFS starts, whose content is elsewhere.
const LFS_START: &[u8] = b"version https://git-lfs.github.com/spec/";

/// A skill in a commit, before its files are read.
struct FoundSkill {
    /// The directory in the repository; empty for its root.
    folder: String,
    /// The declared name, or that of the directory.
    name: String,
    entries: Vec<GitTreeEntry>,
}

/// Reads the skills of a repository. `wanted` are the requested names; empty means all.
pub(super) fn load_from_repository(
    source: &RepositorySource,
    wanted: &[String],
    client: &SourceClient,
    warn: &mut dyn FnMut(&str),
) -> Result<Vec<SourceMember>, PackageError> {
    let source = separate_reference(source, client)?;
    let commit = client.fetch_commit(&source.url, source.reference.as_ref())?;
    load_from_commit(&source, &commit, wanted, warn)
}

/// Reads the skills of a commit.
pub(super) fn load_from_commit(
    source: &RepositorySource,
    commit: &CachedCommit,
    wanted: &[String],
    warn: &mut dyn FnMut(&str),
) -> Result<Vec<SourceMember>, PackageError> {
    let shown = source.url.as_str();
    let mut found = find_skills(source, commit)?;
    if found.is_empty() {
        return Err(no_manifest_error(shown));
    }
    if !wanted.is_empty() && wanted.iter().all(|name| found.iter().any(|skill| skill.name == *name)) {
        found.retain(|skill| wanted.contains(&skill.name));
    }
    let mut offered = Vec::new();
    for skill in found {
        let read = read_skill(source, commit, &skill, warn);
        offered.push(SourceMember::new(skill.name, read));
    }
    Ok(offered)
}

/// Separates `REF/PATH` of a web address with the server's list of references.
fn separate_reference(source: &RepositorySource, client: &SourceClient) -> Result<RepositorySource, PackageError> {
    let Some(both) = &source.reference_and_path else { return Ok(source.clone()) };
    let known = client.list_references(&source.url)?;
    let (reference, path) = split_reference(both, &known).ok_or_else(|| {
        let message = format!("`{}` has no branch, tag or commit at the start of `{both}`", source.url);
        PackageError::new(PackageErrorCode::NoReference, message)
    })?;
    let reference =
        GitReference::parse(reference).map_err(|reason| PackageError::new(PackageErrorCode::RefusedSource, reason))?;
    Ok(RepositorySource {
        reference: Some(reference),
        path: path.to_owned(),
        reference_and_path: None,
        ..source.clone()
    })
}

/// Splits `REF/PATH` at the first reference that exists. Without one, the first part may be a commit.
fn split_reference<'a>(both: &'a str, known: &[RemoteReference]) -> Option<(&'a str, &'a str)> {
    let is_known = |name: &str| {
        let names = [format!("refs/heads/{name}"), format!("refs/tags/{name}")];
        known.iter().any(|reference| names.contains(&reference.name) || (name == "HEAD" && reference.name == "HEAD"))
    };
    let ends = both.match_indices('/').map(|(at, _)| at).chain([both.len()]);
    let named = ends.map(|end| both.split_at(end)).find(|(name, _)| is_known(name));
    let commit = || {
        let (first, rest) = both.split_at(both.find('/').unwrap_or(both.len()));
        GitReference::parse(first).is_ok_and(|first| first.may_be_commit()).then_some((first, rest))
    };
    named.or_else(commit).map(|(reference, path)| (reference, path.trim_start_matches('/')))
}

/// Finds the skills of a commit: the outermost directories with a SKILL.md.
fn find_skills(source: &RepositorySource, commit: &CachedCommit) -> Result<Vec<FoundSkill>, PackageError> {
    let mut entries = commit.list_files(&source.path)?;
    entries.retain(|entry| !entry.path.split('/').any(|part| part == "node_modules" || files::is_leftover_name(part)));
    let mut folders: BTreeMap<String, Vec<GitTreeEntry>> = BTreeMap::new();
    let paths: Vec<&str> = entries.iter().map(|entry| entry.path.as_str()).collect();
    for folder in files::find_skill_folders(&paths) {
        folders.insert(folder, Vec::new());
    }
    for mut entry in entries {
        let own = files::find_containing_folder(&entry.path, |folder| folders.contains_key(folder));
        let Some(own) = own.map(str::to_owned) else { continue };
        if !own.is_empty() {
            entry.path.drain(..=own.len());
        }
        if let Some(all) = folders.get_mut(&own) {
            all.push(entry);
        }
    }
    let below = |folder: &str| {
        [source.path.as_str(), folder].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/")
    };
    let mut found: Vec<FoundSkill> = folders
        .into_iter()
        .map(|(folder, entries)| FoundSkill { folder: below(&folder), name: String::new(), entries })
        .collect();
    read_names(source, commit, &mut found)?;
    Ok(found)
}

/// Reads the declared names of skills, with one call for all of their main files.
fn read_names(source: &RepositorySource, commit: &CachedCommit, found: &mut [FoundSkill]) -> Result<(), PackageError> {
    let manifests: Vec<&GitTreeEntry> = found.iter().filter_map(|skill| find_manifest(&skill.entries)).collect();
    let contents = commit.read_blobs(&manifests)?;
    let mut contents: BTreeMap<String, Vec<u8>> =
        manifests.iter().map(|entry| entry.id.clone()).zip(contents).collect();
    let repository = source.url.repository_path().rsplit('/').next().unwrap_or("skill").to_owned();
    for skill in found {
        let fallback =
            skill.folder.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(&repository).to_owned();
        let text = find_manifest(&skill.entries).and_then(|entry| contents.get(&entry.id));
        let declared = text.and_then(|bytes| declared_name(&fallback, bytes));
        skill.name = declared.unwrap_or(fallback);
    }
    contents.clear();
    Ok(())
}

fn declared_name(fallback: &str, bytes: &[u8]) -> Option<String> {
    let manifest = PackageFile {
        path: "SKILL.md".to_owned(),
        content: PackageFileContent::InMemory(bytes.to_vec()),
        is_executable: false,
    };
    let (skill, _) = Skill::parse(build_skill_tree(fallback, &[manifest]));
    skill.name().map(str::to_owned)
}

/// Finds the main file of a skill, if it is a regular file of a sensible size.
fn find_manifest(entries: &[GitTreeEntry]) -> Option<&GitTreeEntry> {
    let is_file = |entry: &&GitTreeEntry| {
        matches!(entry.kind, GitTreeEntryKind::File | GitTreeEntryKind::Executable)
            && entry.size_bytes <= MANIFEST_BYTES_MAX
            && files::is_manifest_name(&entry.path)
    };
    entries.iter().find(is_file)
}

/// Reads all files of a skill.
fn read_skill(
    source: &RepositorySource,
    commit: &CachedCommit,
    skill: &FoundSkill,
    warn: &mut dyn FnMut(&str),
) -> Result<OfferedSkill, PackageError> {
    let refuse = |path: &str, reason: &str| {
        let path = if skill.folder.is_empty() { path.to_owned() } else { format!("{}/{path}", skill.folder) };
        PackageError::new(PackageErrorCode::Unreadable, format!("cannot include `{path}`: {reason}"))
    };
    if skill.entries.len() > FILES_MAX {
        return Err(refuse("", "the skill has more than 20,000 files"));
    }
    let mut resolved: Vec<(&str, &GitTreeEntry)> = Vec::with_capacity(skill.entries.len());
    let links: Vec<&GitTreeEntry> = skill.entries.iter().filter(|entry| entry.kind == GitTreeEntryKind::Link).collect();
    if links.iter().any(|link| link.size_bytes > 4096) {
        return Err(refuse("", "it has a link with a very long target"));
    }
    let targets = commit.read_blobs(&links)?;
    let mut targets = links.iter().zip(targets);
    for entry in &skill.entries {
        let file = match entry.kind {
            GitTreeEntryKind::File | GitTreeEntryKind::Executable => entry,
            GitTreeEntryKind::Submodule => {
                return Err(refuse(&entry.path, "it is a submodule, whose files are not fetched"));
            }
            GitTreeEntryKind::Link => {
                let target = targets.next().and_then(|(link, target)| find_link_target(link, &target, &skill.entries));
                target.ok_or_else(|| refuse(&entry.path, "it is a link that is broken or points out of the skill"))?
            }
        };
        if file.size_bytes > FILE_BYTES_MAX {
            return Err(refuse(&entry.path, "it is larger than 64 MiB"));
        }
        resolved.push((&entry.path, file));
    }
    if resolved.iter().map(|(_, file)| file.size_bytes).sum::<u64>() > SKILL_BYTES_MAX {
        return Err(refuse("", "the skill is larger than 512 MiB"));
    }
    let entries: Vec<&GitTreeEntry> = resolved.iter().map(|(_, file)| *file).collect();
    let contents = commit.read_blobs(&entries)?;
    let mut all = Vec::with_capacity(contents.len());
    for ((path, file), bytes) in resolved.into_iter().zip(contents) {
        if bytes.starts_with(LFS_START) && bytes.len() < 1024 {
            warn(&format!("`{}/{path}` is stored in Git LFS, and only its pointer is installed", skill.name));
        }
        let is_executable = file.kind == GitTreeEntryKind::Executable;
        all.push(PackageFile { path: path.to_owned(), content: PackageFileContent::InMemory(bytes), is_executable });
    }
    all.sort_by(|one, two| one.path.cmp(&two.path));
    OfferedSkill::new(&skill.name, all, build_origin(source, commit, &skill.folder))
}

/// Finds the regular file of the same skill that a link points to.
fn find_link_target<'a>(link: &GitTreeEntry, target: &[u8], entries: &'a [GitTreeEntry]) -> Option<&'a GitTreeEntry> {
    let target = std::str::from_utf8(target).ok()?;
    let folder = link.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let ResolvedSkillPath::Inside(path) = resolve_skill_path(folder, target) else { return None };
    let is_file = |entry: &GitTreeEntry| matches!(entry.kind, GitTreeEntryKind::File | GitTreeEntryKind::Executable);
    entries.iter().find(|entry| entry.path == path && is_file(entry))
}

fn build_origin(source: &RepositorySource, commit: &CachedCommit, folder: &str) -> InstallOrigin {
    InstallOrigin {
        kind: source.host.source_type().to_owned(),
        source: source.lock_source(),
        url: source.lock_url(),
        reference: source.reference.as_ref().map(|reference| reference.as_str().to_owned()),
        skill_path: Some(if folder.is_empty() { "SKILL.md".to_owned() } else { format!("{folder}/SKILL.md") }),
        commit: Some(commit.id.clone()),
        ..InstallOrigin::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_with_slashes_is_found_in_the_servers_list() {
        let reference = |name: &str| RemoteReference { name: name.to_owned(), commit: "1".repeat(40) };
        let known = [reference("refs/heads/main"), reference("refs/heads/feature/x"), reference("refs/tags/v1")];
        assert_eq!(split_reference("main/a/b", &known), Some(("main", "a/b")));
        assert_eq!(split_reference("feature/x/a", &known), Some(("feature/x", "a")));
        assert_eq!(split_reference("feature/x", &known), Some(("feature/x", "")));
        assert_eq!(split_reference("v1/a", &known), Some(("v1", "a")));
        assert_eq!(split_reference("0123456789/a", &known), Some(("0123456789", "a")));
        assert_eq!(split_reference("other/a", &known), None);
    }
}
