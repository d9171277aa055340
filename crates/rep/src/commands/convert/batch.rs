//! Converts many skills, and reports the result of each and the totals.

use std::path::PathBuf;

use rep_convert::convert::{Conversion, ConversionItem};
use rep_library::convert::{BatchFile, BatchItem, ConversionBatch, ConvertError};
use rep_library::discovery::SkillLocation;
use rep_sandbox::interrupt;
use rep_storage::atomic::OnExistingFile;
use serde_json::{Value, json};

use super::engine::{EngineError, convert_skill};
use super::{Args, EngineChoice, explain, write_report};
use crate::exit::{Exit, Failure};
use crate::output::Output;

/// A skill in a batch, with its result.
struct BatchRow {
    conversion: Option<Conversion>,
    outcome: BatchOutcome,
}

/// The result for one skill.
enum BatchOutcome {
    Written(PathBuf),
    InStep(PathBuf),
    /// The skill has no Markdown and was not requested by name.
    Skipped,
    Failed(Failure),
}

impl BatchRow {
    fn new(result: Result<BatchItem, EngineError>, is_sweep: bool) -> Self {
        match result {
            Ok(item) => {
                let outcome = match item.file {
                    Ok(BatchFile::Written(path)) => BatchOutcome::Written(path),
                    Ok(BatchFile::InStep(path)) => BatchOutcome::InStep(path),
                    Err(error) => BatchOutcome::Failed(error.into()),
                };
                Self { conversion: Some(item.conversion), outcome }
            }
            Err(EngineError::Convert(ConvertError::NotMarkdown { .. })) if is_sweep => {
                Self { conversion: None, outcome: BatchOutcome::Skipped }
            }
            Err(error) => Self { conversion: None, outcome: BatchOutcome::Failed(error.into()) },
        }
    }

    fn to_json(&self, found: &SkillLocation, is_explained: bool) -> Value {
        let mut row = json!({ "skill": self.conversion.as_ref().map(Conversion::name), "source": found.shown });
        let (status, out) = match &self.outcome {
            BatchOutcome::Written(path) => ("written", Some(path)),
            BatchOutcome::InStep(path) => ("in_step", Some(path)),
            BatchOutcome::Skipped => ("passed_over", None),
            BatchOutcome::Failed(_) => ("failed", None),
        };
        row["status"] = json!(status);
        if let Some(out) = out {
            row["out"] = json!(out.to_string_lossy());
        }
        if let Some(conversion) = &self.conversion {
            let report = &conversion.report;
            row["valid"] = json!(report.is_valid());
            row["version"] = report.finished_file.version().into();
            row["items"] = json!(report.items.len());
            row["needs_review"] = json!(report.doubt_count());
            row["warnings"] = json!(report.warnings.len());
            row["doubtful_left_out"] = json!(report.left_out.values().sum::<usize>());
            if is_explained {
                row["facts"] = report.items.iter().map(ConversionItem::to_json).collect();
            }
        }
        if let BatchOutcome::Failed(failure) = &self.outcome {
            row["error"] =
                json!({ "code": failure.code, "message": failure.message, "retriable": failure.is_retriable });
        }
        row
    }
}

/// Converts each skill to a separate file.
pub(super) fn convert_batch(
    args: &Args,
    found: &[SkillLocation],
    is_sweep: bool,
    output: &mut Output,
) -> Result<Exit, Failure> {
    if args.out.is_some() || (args.out_dir.is_none() && !args.is_beside) {
        let failure = Failure::unable("USAGE", format!("{} skills match and need an output directory", found.len()));
        return Err(failure.hint("pass --out-dir, or --beside to write into each skill's directory"));
    }
    let target = args.conversion_target();
    let existing = if args.is_forced { OnExistingFile::Replace } else { OnExistingFile::Keep };
    let batch = ConversionBatch::new(found, &target, existing).doubtful(args.doubtful_handling());
    let bar = output.progress_bar("converting", found.len());
    let results: Vec<Result<BatchItem, EngineError>> = match args.chosen_engine() {
        EngineChoice::Rules => {
            let cancel = interrupt::cancel_on_interrupt();
            let results = batch.convert_all(&|| cancel.is_cancelled(), &|_| bar.inc(1));
            if cancel.is_cancelled() {
                bar.finish_and_clear();
                let count = results.iter().flatten().count();
                output.print_always(&format!(
                    "interrupted after {count} of {} skills; run it again to continue",
                    found.len()
                ));
                return Ok(Exit::Interrupted);
            }
            results.into_iter().flatten().map(|result| result.map_err(EngineError::Convert)).collect()
        }
        EngineChoice::Llm | EngineChoice::Hybrid => convert_with_model(args, found, &batch, &|| bar.inc(1), output)?,
    };
    bar.finish_and_clear();
    let rows: Vec<BatchRow> = results.into_iter().map(|result| BatchRow::new(result, is_sweep)).collect();
    if let Some(path) = &args.report {
        let conversions = rows.iter().filter_map(|row| row.conversion.as_ref());
        write_report(path, &conversions.map(|conversion| &conversion.report).collect::<Vec<_>>(), args.is_forced)?;
    }
    report_batch(args, found, &rows, output);
    let has_failed = rows.iter().any(|row| matches!(row.outcome, BatchOutcome::Failed(_)));
    Ok(if has_failed { Exit::Findings } else { Exit::Fine })
}

/// Asks a model about each skill in turn, and stops when no skill can succeed.
fn convert_with_model(
    args: &Args,
    found: &[SkillLocation],
    batch: &ConversionBatch<'_>,
    progress: &dyn Fn(),
    output: &mut Output,
) -> Result<Vec<Result<BatchItem, EngineError>>, Failure> {
    if args.model.wants_model() {
        let failure = Failure::unable(
            "USAGE",
            format!("{} skills match, but only one prompt can be printed or answered", found.len()),
        );
        return Err(failure.hint("name one of them"));
    }
    let mut results = Vec::with_capacity(found.len());
    for one in found {
        let result = convert_skill(one, args, output);
        progress();
        match result {
            Err(error) if error.is_permanent() => return Err(error.into()),
            result => results.push(result.map(|made| batch.store_conversion(one, &made.source, made.conversion))),
        }
    }
    Ok(results)
}

fn report_batch(args: &Args, found: &[SkillLocation], rows: &[BatchRow], output: &mut Output) {
    let count = |is_wanted: fn(&BatchOutcome) -> bool| rows.iter().filter(|row| is_wanted(&row.outcome)).count();
    let written = count(|outcome| matches!(outcome, BatchOutcome::Written(_)));
    let in_step = count(|outcome| matches!(outcome, BatchOutcome::InStep(_)));
    let failed = count(|outcome| matches!(outcome, BatchOutcome::Failed(_)));
    let passed = count(|outcome| matches!(outcome, BatchOutcome::Skipped));
    let doubts: usize =
        rows.iter().filter_map(|row| row.conversion.as_ref()).map(|conversion| conversion.report.doubt_count()).sum();
    if args.is_json {
        let skills: Vec<Value> = found.iter().zip(rows).map(|(one, row)| row.to_json(one, args.is_explained)).collect();
        output.write_json(&json!({ "skills": skills, "summary": {
            "skills": found.len(), "written": written, "in_step": in_step, "failed": failed, "passed_over": passed,
            "needs_review": doubts,
        } }));
    }
    if args.is_explained && !args.is_json {
        for (one, row) in found.iter().zip(rows) {
            if let Some(conversion) = &row.conversion {
                output.write_text(&format!("{}\n{}", one.shown, explain::render_table(&conversion.report)));
            }
        }
    }
    for (one, row) in found.iter().zip(rows) {
        if let BatchOutcome::Failed(failure) = &row.outcome {
            let message = format!("{}: {}", one.shown, failure.message);
            output.print_failure(&Failure { message, is_json: false, ..failure.clone() });
        }
    }
    let mut words = vec![format!("{written} written"), format!("{in_step} up to date")];
    if passed > 0 {
        words.push(format!("{passed} without a SKILL.md"));
    }
    words.extend([format!("{failed} failed"), format!("{doubts} values to review")]);
    let left_out: usize = rows
        .iter()
        .filter_map(|row| row.conversion.as_ref())
        .map(|conversion| conversion.report.left_out.values().sum::<usize>())
        .sum();
    if left_out > 0 {
        words.push(format!("{left_out} low-confidence facts left out (pass --include-doubtful to include them)"));
    }
    output.print_message(&words.join(", "));
}
