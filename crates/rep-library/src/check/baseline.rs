//! A baseline: the findings that a repository has accepted for the time being, so that only new ones are reported.
//!
//! A finding is known by its rule, its file and the text that it is about, not by its line, so it stays known when the
//! file changes elsewhere. Files are named relative to the directory of the baseline.
//!
//! ```json
//! {
//!   "version": 1,
//!   "findings": [
//!     { "rule": "name-uppercase", "file": "skills/a/SKILL.md", "fingerprint": "…", "count": 1, "message": "…" }
//!   ]
//! }
//! ```

use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path, PathBuf};

use rep_check::Finding;
use serde_json::{Value, json};

use super::path_settings::absolute_path;
use crate::{LibraryError, skill_reader};

/// The version of the file format.
const VERSION: u64 = 1;
/// The maximum size of a baseline.
const BYTES_MAX: u64 = 64 * 1024 * 1024;

/// What identifies known findings: their rule, their file, and their fingerprint.
type FindingKey = (String, String, String);

/// Known findings with the same key.
#[derive(Clone, Debug)]
struct KnownFindings {
    /// How many there are.
    count: usize,
    /// How many of them were found.
    found: usize,
    /// The message of the first, for people who read the file.
    message: String,
}

/// The findings that are known.
#[derive(Clone, Debug)]
pub struct Baseline {
    /// The directory of the file, which paths are relative to.
    folder: PathBuf,
    known: BTreeMap<FindingKey, KnownFindings>,
}

/// The part of a repository that a check covers. What is outside of it is neither stale nor replaced.
pub struct BaselineScope<'a> {
    /// The checked paths.
    pub paths: &'a [PathBuf],
    /// The rules that were selected. If empty, all rules.
    pub rules: &'a [String],
}

/// The reason a baseline cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    /// The file could not be read.
    #[error(transparent)]
    Unreadable(#[from] LibraryError),
    /// The file is not a baseline.
    #[error("`{}` is not a baseline: {reason}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// The problem.
        reason: String,
    },
    /// A newer version of the program wrote the file.
    #[error("`{}` has version {version}, which this version of rep does not know", path.display())]
    TooNew {
        /// The file.
        path: PathBuf,
        /// The version.
        version: u64,
    },
}

impl Baseline {
    /// Creates an empty baseline that will be written to a path.
    pub fn empty(path: &Path) -> Self {
        let path = absolute_path(path);
        let folder = path.parent().unwrap_or(Path::new("/"));
        // Paths of findings are compared with it, and neither may be reached through links.
        let folder = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
        Self { folder, known: BTreeMap::new() }
    }

    /// Reads a baseline.
    pub fn read(path: &Path) -> Result<Self, BaselineError> {
        let invalid = |reason: String| BaselineError::Invalid { path: path.to_owned(), reason };
        if let Err(error) = std::fs::metadata(path) {
            return Err(LibraryError::new("read", path, error).into());
        }
        let text = skill_reader::read_text(path, BYTES_MAX)?;
        let value: Value = serde_json::from_str(&text).map_err(|error| invalid(error.to_string()))?;
        match value.get("version").and_then(Value::as_u64) {
            Some(VERSION) => {}
            Some(version) => return Err(BaselineError::TooNew { path: path.to_owned(), version }),
            None => return Err(invalid("it has no `version`".to_owned())),
        }
        let rows = value.get("findings").and_then(Value::as_array);
        let rows = rows.ok_or_else(|| invalid("it has no list `findings`".to_owned()))?;
        let mut baseline = Self::empty(path);
        for (index, row) in rows.iter().enumerate() {
            let text = |key: &str| row.get(key).and_then(Value::as_str).map(str::to_owned);
            let count = row.get("count").and_then(Value::as_u64).and_then(|count| usize::try_from(count).ok());
            let key = (|| Some((text("rule")?, text("file")?, text("fingerprint")?)))();
            let (Some(key), Some(count)) = (key, count) else {
                return Err(invalid(format!("`findings[{index}]` lacks `rule`, `file`, `fingerprint` or `count`")));
            };
            let message = text("message").unwrap_or_default();
            let known = baseline.known.entry(key).or_insert(KnownFindings { count: 0, found: 0, message });
            known.count = known.count.saturating_add(count);
        }
        Ok(baseline)
    }

    /// Whether a finding is known. Each known finding is found once.
    pub fn is_known(&mut self, finding: &Finding) -> bool {
        let key = self.key(finding);
        match self.known.get_mut(&key).filter(|known| known.found < known.count) {
            Some(known) => {
                known.found += 1;
                true
            }
            None => false,
        }
    }

    /// Returns the number of known findings in scope that were not found.
    pub fn count_stale(&self, scope: &BaselineScope<'_>) -> usize {
        let in_scope = self.known.iter().filter(|(key, _)| self.is_in_scope(key, scope));
        in_scope.map(|(_, known)| known.count - known.found).sum()
    }

    /// Forgets the known findings in scope, so that those that still exist can be added.
    pub fn clear(&mut self, scope: &BaselineScope<'_>) {
        let known = std::mem::take(&mut self.known);
        self.known = known.into_iter().filter(|(key, _)| !self.is_in_scope(key, scope)).collect();
    }

    /// Adds a finding.
    pub fn add(&mut self, finding: &Finding) {
        let message = finding.message.clone();
        let known = self.known.entry(self.key(finding)).or_insert(KnownFindings { count: 0, found: 0, message });
        known.count += 1;
    }

    /// Returns the number of known findings.
    pub fn len(&self) -> usize {
        self.known.values().map(|known| known.count).sum()
    }

    /// Whether no finding is known.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Renders the file: one finding on each line, sorted, so that changes are easy to review.
    pub fn render(&self) -> String {
        let mut rows: Vec<(&FindingKey, &KnownFindings)> = self.known.iter().collect();
        rows.sort_by(|((rule, file, print), _), ((other_rule, other_file, other_print), _)| {
            (file, rule, print).cmp(&(other_file, other_rule, other_print))
        });
        let render = |((rule, file, fingerprint), known): (&FindingKey, &KnownFindings)| {
            let row = json!({ "rule": rule, "file": file, "fingerprint": fingerprint, "count": known.count, "message": known.message });
            format!("\n    {row}")
        };
        let rows: Vec<String> = rows.into_iter().map(render).collect();
        let close = if rows.is_empty() { "]" } else { "\n  ]" };
        format!("{{\n  \"version\": {VERSION},\n  \"findings\": [{}{close}\n}}\n", rows.join(","))
    }

    fn key(&self, finding: &Finding) -> FindingKey {
        let file = self.relative_path(Path::new(&finding.place.display_path));
        let fingerprint = format!("{:016x}", finding.fingerprint(&file));
        (finding.rule.name.to_owned(), file, fingerprint)
    }

    fn is_in_scope(&self, (rule, file, _): &FindingKey, scope: &BaselineScope<'_>) -> bool {
        let path = absolute_path(&self.folder.join(file));
        let is_below = |checked: &PathBuf| {
            let folder = real_path(&absolute_path(checked));
            // A checked file represents its whole skill.
            let folder = if folder.is_file() { folder.parent().unwrap_or(&folder) } else { &folder };
            path.starts_with(folder)
        };
        (scope.rules.is_empty() || scope.rules.contains(rule)) && scope.paths.iter().any(is_below)
    }

    /// Returns a path relative to the directory of the baseline, with `/`.
    fn relative_path(&self, path: &Path) -> String {
        let path = real_path(&absolute_path(path));
        let (mut from, mut to) = (self.folder.components().peekable(), path.components().peekable());
        while from.peek().is_some() && from.peek() == to.peek() {
            from.next();
            to.next();
        }
        let up = from.map(|_| Component::ParentDir);
        let parts: Vec<String> = up.chain(to).map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
        if parts.is_empty() { ".".to_owned() } else { parts.join("/") }
    }
}

/// Resolves the links of a path as far as it exists.
fn real_path(path: &Path) -> PathBuf {
    let mut rest = Vec::new();
    let mut folder = path;
    loop {
        if let Ok(real) = std::fs::canonicalize(folder) {
            return rest.iter().rev().fold(real, |path, part| path.join(part));
        }
        let (Some(parent), Some(name)) = (folder.parent(), folder.file_name()) else { return path.to_owned() };
        rest.push(name);
        folder = parent;
    }
}

impl BaselineError {
    /// Whether the file does not exist.
    pub fn is_missing(&self) -> bool {
        matches!(self, BaselineError::Unreadable(error) if error.kind() == io::ErrorKind::NotFound)
    }
}
