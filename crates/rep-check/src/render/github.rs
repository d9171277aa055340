//! Renders GitHub workflow commands, which become annotations on the change.

use super::relative_path;
use crate::{Finding, Level};

/// Renders the line of one finding.
pub(super) fn render_finding(finding: &Finding, root: &str) -> String {
    let command = match finding.level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Info => "notice",
    };
    let place = &finding.place;
    let help = if finding.help.is_empty() { String::new() } else { format!("\nhelp: {}", finding.help) };
    format!(
        "::{command} file={},line={},col={},endLine={},endColumn={},title={}::{}\n",
        escape_property(relative_path(&place.display_path, root)),
        place.start.line,
        place.start.column,
        place.end.line,
        place.end.column,
        escape_property(finding.rule.name),
        escape_data(&format!("{}{help}", finding.message)),
    )
}

fn escape_data(text: &str) -> String {
    let lines: Vec<std::borrow::Cow<'_, str>> = text.split('\n').map(super::escape_invisible).collect();
    lines.join("\n").replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn escape_property(text: &str) -> String {
    escape_data(text).replace(':', "%3A").replace(',', "%2C")
}
