//! Renders text for people: each finding with its location, the source line and the help.

use std::collections::BTreeMap;

use anstyle::{AnsiColor, Style};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::escape_invisible;
use crate::hidden_text::is_hidden_character;
use crate::report::{ReportOverview, ReportSummary};
use crate::{Finding, Level};

/// Whether to use colour. Colour never carries information that the text lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColourMode {
    /// Text with colour codes.
    Colour,
    /// Plain text.
    Plain,
}

/// The maximum width of an excerpt, in columns.
const EXCERPT_COLUMNS_MAX: usize = 100;

impl ColourMode {
    /// Applies a style to text if colour is enabled.
    pub(super) fn apply_style(self, style: Style, text: &str) -> String {
        match self {
            ColourMode::Colour => format!("{style}{text}{style:#}"),
            ColourMode::Plain => text.to_owned(),
        }
    }
}

pub(super) fn level_style(level: Level) -> Style {
    let colour = match level {
        Level::Error => AnsiColor::Red,
        Level::Warning => AnsiColor::Yellow,
        Level::Info => AnsiColor::Cyan,
    };
    colour.on_default().bold()
}

/// Renders one finding with its source line.
pub(super) fn render_finding(finding: &Finding, paint: ColourMode) -> String {
    let mut out = String::new();
    let frame = AnsiColor::Blue.on_default().bold();
    let place = &finding.place;
    let level =
        paint.apply_style(level_style(finding.level), &format!("{}[{}]", finding.level.name(), finding.rule.name));
    out.push_str(&format!(
        "{level}: {}\n",
        paint.apply_style(Style::new().bold(), &escape_invisible(&finding.message))
    ));
    let gutter = place.start.line.to_string().len();
    let arrow = paint.apply_style(frame, "-->");
    out.push_str(&format!(
        "{:gutter$}{arrow} {}:{}:{}\n",
        "",
        escape_invisible(&place.display_path),
        place.start.line,
        place.start.column
    ));
    let bar = paint.apply_style(frame, "|");
    if !place.excerpt.is_empty() {
        let (line, pad, width) = layout_excerpt(finding);
        let number = paint.apply_style(frame, &place.start.line.to_string());
        let carets = paint.apply_style(level_style(finding.level), &"^".repeat(width));
        out.push_str(&format!(
            "{:gutter$} {bar}\n{number} {bar} {line}\n{:gutter$} {bar} {:pad$}{carets}\n",
            "", "", ""
        ));
    }
    let note = |label: &str| format!("{:gutter$} {} {label}", "", paint.apply_style(frame, "="));
    let related = list_related(finding);
    if !related.is_empty() {
        out.push_str(&format!("{}: {related}\n", note("also at")));
    }
    if !finding.help.is_empty() {
        out.push_str(&format!("{}: {}\n", note("help"), escape_invisible(&finding.help)));
    }
    if finding.has_safe_fix() {
        out.push_str(&format!("{}: fixable with `rep check --fix`\n", note("fix")));
    } else if finding.fix.is_some() {
        out.push_str(&format!("{}: suggested; apply it with `rep check --fix --unsafe-fixes`\n", note("fix")));
    }
    out
}

/// A rule with more notes than this is shortened, so that notes do not bury errors.
const NOTES_MAX: usize = 10;
/// The number of notes of such a rule that are shown.
const NOTES_SHOWN: usize = 5;

/// Counts the notes of each rule that were shown.
#[derive(Default)]
pub(super) struct NoteLimit {
    shown: BTreeMap<&'static str, usize>,
}

impl NoteLimit {
    /// Whether a finding is shown.
    pub(super) fn admits(&mut self, finding: &Finding, overview: &ReportOverview) -> bool {
        let rule = finding.rule.name;
        if !overview.is_shortened || finding.level != Level::Info || overview.count_notes(rule) <= NOTES_MAX {
            return true;
        }
        let shown = self.shown.entry(rule).or_default();
        *shown += 1;
        *shown <= NOTES_SHOWN
    }

    /// Says how many notes of each rule were not shown.
    pub(super) fn render(&self, overview: &ReportOverview, paint: ColourMode) -> String {
        let hidden = |rule: &str| {
            let more = overview.count_notes(rule).saturating_sub(NOTES_SHOWN);
            let head = paint.apply_style(level_style(Level::Info), &format!("info[{rule}]"));
            format!("{head}: {more} more notes; `rep check --select {rule}` shows all\n")
        };
        let lines: String = self.shown.keys().map(|rule| hidden(rule)).collect();
        if lines.is_empty() { lines } else { lines + "\n" }
    }
}

/// The maximum number of other places that are shown.
const RELATED_SHOWN_MAX: usize = 5;

/// Lists the other places of a finding: the line in the same file, or the whole path.
fn list_related(finding: &Finding) -> String {
    let mut places: Vec<String> = Vec::new();
    for related in &finding.related {
        let (place, own) = (&related.place, &finding.place);
        let shown = if place.display_path == own.display_path {
            format!("line {}", place.start.line)
        } else {
            format!("{}:{}:{}", escape_invisible(&place.display_path), place.start.line, place.start.column)
        };
        if !places.contains(&shown) && shown != format!("line {}", own.start.line) {
            places.push(shown);
        }
    }
    let more = places.len().saturating_sub(RELATED_SHOWN_MAX);
    places.truncate(RELATED_SHOWN_MAX);
    if more > 0 {
        places.push(format!("{more} more"));
    }
    places.join(", ")
}

/// Returns the line to show, the number of columns before the carets, and the number of carets.
fn layout_excerpt(finding: &Finding) -> (String, usize, usize) {
    let place = &finding.place;
    let letters: Vec<char> = place.excerpt.chars().map(replace_unprintable).collect();
    let within = |column: usize| (column - 1).saturating_sub(place.skipped_chars).min(letters.len());
    let from = within(place.start.column);
    let to = if place.end.line == place.start.line { within(place.end.column) } else { letters.len() };
    // A long line is shown starting shortly before the fault.
    let skip = if from > EXCERPT_COLUMNS_MAX * 2 / 3 { from - 30 } else { 0 };
    let mut line = String::new();
    if skip > 0 || place.skipped_chars > 0 {
        line.push('…');
    }
    let pad = line.width() + letters[skip..from].iter().map(|letter| letter.width().unwrap_or(0)).sum::<usize>();
    let mut shown = 0;
    for letter in &letters[skip..] {
        if line.width() >= EXCERPT_COLUMNS_MAX {
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

/// Replaces characters that are unsafe to show: control characters, and those that hide or reorder text.
fn replace_unprintable(letter: char) -> char {
    match letter {
        letter if letter.is_control() => ' ',
        letter if is_hidden_character(letter) => '\u{fffd}',
        letter => letter,
    }
}

/// Renders the last line of a report.
pub(super) fn render_summary(summary: ReportSummary, paint: ColourMode) -> String {
    let plural = |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    let skills = plural(summary.skills, "skill");
    if summary.errors + summary.warnings + summary.infos == 0 {
        let fine = paint.apply_style(AnsiColor::Green.on_default().bold(), "no findings");
        return format!("checked {skills}: {fine}\n");
    }
    let mut parts = Vec::new();
    for (count, word, level) in [
        (summary.errors, "error", Level::Error),
        (summary.warnings, "warning", Level::Warning),
        (summary.infos, "note", Level::Info),
    ] {
        if count > 0 {
            parts.push(paint.apply_style(level_style(level), &plural(count, word)));
        }
    }
    let fixable = match summary.fixable {
        0 => String::new(),
        count => format!("; {count} fixable with `rep check --fix`"),
    };
    format!("checked {skills}: {}{fixable}\n", parts.join(", "))
}

/// Renders how many findings each rule has, the most frequent first, and the summary line.
pub(super) fn render_statistics(overview: &ReportOverview, paint: ColourMode) -> String {
    let mut rows: Vec<_> = overview.rules.iter().collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.count));
    let width = rows.first().map_or(1, |row| row.count.to_string().len()).max(5);
    let mut out = String::new();
    for row in rows {
        let level = format!("{:<7}", row.level.name());
        let fixable = match row.fixable {
            0 => String::new(),
            count => format!(" ({count} fixable)"),
        };
        let level = paint.apply_style(level_style(row.level), &level);
        out.push_str(&format!("{:>width$} {level} {}{fixable}\n", row.count, row.rule.name));
    }
    out + &render_summary(overview.summary, paint)
}

/// Renders one finding in three lines, as the rule pages show it.
pub fn render_concise(finding: &Finding) -> String {
    let place = &finding.place;
    let mut out = format!(
        "{}[{}]: {}\n --> {}:{}:{}\n",
        finding.level.name(),
        finding.rule.name,
        finding.message,
        place.display_path,
        place.start.line,
        place.start.column
    );
    if !finding.help.is_empty() {
        out.push_str(&format!("help: {}\n", finding.help));
    }
    out
}
