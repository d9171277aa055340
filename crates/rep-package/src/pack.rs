//! Packs a skill into one file.

use rep_check::{CheckOptions, Level, check_skill};
use rep_library::CatalogEntry;
use rep_library::discovery::SkillLocation;
use rep_library::skill_reader::{self, ReadExtent};
use rep_model::Skill;

use crate::error::{PackageError, PackageErrorCode};
use crate::files;

/// A skill packed into one archive. The same skill always gives the same bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedSkill {
    /// The skill's name, and the directory of its files in the archive.
    pub name: String,
    /// The number of files in the archive.
    pub files: usize,
    /// The archive.
    pub bytes: Vec<u8>,
    /// The digest of the archive.
    pub digest: String,
}

/// A skill that was read and checked, ready to be packed.
#[derive(Debug)]
pub struct SkillToPack {
    /// The skill's name, and the directory of its files.
    pub name: String,
    /// The skill.
    pub skill: Skill,
    /// Its files, below a directory with its name: path, content, and whether it is executable.
    pub files: Vec<(String, Vec<u8>, bool)>,
}

/// Packs a skill into a zip, unless it has errors or contains credentials. `word` is how the user named it.
pub fn pack_skill(entry: &CatalogEntry, word: &str) -> Result<PackedSkill, PackageError> {
    let SkillToPack { name, files: packed, .. } = read_skill_to_pack(entry, word)?;
    let bytes = rep_archive::write_zip(&packed)
        .map_err(|error| PackageError::new(PackageErrorCode::Unwritable, format!("`{name}`: {error}")))?;
    Ok(PackedSkill { name, files: packed.len(), digest: files::digest_bytes(&bytes), bytes })
}

/// Reads a skill for packing, unless it has errors or contains credentials. `word` is how the user named it.
pub fn read_skill_to_pack(entry: &CatalogEntry, word: &str) -> Result<SkillToPack, PackageError> {
    let found = SkillLocation::from_entry(entry);
    let (skill, faults) = Skill::parse(found.read(ReadExtent::Folder)?);
    let findings = check_skill(&skill, faults, &CheckOptions::default()).findings;
    if let Some(first) = findings.iter().find(|finding| finding.level == Level::Error) {
        let message = format!("`{word}` was not packed: {}", first.message);
        let remedy = format!("run `rep check {}` to see all errors", entry.folder.display());
        return Err(PackageError::new(PackageErrorCode::InvalidSkill, message).remedy(remedy));
    }
    let name = skill.name().unwrap_or(&entry.name).to_owned();
    let files = if found.is_lone_file {
        files::read_selected_files(
            &entry.folder,
            &skill_reader::list_lone_skill_files(entry, rep_convert::document_from_skill(&skill).as_ref()),
        )?
    } else {
        files::read_skill_files(&entry.folder)?
    };
    if let Some(path) = files::find_credential(&files) {
        let message = format!("`{word}` was not packed: `{path}` contains a credential, or has the name of one");
        let remedy = "move it out of the skill's directory";
        return Err(PackageError::new(PackageErrorCode::Credential, message).remedy(remedy));
    }
    let files = files::select_packed_files(&files, &name);
    Ok(SkillToPack { name, skill, files })
}

/// Packs a skill's directory as a `.tar.gz`, for clients that may read it anyway.
pub fn pack_tar_gz(entry: &CatalogEntry) -> Result<Vec<u8>, PackageError> {
    let packed = files::select_packed_files(&files::read_skill_files(&entry.folder)?, &entry.name);
    rep_archive::write_tar_gz(&packed)
        .map_err(|error| PackageError::new(PackageErrorCode::Unwritable, error.to_string()))
}
