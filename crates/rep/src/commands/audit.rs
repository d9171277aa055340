//! `rep audit`: what ran, with what, for whom, and how it ended.

use std::time::SystemTime;

use rep_check::render::visible;
use rep_runtime::audit::{self, Audit, Entry};
use rep_runtime::stamp;
use serde_json::{Map, Value, json};

use crate::exit::{Exit, Failure};
use crate::library::data_folder;
use crate::output::Output;

/// Show what ran, with what, for whom, and how it ended
#[derive(clap::Args)]
#[command(
    after_help = "Every run leaves a record before it starts and one when it ends; one that was cut short is shown as that. Records are chained by hashes: `verify` finds what was edited, removed, reordered or cut off at the end. Arguments are kept as a digest only.\n\nExamples:\n  rep audit --skill csv-profile --since 2d\n  rep audit --json --since 2026-11-01\n  rep audit verify"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
    /// Only runs of this skill
    #[arg(long, value_name = "S")]
    skill: Option<String>,
    /// Only runs since then: a date, a date with a time (UTC), or `90s`, `15m`, `2h`, `3d` ago
    #[arg(long, value_name = "T")]
    since: Option<String>,
    /// Print one JSON document
    #[arg(long, global = true)]
    json: bool,
}

#[derive(clap::Subcommand)]
enum Action {
    /// Look whether the records are the ones that were written, all of them, in order
    Verify,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let mut show = || {
        let audit = Audit::at(&data_folder()?);
        match args.action {
            Some(Action::Verify) => verify(&audit, args, output),
            None => list(&audit, args, output),
        }
    };
    show().map_err(|failure| failure.json(args.json))
}

fn list(audit: &Audit, args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let runs = runs(audit, args.skill.as_deref(), args.since.as_deref())?;
    if args.json {
        let runs: Vec<Value> = runs.iter().map(document).collect();
        output.json(&json!({ "runs": runs }));
        return Ok(Exit::Fine);
    }
    for run in &runs {
        output.data(&format!("{}\n", visible(&line(run))));
        for denial in run.field("denials").and_then(Value::as_array).into_iter().flatten() {
            let part = |name: &str| denial.get(name).and_then(Value::as_str).unwrap_or("?").to_owned();
            output.data(&format!("    {}\n", visible(&format!("denied: {} {}", part("action"), part("target")))));
        }
    }
    let installs = runs.iter().filter(|run| run.state == audit::State::Install).count();
    let count = runs.len() - installs;
    output.say(&format!("{count} {}", if count == 1 { "run" } else { "runs" }));
    Ok(Exit::Fine)
}

/// The runs of a skill, since some time.
pub(crate) fn runs(audit: &Audit, skill: Option<&str>, since: Option<&str>) -> Result<Vec<Entry>, Failure> {
    let since = since.map(|word| {
        let at = stamp::parse(word, SystemTime::now()).map(stamp::text);
        at.ok_or_else(|| {
            Failure::unable("USAGE", format!("`{word}` is no point in time")).hint("as in 2026-11-01, 15m, 2h or 3d")
        })
    });
    let since = since.transpose()?;
    let is_named = |entry: &Entry, skill: &str| {
        let name = entry.text("skill");
        name == skill || name.rsplit(':').next() == Some(skill)
    };
    let is_wanted = |entry: &Entry| {
        skill.is_none_or(|skill| is_named(entry, skill))
            && since.as_ref().is_none_or(|since| entry.at() >= since.as_str())
    };
    Ok(audit::entries(audit, is_wanted)?)
}

/// A run on one line.
fn line(run: &Entry) -> String {
    let at = run.at().replace('T', " ");
    let outcome = match run.text("outcome") {
        "" => run.state.name().to_owned(),
        outcome => format!("{} {outcome}", run.state.name()),
    };
    if run.state == audit::State::Install {
        let packages = run.field("packages").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        let packages = packages.collect::<Vec<_>>().join(", ");
        return format!("{}  {}  install {packages}  {}", at.trim_end_matches('Z'), run.text("skill"), run.text("who"));
    }
    let duration = run.field("duration_ms").map(|duration| format!("  {duration} ms")).unwrap_or_default();
    format!(
        "{}  {}:{}  {outcome}{duration}  {}",
        at.trim_end_matches('Z'),
        run.text("skill"),
        run.text("tool"),
        run.text("who")
    )
}

/// A run as one object: what its records say, less what ties them to each other.
pub(crate) fn document(run: &Entry) -> Value {
    const TIES: &[&str] = &["v", "seq", "prev", "hash", "kind", "pid", "pid_started"];
    let mut fields = Map::new();
    fields.insert("state".to_owned(), json!(run.state.name()));
    for record in [Some(&run.start), run.end.as_ref()].into_iter().flatten() {
        for (name, value) in record.as_object().into_iter().flatten() {
            let is_second = fields.contains_key(name);
            match name.as_str() {
                "at" if is_second => drop(fields.insert("ended_at".to_owned(), value.clone())),
                name if TIES.contains(&name) || is_second => {}
                name => drop(fields.insert(name.to_owned(), value.clone())),
            }
        }
    }
    Value::Object(fields)
}

fn verify(audit: &Audit, args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let verdict = audit::verify(audit)?;
    let is_fine = verdict.faults.is_empty();
    if args.json {
        let (records, faults, notes) = (verdict.records, &verdict.faults, &verdict.notes);
        output.json(&json!({ "intact": is_fine, "records": records, "faults": faults, "notes": notes }));
    } else {
        for fault in verdict.faults.iter().chain(&verdict.notes) {
            output.data(&format!("{}\n", visible(fault)));
        }
        let words = if is_fine { "all as they were written" } else { "not as they were written" };
        output.say(&format!("{} records in `{}`, {words}", verdict.records, audit.file().display()));
    }
    Ok(if is_fine { Exit::Fine } else { Exit::Findings })
}
