//! Renders SARIF 2.1.0, for code scanning.

use serde_json::{Value, json};

use super::relative_path;
use crate::fix::{FindingFix, FixEdit};
use crate::report::ReportOverview;
use crate::{Finding, FindingLocation, Level, LintRule};

/// The name of the directory that relative paths start from.
const ROOT: &str = "%SRCROOT%";
/// Fixes with more new text than this are left out, so that a log stays small.
const FIX_BYTES_MAX: usize = 64 * 1024;
/// Where the results are inserted. Quotation marks in rule pages are escaped, so it occurs once.
const NO_RESULTS: &str = "\"results\": []";

/// Renders what precedes the results.
pub(super) fn render_start(overview: &ReportOverview) -> String {
    let log = render_log(overview);
    let (head, _) = log.split_once(NO_RESULTS).unwrap_or((&log, ""));
    format!("{head}\"results\": [")
}

/// Renders what follows the results.
pub(super) fn render_end(overview: &ReportOverview, is_empty: bool) -> String {
    let log = render_log(overview);
    let (_, tail) = log.split_once(NO_RESULTS).unwrap_or((&log, ""));
    format!("{}{tail}\n", if is_empty { "]" } else { "\n      ]" })
}

/// Renders a log without results.
fn render_log(overview: &ReportOverview) -> String {
    let value = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "rep",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": list_rules(overview).into_iter().map(describe_rule).collect::<Vec<_>>(),
            }},
            "columnKind": "unicodeCodePoints",
            "originalUriBaseIds": { ROOT: { "description": { "text": "the directory that rep was run in" } } },
            "results": [],
        }],
    });
    format!("{value:#}")
}

/// Lists the rules with findings, sorted by name.
fn list_rules(overview: &ReportOverview) -> Vec<&'static LintRule> {
    let mut rules: Vec<&'static LintRule> = overview.rules.iter().map(|row| row.rule).collect();
    rules.dedup_by_key(|rule| rule.name);
    rules
}

fn describe_rule(rule: &LintRule) -> Value {
    let cites: Vec<String> = rule.citations.iter().map(|cite| format!("{}, {}", cite.source, cite.place)).collect();
    json!({
        "id": rule.name,
        "shortDescription": { "text": rule.summary },
        "fullDescription": { "text": format!("{} ({})", rule.summary, cites.join("; ")) },
        "help": { "text": rule.page, "markdown": rule.page },
        "helpUri": rule.help_uri(),
    })
}

/// Describes one result. `root` is the directory that paths are relative to.
pub(super) fn describe_finding(finding: &Finding, overview: &ReportOverview, root: &str, fingerprint: &str) -> Value {
    let place = &finding.place;
    let message = if finding.help.is_empty() {
        finding.message.clone()
    } else {
        format!("{}\nhelp: {}", finding.message, finding.help)
    };
    let rules = list_rules(overview);
    let index = rules.binary_search_by_key(&finding.rule.name, |rule| rule.name).unwrap_or(0);
    let mut result = json!({
        "ruleId": finding.rule.name,
        "ruleIndex": index,
        "level": match finding.level {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Info => "note",
        },
        "message": { "text": message },
        "locations": [{ "physicalLocation": {
            "artifactLocation": describe_file(&place.display_path, root),
            "region": describe_region((place.start, place.end)),
        }}],
        "partialFingerprints": { "primaryLocationLineHash": fingerprint },
    });
    if !finding.related.is_empty() {
        let describe = |related: &crate::RelatedLocation| {
            json!({
                "physicalLocation": {
                    "artifactLocation": describe_file(&related.place.display_path, root),
                    "region": describe_region((related.place.start, related.place.end)),
                },
                "message": { "text": related.message },
            })
        };
        result["relatedLocations"] = finding.related.iter().map(describe).collect();
    }
    // What a scan follows has its source first and its sink last.
    if finding.rule.check.needs_scan() && !finding.related.is_empty() {
        let step = |place: &FindingLocation, message: &str| {
            let physical = json!({
                "artifactLocation": describe_file(&place.display_path, root),
                "region": describe_region((place.start, place.end)),
            });
            json!({ "location": { "physicalLocation": physical, "message": { "text": message } } })
        };
        let mut steps: Vec<Value> =
            finding.related.iter().map(|related| step(&related.place, &related.message)).collect();
        steps.push(step(place, &finding.message));
        result["codeFlows"] = json!([{ "threadFlows": [{ "locations": steps }] }]);
    }
    if let Some(fix) = finding.fix.as_ref().and_then(|fix| describe_fix(finding, fix, root)) {
        result["fixes"] = json!([fix]);
    }
    result
}

/// Describes a fix. SARIF has no form for renaming a file.
fn describe_fix(finding: &Finding, fix: &FindingFix, root: &str) -> Option<Value> {
    if fix.edits.is_empty() || fix.edits.len() != finding.fix_regions.len() {
        return None;
    }
    let place = &finding.place;
    let skill = place.display_path.strip_suffix(place.file.as_str()).unwrap_or("");
    let separator = if place.file.is_empty() && !skill.is_empty() { "/" } else { "" };
    let mut bytes = 0;
    let mut changes: Vec<(&str, Vec<Value>)> = Vec::new();
    for (edit, region) in fix.edits.iter().zip(&finding.fix_regions) {
        let FixEdit::Replace { file, edit } = edit else { return None };
        bytes += edit.replacement.len();
        let change = json!({
            "deletedRegion": describe_region(*region),
            "insertedContent": { "text": edit.replacement },
        });
        match changes.iter_mut().find(|(known, _)| known == file) {
            Some((_, replacements)) => replacements.push(change),
            None => changes.push((file, vec![change])),
        }
    }
    if bytes > FIX_BYTES_MAX {
        return None;
    }
    let describe = |(file, replacements): (&str, Vec<Value>)| {
        let file = describe_file(&format!("{skill}{separator}{file}"), root);
        json!({ "artifactLocation": file, "replacements": replacements })
    };
    Some(json!({
        "description": { "text": fix.title },
        "artifactChanges": changes.into_iter().map(describe).collect::<Vec<_>>(),
        "properties": { "applicability": fix.applicability.name() },
    }))
}

fn describe_region((start, end): (rep_model::Position, rep_model::Position)) -> Value {
    json!({ "startLine": start.line, "startColumn": start.column, "endLine": end.line, "endColumn": end.column })
}

/// Describes a file: relative to the root where possible, because code scanning shows nothing else.
fn describe_file(display_path: &str, root: &str) -> Value {
    let path = relative_path(display_path, root);
    if path.starts_with('/') {
        return json!({ "uri": format!("file://{}", encode_uri(path)) });
    }
    json!({ "uri": encode_uri(path), "uriBaseId": ROOT })
}

/// Encodes a path as a URI reference: everything except unreserved characters and slashes is percent-encoded. A colon is
/// encoded too, so the first segment cannot be read as a scheme.
fn encode_uri(path: &str) -> String {
    let mut out = String::new();
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}
