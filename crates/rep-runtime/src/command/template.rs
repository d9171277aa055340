//! A command's `syntax`, taken apart once: literal words, slots, optional groups and choices.
//!
//! `<name>` is a slot, `[…]` a group that may be left out, `(a|b)` and `{a|b}` a choice, `...` behind a slot makes it take
//! several words, quotes hold a word together, and `[options]` is the place of flags that are shown nowhere else. What
//! only a shell would understand is refused.

use std::iter::Peekable;
use std::str::Chars;

/// How deep groups may be nested.
const DEPTH_MAX: usize = 8;
/// The longest syntax.
const CHARS_MAX: usize = 8192;
/// Words that stand for all flags of a command.
const PLACES: [&str; 6] = ["options", "flags", "opts", "option", "flag", "global-flags"];

/// One part of a syntax.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Part {
    /// One word, made of pieces.
    Word(Vec<Piece>),
    /// A flag, and the slot of its value where it has one.
    Flag {
        spelling: String,
        value: Option<Slot>,
        /// Whether the value is written behind `=` in the same word.
        is_joined: bool,
    },
    /// What may be left out.
    Group(Vec<Part>),
    /// One of several.
    Choice { alternatives: Vec<Vec<Part>>, is_optional: bool },
    /// Where flags go that are shown nowhere.
    Place,
}

/// A piece of a word.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Piece {
    Text(String),
    Slot(Slot),
}

/// A place for a value.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Slot {
    /// The names it goes by; several where the author wrote `<a|b>`.
    pub(super) names: Vec<String>,
    /// Whether it takes several words.
    pub(super) is_variadic: bool,
    /// The only values it takes, where the syntax lists them.
    pub(super) values: Vec<String>,
    /// The parameter it belongs to, once that is known.
    pub(super) parameter: usize,
}

impl Slot {
    fn named(text: &str) -> Self {
        let text = text.trim();
        let bare = text.trim_end_matches('…').trim_end_matches("...").trim();
        let names = bare.split('|').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect();
        Self { names, is_variadic: bare.len() != text.len(), ..Self::default() }
    }
}

/// Takes one line of syntax apart. `is_declared` says which bare words are names of arguments.
pub(super) fn parse(syntax: &str, is_declared: &dyn Fn(&str) -> bool) -> Result<Vec<Part>, String> {
    if syntax.chars().count() > CHARS_MAX {
        return Err(format!("is longer than {CHARS_MAX} characters"));
    }
    let syntax = syntax.trim();
    let syntax = syntax.strip_prefix("$ ").unwrap_or(syntax);
    let mut reader = Reader { letters: syntax.chars().peekable(), is_declared };
    let mut alternatives = reader.sequence(None, 0)?;
    match alternatives.len() {
        1 => Ok(shaped(alternatives.remove(0), false, is_declared)),
        _ => Err("uses a shell's `|`; no shell comes between".to_owned()),
    }
}

struct Reader<'a> {
    letters: Peekable<Chars<'a>>,
    is_declared: &'a dyn Fn(&str) -> bool,
}

impl Reader<'_> {
    /// Reads parts up to a closing mark, in alternatives.
    fn sequence(&mut self, close: Option<char>, depth: usize) -> Result<Vec<Vec<Part>>, String> {
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
                    let part = self.group(letter, depth + 1)?;
                    let is_repeated = self.is_repeated();
                    last.push(if is_repeated { repeated(part) } else { part });
                }
                '.' | '…' if self.is_repeated() => {
                    if let Some(part) = last.pop() {
                        last.push(repeated(part));
                    }
                }
                _ => {
                    let word = self.word(close)?;
                    last.push(Part::Word(word));
                }
            }
        }
    }

    /// Takes `...` where it stands next.
    fn is_repeated(&mut self) -> bool {
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

    /// What stands between brackets.
    fn group(&mut self, open: char, depth: usize) -> Result<Part, String> {
        let close = match open {
            '[' => ']',
            '(' => ')',
            _ => '}',
        };
        let is_optional = open == '[';
        let alternatives = self.sequence(Some(close), depth)?;
        let bare: Vec<&str> = alternatives.iter().filter_map(|parts| bare(parts)).collect();
        let is_listed = bare.len() == alternatives.len() && bare.iter().all(|word| !word.starts_with('-'));
        if is_listed && alternatives.len() > 1 {
            let values: Vec<String> = bare.into_iter().map(str::to_owned).collect();
            // Names of arguments are names; anything else is what may be written.
            let is_names = values.iter().all(|value| (self.is_declared)(value));
            let slot = Slot {
                names: if is_names { values.clone() } else { vec![values.join("|")] },
                values: if is_names { Vec::new() } else { values },
                ..Slot::default()
            };
            let word = Part::Word(vec![Piece::Slot(slot)]);
            return Ok(if is_optional { Part::Group(vec![word]) } else { word });
        }
        if is_optional
            && let [word] = bare[..]
            && PLACES.contains(&word.to_lowercase().as_str())
            && !(self.is_declared)(word)
        {
            return Ok(Part::Place);
        }
        let mut alternatives: Vec<Vec<Part>> =
            alternatives.into_iter().map(|parts| shaped(parts, true, self.is_declared)).collect();
        Ok(match alternatives.len() {
            1 if is_optional => Part::Group(alternatives.remove(0)),
            1 => Part::Choice { alternatives, is_optional: false },
            _ => Part::Choice { alternatives, is_optional },
        })
    }

    /// One word, up to white space or a closing mark.
    fn word(&mut self, close: Option<char>) -> Result<Vec<Piece>, String> {
        let mut pieces = Vec::new();
        let mut text = String::new();
        let mut flush = |text: &mut String, pieces: &mut Vec<Piece>| {
            if !text.is_empty() {
                pieces.push(Piece::Text(std::mem::take(text)));
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
                    self.quoted(letter, &mut text, &mut pieces, &mut flush)?;
                }
                '<' => {
                    flush(&mut text, &mut pieces);
                    pieces.push(Piece::Slot(self.slot()?));
                }
                '[' => {
                    flush(&mut text, &mut pieces);
                    self.joined(&pieces)?;
                }
                '>' | ';' | '&' | '|' | '`' | '$' | '\\' => {
                    return Err(format!("uses a shell's `{letter}`; no shell comes between"));
                }
                _ => text.push(letter),
            }
        }
        if is_quoted && pieces.is_empty() && text.is_empty() {
            pieces.push(Piece::Text(String::new()));
        }
        flush(&mut text, &mut pieces);
        Ok(pieces)
    }

    /// What stands between quotes: text and slots, and no other mark.
    fn quoted(
        &mut self,
        quote: char,
        text: &mut String,
        pieces: &mut Vec<Piece>,
        flush: &mut impl FnMut(&mut String, &mut Vec<Piece>),
    ) -> Result<(), String> {
        loop {
            match self.letters.next() {
                None => return Err(format!("has no closing {quote}")),
                Some(letter) if letter == quote => return Ok(()),
                Some('<') => {
                    flush(text, pieces);
                    pieces.push(Piece::Slot(self.slot()?));
                }
                Some(letter @ ('`' | '$')) if quote == '"' => {
                    return Err(format!("uses a shell's `{letter}`; no shell comes between"));
                }
                Some(letter) => text.push(letter),
            }
        }
    }

    /// A slot, behind its `<`.
    fn slot(&mut self) -> Result<Slot, String> {
        let mut name = String::new();
        loop {
            match self.letters.next() {
                Some('>') => break,
                Some('<') | None => return Err("has a `<` without its `>`".to_owned()),
                Some(letter) => name.push(letter),
            }
        }
        let mut slot = Slot::named(&name);
        if slot.names.is_empty() {
            return Err("has a `<>` without a name".to_owned());
        }
        slot.is_variadic |= self.is_repeated();
        Ok(slot)
    }

    /// A value that may be left out in the middle of a word, `--colour[=<when>]`, is left out: which of the two words is
    /// meant must not depend on a value.
    fn joined(&mut self, pieces: &[Piece]) -> Result<(), String> {
        let inner = self.sequence(Some(']'), DEPTH_MAX)?;
        let is_plural = matches!(&inner[..], [parts] if bare(parts) == Some("s"));
        if is_plural || pieces.is_empty() { Err("has a `[` inside of a word".to_owned()) } else { Ok(()) }
    }
}

/// The text of parts that are one literal word.
fn bare(parts: &[Part]) -> Option<&str> {
    match parts {
        [Part::Word(pieces)] => literal(pieces),
        _ => None,
    }
}

fn literal(pieces: &[Piece]) -> Option<&str> {
    match pieces {
        [Piece::Text(text)] => Some(text),
        _ => None,
    }
}

/// The same part, taking several words.
fn repeated(part: Part) -> Part {
    match part {
        Part::Word(mut pieces) => {
            if let [Piece::Slot(slot)] = &mut pieces[..] {
                slot.is_variadic = true;
            }
            Part::Word(pieces)
        }
        Part::Flag { spelling, value, is_joined } => {
            let value = value.map(|slot| Slot { is_variadic: true, ..slot });
            Part::Flag { spelling, value, is_joined }
        }
        Part::Group(parts) => Part::Group(parts.into_iter().map(repeated).collect()),
        other => other,
    }
}

/// Sees flags with their values, and in groups the slots that are written as bare words.
fn shaped(parts: Vec<Part>, is_group: bool, is_declared: &dyn Fn(&str) -> bool) -> Vec<Part> {
    let is_single = parts.len() == 1;
    let mut out: Vec<Part> = Vec::new();
    let mut parts = parts.into_iter().peekable();
    while let Some(part) = parts.next() {
        let Part::Word(mut pieces) = part else {
            out.push(part);
            continue;
        };
        if let [Piece::Text(text), Piece::Slot(slot)] = &mut pieces[..]
            && text.starts_with('-')
            && text.ends_with('=')
        {
            let spelling = text.trim_end_matches('=').to_owned();
            out.push(Part::Flag { spelling, value: Some(slot.clone()), is_joined: true });
            continue;
        }
        let Some(text) = literal(&pieces) else {
            out.push(Part::Word(pieces));
            continue;
        };
        if text.starts_with('-') && !text.trim_matches('-').is_empty() {
            let (spelling, value, is_joined) = match text.split_once('=').filter(|_| is_group) {
                Some((flag, value)) => (flag.to_owned(), Some(Slot::named(value)), true),
                None => (text.to_owned(), value_of(&mut parts, is_group), false),
            };
            out.push(match value {
                None if !is_group => Part::Word(pieces),
                value => Part::Flag { spelling, value, is_joined },
            });
            continue;
        }
        let is_slot = is_declared(text) && (is_group || text.chars().all(|letter| !letter.is_lowercase()));
        let is_slot = is_slot || (is_group && is_single);
        // The program itself is no slot.
        out.push(if is_slot && (is_group || !out.is_empty()) {
            Part::Word(vec![Piece::Slot(Slot::named(text))])
        } else {
            Part::Word(pieces)
        });
    }
    out
}

/// The slot of a flag's value, where one follows.
fn value_of(parts: &mut Peekable<std::vec::IntoIter<Part>>, is_group: bool) -> Option<Slot> {
    let Some(Part::Word(pieces)) = parts.peek() else { return None };
    let slot = match &pieces[..] {
        [Piece::Slot(slot)] => slot.clone(),
        [Piece::Text(text)] if is_group && !text.starts_with('-') => Slot::named(text),
        _ => return None,
    };
    parts.next();
    Some(slot)
}
