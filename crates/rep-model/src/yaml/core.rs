//! Typing by the YAML 1.2 core schema, as the Universal and x-personal-mcp dialects read scalars.

use serde_json::{Map, Number, Value as Json};

use super::{Node, Style, Value};

/// What a plain scalar is.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar {
    /// `null`, `~` or nothing at all.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i128),
    /// Any other number.
    Float(f64),
    /// Everything else, and everything quoted.
    Text,
}

/// Types a scalar; `None` for lists and mappings.
pub fn scalar(node: &Node) -> Option<Scalar> {
    let Value::Scalar { text, style } = &node.value else { return None };
    if let Some(tag) = &node.tag {
        return Some(match tag.strip_prefix("tag:yaml.org,2002:") {
            Some("null") => Scalar::Null,
            Some("bool" | "int" | "float") => plain(text),
            _ => Scalar::Text,
        });
    }
    Some(if *style == Style::Plain { plain(text) } else { Scalar::Text })
}

fn plain(text: &str) -> Scalar {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Scalar::Null,
        "true" | "True" | "TRUE" => return Scalar::Bool(true),
        "false" | "False" | "FALSE" => return Scalar::Bool(false),
        ".nan" | ".NaN" | ".NAN" => return Scalar::Float(f64::NAN),
        _ => {}
    }
    let first = text.as_bytes()[0];
    if !(first.is_ascii_digit() || matches!(first, b'+' | b'-' | b'.')) {
        return Scalar::Text;
    }
    number(text).unwrap_or(Scalar::Text)
}

fn number(text: &str) -> Option<Scalar> {
    if let Some(digits) = text.strip_prefix("0o") {
        return i128::from_str_radix(digits, 8).ok().filter(|_| !digits.starts_with(['+', '-'])).map(Scalar::Int);
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return i128::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with(['+', '-'])).map(Scalar::Int);
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
        return Some(Scalar::Float(if text.starts_with('-') { f64::NEG_INFINITY } else { f64::INFINITY }));
    }
    if !unsigned.is_empty() && unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(text.parse().map_or_else(|_| Scalar::Float(text.parse().unwrap_or(f64::INFINITY)), Scalar::Int));
    }
    let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
        Some(at) => (&unsigned[..at], Some(&unsigned[at + 1..])),
        None => (unsigned, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let is_mantissa = digits(whole) && digits(fraction) && !(whole.is_empty() && fraction.is_empty());
    let is_exponent = exponent.is_none_or(|part| {
        let part = part.strip_prefix(['+', '-']).unwrap_or(part);
        !part.is_empty() && digits(part)
    });
    (is_mantissa && is_exponent).then(|| text.parse().ok().map(Scalar::Float)).flatten()
}

/// The value as JSON. Numbers JSON cannot hold become text; keys that are not scalars are left out.
pub fn json(node: &Node) -> Json {
    match &node.value {
        Value::Sequence { items, .. } => Json::Array(items.iter().map(json).collect()),
        Value::Mapping { entries, .. } => {
            let mut map = Map::new();
            for entry in entries {
                if let Some(key) = entry.key.text() {
                    map.insert(key.to_owned(), json(&entry.value));
                }
            }
            Json::Object(map)
        }
        Value::Scalar { text, .. } => match scalar(node) {
            Some(Scalar::Null) => Json::Null,
            Some(Scalar::Bool(value)) => Json::Bool(value),
            Some(Scalar::Int(value)) => {
                Number::from_i128(value).map_or_else(|| Json::String(text.clone()), Json::Number)
            }
            Some(Scalar::Float(value)) => {
                Number::from_f64(value).map_or_else(|| Json::String(text.clone()), Json::Number)
            }
            Some(Scalar::Text) | None => Json::String(text.clone()),
        },
    }
}
