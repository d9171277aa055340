//! Applies fixes: in memory until nothing changes, then as whole files.

use std::fs;
use std::path::{Path, PathBuf};

use rep_check::fix::{self, FixApplicability};
use rep_check::{CheckOptions, SkillChecker};
use rep_model::{Fault, Skill};
use rep_storage::{WriteError, atomic};

use super::path_settings::absolute_path;
use super::{CheckError, CheckerSet, extent_for, read_location};
use crate::discovery::{self, SkillLocation};
use crate::line_diff::render_unified_diff;
use crate::parallel::for_each_skill;

/// A file with fixes applied, not written yet.
#[derive(Clone, Debug)]
pub struct FixedFile {
    /// The file.
    pub path: PathBuf,
    /// The path for display.
    pub shown: String,
    /// The new path and how it is displayed, if the file is renamed.
    pub renamed: Option<(PathBuf, String)>,
    /// The current content.
    pub before: Vec<u8>,
    /// The fixed content.
    pub after: Vec<u8>,
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

/// Computes the fixes, up to the given applicability, for every skill below the paths. Writes nothing.
pub fn plan_fixes(
    paths: &[PathBuf],
    options: &CheckOptions,
    applicability: FixApplicability,
) -> Result<PlannedFixes, CheckError> {
    let checkers = CheckerSet::new(options)?;
    let (all, notes) = for_each_skill(paths, &|_| {}, |found| checkers.fix_location(found, applicability))?;
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
        if file.before != file.after {
            atomic::update_file(&file.path, &file.before, &file.after)?;
        }
        if let Some((new_path, _)) = &file.renamed {
            atomic::rename_file(&file.path, &file.after, new_path)?;
        }
        Ok(())
    }
}

impl FixedFile {
    /// Renders the changes as a unified diff.
    pub fn render_diff(&self) -> String {
        let (before, after) = (String::from_utf8_lossy(&self.before), String::from_utf8_lossy(&self.after));
        let (from, to) = (&self.shown, self.renamed.as_ref().map_or(&self.shown, |(_, new_shown)| new_shown));
        let changes = render_unified_diff(&before, &after, &format!("a/{from}"), &format!("b/{to}"));
        if self.renamed.is_some() { format!("rename from {from}\nrename to {to}\n{changes}") } else { changes }
    }
}

impl CheckerSet<'_> {
    /// Computes the fixes for a skill and its nested skills.
    fn fix_location(&self, found: &SkillLocation, applicability: FixApplicability) -> Vec<FixedFile> {
        let Some(checker) = self.checker_for(found) else { return Vec::new() };
        let (skill, faults) = read_location(found, extent_for(&checker.checker));
        let inside = discovery::find_nested_skills(found, &skill.tree);
        let mut files = fix_skill(found, skill, faults, &checker.checker, applicability);
        for found in inside {
            let Some(checker) = self.checker_for(&found) else { continue };
            let (skill, faults) = read_location(&found, extent_for(&checker.checker));
            files.extend(fix_skill(&found, skill, faults, &checker.checker, applicability));
        }
        files.retain(|file| !self.paths.is_excluded(&absolute_path(&file.path), false));
        files
    }
}

fn fix_skill(
    found: &SkillLocation,
    skill: Skill,
    faults: Vec<Fault>,
    checker: &SkillChecker,
    applicability: FixApplicability,
) -> Vec<FixedFile> {
    let root = if found.is_lone_file { found.path.parent().unwrap_or(Path::new("")) } else { &found.path };
    let tree = skill.tree.clone();
    let files = fix::fix_skill(skill, faults, checker, applicability);
    let from_skill_file = |file: fix::FixedSkillFile| FixedFile {
        path: root.join(&file.file),
        shown: tree.display_path(&file.file),
        renamed: (file.new_file != file.file).then(|| (root.join(&file.new_file), tree.display_path(&file.new_file))),
        before: file.before,
        after: file.after,
    };
    files.into_iter().map(from_skill_file).collect()
}
