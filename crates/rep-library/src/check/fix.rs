//! Applies safe fixes: in memory until nothing changes, then as whole files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rep_check::{CheckOptions, Finding, fix};
use rep_model::{Fault, FileContent, Skill, SkillTree, TreeEntry};
use rep_storage::{WriteError, atomic};
use similar::TextDiff;

use super::read_location;
use crate::LibraryError;
use crate::discovery::{self, SkillLocation};
use crate::parallel::for_each_skill;

/// The maximum number of fix-and-check rounds per file.
const ROUNDS_MAX: usize = 10;

/// A file with safe fixes applied, not written yet.
#[derive(Clone, Debug)]
pub struct FixedFile {
    /// The file.
    pub path: PathBuf,
    /// The path for display.
    pub shown: String,
    /// The current content.
    pub before: Vec<u8>,
    /// The fixed content.
    pub after: String,
}

/// The reason a fixed file was not written.
#[derive(Debug, thiserror::Error)]
pub enum FixError {
    /// The file could not be written, or changed in the meantime.
    #[error(transparent)]
    Unwritable(#[from] WriteError),
    /// The file is below the given paths only through a link.
    #[error("`{shown}` is behind a link and was not changed")]
    BehindLink {
        /// The path for display.
        shown: String,
        /// The directory, with links resolved.
        folder: PathBuf,
    },
}

/// The changes that fixing skills makes.
#[derive(Debug, Default)]
pub struct PlannedFixes {
    /// The files that change, in order of their paths.
    pub files: Vec<FixedFile>,
    /// Notes about what the search skipped.
    pub notes: Vec<String>,
    /// The given paths, with links resolved.
    roots: Vec<PathBuf>,
}

/// Computes the fixes for every skill below the paths. Writes nothing.
pub fn plan_fixes(paths: &[PathBuf], options: &CheckOptions) -> Result<PlannedFixes, LibraryError> {
    let (all, notes) = for_each_skill(paths, &|_| {}, |found| fix_location(found, options))?;
    let mut files: Vec<FixedFile> = all.into_iter().flatten().collect();
    files.sort_by(|one, two| one.path.cmp(&two.path));
    files.dedup_by(|one, two| one.path == two.path);
    let roots = paths.iter().filter_map(|path| fs::canonicalize(path).ok()).collect();
    Ok(PlannedFixes { files, notes, roots })
}

impl PlannedFixes {
    /// Writes the files and returns the result of each. If one cannot be written, the others are still written.
    pub fn write_files(&self) -> impl Iterator<Item = (&FixedFile, Result<(), FixError>)> {
        self.files.iter().map(|file| (file, self.write_file(file)))
    }

    fn write_file(&self, file: &FixedFile) -> Result<(), FixError> {
        let folder = file.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let real = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
        let is_named = |root: &PathBuf| real.starts_with(root) || root.parent() == Some(&real);
        if !self.roots.iter().any(is_named) {
            return Err(FixError::BehindLink { shown: file.shown.clone(), folder: real });
        }
        Ok(atomic::update_file(&file.path, &file.before, file.after.as_bytes())?)
    }
}

impl FixedFile {
    /// Renders the changes as a unified diff.
    pub fn render_diff(&self) -> String {
        let before = String::from_utf8_lossy(&self.before);
        let diff = TextDiff::from_lines(before.as_ref(), &self.after);
        diff.unified_diff().header(&format!("a/{}", self.shown), &format!("b/{}", self.shown)).to_string()
    }
}

/// Computes the fixes for a skill and its nested skills.
fn fix_location(found: &SkillLocation, options: &CheckOptions) -> Vec<FixedFile> {
    let (skill, faults) = read_location(found);
    let inside = discovery::find_nested_skills(found, &skill.tree);
    let mut files = fix_skill(found, skill, faults, options);
    for found in inside {
        let (skill, faults) = read_location(&found);
        files.extend(fix_skill(&found, skill, faults, options));
    }
    files
}

fn fix_skill(
    found: &SkillLocation,
    mut skill: Skill,
    mut faults: Vec<Fault>,
    options: &CheckOptions,
) -> Vec<FixedFile> {
    let mut originals: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    for _ in 0..ROUNDS_MAX {
        let report = rep_check::check_skill(&skill, faults, options);
        let mut by_file: BTreeMap<&str, Vec<&Finding>> = BTreeMap::new();
        for finding in report.findings.iter().filter(|finding| finding.edit.is_some()) {
            by_file.entry(&finding.place.file).or_default().push(finding);
        }
        let mut tree: SkillTree = skill.tree.clone();
        let mut is_changed = false;
        for (file, findings) in by_file {
            let Some(bytes) = skill.tree.file_bytes(file) else { continue };
            let Ok(text) = std::str::from_utf8(bytes) else { continue };
            let after = fix::apply_edits(text, findings);
            if after != text && set_text(&mut tree, file, &after) {
                is_changed = true;
                originals.entry(file.to_owned()).or_insert_with(|| bytes.to_vec());
            }
        }
        let (next, next_faults) = Skill::parse(tree);
        // Do not apply an edit that makes a file unreadable.
        if is_less_readable(&skill, &next) {
            return Vec::new();
        }
        (skill, faults) = (next, next_faults);
        if !is_changed {
            break;
        }
    }
    let root = if found.is_lone_file { found.path.parent().unwrap_or(Path::new("")) } else { &found.path };
    let fixed = |(file, before): (String, Vec<u8>)| {
        let after = String::from_utf8_lossy(skill.tree.file_bytes(&file)?).into_owned();
        Some(FixedFile { path: root.join(&file), shown: skill.tree.display_path(&file), before, after })
    };
    originals.into_iter().filter_map(fixed).filter(|file| file.before != file.after.as_bytes()).collect()
}

/// Returns whether a file was readable before and is not afterwards.
fn is_less_readable(before: &Skill, after: &Skill) -> bool {
    let readable = |skill: &Skill| skill.uasp.iter().filter(|uasp| uasp.root.is_some()).count();
    (before.frontmatter().is_some() && after.frontmatter().is_none()) || readable(before) > readable(after)
}

fn set_text(tree: &mut SkillTree, file: &str, text: &str) -> bool {
    match tree.entries.get_mut(file) {
        Some(TreeEntry::File { content, .. } | TreeEntry::Link { content, .. }) => {
            *content = FileContent::Bytes(text.as_bytes().to_vec());
            true
        }
        _ => false,
    }
}
