//! For code scanning: SARIF 2.1.0.

use serde_json::{Value, json};

use crate::{Finding, Level, Report, Rule};

/// The whole report as a SARIF log with one run.
pub fn sarif(report: &Report) -> String {
    let mut rules: Vec<&'static Rule> = report.findings.iter().map(|finding| finding.rule).collect();
    rules.sort_by_key(|rule| rule.name);
    rules.dedup_by_key(|rule| rule.name);
    let index = |rule: &Rule| rules.binary_search_by_key(&rule.name, |known| known.name).unwrap_or(0);
    let results: Vec<Value> = report.findings.iter().map(|finding| result(finding, index(finding.rule))).collect();
    let value = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "rep",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules.iter().map(|rule| descriptor(rule)).collect::<Vec<_>>(),
            }},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    format!("{value:#}\n")
}

fn descriptor(rule: &Rule) -> Value {
    let cites: Vec<String> = rule.cites.iter().map(|cite| format!("{}, {}", cite.source, cite.place)).collect();
    json!({
        "id": rule.name,
        "shortDescription": { "text": rule.summary },
        "fullDescription": { "text": format!("{} ({})", rule.summary, cites.join("; ")) },
        "help": { "text": rule.page, "markdown": rule.page },
    })
}

fn result(finding: &Finding, index: usize) -> Value {
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
            "artifactLocation": { "uri": uri(&place.shown) },
            "region": {
                "startLine": place.start.line,
                "startColumn": place.start.column,
                "endLine": place.end.line,
                "endColumn": place.end.column,
            },
        }}],
    })
}

/// A path as a URI reference: what is no unreserved character or slash is percent-encoded.
fn uri(path: &str) -> String {
    let mut out = String::new();
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    // A first segment with a colon would read as a scheme.
    out
}
