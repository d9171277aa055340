//! `rep audit`: lists recorded runs and calls, and verifies the records.

use rep_audit::{AuditLog, AuditRunState, AuditVerification, AuditedRun, for_each_record, without_chain_fields};
use rep_check::render::escape_invisible;
use rep_runtime::{RecordFilter, Runtime};
use serde_json::{Value, json};

use crate::exit::{Exit, Failure};
use crate::library::data_folder;
use crate::output::Output;
use crate::terminal;

/// Show what ran, who ran it, and how it ended
///
/// Every run is recorded before it starts and when it ends. Arguments are stored only as a digest. Records are
/// chained by hashes, so that `rep audit verify` detects edits and deletions. Calls that clients made to a server
/// are recorded separately; see `--calls`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rep audit
  rep audit --skill csv-profile --since 2d
  rep audit --calls --since 1h
  rep audit --sources
  rep audit verify")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<AuditAction>,
    /// Show the calls that clients made to a server instead
    #[arg(long)]
    calls: bool,
    /// Show what was fetched, pushed, refused and verified instead
    #[arg(long, conflicts_with_all = ["calls", "skill"])]
    sources: bool,
    /// Show only records about this skill
    #[arg(long, value_name = "SKILL")]
    skill: Option<String>,
    /// Show only records since this time: a date, a UTC date and time, or an age such as `90s`, `15m`, `2h` or `3d`
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Print one JSON document
    #[arg(long, global = true)]
    json: bool,
}

#[derive(clap::Subcommand)]
enum AuditAction {
    /// Verify that no record was edited, removed or reordered
    #[command(after_help = "\
Example:
  rep audit verify")]
    Verify,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let mut show = || {
        let runtime = terminal::open_stored_runtime();
        match args.action {
            Some(AuditAction::Verify) => verify_records(&runtime, args, output),
            None if args.sources => list_sources(args, output),
            None if args.calls => list_calls(&runtime, args, output),
            None => list_runs(&runtime, args, output),
        }
    };
    show().map_err(|failure: Failure| failure.json(args.json))
}

fn list_runs(runtime: &Runtime, args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let runs = runtime.list_runs(&RecordFilter::new(args.skill.as_deref(), args.since.as_deref())?)?.runs;
    if args.json {
        let runs: Vec<Value> = runs.iter().map(AuditedRun::to_json).collect();
        output.write_json(&json!({ "runs": runs }));
        return Ok(Exit::Fine);
    }
    for run in &runs {
        output.write_data(&format!("{}\n", escape_invisible(&render_run(run))));
        for (action, target) in run.denials() {
            output.write_data(&format!("    {}\n", escape_invisible(&format!("denied: {action} {target}"))));
        }
        if run.denials_omitted() > 0 {
            output.write_data(&format!("    and {} more denials\n", run.denials_omitted()));
        }
    }
    let installs = runs.iter().filter(|run| run.state == AuditRunState::Install).count();
    let count = runs.len() - installs;
    output.print_message(&format!("{count} {}", if count == 1 { "run" } else { "runs" }));
    Ok(Exit::Fine)
}

fn list_calls(runtime: &Runtime, args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let filter = RecordFilter::new(args.skill.as_deref(), args.since.as_deref())?;
    let mut count = 0_u64;
    runtime.for_each_call(&filter, |record| {
        count += 1;
        if args.json {
            let before = if count == 1 { "{\"calls\": [" } else { "," };
            output.write_data(&format!("{before}\n{}", without_chain_fields(&record)));
        } else {
            output.write_data(&format!("{}\n", escape_invisible(&render_call(&record))));
        }
    })?;
    if args.json {
        output.write_data(if count == 0 { "{\"calls\": []}\n" } else { "\n]}\n" });
    } else {
        output.print_message(&format!("{count} {}", if count == 1 { "call" } else { "calls" }));
    }
    Ok(Exit::Fine)
}

fn list_sources(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let since = args.since.as_deref().map(|word| {
        let time = rep_storage::time::parse(word, std::time::SystemTime::now());
        time.map(rep_storage::time::format_timestamp).ok_or_else(|| {
            Failure::unable("INVALID_ARGUMENT", format!("`{word}` is not a time"))
                .hint("write a date, a UTC date and time, or an age such as `2h`")
        })
    });
    let since = since.transpose()?.unwrap_or_default();
    let mut found: Vec<Value> = Vec::new();
    for_each_record(&AuditLog::for_runs(&data_folder()?), |record| {
        if record["kind"] == "source" && record["at"].as_str().is_some_and(|at| at >= since.as_str()) {
            let fields = ["at", "who", "action", "source", "revision", "message"];
            let fields = fields.into_iter().filter_map(|key| Some((key.to_owned(), record.get(key)?.clone())));
            found.push(Value::Object(fields.collect()));
        }
    })?;
    if args.json {
        output.write_json(&json!({ "sources": found }));
        return Ok(Exit::Fine);
    }
    for record in &found {
        let text = |field: &str| record[field].as_str().unwrap_or_default();
        let at = text("at").replace('T', " ");
        let line = format!(
            "{}  {}  {}  {} {}",
            at.trim_end_matches('Z'),
            text("action"),
            text("source"),
            text("revision"),
            text("message")
        );
        output.write_data(&format!("{}\n", escape_invisible(line.trim_end())));
    }
    let count = found.len();
    output.print_message(&format!("{count} {}", if count == 1 { "record" } else { "records" }));
    Ok(Exit::Fine)
}

/// Renders a call on one line.
fn render_call(record: &Value) -> String {
    let text = |field: &str| record[field].as_str().unwrap_or_default();
    let what = format!("{} {}", text("method"), text("target"));
    let at = text("at").replace('T', " ");
    let (outcome, duration) = (text("outcome"), &record["duration_ms"]);
    let bearer = record["bearer"].as_str().map(|bearer| format!("{bearer}  ")).unwrap_or_default();
    // Text that a client wrote comes last, so that it cannot imitate other fields.
    format!("{}  {outcome}  {duration} ms  {bearer}{:?}  {}", at.trim_end_matches('Z'), text("who"), what.trim_end())
}

/// Renders a run on one line.
fn render_run(run: &AuditedRun) -> String {
    let at = run.started_at().replace('T', " ");
    let outcome = match run.text_field("outcome") {
        "" => run.state.name().to_owned(),
        outcome => format!("{} {outcome}", run.state.name()),
    };
    if run.state == AuditRunState::Install {
        let packages =
            run.find_field("packages").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        let packages = packages.collect::<Vec<_>>().join(", ");
        return format!(
            "{}  {}  install {packages}  {}",
            at.trim_end_matches('Z'),
            run.text_field("skill"),
            run.text_field("who")
        );
    }
    let duration = run.find_field("duration_ms").map(|duration| format!("  {duration} ms")).unwrap_or_default();
    format!(
        "{}  {}:{}  {outcome}{duration}  {}",
        at.trim_end_matches('Z'),
        run.text_field("skill"),
        run.text_field("tool"),
        run.text_field("who")
    )
}

fn verify_records(runtime: &Runtime, args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let (records, mut verdicts): (Vec<AuditLog>, Vec<AuditVerification>) =
        runtime.verify_records()?.into_iter().unzip();
    for fault in &mut verdicts[1].faults {
        *fault = format!("calls: {fault}");
    }
    let is_fine = verdicts.iter().all(|verdict| verdict.faults.is_empty());
    if args.json {
        let texts =
            |of: fn(&AuditVerification) -> &Vec<String>| verdicts.iter().flat_map(of).cloned().collect::<Vec<_>>();
        let (faults, notes) = (texts(|verdict| &verdict.faults), texts(|verdict| &verdict.notes));
        let (runs, calls) = (verdicts[0].records, verdicts[1].records);
        output.write_json(&json!({
            "intact": is_fine, "records": runs, "records_of_calls": calls, "faults": faults, "notes": notes,
        }));
    }
    for (record, verdict) in records.iter().zip(&verdicts).filter(|_| !args.json) {
        for fault in verdict.faults.iter().chain(&verdict.notes) {
            output.write_data(&format!("{}\n", escape_invisible(fault)));
        }
        let words = if verdict.faults.is_empty() { "intact" } else { "not intact" };
        let count = if verdict.records == 1 { "1 record".to_owned() } else { format!("{} records", verdict.records) };
        output.print_message(&format!("{count} in `{}`, {words}", record.records_path().display()));
    }
    Ok(if is_fine { Exit::Fine } else { Exit::Findings })
}
