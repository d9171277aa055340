//! Charts, drawn here: bars with their numbers beside them.

use super::html::{Html, grouped, html, put};

/// One bar.
pub(super) struct Bar {
    /// What it stands for.
    pub(super) label: Html,
    /// Its parts, each with its colour's name.
    pub(super) parts: Vec<(usize, &'static str)>,
    /// What is written behind it, besides the number.
    pub(super) note: String,
}

/// Bars on one scale. The longest fills the width.
pub(super) fn bars(bars: &[Bar], unit: &str) -> Html {
    let total = |bar: &Bar| bar.parts.iter().map(|(value, _)| value).sum::<usize>();
    let most = bars.iter().map(total).max().unwrap_or(0).max(1);
    let mut rows = Html::default();
    for bar in bars {
        let note = if bar.note.is_empty() { String::new() } else { format!(" · {}", bar.note) };
        put!(
            rows,
            "<div class=\"bar-row\"><dt>{}</dt><dd>{}<span class=\"amount\"><b>{}</b> {}{}</span></dd></div>",
            bar.label,
            stacked(&bar.parts, most),
            grouped(total(bar)),
            unit,
            note
        );
    }
    html!("<dl class=\"bars\">{}</dl>", rows)
}

/// Parts one after the other, of a whole. The picture repeats numbers that are written beside it.
pub(super) fn stacked(parts: &[(usize, &'static str)], whole: usize) -> Html {
    let mut rectangles = Html::default();
    let mut at = 0;
    for (value, colour) in parts.iter().filter(|(value, _)| *value > 0) {
        put!(
            rectangles,
            "<rect x=\"{}%\" width=\"{}%\" height=\"100%\" class=\"{}\"/>",
            percent(at, whole),
            percent(*value, whole),
            *colour
        );
        at += value;
    }
    html!("<svg class=\"meter\" aria-hidden=\"true\" focusable=\"false\">{}</svg>", rectangles)
}

/// A share in per cent, with two digits.
fn percent(part: usize, whole: usize) -> String {
    let hundredths = part.saturating_mul(10_000) / whole.max(1);
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}
