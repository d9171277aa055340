//! Which findings are reported: those that the baseline does not know, in files that changed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rep_check::Finding;
use rep_library::check::{Baseline, BaselineScope, CompactReport};
use rep_net::git::list_changed_files;

use super::Args;
use crate::exit::Failure;
use crate::output::Output;
use crate::write;

/// What a report is reduced to.
pub(super) struct ReportFilter {
    baseline: Option<Baseline>,
    changed: Option<ChangedFiles>,
}

impl ReportFilter {
    /// Reads the baseline, and asks git for the changed files.
    pub(super) fn prepare(args: &Args) -> Result<Self, Failure> {
        let read = |path: &PathBuf| match Baseline::read(path) {
            Err(error) if args.write_baseline && error.is_missing() => Ok(Baseline::empty(path)),
            other => other,
        };
        let baseline = args.baseline.as_ref().map(read).transpose()?;
        let changed = args.since.as_ref().map(|reference| ChangedFiles::list(&args.paths, reference)).transpose()?;
        Ok(Self { baseline, changed })
    }

    /// Removes the findings that are not reported. Writes the baseline if requested, and reports what is stale in it.
    pub(super) fn apply(
        &mut self,
        args: &Args,
        report: &mut CompactReport,
        output: &mut Output,
    ) -> Result<(), Failure> {
        if let Some(changed) = &self.changed {
            report.retain(|finding| changed.concerns(finding));
        }
        let (Some(baseline), Some(path)) = (&mut self.baseline, &args.baseline) else { return Ok(()) };
        let scope = BaselineScope { paths: &args.paths, rules: &args.select };
        if args.write_baseline {
            let before = baseline.clone();
            baseline.clear(&scope);
            report.for_each(|finding| baseline.add(finding));
            write::write_file(path, &baseline.render())?;
            output.print_message(&describe_written(path, baseline, before, report, &scope));
        }
        report.retain(|finding| !baseline.is_known(finding));
        let stale = if self.changed.is_some() { 0 } else { baseline.count_stale(&scope) };
        if stale > 0 {
            let (what, verb) = if stale == 1 { ("finding", "occurs") } else { ("findings", "occur") };
            output.print_message(&format!(
                "{stale} {what} of `{}` no longer {verb}; `--write-baseline` removes them",
                path.display()
            ));
        }
        Ok(())
    }
}

/// Says what the written baseline contains, and how many findings it no longer does.
fn describe_written(
    path: &Path,
    baseline: &Baseline,
    mut before: Baseline,
    report: &CompactReport,
    scope: &BaselineScope<'_>,
) -> String {
    report.for_each(|finding| {
        before.is_known(finding);
    });
    let count = baseline.len();
    let what = if count == 1 { "finding" } else { "findings" };
    let removed = match before.count_stale(scope) {
        0 => String::new(),
        stale => format!("; {stale} no longer there"),
    };
    format!("wrote {count} {what} to `{}`{removed}", path.display())
}

/// The files that changed since a commit.
struct ChangedFiles {
    files: BTreeSet<PathBuf>,
    /// The files that were deleted. A finding about their skill may be a consequence.
    deleted: Vec<PathBuf>,
}

impl ChangedFiles {
    fn list(paths: &[PathBuf], reference: &str) -> Result<Self, Failure> {
        let mut files = BTreeSet::new();
        let folders: BTreeSet<PathBuf> = paths.iter().map(|path| containing_folder(path)).collect();
        for folder in folders {
            files.extend(list_changed_files(&folder, reference)?);
        }
        let deleted = files.iter().filter(|file| file.symlink_metadata().is_err()).cloned().collect();
        Ok(Self { files, deleted })
    }

    /// Whether a finding is in a changed file, or about a skill that lost or got a file.
    fn concerns(&self, finding: &Finding) -> bool {
        let path = real_path(Path::new(&finding.place.display_path));
        let is_below = |folder: &Path, file: &PathBuf| file.starts_with(folder);
        if finding.place.file.is_empty() {
            return self.files.iter().any(|file| is_below(&path, file));
        }
        let depth = finding.place.file.split('/').count();
        let skill = path.ancestors().nth(depth).unwrap_or(&path);
        self.files.contains(&path) || self.deleted.iter().any(|file| is_below(skill, file))
    }
}

fn real_path(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned())
}

/// Returns the directory in which git is asked about a path.
fn containing_folder(path: &Path) -> PathBuf {
    let real = real_path(path);
    if real.is_dir() { real } else { real.parent().unwrap_or(Path::new("/")).to_owned() }
}
