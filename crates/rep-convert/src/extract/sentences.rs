//! Splits prose into sentences.

use std::ops::Range;

use super::blocks::ProseText;
use super::lexicon::LEXICON;
use super::words::WordList;

/// The maximum length of a sentence; longer text is ignored.
const SENTENCE_BYTES_MAX: usize = 2_000;

/// The maximum length of a quotation that is not split.
const QUOTATION_BYTES_MAX: usize = 600;

/// Returns the sentences of a text as ranges, without spaces at their ends.
pub(super) fn split_sentences(prose: &ProseText) -> Vec<Range<usize>> {
    let text = prose.text.as_str();
    let mut cuts = vec![0];
    let (mut code, mut quoted_until) = (0, 0);
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let behind = at + letter.len_utf8();
        while prose.codes.get(code).is_some_and(|range| range.end <= at) {
            code += 1;
        }
        if prose.codes.get(code).is_some_and(|range| range.contains(&at)) {
            continue;
        }
        // A quotation is one part of a sentence, even if it contains several sentences.
        if at >= quoted_until && matches!(letter, '"' | '“') {
            let close = if letter == '"' { '"' } else { '”' };
            let near = &text[behind..text.floor_char_boundary(behind + QUOTATION_BYTES_MAX)];
            quoted_until = near.find(close).map_or(0, |length| behind + length + close.len_utf8());
        }
        let is_quoted = at < quoted_until;
        let next = letters.peek().map(|(_, next)| *next);
        let ends = match letter {
            '.' | '!' | '?' if is_quoted => {
                matches!(next, Some('"' | '”')) && ends_sentence(text, at, text[behind..].chars().nth(1))
            }
            _ if is_quoted => false,
            '.' | '!' | '?' => ends_sentence(text, at, next),
            '\n' | '。' | '！' | '？' => true,
            ' ' => starts_unmarked_item(prose, at, next),
            _ if !letter.is_ascii() && "✅❌✓✗✔✖🚫⛔✘👎👍".contains(letter) => {
                cuts.push(at);
                false
            }
            _ => false,
        };
        if ends {
            // A closing quotation mark or bracket belongs to its sentence.
            let mut end = behind;
            while let Some((_, closing)) = letters.next_if(|(_, next)| matches!(next, '"' | '”' | ')' | '\'')) {
                end += closing.len_utf8();
            }
            cuts.push(end);
        }
    }
    cuts.push(text.len());
    let trimmed = |cut: &[usize]| {
        let piece = &text[cut[0]..cut[1]];
        let start = cut[1] - piece.trim_start().len();
        start..start + piece.trim().len()
    };
    cuts.windows(2).map(trimmed).filter(|range| (1..=SENTENCE_BYTES_MAX).contains(&range.len())).collect()
}

/// Returns whether a full stop, an exclamation mark or a question mark ends the sentence.
fn ends_sentence(text: &str, at: usize, next: Option<char>) -> bool {
    // Abbreviations are short, so only a few characters are examined.
    let near = &text[text.floor_char_boundary(at.saturating_sub(12))..at];
    let word = near.rsplit(|letter: char| letter.is_whitespace() || letter == '(').next().unwrap_or_default();
    // A sentence does not start with a lower-case letter or an arrow.
    let rest = text[at + 1..].trim_start_matches(['"', '”', ')', ' ', '\n', '*']);
    next.is_none_or(|next| next.is_whitespace() || matches!(next, '"' | '”' | ')'))
        && !LEXICON.short_forms.contains(&word.trim_start_matches(['*', '"', '“']).to_lowercase())
        && !rest.starts_with(|letter: char| letter.is_lowercase() || letter == '→')
}

/// Returns whether the next line starts an item without a list marker: `🚀 …`, `DON'T: …`.
fn starts_unmarked_item(prose: &ProseText, at: usize, next: Option<char>) -> bool {
    if prose.breaks.binary_search(&at).is_err() {
        return false;
    }
    let rest = &prose.text[at + 1..];
    let is_drawn = |letter| "•‣◦▪▸►➤★☆⚠❗❕".contains(letter) || ('\u{1f300}'..='\u{1faff}').contains(&letter);
    let near = &rest[..rest.floor_char_boundary(12)];
    let label = WordList::parse(near.split_once(':').map_or("", |(label, _)| label));
    let is_label = LEXICON.never_markers.is_whole_text(&label)
        || LEXICON.must_markers.is_whole_text(&label)
        || label.has_phrase_at(0, "do");
    let is_behind_link = prose.links.binary_search_by_key(&at, |(range, _)| range.end).is_ok();
    next.is_some_and(is_drawn) || (is_label || is_behind_link) && next.is_some_and(char::is_uppercase)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::blocks;

    #[test]
    fn sentences_end_where_people_end_them() {
        let body = "Use it, e.g. here. Never `a. B` stop! \"Done.\" Then 2.5 of v1. ❌ No ✅ Yes\nIn [A](a)\nUse B.";
        let prose = &blocks::parse_blocks(body, 1)[0].prose;
        let found: Vec<&str> = split_sentences(prose).into_iter().map(|range| &prose.text[range]).collect();
        let expected = "Use it, e.g. here.|Never `a. B` stop!|\"Done.\"|Then 2.5 of v1.|❌ No|✅ Yes In A|Use B.";
        assert_eq!(found.join("|"), expected);
    }
}
