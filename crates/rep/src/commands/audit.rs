//! `rep audit`: what ran, with what, for whom, and how it ended.

use std::path::Path;
use std::time::SystemTime;

use rep_audit::{self as audit, Audit, Entry, Verdict};
use rep_check::render::visible;
use rep_storage::time;
use serde_json::{Map, Value, json};

use crate::exit::{Exit, Failure};
use crate::library::data_folder;
use crate::output::Output;

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
        let folder = data_folder()?;
        match args.action {
            Some(Action::Verify) => verify(&folder, args, output),
            None if args.calls => calls(&Audit::of_calls(&folder), args, output),
            None => list(&Audit::at(&folder), args, output),
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

fn calls(audit: &Audit, args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let filter = Filter::new(args.skill.as_deref(), args.since.as_deref())?;
    let mut count = 0_u64;
    // There may be many, and none needs to be held.
    audit::records(audit, |record| {
        if !is_call(&record, &filter) {
            return;
        }
        count += 1;
        if args.json {
            let before = if count == 1 { "{\"calls\": [" } else { "," };
            output.data(&format!("{before}\n{}", untied(&record)));
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

/// Whether a record is one of a call that is wanted.
pub(crate) fn is_call(record: &Value, filter: &Filter) -> bool {
    record["kind"] == "call"
        && filter.fits(record["skill"].as_str().unwrap_or_default(), record["at"].as_str().unwrap_or_default())
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

/// Which records are wanted.
pub(crate) struct Filter {
    skill: Option<String>,
    since: Option<String>,
}

impl Filter {
    /// Those of a skill, since some time.
    pub(crate) fn new(skill: Option<&str>, since: Option<&str>) -> Result<Self, Failure> {
        let since = since.map(|word| {
            let at = time::parse(word, SystemTime::now()).map(time::text);
            let unknown = || Failure::unable("USAGE", format!("`{word}` is no point in time"));
            at.ok_or_else(|| unknown().hint("as in 2026-11-01, 15m, 2h or 3d"))
        });
        Ok(Self { skill: skill.map(str::to_owned), since: since.transpose()? })
    }

    fn fits(&self, name: &str, at: &str) -> bool {
        let is_named = |skill: &String| name == skill || name.rsplit(':').next() == Some(skill);
        self.skill.as_ref().is_none_or(is_named) && self.since.as_deref().is_none_or(|since| at >= since)
    }
}

/// The runs of a skill, since some time.
pub(crate) fn runs(audit: &Audit, skill: Option<&str>, since: Option<&str>) -> Result<Vec<Entry>, Failure> {
    let filter = Filter::new(skill, since)?;
    Ok(audit::entries(audit, |entry| filter.fits(entry.text("skill"), entry.at()))?)
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

/// What ties records to each other, and is nobody's to read.
const TIES: &[&str] = &["v", "seq", "prev", "hash", "kind", "pid", "pid_started"];

/// A record as one object, less what ties it to others.
pub(crate) fn untied(record: &Value) -> Value {
    let fields = record.as_object().into_iter().flatten().filter(|(name, _)| !TIES.contains(&name.as_str()));
    Value::Object(fields.map(|(name, value)| (name.clone(), value.clone())).collect())
}

/// A run as one object: what its records say, less what ties them to each other.
pub(crate) fn document(run: &Entry) -> Value {
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

fn verify(folder: &Path, args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let records = [Audit::at(folder), Audit::of_calls(folder)];
    let mut verdicts = records.iter().map(audit::verify).collect::<Result<Vec<_>, _>>()?;
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
