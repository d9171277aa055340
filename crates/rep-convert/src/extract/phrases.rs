//! The phrases of a text about when a skill is wanted: what it says for, without what it says against, case by case.

use std::ops::Range;

use super::constraints::tidy;
use super::words::Words;

/// What stands before the cases a skill is for.
pub(super) const LEADS: &[&str] = &[
    "use when",
    "use this skill when",
    "use this when",
    "use for",
    "use it when",
    "use whenever",
    "when the user",
    "triggers on",
    "triggers when",
    "activate when",
    "activates when",
    "invoke when",
    "invoke this skill when",
    "use this skill for",
    "use this skill whenever",
    "should be used when",
    "use proactively when",
    "use if",
    "apply when",
    "use this skill to",
    "trigger when",
];

/// What stands before the cases where a colon follows.
pub(super) const LABELS: &[&str] = &[
    "triggers",
    "trigger",
    "trigger keywords",
    "trigger words",
    "trigger phrases",
    "keywords",
    "common triggers",
    "example triggers",
    "use cases",
];

/// What turns a skill away, wherever a clause starts with it.
const AGAINST: &[&str] = &[
    "not for",
    "not when",
    "not if",
    "not to be used",
    "not intended for",
    "not meant for",
    "not suitable for",
    "not applicable to",
    "never for",
    "never when",
    "skip when",
    "skip if",
    "skip for",
    "avoid when",
    "avoid for",
    "avoid using this",
    "should not be used",
    "shouldn't be used",
    "must not be used",
    "is not for",
    "is not intended for",
    "is not meant for",
    "isn't for",
    "out of scope",
];

/// Verbs of use that are turned round by a `do not` before them.
const USES: &[&str] = &["use", "trigger", "activate", "invoke", "apply", "load", "call", "run"];

/// The parts of a text that do not say what a skill is not for.
pub(super) fn positive(text: &str) -> Vec<&str> {
    let words = Words::of(text);
    let mut parts = Vec::new();
    let (mut from, mut index) = (0, 0);
    while index < words.len() {
        if !is_against(&words, index) {
            index += 1;
            continue;
        }
        parts.push(&text[from..words.list[index].at.start]);
        index = (index + 1..words.len()).find(|next| ends(&words, *next)).unwrap_or(words.len());
        from = words.list.get(index).map_or(text.len(), |word| word.at.start);
    }
    parts.push(&text[from..]);
    parts.retain(|part| part.contains(char::is_alphanumeric));
    parts
}

/// Whether somebody is turned away from here on: `Do NOT use for`, `Not for`, `SKIP:`.
fn is_against(words: &Words<'_>, index: usize) -> bool {
    let is_cut = index == 0
        || words.before(index).contains(['.', ',', ';', ':', '!', '?', '(', '—', '–', '|', '\n', '-', '*', '❌', '🚫']);
    let starts = is_cut || matches!(words.at(index - 1), "but" | "and" | "or" | "skill" | "this" | "please" | "when");
    if !starts {
        return false;
    }
    if words.any(index, AGAINST).is_some() {
        return true;
    }
    if words.at(index) == "skip" && words.before(index + 1).starts_with(':') {
        return is_cut;
    }
    let Some(length) = words.any(index, &["do not", "don't", "never", "must not", "should not", "cannot", "not to"])
    else {
        return false;
    };
    let next = index + length + 1;
    // `Users sign up but don't use the product` speaks of them.
    let is_skill =
        matches!(words.at(next), "for" | "when" | "if" | "this" | "it" | "to" | "in" | "on" | "with" | "as" | "unless")
            || next >= words.len()
            || words.before(next).starts_with(':');
    USES.contains(&words.at(next - 1)) && (is_skill || words.at(next - 1) == "trigger")
}

/// Whether what turns somebody away has ended before a word: with its sentence, or where a case for it follows.
fn ends(words: &Words<'_>, index: usize) -> bool {
    if ends_sentence(words, index) {
        return true;
    }
    let between = words.before(index);
    let is_line = between.contains('\n') && !between.trim_start().starts_with(['-', '*', '•']);
    let has_label = (index + 1..index + 4).any(|next| words.before(next).starts_with(':'));
    let opens = words.any(index, LEADS).is_some() && !matches!(words.at(index), "when" | "triggers")
        || words.any(index, LABELS).is_some_and(|length| words.before(index + length).starts_with(':'));
    let is_turned = matches!(words.at(index - 1), "not" | "don't" | "never");
    is_line && (has_label || between.contains("\n\n"))
        || opens && !is_turned && (between.contains([',', ';', '—', '–', '\n']) || words.at(index - 1) == "but")
}

/// Whether a sentence ended before a word.
pub(super) fn ends_sentence(words: &Words<'_>, index: usize) -> bool {
    let between = words.before(index).trim_start_matches([')', '"', '\'', '”', '’', ']']);
    let is_capital = words.text[words.list[index].at.clone()].starts_with(char::is_uppercase);
    between.starts_with(['.', '!', '?', ';']) && is_capital || between.contains('\n') && between.contains('.')
}

/// The phrases of a list: those in quotes where there are some, else what stands between commas.
pub(super) fn listed(text: &str) -> Vec<String> {
    let quoted = quoted(text);
    if quoted.len() > 1 {
        return quoted.into_iter().map(|at| tidy(&text[at])).collect();
    }
    let mut found = Vec::new();
    let (mut depth, mut from) = (0usize, 0);
    for (at, letter) in text.char_indices() {
        match letter {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            ',' | ';' | '，' | '、' if depth == 0 => {
                found.push(&text[from..at]);
                from = at + letter.len_utf8();
            }
            _ => {}
        }
    }
    found.push(&text[from..]);
    let bare = |part: &&str| {
        let part = tidy(part);
        let part = part.strip_prefix("or ").or(part.strip_prefix("and ")).unwrap_or(&part);
        let marks = ['"', '\'', '“', '”'];
        // `even if they say "this"` ends with a quotation, which keeps its marks.
        if part.starts_with(marks) { part.trim_matches(marks).trim().to_owned() } else { part.trim().to_owned() }
    };
    found.iter().map(bare).filter(|part| !part.is_empty()).collect()
}

/// What stands in quotes, single or double, without them.
pub(super) fn quoted(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut open: Option<(usize, char)> = None;
    let mut last = ' ';
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let next = letters.peek().map_or(' ', |(_, next)| *next);
        match open {
            None => {
                let close = match letter {
                    '"' => Some('"'),
                    '“' => Some('”'),
                    // An apostrophe stands behind a letter.
                    '\'' | '‘' if !last.is_alphanumeric() && !next.is_whitespace() => {
                        Some(if letter == '‘' { '’' } else { '\'' })
                    }
                    _ => None,
                };
                open = close.map(|close| (at + letter.len_utf8(), close));
            }
            Some((from, close)) => {
                if letter == close && (matches!(close, '"' | '”') || !next.is_alphanumeric()) {
                    found.push(from..at);
                    open = None;
                }
            }
        }
        last = letter;
    }
    found
}
