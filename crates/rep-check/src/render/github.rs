//! For GitHub: workflow commands that become annotations on the change.

use crate::{Level, Report};

/// One line per finding.
pub fn github(report: &Report) -> String {
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
            property(&place.shown),
            place.start.line,
            place.start.column,
            place.end.line,
            place.end.column,
            property(finding.rule.name),
            data(&format!("{}{help}", finding.message)),
        ));
    }
    out
}

fn data(text: &str) -> String {
    let lines: Vec<std::borrow::Cow<'_, str>> = text.split('\n').map(super::visible).collect();
    lines.join("\n").replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
