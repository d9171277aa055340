//! Reads skills from directories and archives.

use std::path::Path;

use rep_library::{discovery, skill_reader};

use super::{OfferedSkill, SourceMember, no_manifest_error, open_archive};
use crate::atomic_dir::PackageFile;
use crate::error::{PackageError, PackageErrorCode};
use crate::lock::InstallOrigin;
use crate::scope::InstallScope;
use crate::{files, working_copy};

/// Reads the skills of an archive.
pub(super) fn load_from_archive(path: &Path, scope: &InstallScope) -> Result<Vec<SourceMember>, PackageError> {
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
    let read = |(folder, files): (String, _)| {
        let name = named(&folder);
        let skill = OfferedSkill::new(&name, files, origin(&folder));
        SourceMember::new(name, skill)
    };
    Ok(skills.into_iter().map(read).collect())
}

/// Reads the skills of a directory.
pub(super) fn load_from_folder(
    path: &Path,
    scope: &InstallScope,
    warn: &mut dyn FnMut(&str),
) -> Result<Vec<SourceMember>, PackageError> {
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
        let below = skill.path.strip_prefix(root).unwrap_or(&skill.path).to_string_lossy().into_owned();
        let skill_path = if below.is_empty() { "SKILL.md".to_owned() } else { format!("{below}/SKILL.md") };
        let origin = InstallOrigin {
            kind: "local".to_owned(),
            source: scope.portable_path(root),
            skill_path: Some(skill_path),
            commit: commit.clone(),
            ..InstallOrigin::default()
        };
        let name = skill_reader::folder_name(&skill.path);
        let read = || {
            if !["SKILL.md", "skill.md"].iter().any(|file| skill.path.join(file).exists()) {
                return Err(no_manifest_error(shown));
            }
            OfferedSkill::new(&name, files::read_skill_files(&skill.path)?, origin)
        };
        let read = read();
        offered.push(SourceMember::new(name, read));
    }
    Ok(offered)
}
