//! Bar charts with their numbers.

use maud::{Markup, html};

use super::html::group_thousands;

/// A bar of a chart.
pub(super) struct ChartBar {
    /// The label of the bar.
    pub(super) label: Markup,
    /// The parts of the bar, each with the name of its color.
    pub(super) parts: Vec<(usize, &'static str)>,
    /// A note after the number.
    pub(super) note: String,
}

/// Renders bars on a common scale. The longest fills the width.
pub(super) fn render_bars(bars: &[ChartBar], unit: &str) -> Markup {
    let total = |bar: &ChartBar| bar.parts.iter().map(|(value, _)| value).sum::<usize>();
    let longest = bars.iter().map(total).max().unwrap_or(0).max(1);
    html! {
        dl class="bars" {
            @for bar in bars {
                div class="bar-row" {
                    dt { (bar.label) }
                    dd {
                        (render_stacked_bar(&bar.parts, longest))
                        span class="amount" {
                            b { (group_thousands(total(bar))) } " " (unit)
                            @if !bar.note.is_empty() { " · " (bar.note) }
                        }
                    }
                }
            }
        }
    }
}

/// Renders parts of a whole in one bar. It only illustrates numbers that are written next to it.
pub(super) fn render_stacked_bar(parts: &[(usize, &'static str)], whole: usize) -> Markup {
    let mut start = 0;
    let mut placed = Vec::new();
    for (value, colour) in parts.iter().filter(|(value, _)| *value > 0) {
        placed.push((format_percent(start, whole), format_percent(*value, whole), colour));
        start += value;
    }
    html! {
        svg class="meter" aria-hidden="true" focusable="false" {
            @for (x, width, colour) in placed {
                rect x={ (x) "%" } width={ (width) "%" } height="100%" class=(colour) {}
            }
        }
    }
}

/// Formats a share in percent, with two decimals.
fn format_percent(part: usize, whole: usize) -> String {
    let hundredths = part.saturating_mul(10_000) / whole.max(1);
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}
