//! The target of a request: origin, path and query.

use crate::error::ErrorCode;
use rep_model::SkillDocument;
use rep_net::HttpOrigin;
use serde_json::Value;

use super::arguments::{self, RequestArguments};
use super::environment::RequestEnvironment;
use super::template::{self, ResolvedPart, TemplatePart, TemplateStyle};
use super::{RequestError, RequestFragment};

/// A target as far as it is known without the arguments.
pub(super) struct RequestTarget {
    pub(super) origin: HttpOrigin,
    /// The path of the base, which precedes every path.
    base: String,
    /// The path and query.
    pub(super) parts: Vec<TemplatePart>,
}

impl RequestTarget {
    /// Finds the base of an address and parses the rest.
    pub(super) fn parse(
        address: &str,
        document: &SkillDocument,
        environment: &RequestEnvironment<'_>,
        given: &RequestArguments,
    ) -> Result<Self, RequestError> {
        let parts = |text: &str| template::parse(text, TemplateStyle::Address, &|name| given.is_declared(name));
        if address.contains("://") && !address.starts_with("${") {
            let broken = |reason| {
                let remedy = "write `https://host/path`; an argument cannot be part of the host";
                RequestError::invalid_command(format!("the address `{address}` cannot be used: {reason}"), remedy)
            };
            let (origin, rest) = HttpOrigin::split_url(address).map_err(broken)?;
            return Ok(Self { origin, base: String::new(), parts: parts(rest)? });
        }
        let (base, rest) = match address.strip_prefix("${").and_then(|rest| rest.split_once('}')) {
            Some((name, rest)) => (resolve_named_base(name, environment)?, rest),
            None => (resolve_base(document, environment)?, address),
        };
        let (name, text) = base;
        let broken = |reason: String| RequestError {
            code: ErrorCode::NoBaseUrl,
            message: format!("the base address in `{name}` cannot be used: {reason}"),
            remedy: format!("set `{name}` to an address like `https://api.example.org/v1`"),
        };
        let (origin, path) = HttpOrigin::split_url(text.trim()).map_err(broken)?;
        if path.contains(['?', '#', '[']) {
            return Err(broken("it has more than a host and a path".to_owned()));
        }
        let base = path.trim_end_matches('/').to_owned();
        let slash = if rest.starts_with(['/', '?', '[']) || rest.is_empty() { "" } else { "/" };
        Ok(Self { origin, base, parts: parts(&format!("{slash}{rest}"))? })
    }
}

/// Resolves the base that a command names itself.
fn resolve_named_base(name: &str, environment: &RequestEnvironment<'_>) -> Result<(String, String), RequestError> {
    use super::environment::VariableValue;
    match environment.resolve_variable(name)? {
        VariableValue::Text(text) => Ok((name.to_owned(), text)),
        VariableValue::Secret => {
            let message = format!("`{name}` is a secret and cannot be used as a base address");
            Err(RequestError::invalid_command(
                message,
                "rename it so that it does not look like a secret, or set `secret: false`",
            ))
        }
        VariableValue::Unset => Err(missing_base_error(Some(name))),
    }
}

/// Resolves the base of a skill: its name and text.
fn resolve_base(
    document: &SkillDocument,
    environment: &RequestEnvironment<'_>,
) -> Result<(String, String), RequestError> {
    if let Some((name, text)) = environment.find_base_url() {
        return Ok((name.to_owned(), text));
    }
    match &document.sections.api.base_url {
        Some(text) => Ok(("api.base_url".to_owned(), text.to_string())),
        None => Err(missing_base_error(environment.base_url_name())),
    }
}

fn missing_base_error(name: Option<&str>) -> RequestError {
    let remedy = match name {
        Some(name) => format!("set the variable {name} to the address of the service"),
        None => "its author can declare a variable `API_URL` with a default in `environment`, or set `api.base_url`"
            .to_owned(),
    };
    RequestError { code: ErrorCode::NoBaseUrl, message: "the skill does not specify a base address".to_owned(), remedy }
}

/// Builds the path. Its segments are those that the author wrote, whatever the values are.
pub(super) fn build_path(
    target: &RequestTarget,
    given: &RequestArguments,
    environment: &RequestEnvironment<'_>,
) -> Result<String, RequestError> {
    let mut path = template::escape_author_text(&target.base);
    let parts = path_parts(&target.parts);
    // Whether the current segment contains a value.
    let mut is_valued = false;
    for flat in template::resolve_parts(&parts, given, environment)? {
        match flat {
            ResolvedPart::Text(text) => {
                let text = template::escape_author_text(&text);
                if is_valued && path.ends_with('/') && text.starts_with('/') {
                    return Err(empty_segment_error(&parts));
                }
                is_valued = is_valued && !text.contains('/');
                path.push_str(&text);
            }
            ResolvedPart::Value(text) => {
                path.push_str(&template::escape_value(&text));
                is_valued = true;
            }
            ResolvedPart::Missing(name) if name.is_empty() => {}
            ResolvedPart::Missing(name) => {
                return Err(arguments::missing_argument_error(&name));
            }
            ResolvedPart::Secret(name) => {
                let message = format!("the secret `{name}` is in the path, where every record would show it");
                return Err(RequestError::invalid_command(message, "put it into a header"));
            }
        }
    }
    if is_valued && path.ends_with('/') {
        return Err(empty_segment_error(&parts));
    }
    if path.is_empty() {
        path.push('/');
    }
    let is_dots = |segment: &str| matches!(segment.to_ascii_lowercase().replace("%2e", ".").as_str(), "." | "..");
    if path.split('/').any(is_dots) {
        let message = format!("{} would turn a path segment into `.` or `..`", join_slot_names(&parts));
        return Err(RequestError::invalid_argument(message, "give a value that is not only dots"));
    }
    Ok(path)
}

fn empty_segment_error(parts: &[TemplatePart]) -> RequestError {
    let message = format!("{} is empty, which would change the path", join_slot_names(parts));
    RequestError::invalid_argument(message, "give a value")
}

/// Returns the names of the arguments in a path, for messages.
fn join_slot_names(parts: &[TemplatePart]) -> String {
    let names: Vec<String> = template::list_slot_names(parts).map(|name| format!("`{name}`")).collect();
    if names.is_empty() {
        return "the path as it is written".to_owned();
    }
    format!("the argument {}", names.join(" or "))
}

/// Returns the parts before the `?`.
fn path_parts(parts: &[TemplatePart]) -> Vec<TemplatePart> {
    let mut path = Vec::new();
    for part in parts {
        match part {
            TemplatePart::Text(text) => match text.split_once('?') {
                Some((before, _)) => {
                    path.push(TemplatePart::Text(before.to_owned()));
                    return path;
                }
                None => path.push(part.clone()),
            },
            TemplatePart::Group(inside) if is_query_group(inside) => return path,
            _ => path.push(part.clone()),
        }
    }
    path
}

fn is_query_group(group: &[TemplatePart]) -> bool {
    matches!(group.first(), Some(TemplatePart::Text(text)) if text.starts_with(['?', '&']))
}

/// Returns the parts after the `?`.
fn query_parts(parts: &[TemplatePart]) -> Vec<TemplatePart> {
    for (index, part) in parts.iter().enumerate() {
        match part {
            TemplatePart::Text(text) => {
                if let Some((_, after)) = text.split_once('?') {
                    let first = TemplatePart::Text(after.to_owned());
                    return std::iter::once(first).chain(parts[index + 1..].iter().cloned()).collect();
                }
            }
            TemplatePart::Group(inside) if is_query_group(inside) => return parts[index..].to_vec(),
            TemplatePart::Group(_) | TemplatePart::Slot(_) | TemplatePart::Variable(_) => {}
        }
    }
    Vec::new()
}

/// Builds the query pairs that the address contains. A pair without a value is omitted.
pub(super) fn build_query(
    target: &RequestTarget,
    given: &RequestArguments,
    environment: &RequestEnvironment<'_>,
) -> Result<Vec<(String, Vec<RequestFragment>)>, RequestError> {
    let mut pairs = Vec::new();
    let mut written: Vec<Vec<PairToken>> = vec![Vec::new()];
    for part in query_parts(&target.parts) {
        let TemplatePart::Group(inside) = part else {
            split_pairs(part, &mut written);
            continue;
        };
        let is_value = matches!(inside.as_slice(), [TemplatePart::Slot(_)]);
        let is_filled = template::list_slot_names(&inside).all(|name| given.find_value(name).is_some());
        for part in inside.into_iter().filter(|_| is_value || is_filled) {
            split_pairs(part, &mut written);
        }
    }
    for pair in written.iter().filter(|pair| !pair.is_empty()) {
        pairs.extend(build_pair(pair, given, environment)?);
    }
    Ok(pairs)
}

/// A token of one pair.
enum PairToken {
    Equals,
    Part(TemplatePart),
}

/// Splits text at `&` and at the first `=` of each pair. Text from a value is never split.
fn split_pairs(part: TemplatePart, pairs: &mut Vec<Vec<PairToken>>) {
    let TemplatePart::Text(text) = part else {
        if let Some(pair) = pairs.last_mut() {
            pair.push(PairToken::Part(part));
        }
        return;
    };
    for (index, piece) in text.split(['&', '?']).enumerate() {
        if index > 0 {
            pairs.push(Vec::new());
        }
        let Some(pair) = pairs.last_mut() else { return };
        let has_equals = pair.iter().any(|written| matches!(written, PairToken::Equals));
        let (key, value) = match piece.split_once('=').filter(|_| !has_equals) {
            Some((key, value)) => (key, Some(value)),
            None => (piece, None),
        };
        let mut push = |text: &str| {
            if !text.is_empty() {
                pair.push(PairToken::Part(TemplatePart::Text(text.to_owned())));
            }
        };
        push(key);
        if let Some(value) = value {
            pair.push(PairToken::Equals);
            if !value.is_empty() {
                pair.push(PairToken::Part(TemplatePart::Text(value.to_owned())));
            }
        }
    }
}

fn build_pair(
    pair: &[PairToken],
    given: &RequestArguments,
    environment: &RequestEnvironment<'_>,
) -> Result<Vec<(String, Vec<RequestFragment>)>, RequestError> {
    let equals = pair.iter().position(|written| matches!(written, PairToken::Equals));
    let (key, value) = pair.split_at(equals.unwrap_or(pair.len()));
    let mut name = String::new();
    for written in key {
        let PairToken::Part(TemplatePart::Text(text)) = written else {
            let message = "the name of a query parameter cannot contain a placeholder";
            return Err(RequestError::invalid_command(message, "write `name=<argument>`"));
        };
        name.push_str(&template::escape_author_text(text));
    }
    let parts: Vec<TemplatePart> = value
        .iter()
        .filter_map(|written| match written {
            PairToken::Part(part) => Some(part.clone()),
            PairToken::Equals => None,
        })
        .collect();
    if equals.is_none() {
        return Ok(vec![(name, Vec::new())]);
    }
    if let [TemplatePart::Slot(slot)] = parts.as_slice() {
        return match given.find_value(slot) {
            None => Ok(Vec::new()),
            Some(value) => {
                Ok(build_argument_pairs(slot, value)?.into_iter().map(|(_, pieces)| (name.clone(), pieces)).collect())
            }
        };
    }
    let flat = template::resolve_parts(&parts, given, environment)?;
    if flat.is_empty() {
        return Ok(vec![(name, vec![RequestFragment::Text(String::new())])]);
    }
    Ok(escape_fragments(&flat).map(|pieces| (name, pieces)).into_iter().collect())
}

/// Returns the fragments of a pair's value; `None` if a placeholder has no value.
pub(super) fn escape_fragments(flat: &[ResolvedPart]) -> Option<Vec<RequestFragment>> {
    flat.iter()
        .map(|flat| match flat {
            ResolvedPart::Text(text) => {
                Some(RequestFragment::Text(template::escape_author_text(text).replace('&', "%26")))
            }
            ResolvedPart::Value(text) => Some(RequestFragment::Text(template::escape_value(text))),
            ResolvedPart::Secret(name) => Some(RequestFragment::Secret(name.clone())),
            ResolvedPart::Missing(_) => None,
        })
        .collect()
}

/// Converts an argument to pairs: one per list item, otherwise a single one.
pub(super) fn build_argument_pairs(
    name: &str,
    value: &Value,
) -> Result<Vec<(String, Vec<RequestFragment>)>, RequestError> {
    let one = |value: &Value| -> Result<(String, Vec<RequestFragment>), RequestError> {
        let text = template::escape_value(&arguments::value_to_text(name, value)?);
        Ok((template::escape_value(name), vec![RequestFragment::Text(text)]))
    };
    match value {
        Value::Array(items) => items.iter().map(one).collect(),
        value => Ok(vec![one(value)?]),
    }
}
