//! Writes readable YAML: block style, plain scalars where that is safe, and literal blocks for multi-line text.
//!
//! Both YAML 1.1 and YAML 1.2 parsers read back the value that was written.

use rep_model::Span;
use rep_model::yaml::{self, YamlNode, YamlScalarStyle, YamlValue as Yaml, core, pyyaml, quote_double};
use serde_json::Value;

/// The maximum length of a list on one line.
const FLOW_LIST_CHARS_MAX: usize = 60;
/// The maximum length of a key that parsers accept without a `?` before it.
const KEY_CHARS_MAX: usize = 120;

/// Writes a value as a YAML document.
pub fn write_yaml(value: &Value) -> String {
    let mut out = String::new();
    match value {
        Value::Object(map) if !map.is_empty() => write_block(value, 0, false, &mut out),
        Value::Array(items) if !items.is_empty() => write_block(value, 0, false, &mut out),
        // At the start of the document, a plain text could be read as a document marker.
        Value::String(text) => out.push_str(&format!("{}\n", quote_double(text))),
        other => out.push_str(&format!("{}\n", render_inline(other))),
    }
    out
}

/// Writes the lines of a non-empty list or mapping. The first line may follow the dash of an outer list.
fn write_block(value: &Value, indent: usize, is_behind_dash: bool, out: &mut String) {
    let mut is_first = is_behind_dash;
    let mut start = |out: &mut String| {
        if !std::mem::take(&mut is_first) {
            push_indent(indent, out);
        }
    };
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                start(out);
                let key = self::render_key(key);
                if key.len() > KEY_CHARS_MAX {
                    out.push_str(&format!("? {key}\n"));
                    push_indent(indent, out);
                    out.push(':');
                } else {
                    out.push_str(&format!("{key}:"));
                }
                write_nested_value(value, indent + 2, out);
                if indent == 0 {
                    out.push('\n');
                }
            }
            // An empty line separates sections, but does not follow the last one.
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
                    write_block(item, indent + 2, true, out);
                } else {
                    write_nested_value(item, indent + 2, out);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns whether a value is written on separate lines.
fn is_block(value: &Value) -> bool {
    match value {
        Value::Object(map) => !map.is_empty(),
        Value::Array(items) => !items.is_empty() && render_flow_list(items).is_none(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Writes the value after a key or a dash.
fn write_nested_value(value: &Value, indent: usize, out: &mut String) {
    match value {
        _ if is_block(value) => {
            out.push('\n');
            write_block(value, indent, false, out);
        }
        Value::String(text) if is_literal(text) => write_literal_block(text, indent, out),
        other => out.push_str(&format!(" {}\n", render_inline(other))),
    }
}

fn render_inline(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => yaml::format_number(number),
        Value::String(text) => self::render_text(text),
        Value::Array(items) => render_flow_list(items).unwrap_or_else(|| "[]".to_owned()),
        Value::Object(_) => "{}".to_owned(),
    }
}

/// Renders a short list of plain words on one line.
fn render_flow_list(items: &[Value]) -> Option<String> {
    let is_word = |text: &str| {
        let is_simple = |letter: char| letter.is_ascii_alphanumeric() || "_-./".contains(letter);
        text.starts_with(|letter: char| letter.is_ascii_alphanumeric()) && text.chars().all(is_simple) && is_plain(text)
    };
    let words = items.iter().map(|item| match item {
        Value::String(text) => is_word(text).then(|| text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(render_inline(item)),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    });
    let line = format!("[{}]", words.collect::<Option<Vec<_>>>()?.join(", "));
    (line.len() <= FLOW_LIST_CHARS_MAX).then_some(line)
}

fn push_indent(indent: usize, out: &mut String) {
    out.extend(std::iter::repeat_n(' ', indent));
}

/// Renders a key: plain if it starts like a word, so that it cannot be read as a document marker.
fn render_key(text: &str) -> String {
    let is_word = text.starts_with(|letter: char| letter.is_alphanumeric() || letter == '_');
    if is_word && is_plain(text) { text.to_owned() } else { quote_double(text) }
}

/// Renders a text on one line: plain, or in the quotes that need fewer escapes.
fn render_text(text: &str) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    if text.contains(['"', '\\']) && text.chars().all(is_printable) {
        return format!("'{}'", text.replace('\'', "''"));
    }
    quote_double(text)
}

/// Returns whether a text can be written without quotes and still be read as the same text.
fn is_plain(text: &str) -> bool {
    let first = |letter: char| letter.is_alphanumeric() || "(/.$_<+".contains(letter);
    text.starts_with(first)
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !text.contains(" #")
        && text.chars().all(is_printable)
        && !is_version(text)
        && is_text_in_both_typings(text)
}

/// Returns whether a character needs no escape on a line.
fn is_printable(letter: char) -> bool {
    letter == ' '
        || !(letter.is_control() || letter.is_whitespace() || matches!(letter, '\u{feff}' | '\u{fffe}' | '\u{ffff}'))
}

/// Returns whether this could be a version. Versions are always quoted, because some of them read as numbers.
fn is_version(text: &str) -> bool {
    text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns whether both YAML versions read the plain text as a string.
fn is_text_in_both_typings(text: &str) -> bool {
    let value = Yaml::Scalar { text: text.to_owned(), style: YamlScalarStyle::Plain };
    let node = YamlNode { span: Span::default(), value, tag: None };
    core::classify_scalar(&node) == Some(core::CoreScalar::Text)
        && pyyaml::classify_scalar(&node) == Some(pyyaml::PyyamlScalar::Text)
}

/// Returns whether a multi-line text can be written as a literal block.
fn is_literal(text: &str) -> bool {
    let body = text.strip_suffix('\n').unwrap_or(text);
    let is_safe = |letter: char| letter == '\n' || letter == '\t' || is_printable(letter);
    body.contains('\n')
        && !body.starts_with([' ', '\t', '\n'])
        && !body.ends_with(['\n', ' ', '\t'])
        && text.chars().all(is_safe)
}

fn write_literal_block(text: &str, indent: usize, out: &mut String) {
    let body = text.strip_suffix('\n');
    out.push_str(if body.is_some() { " |\n" } else { " |-\n" });
    for line in body.unwrap_or(text).split('\n') {
        if !line.is_empty() {
            push_indent(indent, out);
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

    /// Reads a text as YAML 1.1 and YAML 1.2.
    fn parse_in_both_typings(text: &str) -> (Value, Value) {
        let document = parse(text, 0);
        assert!(document.problems.is_empty(), "{:?}\n{text}", document.problems);
        let root = document.root.unwrap();
        (core::to_json(&root), pyyaml::to_json(&root))
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
        assert_eq!(write_yaml(&value), expected);
        assert_eq!(parse_in_both_typings(expected), (value.clone(), value));
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
                assert_eq!(parse_in_both_typings(&write_yaml(&value)), (value.clone(), value));
            }
        }
    }

    #[test]
    fn numbers_and_long_keys_are_read_by_both() {
        let value = json!({ "a": 1.5, "b": 1e30, "c": -2.5e-9, "d": 0, "e": -7, "k".repeat(2000): { "x": [1] } });
        assert_eq!(parse_in_both_typings(&write_yaml(&value)), (value.clone(), value));
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
            let text = write_yaml(&value);
            prop_assert_eq!(parse_in_both_typings(&text), (value.clone(), value.clone()));
            prop_assert_eq!(write_yaml(&value), text);
        }
    }
}
