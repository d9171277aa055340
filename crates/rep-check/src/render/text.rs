//! For people: each finding with its place, the line it is about, and what to do.

use anstyle::{AnsiColor, Style};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::visible;
use crate::hidden_text::is_hidden;
use crate::{Finding, Level, Report};

/// Whether to colour. Colour adds nothing that the words do not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    /// With colour codes.
    Colour,
    /// Plain.
    Plain,
}

/// The longest excerpt shown of a line, in columns.
const WIDTH_MAX: usize = 100;

impl Paint {
    /// Wraps text in a style, where colour is wanted.
    fn paint(self, style: Style, text: &str) -> String {
        match self {
            Paint::Colour => format!("{style}{text}{style:#}"),
            Paint::Plain => text.to_owned(),
        }
    }
}

fn level_style(level: Level) -> Style {
    let colour = match level {
        Level::Error => AnsiColor::Red,
        Level::Warning => AnsiColor::Yellow,
        Level::Info => AnsiColor::Cyan,
    };
    colour.on_default().bold()
}

/// The whole report, with excerpts and a closing line.
pub fn text(report: &Report, paint: Paint) -> String {
    let mut out = String::new();
    for finding in &report.findings {
        full(finding, paint, &mut out);
        out.push('\n');
    }
    out.push_str(&closing(report, paint));
    out
}

fn full(finding: &Finding, paint: Paint, out: &mut String) {
    let frame = AnsiColor::Blue.on_default().bold();
    let place = &finding.place;
    let level = paint.paint(level_style(finding.level), &format!("{}[{}]", finding.level.name(), finding.rule.name));
    out.push_str(&format!("{level}: {}\n", paint.paint(Style::new().bold(), &visible(&finding.message))));
    let gutter = place.start.line.to_string().len();
    let arrow = paint.paint(frame, "-->");
    out.push_str(&format!(
        "{:gutter$}{arrow} {}:{}:{}\n",
        "",
        visible(&place.shown),
        place.start.line,
        place.start.column
    ));
    let bar = paint.paint(frame, "|");
    if !place.excerpt.is_empty() {
        let (line, pad, width) = excerpt(finding);
        let number = paint.paint(frame, &place.start.line.to_string());
        let carets = paint.paint(level_style(finding.level), &"^".repeat(width));
        out.push_str(&format!(
            "{:gutter$} {bar}\n{number} {bar} {line}\n{:gutter$} {bar} {:pad$}{carets}\n",
            "", "", ""
        ));
    }
    let note = |label: &str| format!("{:gutter$} {} {label}", "", paint.paint(frame, "="));
    if !finding.help.is_empty() {
        out.push_str(&format!("{}: {}\n", note("help"), visible(&finding.help)));
    }
    if finding.edit.is_some() {
        out.push_str(&format!("{}: `rep check --fix` mends this\n", note("fix")));
    }
}

/// The line to show, the columns before the carets, and how many carets.
fn excerpt(finding: &Finding) -> (String, usize, usize) {
    let place = &finding.place;
    let letters: Vec<char> = place.excerpt.chars().map(harmless).collect();
    let within = |column: usize| (column - 1).saturating_sub(place.skipped).min(letters.len());
    let from = within(place.start.column);
    let to = if place.end.line == place.start.line { within(place.end.column) } else { letters.len() };
    // A long line is shown from shortly before the fault.
    let skip = if from > WIDTH_MAX * 2 / 3 { from - 30 } else { 0 };
    let mut line = String::new();
    if skip > 0 || place.skipped > 0 {
        line.push('…');
    }
    let pad = line.width() + letters[skip..from].iter().map(|letter| letter.width().unwrap_or(0)).sum::<usize>();
    let mut shown = 0;
    for letter in &letters[skip..] {
        if line.width() >= WIDTH_MAX {
            line.push('…');
            break;
        }
        line.push(*letter);
        shown += 1;
    }
    let to = to.clamp(from, (skip + shown).max(from));
    let width = letters[from..to].iter().map(|letter| letter.width().unwrap_or(0)).sum::<usize>().max(1);
    (line, pad, width)
}

/// A character that can be shown without harm: no control, and nothing that hides or reorders its line.
fn harmless(letter: char) -> char {
    match letter {
        letter if letter.is_control() => ' ',
        letter if is_hidden(letter) => '\u{fffd}',
        letter => letter,
    }
}

fn closing(report: &Report, paint: Paint) -> String {
    let summary = report.summary();
    let plural = |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    let skills = plural(summary.skills, "skill");
    if report.findings.is_empty() {
        let fine = paint.paint(AnsiColor::Green.on_default().bold(), "no findings");
        return format!("checked {skills}: {fine}\n");
    }
    let mut parts = Vec::new();
    for (count, word, level) in [
        (summary.errors, "error", Level::Error),
        (summary.warnings, "warning", Level::Warning),
        (summary.infos, "note", Level::Info),
    ] {
        if count > 0 {
            parts.push(paint.paint(level_style(level), &plural(count, word)));
        }
    }
    let fixable = match summary.fixable {
        0 => String::new(),
        count => format!("; `rep check --fix` mends {count}"),
    };
    format!("checked {skills}: {}{fixable}\n", parts.join(", "))
}

/// One finding in three lines, as the pages of the rules show it.
pub fn concise(finding: &Finding) -> String {
    let place = &finding.place;
    let mut out = format!(
        "{}[{}]: {}\n --> {}:{}:{}\n",
        finding.level.name(),
        finding.rule.name,
        finding.message,
        place.shown,
        place.start.line,
        place.start.column
    );
    if !finding.help.is_empty() {
        out.push_str(&format!("help: {}\n", finding.help));
    }
    out
}
