//! Trusting the skills of a project as they are, and showing what changed since.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use similar::TextDiff;

use crate::catalog::{Catalog, Options, TrustWanted};
use crate::settings::{self, SettingsError};
use crate::store::{self, Change, Contents, Decisions, Side, Texts};
use crate::{LibraryError, Scope};

/// A project, its skills that need trust, and what the user decided about them.
pub struct ProjectTrust {
    /// The skills, trusted or not.
    pub catalog: Catalog,
    project: PathBuf,
    /// The file with the user's decisions.
    file: PathBuf,
    decisions: Decisions,
}

/// What became of one skill of a project that is trusted; `index` is its place in the catalog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustedSkill {
    /// The entry of the catalog.
    pub index: usize,
    /// Why it was not trusted; `None` if it was.
    pub refused: Option<String>,
}

/// The entry of a skill that has nothing to be compared with, because its project was never trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeverTrusted {
    /// The entry of the catalog.
    pub index: usize,
}

impl ProjectTrust {
    /// Finds the skills of a project, and reads the user's decisions from a file.
    pub fn open(project: &Path, file: &Path) -> Result<Self, SettingsError> {
        let options = Options {
            project: Some(project.to_owned()),
            trust: TrustWanted::Given,
            extra: settings::project_roots(project)?,
            ..Options::default()
        };
        let mut catalog = Catalog::discover(&options)?;
        catalog.entries.retain(|entry| entry.scope != Scope::Managed);
        let decisions = Decisions::read(file)?;
        Ok(Self { catalog, project: project.to_owned(), file: file.to_owned(), decisions })
    }

    /// Trusts the skills as they are, and stores the decision.
    pub fn trust(&mut self) -> Result<Vec<TrustedSkill>, LibraryError> {
        let (mut digests, mut kept, mut skills) = (BTreeMap::new(), Vec::new(), Vec::new());
        for (index, entry) in self.catalog.entries.iter().enumerate() {
            let contents = Contents::read(&entry.folder, Texts::Kept);
            skills.push(TrustedSkill { index, refused: contents.unfit.clone() });
            if contents.unfit.is_none() {
                digests.insert(store::inside(&self.project, &entry.folder), contents.digest());
                kept.push(contents);
            }
        }
        self.decisions.trust(&self.project, digests);
        self.decisions.write(&self.file)?;
        self.decisions.keep(&self.file, &kept)?;
        Ok(skills)
    }

    /// What changed in each skill since the project was trusted; skills that did not change are left out.
    pub fn changes(&self) -> Result<Vec<(usize, Vec<Change>)>, NeverTrusted> {
        let mut changed = Vec::new();
        for (index, entry) in self.catalog.entries.iter().enumerate() {
            let changes = self.decisions.changes(&self.file, &self.project, &entry.folder);
            let changes = changes.ok_or(NeverTrusted { index })?;
            if !changes.is_empty() {
                changed.push((index, changes));
            }
        }
        Ok(changed)
    }
}

/// Takes the trust in a project back, and stores that. Says whether there was any.
pub fn untrust(project: &Path, file: &Path) -> Result<bool, LibraryError> {
    let mut decisions = Decisions::read(file)?;
    if !decisions.untrust(project) {
        return Ok(false);
    }
    decisions.write(file)?;
    decisions.keep(file, &[])?;
    Ok(true)
}

impl Change {
    /// The change as a unified diff, with the file's path below `folder`.
    pub fn diff(&self, folder: &str) -> String {
        let path = format!("{folder}/{}", self.path);
        let side = |side: &Option<Side>, prefix: &str| match side {
            Some(_) => format!("{prefix}/{path}"),
            None => "/dev/null".to_owned(),
        };
        let (from, to) = (side(&self.before, "a"), side(&self.after, "b"));
        let text = |side: &Option<Side>| match side {
            Some(Side::Text(text)) => text.clone(),
            Some(Side::Mark(_)) | None => String::new(),
        };
        match (&self.before, &self.after) {
            (Some(Side::Mark(_)), _) | (_, Some(Side::Mark(_))) => self.marks(&from, &to),
            (before, after) if text(before) == text(after) => {
                format!("{from}: what may be done with the file changed, not its text\n")
            }
            (before, after) => {
                TextDiff::from_lines(text(before), text(after)).unified_diff().header(&from, &to).to_string()
            }
        }
    }

    /// A change that cannot be shown line by line.
    fn marks(&self, from: &str, to: &str) -> String {
        let word = |side: &Option<Side>| match side {
            None => "not there".to_owned(),
            Some(Side::Text(_)) => "text".to_owned(),
            Some(Side::Mark(mark)) => mark.clone(),
        };
        format!("--- {from}\n+++ {to}\n-{}\n+{}\n", word(&self.before), word(&self.after))
    }
}
