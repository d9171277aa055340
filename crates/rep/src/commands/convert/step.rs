//! Whether a UASP file is still in step with the Markdown it was made from.
//!
//! It is where the Markdown has not changed since, or says the same; what was improved by hand in the meantime is the
//! author's business. A file that does not say what it was made from is compared fact by fact.

use std::path::PathBuf;

use rep_convert::convert::{Difference, Stamp, differences};
use rep_library::find::Found;
use rep_library::read;
use rep_model::yaml::{core, parse};
use serde_json::{Value, json};

use super::Args;
use super::batch::{FILE_MAX, on_all_cores, progress, target_in, version};
use super::subject::{Converted, Subjects, beside, by_rule};
use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::write;

/// The most differences of one skill that are told.
const TOLD_MAX: usize = 20;

/// How a file stands to its Markdown.
enum Standing {
    /// It says the same.
    InStep,
    /// The Markdown has not changed since the file was made; the file has.
    Edited,
    /// The Markdown says something else.
    Out(Vec<Difference>),
    /// There is no file.
    Missing,
    /// It was out of step, and somebody says that it is not.
    Accepted,
    /// There is no Markdown, and nobody asked for this skill by name.
    Passed,
    Failed(Failure),
}

impl Standing {
    const fn name(&self) -> &'static str {
        match self {
            Standing::InStep => "in_step",
            Standing::Edited => "edited",
            Standing::Out(_) => "out_of_step",
            Standing::Missing => "missing",
            Standing::Accepted => "accepted",
            Standing::Passed => "passed_over",
            Standing::Failed(_) => "failed",
        }
    }
}

/// Checks every skill that is meant, and says what differs.
pub(super) fn check(args: &Args, subjects: &Subjects, output: &mut Output) -> Exit {
    let mut rows = Vec::new();
    let mut is_bad = false;
    let bar = progress(subjects.found.len(), output);
    let results = on_all_cores(&subjects.found, &bar, |found| stand(found, args));
    bar.finish_and_clear();
    for (found, result) in subjects.found.iter().zip(results) {
        let (path, standing) = match result {
            Ok(both) => both,
            Err(failure) if subjects.is_sweep && failure.code == "NOT_MARKDOWN" => (PathBuf::new(), Standing::Passed),
            Err(failure) => (PathBuf::new(), Standing::Failed(failure)),
        };
        is_bad |= match &standing {
            Standing::Out(_) | Standing::Failed(_) => true,
            // Where skills were looked for, not all of them need to be converted.
            Standing::Missing => !subjects.is_sweep,
            _ => false,
        };
        tell(found, &path, &standing, output);
        rows.push((found, path, standing));
    }
    let count = |name: &str| rows.iter().filter(|(_, _, standing)| standing.name() == name).count();
    let names = ["in_step", "edited", "out_of_step", "missing", "accepted", "passed_over", "failed"];
    if args.is_json {
        let skills: Vec<Value> = rows.iter().map(|(found, path, standing)| row(found, path, standing)).collect();
        let mut summary = json!({ "skills": rows.len() });
        for name in names {
            summary[name] = json!(count(name));
        }
        output.json(&json!({ "skills": skills, "summary": summary }));
    }
    let words = names.iter().filter(|name| count(name) > 0);
    let words: Vec<String> = words.map(|name| format!("{} {}", count(name), name.replace('_', " "))).collect();
    output.say(&words.join(", "));
    if is_bad { Exit::Findings } else { Exit::Fine }
}

/// How the file of one skill stands.
fn stand(found: &Found, args: &Args) -> Result<(PathBuf, Standing), Failure> {
    let (subject, converted) = by_rule(found)?;
    let path = match (&args.out, &args.out_dir) {
        (Some(file), _) => file.clone(),
        (None, Some(folder)) => target_in(folder, found, converted.name()),
        (None, None) => beside(found, &subject, converted.name()),
    };
    if path.symlink_metadata().is_err() {
        return Ok((path, Standing::Missing));
    }
    let text = read::text(&path, FILE_MAX)?;
    let standing = compare(&text, &converted, &path)?;
    if !args.is_accepted {
        return Ok((path, standing));
    }
    let stamp = Stamp::of(&text);
    let is_current = stamp.as_ref().is_some_and(|stamp| stamp.source == converted.stamp.source);
    if is_current {
        return Ok((path, standing));
    }
    let engine = stamp.map_or_else(|| "hand".to_owned(), |stamp| stamp.engine);
    let content = version(&text).unwrap_or_default();
    let stamp = Stamp { engine, content, ..converted.stamp };
    write::replace(&path, text.as_bytes(), &stamp.put(&text))?;
    Ok((path, Standing::Accepted))
}

fn compare(text: &str, converted: &Converted, path: &std::path::Path) -> Result<Standing, Failure> {
    let document = parse(text, 0);
    let Some(root) = document.root.as_ref().filter(|_| document.fatal().is_none()) else {
        let failure = Failure::unable("INVALID_YAML", format!("`{}` is no readable YAML", path.display()));
        return Err(failure.hint(format!("`rep check {}` says where", path.display())));
    };
    let now = &converted.stamp;
    if let Some(stamp) = Stamp::of(text).filter(|stamp| stamp.source == now.source || stamp.facts == now.facts) {
        let is_whole = version(text).as_deref() == Some(&stamp.content);
        return Ok(if is_whole { Standing::InStep } else { Standing::Edited });
    }
    let differences = differences(converted.report.finished.document.raw(), &core::json(root));
    Ok(if differences.is_empty() { Standing::InStep } else { Standing::Out(differences) })
}

fn tell(found: &Found, path: &std::path::Path, standing: &Standing, output: &mut Output) {
    match standing {
        Standing::Out(differences) => {
            let mut lines = vec![format!("`{}` is out of step with `{}`", path.display(), found.shown)];
            lines.extend(differences.iter().take(TOLD_MAX).map(line));
            if differences.len() > TOLD_MAX {
                lines.push(format!("  and {} more; --json tells all", differences.len() - TOLD_MAX));
            }
            output.insist(&lines.join("\n"));
            output.say("  convert it again with --force, or mend it by hand and --accept it");
        }
        Standing::Missing => output.say(&format!("`{}` has no UASP file at `{}`", found.shown, path.display())),
        Standing::Accepted => output.say(&format!("`{}` is in step from now on", path.display())),
        Standing::Edited if output.is_verbose => {
            output.say(&format!("`{}` was edited by hand; its Markdown has not changed", path.display()));
        }
        Standing::Failed(failure) => output.failure(failure),
        Standing::InStep | Standing::Edited | Standing::Passed => {}
    }
}

/// A difference in one line: `+` only the Markdown says it, `-` only the UASP file does, `~` they say it differently.
fn line(one: &Difference) -> String {
    let short = |value: &Value| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if text.chars().count() > 100 { format!("{}…", text.chars().take(100).collect::<String>()) } else { text }
    };
    match (&one.markdown, &one.uasp) {
        (Some(markdown), Some(uasp)) => {
            format!("  ~ {}: the Markdown says {}; the UASP file {}", one.path, short(markdown), short(uasp))
        }
        (Some(markdown), None) => format!("  + {}: {}", one.path, short(markdown)),
        (None, uasp) => format!("  - {}: {}", one.path, uasp.as_ref().map(short).unwrap_or_default()),
    }
}

fn row(found: &Found, path: &std::path::Path, standing: &Standing) -> Value {
    let mut row = json!({ "source": found.shown, "uasp": path.to_string_lossy(), "status": standing.name() });
    match standing {
        Standing::Out(differences) => {
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
