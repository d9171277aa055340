//! Where a request goes: origin, path and query.

use crate::error::ErrorCode;
use rep_model::Document;
use rep_net::Origin;
use serde_json::Value;

use super::arguments::{self, Arguments};
use super::environment::Environment;
use super::template::{self, Flat, Part, Style};
use super::{Piece, RequestError};

/// An address as far as it is known without the arguments.
pub(super) struct Target {
    pub(super) origin: Origin,
    /// The path of the base, which every path follows.
    base: String,
    /// Path and query.
    pub(super) parts: Vec<Part>,
}

impl Target {
    /// Finds the base of an address, and takes the rest apart.
    pub(super) fn read(
        address: &str,
        document: &Document,
        environment: &Environment<'_>,
        given: &Arguments,
    ) -> Result<Self, RequestError> {
        let parts = |text: &str| template::parse(text, Style::Address, &|name| given.has(name));
        if address.contains("://") && !address.starts_with("${") {
            let broken = |reason| {
                let remedy = "write `https://host/path`; an argument cannot stand in the host";
                RequestError::command(format!("the address `{address}` cannot be used: {reason}"), remedy)
            };
            let (origin, rest) = Origin::split(address).map_err(broken)?;
            return Ok(Self { origin, base: String::new(), parts: parts(rest)? });
        }
        let (base, rest) = match address.strip_prefix("${").and_then(|rest| rest.split_once('}')) {
            Some((name, rest)) => (named(name, environment)?, rest),
            None => (base(document, environment)?, address),
        };
        let (name, text) = base;
        let broken = |reason: String| RequestError {
            code: ErrorCode::NoBaseUrl,
            message: format!("the base address in `{name}` cannot be used: {reason}"),
            remedy: format!("set `{name}` to an address like `https://api.example.org/v1`"),
        };
        let (origin, path) = Origin::split(text.trim()).map_err(broken)?;
        if path.contains(['?', '#', '[']) {
            return Err(broken("it has more than a host and a path".to_owned()));
        }
        let base = path.trim_end_matches('/').to_owned();
        let slash = if rest.starts_with(['/', '?', '[']) || rest.is_empty() { "" } else { "/" };
        Ok(Self { origin, base, parts: parts(&format!("{slash}{rest}"))? })
    }
}

/// The base a command names itself.
fn named(name: &str, environment: &Environment<'_>) -> Result<(String, String), RequestError> {
    use super::environment::Variable;
    match environment.variable(name)? {
        Variable::Text(text) => Ok((name.to_owned(), text)),
        Variable::Secret => {
            let message = format!("`{name}` is a secret, and cannot say where a request goes");
            Err(RequestError::command(
                message,
                "call it something that is no word for a secret, or say `secret: false`",
            ))
        }
        Variable::Unset => Err(without_base(Some(name))),
    }
}

/// The base of a skill: name and text.
fn base(document: &Document, environment: &Environment<'_>) -> Result<(String, String), RequestError> {
    if let Some((name, text)) = environment.base() {
        return Ok((name.to_owned(), text));
    }
    match &document.sections.api.base_url {
        Some(text) => Ok(("api.base_url".to_owned(), text.to_string())),
        None => Err(without_base(environment.base_name())),
    }
}

fn without_base(name: Option<&str>) -> RequestError {
    let remedy = match name {
        Some(name) => format!("set the variable {name} to the address of the service"),
        None => "its author can give `environment` a variable `API_URL` with a default, or the skill an `api.base_url`"
            .to_owned(),
    };
    RequestError { code: ErrorCode::NoBaseUrl, message: "nothing says where the service is".to_owned(), remedy }
}

/// The path. Its segments are those the author wrote, whatever the values are.
pub(super) fn path(target: &Target, given: &Arguments, environment: &Environment<'_>) -> Result<String, RequestError> {
    let mut path = template::escaped_author(&target.base);
    let parts = before_query(&target.parts);
    // Whether a value stands in the segment that is being written.
    let mut is_valued = false;
    for flat in template::flat(&parts, given, environment)? {
        match flat {
            Flat::Text(text) => {
                let text = template::escaped_author(&text);
                if is_valued && path.ends_with('/') && text.starts_with('/') {
                    return Err(empty_segment(&parts));
                }
                is_valued = is_valued && !text.contains('/');
                path.push_str(&text);
            }
            Flat::Value(text) => {
                path.push_str(&template::escaped(&text));
                is_valued = true;
            }
            Flat::Gap(name) if name.is_empty() => {}
            Flat::Gap(name) => {
                return Err(arguments::missing(&name));
            }
            Flat::Secret(name) => {
                let message = format!("the secret `{name}` stands in the path, where every record would show it");
                return Err(RequestError::command(message, "put it into a header"));
            }
        }
    }
    if is_valued && path.ends_with('/') {
        return Err(empty_segment(&parts));
    }
    if path.is_empty() {
        path.push('/');
    }
    let is_dots = |segment: &str| matches!(segment.to_ascii_lowercase().replace("%2e", ".").as_str(), "." | "..");
    if path.split('/').any(is_dots) {
        let message =
            format!("{} would make a segment of the path `.` or `..`, which leads elsewhere", named_in(&parts));
        return Err(RequestError::argument(message, "give a value that is not only dots"));
    }
    Ok(path)
}

fn empty_segment(parts: &[Part]) -> RequestError {
    let message = format!("{} is empty, and the path would be another one", named_in(parts));
    RequestError::argument(message, "give a value")
}

/// The arguments that stand in a path, as a message names them.
fn named_in(parts: &[Part]) -> String {
    let names: Vec<String> = template::slots(parts).map(|name| format!("`{name}`")).collect();
    if names.is_empty() {
        return "the path as it is written".to_owned();
    }
    format!("the argument {}", names.join(" or "))
}

/// The parts before the `?`.
fn before_query(parts: &[Part]) -> Vec<Part> {
    let mut path = Vec::new();
    for part in parts {
        match part {
            Part::Text(text) => match text.split_once('?') {
                Some((before, _)) => {
                    path.push(Part::Text(before.to_owned()));
                    return path;
                }
                None => path.push(part.clone()),
            },
            Part::Group(inside) if is_query(inside) => return path,
            _ => path.push(part.clone()),
        }
    }
    path
}

fn is_query(group: &[Part]) -> bool {
    matches!(group.first(), Some(Part::Text(text)) if text.starts_with(['?', '&']))
}

/// The parts after the `?`.
fn after_path(parts: &[Part]) -> Vec<Part> {
    for (index, part) in parts.iter().enumerate() {
        match part {
            Part::Text(text) => {
                if let Some((_, after)) = text.split_once('?') {
                    let first = Part::Text(after.to_owned());
                    return std::iter::once(first).chain(parts[index + 1..].iter().cloned()).collect();
                }
            }
            Part::Group(inside) if is_query(inside) => return parts[index..].to_vec(),
            Part::Group(_) | Part::Slot(_) | Part::Variable(_) => {}
        }
    }
    Vec::new()
}

/// The pairs that are written in the address. One whose value is not given vanishes.
pub(super) fn query(
    target: &Target,
    given: &Arguments,
    environment: &Environment<'_>,
) -> Result<Vec<(String, Vec<Piece>)>, RequestError> {
    let mut pairs = Vec::new();
    let mut written: Vec<Vec<Written>> = vec![Vec::new()];
    for part in after_path(&target.parts) {
        let Part::Group(inside) = part else {
            split(part, &mut written);
            continue;
        };
        let is_value = matches!(inside.as_slice(), [Part::Slot(_)]);
        let is_filled = template::slots(&inside).all(|name| given.value(name).is_some());
        for part in inside.into_iter().filter(|_| is_value || is_filled) {
            split(part, &mut written);
        }
    }
    for pair in written.iter().filter(|pair| !pair.is_empty()) {
        pairs.extend(one_pair(pair, given, environment)?);
    }
    Ok(pairs)
}

/// A part of one pair.
enum Written {
    Equals,
    Part(Part),
}

/// Cuts text at `&` and at the first `=` of each pair. What comes from a value is never cut.
fn split(part: Part, pairs: &mut Vec<Vec<Written>>) {
    let Part::Text(text) = part else {
        if let Some(pair) = pairs.last_mut() {
            pair.push(Written::Part(part));
        }
        return;
    };
    for (index, piece) in text.split(['&', '?']).enumerate() {
        if index > 0 {
            pairs.push(Vec::new());
        }
        let Some(pair) = pairs.last_mut() else { return };
        let has_equals = pair.iter().any(|written| matches!(written, Written::Equals));
        let (key, value) = match piece.split_once('=').filter(|_| !has_equals) {
            Some((key, value)) => (key, Some(value)),
            None => (piece, None),
        };
        let mut push = |text: &str| {
            if !text.is_empty() {
                pair.push(Written::Part(Part::Text(text.to_owned())));
            }
        };
        push(key);
        if let Some(value) = value {
            pair.push(Written::Equals);
            if !value.is_empty() {
                pair.push(Written::Part(Part::Text(value.to_owned())));
            }
        }
    }
}

fn one_pair(
    pair: &[Written],
    given: &Arguments,
    environment: &Environment<'_>,
) -> Result<Vec<(String, Vec<Piece>)>, RequestError> {
    let equals = pair.iter().position(|written| matches!(written, Written::Equals));
    let (key, value) = pair.split_at(equals.unwrap_or(pair.len()));
    let mut name = String::new();
    for written in key {
        let Written::Part(Part::Text(text)) = written else {
            let message = "the name of a pair of the query is no place for a value";
            return Err(RequestError::command(message, "write `name=<argument>`"));
        };
        name.push_str(&template::escaped_author(text));
    }
    let parts: Vec<Part> = value
        .iter()
        .filter_map(|written| match written {
            Written::Part(part) => Some(part.clone()),
            Written::Equals => None,
        })
        .collect();
    if equals.is_none() {
        return Ok(vec![(name, Vec::new())]);
    }
    if let [Part::Slot(slot)] = parts.as_slice() {
        return match given.value(slot) {
            None => Ok(Vec::new()),
            Some(value) => Ok(pairs(slot, value)?.into_iter().map(|(_, pieces)| (name.clone(), pieces)).collect()),
        };
    }
    let flat = template::flat(&parts, given, environment)?;
    if flat.is_empty() {
        return Ok(vec![(name, vec![Piece::Text(String::new())])]);
    }
    Ok(escaped_pieces(&flat).map(|pieces| (name, pieces)).into_iter().collect())
}

/// The pieces of a pair's value; none where there is a gap.
pub(super) fn escaped_pieces(flat: &[Flat]) -> Option<Vec<Piece>> {
    flat.iter()
        .map(|flat| match flat {
            Flat::Text(text) => Some(Piece::Text(template::escaped_author(text).replace('&', "%26"))),
            Flat::Value(text) => Some(Piece::Text(template::escaped(text))),
            Flat::Secret(name) => Some(Piece::Secret(name.clone())),
            Flat::Gap(_) => None,
        })
        .collect()
}

/// An argument as pairs: one for each item of a list, else one.
pub(super) fn pairs(name: &str, value: &Value) -> Result<Vec<(String, Vec<Piece>)>, RequestError> {
    let one = |value: &Value| -> Result<(String, Vec<Piece>), RequestError> {
        let text = template::escaped(&arguments::text(name, value)?);
        Ok((template::escaped(name), vec![Piece::Text(text)]))
    };
    match value {
        Value::Array(items) => items.iter().map(one).collect(),
        value => Ok(vec![one(value)?]),
    }
}
