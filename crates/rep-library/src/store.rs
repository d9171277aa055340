//! What the user decided about skills: which folders are trusted, which skills are switched off.
//!
//! Kept per user in one small JSON file, replaced atomically. A trusted folder is bound to its
//! real path and to the content digest of each skill in it: a skill that changed since is
//! untrusted again.

mod contents;
mod copy;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::LibraryError;
pub use contents::{Change, Contents, Side, Texts};
pub use copy::Copy;

/// The version of the file's form. A newer one is refused, so that nothing is lost by writing it back.
const VERSION: u64 = 1;
const BYTES_MAX: u64 = 16 * 1024 * 1024;

/// The decisions of one user.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decisions {
    /// Trusted folders: real path → skill folder relative to it → digest.
    trusted: BTreeMap<String, BTreeMap<String, String>>,
    /// Skills switched off: project path, or `*` for the user everywhere → names.
    disabled: BTreeMap<String, Vec<String>>,
}

/// Where a skill is switched off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach<'a> {
    /// In one project.
    Project(&'a Path),
    /// Everywhere.
    User,
}

impl Reach<'_> {
    fn key(self) -> String {
        match self {
            Reach::Project(path) => real(path),
            Reach::User => "*".to_owned(),
        }
    }
}

/// Whether a skill of a project is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Its folder is trusted and it has not changed.
    Trusted,
    /// It changed, or came, since its folder was trusted.
    Changed,
    /// Nobody trusted its folder.
    Never,
}

impl Decisions {
    /// Reads the decisions; none where there is no file yet.
    pub fn read(file: &Path) -> Result<Self, LibraryError> {
        if !file.exists() {
            return Ok(Self::default());
        }
        let text = crate::read::text(file, BYTES_MAX)?;
        let broken = |words: &str| {
            LibraryError::new("read the decisions in", file, io::Error::other(words.to_owned()))
                .hinting("mend or remove the file; trust and switches are then as if never given")
        };
        let value: Value = serde_json::from_str(&text).map_err(|error| broken(&format!("it is no JSON: {error}")))?;
        if value.get("version").and_then(Value::as_u64).is_none_or(|version| version > VERSION) {
            return Err(broken("it was written by a newer rep"));
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

    /// Writes the decisions, readable by their owner only.
    pub fn write(&self, file: &Path) -> Result<(), LibraryError> {
        let value = json!({ "version": VERSION, "trusted": self.trusted, "disabled": self.disabled });
        let written = rep_storage::files::replace(file, format!("{value:#}\n").as_bytes());
        written.map_err(|error| LibraryError::new("write", file, error.into_source()))
    }

    /// Trusts a folder with the skills it holds: their folders relative to it, and their digests.
    pub fn trust(&mut self, folder: &Path, skills: BTreeMap<String, String>) {
        self.trusted.insert(real(folder), skills);
    }

    /// What changed in a skill since its project was trusted; `None` where the project was not, or nothing is left to compare with.
    pub fn changes(&self, file: &Path, project: &Path, skill: &Path) -> Option<Vec<Change>> {
        let skills = self.trusted.get(&real(project))?;
        let before = match skills.get(&inside(project, skill)) {
            Some(digest) => Contents::kept(&records(file), digest)?,
            // It came since: everything in it is new.
            None => Contents::default(),
        };
        Some(before.changes(&Contents::read(skill, Texts::Kept)))
    }

    /// Keeps the contents of a trusted skill beside the decisions, and drops what no decision speaks of any more.
    pub fn keep(&self, file: &Path, trusted: &[Contents]) -> Result<(), LibraryError> {
        let folder = records(file);
        let failed = |error: io::Error| LibraryError::new("keep what was trusted in", &folder, error);
        for contents in trusted {
            contents.write(&folder).map_err(failed)?;
        }
        let wanted: BTreeSet<&String> = self.trusted.values().flat_map(BTreeMap::values).collect();
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.strip_suffix(".json").is_some_and(|digest| !wanted.contains(&digest.to_owned())) {
                // What cannot be removed is only in the way.
                let _ = fs::remove_file(entry.path());
            }
        }
        Ok(())
    }

    /// Takes trust back. Says whether there was any.
    pub fn untrust(&mut self, folder: &Path) -> bool {
        self.trusted.remove(&real(folder)).is_some()
    }

    /// Whether a skill folder inside a project is trusted. One without a digest cannot be.
    pub fn of(&self, project: &Path, skill: &Path, digest: impl FnOnce() -> Option<String>) -> Trust {
        // Paths are resolved only where there is something to compare them with.
        let skills = if self.trusted.is_empty() { None } else { self.trusted.get(&real(project)) };
        let Some(skills) = skills else { return Trust::Never };
        match skills.get(&inside(project, skill)) {
            Some(known) if digest().as_ref() == Some(known) => Trust::Trusted,
            _ => Trust::Changed,
        }
    }

    /// Switches a skill off. Says whether it was on.
    pub fn disable(&mut self, reach: Reach<'_>, name: &str) -> bool {
        let names = self.disabled.entry(reach.key()).or_default();
        if names.iter().any(|known| known == name) {
            return false;
        }
        names.push(name.to_owned());
        names.sort();
        true
    }

    /// Switches a skill on again. Says whether it was off.
    pub fn enable(&mut self, reach: Reach<'_>, name: &str) -> bool {
        let Some(names) = self.disabled.get_mut(&reach.key()) else { return false };
        let before = names.len();
        names.retain(|known| known != name);
        let is_changed = names.len() < before;
        self.disabled.retain(|_, names| !names.is_empty());
        is_changed
    }

    /// The skills that are switched off in a project or everywhere, by name, and where.
    pub fn disabled(&self, project: Option<&Path>) -> BTreeMap<&str, &'static str> {
        let named = |key: &str, place| {
            let names = self.disabled.get(key).into_iter().flatten();
            names.map(move |name| (name.as_str(), place)).collect::<BTreeMap<_, _>>()
        };
        let mut names = named("*", "for this user");
        if let Some(project) = project.filter(|_| !self.disabled.is_empty()) {
            names.extend(named(&real(project), "in this project"));
        }
        names
    }
}

/// Where the contents of trusted skills are kept.
fn records(file: &Path) -> PathBuf {
    file.with_file_name("trusted")
}

fn real(path: &Path) -> String {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()).to_string_lossy().into_owned()
}

/// A skill's folder relative to the project that holds it, both resolved.
pub fn inside(project: &Path, skill: &Path) -> String {
    let (project, skill) = (PathBuf::from(real(project)), PathBuf::from(real(skill)));
    skill.strip_prefix(&project).unwrap_or(&skill).to_string_lossy().into_owned()
}

/// The digest of everything in a skill's folder: names, kinds, modes and bytes, in order.
pub fn digest(folder: &Path) -> String {
    Contents::read(folder, Texts::Left).digest()
}

/// The digest of one file's bytes.
pub(crate) fn file_digest(path: &Path) -> String {
    Contents::file(path).digest()
}
