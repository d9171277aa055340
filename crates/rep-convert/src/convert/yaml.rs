//! YAML for people: block style, plain where that is safe, literal blocks for text of several lines.
//!
//! Whatever reader takes it back, by YAML 1.1 or 1.2, finds the value that was written.

use rep_model::Span;
use rep_model::yaml::{self, Node, Style, Value as Yaml, core, pyyaml, quote_double};
use serde_json::Value;

/// The longest list that is written on one line.
const LINE_MAX: usize = 60;
/// The longest key that readers take without a mark in front of it.
const KEY_MAX: usize = 120;

/// Writes a value as a YAML document.
pub fn write(value: &Value) -> String {
    let mut out = String::new();
    match value {
        Value::Object(map) if !map.is_empty() => block(value, 0, false, &mut out),
        Value::Array(items) if !items.is_empty() => block(value, 0, false, &mut out),
        // Nothing stands in front of it, so that a plain text could be a mark of the document.
        Value::String(text) => out.push_str(&format!("{}\n", quote_double(text))),
        other => out.push_str(&format!("{}\n", inline(other))),
    }
    out
}

/// Writes the lines of a filled list or mapping. The first may stand behind the dash of an outer list.
fn block(value: &Value, indent: usize, is_behind_dash: bool, out: &mut String) {
    let mut is_first = is_behind_dash;
    let mut start = |out: &mut String| {
        if !std::mem::take(&mut is_first) {
            pad(indent, out);
        }
    };
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                start(out);
                let key = self::key(key);
                if key.len() > KEY_MAX {
                    out.push_str(&format!("? {key}\n"));
                    pad(indent, out);
                    out.push(':');
                } else {
                    out.push_str(&format!("{key}:"));
                }
                below(value, indent + 2, out);
                if indent == 0 {
                    out.push('\n');
                }
            }
            // Sections have an empty line between them, and none behind the last.
            if indent == 0 {
                out.pop();
            }
        }
        Value::Array(items) => {
            for item in items {
                start(out);
                out.push('-');
                if is_block(item) {
                    out.push(' ');
                    block(item, indent + 2, true, out);
                } else {
                    below(item, indent + 2, out);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Whether a value takes lines of its own.
fn is_block(value: &Value) -> bool {
    match value {
        Value::Object(map) => !map.is_empty(),
        Value::Array(items) => !items.is_empty() && flow(items).is_none(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Writes what stands behind a key or a dash.
fn below(value: &Value, indent: usize, out: &mut String) {
    match value {
        _ if is_block(value) => {
            out.push('\n');
            block(value, indent, false, out);
        }
        Value::String(text) if is_literal(text) => literal(text, indent, out),
        other => out.push_str(&format!(" {}\n", inline(other))),
    }
}

fn inline(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => yaml::number(number),
        Value::String(text) => self::text(text),
        Value::Array(items) => flow(items).unwrap_or_else(|| "[]".to_owned()),
        Value::Object(_) => "{}".to_owned(),
    }
}

/// A short list of plain words on one line.
fn flow(items: &[Value]) -> Option<String> {
    let is_word = |text: &str| {
        let is_simple = |letter: char| letter.is_ascii_alphanumeric() || "_-./".contains(letter);
        text.starts_with(|letter: char| letter.is_ascii_alphanumeric()) && text.chars().all(is_simple) && is_plain(text)
    };
    let words = items.iter().map(|item| match item {
        Value::String(text) => is_word(text).then(|| text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(inline(item)),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    });
    let line = format!("[{}]", words.collect::<Option<Vec<_>>>()?.join(", "));
    (line.len() <= LINE_MAX).then_some(line)
}

fn pad(indent: usize, out: &mut String) {
    out.extend(std::iter::repeat_n(' ', indent));
}

/// A key: plain where it starts like a word, so that it cannot be a mark of the document.
fn key(text: &str) -> String {
    let is_word = text.starts_with(|letter: char| letter.is_alphanumeric() || letter == '_');
    if is_word && is_plain(text) { text.to_owned() } else { quote_double(text) }
}

/// A text on one line: plain, or in the quotes that need fewer escapes.
fn text(text: &str) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    if text.contains(['"', '\\']) && text.chars().all(is_printable) {
        return format!("'{}'", text.replace('\'', "''"));
    }
    quote_double(text)
}

/// Whether a text can stand without quotes and still be that text.
fn is_plain(text: &str) -> bool {
    let first = |letter: char| letter.is_alphanumeric() || "(/.$_<+".contains(letter);
    text.starts_with(first)
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !text.contains(" #")
        && text.chars().all(is_printable)
        && !is_version(text)
        && is_text(text)
}

/// Whether a letter needs no escape on a line.
fn is_printable(letter: char) -> bool {
    letter == ' '
        || !(letter.is_control() || letter.is_whitespace() || matches!(letter, '\u{feff}' | '\u{fffe}' | '\u{ffff}'))
}

/// Whether this could be a version, which is always quoted: some of them read as numbers.
fn is_version(text: &str) -> bool {
    text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether both typings take the plain text for text.
fn is_text(text: &str) -> bool {
    let value = Yaml::Scalar { text: text.to_owned(), style: Style::Plain };
    let node = Node { span: Span::default(), value, tag: None };
    core::scalar(&node) == Some(core::Scalar::Text) && pyyaml::scalar(&node) == Some(pyyaml::Scalar::Text)
}

/// Whether a text of several lines can stand as a literal block.
fn is_literal(text: &str) -> bool {
    let body = text.strip_suffix('\n').unwrap_or(text);
    let is_safe = |letter: char| letter == '\n' || letter == '\t' || is_printable(letter);
    body.contains('\n')
        && !body.starts_with([' ', '\t', '\n'])
        && !body.ends_with(['\n', ' ', '\t'])
        && text.chars().all(is_safe)
}

fn literal(text: &str, indent: usize, out: &mut String) {
    let body = text.strip_suffix('\n');
    out.push_str(if body.is_some() { " |\n" } else { " |-\n" });
    for line in body.unwrap_or(text).split('\n') {
        if !line.is_empty() {
            pad(indent, out);
            out.push_str(line);
        }
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rep_model::yaml::parse;
    use serde_json::json;

    /// Reads a text back in both typings.
    fn back(text: &str) -> (Value, Value) {
        let document = parse(text, 0);
        assert!(document.troubles.is_empty(), "{:?}\n{text}", document.troubles);
        let root = document.root.unwrap();
        (core::json(&root), pyyaml::json(&root))
    }

    #[test]
    fn readable_and_stable() {
        let value = json!({
            "meta": { "name": "t", "version": "12345678", "description": "Shows: much" },
            "commands": { "get.text": { "syntax": "t get \"<a>\" [--on]", "aliases": ["g", "get"], "args": [
                { "name": "a", "type": "enum", "values": ["yes", "no"], "default": 3 }, { "name": "b", "required": true },
            ] } },
            "templates": { "t": { "inline": "a: 1\n\n  b\n" } },
        });
        let expected = r#"meta:
  name: t
  version: "12345678"
  description: "Shows: much"

commands:
  get.text:
    syntax: t get "<a>" [--on]
    aliases: [g, get]
    args:
      - name: a
        type: enum
        values:
          - "yes"
          - "no"
        default: 3
      - name: b
        required: true

templates:
  t:
    inline: |
      a: 1

        b
"#;
        assert_eq!(write(&value), expected);
        assert_eq!(back(expected), (value.clone(), value));
    }

    #[test]
    fn whatever_looks_like_something_else_stays_text() {
        for text in [
            "",
            " ",
            "yes",
            "No",
            "on",
            "null",
            "~",
            "true",
            "1",
            "0x1f",
            "1_000",
            "1:30",
            "2024-01-01",
            "1e3",
            ".5",
            ".inf",
            "<<",
            "=",
            "- a",
            "-",
            "? a",
            "a: b",
            "a:",
            "a #b",
            "#a",
            "&a",
            "*a",
            "!a",
            "|",
            ">",
            "@a",
            "`a`",
            "%a",
            "'a'",
            "\"a\"",
            "{a}",
            "[a]",
            ",a",
            "---",
            "...",
            "a\tb",
            "\ta",
            "a ",
            " a",
            "a\n",
            "\na\nb",
            "a\n\n",
            "a\n b\n",
            "a\n \nb",
            " a\nb",
            "a\r\nb",
            "a\u{85}b",
            "a\u{2028}b",
            "\u{feff}a",
            "a\u{0}b",
            "é",
            "日本",
            "🙂",
            "a\nb ",
            "a\nb\n ",
            "#\n#",
            "---\na: b\n",
        ] {
            for value in
                [json!({ "k": text }), json!([text]), json!([{ "k": [text, text] }]), json!({ text: 1 }), json!(text)]
            {
                assert_eq!(back(&write(&value)), (value.clone(), value));
            }
        }
    }

    #[test]
    fn numbers_and_long_keys_are_read_by_both() {
        let value = json!({ "a": 1.5, "b": 1e30, "c": -2.5e-9, "d": 0, "e": -7, "k".repeat(2000): { "x": [1] } });
        assert_eq!(back(&write(&value)), (value.clone(), value));
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let letters = prop::sample::select(vec![
            'a', 'B', 'e', '0', '1', ' ', ' ', '\n', '\n', '\t', '-', ':', '#', '\'', '"', '\\', '|', '>', '<', '[',
            ']', '{', '}', ',', '&', '*', '!', '%', '@', '`', '?', '=', '~', '.', '_', '+', 'é', '\u{85}', '\u{2028}',
            '\u{feff}', '\r', '\u{1}',
        ]);
        let text = prop::collection::vec(letters, 0..14).prop_map(|letters| letters.into_iter().collect::<String>());
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            (-1e300..1e300f64).prop_map(Value::from),
            text.clone().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 5, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::vec((text.clone(), inner), 0..5)
                    .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(value in any_value()) {
            let text = write(&value);
            prop_assert_eq!(back(&text), (value.clone(), value.clone()));
            prop_assert_eq!(write(&value), text);
        }
    }
}
