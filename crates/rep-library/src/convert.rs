//! Converts skills on disk: reads them, writes UASP files, and checks whether the files are in step with their Markdown.
//!
//! The conversion itself is in `rep-convert`. This module knows where the file of a skill is ([`Target`]), converts many skills
//! on all cores ([`Batch`]) and leaves alone what somebody edited.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use parking_lot::Mutex;
use rep_convert::convert::{Conversion, Difference, Notice, Relation, Replaceable, convert_by_rules};
use rep_model::uasp::SUFFIX;
use rep_model::{Fault, Skill};
use rep_storage::WriteError;
use rep_storage::atomic::{self, Existing};

use crate::find::Found;
use crate::parallel::map_all;
use crate::read::{self, Extent, MAIN_BYTES_MAX};
use crate::{LibraryError, Progress};

/// A skill that was read to be converted.
#[derive(Debug)]
pub struct SkillSource {
    /// The skill.
    pub skill: Skill,
    /// What parsing it noticed.
    pub faults: Vec<Fault>,
}

/// Why a skill was not converted, or its file not written.
#[derive(Debug, thiserror::Error)]
pub enum ConvertError {
    /// The skill or its file could not be read.
    #[error(transparent)]
    Unreadable(#[from] LibraryError),
    /// The SKILL.md could not be read.
    #[error("`{file}`: {message}")]
    BrokenMarkdown {
        /// The file as the user knows it.
        file: String,
        /// What is wrong with it.
        message: String,
        /// What to do.
        help: String,
    },
    /// There is no skill.
    #[error("`{shown}` holds no skill")]
    NotASkill {
        /// The path as the user knows it.
        shown: String,
    },
    /// The skill has no SKILL.md.
    #[error("`{shown}` has no SKILL.md to convert")]
    NotMarkdown {
        /// The path as the user knows it.
        shown: String,
    },
    /// The conversion gives no valid file.
    #[error("`{shown}` gives no valid UASP file")]
    Invalid {
        /// The path as the user knows it.
        shown: String,
        /// What is wrong with the file.
        errors: Vec<Notice>,
    },
    /// There is a file already that was not made by a conversion.
    #[error("`{}` is there already, and was not made by `rep convert`", .0.display())]
    Foreign(PathBuf),
    /// The file was edited, and the Markdown changed as well.
    #[error("`{}` was edited by hand, and its Markdown has changed", .0.display())]
    Edited(PathBuf),
    /// The file is not readable YAML.
    #[error("`{}` is no readable YAML", .0.display())]
    InvalidYaml(PathBuf),
    /// The file could not be written.
    #[error(transparent)]
    Unwritable(#[from] WriteError),
}

impl SkillSource {
    /// Reads a skill.
    pub fn read(found: &Found) -> Result<Self, LibraryError> {
        let (skill, faults) = Skill::parse(found.read(Extent::Main)?);
        Ok(Self { skill, faults })
    }

    /// Reads a skill that must have a SKILL.md.
    pub fn read_markdown(found: &Found) -> Result<Self, ConvertError> {
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

    /// Converts it by rules.
    pub fn convert(&self) -> Conversion {
        convert_by_rules(&self.skill, &self.faults)
    }

    /// The UASP file in the skill's own folder, whether it exists or not.
    fn file_beside(&self, found: &Found, name: &str) -> PathBuf {
        let own = format!("{name}{SUFFIX}");
        let files: Vec<&str> = self.skill.uasp.iter().map(|file| file.file.as_str()).collect();
        let file = files.iter().find(|file| **file == own).or(files.first()).copied().unwrap_or(&own);
        found.path.join(file)
    }
}

/// Where the UASP files of skills are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// In the skill's own folder.
    Beside,
    /// In one folder for all skills.
    Folder(PathBuf),
    /// In one file, for one skill.
    File(PathBuf),
}

impl Target {
    /// The file of a skill that was converted before: in a folder of many, wherever it is there.
    fn existing(&self, found: &Found, source: &SkillSource, name: &str) -> PathBuf {
        match self {
            Target::File(file) => file.clone(),
            Target::Folder(folder) => {
                let apart = in_folder(folder, &found.path, name, true);
                if apart.is_file() { apart } else { in_folder(folder, &found.path, name, false) }
            }
            Target::Beside => source.file_beside(found, name),
        }
    }
}

/// The file of a skill in a folder of many. Skills of the same name are kept apart by their own folders.
fn in_folder(folder: &Path, skill: &Path, name: &str, is_shared: bool) -> PathBuf {
    let file = format!("{name}{SUFFIX}");
    let parts = skill.components().filter(|part| is_shared && matches!(part, Component::Normal(_)));
    folder.join(parts.collect::<PathBuf>()).join(file)
}

/// The conversion of many skills into files of their own.
pub struct Batch<'a> {
    found: &'a [Found],
    target: &'a Target,
    existing: Existing,
    /// The names that several of the skills have.
    shared: BTreeSet<String>,
    taken: Mutex<BTreeSet<PathBuf>>,
}

/// One skill of a batch: what it was converted to, and what became of its file.
#[derive(Debug)]
pub struct BatchItem {
    /// The conversion.
    pub conversion: Conversion,
    /// Its file.
    pub file: Result<BatchFile, ConvertError>,
}

/// What became of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BatchFile {
    /// It was written.
    Written(PathBuf),
    /// It is in step with its Markdown, and was left alone.
    InStep(PathBuf),
}

impl<'a> Batch<'a> {
    /// Prepares the conversion of skills. [`Existing::Replace`] replaces every file, also one that somebody edited.
    pub fn new(found: &'a [Found], target: &'a Target, existing: Existing) -> Self {
        let name = |one: &Found| Some(SkillSource::read(one).ok()?.skill.name()?.to_owned());
        let (mut seen, mut shared) = (BTreeSet::new(), BTreeSet::new());
        for name in map_all(found, &|_| {}, name).into_iter().flatten() {
            if !seen.insert(name.clone()) {
                shared.insert(name);
            }
        }
        Self { found, target, existing, shared, taken: Mutex::default() }
    }

    /// Converts all of them by rules. Each file is written as soon as it is made, so that what was done before an interruption
    /// stays done; a skill that was not reached is `None`.
    pub fn convert(
        &self,
        is_cancelled: &(dyn Fn() -> bool + Sync),
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Vec<Option<Result<BatchItem, ConvertError>>> {
        map_all(self.found, progress, |found| {
            if is_cancelled() {
                return None;
            }
            let converted = SkillSource::read_markdown(found).map(|source| {
                let conversion = source.convert();
                self.store(found, &source, conversion)
            });
            Some(converted)
        })
    }

    /// Writes the file of a skill that was converted, unless it is in step, or holds what somebody wrote.
    pub fn store(&self, found: &Found, source: &SkillSource, conversion: Conversion) -> BatchItem {
        let file = self.write(found, &self.path(found, source, &conversion), &conversion);
        BatchItem { conversion, file }
    }

    fn path(&self, found: &Found, source: &SkillSource, conversion: &Conversion) -> PathBuf {
        let name = conversion.name();
        match self.target {
            Target::Beside => source.file_beside(found, name),
            Target::File(file) => file.clone(),
            Target::Folder(folder) => {
                let plain = in_folder(folder, &found.path, name, self.shared.contains(name));
                let mut taken = self.taken.lock();
                if taken.insert(plain.clone()) { plain } else { in_folder(folder, &found.path, name, true) }
            }
        }
    }

    fn write(&self, found: &Found, path: &Path, conversion: &Conversion) -> Result<BatchFile, ConvertError> {
        let text = conversion.text.as_bytes();
        if !conversion.report.is_valid() {
            let errors = conversion.report.errors.clone();
            return Err(ConvertError::Invalid { shown: found.shown.clone(), errors });
        }
        if path.symlink_metadata().is_err() || self.existing == Existing::Replace {
            atomic::write(path, text, self.existing)?;
            return Ok(BatchFile::Written(path.to_owned()));
        }
        match conversion.may_replace(&read::text(path, MAIN_BYTES_MAX)?) {
            Replaceable::InStep => Ok(BatchFile::InStep(path.to_owned())),
            Replaceable::Foreign => Err(ConvertError::Foreign(path.to_owned())),
            Replaceable::Edited => Err(ConvertError::Edited(path.to_owned())),
            Replaceable::Yes => {
                atomic::write(path, text, Existing::Replace)?;
                Ok(BatchFile::Written(path.to_owned()))
            }
        }
    }
}

/// How a skill's UASP file relates to its Markdown.
#[derive(Clone, Debug, PartialEq)]
pub enum FileState {
    /// It says the same.
    InStep,
    /// The Markdown has not changed since the file was made; the file has.
    Edited,
    /// The Markdown says something else.
    OutOfStep(Vec<Difference>),
    /// There is no file.
    Missing,
    /// It was out of step, and its stamp says now that it is in step.
    Accepted,
}

impl FileState {
    /// The word in results.
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

/// The UASP file of a skill, and how it relates to the skill's Markdown.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckedFile {
    /// The file.
    pub path: PathBuf,
    /// How it relates.
    pub state: FileState,
}

/// What is done about a file that is out of step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutOfStep {
    /// It is reported.
    Report,
    /// It is stamped as being in step.
    Accept,
}

/// Checks for each skill whether its UASP file is in step with its Markdown, on all cores and in the skills' order.
pub fn check_files(
    found: &[Found],
    target: &Target,
    out_of_step: OutOfStep,
    progress: &(dyn Fn(Progress) + Sync),
) -> Vec<Result<CheckedFile, ConvertError>> {
    map_all(found, progress, |one| check_file(one, target, out_of_step))
}

fn check_file(found: &Found, target: &Target, out_of_step: OutOfStep) -> Result<CheckedFile, ConvertError> {
    let source = SkillSource::read_markdown(found)?;
    let conversion = source.convert();
    let path = target.existing(found, &source, conversion.name());
    if path.symlink_metadata().is_err() {
        return Ok(CheckedFile { path, state: FileState::Missing });
    }
    let text = read::text(&path, MAIN_BYTES_MAX)?;
    let state = match conversion.relation(&text) {
        None => return Err(ConvertError::InvalidYaml(path)),
        Some(Relation::InStep) => FileState::InStep,
        Some(Relation::Edited) => FileState::Edited,
        Some(Relation::OutOfStep(differences)) => FileState::OutOfStep(differences),
    };
    match conversion.accept(&text).filter(|_| out_of_step == OutOfStep::Accept) {
        None => Ok(CheckedFile { path, state }),
        Some(accepted) => {
            atomic::update(&path, text.as_bytes(), accepted.as_bytes())?;
            Ok(CheckedFile { path, state: FileState::Accepted })
        }
    }
}
