//! Bar charts, with their numbers beside them.

use maud::{Markup, html};

use super::html::grouped;

/// One bar.
pub(super) struct Bar {
    /// What it shows.
    pub(super) label: Markup,
    /// Its parts, each with the name of its colour.
    pub(super) parts: Vec<(usize, &'static str)>,
    /// A note behind the number.
    pub(super) note: String,
}

/// Bars on one scale. The longest fills the width.
pub(super) fn bars(bars: &[Bar], unit: &str) -> Markup {
    let total = |bar: &Bar| bar.parts.iter().map(|(value, _)| value).sum::<usize>();
    let longest = bars.iter().map(total).max().unwrap_or(0).max(1);
    html! {
        dl class="bars" {
            @for bar in bars {
                div class="bar-row" {
                    dt { (bar.label) }
                    dd {
                        (stacked(&bar.parts, longest))
                        span class="amount" {
                            b { (grouped(total(bar))) } " " (unit)
                            @if !bar.note.is_empty() { " · " (bar.note) }
                        }
                    }
                }
            }
        }
    }
}

/// Parts of a whole, one behind the other. The picture repeats numbers that are written beside it.
pub(super) fn stacked(parts: &[(usize, &'static str)], whole: usize) -> Markup {
    let mut start = 0;
    let mut placed = Vec::new();
    for (value, colour) in parts.iter().filter(|(value, _)| *value > 0) {
        placed.push((percent(start, whole), percent(*value, whole), colour));
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

/// A share in per cent, with two digits.
fn percent(part: usize, whole: usize) -> String {
    let hundredths = part.saturating_mul(10_000) / whole.max(1);
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}
