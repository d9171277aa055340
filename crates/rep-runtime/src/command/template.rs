//! Parses a command's `syntax`: literal words, slots, optional groups and choices.
//!
//! `<name>` is a slot, `[…]` an optional group, `(a|b)` and `{a|b}` a choice. `...` after a slot lets it take
//! several words, quotes delimit a word, and `[options]` is the place of flags that are shown nowhere else.
//! Shell syntax is refused.

use std::iter::Peekable;
use std::str::Chars;

/// The maximum nesting depth of groups.
const DEPTH_MAX: usize = 8;
/// The maximum length of a syntax.
const SYNTAX_CHARS_MAX: usize = 8192;
/// Placeholders for all flags of a command.
const FLAG_PLACEHOLDERS: [&str; 6] = ["options", "flags", "opts", "option", "flag", "global-flags"];

/// A part of a syntax.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum SyntaxPart {
    /// One word, made of fragments.
    Word(Vec<WordFragment>),
    /// A flag, and the slot of its value if it has one.
    Flag {
        spelling: String,
        value: Option<SyntaxSlot>,
        /// Whether the value follows `=` in the same word.
        is_joined: bool,
    },
    /// An optional group.
    Group(Vec<SyntaxPart>),
    /// One of several alternatives.
    Choice { alternatives: Vec<Vec<SyntaxPart>>, is_optional: bool },
    /// The place of flags that are shown nowhere else.
    FlagPlaceholder,
}

/// A fragment of a word.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum WordFragment {
    Text(String),
    Slot(SyntaxSlot),
}

/// A place for a value.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct SyntaxSlot {
    /// Its names; several for `<a|b>`.
    pub(super) names: Vec<String>,
    /// Whether it takes several words.
    pub(super) is_variadic: bool,
    /// The allowed values, if the syntax lists them.
    pub(super) values: Vec<String>,
    /// The parameter it is bound to, once that is known.
    pub(super) parameter: usize,
}

impl SyntaxSlot {
    fn from_text(text: &str) -> Self {
        let text = text.trim();
        let bare = text.trim_end_matches('…').trim_end_matches("...").trim();
        let names = bare.split('|').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect();
        Self { names, is_variadic: bare.len() != text.len(), ..Self::default() }
    }
}

/// Parses one line of syntax. `is_declared` returns which bare words are argument names.
pub(super) fn parse(syntax: &str, is_declared: &dyn Fn(&str) -> bool) -> Result<Vec<SyntaxPart>, String> {
    if syntax.chars().count() > SYNTAX_CHARS_MAX {
        return Err(format!("is longer than {SYNTAX_CHARS_MAX} characters"));
    }
    let syntax = syntax.trim();
    let syntax = syntax.strip_prefix("$ ").unwrap_or(syntax);
    let mut reader = SyntaxParser { letters: syntax.chars().peekable(), is_declared };
    let mut alternatives = reader.parse_sequence(None, 0)?;
    match alternatives.len() {
        1 => Ok(recognize_flags_and_slots(alternatives.remove(0), false, is_declared)),
        _ => Err("uses the shell syntax `|`, but no shell is involved".to_owned()),
    }
}

struct SyntaxParser<'a> {
    letters: Peekable<Chars<'a>>,
    is_declared: &'a dyn Fn(&str) -> bool,
}

impl SyntaxParser<'_> {
    /// Parses parts up to a closing mark, as alternatives.
    fn parse_sequence(&mut self, close: Option<char>, depth: usize) -> Result<Vec<Vec<SyntaxPart>>, String> {
        if depth > DEPTH_MAX {
            return Err(format!("nests groups more than {DEPTH_MAX} deep"));
        }
        let mut all = vec![Vec::new()];
        loop {
            let Some(letter) = self.letters.peek().copied() else {
                return match close {
                    None => Ok(all),
                    Some(close) => Err(format!("has no closing `{close}`")),
                };
            };
            if Some(letter) == close {
                self.letters.next();
                return Ok(all);
            }
            let last = all.last_mut().expect("there is always one");
            match letter {
                _ if letter.is_whitespace() => drop(self.letters.next()),
                '|' => {
                    self.letters.next();
                    all.push(Vec::new());
                }
                '[' | '(' | '{' => {
                    self.letters.next();
                    let part = self.parse_group(letter, depth + 1)?;
                    let is_repeated = self.take_ellipsis();
                    last.push(if is_repeated { make_variadic(part) } else { part });
                }
                '.' | '…' if self.take_ellipsis() => {
                    if let Some(part) = last.pop() {
                        last.push(make_variadic(part));
                    }
                }
                _ => {
                    let word = self.parse_word(close)?;
                    last.push(SyntaxPart::Word(word));
                }
            }
        }
    }

    /// Consumes `...` if it is next.
    fn take_ellipsis(&mut self) -> bool {
        if self.letters.peek() == Some(&'…') {
            self.letters.next();
            return true;
        }
        let mut ahead = self.letters.clone();
        let is_there =
            (0..3).all(|_| ahead.next() == Some('.')) && ahead.peek().is_none_or(|next| !next.is_alphanumeric());
        if is_there {
            self.letters = ahead;
        }
        is_there
    }

    /// Parses the contents of brackets.
    fn parse_group(&mut self, open: char, depth: usize) -> Result<SyntaxPart, String> {
        let close = match open {
            '[' => ']',
            '(' => ')',
            _ => '}',
        };
        let is_optional = open == '[';
        let alternatives = self.parse_sequence(Some(close), depth)?;
        let bare: Vec<&str> = alternatives.iter().filter_map(|parts| single_literal_word(parts)).collect();
        let is_listed = bare.len() == alternatives.len() && bare.iter().all(|word| !word.starts_with('-'));
        if is_listed && alternatives.len() > 1 {
            let values: Vec<String> = bare.into_iter().map(str::to_owned).collect();
            // If all alternatives are argument names they are names; otherwise they are allowed values.
            let is_names = values.iter().all(|value| (self.is_declared)(value));
            let slot = SyntaxSlot {
                names: if is_names { values.clone() } else { vec![values.join("|")] },
                values: if is_names { Vec::new() } else { values },
                ..SyntaxSlot::default()
            };
            let word = SyntaxPart::Word(vec![WordFragment::Slot(slot)]);
            return Ok(if is_optional { SyntaxPart::Group(vec![word]) } else { word });
        }
        if is_optional
            && let [word] = bare[..]
            && FLAG_PLACEHOLDERS.contains(&word.to_lowercase().as_str())
            && !(self.is_declared)(word)
        {
            return Ok(SyntaxPart::FlagPlaceholder);
        }
        let mut alternatives: Vec<Vec<SyntaxPart>> =
            alternatives.into_iter().map(|parts| recognize_flags_and_slots(parts, true, self.is_declared)).collect();
        Ok(match alternatives.len() {
            1 if is_optional => SyntaxPart::Group(alternatives.remove(0)),
            1 => SyntaxPart::Choice { alternatives, is_optional: false },
            _ => SyntaxPart::Choice { alternatives, is_optional },
        })
    }

    /// Parses one word, up to white space or a closing mark.
    fn parse_word(&mut self, close: Option<char>) -> Result<Vec<WordFragment>, String> {
        let mut pieces = Vec::new();
        let mut text = String::new();
        let mut flush = |text: &mut String, pieces: &mut Vec<WordFragment>| {
            if !text.is_empty() {
                pieces.push(WordFragment::Text(std::mem::take(text)));
            }
        };
        let mut is_quoted = false;
        while let Some(letter) = self.letters.peek().copied() {
            if letter.is_whitespace() || Some(letter) == close || (letter == '|' && close.is_some()) {
                break;
            }
            self.letters.next();
            match letter {
                '"' | '\'' => {
                    is_quoted = true;
                    self.parse_quoted(letter, &mut text, &mut pieces, &mut flush)?;
                }
                '<' => {
                    flush(&mut text, &mut pieces);
                    pieces.push(WordFragment::Slot(self.parse_slot()?));
                }
                '[' => {
                    flush(&mut text, &mut pieces);
                    self.skip_optional_suffix(&pieces)?;
                }
                '>' | ';' | '&' | '|' | '`' | '$' | '\\' => {
                    return Err(format!("uses the shell syntax `{letter}`, but no shell is involved"));
                }
                _ => text.push(letter),
            }
        }
        if is_quoted && pieces.is_empty() && text.is_empty() {
            pieces.push(WordFragment::Text(String::new()));
        }
        flush(&mut text, &mut pieces);
        Ok(pieces)
    }

    /// Parses a quoted text: text and slots, and no other marks.
    fn parse_quoted(
        &mut self,
        quote: char,
        text: &mut String,
        pieces: &mut Vec<WordFragment>,
        flush: &mut impl FnMut(&mut String, &mut Vec<WordFragment>),
    ) -> Result<(), String> {
        loop {
            match self.letters.next() {
                None => return Err(format!("has no closing {quote}")),
                Some(letter) if letter == quote => return Ok(()),
                Some('<') => {
                    flush(text, pieces);
                    pieces.push(WordFragment::Slot(self.parse_slot()?));
                }
                Some(letter @ ('`' | '$')) if quote == '"' => {
                    return Err(format!("uses the shell syntax `{letter}`, but no shell is involved"));
                }
                Some(letter) => text.push(letter),
            }
        }
    }

    /// Parses a slot, after its `<`.
    fn parse_slot(&mut self) -> Result<SyntaxSlot, String> {
        let mut name = String::new();
        loop {
            match self.letters.next() {
                Some('>') => break,
                Some('<') | None => return Err("has a `<` without its `>`".to_owned()),
                Some(letter) => name.push(letter),
            }
        }
        let mut slot = SyntaxSlot::from_text(&name);
        if slot.names.is_empty() {
            return Err("has a `<>` without a name".to_owned());
        }
        slot.is_variadic |= self.take_ellipsis();
        Ok(slot)
    }

    /// Skips an optional suffix in the middle of a word, such as `--colour[=<when>]`: which of the two words
    /// is meant must not depend on a value.
    fn skip_optional_suffix(&mut self, pieces: &[WordFragment]) -> Result<(), String> {
        let inner = self.parse_sequence(Some(']'), DEPTH_MAX)?;
        let is_plural = matches!(&inner[..], [parts] if single_literal_word(parts) == Some("s"));
        if is_plural || pieces.is_empty() { Err("has a `[` inside a word".to_owned()) } else { Ok(()) }
    }
}

/// Returns the text of parts that form a single literal word.
fn single_literal_word(parts: &[SyntaxPart]) -> Option<&str> {
    match parts {
        [SyntaxPart::Word(pieces)] => literal_text(pieces),
        _ => None,
    }
}

fn literal_text(pieces: &[WordFragment]) -> Option<&str> {
    match pieces {
        [WordFragment::Text(text)] => Some(text),
        _ => None,
    }
}

/// Makes a part take several words.
fn make_variadic(part: SyntaxPart) -> SyntaxPart {
    match part {
        SyntaxPart::Word(mut pieces) => {
            if let [WordFragment::Slot(slot)] = &mut pieces[..] {
                slot.is_variadic = true;
            }
            SyntaxPart::Word(pieces)
        }
        SyntaxPart::Flag { spelling, value, is_joined } => {
            let value = value.map(|slot| SyntaxSlot { is_variadic: true, ..slot });
            SyntaxPart::Flag { spelling, value, is_joined }
        }
        SyntaxPart::Group(parts) => SyntaxPart::Group(parts.into_iter().map(make_variadic).collect()),
        other => other,
    }
}

/// Recognizes flags with their values, and in groups the slots that are written as bare words.
fn recognize_flags_and_slots(
    parts: Vec<SyntaxPart>,
    is_group: bool,
    is_declared: &dyn Fn(&str) -> bool,
) -> Vec<SyntaxPart> {
    let is_single = parts.len() == 1;
    let mut out: Vec<SyntaxPart> = Vec::new();
    let mut parts = parts.into_iter().peekable();
    while let Some(part) = parts.next() {
        let SyntaxPart::Word(mut pieces) = part else {
            out.push(part);
            continue;
        };
        if let [WordFragment::Text(text), WordFragment::Slot(slot)] = &mut pieces[..]
            && text.starts_with('-')
            && text.ends_with('=')
        {
            let spelling = text.trim_end_matches('=').to_owned();
            out.push(SyntaxPart::Flag { spelling, value: Some(slot.clone()), is_joined: true });
            continue;
        }
        let Some(text) = literal_text(&pieces) else {
            out.push(SyntaxPart::Word(pieces));
            continue;
        };
        if text.starts_with('-') && !text.trim_matches('-').is_empty() {
            let (spelling, value, is_joined) = match text.split_once('=').filter(|_| is_group) {
                Some((flag, value)) => (flag.to_owned(), Some(SyntaxSlot::from_text(value)), true),
                None => (text.to_owned(), take_flag_value(&mut parts, is_group), false),
            };
            out.push(match value {
                None if !is_group => SyntaxPart::Word(pieces),
                value => SyntaxPart::Flag { spelling, value, is_joined },
            });
            continue;
        }
        let is_slot = is_declared(text) && (is_group || text.chars().all(|letter| !letter.is_lowercase()));
        let is_slot = is_slot || (is_group && is_single);
        // The program itself is not a slot.
        out.push(if is_slot && (is_group || !out.is_empty()) {
            SyntaxPart::Word(vec![WordFragment::Slot(SyntaxSlot::from_text(text))])
        } else {
            SyntaxPart::Word(pieces)
        });
    }
    out
}

/// Consumes the slot of a flag's value, if one follows.
fn take_flag_value(parts: &mut Peekable<std::vec::IntoIter<SyntaxPart>>, is_group: bool) -> Option<SyntaxSlot> {
    let Some(SyntaxPart::Word(pieces)) = parts.peek() else { return None };
    let slot = match &pieces[..] {
        [WordFragment::Slot(slot)] => slot.clone(),
        [WordFragment::Text(text)] if is_group && !text.starts_with('-') => SyntaxSlot::from_text(text),
        _ => return None,
    };
    parts.next();
    Some(slot)
}
