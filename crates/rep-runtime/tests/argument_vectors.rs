//! No value changes the shape of an argument vector, whatever it contains.

use proptest::prelude::*;
use rep_model::{DocumentOrigin, SkillDocument};
use rep_runtime::command::{bind_command, bind_template, parse_step_arguments};
use serde_json::{Value, json};

/// Syntaxes of a command, each with a list of its arguments.
const SYNTAXES: [(&str, &[&str]); 12] = [
    ("b open <url>", &["url"]),
    ("b fill <ref> <text>", &["ref", "text"]),
    ("b snap [-i] [-d depth] [-s selector]", &["-d", "selector"]),
    ("b go [one] [two] [three]", &["one", "two", "three"]),
    ("b put --to <place> \"<the name>\"", &["place", "the name"]),
    ("b put [--to=<place>] <file>", &["place", "file"]),
    ("b x -- <a> <b>", &["a", "b"]),
    ("b copy <from>:<to>", &["from", "to"]),
    ("b [options] run 'a b' <c>", &["c", "--proxy"]),
    ("b wait <ref|ms>", &["ms", "--proxy"]),
    ("b select <ref> <value...>", &["ref"]),
    ("b [--a <x> | --b <y>]", &["x"]),
];

/// Fragments that have a meaning for shells, templates or programs.
const PIECES: [&str; 22] = [
    "-", "--", "--json", "=", "<url>", "<text>", "[one]", "...", "{a|b}", "$(id)", "`id`", "'", "\"", "\n", " ", "\0",
    "|", ";", "\\", "\u{202e}", "@e1", "a",
];

fn value() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        (0..PIECES.len()).prop_map(|at| PIECES[at].to_owned()),
        any::<char>().prop_map(String::from),
        "[ -~]{0,8}".prop_map(|text| text),
    ];
    proptest::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

fn document(syntax: &str) -> SkillDocument {
    let value = json!({
        "global_flags": [{ "name": "--proxy", "type": "string" }, { "name": "--json", "type": "bool" }],
        "commands": { "x": { "syntax": syntax } },
        "templates": { "t": { "inline": "", "args": [{ "name": "a", "required": true }, { "name": "b", "default": "z" }] } },
    });
    SkillDocument::from_value(value, DocumentOrigin::Authored, Vec::new())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_value_changes_the_shape(at in 0..SYNTAXES.len(), values in proptest::collection::vec(value(), 3), list in proptest::collection::vec(value(), 1..4)) {
        let (syntax, names) = SYNTAXES[at];
        let document = document(syntax);
        let given = |text: &dyn Fn(usize) -> String, item: &dyn Fn(usize) -> String| {
            let mut all: serde_json::Map<String, Value> =
                names.iter().enumerate().map(|(index, name)| ((*name).to_owned(), text(index).into())).collect();
            if syntax.contains("...") {
                all.insert("value".to_owned(), (0..list.len()).map(|index| Value::from(item(index))).collect());
            }
            all
        };
        let plain = given(&|index| format!("plain{index}"), &|index| format!("item{index}"));
        let wild = given(&|index| values[index].clone(), &|index| list[index].clone());
        let plain = bind_command(&document, "x", &plain, &|_| None).expect("plain values fit");
        if let Ok(wild) = bind_command(&document, "x", &wild, &|_| None) {
            prop_assert_eq!(wild.words.len(), plain.words.len());
            for (wild, plain) in wild.words.iter().zip(&plain.words) {
                prop_assert_eq!(wild.is_literal, plain.is_literal);
                let mut expected = plain.text.clone();
                if !plain.is_literal {
                    let numbered = values.iter().enumerate().map(|(index, value)| (format!("plain{index}"), value));
                    let listed = list.iter().enumerate().map(|(index, value)| (format!("item{index}"), value));
                    let mut rest = String::new();
                    // Replaced once, from the left, so that a value that looks like a placeholder is not
                    // replaced again.
                    for (name, value) in numbered.chain(listed) {
                        if let Some((before, after)) = expected.clone().split_once(&name) {
                            rest.push_str(before);
                            rest.push_str(value);
                            expected = after.to_owned();
                        }
                    }
                    expected = rest + &expected;
                }
                prop_assert_eq!(&wild.text, &expected);
                prop_assert!(!wild.text.contains('\0'));
            }
        }
    }

    #[test]
    fn a_template_has_as_many_words_as_arguments(one in value(), two in value()) {
        let arguments = json!({ "a": one, "b": two });
        if let Ok(words) = bind_template(&document("b"), "t", arguments.as_object().unwrap(), &|_| None) {
            prop_assert_eq!(words, vec![one, two]);
        }
    }

    #[test]
    fn any_syntax_ends_in_words_or_an_error(syntax in value(), more in value(), words in proptest::collection::vec(value(), 0..4)) {
        let document = document(&format!("{syntax} {more}"));
        let _ = bind_command(&document, "x", &serde_json::Map::new(), &|_| None);
        let _ = parse_step_arguments(&document, "x", &words);
    }
}
