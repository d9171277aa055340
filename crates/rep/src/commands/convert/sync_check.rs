//! Checks whether UASP files still match the Markdown they were generated from.
//!
//! A file matches if the Markdown has not changed since, or still states the same facts. Manual edits in the UASP
//! file are allowed. A file that does not record its source is compared fact by fact.

use std::path::{Path, PathBuf};

use rep_convert::convert::FactDifference;
use rep_library::convert::{CheckedFile, ConvertError, FileState, OutOfStepAction, check_files};
use rep_library::discovery::SkillLocation;
use rep_model::truncate::truncate_with_ellipsis;
use serde_json::{Value, json};

use super::Args;
use super::subject::ConversionSubjects;
use crate::exit::{Exit, Failure};
use crate::output::Output;

/// The maximum number of differences printed per skill.
const DIFFERENCES_MAX: usize = 20;
/// The names of the states, in output order.
const STATE_NAMES: [&str; 7] = ["in_step", "edited", "out_of_step", "missing", "accepted", "passed_over", "failed"];

/// The result of comparing a file with its Markdown.
enum SyncCheckResult {
    Checked(FileState),
    /// The skill has no Markdown and was not requested by name.
    Skipped,
    Failed(Failure),
}

impl SyncCheckResult {
    const fn name(&self) -> &'static str {
        match self {
            SyncCheckResult::Checked(state) => state.as_str(),
            SyncCheckResult::Skipped => "passed_over",
            SyncCheckResult::Failed(_) => "failed",
        }
    }
}

/// Checks every requested skill, and prints the differences.
pub(super) fn check_sync(args: &Args, subjects: &ConversionSubjects, output: &mut Output) -> Exit {
    let mut rows = Vec::new();
    let mut is_bad = false;
    let bar = output.progress_bar("converting", subjects.found.len());
    let out_of_step = if args.is_accepted { OutOfStepAction::Accept } else { OutOfStepAction::Report };
    let results = check_files(&subjects.found, &args.conversion_target(), out_of_step, &|_| bar.inc(1));
    bar.finish_and_clear();
    for (found, result) in subjects.found.iter().zip(results) {
        let (path, standing) = match result {
            Ok(CheckedFile { path, state }) => (path, SyncCheckResult::Checked(state)),
            Err(ConvertError::NotMarkdown { .. }) if subjects.is_sweep => (PathBuf::new(), SyncCheckResult::Skipped),
            Err(error) => (PathBuf::new(), SyncCheckResult::Failed(error.into())),
        };
        is_bad |= match &standing {
            SyncCheckResult::Checked(FileState::OutOfStep(_)) | SyncCheckResult::Failed(_) => true,
            // Discovered skills do not need to be converted; skills named by the user do.
            SyncCheckResult::Checked(FileState::Missing) => !subjects.is_sweep,
            _ => false,
        };
        report_sync(found, &path, &standing, output);
        rows.push((found, path, standing));
    }
    let count = |name: &str| rows.iter().filter(|(_, _, standing)| standing.name() == name).count();
    if args.is_json {
        let skills: Vec<Value> =
            rows.iter().map(|(found, path, standing)| sync_to_json(found, path, standing)).collect();
        let mut summary = json!({ "skills": rows.len() });
        for name in STATE_NAMES {
            summary[name] = json!(count(name));
        }
        output.write_json(&json!({ "skills": skills, "summary": summary }));
    }
    let words = STATE_NAMES.iter().filter(|name| count(name) > 0);
    let words: Vec<String> = words.map(|name| format!("{} {}", count(name), name.replace('_', " "))).collect();
    output.print_message(&words.join(", "));
    if is_bad { Exit::Findings } else { Exit::Fine }
}

fn report_sync(found: &SkillLocation, path: &Path, standing: &SyncCheckResult, output: &mut Output) {
    match standing {
        SyncCheckResult::Checked(FileState::OutOfStep(differences)) => {
            let mut lines = vec![format!("`{}` does not match `{}`", path.display(), found.shown)];
            lines.extend(differences.iter().take(DIFFERENCES_MAX).map(render_difference));
            if differences.len() > DIFFERENCES_MAX {
                lines.push(format!("  and {} more; pass --json to see all", differences.len() - DIFFERENCES_MAX));
            }
            output.print_always(&lines.join("\n"));
            output.print_message("  convert it again with --force, or edit it and pass --accept");
        }
        SyncCheckResult::Checked(FileState::Missing) => {
            output.print_message(&format!("`{}` has no UASP file at `{}`", found.shown, path.display()));
        }
        SyncCheckResult::Checked(FileState::Accepted) => {
            output.print_message(&format!("recorded that `{}` matches its Markdown", path.display()));
        }
        SyncCheckResult::Checked(FileState::Edited) if output.is_verbose => {
            output.print_message(&format!("`{}` was edited manually; its Markdown has not changed", path.display()));
        }
        SyncCheckResult::Failed(failure) => output.print_failure(failure),
        SyncCheckResult::Checked(FileState::InStep | FileState::Edited) | SyncCheckResult::Skipped => {}
    }
}

/// Renders a difference on one line: `+` only in the Markdown, `-` only in the UASP file, `~` different in both.
fn render_difference(one: &FactDifference) -> String {
    let short = |value: &Value| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        truncate_with_ellipsis(&text, 100).into_owned()
    };
    match (&one.markdown, &one.uasp) {
        (Some(markdown), Some(uasp)) => {
            format!("  ~ {}: {} in the Markdown, {} in the UASP file", one.path, short(markdown), short(uasp))
        }
        (Some(markdown), None) => format!("  + {}: {}", one.path, short(markdown)),
        (None, uasp) => format!("  - {}: {}", one.path, uasp.as_ref().map(short).unwrap_or_default()),
    }
}

fn sync_to_json(found: &SkillLocation, path: &Path, standing: &SyncCheckResult) -> Value {
    let mut row = json!({ "source": found.shown, "uasp": path.to_string_lossy(), "status": standing.name() });
    match standing {
        SyncCheckResult::Checked(FileState::OutOfStep(differences)) => {
            let one = |one: &FactDifference| json!({ "at": one.path, "markdown": one.markdown, "uasp": one.uasp });
            row["differences"] = differences.iter().map(one).collect();
        }
        SyncCheckResult::Failed(failure) => {
            row["error"] = json!({ "code": failure.code, "message": failure.message, "retriable": false });
        }
        _ => {}
    }
    row
}
