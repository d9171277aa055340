//! Typing by the YAML 1.2 core schema, which the Universal and x-personal-mcp dialects use.

use serde_json::{Map, Number, Value as Json};

use super::{YamlNode, YamlScalarStyle, YamlValue};

/// The type of a plain scalar.
#[derive(Clone, Debug, PartialEq)]
pub enum CoreScalar {
    /// `null`, `~` or an empty value.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer.
    Int(i128),
    /// Any other number.
    Float(f64),
    /// Everything else, including all quoted scalars.
    Text,
}

/// Classifies a scalar. Returns `None` for lists and mappings.
pub fn classify_scalar(node: &YamlNode) -> Option<CoreScalar> {
    let YamlValue::Scalar { text, style } = &node.value else { return None };
    if let Some(tag) = &node.tag {
        return Some(match tag.strip_prefix("tag:yaml.org,2002:") {
            Some("null") => CoreScalar::Null,
            Some("bool" | "int" | "float") => classify_plain(text),
            _ => CoreScalar::Text,
        });
    }
    Some(if *style == YamlScalarStyle::Plain { classify_plain(text) } else { CoreScalar::Text })
}

fn classify_plain(text: &str) -> CoreScalar {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return CoreScalar::Null,
        "true" | "True" | "TRUE" => return CoreScalar::Bool(true),
        "false" | "False" | "FALSE" => return CoreScalar::Bool(false),
        ".nan" | ".NaN" | ".NAN" => return CoreScalar::Float(f64::NAN),
        _ => {}
    }
    let first = text.as_bytes()[0];
    if !(first.is_ascii_digit() || matches!(first, b'+' | b'-' | b'.')) {
        return CoreScalar::Text;
    }
    parse_number(text).unwrap_or(CoreScalar::Text)
}

fn parse_number(text: &str) -> Option<CoreScalar> {
    if let Some(digits) = text.strip_prefix("0o") {
        return i128::from_str_radix(digits, 8).ok().filter(|_| !digits.starts_with(['+', '-'])).map(CoreScalar::Int);
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return i128::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with(['+', '-'])).map(CoreScalar::Int);
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
        return Some(CoreScalar::Float(if text.starts_with('-') { f64::NEG_INFINITY } else { f64::INFINITY }));
    }
    if !unsigned.is_empty() && unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(
            text.parse().map_or_else(|_| CoreScalar::Float(text.parse().unwrap_or(f64::INFINITY)), CoreScalar::Int),
        );
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
    (is_mantissa && is_exponent).then(|| text.parse().ok().map(CoreScalar::Float)).flatten()
}

/// Converts the value to JSON. Numbers that JSON cannot represent become text; keys that are not scalars are omitted.
pub fn to_json(node: &YamlNode) -> Json {
    match &node.value {
        YamlValue::Sequence { items, .. } => Json::Array(items.iter().map(to_json).collect()),
        YamlValue::Mapping { entries, .. } => {
            let mut map = Map::new();
            for entry in entries {
                if let Some(key) = entry.key.text() {
                    map.insert(key.to_owned(), to_json(&entry.value));
                }
            }
            Json::Object(map)
        }
        YamlValue::Scalar { text, .. } => match classify_scalar(node) {
            Some(CoreScalar::Null) => Json::Null,
            Some(CoreScalar::Bool(value)) => Json::Bool(value),
            Some(CoreScalar::Int(value)) => {
                Number::from_i128(value).map_or_else(|| Json::String(text.clone()), Json::Number)
            }
            Some(CoreScalar::Float(value)) => {
                Number::from_f64(value).map_or_else(|| Json::String(text.clone()), Json::Number)
            }
            Some(CoreScalar::Text) | None => Json::String(text.clone()),
        },
    }
}
