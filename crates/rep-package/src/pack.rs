//! A skill as one file.

use rep_check::{Level, Options, check};
use rep_library::CatalogEntry;
use rep_library::find::Found;
use rep_library::read::{self, Extent};
use rep_model::Skill;

use crate::error::{PackageError, PackageErrorCode};
use crate::files;

/// A skill in one archive. The same skill gives the same bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedSkill {
    /// Its name, below which its files are.
    pub name: String,
    /// How many files are in the archive.
    pub files: usize,
    /// The archive.
    pub bytes: Vec<u8>,
    /// The digest of the archive.
    pub digest: String,
}

/// Packs a skill without errors and without credentials into a zip. `word` is what the user calls it.
pub fn pack(entry: &CatalogEntry, word: &str) -> Result<PackedSkill, PackageError> {
    let found = Found::from_entry(entry);
    let (skill, faults) = Skill::parse(found.read(Extent::Folder)?);
    let findings = check(&skill, faults, &Options::default()).findings;
    if let Some(first) = findings.iter().find(|finding| finding.level == Level::Error) {
        let message = format!("`{word}` was not packed: {}", first.message);
        let remedy = format!("`rep check {}` shows all that is wrong", entry.folder.display());
        return Err(PackageError::new(PackageErrorCode::InvalidSkill, message).remedy(remedy));
    }
    let name = skill.name().unwrap_or(&entry.name).to_owned();
    let files = if found.is_lone_file {
        files::some(&entry.folder, &read::files_of_lone_skill(entry, rep_convert::document_of(&skill).as_ref()))?
    } else {
        files::read(&entry.folder)?
    };
    if let Some(path) = files::credential(&files) {
        let message = format!("`{word}` was not packed: `{path}` holds or is named like a credential");
        let remedy = "put it somewhere else than into the skill's folder";
        return Err(PackageError::new(PackageErrorCode::Credential, message).remedy(remedy));
    }
    let packed = files::packed(&files, &name);
    let bytes = rep_archive::write_zip(&packed)
        .map_err(|error| PackageError::new(PackageErrorCode::Unwritable, format!("`{name}`: {error}")))?;
    Ok(PackedSkill { name, files: packed.len(), digest: files::digest_of(&bytes), bytes })
}

/// The folder of a skill as a `.tar.gz`, for those who may read it anyway.
pub fn tar_gz(entry: &CatalogEntry) -> Result<Vec<u8>, PackageError> {
    let packed = files::packed(&files::read(&entry.folder)?, &entry.name);
    rep_archive::write_tar_gz(&packed)
        .map_err(|error| PackageError::new(PackageErrorCode::Unwritable, error.to_string()))
}
