//! Renders GitHub workflow commands, which become annotations on the change.

use crate::{CheckReport, Level};

/// Renders the report with one line per finding.
pub fn render_github(report: &CheckReport) -> String {
    let mut out = String::new();
    for finding in &report.findings {
        let command = match finding.level {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Info => "notice",
        };
        let place = &finding.place;
        let help = if finding.help.is_empty() { String::new() } else { format!("\nhelp: {}", finding.help) };
        out.push_str(&format!(
            "::{command} file={},line={},col={},endLine={},endColumn={},title={}::{}\n",
            escape_property(&place.display_path),
            place.start.line,
            place.start.column,
            place.end.line,
            place.end.column,
            escape_property(finding.rule.name),
            escape_data(&format!("{}{help}", finding.message)),
        ));
    }
    out
}

fn escape_data(text: &str) -> String {
    let lines: Vec<std::borrow::Cow<'_, str>> = text.split('\n').map(super::escape_invisible).collect();
    lines.join("\n").replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn escape_property(text: &str) -> String {
    escape_data(text).replace(':', "%3A").replace(',', "%2C")
}
