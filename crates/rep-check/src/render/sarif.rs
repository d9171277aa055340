//! Renders SARIF 2.1.0, for code scanning.

use serde_json::{Value, json};

use crate::{CheckReport, Finding, Level, LintRule};

/// Renders the whole report as a SARIF log with one run.
pub fn render_sarif(report: &CheckReport) -> String {
    let mut rules: Vec<&'static LintRule> = report.findings.iter().map(|finding| finding.rule).collect();
    rules.sort_by_key(|rule| rule.name);
    rules.dedup_by_key(|rule| rule.name);
    let index = |rule: &LintRule| rules.binary_search_by_key(&rule.name, |known| known.name).unwrap_or(0);
    let results: Vec<Value> =
        report.findings.iter().map(|finding| render_result(finding, index(finding.rule))).collect();
    let value = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "rep",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules.iter().map(|rule| describe_rule(rule)).collect::<Vec<_>>(),
            }},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    format!("{value:#}\n")
}

fn describe_rule(rule: &LintRule) -> Value {
    let cites: Vec<String> = rule.citations.iter().map(|cite| format!("{}, {}", cite.source, cite.place)).collect();
    json!({
        "id": rule.name,
        "shortDescription": { "text": rule.summary },
        "fullDescription": { "text": format!("{} ({})", rule.summary, cites.join("; ")) },
        "help": { "text": rule.page, "markdown": rule.page },
    })
}

fn render_result(finding: &Finding, index: usize) -> Value {
    let place = &finding.place;
    let message = if finding.help.is_empty() {
        finding.message.clone()
    } else {
        format!("{}\nhelp: {}", finding.message, finding.help)
    };
    json!({
        "ruleId": finding.rule.name,
        "ruleIndex": index,
        "level": match finding.level {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Info => "note",
        },
        "message": { "text": message },
        "locations": [{ "physicalLocation": {
            "artifactLocation": { "uri": encode_uri(&place.display_path) },
            "region": {
                "startLine": place.start.line,
                "startColumn": place.start.column,
                "endLine": place.end.line,
                "endColumn": place.end.column,
            },
        }}],
    })
}

/// Encodes a path as a URI reference: everything except unreserved characters and slashes is percent-encoded.
fn encode_uri(path: &str) -> String {
    let mut out = String::new();
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    // A first segment with a colon would be parsed as a scheme.
    out
}
