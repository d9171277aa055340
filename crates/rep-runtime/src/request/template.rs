//! Templates with placeholders for arguments and variables.

use super::RequestError;
use super::arguments::{self, RequestArguments};
use super::environment::{RequestEnvironment, VariableValue};

/// The maximum length of a template.
const TEMPLATE_BYTES_MAX: usize = 16 << 10;

/// A part of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TemplatePart {
    /// Literal text.
    Text(String),
    /// A placeholder for an argument.
    Slot(String),
    /// A variable of the environment.
    Variable(String),
    /// A group that is omitted if one of its arguments is not given.
    Group(Vec<TemplatePart>),
}

/// The syntax of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TemplateStyle {
    /// An address: every slot is a placeholder, and brackets are groups.
    Address,
    /// A header or pair: `<name>` and `{name}`, if an argument has that name.
    Text,
    /// A text in a body: only `<name>`, because braces are common there.
    Body,
}

/// A part with its value inserted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ResolvedPart {
    /// The author's text.
    Text(String),
    /// A value from the caller or the environment.
    Value(String),
    /// A secret, by name.
    Secret(String),
    /// A placeholder without a value: its name.
    Missing(String),
}

/// Parses a template. `is_argument` returns whether a name is a declared argument.
pub(super) fn parse(
    text: &str,
    style: TemplateStyle,
    is_argument: &dyn Fn(&str) -> bool,
) -> Result<Vec<TemplatePart>, RequestError> {
    if text.len() > TEMPLATE_BYTES_MAX {
        let message = format!("a template is longer than {} KiB", TEMPLATE_BYTES_MAX >> 10);
        return Err(RequestError::invalid_command(message, "shorten it"));
    }
    let mut parts: Vec<TemplatePart> = Vec::new();
    let mut outside: Option<Vec<TemplatePart>> = None;
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let is_address = style == TemplateStyle::Address;
        if let Some((part, length)) = parse_slot(rest, style, is_argument) {
            parts.push(part);
            rest = &rest[length..];
        } else if let Some(name) = parse_segment_slot(rest, &parts, is_argument).filter(|_| is_address) {
            parts.push(TemplatePart::Slot(name.to_owned()));
            rest = &rest[1 + name.len()..];
        } else if is_address && next == '[' && !is_query_key_bracket(rest, &parts) {
            if outside.is_some() {
                return Err(bracket_error(text));
            }
            if let Some(name) = word_between(rest, '[', ']') {
                parts.push(TemplatePart::Group(vec![TemplatePart::Slot(name.to_owned())]));
                rest = &rest[name.len() + 2..];
            } else {
                outside = Some(std::mem::take(&mut parts));
                rest = &rest[1..];
            }
        } else if is_address && next == ']' && outside.is_some() {
            let group = std::mem::replace(&mut parts, outside.take().unwrap_or_default());
            parts.push(TemplatePart::Group(group));
            rest = &rest[1..];
        } else {
            match parts.last_mut() {
                Some(TemplatePart::Text(text)) => text.push(next),
                _ => parts.push(TemplatePart::Text(next.to_string())),
            }
            rest = &rest[next.len_utf8()..];
        }
    }
    if outside.is_some() { Err(bracket_error(text)) } else { Ok(parts) }
}

fn bracket_error(text: &str) -> RequestError {
    let message = format!("the brackets in `{text}` are unbalanced or nested");
    RequestError::invalid_command(message, "put each optional part in separate brackets")
}

/// Parses the slot or variable at the start of a text, and returns its length.
fn parse_slot(rest: &str, style: TemplateStyle, is_argument: &dyn Fn(&str) -> bool) -> Option<(TemplatePart, usize)> {
    if let Some(name) = rest.strip_prefix('$').and_then(|rest| word_between(rest, '{', '}')) {
        return Some((TemplatePart::Variable(name.to_owned()), name.len() + 3));
    }
    let braced = || word_between(rest, '{', '}').filter(|_| style != TemplateStyle::Body);
    let name = word_between(rest, '<', '>').or_else(braced)?;
    (style == TemplateStyle::Address || is_argument(name))
        .then(|| (TemplatePart::Slot(name.to_owned()), name.len() + 2))
}

/// Returns the word between two marks at the start of a text.
fn word_between(text: &str, open: char, close: char) -> Option<&str> {
    let (word, _) = text.strip_prefix(open)?.split_once(close)?;
    let is_word = |character: char| character.is_alphanumeric() || "_-.".contains(character);
    (!word.is_empty() && word.chars().all(is_word)).then_some(word)
}

/// Parses the argument of `/:name`.
fn parse_segment_slot<'a>(
    rest: &'a str,
    before: &[TemplatePart],
    is_argument: &dyn Fn(&str) -> bool,
) -> Option<&'a str> {
    let is_start = matches!(before.last(), Some(TemplatePart::Text(text)) if text.ends_with('/'));
    let after = rest.strip_prefix(':').filter(|_| is_start)?;
    let end = after.find(|character: char| !character.is_alphanumeric() && character != '_').unwrap_or(after.len());
    Some(&after[..end]).filter(|name| is_argument(name))
}

/// Returns whether brackets belong to the key of a pair: `filter[state]=open`, `ids[]=1`.
fn is_query_key_bracket(rest: &str, before: &[TemplatePart]) -> bool {
    let goes_on = |character: char| character.is_alphanumeric() || "_]".contains(character);
    let follows =
        matches!(before.last(), Some(TemplatePart::Text(text)) if text.chars().next_back().is_some_and(goes_on));
    follows && (rest.starts_with("[]") || word_between(rest, '[', ']').is_some())
}

/// Lists the names of all slots.
pub(super) fn list_slot_names(parts: &[TemplatePart]) -> impl Iterator<Item = &str> {
    parts.iter().flat_map(|part| match part {
        TemplatePart::Slot(name) => vec![name.as_str()],
        // Groups are not nested.
        TemplatePart::Group(inside) => inside.iter().filter_map(slot_name).collect(),
        TemplatePart::Text(_) | TemplatePart::Variable(_) => Vec::new(),
    })
}

fn slot_name(part: &TemplatePart) -> Option<&str> {
    match part {
        TemplatePart::Slot(name) => Some(name),
        TemplatePart::Text(_) | TemplatePart::Variable(_) | TemplatePart::Group(_) => None,
    }
}

/// Inserts the values.
pub(super) fn resolve_parts(
    parts: &[TemplatePart],
    given: &RequestArguments,
    environment: &RequestEnvironment<'_>,
) -> Result<Vec<ResolvedPart>, RequestError> {
    let mut out = Vec::new();
    for part in parts {
        match part {
            TemplatePart::Group(inside) => {
                let is_filled = inside.iter().filter_map(slot_name).all(|name| given.find_value(name).is_some());
                match inside.as_slice() {
                    // `limit=[limit]` leaves a gap, so that its whole pair is omitted.
                    [TemplatePart::Slot(name)] if !is_filled => out.push(ResolvedPart::Missing(name.clone())),
                    _ if !is_filled => {}
                    inside => {
                        for part in inside {
                            out.push(resolve_part(part, given, environment)?);
                        }
                    }
                }
            }
            part => out.push(resolve_part(part, given, environment)?),
        }
    }
    Ok(out)
}

fn resolve_part(
    part: &TemplatePart,
    given: &RequestArguments,
    environment: &RequestEnvironment<'_>,
) -> Result<ResolvedPart, RequestError> {
    Ok(match part {
        TemplatePart::Text(text) => ResolvedPart::Text(text.clone()),
        TemplatePart::Slot(name) => match given.find_value(name) {
            Some(value) => ResolvedPart::Value(arguments::value_to_text(name, value)?),
            None => ResolvedPart::Missing(name.clone()),
        },
        TemplatePart::Variable(name) => match environment.resolve_variable(name)? {
            VariableValue::Text(text) => ResolvedPart::Value(text),
            VariableValue::Secret => ResolvedPart::Secret(name.clone()),
            VariableValue::Unset => ResolvedPart::Missing(name.clone()),
        },
        TemplatePart::Group(_) => ResolvedPart::Missing(String::new()),
    })
}

/// Escapes every character of a value that has a meaning in an address.
pub(super) fn escape_value(text: &str) -> String {
    percent_encode_except(text, b"")
}

/// Escapes the author's text in an address: allowed characters and existing escapes are preserved.
pub(super) fn escape_author_text(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        let (before, after) = rest.split_at(at);
        out.push_str(&percent_encode_except(before, AUTHOR_UNESCAPED));
        let is_escape = after.as_bytes().get(1..3).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        out.push_str(if is_escape { "%" } else { "%25" });
        rest = &after[1..];
    }
    out + &percent_encode_except(rest, AUTHOR_UNESCAPED)
}

/// The characters that RFC 3986 allows in a path or query besides letters and digits. Brackets are common in
/// keys and harmless.
const AUTHOR_UNESCAPED: &[u8] = b"!$&'()*+,;=:@/?[]";

fn percent_encode_except(text: &str, kept: &[u8]) -> String {
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
