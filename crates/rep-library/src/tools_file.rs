//! A skill's `tools.json`, which is made from the tools its frontmatter declares.

use std::path::{Path, PathBuf};

use rep_check::tools::{EffectiveTools, ToolSource, effective_tools, tools_json};
use rep_model::Skill;
use rep_storage::WriteError;
use rep_storage::atomic::{self, Existing};

use crate::LibraryError;
use crate::find;
use crate::read::{self, Extent};

/// Why the tools of a folder cannot be shown or written.
#[derive(Debug, thiserror::Error)]
pub enum ToolsFileError {
    /// The folder could not be read.
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// The file could not be written.
    #[error(transparent)]
    Unwritable(#[from] WriteError),
    /// The path is not the folder of one skill.
    #[error("`{shown}` is not one skill folder")]
    NotOneSkill {
        /// The path as the user knows it.
        shown: String,
    },
    /// The SKILL.md cannot be read.
    #[error("`{shown}`: {reason}")]
    Unreadable {
        /// The folder as the user knows it.
        shown: String,
        /// What is wrong.
        reason: String,
    },
    /// The frontmatter declares no tools.
    #[error("the frontmatter of `{shown}` declares no tools")]
    NoTools {
        /// The folder as the user knows it.
        shown: String,
    },
}

/// The tools of one skill's folder.
pub struct SkillTools {
    /// The folder as the user knows it.
    pub shown: String,
    /// The tools.
    pub effective: EffectiveTools,
    folder: PathBuf,
    /// The bytes of the file as it is.
    before: Option<Vec<u8>>,
}

/// A `tools.json` that was made from the frontmatter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolsFile {
    /// The path as the user knows it.
    pub shown: String,
    /// The text.
    pub text: String,
    /// Whether it was written; if not, the file holds it already.
    pub is_written: bool,
}

impl SkillTools {
    /// Reads the tools of a skill's folder.
    pub fn load(folder: &Path) -> Result<Self, ToolsFileError> {
        let shown = find::shown(folder);
        let (skill, faults) = Skill::parse(read::folder(folder, &shown, Extent::Folder)?);
        if skill.front().is_none() {
            let reason = faults.first().map_or("it has no readable SKILL.md", |fault| fault.message.as_str());
            return Err(ToolsFileError::Unreadable { shown, reason: reason.to_owned() });
        }
        let before = skill.tree.bytes("tools.json").map(<[u8]>::to_vec);
        Ok(Self { shown, effective: effective_tools(&skill), folder: folder.to_owned(), before })
    }

    /// Makes `tools.json` from the frontmatter: the same bytes every time.
    pub fn write(&self) -> Result<ToolsFile, ToolsFileError> {
        if self.effective.source != ToolSource::Frontmatter {
            return Err(ToolsFileError::NoTools { shown: self.shown.clone() });
        }
        let path = self.folder.join("tools.json");
        let text = tools_json(&self.effective.tools);
        let is_written = self.before.as_deref() != Some(text.as_bytes());
        match &self.before {
            Some(before) if is_written => atomic::update(&path, before, text.as_bytes())?,
            None => atomic::write(&path, text.as_bytes(), Existing::Keep)?,
            Some(_) => {}
        }
        Ok(ToolsFile { shown: find::shown(&path), text, is_written })
    }
}

/// The folder of the one skill at a path.
pub fn skill_folder(path: &Path) -> Result<PathBuf, ToolsFileError> {
    let shown = find::shown(path);
    let mut found = Vec::new();
    find::skills(path, |skill| found.push(skill))?;
    let given = found.iter().find(|skill| skill.shown == shown).or(found.first());
    match given {
        Some(skill) if !skill.is_lone_file && (found.len() == 1 || skill.shown == shown) => Ok(skill.path.clone()),
        _ => Err(ToolsFileError::NotOneSkill { shown }),
    }
}
