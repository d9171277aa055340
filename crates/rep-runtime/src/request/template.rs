//! Texts with places for arguments and variables.

use super::RequestError;
use super::arguments::{self, Arguments};
use super::environment::{Environment, Variable};

/// The longest template.
const TEMPLATE_BYTES_MAX: usize = 16 << 10;

/// A part of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Text that stands for itself.
    Text(String),
    /// A place for an argument.
    Slot(String),
    /// A variable of the environment.
    Variable(String),
    /// What vanishes where an argument in it is not given.
    Group(Vec<Part>),
}

/// How a template is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// An address: every slot is one, and brackets are groups.
    Address,
    /// A header or a pair: `<name>` and `{name}`, where there is such an argument.
    Text,
    /// A text of a body: `<name>` alone, as braces are common there.
    Body,
}

/// A part with its value put in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Flat {
    /// The author's text.
    Text(String),
    /// What the caller or the environment gave.
    Value(String),
    /// A secret, by name.
    Secret(String),
    /// A place for which nothing was given: its name.
    Gap(String),
}

/// Takes a template apart. `is_argument` knows the declared arguments.
pub(super) fn parse(text: &str, style: Style, is_argument: &dyn Fn(&str) -> bool) -> Result<Vec<Part>, RequestError> {
    if text.len() > TEMPLATE_BYTES_MAX {
        let message = format!("a template is longer than {} KiB", TEMPLATE_BYTES_MAX >> 10);
        return Err(RequestError::command(message, "shorten it"));
    }
    let mut parts: Vec<Part> = Vec::new();
    let mut outside: Option<Vec<Part>> = None;
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let is_address = style == Style::Address;
        if let Some((part, length)) = slot(rest, style, is_argument) {
            parts.push(part);
            rest = &rest[length..];
        } else if let Some(name) = segment(rest, &parts, is_argument).filter(|_| is_address) {
            parts.push(Part::Slot(name.to_owned()));
            rest = &rest[1 + name.len()..];
        } else if is_address && next == '[' && !is_key(rest, &parts) {
            if outside.is_some() {
                return Err(brackets(text));
            }
            if let Some(name) = word_in(rest, '[', ']') {
                parts.push(Part::Group(vec![Part::Slot(name.to_owned())]));
                rest = &rest[name.len() + 2..];
            } else {
                outside = Some(std::mem::take(&mut parts));
                rest = &rest[1..];
            }
        } else if is_address && next == ']' && outside.is_some() {
            let group = std::mem::replace(&mut parts, outside.take().unwrap_or_default());
            parts.push(Part::Group(group));
            rest = &rest[1..];
        } else {
            match parts.last_mut() {
                Some(Part::Text(text)) => text.push(next),
                _ => parts.push(Part::Text(next.to_string())),
            }
            rest = &rest[next.len_utf8()..];
        }
    }
    if outside.is_some() { Err(brackets(text)) } else { Ok(parts) }
}

fn brackets(text: &str) -> RequestError {
    let message = format!("the brackets in `{text}` do not pair, or stand in each other");
    RequestError::command(message, "put each optional part in brackets of its own")
}

/// The slot or variable a text starts with, and its length.
fn slot(rest: &str, style: Style, is_argument: &dyn Fn(&str) -> bool) -> Option<(Part, usize)> {
    if let Some(name) = rest.strip_prefix('$').and_then(|rest| word_in(rest, '{', '}')) {
        return Some((Part::Variable(name.to_owned()), name.len() + 3));
    }
    let braced = || word_in(rest, '{', '}').filter(|_| style != Style::Body);
    let name = word_in(rest, '<', '>').or_else(braced)?;
    (style == Style::Address || is_argument(name)).then(|| (Part::Slot(name.to_owned()), name.len() + 2))
}

/// The word between two marks a text starts with.
fn word_in(text: &str, open: char, close: char) -> Option<&str> {
    let (word, _) = text.strip_prefix(open)?.split_once(close)?;
    let is_word = |character: char| character.is_alphanumeric() || "_-.".contains(character);
    (!word.is_empty() && word.chars().all(is_word)).then_some(word)
}

/// The argument of `/:name`.
fn segment<'a>(rest: &'a str, before: &[Part], is_argument: &dyn Fn(&str) -> bool) -> Option<&'a str> {
    let is_start = matches!(before.last(), Some(Part::Text(text)) if text.ends_with('/'));
    let after = rest.strip_prefix(':').filter(|_| is_start)?;
    let end = after.find(|character: char| !character.is_alphanumeric() && character != '_').unwrap_or(after.len());
    Some(&after[..end]).filter(|name| is_argument(name))
}

/// Whether brackets belong to the key of a pair: `filter[state]=open`, `ids[]=1`.
fn is_key(rest: &str, before: &[Part]) -> bool {
    let goes_on = |character: char| character.is_alphanumeric() || "_]".contains(character);
    let follows = matches!(before.last(), Some(Part::Text(text)) if text.chars().next_back().is_some_and(goes_on));
    follows && (rest.starts_with("[]") || word_in(rest, '[', ']').is_some())
}

/// The names of all slots.
pub(super) fn slots(parts: &[Part]) -> impl Iterator<Item = &str> {
    parts.iter().flat_map(|part| match part {
        Part::Slot(name) => vec![name.as_str()],
        // Groups do not stand in groups.
        Part::Group(inside) => inside.iter().filter_map(slot_name).collect(),
        Part::Text(_) | Part::Variable(_) => Vec::new(),
    })
}

fn slot_name(part: &Part) -> Option<&str> {
    match part {
        Part::Slot(name) => Some(name),
        Part::Text(_) | Part::Variable(_) | Part::Group(_) => None,
    }
}

/// Puts values in.
pub(super) fn flat(
    parts: &[Part],
    given: &Arguments,
    environment: &Environment<'_>,
) -> Result<Vec<Flat>, RequestError> {
    let mut out = Vec::new();
    for part in parts {
        match part {
            Part::Group(inside) => {
                let is_filled = inside.iter().filter_map(slot_name).all(|name| given.value(name).is_some());
                match inside.as_slice() {
                    // `limit=[limit]` leaves a gap, so that the pair it stands in vanishes.
                    [Part::Slot(name)] if !is_filled => out.push(Flat::Gap(name.clone())),
                    _ if !is_filled => {}
                    inside => {
                        for part in inside {
                            out.push(one(part, given, environment)?);
                        }
                    }
                }
            }
            part => out.push(one(part, given, environment)?),
        }
    }
    Ok(out)
}

fn one(part: &Part, given: &Arguments, environment: &Environment<'_>) -> Result<Flat, RequestError> {
    Ok(match part {
        Part::Text(text) => Flat::Text(text.clone()),
        Part::Slot(name) => match given.value(name) {
            Some(value) => Flat::Value(arguments::text(name, value)?),
            None => Flat::Gap(name.clone()),
        },
        Part::Variable(name) => match environment.variable(name)? {
            Variable::Text(text) => Flat::Value(text),
            Variable::Secret => Flat::Secret(name.clone()),
            Variable::Unset => Flat::Gap(name.clone()),
        },
        Part::Group(_) => Flat::Gap(String::new()),
    })
}

/// A value with everything escaped that could mean something in an address.
pub(super) fn escaped(text: &str) -> String {
    escaped_but(text, b"")
}

/// The author's own text in an address: what may stand there stays, escapes included.
pub(super) fn escaped_author(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        let (before, after) = rest.split_at(at);
        out.push_str(&escaped_but(before, AUTHOR_KEPT));
        let is_escape = after.as_bytes().get(1..3).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        out.push_str(if is_escape { "%" } else { "%25" });
        rest = &after[1..];
    }
    out + &escaped_but(rest, AUTHOR_KEPT)
}

/// What RFC 3986 lets stand in a path or a query besides letters and digits. Brackets are common in keys, and harmless.
const AUTHOR_KEPT: &[u8] = b"!$&'()*+,;=:@/?[]";

fn escaped_but(text: &str, kept: &[u8]) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) || kept.contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}
