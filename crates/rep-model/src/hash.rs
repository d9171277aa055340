//! The UASP content version: SHA-256 over the file as PyYAML reads it and Python's `json.dumps` prints it.
//!
//! Seed 003 §3.3 gives the recipe as Python code; this is that code's behaviour, its crashes
//! turned into faults with a place.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use crate::Span;
use crate::yaml::pyyaml::{self, Scalar};
use crate::yaml::{Entry, Node, Value};

/// Why a file has no content version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unhashable {
    /// The value at fault.
    pub span: Span,
    /// What is wrong with it.
    pub message: String,
    /// What to do.
    pub help: String,
}

impl Unhashable {
    fn new(span: Span, message: impl Into<String>, help: &str) -> Self {
        Self { span, message: message.into(), help: help.to_owned() }
    }
}

/// The full SHA-256 of a skill's content in lower-case hexadecimal; its first eight digits are the version.
pub fn sha256(root: &Node) -> Result<String, Unhashable> {
    Ok(digest(normalise(root)?.as_bytes()))
}

/// The SHA-256 of bytes in lower-case hexadecimal.
pub fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The text that is hashed.
pub fn normalise(root: &Node) -> Result<String, Unhashable> {
    let is_mapping = |node: &Node| matches!(node.value, Value::Mapping { .. });
    let give_meta = "a UASP file is a mapping with a `meta` mapping";
    if !is_mapping(root) {
        return Err(Unhashable::new(root.span, format!("the file holds {}", root.kind()), give_meta));
    }
    match root.entry("meta") {
        Some(meta) if is_mapping(&meta.value) => {}
        Some(meta) => {
            return Err(Unhashable::new(meta.value.span, format!("`meta` is {}", meta.value.kind()), give_meta));
        }
        None => return Err(Unhashable::new(Span::at(root.span.start), "`meta` is missing", give_meta)),
    }
    let mut out = String::new();
    mapping(root, Place::Root, &mut out)?;
    Ok(out)
}

/// Where a mapping stands, because `meta.version` is left out of the content.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Root,
    Meta,
    Elsewhere,
}

enum Key {
    Text(String),
    Number { printed: String, value: f64, digits: String },
    Null,
}

impl Key {
    fn printed(&self) -> &str {
        match self {
            Key::Text(text) => text,
            Key::Number { printed, .. } => printed,
            Key::Null => "null",
        }
    }

    /// A text that is the same for equal keys; `None` for keys that equal no other.
    fn identity(&self) -> Option<String> {
        match self {
            Key::Text(text) => Some(format!("t{text}")),
            // Adding zero makes one of the two zeroes.
            Key::Number { value, digits, .. } => (!value.is_nan()).then(|| format!("n{} {digits}", value + 0.0)),
            Key::Null => None,
        }
    }

    /// Python compares text with text and numbers with numbers, and refuses the rest.
    fn compare(&self, other: &Key) -> Option<Ordering> {
        match (self, other) {
            (Key::Text(one), Key::Text(two)) => Some(one.cmp(two)),
            (Key::Number { value: one, digits: a, .. }, Key::Number { value: two, digits: b, .. }) => {
                let by_digits = || a.len().cmp(&b.len()).then_with(|| a.cmp(b));
                one.partial_cmp(two).map(|order| order.then_with(by_digits))
            }
            (Key::Text(_) | Key::Number { .. } | Key::Null, _) => None,
        }
    }
}

fn mapping(node: &Node, place: Place, out: &mut String) -> Result<(), Unhashable> {
    let mut pairs: Vec<(Key, &Node, Span)> = Vec::new();
    collect(node, &mut pairs, &mut BTreeMap::new(), 0)?;
    if place == Place::Meta {
        pairs.retain(|(key, ..)| !matches!(key, Key::Text(text) if text == "version"));
    }
    // Keys of one type compare with each other, so looking at neighbours finds the first stranger.
    for pair in pairs.windows(2) {
        let (key, _, span) = &pair[1];
        if key.compare(&pair[0].0).is_none() {
            return Err(Unhashable::new(
                *span,
                format!("key `{}` is of another type than the keys beside it", key.printed()),
                "quote the keys, so that all of them are text",
            ));
        }
    }
    pairs.sort_by(|(one, ..), (two, ..)| one.compare(two).unwrap_or(Ordering::Equal));
    out.push('{');
    for (index, (key, value, _)) in pairs.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        string(key.printed(), out);
        out.push(':');
        let below = if place == Place::Root && key.printed() == "meta" { Place::Meta } else { Place::Elsewhere };
        any(value, below, out)?;
    }
    out.push('}');
    Ok(())
}

/// Gathers the pairs of a mapping, those merged in by `<<` first, as PyYAML does.
///
/// `places` holds where each key stands in `pairs`.
fn collect<'a>(
    node: &'a Node,
    pairs: &mut Vec<(Key, &'a Node, Span)>,
    places: &mut BTreeMap<String, usize>,
    depth: usize,
) -> Result<(), Unhashable> {
    let entries = node.entries().unwrap_or(&[]);
    let is_merge = |entry: &Entry| pyyaml::scalar(&entry.key) == Some(Scalar::Merge);
    for entry in entries.iter().filter(|entry| is_merge(entry)) {
        let bad = || {
            Unhashable::new(
                entry.value.span,
                "`<<` merges something that is no mapping",
                "merge a mapping or a list of mappings",
            )
        };
        if depth > crate::yaml::DEPTH_MAX {
            return Err(bad());
        }
        match &entry.value.value {
            Value::Mapping { .. } => collect(&entry.value, pairs, places, depth + 1)?,
            // The first of a list wins, so it is put in last.
            Value::Sequence { items, .. } => {
                for item in items.iter().rev() {
                    if item.entries().is_none() {
                        return Err(bad());
                    }
                    collect(item, pairs, places, depth + 1)?;
                }
            }
            Value::Scalar { .. } => return Err(bad()),
        }
    }
    let merged = pairs.len();
    for entry in entries.iter().filter(|entry| !is_merge(entry)) {
        let key = key(&entry.key)?;
        let identity = key.identity();
        match identity.as_ref().and_then(|identity| places.get(identity).copied()) {
            Some(at) if at >= merged => {
                return Err(Unhashable::new(
                    entry.key.span,
                    format!("key `{}` stands twice", key.printed()),
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

fn key(node: &Node) -> Result<Key, Unhashable> {
    let quote = "quote the key";
    let Some(typed) = pyyaml::scalar(node) else {
        return Err(Unhashable::new(node.span, format!("a key is {}", node.kind()), "use text for keys"));
    };
    let number = |printed: String, value: f64, digits: String| Key::Number { printed, value, digits };
    Ok(match typed {
        Scalar::Text | Scalar::Merge => Key::Text(node.text().unwrap_or("").to_owned()),
        Scalar::Null => Key::Null,
        Scalar::Bool(value) => number(value.to_string(), f64::from(u8::from(value)), String::new()),
        Scalar::Int(digits) => number(digits.clone(), digits.parse().unwrap_or(f64::INFINITY), digits),
        Scalar::Float(value) => number(float(value), value, String::new()),
        Scalar::Timestamp => {
            return Err(Unhashable::new(node.span, "a key reads as a date", quote));
        }
        Scalar::Refused(what) => return Err(Unhashable::new(node.span, format!("a key is {what}"), quote)),
    })
}

fn any(node: &Node, place: Place, out: &mut String) -> Result<(), Unhashable> {
    if let Some(tag) = &node.tag
        && !matches!(node.value, Value::Scalar { .. })
        && !matches!(tag.as_str(), "tag:yaml.org,2002:map" | "tag:yaml.org,2002:seq" | "!")
    {
        return Err(Unhashable::new(node.span, format!("a value is tagged `{tag}`"), "remove the tag"));
    }
    match &node.value {
        Value::Mapping { .. } => mapping(node, place, out),
        Value::Sequence { items, .. } => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                any(item, Place::Elsewhere, out)?;
            }
            out.push(']');
            Ok(())
        }
        Value::Scalar { text, .. } => scalar(node, text, out),
    }
}

fn scalar(node: &Node, text: &str, out: &mut String) -> Result<(), Unhashable> {
    match pyyaml::scalar(node) {
        Some(Scalar::Text | Scalar::Merge) | None => string(text, out),
        Some(Scalar::Null) => out.push_str("null"),
        Some(Scalar::Bool(value)) => out.push_str(if value { "true" } else { "false" }),
        Some(Scalar::Int(digits)) => out.push_str(&digits),
        Some(Scalar::Float(value)) => out.push_str(&float(value)),
        Some(Scalar::Timestamp) => {
            return Err(Unhashable::new(
                node.span,
                format!("`{text}` reads as a date, which has no JSON form"),
                "quote it",
            ));
        }
        Some(Scalar::Refused(what)) => {
            return Err(Unhashable::new(node.span, format!("`{text}` is {what}, which has no JSON form"), "quote it"));
        }
    }
    Ok(())
}

/// Text as Python's `json.dumps` writes it: ASCII only, astral characters as surrogate pairs.
pub fn string(text: &str, out: &mut String) {
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

/// A float as Python's `repr` prints it, and as `json.dumps` names what is not finite.
fn float(value: f64) -> String {
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
        normalise(&yaml::parse(text, 0).root.unwrap()).map_err(|fault| fault.message)
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
            ("meta: {}\nx: {1: a, b: c}\n", "another type"),
            ("meta: {}\nx: {a: 1, a: 2}\n", "twice"),
            ("meta: {}\n? [a]\n: b\n", "a list"),
            ("meta: 1\n", "`meta` is a number"),
            ("x: 1\n", "`meta` is missing"),
            ("meta: {}\nx: !!binary aGk=\n", "binary"),
            ("meta: {}\nx: !!set {a}\n", "tagged"),
        ] {
            let message = normalised(text).unwrap_err();
            assert!(message.contains(word), "{text}: {message}");
        }
    }
}
