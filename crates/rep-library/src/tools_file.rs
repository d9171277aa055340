//! A skill's `tools.json`, which is generated from the tools in its frontmatter.

use std::path::{Path, PathBuf};

use rep_check::tools::{EffectiveTools, ToolSource, effective_tools, render_tools_json};
use rep_model::Skill;
use rep_storage::WriteError;
use rep_storage::atomic::{self, OnExistingFile};
use serde_json::{Value, json};

use crate::LibraryError;
use crate::discovery;
use crate::skill_reader::{self, ReadExtent};

/// The reason the tools of a skill cannot be shown or written.
#[derive(Debug, thiserror::Error)]
pub enum ToolsFileError {
    /// The directory could not be read.
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// The file could not be written.
    #[error(transparent)]
    Unwritable(#[from] WriteError),
    /// The path is not the directory of a single skill.
    #[error("`{shown}` is not the directory of a single skill")]
    NotOneSkill {
        /// The path for display.
        shown: String,
    },
    /// The SKILL.md cannot be read.
    #[error("`{shown}`: {reason}")]
    Unreadable {
        /// The directory for display.
        shown: String,
        /// The reason.
        reason: String,
    },
    /// The frontmatter declares no tools.
    #[error("the frontmatter of `{shown}` declares no tools")]
    NoTools {
        /// The directory for display.
        shown: String,
    },
}

impl ToolsFileError {
    /// Returns the stable code for programs.
    pub const fn code(&self) -> &'static str {
        match self {
            ToolsFileError::Library(_) => LibraryError::CODE,
            ToolsFileError::Unwritable(_) => "UNWRITABLE",
            ToolsFileError::NotOneSkill { .. } => "NOT_A_SKILL",
            ToolsFileError::Unreadable { .. } => "UNREADABLE",
            ToolsFileError::NoTools { .. } => "NO_TOOLS",
        }
    }

    /// Returns the remedy, if there is one.
    pub fn remedy(&self) -> Option<String> {
        match self {
            ToolsFileError::Library(error) => error.hint().map(str::to_owned),
            ToolsFileError::Unwritable(_) => None,
            ToolsFileError::NotOneSkill { .. } => Some("pass a directory that contains a SKILL.md".to_owned()),
            ToolsFileError::Unreadable { shown, .. } => Some(format!("run `rep check {shown}` for details")),
            ToolsFileError::NoTools { .. } => {
                Some("declare `tools` in SKILL.md; tools.json is generated from them".to_owned())
            }
        }
    }
}

/// The tools of a skill.
pub struct SkillTools {
    /// The directory for display.
    pub shown: String,
    /// The tools.
    pub effective: EffectiveTools,
    folder: PathBuf,
    /// The current bytes of the file.
    before: Option<Vec<u8>>,
}

/// A `tools.json` generated from the frontmatter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolsFile {
    /// The path for display.
    pub shown: String,
    /// The text.
    pub text: String,
    /// Whether the file was written. If not, it was already up to date.
    pub is_written: bool,
}

impl SkillTools {
    /// Reads the tools of a skill's directory.
    pub fn load(folder: &Path) -> Result<Self, ToolsFileError> {
        let shown = discovery::display_path(folder);
        let (skill, faults) = Skill::parse(skill_reader::read_folder(folder, &shown, ReadExtent::Folder)?);
        if skill.frontmatter().is_none() {
            let reason = faults.first().map_or("it has no readable SKILL.md", |fault| fault.message.as_str());
            return Err(ToolsFileError::Unreadable { shown, reason: reason.to_owned() });
        }
        let before = skill.tree.file_bytes("tools.json").map(<[u8]>::to_vec);
        Ok(Self { shown, effective: effective_tools(&skill), folder: folder.to_owned(), before })
    }

    /// Renders the document of `rep tools`.
    pub fn to_json(&self) -> Value {
        let effective = &self.effective;
        json!({ "source": effective.source.name(), "stale": effective.stale, "tools": effective.tools })
    }

    /// Writes `tools.json` from the frontmatter. The output is deterministic.
    pub fn write_file(&self) -> Result<ToolsFile, ToolsFileError> {
        if self.effective.source != ToolSource::Frontmatter {
            return Err(ToolsFileError::NoTools { shown: self.shown.clone() });
        }
        let path = self.folder.join("tools.json");
        let text = render_tools_json(&self.effective.tools);
        let is_written = self.before.as_deref() != Some(text.as_bytes());
        match &self.before {
            Some(before) if is_written => atomic::update_file(&path, before, text.as_bytes())?,
            None => atomic::write_file(&path, text.as_bytes(), OnExistingFile::Keep)?,
            Some(_) => {}
        }
        Ok(ToolsFile { shown: discovery::display_path(&path), text, is_written })
    }
}

/// Returns the directory of the single skill at a path.
pub fn find_skill_folder(path: &Path) -> Result<PathBuf, ToolsFileError> {
    let shown = discovery::display_path(path);
    let mut found = Vec::new();
    discovery::find_skills(path, |skill| found.push(skill))?;
    let given = found.iter().find(|skill| skill.shown == shown).or(found.first());
    match given {
        Some(skill) if !skill.is_lone_file && (found.len() == 1 || skill.shown == shown) => Ok(skill.path.clone()),
        _ => Err(ToolsFileError::NotOneSkill { shown }),
    }
}
