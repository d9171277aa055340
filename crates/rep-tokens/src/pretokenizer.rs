//! Splits a text at the boundaries of the tokenizer's pattern. Tokens never cross a boundary.
//!
//! This module implements the pattern of `o200k_base`, one alternative at a time:
//!
//! ```text
//! [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//! [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//! \p{N}{1,3}
//!  ?[^\s\p{L}\p{N}]+[\r\n/]*
//! \s*[\r\n]+
//! \s+(?!\S)
//! \s+
//! ```
//!
//! The pattern is written by hand, because a general matcher with lookahead and backtracking has no bound on long runs.

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

/// The character classes of the pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CharClass {
    /// `Lu`, `Lt`.
    Upper,
    /// `Ll`.
    Lower,
    /// `Lm`, `Lo`: match both upper-case and lower-case letters.
    Letter,
    /// `M`: a letter inside a word, a sign before one.
    Mark,
    /// `N`.
    Number,
    /// `\r` and `\n`.
    LineEnd,
    /// All other white space.
    Blank,
    /// All other characters.
    Sign,
}

impl CharClass {
    fn from_char(letter: char) -> CharClass {
        match letter {
            'a'..='z' => CharClass::Lower,
            'A'..='Z' => CharClass::Upper,
            '0'..='9' => CharClass::Number,
            '\r' | '\n' => CharClass::LineEnd,
            ' ' | '\t' | '\u{b}' | '\u{c}' => CharClass::Blank,
            _ if letter.is_ascii() => CharClass::Sign,
            _ if letter.is_whitespace() => CharClass::Blank,
            _ => CharClass::from_category(letter.general_category()),
        }
    }

    fn from_category(category: GeneralCategory) -> CharClass {
        use GeneralCategory as Category;
        match category {
            Category::UppercaseLetter | Category::TitlecaseLetter => CharClass::Upper,
            Category::LowercaseLetter => CharClass::Lower,
            Category::ModifierLetter | Category::OtherLetter => CharClass::Letter,
            Category::NonspacingMark | Category::SpacingMark | Category::EnclosingMark => CharClass::Mark,
            Category::DecimalNumber | Category::LetterNumber | Category::OtherNumber => CharClass::Number,
            _ => CharClass::Sign,
        }
    }

    fn is_space(self) -> bool {
        matches!(self, CharClass::LineEnd | CharClass::Blank)
    }

    fn is_letter(self) -> bool {
        matches!(self, CharClass::Upper | CharClass::Lower | CharClass::Letter)
    }
}

/// Iterates over the pieces of a text, in order and without gaps.
pub(crate) struct Pretokens<'a> {
    rest: &'a str,
}

impl<'a> Pretokens<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { rest: text }
    }
}

impl<'a> Iterator for Pretokens<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let first = self.rest.chars().next()?;
        let (piece, rest) = self.rest.split_at(first_pretoken_length(self.rest, first));
        self.rest = rest;
        Some(piece)
    }
}

/// Returns the length of the first piece of a text.
fn first_pretoken_length(text: &str, first: char) -> usize {
    let class = CharClass::from_char(first);
    if let Some(end) = match_word(text, first, class) {
        return end + match_contraction(&text[end..]);
    }
    match class {
        CharClass::Number => match_run(text, 3, |class| class == CharClass::Number),
        _ if !class.is_space() => match_signs(text),
        _ if first == ' ' && text[1..].chars().next().is_some_and(|next| is_sign(CharClass::from_char(next))) => {
            1 + match_signs(&text[1..])
        }
        _ => match_spaces(text),
    }
}

/// Matches a word with at most one sign or blank before it.
fn match_word(text: &str, first: char, class: CharClass) -> Option<usize> {
    if class.is_letter() {
        let (word, uppers) = match_letters(text);
        return word.or((uppers > 0).then_some(uppers));
    }
    if matches!(class, CharClass::Number | CharClass::LineEnd) {
        return None;
    }
    let before = first.len_utf8();
    let (word, uppers) = match_letters(&text[before..]);
    match (word, class) {
        (Some(word), _) => Some(before + word),
        // The mark does not precede a word; it starts one.
        (None, CharClass::Mark) => match_letters(text).0,
        (None, _) => (uppers > 0).then_some(before + uppers),
    }
}

/// Matches upper-case letters followed by at least one lower-case letter. Returns the end of the match, and the end of
/// the upper-case letters.
fn match_letters(text: &str) -> (Option<usize>, usize) {
    let mut turned_back = None;
    let mut at = 0;
    for letter in text.chars() {
        match CharClass::from_char(letter) {
            CharClass::Upper => at += letter.len_utf8(),
            CharClass::Letter | CharClass::Mark => {
                at += letter.len_utf8();
                // If no lower-case letter follows, the last caseless letter takes its place.
                turned_back = Some(at);
            }
            CharClass::Lower => {
                let is_lower = |class| matches!(class, CharClass::Lower | CharClass::Letter | CharClass::Mark);
                return (Some(at + match_run(&text[at..], usize::MAX, is_lower)), at);
            }
            CharClass::Number | CharClass::LineEnd | CharClass::Blank | CharClass::Sign => break,
        }
    }
    (turned_back, at)
}

/// Returns the length of a contraction such as `'s` at the start of a text.
fn match_contraction(text: &str) -> usize {
    let Some(rest) = text.strip_prefix('\'') else { return 0 };
    let mut letters = rest.chars();
    let Some(first) = letters.next() else { return 0 };
    match (first.to_ascii_lowercase(), letters.next().map(|letter| letter.to_ascii_lowercase())) {
        // The long s equals an s when case is ignored.
        ('s' | 't' | 'm' | 'd' | 'ſ', _) => 1 + first.len_utf8(),
        ('r' | 'v', Some('e')) | ('l', Some('l')) => 3,
        _ => 0,
    }
}

fn is_sign(class: CharClass) -> bool {
    matches!(class, CharClass::Sign | CharClass::Mark)
}

/// Matches signs and the line ends after them.
fn match_signs(text: &str) -> usize {
    let end = match_run(text, usize::MAX, is_sign);
    let line_ends = text.as_bytes()[end..].iter().take_while(|byte| matches!(byte, b'\r' | b'\n' | b'/'));
    end + line_ends.count()
}

/// Matches white space: up to its last line end, or else all but the last blank, which belongs to the next piece.
fn match_spaces(text: &str) -> usize {
    let end = match_run(text, usize::MAX, CharClass::is_space);
    let blanks = &text[..end];
    if let Some(line_end) = blanks.rfind(['\r', '\n']) {
        return line_end + 1;
    }
    let last = blanks.chars().next_back().map_or(0, char::len_utf8);
    if end == text.len() || end == last { end } else { end - last }
}

/// Returns the length of the leading characters that satisfy `is_in`, at most `most` of them.
fn match_run(text: &str, most: usize, is_in: impl Fn(CharClass) -> bool) -> usize {
    text.chars().take(most).take_while(|letter| is_in(CharClass::from_char(*letter))).map(char::len_utf8).sum()
}
