//! The UASP content version: the SHA-256 of the file as PyYAML reads it and Python's `json.dumps` prints it.
//!
//! Seed 003 §3.3 specifies the algorithm as Python code. This module behaves like that code, but reports a fault with a
//! location where that code crashes.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use crate::Span;
use crate::yaml::pyyaml::{self, PyyamlScalar};
use crate::yaml::{YamlEntry, YamlNode, YamlValue};

/// The reason why a file has no content version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentHashError {
    /// The location of the invalid value.
    pub span: Span,
    /// The problem.
    pub message: String,
    /// The remedy.
    pub help: String,
}

impl ContentHashError {
    fn new(span: Span, message: impl Into<String>, help: &str) -> Self {
        Self { span, message: message.into(), help: help.to_owned() }
    }
}

/// Returns the full SHA-256 of a skill's content in lower-case hexadecimal. Its first eight digits are the version.
pub fn hash_content(root: &YamlNode) -> Result<String, ContentHashError> {
    Ok(sha256_hex(normalise_content(root)?.as_bytes()))
}

/// Returns the SHA-256 of bytes in lower-case hexadecimal.
pub fn sha256_hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the text that is hashed.
pub fn normalise_content(root: &YamlNode) -> Result<String, ContentHashError> {
    let is_mapping = |node: &YamlNode| matches!(node.value, YamlValue::Mapping { .. });
    let give_meta = "a UASP file must be a mapping that contains a `meta` mapping";
    if !is_mapping(root) {
        return Err(ContentHashError::new(root.span, format!("the file contains {}", root.describe_kind()), give_meta));
    }
    match root.find_entry("meta") {
        Some(meta) if is_mapping(&meta.value) => {}
        Some(meta) => {
            return Err(ContentHashError::new(
                meta.value.span,
                format!("`meta` is {}", meta.value.describe_kind()),
                give_meta,
            ));
        }
        None => return Err(ContentHashError::new(Span::empty_at(root.span.start), "missing `meta`", give_meta)),
    }
    let mut out = String::new();
    write_mapping(root, MappingContext::Root, &mut out)?;
    Ok(out)
}

/// The position of a mapping, because `meta.version` is not part of the content.
#[derive(Clone, Copy, PartialEq)]
enum MappingContext {
    Root,
    Meta,
    Elsewhere,
}

enum MappingKey {
    Text(String),
    Number { printed: String, value: f64, digits: String },
    Null,
}

impl MappingKey {
    fn printed_text(&self) -> &str {
        match self {
            MappingKey::Text(text) => text,
            MappingKey::Number { printed, .. } => printed,
            MappingKey::Null => "null",
        }
    }

    /// Returns a text that is equal for equal keys, or `None` for keys that are not equal to any other.
    fn identity_text(&self) -> Option<String> {
        match self {
            MappingKey::Text(text) => Some(format!("t{text}")),
            // Adding zero turns negative zero into zero.
            MappingKey::Number { value, digits, .. } => (!value.is_nan()).then(|| format!("n{} {digits}", value + 0.0)),
            MappingKey::Null => None,
        }
    }

    /// Compares keys like Python: strings with strings and numbers with numbers. Other combinations are not comparable.
    fn partial_compare(&self, other: &MappingKey) -> Option<Ordering> {
        match (self, other) {
            (MappingKey::Text(one), MappingKey::Text(two)) => Some(one.cmp(two)),
            (MappingKey::Number { value: one, digits: a, .. }, MappingKey::Number { value: two, digits: b, .. }) => {
                let by_digits = || a.len().cmp(&b.len()).then_with(|| a.cmp(b));
                one.partial_cmp(two).map(|order| order.then_with(by_digits))
            }
            (MappingKey::Text(_) | MappingKey::Number { .. } | MappingKey::Null, _) => None,
        }
    }
}

fn write_mapping(node: &YamlNode, place: MappingContext, out: &mut String) -> Result<(), ContentHashError> {
    let mut pairs: Vec<(MappingKey, &YamlNode, Span)> = Vec::new();
    collect_pairs(node, &mut pairs, &mut BTreeMap::new(), 0)?;
    if place == MappingContext::Meta {
        pairs.retain(|(key, ..)| !matches!(key, MappingKey::Text(text) if text == "version"));
    }
    // Keys of the same type are comparable, so checking neighbors finds the first key of another type.
    for pair in pairs.windows(2) {
        let (key, _, span) = &pair[1];
        if key.partial_compare(&pair[0].0).is_none() {
            return Err(ContentHashError::new(
                *span,
                format!("key `{}` has a different type than the other keys", key.printed_text()),
                "quote the keys so that all of them are strings",
            ));
        }
    }
    pairs.sort_by(|(one, ..), (two, ..)| one.partial_compare(two).unwrap_or(Ordering::Equal));
    out.push('{');
    for (index, (key, value, _)) in pairs.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_json_string(key.printed_text(), out);
        out.push(':');
        let below = if place == MappingContext::Root && key.printed_text() == "meta" {
            MappingContext::Meta
        } else {
            MappingContext::Elsewhere
        };
        write_value(value, below, out)?;
    }
    out.push('}');
    Ok(())
}

/// Collects the pairs of a mapping, starting with those merged by `<<`, as PyYAML does.
///
/// `places` contains the position of each key in `pairs`.
fn collect_pairs<'a>(
    node: &'a YamlNode,
    pairs: &mut Vec<(MappingKey, &'a YamlNode, Span)>,
    places: &mut BTreeMap<String, usize>,
    depth: usize,
) -> Result<(), ContentHashError> {
    let entries = node.entries().unwrap_or(&[]);
    let is_merge = |entry: &YamlEntry| pyyaml::classify_scalar(&entry.key) == Some(PyyamlScalar::Merge);
    for entry in entries.iter().filter(|entry| is_merge(entry)) {
        let bad = || {
            ContentHashError::new(
                entry.value.span,
                "`<<` merges a value that is not a mapping",
                "merge a mapping or a list of mappings",
            )
        };
        if depth > crate::yaml::DEPTH_MAX {
            return Err(bad());
        }
        match &entry.value.value {
            YamlValue::Mapping { .. } => collect_pairs(&entry.value, pairs, places, depth + 1)?,
            // The first mapping of a list takes precedence, so it is inserted last.
            YamlValue::Sequence { items, .. } => {
                for item in items.iter().rev() {
                    if item.entries().is_none() {
                        return Err(bad());
                    }
                    collect_pairs(item, pairs, places, depth + 1)?;
                }
            }
            YamlValue::Scalar { .. } => return Err(bad()),
        }
    }
    let merged = pairs.len();
    for entry in entries.iter().filter(|entry| !is_merge(entry)) {
        let key = parse_key(&entry.key)?;
        let identity = key.identity_text();
        match identity.as_ref().and_then(|identity| places.get(identity).copied()) {
            Some(at) if at >= merged => {
                return Err(ContentHashError::new(
                    entry.key.span,
                    format!("duplicate key `{}`", key.printed_text()),
                    "remove one of the two",
                ));
            }
            Some(at) => pairs[at] = (key, &entry.value, entry.key.span),
            None => {
                places.extend(identity.map(|identity| (identity, pairs.len())));
                pairs.push((key, &entry.value, entry.key.span));
            }
        }
    }
    Ok(())
}

fn parse_key(node: &YamlNode) -> Result<MappingKey, ContentHashError> {
    let quote = "quote the key";
    let Some(typed) = pyyaml::classify_scalar(node) else {
        return Err(ContentHashError::new(
            node.span,
            format!("the key is {}", node.describe_kind()),
            "use strings as keys",
        ));
    };
    let number = |printed: String, value: f64, digits: String| MappingKey::Number { printed, value, digits };
    Ok(match typed {
        PyyamlScalar::Text | PyyamlScalar::Merge => MappingKey::Text(node.text().unwrap_or("").to_owned()),
        PyyamlScalar::Null => MappingKey::Null,
        PyyamlScalar::Bool(value) => number(value.to_string(), f64::from(u8::from(value)), String::new()),
        PyyamlScalar::Int(digits) => number(digits.clone(), digits.parse().unwrap_or(f64::INFINITY), digits),
        PyyamlScalar::Float(value) => number(format_float(value), value, String::new()),
        PyyamlScalar::Timestamp => {
            return Err(ContentHashError::new(node.span, "the key is a date in YAML", quote));
        }
        PyyamlScalar::Refused(what) => {
            return Err(ContentHashError::new(node.span, format!("the key is {what}"), quote));
        }
    })
}

fn write_value(node: &YamlNode, place: MappingContext, out: &mut String) -> Result<(), ContentHashError> {
    if let Some(tag) = &node.tag
        && !matches!(node.value, YamlValue::Scalar { .. })
        && !matches!(tag.as_str(), "tag:yaml.org,2002:map" | "tag:yaml.org,2002:seq" | "!")
    {
        return Err(ContentHashError::new(node.span, format!("the value has the tag `{tag}`"), "remove the tag"));
    }
    match &node.value {
        YamlValue::Mapping { .. } => write_mapping(node, place, out),
        YamlValue::Sequence { items, .. } => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_value(item, MappingContext::Elsewhere, out)?;
            }
            out.push(']');
            Ok(())
        }
        YamlValue::Scalar { text, .. } => write_scalar(node, text, out),
    }
}

fn write_scalar(node: &YamlNode, text: &str, out: &mut String) -> Result<(), ContentHashError> {
    match pyyaml::classify_scalar(node) {
        Some(PyyamlScalar::Text | PyyamlScalar::Merge) | None => write_json_string(text, out),
        Some(PyyamlScalar::Null) => out.push_str("null"),
        Some(PyyamlScalar::Bool(value)) => out.push_str(if value { "true" } else { "false" }),
        Some(PyyamlScalar::Int(digits)) => out.push_str(&digits),
        Some(PyyamlScalar::Float(value)) => out.push_str(&format_float(value)),
        Some(PyyamlScalar::Timestamp) => {
            return Err(ContentHashError::new(
                node.span,
                format!("`{text}` is a date in YAML, which JSON cannot represent"),
                "quote the value",
            ));
        }
        Some(PyyamlScalar::Refused(what)) => {
            return Err(ContentHashError::new(
                node.span,
                format!("`{text}` is {what}, which JSON cannot represent"),
                "quote the value",
            ));
        }
    }
    Ok(())
}

/// Writes text like Python's `json.dumps`: ASCII only, with surrogate pairs for astral characters.
pub fn write_json_string(text: &str, out: &mut String) {
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            ' '..='~' => out.push(letter),
            other => {
                let mut units = [0; 2];
                for unit in other.encode_utf16(&mut units) {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
    }
    out.push('"');
}

/// Formats a float like Python's `repr`, and non-finite values like `json.dumps`.
fn format_float(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    let scientific = format!("{value:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..16).contains(&exponent) {
        let plain = format!("{value}");
        return if plain.contains('.') { plain } else { format!("{plain}.0") };
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml;

    fn normalised(text: &str) -> Result<String, String> {
        normalise_content(&yaml::parse(text, 0).root.unwrap()).map_err(|fault| fault.message)
    }

    fn of_value(value: &str) -> String {
        let text = normalised(&format!("meta: {{}}\nx: {value}\n")).unwrap();
        text.strip_prefix(r#"{"meta":{},"x":"#).unwrap().strip_suffix('}').unwrap().to_owned()
    }

    #[test]
    fn the_version_is_left_out_of_meta_and_of_nothing_else() {
        let text = "meta: {version: '1', name: t}\nx: {meta: {version: 2}, version: 3}\n";
        assert_eq!(normalised(text).unwrap(), r#"{"meta":{"name":"t"},"x":{"meta":{"version":2},"version":3}}"#);
    }

    #[test]
    fn numbers_print_as_python_prints_them() {
        for (yaml, python) in [
            ("1.5", "1.5"),
            ("100.0", "100.0"),
            ("1.0e+16", "1e+16"),
            ("1.5e-7", "1.5e-07"),
            ("0.0001", "0.0001"),
            ("0.00001", "1e-05"),
            ("123456789012345678901234567890", "123456789012345678901234567890"),
            (".inf", "Infinity"),
            ("-.inf", "-Infinity"),
            (".nan", "NaN"),
            ("-0.0", "-0.0"),
            ("1:30", "90"),
        ] {
            assert_eq!(of_value(yaml), python, "{yaml}");
        }
    }

    #[test]
    fn text_is_ascii_with_surrogate_pairs() {
        assert_eq!(of_value(r#""é😀\x7f\x01\b""#), r#""\u00e9\ud83d\ude00\u007f\u0001\b""#);
    }

    #[test]
    fn integer_keys_sort_as_numbers_and_print_as_text() {
        assert_eq!(of_value("{10: a, 9: b}"), r#"{"9":"b","10":"a"}"#);
    }

    #[test]
    fn merge_keys_are_followed() {
        assert_eq!(
            normalised("meta: &m {a: 1}\nx: {<<: *m, b: 2}\n").unwrap(),
            r#"{"meta":{"a":1},"x":{"a":1,"b":2}}"#
        );
    }

    #[test]
    fn what_crashes_python_is_a_fault_with_words() {
        for (text, word) in [
            ("meta: {}\nx: 2024-01-01\n", "date"),
            ("meta: {}\nx: {1: a, b: c}\n", "different type"),
            ("meta: {}\nx: {a: 1, a: 2}\n", "duplicate key"),
            ("meta: {}\n? [a]\n: b\n", "a list"),
            ("meta: 1\n", "`meta` is a number"),
            ("x: 1\n", "missing `meta`"),
            ("meta: {}\nx: !!binary aGk=\n", "binary"),
            ("meta: {}\nx: !!set {a}\n", "the tag"),
        ] {
            let message = normalised(text).unwrap_err();
            assert!(message.contains(word), "{text}: {message}");
        }
    }
}
