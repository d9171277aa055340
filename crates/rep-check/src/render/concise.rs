//! Renders one line for each finding, as compilers and editors expect it.

use anstyle::Style;

use super::escape_invisible;
use super::text::{ColourMode, level_style};
use crate::Finding;

/// Renders `path:line:column: level[rule] message`.
pub(super) fn render_finding(finding: &Finding, paint: ColourMode) -> String {
    let place = &finding.place;
    let level =
        paint.apply_style(level_style(finding.level), &format!("{}[{}]", finding.level.name(), finding.rule.name));
    let path = paint.apply_style(Style::new().bold(), &escape_invisible(&place.display_path));
    let fix = if finding.has_safe_fix() { " [fixable]" } else { "" };
    format!("{path}:{}:{}: {level} {}{fix}\n", place.start.line, place.start.column, escape_invisible(&finding.message))
}
