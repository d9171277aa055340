//! Fixes what can be fixed without changing the meaning: in memory until nothing changes any more, then whole files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rep_check::{Finding, Options, fix};
use rep_model::{Content, Entry, Fault, Skill, SkillTree};
use rep_storage::{WriteError, atomic};
use similar::TextDiff;

use super::parse;
use crate::LibraryError;
use crate::find::{self, Found};
use crate::parallel::for_each_skill;

/// How often a file is fixed and checked again before giving up.
const ROUNDS_MAX: usize = 10;

/// A file with its safe fixes applied, and not written yet.
#[derive(Clone, Debug)]
pub struct FixedFile {
    /// The file.
    pub path: PathBuf,
    /// The file as the user knows it.
    pub shown: String,
    /// What it holds.
    pub before: Vec<u8>,
    /// What it would hold.
    pub after: String,
}

/// Why a fixed file was not written.
#[derive(Debug, thiserror::Error)]
pub enum FixError {
    /// The file could not be written, or changed meanwhile.
    #[error(transparent)]
    Unwritable(#[from] WriteError),
    /// The file is below the paths that were named only because of a link.
    #[error("`{shown}` lies behind a link and was not changed")]
    BehindLink {
        /// The file as the user knows it.
        shown: String,
        /// Its folder, with links resolved.
        folder: PathBuf,
    },
}

/// What fixing the skills below some paths changes.
#[derive(Debug, Default)]
pub struct Fixes {
    /// The files that change, in order of their paths.
    pub files: Vec<FixedFile>,
    /// What was left out of the search, and why.
    pub notes: Vec<String>,
    /// The paths that were named, with links resolved.
    roots: Vec<PathBuf>,
}

/// Works out what fixing every skill below the paths changes. Nothing is written.
pub fn plan_fixes(paths: &[PathBuf], options: &Options) -> Result<Fixes, LibraryError> {
    let (all, notes) = for_each_skill(paths, &|_| {}, |found| fix_found(found, options))?;
    let mut files: Vec<FixedFile> = all.into_iter().flatten().collect();
    files.sort_by(|one, two| one.path.cmp(&two.path));
    files.dedup_by(|one, two| one.path == two.path);
    let roots = paths.iter().filter_map(|path| fs::canonicalize(path).ok()).collect();
    Ok(Fixes { files, notes, roots })
}

impl Fixes {
    /// Writes the files, each with what became of it. One that cannot be written does not keep the others from being fixed.
    pub fn write(&self) -> impl Iterator<Item = (&FixedFile, Result<(), FixError>)> {
        self.files.iter().map(|file| (file, self.write_file(file)))
    }

    fn write_file(&self, file: &FixedFile) -> Result<(), FixError> {
        let folder = file.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let real = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
        let is_named = |root: &PathBuf| real.starts_with(root) || root.parent() == Some(&real);
        if !self.roots.iter().any(is_named) {
            return Err(FixError::BehindLink { shown: file.shown.clone(), folder: real });
        }
        Ok(atomic::update(&file.path, &file.before, file.after.as_bytes())?)
    }
}

impl FixedFile {
    /// What changes, as a unified diff.
    pub fn diff(&self) -> String {
        let before = String::from_utf8_lossy(&self.before);
        let diff = TextDiff::from_lines(before.as_ref(), &self.after);
        diff.unified_diff().header(&format!("a/{}", self.shown), &format!("b/{}", self.shown)).to_string()
    }
}

/// What fixing changes in a skill and in the skills inside it.
fn fix_found(found: &Found, options: &Options) -> Vec<FixedFile> {
    let (skill, faults) = parse(found);
    let inside = find::nested(found, &skill.tree);
    let mut files = fix_skill(found, skill, faults, options);
    for found in inside {
        let (skill, faults) = parse(&found);
        files.extend(fix_skill(&found, skill, faults, options));
    }
    files
}

fn fix_skill(found: &Found, mut skill: Skill, mut faults: Vec<Fault>, options: &Options) -> Vec<FixedFile> {
    let mut originals: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    for _ in 0..ROUNDS_MAX {
        let report = rep_check::check(&skill, faults, options);
        let mut by_file: BTreeMap<&str, Vec<&Finding>> = BTreeMap::new();
        for finding in report.findings.iter().filter(|finding| finding.edit.is_some()) {
            by_file.entry(&finding.place.file).or_default().push(finding);
        }
        let mut tree: SkillTree = skill.tree.clone();
        let mut is_changed = false;
        for (file, findings) in by_file {
            let Some(bytes) = skill.tree.bytes(file) else { continue };
            let Ok(text) = std::str::from_utf8(bytes) else { continue };
            let after = fix::apply(text, findings);
            if after != text && set_text(&mut tree, file, &after) {
                is_changed = true;
                originals.entry(file.to_owned()).or_insert_with(|| bytes.to_vec());
            }
        }
        let (next, next_faults) = Skill::parse(tree);
        // An edit that makes a file unreadable is not applied.
        if is_worse(&skill, &next) {
            return Vec::new();
        }
        (skill, faults) = (next, next_faults);
        if !is_changed {
            break;
        }
    }
    let root = if found.is_lone_file { found.path.parent().unwrap_or(Path::new("")) } else { &found.path };
    let fixed = |(file, before): (String, Vec<u8>)| {
        let after = String::from_utf8_lossy(skill.tree.bytes(&file)?).into_owned();
        Some(FixedFile { path: root.join(&file), shown: skill.tree.shown_path(&file), before, after })
    };
    originals.into_iter().filter_map(fixed).filter(|file| file.before != file.after.as_bytes()).collect()
}

/// Whether something could be read before and cannot be read after.
fn is_worse(before: &Skill, after: &Skill) -> bool {
    let readable = |skill: &Skill| skill.uasp.iter().filter(|uasp| uasp.root.is_some()).count();
    (before.front().is_some() && after.front().is_none()) || readable(before) > readable(after)
}

fn set_text(tree: &mut SkillTree, file: &str, text: &str) -> bool {
    match tree.entries.get_mut(file) {
        Some(Entry::File { content, .. } | Entry::Link { content, .. }) => {
            *content = Content::Bytes(text.as_bytes().to_vec());
            true
        }
        _ => false,
    }
}
