//! A skill that was written for a host, in its author's shape again.

use std::path::{Path, PathBuf};

use rep_hosts::hosts::restored_manifest;
use rep_library::{find, read};
use rep_model::{Entry, Skill};

use crate::error::{PackageError, PackageErrorCode};
use crate::place::{Bytes, Existing, Placed, place};

/// A skill that was imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedSkill {
    /// Its folder.
    pub folder: PathBuf,
    /// Whether something of it was put back; if not, it is a copy.
    pub is_restored: bool,
}

/// Puts back what an export moved, and writes the skill below a folder. The folder that is read is never changed.
pub fn import(folder: &Path, out: &Path, existing: Existing) -> Result<ImportedSkill, PackageError> {
    let shown = find::shown(folder);
    let (skill, faults) = Skill::parse(read::folder(folder, &shown, read::Extent::Main)?);
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.front()) else {
        let reason = faults.first().map_or("it has no readable SKILL.md", |fault| fault.message.as_str());
        return Err(PackageError::new(PackageErrorCode::Unreadable, format!("`{shown}`: {reason}")));
    };
    let restored = restored_manifest(front, manifest.body());
    let is_restored = restored.is_some();
    let mut files = vec![Placed {
        path: "SKILL.md".to_owned(),
        content: Bytes::Here(restored.unwrap_or_else(|| manifest.source.text().as_bytes().to_vec())),
        is_executable: false,
    }];
    for (path, entry) in &skill.tree.entries {
        if let (Entry::File { is_executable, .. }, true) = (entry, path != manifest.file) {
            let content = Bytes::Of(folder.join(path));
            files.push(Placed { path: path.clone(), content, is_executable: *is_executable });
        }
    }
    let target = out.join(skill.name().unwrap_or("skill"));
    place(&files, &target, existing)
        .map_err(|error| PackageError::new(PackageErrorCode::Unwritable, error.to_string()))?;
    Ok(ImportedSkill { folder: target, is_restored })
}
