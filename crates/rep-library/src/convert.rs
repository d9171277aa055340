//! Converts skills on disk: reads them, writes UASP files, and checks whether the files match their Markdown.
//!
//! `rep-convert` implements the conversion itself. This module determines the file of each skill
//! ([`ConversionTarget`]), converts many skills on all cores ([`ConversionBatch`]), and preserves manual edits.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use parking_lot::Mutex;
use rep_convert::convert::{
    Conversion, ConversionNotice, DoubtfulHandling, FactDifference, MarkdownRelation, Replaceability,
    convert_by_rules_with,
};
use rep_model::uasp::FILE_SUFFIX;
use rep_model::{Fault, Skill};
use rep_storage::WriteError;
use rep_storage::atomic::{self, OnExistingFile};

use crate::discovery::SkillLocation;
use crate::parallel::map_all;
use crate::skill_reader::{self, MAIN_BYTES_MAX, ReadExtent};
use crate::{LibraryError, SkillProgress};

/// A skill that was read for conversion.
#[derive(Debug)]
pub struct SkillSource {
    /// The skill.
    pub skill: Skill,
    /// The faults that parsing reported.
    pub faults: Vec<Fault>,
}

/// The reason a skill was not converted or its file was not written.
#[derive(Debug, thiserror::Error)]
pub enum ConvertError {
    /// The skill or its file could not be read.
    #[error(transparent)]
    Unreadable(#[from] LibraryError),
    /// The SKILL.md could not be read.
    #[error("`{file}`: {message}")]
    BrokenMarkdown {
        /// The file path for display.
        file: String,
        /// The message of the fault.
        message: String,
        /// The remedy.
        help: String,
    },
    /// The path contains no skill.
    #[error("`{shown}` contains no skill")]
    NotASkill {
        /// The path for display.
        shown: String,
    },
    /// The skill has no SKILL.md.
    #[error("`{shown}` has no SKILL.md to convert")]
    NotMarkdown {
        /// The path for display.
        shown: String,
    },
    /// The conversion does not produce a valid file.
    #[error("`{shown}` does not convert to a valid UASP file")]
    Invalid {
        /// The path for display.
        shown: String,
        /// The errors in the file.
        errors: Vec<ConversionNotice>,
    },
    /// A file that was not created by a conversion already exists.
    #[error("`{}` already exists and was not created by `rep convert`", .0.display())]
    Foreign(PathBuf),
    /// The file was edited, and the Markdown changed too.
    #[error("`{}` was edited by hand, and its Markdown has changed", .0.display())]
    Edited(PathBuf),
    /// The file is not valid YAML.
    #[error("`{}` is not valid YAML", .0.display())]
    InvalidYaml(PathBuf),
    /// The file could not be written.
    #[error(transparent)]
    Unwritable(#[from] WriteError),
}

impl SkillSource {
    /// Reads a skill.
    pub fn read(found: &SkillLocation) -> Result<Self, LibraryError> {
        let (skill, faults) = Skill::parse(found.read(ReadExtent::Main)?);
        Ok(Self { skill, faults })
    }

    /// Reads a skill and requires a SKILL.md.
    pub fn read_markdown(found: &SkillLocation) -> Result<Self, ConvertError> {
        let source = Self::read(found)?;
        if source.skill.manifest.is_some() {
            return Ok(source);
        }
        let shown = found.shown.clone();
        if let Some(fault) = source.faults.iter().find(|fault| fault.file.eq_ignore_ascii_case("SKILL.md")) {
            let file = format!("{shown}/{}", fault.file);
            return Err(ConvertError::BrokenMarkdown {
                file,
                message: fault.message.clone(),
                help: fault.help.clone(),
            });
        }
        Err(if source.skill.uasp.is_empty() {
            ConvertError::NotASkill { shown }
        } else {
            ConvertError::NotMarkdown { shown }
        })
    }

    /// Converts the skill with rules.
    pub fn convert(&self) -> Conversion {
        self.convert_with(DoubtfulHandling::LeaveOut)
    }

    /// Converts the skill with rules, with or without doubtful facts.
    pub fn convert_with(&self, doubtful: DoubtfulHandling) -> Conversion {
        convert_by_rules_with(&self.skill, &self.faults, doubtful)
    }

    /// Returns the path of the UASP file in the skill's directory, whether or not it exists.
    fn file_beside(&self, found: &SkillLocation, name: &str) -> PathBuf {
        let own = format!("{name}{FILE_SUFFIX}");
        let files: Vec<&str> = self.skill.uasp.iter().map(|file| file.file.as_str()).collect();
        let file = files.iter().find(|file| **file == own).or(files.first()).copied().unwrap_or(&own);
        found.path.join(file)
    }
}

/// The location of the UASP files of skills.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConversionTarget {
    /// In the skill's own directory.
    Beside,
    /// In one directory for all skills.
    Folder(PathBuf),
    /// In one file, for a single skill.
    File(PathBuf),
}

impl ConversionTarget {
    /// Returns the file of a skill that was converted before. In a shared directory, tries both possible paths.
    fn existing_file(&self, found: &SkillLocation, source: &SkillSource, name: &str) -> PathBuf {
        match self {
            ConversionTarget::File(file) => file.clone(),
            ConversionTarget::Folder(folder) => {
                let apart = path_in_folder(folder, &found.path, name, true);
                if apart.is_file() { apart } else { path_in_folder(folder, &found.path, name, false) }
            }
            ConversionTarget::Beside => source.file_beside(found, name),
        }
    }
}

/// Returns the file of a skill in a shared directory. Skills with the same name are separated by their directories.
fn path_in_folder(folder: &Path, skill: &Path, name: &str, is_shared: bool) -> PathBuf {
    let file = format!("{name}{FILE_SUFFIX}");
    let parts = skill.components().filter(|part| is_shared && matches!(part, Component::Normal(_)));
    folder.join(parts.collect::<PathBuf>()).join(file)
}

/// Converts many skills, each into a separate file.
pub struct ConversionBatch<'a> {
    found: &'a [SkillLocation],
    target: &'a ConversionTarget,
    existing: OnExistingFile,
    doubtful: DoubtfulHandling,
    /// The names that several of the skills have.
    shared: BTreeSet<String>,
    taken: Mutex<BTreeSet<PathBuf>>,
}

/// The result for one skill of a batch: the conversion, and what happened to its file.
#[derive(Debug)]
pub struct BatchItem {
    /// The conversion.
    pub conversion: Conversion,
    /// The result of writing the file.
    pub file: Result<BatchFile, ConvertError>,
}

/// What happened to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BatchFile {
    /// The file was written.
    Written(PathBuf),
    /// The file matches its Markdown and was not changed.
    InStep(PathBuf),
}

impl<'a> ConversionBatch<'a> {
    /// Prepares the conversion of skills. [`OnExistingFile::Replace`] replaces every file, including edited ones.
    pub fn new(found: &'a [SkillLocation], target: &'a ConversionTarget, existing: OnExistingFile) -> Self {
        let name = |one: &SkillLocation| Some(SkillSource::read(one).ok()?.skill.name()?.to_owned());
        let (mut seen, mut shared) = (BTreeSet::new(), BTreeSet::new());
        for name in map_all(found, &|_| {}, name).into_iter().flatten() {
            if !seen.insert(name.clone()) {
                shared.insert(name);
            }
        }
        Self { found, target, existing, doubtful: DoubtfulHandling::LeaveOut, shared, taken: Mutex::default() }
    }

    /// Sets whether doubtful facts are included.
    #[must_use]
    pub fn doubtful(self, doubtful: DoubtfulHandling) -> Self {
        Self { doubtful, ..self }
    }

    /// Converts all skills with rules. Each file is written as soon as it is converted, so an interruption does not
    /// lose finished work. Skills that were not reached are `None`.
    pub fn convert_all(
        &self,
        is_cancelled: &(dyn Fn() -> bool + Sync),
        progress: &(dyn Fn(SkillProgress) + Sync),
    ) -> Vec<Option<Result<BatchItem, ConvertError>>> {
        map_all(self.found, progress, |found| {
            if is_cancelled() {
                return None;
            }
            let converted = SkillSource::read_markdown(found).map(|source| {
                let conversion = source.convert_with(self.doubtful);
                self.store_conversion(found, &source, conversion)
            });
            Some(converted)
        })
    }

    /// Writes the file of a converted skill, unless it already matches or contains manual edits.
    pub fn store_conversion(&self, found: &SkillLocation, source: &SkillSource, conversion: Conversion) -> BatchItem {
        let file = self.write_file(found, &self.target_path(found, source, &conversion), &conversion);
        BatchItem { conversion, file }
    }

    fn target_path(&self, found: &SkillLocation, source: &SkillSource, conversion: &Conversion) -> PathBuf {
        let name = conversion.name();
        match self.target {
            ConversionTarget::Beside => source.file_beside(found, name),
            ConversionTarget::File(file) => file.clone(),
            ConversionTarget::Folder(folder) => {
                let plain = path_in_folder(folder, &found.path, name, self.shared.contains(name));
                let mut taken = self.taken.lock();
                if taken.insert(plain.clone()) { plain } else { path_in_folder(folder, &found.path, name, true) }
            }
        }
    }

    fn write_file(
        &self,
        found: &SkillLocation,
        path: &Path,
        conversion: &Conversion,
    ) -> Result<BatchFile, ConvertError> {
        let text = conversion.text.as_bytes();
        if !conversion.report.is_valid() {
            let errors = conversion.report.errors.clone();
            return Err(ConvertError::Invalid { shown: found.shown.clone(), errors });
        }
        if path.symlink_metadata().is_err() || self.existing == OnExistingFile::Replace {
            atomic::write_file(path, text, self.existing)?;
            return Ok(BatchFile::Written(path.to_owned()));
        }
        match conversion.check_replaceability(&skill_reader::read_text(path, MAIN_BYTES_MAX)?) {
            Replaceability::InStep => Ok(BatchFile::InStep(path.to_owned())),
            Replaceability::Foreign => Err(ConvertError::Foreign(path.to_owned())),
            Replaceability::Edited => Err(ConvertError::Edited(path.to_owned())),
            Replaceability::Yes => {
                atomic::write_file(path, text, OnExistingFile::Replace)?;
                Ok(BatchFile::Written(path.to_owned()))
            }
        }
    }
}

/// How a skill's UASP file relates to its Markdown.
#[derive(Clone, Debug, PartialEq)]
pub enum FileState {
    /// The file matches the Markdown.
    InStep,
    /// The file was edited, and the Markdown has not changed.
    Edited,
    /// The Markdown has changed.
    OutOfStep(Vec<FactDifference>),
    /// The file does not exist.
    Missing,
    /// The file did not match, and its stamp was updated to accept it.
    Accepted,
}

impl FileState {
    /// Returns the word used in results.
    pub const fn as_str(&self) -> &'static str {
        match self {
            FileState::InStep => "in_step",
            FileState::Edited => "edited",
            FileState::OutOfStep(_) => "out_of_step",
            FileState::Missing => "missing",
            FileState::Accepted => "accepted",
        }
    }
}

/// A skill's UASP file and its state.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckedFile {
    /// The file.
    pub path: PathBuf,
    /// The state.
    pub state: FileState,
}

/// What to do with a file that does not match its Markdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutOfStepAction {
    /// Report it.
    Report,
    /// Accept it by updating its stamp.
    Accept,
}

/// Checks whether the UASP file of each skill matches its Markdown, on all cores. Returns the results in order.
pub fn check_files(
    found: &[SkillLocation],
    target: &ConversionTarget,
    out_of_step: OutOfStepAction,
    progress: &(dyn Fn(SkillProgress) + Sync),
) -> Vec<Result<CheckedFile, ConvertError>> {
    map_all(found, progress, |one| check_file(one, target, out_of_step))
}

fn check_file(
    found: &SkillLocation,
    target: &ConversionTarget,
    out_of_step: OutOfStepAction,
) -> Result<CheckedFile, ConvertError> {
    let source = SkillSource::read_markdown(found)?;
    let conversion = source.convert();
    let path = target.existing_file(found, &source, conversion.name());
    if path.symlink_metadata().is_err() {
        return Ok(CheckedFile { path, state: FileState::Missing });
    }
    let text = skill_reader::read_text(&path, MAIN_BYTES_MAX)?;
    let state = match conversion.relation_to(&text) {
        None => return Err(ConvertError::InvalidYaml(path)),
        Some(MarkdownRelation::InStep) => FileState::InStep,
        Some(MarkdownRelation::Edited) => FileState::Edited,
        Some(MarkdownRelation::OutOfStep(differences)) => FileState::OutOfStep(differences),
    };
    match conversion.mark_in_step(&text).filter(|_| out_of_step == OutOfStepAction::Accept) {
        None => Ok(CheckedFile { path, state }),
        Some(accepted) => {
            atomic::update_file(&path, text.as_bytes(), accepted.as_bytes())?;
            Ok(CheckedFile { path, state: FileState::Accepted })
        }
    }
}
