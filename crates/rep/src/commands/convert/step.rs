//! Whether a UASP file is still in step with the Markdown it was made from.
//!
//! It is where the Markdown has not changed since, or says the same; what was improved by hand in the meantime is the
//! author's business. A file that does not say what it was made from is compared fact by fact.

use std::path::{Path, PathBuf};

use rep_convert::convert::Difference;
use rep_library::convert::{CheckedFile, ConvertError, FileState, OutOfStep, check_files};
use rep_library::find::Found;
use rep_model::truncate::ellipsize;
use serde_json::{Value, json};

use super::Args;
use super::subject::Subjects;
use crate::exit::{Exit, Failure};
use crate::output::Output;

/// The most differences of one skill that are told.
const TOLD_MAX: usize = 20;
/// The words for what a file can be, in the order they are told.
const NAMES: [&str; 7] = ["in_step", "edited", "out_of_step", "missing", "accepted", "passed_over", "failed"];

/// How a file stands to its Markdown.
enum Standing {
    Checked(FileState),
    /// There is no Markdown, and nobody asked for this skill by name.
    Passed,
    Failed(Failure),
}

impl Standing {
    const fn name(&self) -> &'static str {
        match self {
            Standing::Checked(state) => state.as_str(),
            Standing::Passed => "passed_over",
            Standing::Failed(_) => "failed",
        }
    }
}

/// Checks every skill that is meant, and says what differs.
pub(super) fn check(args: &Args, subjects: &Subjects, output: &mut Output) -> Exit {
    let mut rows = Vec::new();
    let mut is_bad = false;
    let bar = output.progress("converting", subjects.found.len());
    let out_of_step = if args.is_accepted { OutOfStep::Accept } else { OutOfStep::Report };
    let results = check_files(&subjects.found, &args.target(), out_of_step, &|_| bar.inc(1));
    bar.finish_and_clear();
    for (found, result) in subjects.found.iter().zip(results) {
        let (path, standing) = match result {
            Ok(CheckedFile { path, state }) => (path, Standing::Checked(state)),
            Err(ConvertError::NotMarkdown { .. }) if subjects.is_sweep => (PathBuf::new(), Standing::Passed),
            Err(error) => (PathBuf::new(), Standing::Failed(error.into())),
        };
        is_bad |= match &standing {
            Standing::Checked(FileState::OutOfStep(_)) | Standing::Failed(_) => true,
            // Where skills were looked for, not all of them need to be converted.
            Standing::Checked(FileState::Missing) => !subjects.is_sweep,
            _ => false,
        };
        tell(found, &path, &standing, output);
        rows.push((found, path, standing));
    }
    let count = |name: &str| rows.iter().filter(|(_, _, standing)| standing.name() == name).count();
    if args.is_json {
        let skills: Vec<Value> = rows.iter().map(|(found, path, standing)| row(found, path, standing)).collect();
        let mut summary = json!({ "skills": rows.len() });
        for name in NAMES {
            summary[name] = json!(count(name));
        }
        output.json(&json!({ "skills": skills, "summary": summary }));
    }
    let words = NAMES.iter().filter(|name| count(name) > 0);
    let words: Vec<String> = words.map(|name| format!("{} {}", count(name), name.replace('_', " "))).collect();
    output.say(&words.join(", "));
    if is_bad { Exit::Findings } else { Exit::Fine }
}

fn tell(found: &Found, path: &Path, standing: &Standing, output: &mut Output) {
    match standing {
        Standing::Checked(FileState::OutOfStep(differences)) => {
            let mut lines = vec![format!("`{}` is out of step with `{}`", path.display(), found.shown)];
            lines.extend(differences.iter().take(TOLD_MAX).map(line));
            if differences.len() > TOLD_MAX {
                lines.push(format!("  and {} more; --json tells all", differences.len() - TOLD_MAX));
            }
            output.insist(&lines.join("\n"));
            output.say("  convert it again with --force, or mend it by hand and --accept it");
        }
        Standing::Checked(FileState::Missing) => {
            output.say(&format!("`{}` has no UASP file at `{}`", found.shown, path.display()));
        }
        Standing::Checked(FileState::Accepted) => output.say(&format!("`{}` is in step from now on", path.display())),
        Standing::Checked(FileState::Edited) if output.is_verbose => {
            output.say(&format!("`{}` was edited by hand; its Markdown has not changed", path.display()));
        }
        Standing::Failed(failure) => output.failure(failure),
        Standing::Checked(FileState::InStep | FileState::Edited) | Standing::Passed => {}
    }
}

/// A difference in one line: `+` only the Markdown says it, `-` only the UASP file does, `~` they say it differently.
fn line(one: &Difference) -> String {
    let short = |value: &Value| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        ellipsize(&text, 100).into_owned()
    };
    match (&one.markdown, &one.uasp) {
        (Some(markdown), Some(uasp)) => {
            format!("  ~ {}: the Markdown says {}; the UASP file {}", one.path, short(markdown), short(uasp))
        }
        (Some(markdown), None) => format!("  + {}: {}", one.path, short(markdown)),
        (None, uasp) => format!("  - {}: {}", one.path, uasp.as_ref().map(short).unwrap_or_default()),
    }
}

fn row(found: &Found, path: &Path, standing: &Standing) -> Value {
    let mut row = json!({ "source": found.shown, "uasp": path.to_string_lossy(), "status": standing.name() });
    match standing {
        Standing::Checked(FileState::OutOfStep(differences)) => {
            let one = |one: &Difference| json!({ "at": one.path, "markdown": one.markdown, "uasp": one.uasp });
            row["differences"] = differences.iter().map(one).collect();
        }
        Standing::Failed(failure) => {
            row["error"] = json!({ "code": failure.code, "message": failure.message, "retriable": false });
        }
        _ => {}
    }
    row
}
