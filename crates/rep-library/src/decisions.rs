//! The user's decisions about skills: which directories are trusted, and which skills are disabled.
//!
//! The decisions are stored per user in a small JSON file that is replaced atomically. Trust in a directory is bound to
//! its real path and to the content digest of each skill in it. A skill that changes becomes untrusted again.

mod contents;
#[cfg(windows)]
mod no_private_copy;
#[cfg(unix)]
mod private_copy;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::LibraryError;
pub use contents::{SkillContents, SkillFileChange, SkillFileState, TextRetention};
#[cfg(windows)]
pub use no_private_copy::UnavailableCopy as PrivateCopy;
#[cfg(unix)]
pub use private_copy::PrivateCopy;

/// The format version of the file. A newer version is refused, because writing it back could lose data.
const VERSION: u64 = 1;
const BYTES_MAX: u64 = 16 * 1024 * 1024;

/// A user's decisions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UserDecisions {
    /// Trusted directories: real path → skill directory relative to it → digest.
    trusted: BTreeMap<String, BTreeMap<String, String>>,
    /// Disabled skills: project path, or `*` for all projects → names.
    disabled: BTreeMap<String, Vec<String>>,
}

/// Where a skill is disabled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DisableScope<'a> {
    /// In a single project.
    Project(&'a Path),
    /// In all projects.
    User,
}

impl DisableScope<'_> {
    fn key(self) -> String {
        match self {
            DisableScope::Project(path) => resolve_path(path),
            DisableScope::User => "*".to_owned(),
        }
    }
}

/// Whether a project's skill is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FolderTrust {
    /// The directory is trusted, and the skill has not changed.
    Trusted,
    /// The skill was added or changed after its directory was trusted.
    Changed,
    /// The directory was never trusted.
    Never,
}

impl UserDecisions {
    /// Reads the decisions. A missing file contains none.
    pub fn read(file: &Path) -> Result<Self, LibraryError> {
        if !file.exists() {
            return Ok(Self::default());
        }
        let text = crate::skill_reader::read_text(file, BYTES_MAX)?;
        let broken = |words: &str| {
            LibraryError::new("read the decisions in", file, io::Error::other(words.to_owned()))
                .with_hint("fix or remove the file; removing it resets trust and disabled skills")
        };
        let value: Value = serde_json::from_str(&text).map_err(|error| broken(&format!("it is not JSON: {error}")))?;
        if value.get("version").and_then(Value::as_u64).is_none_or(|version| version > VERSION) {
            return Err(broken("it was written by a newer version of `rep`"));
        }
        let texts = |value: &Value| -> BTreeMap<String, String> {
            let map = value.as_object().into_iter().flatten();
            map.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
        };
        let section = |name: &str| value.get(name).and_then(Value::as_object).cloned().unwrap_or_default();
        Ok(Self {
            trusted: section("trusted").iter().map(|(path, skills)| (path.clone(), texts(skills))).collect(),
            disabled: section("disabled")
                .iter()
                .map(|(path, names)| {
                    let names = names.as_array().into_iter().flatten().filter_map(Value::as_str);
                    (path.clone(), names.map(str::to_owned).collect())
                })
                .collect(),
        })
    }

    /// Writes the decisions to a file that only its owner can read.
    pub fn write(&self, file: &Path) -> Result<(), LibraryError> {
        let value = json!({ "version": VERSION, "trusted": self.trusted, "disabled": self.disabled });
        let written = rep_storage::files::replace_private(file, format!("{value:#}\n").as_bytes());
        written.map_err(|error| LibraryError::new("write", file, error.into_source()))
    }

    /// Trusts a directory with its skills, given as relative directories and digests.
    pub fn trust_folder(&mut self, folder: &Path, skills: BTreeMap<String, String>) {
        self.trusted.insert(resolve_path(folder), skills);
    }

    /// Returns the changes in a skill since its project was trusted. Returns `None` if the project was not trusted or
    /// the previous content is not available.
    pub fn find_changes(&self, file: &Path, project: &Path, skill: &Path) -> Option<Vec<SkillFileChange>> {
        let skills = self.trusted.get(&resolve_path(project))?;
        let before = match skills.get(&relative_skill_path(project, skill)) {
            Some(digest) => SkillContents::load_record(&contents_folder(file), digest)?,
            // A skill that was added later is entirely new.
            None => SkillContents::default(),
        };
        Some(before.list_changes(&SkillContents::read(skill, TextRetention::Keep)))
    }

    /// Stores the contents of trusted skills next to the decisions, and removes contents that no decision refers to.
    pub fn store_contents(&self, file: &Path, trusted: &[SkillContents]) -> Result<(), LibraryError> {
        let folder = contents_folder(file);
        let failed = |error: io::Error| LibraryError::new("store the trusted contents in", &folder, error);
        for contents in trusted {
            contents.store_record(&folder).map_err(failed)?;
        }
        let wanted: BTreeSet<&String> = self.trusted.values().flat_map(BTreeMap::values).collect();
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.strip_suffix(".json").is_some_and(|digest| !wanted.contains(&digest.to_owned())) {
                // A file that cannot be removed only takes up space.
                let _ = fs::remove_file(entry.path());
            }
        }
        Ok(())
    }

    /// Revokes trust in a directory. Returns whether it was trusted.
    pub fn untrust_folder(&mut self, folder: &Path) -> bool {
        self.trusted.remove(&resolve_path(folder)).is_some()
    }

    /// Returns whether the user trusted a project, in whatever state.
    pub fn has_trusted_folder(&self, project: &Path) -> bool {
        self.trusted.contains_key(&resolve_path(project))
    }

    /// Returns whether a project's skill is trusted. A skill without a digest is not.
    pub fn trust_of(&self, project: &Path, skill: &Path, digest: impl FnOnce() -> Option<String>) -> FolderTrust {
        // Paths are resolved only if there are decisions to compare with.
        let skills = if self.trusted.is_empty() { None } else { self.trusted.get(&resolve_path(project)) };
        let Some(skills) = skills else { return FolderTrust::Never };
        match skills.get(&relative_skill_path(project, skill)) {
            Some(known) if digest().as_ref() == Some(known) => FolderTrust::Trusted,
            _ => FolderTrust::Changed,
        }
    }

    /// Disables a skill. Returns whether it was enabled.
    pub fn disable_skill(&mut self, reach: DisableScope<'_>, name: &str) -> bool {
        let names = self.disabled.entry(reach.key()).or_default();
        if names.iter().any(|known| known == name) {
            return false;
        }
        names.push(name.to_owned());
        names.sort();
        true
    }

    /// Enables a skill. Returns whether it was disabled.
    pub fn enable_skill(&mut self, reach: DisableScope<'_>, name: &str) -> bool {
        let Some(names) = self.disabled.get_mut(&reach.key()) else { return false };
        let before = names.len();
        names.retain(|known| known != name);
        let is_changed = names.len() < before;
        self.disabled.retain(|_, names| !names.is_empty());
        is_changed
    }

    /// Returns the names of the skills disabled in a project or for the user, and where each is disabled.
    pub fn disabled_skills(&self, project: Option<&Path>) -> BTreeMap<&str, &'static str> {
        let named = |key: &str, place| {
            let names = self.disabled.get(key).into_iter().flatten();
            names.map(move |name| (name.as_str(), place)).collect::<BTreeMap<_, _>>()
        };
        let mut names = named("*", "for this user");
        if let Some(project) = project.filter(|_| !self.disabled.is_empty()) {
            names.extend(named(&resolve_path(project), "in this project"));
        }
        names
    }
}

/// Returns the directory that stores the contents of trusted skills.
fn contents_folder(file: &Path) -> PathBuf {
    file.with_file_name("trusted")
}

fn resolve_path(path: &Path) -> String {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()).to_string_lossy().into_owned()
}

/// Returns a skill's directory relative to its project, both resolved.
pub fn relative_skill_path(project: &Path, skill: &Path) -> String {
    let (project, skill) = (PathBuf::from(resolve_path(project)), PathBuf::from(resolve_path(skill)));
    skill.strip_prefix(&project).unwrap_or(&skill).to_string_lossy().into_owned()
}

/// Computes the digest of a skill's directory: names, kinds, modes and bytes, in order.
pub fn digest_folder(folder: &Path) -> String {
    SkillContents::read(folder, TextRetention::DigestsOnly).digest()
}

/// Computes the digest of a file.
pub(crate) fn digest_file(path: &Path) -> String {
    SkillContents::read_file(path).digest()
}
