//! Shows the rule behind each value of a conversion, for people and programs.

use rep_convert::convert::{ConversionItem, ConversionReport};
use rep_library::convert::ConvertError;
use rep_model::truncate::truncate_with_ellipsis;
use serde_json::{Value, json};

use super::Args;
use super::engine::{EngineError, convert_skill};
use super::report_conversion;
use super::subject::ConversionSubjects;
use crate::exit::{Exit, Failure};
use crate::output::Output;

/// The maximum length of a printed value.
const TEXT_CHARS_MAX: usize = 100;

/// Explains every skill without writing files.
pub(super) fn explain_skills(args: &Args, subjects: &ConversionSubjects, output: &mut Output) -> Result<Exit, Failure> {
    if args.out.is_some() || args.out_dir.is_some() || args.is_beside {
        let failure = Failure::unable("USAGE", "the target format is missing");
        return Err(failure.hint("pass --to uasp"));
    }
    let is_one = subjects.found.len() == 1;
    let mut values: Vec<Value> = Vec::new();
    let mut reports: Vec<ConversionReport> = Vec::new();
    for found in &subjects.found {
        let report = match convert_skill(found, args, output) {
            Ok(converted) => converted.conversion.report,
            Err(EngineError::Convert(ConvertError::NotMarkdown { .. })) if subjects.is_sweep => continue,
            Err(error) => return Err(error.into()),
        };
        if args.is_json {
            values.push(report.to_explained_json());
        } else {
            let head = if is_one { String::new() } else { format!("{}\n", found.shown) };
            output.write_text(&format!("{head}{}", render_table(&report)));
        }
        if is_one {
            report_conversion(&report, output);
        }
        reports.push(report);
    }
    if let Some(path) = &args.report {
        super::write_report(path, &reports.iter().collect::<Vec<_>>(), args.is_forced)?;
    }
    match values.as_slice() {
        _ if !args.is_json => {}
        [one] if is_one => output.write_json(one),
        all => output.write_json(&json!({ "skills": all })),
    }
    let is_valid = reports.iter().all(ConversionReport::is_valid);
    Ok(if is_valid { Exit::Fine } else { Exit::Findings })
}

/// Renders one line per value: source line, rule, confidence, place in the document, value.
pub(super) fn render_table(report: &ConversionReport) -> String {
    let cells = |item: &ConversionItem| {
        let line = item.line.map_or("-".to_owned(), |line| line.to_string());
        let (rule, confidence) = match item.rule {
            Some(rule) => (rule.id.to_owned(), format!("{} %", rule.confidence)),
            None => (report.engine.clone(), "-".to_owned()),
        };
        [line, rule, confidence, truncate_with_ellipsis(&item.path, TEXT_CHARS_MAX).into_owned(), render_item(item)]
    };
    let heads = ["line", "rule", "sure", "fact", "text"].map(str::to_owned);
    let rows: Vec<[String; 5]> = std::iter::once(heads).chain(report.items.iter().map(cells)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let [line, rule, sure, fact] = [width(0), width(1), width(2), width(3)];
    let mut out = String::new();
    for [number, id, confidence, path, text] in &rows {
        out.push_str(&format!("{number:>line$}  {id:rule$}  {confidence:>sure$}  {path:fact$}  {text}\n"));
    }
    out
}

/// Renders a value on one line, marked if a person should review it.
fn render_item(item: &ConversionItem) -> String {
    let text = item.value.as_str().map_or_else(|| item.value.to_string(), str::to_owned);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mark = if item.doubt.is_some() { " [needs review]" } else { "" };
    format!("{}{mark}", truncate_with_ellipsis(&text, TEXT_CHARS_MAX))
}
