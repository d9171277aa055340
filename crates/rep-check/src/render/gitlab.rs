//! Renders a code quality report of GitLab: a list of findings in the format of Code Climate.

use serde_json::{Value, json};

use crate::{Finding, Level};

/// Describes one finding.
pub(super) fn describe_finding(finding: &Finding, path: &str, fingerprint: &str) -> Value {
    let place = &finding.place;
    let help = if finding.help.is_empty() { String::new() } else { format!(" (help: {})", finding.help) };
    json!({
        "description": format!("{}{help}", finding.message),
        "check_name": finding.rule.name,
        "fingerprint": fingerprint,
        "severity": match finding.level {
            Level::Error => "major",
            Level::Warning => "minor",
            Level::Info => "info",
        },
        "location": {
            "path": path,
            "lines": { "begin": place.start.line, "end": place.end.line },
        },
    })
}
