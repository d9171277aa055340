//! `rep audit`: what ran, with what, for whom, and how it ended.

use rep_audit::{Audit, Entry, State, Verdict, without_ties};
use rep_check::render::visible;
use rep_runtime::{RecordFilter, Runtime};
use serde_json::{Value, json};

use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::terminal;

/// Show what ran, with what, for whom, and how it ended
#[derive(clap::Args)]
#[command(
    after_help = "Every run leaves a record before it starts and one when it ends; one that was cut short is shown as that. Records are chained by hashes: `verify` finds what was edited, removed, reordered or cut off at the end. Arguments are kept as a digest only. What clients asked a server is in a record of its own, of the same form: --calls shows it, and `verify` looks through both.\n\nExamples:\n  rep audit --skill csv-profile --since 2d\n  rep audit --calls --since 1h\n  rep audit --json --since 2026-11-01\n  rep audit verify"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
    /// What clients asked a server, instead of what ran
    #[arg(long)]
    calls: bool,
    /// Only what is about this skill
    #[arg(long, value_name = "S")]
    skill: Option<String>,
    /// Only what happened since then: a date, a date with a time (UTC), or `90s`, `15m`, `2h`, `3d` ago
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
        let runtime = terminal::stored();
        match args.action {
            Some(Action::Verify) => verify(&runtime, args, output),
            None if args.calls => calls(&runtime, args, output),
            None => list(&runtime, args, output),
        }
    };
    show().map_err(|failure: Failure| failure.json(args.json))
}

fn list(runtime: &Runtime, args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let runs = runtime.runs(&RecordFilter::new(args.skill.as_deref(), args.since.as_deref())?)?.runs;
    if args.json {
        let runs: Vec<Value> = runs.iter().map(Entry::to_json).collect();
        output.json(&json!({ "runs": runs }));
        return Ok(Exit::Fine);
    }
    for run in &runs {
        output.data(&format!("{}\n", visible(&line(run))));
        for (action, target) in run.denials() {
            output.data(&format!("    {}\n", visible(&format!("denied: {action} {target}"))));
        }
    }
    let installs = runs.iter().filter(|run| run.state == State::Install).count();
    let count = runs.len() - installs;
    output.say(&format!("{count} {}", if count == 1 { "run" } else { "runs" }));
    Ok(Exit::Fine)
}

fn calls(runtime: &Runtime, args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let filter = RecordFilter::new(args.skill.as_deref(), args.since.as_deref())?;
    let mut count = 0_u64;
    runtime.each_call(&filter, |record| {
        count += 1;
        if args.json {
            let before = if count == 1 { "{\"calls\": [" } else { "," };
            output.data(&format!("{before}\n{}", without_ties(&record)));
        } else {
            output.data(&format!("{}\n", visible(&call_line(&record))));
        }
    })?;
    if args.json {
        output.data(if count == 0 { "{\"calls\": []}\n" } else { "\n]}\n" });
    } else {
        output.say(&format!("{count} {}", if count == 1 { "call" } else { "calls" }));
    }
    Ok(Exit::Fine)
}

/// A call on one line.
fn call_line(record: &Value) -> String {
    let text = |field: &str| record[field].as_str().unwrap_or_default();
    let what = format!("{} {}", text("method"), text("target"));
    let at = text("at").replace('T', " ");
    let (outcome, duration) = (text("outcome"), &record["duration_ms"]);
    let bearer = record["bearer"].as_str().map(|bearer| format!("{bearer}  ")).unwrap_or_default();
    // What a client wrote comes last, where it can imitate nothing.
    format!("{}  {outcome}  {duration} ms  {bearer}{:?}  {}", at.trim_end_matches('Z'), text("who"), what.trim_end())
}

/// A run on one line.
fn line(run: &Entry) -> String {
    let at = run.at().replace('T', " ");
    let outcome = match run.text("outcome") {
        "" => run.state.name().to_owned(),
        outcome => format!("{} {outcome}", run.state.name()),
    };
    if run.state == State::Install {
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

fn verify(runtime: &Runtime, args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let (records, mut verdicts): (Vec<Audit>, Vec<Verdict>) = runtime.verify_records()?.into_iter().unzip();
    for fault in &mut verdicts[1].faults {
        *fault = format!("calls: {fault}");
    }
    let is_fine = verdicts.iter().all(|verdict| verdict.faults.is_empty());
    if args.json {
        let texts = |of: fn(&Verdict) -> &Vec<String>| verdicts.iter().flat_map(of).cloned().collect::<Vec<_>>();
        let (faults, notes) = (texts(|verdict| &verdict.faults), texts(|verdict| &verdict.notes));
        let (runs, calls) = (verdicts[0].records, verdicts[1].records);
        output.json(&json!({
            "intact": is_fine, "records": runs, "records_of_calls": calls, "faults": faults, "notes": notes,
        }));
    }
    for (record, verdict) in records.iter().zip(&verdicts).filter(|_| !args.json) {
        for fault in verdict.faults.iter().chain(&verdict.notes) {
            output.data(&format!("{}\n", visible(fault)));
        }
        let words = if verdict.faults.is_empty() { "all as they were written" } else { "not as they were written" };
        let count = if verdict.records == 1 { "1 record".to_owned() } else { format!("{} records", verdict.records) };
        output.say(&format!("{count} in `{}`, {words}", record.file().display()));
    }
    Ok(if is_fine { Exit::Fine } else { Exit::Findings })
}
