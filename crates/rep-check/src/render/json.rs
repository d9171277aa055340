//! For programs: one JSON document, its fields fixed by the command line's contract.

use serde_json::{Map, Value, json};

use crate::{Finding, Report};

/// One finding as JSON.
pub fn finding(finding: &Finding) -> Value {
    let place = &finding.place;
    let mut map = Map::new();
    map.insert("rule".into(), json!(finding.rule.name));
    map.insert("level".into(), json!(finding.level.name()));
    map.insert("message".into(), json!(finding.message));
    map.insert("file".into(), json!(place.shown));
    map.insert("line".into(), json!(place.start.line));
    map.insert("column".into(), json!(place.start.column));
    map.insert("end_line".into(), json!(place.end.line));
    map.insert("end_column".into(), json!(place.end.column));
    if let Some(at) = &finding.at {
        map.insert("at".into(), json!(at));
    }
    map.insert("help".into(), json!(finding.help));
    map.insert("fix".into(), json!(finding.edit.is_some()));
    Value::Object(map)
}

/// The whole report as JSON.
pub fn json(report: &Report) -> String {
    let summary = report.summary();
    let findings: Vec<Value> = report.findings.iter().map(finding).collect();
    let value = json!({
        "findings": findings,
        "summary": {
            "skills": summary.skills,
            "errors": summary.errors,
            "warnings": summary.warnings,
            "infos": summary.infos,
            "fixable": summary.fixable,
        },
    });
    format!("{value:#}\n")
}
