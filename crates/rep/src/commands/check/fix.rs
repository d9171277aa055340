//! `--fix` and `--diff`: mends in memory until nothing changes, then writes whole files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use indicatif::ProgressBar;
use rep_check::{Options, fix as edits};
use rep_model::{Content, Entry, Fault, Skill, SkillTree};
use similar::TextDiff;

use super::run;
use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::write;
use rep_library::find::{self, Found};

/// How often a file is mended and looked at again before giving up.
const ROUNDS_MAX: usize = 10;

/// A file that mending changes.
struct Mended {
    path: PathBuf,
    shown: String,
    before: Vec<u8>,
    after: String,
}

/// Mends every skill below the paths and writes what changed. Says how many files that were, and what went wrong.
pub(super) fn fix(paths: &[PathBuf], options: &Options, output: &mut Output) -> Result<(usize, Vec<Failure>), Failure> {
    let roots: Vec<PathBuf> = paths.iter().filter_map(|path| std::fs::canonicalize(path).ok()).collect();
    let mut written = 0;
    let mut failed = Vec::new();
    for file in mended(paths, options, output)? {
        // One file that cannot be written must not keep the others from being mended.
        match within(&roots, &file).and_then(|()| write::replace(&file.path, &file.before, &file.after)) {
            Ok(()) => {
                written += 1;
                if output.is_verbose {
                    output.say(&format!("mended `{}`", file.shown));
                }
            }
            Err(failure) => failed.push(failure),
        }
    }
    Ok((written, failed))
}

/// Refuses to change a file that only a link brings below the paths that were named.
fn within(roots: &[PathBuf], file: &Mended) -> Result<(), Failure> {
    let folder = file.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let real = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let is_named = |root: &PathBuf| real.starts_with(root) || root.parent() == Some(&real);
    if roots.iter().any(is_named) {
        return Ok(());
    }
    let failure = Failure::unable("UNWRITABLE", format!("`{}` lies behind a link and was not changed", file.shown));
    Err(failure.hint(format!("name the folder itself: `rep check --fix {}`", real.display())))
}

/// Prints what mending would change.
pub(super) fn diff(paths: &[PathBuf], options: &Options, output: &mut Output) -> Result<Exit, Failure> {
    let files = mended(paths, options, output)?;
    let mut text = String::new();
    for file in &files {
        let before = String::from_utf8_lossy(&file.before);
        let diff = TextDiff::from_lines(before.as_ref(), &file.after);
        text.push_str(
            &diff.unified_diff().header(&format!("a/{}", file.shown), &format!("b/{}", file.shown)).to_string(),
        );
    }
    output.data(&text);
    if files.is_empty() {
        output.say("nothing to mend");
        return Ok(Exit::Fine);
    }
    Ok(Exit::Findings)
}

fn mended(paths: &[PathBuf], options: &Options, output: &mut Output) -> Result<Vec<Mended>, Failure> {
    let all = run::on_all_cores(paths, &ProgressBar::hidden(), |found| of_skill(found, options), output)?;
    let mut files: Vec<Mended> = all.into_iter().flatten().collect();
    files.sort_by(|one, two| one.path.cmp(&two.path));
    files.dedup_by(|one, two| one.path == two.path);
    Ok(files)
}

/// What mending changes in a skill and in the skills inside it.
fn of_skill(found: &Found, options: &Options) -> Vec<Mended> {
    let (skill, faults) = run::parse(found);
    let inside = find::nested(found, &skill.tree);
    let mut files = mended_files(found, skill, faults, options);
    for found in inside {
        let (skill, faults) = run::parse(&found);
        files.extend(mended_files(&found, skill, faults, options));
    }
    files
}

fn mended_files(found: &Found, mut skill: Skill, mut faults: Vec<Fault>, options: &Options) -> Vec<Mended> {
    let mut originals: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    for _ in 0..ROUNDS_MAX {
        let report = rep_check::check(&skill, faults, options);
        let mut by_file: BTreeMap<&str, Vec<&rep_check::Finding>> = BTreeMap::new();
        for finding in report.findings.iter().filter(|finding| finding.edit.is_some()) {
            by_file.entry(&finding.place.file).or_default().push(finding);
        }
        let mut tree: SkillTree = skill.tree.clone();
        let mut is_changed = false;
        for (file, findings) in by_file {
            let Some(bytes) = skill.tree.bytes(file) else { continue };
            let Ok(text) = std::str::from_utf8(bytes) else { continue };
            let after = edits::apply(text, findings);
            if after != text && set(&mut tree, file, &after) {
                is_changed = true;
                originals.entry(file.to_owned()).or_insert_with(|| bytes.to_vec());
            }
        }
        let (next, next_faults) = Skill::parse(tree);
        // An edit that makes a file unreadable is none.
        if is_worse(&skill, &next) {
            return Vec::new();
        }
        (skill, faults) = (next, next_faults);
        if !is_changed {
            break;
        }
    }
    let root = if found.is_lone_file { found.path.parent().unwrap_or(Path::new("")) } else { &found.path };
    let mended = |(file, before): (String, Vec<u8>)| {
        let after = String::from_utf8_lossy(skill.tree.bytes(&file)?).into_owned();
        Some(Mended { path: root.join(&file), shown: skill.tree.shown_path(&file), before, after })
    };
    originals.into_iter().filter_map(mended).filter(|file| file.before != file.after.as_bytes()).collect()
}

/// Whether something could be read before and cannot be read after.
fn is_worse(before: &Skill, after: &Skill) -> bool {
    let readable = |skill: &Skill| skill.uasp.iter().filter(|uasp| uasp.root.is_some()).count();
    (before.front().is_some() && after.front().is_none()) || readable(before) > readable(after)
}

fn set(tree: &mut SkillTree, file: &str, text: &str) -> bool {
    match tree.entries.get_mut(file) {
        Some(Entry::File { content, .. } | Entry::Link { content, .. }) => {
            *content = Content::Bytes(text.as_bytes().to_vec());
            true
        }
        _ => false,
    }
}
