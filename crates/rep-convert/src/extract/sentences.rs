//! Cuts prose into sentences.

use std::ops::Range;

use super::blocks::Prose;

/// The longest sentence that is looked at; what is longer is no sentence.
const LENGTH_MAX: usize = 2_000;

/// Words a full stop does not end a sentence after.
const SHORT_FORMS: &[&str] = &["e.g", "i.e", "etc", "vs", "cf", "approx", "no", "fig", "eg", "ie", "resp"];

/// The sentences of a text, as ranges of it, without blanks at their ends.
pub(super) fn sentences(prose: &Prose) -> Vec<Range<usize>> {
    let text = prose.text.as_str();
    let mut found = Vec::new();
    let mut start = 0;
    let mut code = 0;
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        while prose.codes.get(code).is_some_and(|range| range.end <= at) {
            code += 1;
        }
        if prose.codes.get(code).is_some_and(|range| range.contains(&at)) {
            continue;
        }
        let next = letters.peek().map(|(_, next)| *next);
        let ends = match letter {
            '\n' | '。' | '！' | '？' => true,
            '✅' | '❌' | '✓' | '✗' | '✔' | '✖' | '🚫' | '⛔' | '✘' | '👎' | '👍' => {
                push(text, start..at, &mut found);
                start = at;
                false
            }
            '.' | '!' | '?' => ends_here(text, at, next),
            ' ' => is_unmarked_end(prose, at, next) || is_drawn_bullet(prose, at, next),
            _ => false,
        };
        if ends {
            let mut end = at + letter.len_utf8();
            // The mark that closes a quotation or a bracket belongs to its sentence.
            while let Some((_, closing)) = letters.next_if(|(_, next)| matches!(next, '"' | '”' | ')' | '\'')) {
                end += closing.len_utf8();
            }
            push(text, start..end, &mut found);
            start = end;
        }
    }
    push(text, start..text.len(), &mut found);
    found
}

fn push(text: &str, range: Range<usize>, found: &mut Vec<Range<usize>>) {
    let piece = &text[range.clone()];
    let start = range.start + (piece.len() - piece.trim_start().len());
    let end = start + piece.trim().len();
    if start < end && end - start <= LENGTH_MAX {
        found.push(start..end);
    }
}

/// Whether a full stop, an exclamation or a question mark ends its sentence.
fn ends_here(text: &str, at: usize, next: Option<char>) -> bool {
    if !next.is_none_or(|next| next.is_whitespace() || matches!(next, '"' | '”' | ')')) {
        return false;
    }
    let word = text[..at].rsplit(|letter: char| letter.is_whitespace() || letter == '(').next().unwrap_or_default();
    let bare = word.trim_start_matches(['*', '"', '“']).to_lowercase();
    if SHORT_FORMS.contains(&bare.as_str()) || (bare.len() == 1 && bare.chars().all(|letter| letter.is_ascii_digit())) {
        return false;
    }
    let rest = text[at + 1..].trim_start_matches(['"', '”', ')', ' ', '\n', '*']);
    // A sentence starts with anything but a small letter.
    !rest.starts_with(|letter: char| letter.is_lowercase())
}

/// Whether the next line starts with a drawing: a list whose bullets are not Markdown's.
fn is_drawn_bullet(prose: &Prose, at: usize, next: Option<char>) -> bool {
    let is_bullet = |letter: char| {
        matches!(letter, '•' | '‣' | '◦' | '▪' | '▸' | '►' | '➤' | '★' | '☆' | '⚠' | '❗' | '❕')
            || ('\u{1f300}'..='\u{1faff}').contains(&letter)
            || letter.is_ascii_digit() && prose.text.get(at + 2..).is_some_and(|rest| rest.starts_with('\u{fe0f}'))
    };
    let labels =
        ["DO:", "DON'T:", "DON’T:", "DO NOT:", "NEVER:", "ALWAYS:", "AVOID:", "Do:", "Don't:", "Never:", "Always:"];
    let is_label = prose.text.get(at + 1..).is_some_and(|rest| labels.iter().any(|label| rest.starts_with(label)));
    (is_label || next.is_some_and(is_bullet)) && prose.breaks.binary_search(&at).is_ok()
}

/// Whether a line ended here with a link, and the next starts afresh: a list its author did not mark as one.
fn is_unmarked_end(prose: &Prose, at: usize, next: Option<char>) -> bool {
    next.is_some_and(char::is_uppercase)
        && prose.breaks.binary_search(&at).is_ok()
        && prose.links.binary_search_by_key(&at, |(range, _)| range.end).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::blocks;

    #[test]
    fn sentences_end_where_people_end_them() {
        let body = "Use it, e.g. here. Never `a. B` stop! \"Done.\" Then 2.5 of v1. ❌ No ✅ Yes\nIn [A](a)\nUse B.";
        let prose = &blocks::blocks(body, 1)[0].prose;
        let found: Vec<&str> = sentences(prose).into_iter().map(|range| &prose.text[range]).collect();
        assert_eq!(
            found,
            [
                "Use it, e.g. here.",
                "Never `a. B` stop!",
                "\"Done.\"",
                "Then 2.5 of v1.",
                "❌ No",
                "✅ Yes In A",
                "Use B."
            ]
        );
    }
}
