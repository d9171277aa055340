//! Cuts a text where the tokenizer's pattern does; no token reaches over a cut.
//!
//! The pattern of `o200k_base`, which this room is written after, alternative by alternative:
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
//! Written out, because a general matcher that looks ahead and turns back needs a bound on long runs.

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

/// What the pattern asks of a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    /// `Lu`, `Lt`.
    Upper,
    /// `Ll`.
    Lower,
    /// `Lm`, `Lo`: both an upper and a lower letter.
    Letter,
    /// `M`: like a letter inside a word, like a sign in front of one.
    Mark,
    /// `N`.
    Number,
    /// `\r` and `\n`.
    LineEnd,
    /// Every other white space.
    Blank,
    /// The rest.
    Sign,
}

impl Class {
    fn of(letter: char) -> Class {
        match letter {
            'a'..='z' => Class::Lower,
            'A'..='Z' => Class::Upper,
            '0'..='9' => Class::Number,
            '\r' | '\n' => Class::LineEnd,
            ' ' | '\t' | '\u{b}' | '\u{c}' => Class::Blank,
            _ if letter.is_ascii() => Class::Sign,
            _ if letter.is_whitespace() => Class::Blank,
            _ => Class::of_category(letter.general_category()),
        }
    }

    fn of_category(category: GeneralCategory) -> Class {
        use GeneralCategory as Category;
        match category {
            Category::UppercaseLetter | Category::TitlecaseLetter => Class::Upper,
            Category::LowercaseLetter => Class::Lower,
            Category::ModifierLetter | Category::OtherLetter => Class::Letter,
            Category::NonspacingMark | Category::SpacingMark | Category::EnclosingMark => Class::Mark,
            Category::DecimalNumber | Category::LetterNumber | Category::OtherNumber => Class::Number,
            _ => Class::Sign,
        }
    }

    fn is_space(self) -> bool {
        matches!(self, Class::LineEnd | Class::Blank)
    }

    fn is_letter(self) -> bool {
        matches!(self, Class::Upper | Class::Lower | Class::Letter)
    }
}

/// The pieces of a text, in order; together they are the text.
pub(crate) struct Pieces<'a> {
    rest: &'a str,
}

impl<'a> Pieces<'a> {
    pub(crate) fn of(text: &'a str) -> Self {
        Self { rest: text }
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let first = self.rest.chars().next()?;
        let (piece, rest) = self.rest.split_at(first_piece(self.rest, first));
        self.rest = rest;
        Some(piece)
    }
}

/// The length of the first piece of a text.
fn first_piece(text: &str, first: char) -> usize {
    let class = Class::of(first);
    if let Some(end) = word(text, first, class) {
        return end + contraction(&text[end..]);
    }
    match class {
        Class::Number => run(text, 3, |class| class == Class::Number),
        _ if !class.is_space() => signs(text),
        _ if first == ' ' && text[1..].chars().next().is_some_and(|next| is_sign(Class::of(next))) => {
            1 + signs(&text[1..])
        }
        _ => spaces(text),
    }
}

/// A word, with at most one sign or blank in front of it.
fn word(text: &str, first: char, class: Class) -> Option<usize> {
    if class.is_letter() {
        let (word, uppers) = letters(text);
        return word.or((uppers > 0).then_some(uppers));
    }
    if matches!(class, Class::Number | Class::LineEnd) {
        return None;
    }
    let before = first.len_utf8();
    let (word, uppers) = letters(&text[before..]);
    match (word, class) {
        (Some(word), _) => Some(before + word),
        // The mark is no sign in front of a word, then, but a word of its own.
        (None, Class::Mark) => letters(text).0,
        (None, _) => (uppers > 0).then_some(before + uppers),
    }
}

/// The end of a run of upper letters and then at least one lower one, and the end of the upper letters alone.
fn letters(text: &str) -> (Option<usize>, usize) {
    let mut turned_back = None;
    let mut at = 0;
    for letter in text.chars() {
        match Class::of(letter) {
            Class::Upper => at += letter.len_utf8(),
            Class::Letter | Class::Mark => {
                at += letter.len_utf8();
                // Where no lower letter follows, the last letter that is both serves as the one.
                turned_back = Some(at);
            }
            Class::Lower => {
                let is_lower = |class| matches!(class, Class::Lower | Class::Letter | Class::Mark);
                return (Some(at + run(&text[at..], usize::MAX, is_lower)), at);
            }
            Class::Number | Class::LineEnd | Class::Blank | Class::Sign => break,
        }
    }
    (turned_back, at)
}

/// The length of `'s` and its like at the start of a text.
fn contraction(text: &str) -> usize {
    let Some(rest) = text.strip_prefix('\'') else { return 0 };
    let mut letters = rest.chars();
    let Some(first) = letters.next() else { return 0 };
    match (first.to_ascii_lowercase(), letters.next().map(|letter| letter.to_ascii_lowercase())) {
        // The long s is an s where case does not count.
        ('s' | 't' | 'm' | 'd' | 'ſ', _) => 1 + first.len_utf8(),
        ('r' | 'v', Some('e')) | ('l', Some('l')) => 3,
        _ => 0,
    }
}

fn is_sign(class: Class) -> bool {
    matches!(class, Class::Sign | Class::Mark)
}

/// Signs, and the line ends behind them.
fn signs(text: &str) -> usize {
    let end = run(text, usize::MAX, is_sign);
    let line_ends = text.as_bytes()[end..].iter().take_while(|byte| matches!(byte, b'\r' | b'\n' | b'/'));
    end + line_ends.count()
}

/// White space: up to its last line end, else all but the blank that belongs to what follows.
fn spaces(text: &str) -> usize {
    let end = run(text, usize::MAX, Class::is_space);
    let blanks = &text[..end];
    if let Some(line_end) = blanks.rfind(['\r', '\n']) {
        return line_end + 1;
    }
    let last = blanks.chars().next_back().map_or(0, char::len_utf8);
    if end == text.len() || end == last { end } else { end - last }
}

/// The length of the characters at the start of a text that are of a class, at most so many.
fn run(text: &str, most: usize, is_in: impl Fn(Class) -> bool) -> usize {
    text.chars().take(most).take_while(|letter| is_in(Class::of(*letter))).map(char::len_utf8).sum()
}
