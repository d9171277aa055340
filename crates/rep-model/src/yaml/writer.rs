//! Writes values as block YAML that all parsers type the same way.

use serde_json::Value as Json;

use super::{YamlNode, YamlScalarStyle, YamlValue, core, pyyaml};
use crate::Span;

/// The maximum length of a key on one line with its value. Parsers stop looking for the colon after 1024 characters.
const KEY_BYTES_MAX: usize = 1000;

/// Renders a JSON value as a block document. Text that YAML 1.1 or 1.2 would read as another type is quoted.
pub fn render_document(value: &Json) -> String {
    let mut out = String::new();
    match value {
        Json::Object(map) if !map.is_empty() => write_block(value, 0, &mut out),
        Json::Array(items) if !items.is_empty() => write_block(value, 0, &mut out),
        _ => {
            write_inline(value, &mut out);
            out.push('\n');
        }
    }
    out
}

fn write_block(value: &Json, indent: usize, out: &mut String) {
    match value {
        Json::Object(map) => {
            for (key, value) in map {
                write_indent(indent, out);
                let key = quote_unsafe_text(key);
                if key.len() > KEY_BYTES_MAX {
                    out.push_str("? ");
                    out.push_str(&key);
                    out.push('\n');
                    write_indent(indent, out);
                } else {
                    out.push_str(&key);
                }
                out.push(':');
                write_nested(value, indent + 2, out);
            }
        }
        Json::Array(items) => {
            for item in items {
                write_indent(indent, out);
                out.push('-');
                write_nested(item, indent + 2, out);
            }
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => write_inline(value, out),
    }
}

fn write_nested(value: &Json, indent: usize, out: &mut String) {
    let is_filled = match value {
        Json::Object(map) => !map.is_empty(),
        Json::Array(items) => !items.is_empty(),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => false,
    };
    if is_filled {
        out.push('\n');
        write_block(value, indent, out);
    } else {
        out.push(' ');
        write_inline(value, out);
        out.push('\n');
    }
}

fn write_inline(value: &Json, out: &mut String) {
    match value {
        Json::Null => out.push_str("null"),
        Json::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Json::Number(number) => out.push_str(&self::format_number(number)),
        Json::String(value) => out.push_str(&quote_unsafe_text(value)),
        Json::Array(_) => out.push_str("[]"),
        Json::Object(_) => out.push_str("{}"),
    }
}

fn write_indent(indent: usize, out: &mut String) {
    out.extend(std::iter::repeat_n(' ', indent));
}

/// Returns text unquoted if that is safe, and in double quotes otherwise.
fn quote_unsafe_text(value: &str) -> String {
    if is_plain_safe(value) { value.to_owned() } else { quote_double(value) }
}

fn is_plain_safe(value: &str) -> bool {
    let is_simple = |letter: char| letter.is_alphanumeric() || " _-./()+,;".contains(letter);
    value.starts_with(char::is_alphanumeric) && !value.ends_with(' ') && value.chars().all(is_simple) && {
        let node = YamlNode {
            span: Span::default(),
            value: YamlValue::Scalar { text: value.to_owned(), style: YamlScalarStyle::Plain },
            tag: None,
        };
        core::classify_scalar(&node) == Some(core::CoreScalar::Text)
            && pyyaml::classify_scalar(&node) == Some(pyyaml::PyyamlScalar::Text)
    }
}

/// Formats a number so that both typings read it: YAML 1.1 reads `1e30` as text, because it requires a point and a
/// sign.
pub fn format_number(number: &serde_json::Number) -> String {
    let text = number.to_string();
    let Some((mantissa, exponent)) = text.split_once(['e', 'E']) else { return text };
    let point = if mantissa.contains('.') { "" } else { ".0" };
    let sign = if exponent.starts_with(['+', '-']) { "" } else { "+" };
    format!("{mantissa}{point}e{sign}{exponent}")
}

/// Quotes text in double quotes, on one line.
pub fn quote_double(value: &str) -> String {
    let mut out = String::with_capacity(value.len() + 2);
    out.push('"');
    for letter in value.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            control if control.is_control() || matches!(control, '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{feff}') => {
                out.push_str(&format!("\\u{:04x}", u32::from(control)));
            }
            '\u{fffe}' | '\u{ffff}' => out.push_str(&format!("\\u{:04x}", u32::from(letter))),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

/// Returns text on one line, in double quotes only if YAML would read it differently without them.
pub fn quote_if_needed(text: &str) -> String {
    let root = super::parse(&format!("x: {text}\n"), 0).root;
    let value = root.as_ref().and_then(|root| root.get("x"));
    let is_same = value.is_some_and(|value| {
        value.text() == Some(text) && value.style() == Some(YamlScalarStyle::Plain) && value.describe_kind() == "text"
    });
    if is_same { text.to_owned() } else { quote_double(text) }
}
