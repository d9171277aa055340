//! Trusts the skills of a project in their current state, and shows what changed since.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::catalog::{Catalog, LibraryOptions, TrustRequirement};
use crate::decisions::{self, SkillContents, SkillFileChange, SkillFileState, TextRetention, UserDecisions};
use crate::line_diff::render_unified_diff;
use crate::settings::{self, SettingsError};
use crate::{LibraryError, Scope};

/// A project, its skills that need trust, and the user's decisions about them.
pub struct ProjectTrust {
    /// The skills, trusted or not.
    pub catalog: Catalog,
    project: PathBuf,
    /// The file with the user's decisions.
    file: PathBuf,
    decisions: UserDecisions,
}

/// The result of trusting a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustedSkill {
    /// The index of the catalog entry.
    pub index: usize,
    /// The reason it was not trusted, or `None` if it was.
    pub refused: Option<String>,
}

/// The error for a skill without a trusted state to compare with, because its project was never trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeverTrustedError {
    /// The index of the catalog entry.
    pub index: usize,
}

impl ProjectTrust {
    /// Finds the skills of a project and reads the user's decisions from a file.
    pub fn open(project: &Path, file: &Path) -> Result<Self, SettingsError> {
        let options = LibraryOptions {
            project: Some(project.to_owned()),
            trust: TrustRequirement::Waived,
            extra: settings::project_roots(project)?,
            ..LibraryOptions::default()
        };
        let mut catalog = Catalog::discover(&options)?;
        catalog.entries.retain(|entry| entry.scope != Scope::Managed);
        let decisions = UserDecisions::read(file)?;
        Ok(Self { catalog, project: project.to_owned(), file: file.to_owned(), decisions })
    }

    /// Trusts the skills in their current state and stores the decision.
    pub fn trust_skills(&mut self) -> Result<Vec<TrustedSkill>, LibraryError> {
        let (mut digests, mut kept, mut skills) = (BTreeMap::new(), Vec::new(), Vec::new());
        for (index, entry) in self.catalog.entries.iter().enumerate() {
            let contents = SkillContents::read(&entry.folder, TextRetention::Keep);
            skills.push(TrustedSkill { index, refused: contents.unfit.clone() });
            if contents.unfit.is_none() {
                digests.insert(decisions::relative_skill_path(&self.project, &entry.folder), contents.digest());
                kept.push(contents);
            }
        }
        self.decisions.trust_folder(&self.project, digests);
        self.decisions.write(&self.file)?;
        self.decisions.store_contents(&self.file, &kept)?;
        Ok(skills)
    }

    /// Lists the changes in each skill since the project was trusted. Skills without changes are omitted.
    pub fn list_changes(&self) -> Result<Vec<(usize, Vec<SkillFileChange>)>, NeverTrustedError> {
        let mut changed = Vec::new();
        for (index, entry) in self.catalog.entries.iter().enumerate() {
            let changes = self.decisions.find_changes(&self.file, &self.project, &entry.folder);
            let changes = changes.ok_or(NeverTrustedError { index })?;
            if !changes.is_empty() {
                changed.push((index, changes));
            }
        }
        Ok(changed)
    }
}

/// Returns whether the user trusts the current project of a library, in whatever state it is.
pub fn is_project_trusted(options: &LibraryOptions) -> Result<bool, LibraryError> {
    match (&options.trust, &options.decisions, &options.project) {
        (TrustRequirement::Waived, _, _) => Ok(true),
        (TrustRequirement::Required, Some(file), Some(project)) => {
            Ok(UserDecisions::read(file)?.has_trusted_folder(project))
        }
        (TrustRequirement::Required, _, _) => Ok(false),
    }
}

/// Revokes trust in a project and stores the decision. Returns whether it was trusted.
pub fn untrust_project(project: &Path, file: &Path) -> Result<bool, LibraryError> {
    let mut decisions = UserDecisions::read(file)?;
    if !decisions.untrust_folder(project) {
        return Ok(false);
    }
    decisions.write(file)?;
    decisions.store_contents(file, &[])?;
    Ok(true)
}

impl SkillFileChange {
    /// Renders the change as a unified diff, with the file's path below `folder`.
    pub fn render_diff(&self, folder: &str) -> String {
        let path = format!("{folder}/{}", self.path);
        let side = |side: &Option<SkillFileState>, prefix: &str| match side {
            Some(_) => format!("{prefix}/{path}"),
            None => "/dev/null".to_owned(),
        };
        let (from, to) = (side(&self.before, "a"), side(&self.after, "b"));
        let text = |side: &Option<SkillFileState>| match side {
            Some(SkillFileState::Text(text)) => text.clone(),
            Some(SkillFileState::Fingerprint(_)) | None => String::new(),
        };
        match (&self.before, &self.after) {
            (Some(SkillFileState::Fingerprint(_)), _) | (_, Some(SkillFileState::Fingerprint(_))) => {
                self.render_fingerprints(&from, &to)
            }
            (before, after) if text(before) == text(after) => {
                format!("{from}: the file mode changed, not its text\n")
            }
            (before, after) => render_unified_diff(&text(before), &text(after), &from, &to),
        }
    }

    /// Renders a change that cannot be shown line by line.
    fn render_fingerprints(&self, from: &str, to: &str) -> String {
        let word = |side: &Option<SkillFileState>| match side {
            None => "absent".to_owned(),
            Some(SkillFileState::Text(_)) => "text".to_owned(),
            Some(SkillFileState::Fingerprint(mark)) => mark.clone(),
        };
        format!("--- {from}\n+++ {to}\n-{}\n+{}\n", word(&self.before), word(&self.after))
    }
}
