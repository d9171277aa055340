//! Renders one JSON document. Its fields are part of the command-line interface.

use serde_json::{Map, Value, json};

use crate::report::{ReportOverview, ReportSummary};
use crate::{CheckReport, Finding, RelatedLocation};

/// Renders one finding as JSON.
pub fn json_finding(finding: &Finding) -> Value {
    let place = &finding.place;
    let mut map = Map::new();
    map.insert("rule".into(), json!(finding.rule.name));
    map.insert("level".into(), json!(finding.level.name()));
    map.insert("message".into(), json!(finding.message));
    map.insert("file".into(), json!(place.display_path));
    map.insert("line".into(), json!(place.start.line));
    map.insert("column".into(), json!(place.start.column));
    map.insert("end_line".into(), json!(place.end.line));
    map.insert("end_column".into(), json!(place.end.column));
    if let Some(at) = &finding.data_path {
        map.insert("at".into(), json!(at));
    }
    map.insert("help".into(), json!(finding.help));
    map.insert("fix".into(), json!(finding.has_safe_fix()));
    Value::Object(map)
}

/// Renders one finding of a check as JSON: with the other places it is about, and what a fix would do.
pub fn json_check_finding(finding: &Finding) -> Value {
    let mut value = json_finding(finding);
    if let Some(fix) = &finding.fix {
        value["fix_applicability"] = json!(fix.applicability.name());
        value["fix_title"] = json!(fix.title);
    }
    if !finding.related.is_empty() {
        value["related"] = finding.related.iter().map(json_related).collect();
    }
    value
}

fn json_related(related: &RelatedLocation) -> Value {
    let place = &related.place;
    json!({
        "file": place.display_path,
        "line": place.start.line,
        "column": place.start.column,
        "end_line": place.end.line,
        "end_column": place.end.column,
        "message": related.message,
    })
}

/// Renders the whole report as JSON: the document of `rep check`.
pub fn check_document(report: &CheckReport) -> Value {
    let findings: Vec<Value> = report.findings.iter().map(json_check_finding).collect();
    json!({ "findings": findings, "summary": json_summary(report.count_findings()) })
}

/// Renders what precedes the findings.
pub(super) fn render_start() -> String {
    "{\n  \"findings\": [".to_owned()
}

/// Renders what follows the findings.
pub(super) fn render_end(overview: &ReportOverview, is_empty: bool) -> String {
    let mut rest = Map::new();
    if overview.wants_statistics {
        let count = |row: &crate::report::RuleCount| json!({ "rule": row.rule.name, "level": row.level.name(), "count": row.count, "fixable": row.fixable });
        rest.insert("statistics".into(), overview.rules.iter().map(count).collect());
    }
    rest.insert("summary".into(), json_summary(overview.summary));
    let rest = format!("{:#}", Value::Object(rest));
    let close = if is_empty { "]," } else { "\n  ]," };
    format!("{close}{}\n", rest.strip_prefix('{').unwrap_or_default())
}

fn json_summary(summary: ReportSummary) -> Value {
    json!({
            "skills": summary.skills,
            "errors": summary.errors,
            "warnings": summary.warnings,
            "infos": summary.infos,
            "fixable": summary.fixable,
    })
}
