//! Imports a skill that was exported for a host.

use std::path::{Path, PathBuf};

use rep_hosts::hosts::{SOURCE_FILE, restore_manifest};
use rep_library::{discovery, skill_reader};
use rep_model::{Skill, TreeEntry};

use crate::atomic_dir::{OnExistingFolder, PackageFile, PackageFileContent, write_folder_atomically};
use crate::error::{PackageError, PackageErrorCode};

/// An imported skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedSkill {
    /// Its directory.
    pub folder: PathBuf,
    /// Whether fields were restored. If not, the skill is a plain copy.
    pub is_restored: bool,
}

/// Restores the fields that an export moved, and writes the skill below a directory. The source is never changed.
pub fn import_skill(folder: &Path, out: &Path, existing: OnExistingFolder) -> Result<ImportedSkill, PackageError> {
    let shown = discovery::display_path(folder);
    let (skill, faults) = Skill::parse(skill_reader::read_folder(folder, &shown, skill_reader::ReadExtent::Folder)?);
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.frontmatter()) else {
        let reason = faults.first().map_or("it has no readable SKILL.md", |fault| fault.message.as_str());
        return Err(PackageError::new(PackageErrorCode::Unreadable, format!("`{shown}`: {reason}")));
    };
    let source = skill.tree.file_bytes(SOURCE_FILE).and_then(|bytes| std::str::from_utf8(bytes).ok());
    let restored = restore_manifest(front, manifest.body(), source);
    let is_restored = restored.is_some();
    let is_from_source = |text: &Vec<u8>| source.is_some_and(|source| text.starts_with(source.as_bytes()));
    let is_source_used = restored.as_ref().is_some_and(is_from_source);
    let mut files = vec![PackageFile {
        path: "SKILL.md".to_owned(),
        content: PackageFileContent::InMemory(restored.unwrap_or_else(|| manifest.source.text().as_bytes().to_vec())),
        is_executable: false,
    }];
    for (path, entry) in &skill.tree.entries {
        if let (TreeEntry::File { is_executable, .. }, true) =
            (entry, path != manifest.file && !(is_source_used && path == SOURCE_FILE))
        {
            let content = PackageFileContent::CopyOf(folder.join(path));
            files.push(PackageFile { path: path.clone(), content, is_executable: *is_executable });
        }
    }
    let target = out.join(skill.name().unwrap_or("skill"));
    write_folder_atomically(&files, &target, existing)
        .map_err(|error| PackageError::new(PackageErrorCode::Unwritable, error.to_string()))?;
    Ok(ImportedSkill { folder: target, is_restored })
}
