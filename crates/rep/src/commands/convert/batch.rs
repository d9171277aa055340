//! Many conversions: what came of each skill, and of all together.

use std::path::PathBuf;

use rep_convert::convert::Conversion;
use rep_library::convert::{Batch, BatchFile, BatchItem, ConvertError};
use rep_library::find::Found;
use rep_sandbox::interrupt;
use rep_storage::atomic::Existing;
use serde_json::{Value, json};

use super::engine::{EngineError, convert_one};
use super::{Args, Engine, write_report};
use crate::exit::{Exit, Failure};
use crate::output::Output;

/// One skill of a batch.
struct Row {
    conversion: Option<Conversion>,
    outcome: Outcome,
}

/// What came of one skill.
enum Outcome {
    Written(PathBuf),
    InStep(PathBuf),
    /// There is no Markdown, and nobody asked for this skill by name.
    Passed,
    Failed(Failure),
}

impl Row {
    fn new(result: Result<BatchItem, EngineError>, is_sweep: bool) -> Self {
        match result {
            Ok(item) => {
                let outcome = match item.file {
                    Ok(BatchFile::Written(path)) => Outcome::Written(path),
                    Ok(BatchFile::InStep(path)) => Outcome::InStep(path),
                    Err(error) => Outcome::Failed(error.into()),
                };
                Self { conversion: Some(item.conversion), outcome }
            }
            Err(EngineError::Convert(ConvertError::NotMarkdown { .. })) if is_sweep => {
                Self { conversion: None, outcome: Outcome::Passed }
            }
            Err(error) => Self { conversion: None, outcome: Outcome::Failed(error.into()) },
        }
    }

    fn json(&self, found: &Found) -> Value {
        let mut row = json!({ "skill": self.conversion.as_ref().map(Conversion::name), "source": found.shown });
        let (status, out) = match &self.outcome {
            Outcome::Written(path) => ("written", Some(path)),
            Outcome::InStep(path) => ("in_step", Some(path)),
            Outcome::Passed => ("passed_over", None),
            Outcome::Failed(_) => ("failed", None),
        };
        row["status"] = json!(status);
        if let Some(out) = out {
            row["out"] = json!(out.to_string_lossy());
        }
        if let Some(conversion) = &self.conversion {
            let report = &conversion.report;
            row["valid"] = json!(report.is_valid());
            row["version"] = report.finished.version().into();
            row["items"] = json!(report.items.len());
            row["needs_review"] = json!(report.doubts());
            row["warnings"] = json!(report.warnings.len());
        }
        if let Outcome::Failed(failure) = &self.outcome {
            row["error"] =
                json!({ "code": failure.code, "message": failure.message, "retriable": failure.is_retriable });
        }
        row
    }
}

/// Converts skills into files of their own.
pub(super) fn convert(args: &Args, found: &[Found], is_sweep: bool, output: &mut Output) -> Result<Exit, Failure> {
    if args.out.is_some() || (args.out_dir.is_none() && !args.is_beside) {
        let failure = Failure::unable("USAGE", format!("{} skills are meant, and need a folder", found.len()));
        return Err(failure.hint("give --out-dir, or --beside to write into the skills' own folders"));
    }
    let target = args.target();
    let batch = Batch::new(found, &target, if args.is_forced { Existing::Replace } else { Existing::Keep });
    let bar = output.progress("converting", found.len());
    let results: Vec<Result<BatchItem, EngineError>> = match args.engine() {
        Engine::Rules => {
            let cancel = interrupt::on_interrupt();
            let results = batch.convert(&|| cancel.is_cancelled(), &|_| bar.inc(1));
            if cancel.is_cancelled() {
                bar.finish_and_clear();
                let count = results.iter().flatten().count();
                output.insist(&format!("interrupted after {count} of {} skills; call it again to go on", found.len()));
                return Ok(Exit::Interrupted);
            }
            results.into_iter().flatten().map(|result| result.map_err(EngineError::Convert)).collect()
        }
        Engine::Llm | Engine::Hybrid => by_model(args, found, &batch, &|| bar.inc(1), output)?,
    };
    bar.finish_and_clear();
    let rows: Vec<Row> = results.into_iter().map(|result| Row::new(result, is_sweep)).collect();
    if let Some(path) = &args.report {
        let conversions = rows.iter().filter_map(|row| row.conversion.as_ref());
        write_report(path, &conversions.map(|conversion| &conversion.report).collect::<Vec<_>>(), args.is_forced)?;
    }
    tell(args, found, &rows, output);
    let has_failed = rows.iter().any(|row| matches!(row.outcome, Outcome::Failed(_)));
    Ok(if has_failed { Exit::Findings } else { Exit::Fine })
}

/// Asks a model about one skill after the other, until it is clear that it answers none.
fn by_model(
    args: &Args,
    found: &[Found],
    batch: &Batch<'_>,
    progress: &dyn Fn(),
    output: &mut Output,
) -> Result<Vec<Result<BatchItem, EngineError>>, Failure> {
    if args.model.is_wanted() {
        let failure = Failure::unable("USAGE", format!("{} skills are meant, and one can be asked about", found.len()));
        return Err(failure.hint("name one of them"));
    }
    let mut results = Vec::with_capacity(found.len());
    for one in found {
        let result = convert_one(one, args, output);
        progress();
        match result {
            Err(error) if error.is_permanent() => return Err(error.into()),
            result => results.push(result.map(|made| batch.store(one, &made.source, made.conversion))),
        }
    }
    Ok(results)
}

fn tell(args: &Args, found: &[Found], rows: &[Row], output: &mut Output) {
    let count = |is_wanted: fn(&Outcome) -> bool| rows.iter().filter(|row| is_wanted(&row.outcome)).count();
    let written = count(|outcome| matches!(outcome, Outcome::Written(_)));
    let in_step = count(|outcome| matches!(outcome, Outcome::InStep(_)));
    let failed = count(|outcome| matches!(outcome, Outcome::Failed(_)));
    let passed = count(|outcome| matches!(outcome, Outcome::Passed));
    let doubts: usize =
        rows.iter().filter_map(|row| row.conversion.as_ref()).map(|conversion| conversion.report.doubts()).sum();
    if args.is_json {
        let skills: Vec<Value> = found.iter().zip(rows).map(|(one, row)| row.json(one)).collect();
        output.json(&json!({ "skills": skills, "summary": {
            "skills": found.len(), "written": written, "in_step": in_step, "failed": failed, "passed_over": passed,
            "needs_review": doubts,
        } }));
    }
    for (one, row) in found.iter().zip(rows) {
        if let Outcome::Failed(failure) = &row.outcome {
            let message = format!("{}: {}", one.shown, failure.message);
            output.failure(&Failure { message, is_json: false, ..failure.clone() });
        }
    }
    let mut words = vec![format!("{written} written"), format!("{in_step} in step and left alone")];
    if passed > 0 {
        words.push(format!("{passed} without a SKILL.md"));
    }
    words.extend([format!("{failed} failed"), format!("{doubts} values to review")]);
    output.say(&words.join(", "));
}
