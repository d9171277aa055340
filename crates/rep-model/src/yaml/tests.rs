use super::*;

fn root(text: &str) -> YamlNode {
    let document = parse(text, 0);
    assert_eq!(document.fatal_problem(), None, "{text:?}");
    document.root.expect("the document has a root")
}

fn core_json(text: &str) -> String {
    core::to_json(&root(text)).to_string()
}

#[test]
fn spans_cover_the_source_text_of_every_style() {
    let text = "a: plain text\nb: 'it''s'\nc: \"x\\ny\"\nd: |\n  one\n  two\ne: [1, {f: 2}]\n";
    let root = root(text);
    let slice = |key: &str| {
        let span = root.find_entry(key).unwrap().value.span;
        &text[span.range()]
    };
    assert_eq!(slice("a"), "plain text");
    assert_eq!(slice("b"), "'it''s'");
    assert_eq!(slice("c"), "\"x\\ny\"");
    assert_eq!(slice("d"), "|\n  one\n  two");
    assert_eq!(slice("e"), "[1, {f: 2}]");
}

#[test]
fn the_core_schema_types_numbers_booleans_and_nulls() {
    assert_eq!(
        core_json("[1, -2, 0o17, 0xff, 1.5, 1e3, true, False, ~, yes, 010, 2024-01-01, '1', .inf, 1_000]"),
        r#"[1,-2,15,255,1.5,1000.0,true,false,null,"yes",10,"2024-01-01","1",".inf","1_000"]"#
    );
}

#[test]
fn pyyaml_types_what_yaml_1_1_typed() {
    let cases = [
        ("yes", pyyaml::PyyamlScalar::Bool(true)),
        ("Off", pyyaml::PyyamlScalar::Bool(false)),
        ("oFF", pyyaml::PyyamlScalar::Text),
        ("y", pyyaml::PyyamlScalar::Text),
        ("010", pyyaml::PyyamlScalar::Int("8".into())),
        ("08", pyyaml::PyyamlScalar::Text),
        ("0o17", pyyaml::PyyamlScalar::Text),
        ("1_000", pyyaml::PyyamlScalar::Int("1000".into())),
        ("1:30", pyyaml::PyyamlScalar::Int("90".into())),
        ("-0b101", pyyaml::PyyamlScalar::Int("-5".into())),
        (
            "0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF",
            pyyaml::PyyamlScalar::Int("5444517870735015415413993718908291383295".into()),
        ),
        ("1e3", pyyaml::PyyamlScalar::Text),
        ("1.0e3", pyyaml::PyyamlScalar::Text),
        ("1.0e+3", pyyaml::PyyamlScalar::Float(1000.0)),
        ("-.5", pyyaml::PyyamlScalar::Text),
        (".5", pyyaml::PyyamlScalar::Float(0.5)),
        ("1.", pyyaml::PyyamlScalar::Float(1.0)),
        ("1:30.5", pyyaml::PyyamlScalar::Float(90.5)),
        ("2024-01-01", pyyaml::PyyamlScalar::Timestamp),
        ("2024-1-1", pyyaml::PyyamlScalar::Text),
        ("2024-1-1 1:02:03", pyyaml::PyyamlScalar::Timestamp),
        ("<<", pyyaml::PyyamlScalar::Merge),
        ("~", pyyaml::PyyamlScalar::Null),
    ];
    for (text, expected) in cases {
        let node = root(text);
        assert_eq!(pyyaml::classify_scalar(&node), Some(expected), "{text}");
    }
}

#[test]
fn duplicate_keys_are_found_at_the_second_one() {
    let text = "a: 1\nb: {c: 1, c: 2}\na: 2\n";
    let found = find_duplicate_keys(&root(text));
    assert_eq!(found, vec![("c".to_owned(), Span::new(15, 16)), ("a".to_owned(), Span::new(21, 22))]);
}

#[test]
fn a_billion_laughs_stop_at_the_node_limit() {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let below = format!("*a{}", level - 1);
        let items = vec![below; 9].join(", ");
        text.push_str(&format!("a{level}: &a{level} [{items}]\n"));
    }
    let document = parse(&text, 0);
    assert!(
        matches!(document.fatal_problem(), Some((YamlProblem::TooComplex(_), _))),
        "{:?}",
        document.fatal_problem()
    );
}

#[test]
fn ten_thousand_brackets_are_too_deep_and_nothing_worse() {
    for open in ["[", "{", "- ", "? "] {
        let document = parse(&open.repeat(10_000), 0);
        assert!(document.root.is_none() && document.fatal_problem().is_some(), "{open}");
    }
}

#[test]
fn an_alias_to_its_own_parent_is_an_error() {
    let document = parse("a: &a [*a]\n", 0);
    assert!(document.fatal_problem().is_some());
}

#[test]
fn comments_are_kept_with_their_place() {
    let text = "# one\na: 1 # two\n";
    let document = parse(text, 0);
    let comments: Vec<&str> = document.comments.iter().map(|span| &text[span.range()]).collect();
    assert_eq!(comments, ["# one", "# two"]);
}

#[test]
fn a_tab_counts_outside_quotes_blocks_and_comments_only() {
    let tab = |text: &str| {
        parse(text, 0).problems.iter().find(|(trouble, _)| *trouble == YamlProblem::Tab).map(|(_, span)| span.start)
    };
    assert_eq!(tab("a:\tb\n"), Some(2));
    assert_eq!(tab("a: b\tc\n"), Some(4));
    assert_eq!(tab("a: b\t\n"), Some(4));
    assert_eq!(tab("a: 'b\tc' # x\ty\nd: |\n  e\tf\n"), None);
}

#[test]
fn a_tab_in_the_indentation_is_called_a_tab() {
    let tab = |text: &str| match parse(text, 3).fatal_problem() {
        Some((YamlProblem::TabIndentation, span)) => Some(span.start - 3),
        _ => None,
    };
    assert_eq!(tab("a:\n\tb: c\n"), Some(3));
    assert_eq!(tab("a:\n  b: c\n\td: e\n"), Some(10));
    assert_eq!(tab("a:\n\t- b\n\t- c\n"), Some(3));
    // Tabs elsewhere are not the cause.
    assert_eq!(tab("a: |\n  \tcode\nb: c: d\n"), None);
    assert_eq!(tab("a:\tb: c\n"), None);
}

#[test]
fn a_value_that_is_not_there_has_no_text() {
    let root = root("a:\nb: ~\nc: {d: }\n");
    assert_eq!(root.find_entry("a").unwrap().value.text(), Some(""));
    assert_eq!(root.find_entry("b").unwrap().value.text(), Some("~"));
    assert_eq!(root.find_entry("c").unwrap().value.find_entry("d").unwrap().value.text(), Some(""));
    assert!(root.find_entry("a").unwrap().value.is_null());
}

#[test]
fn a_list_starts_at_its_first_dash() {
    for text in ["a:\n- b\n- c\nd: 1\n", "a:\n  - b\n  - c\nd: 1\n", "a:\n-   b\n- c\nd: 1\n"] {
        let root = parse(text, 7).root.unwrap();
        let span = root.get("a").unwrap().span;
        let list = &text[span.start - 7..span.end - 7];
        assert!(list.starts_with("- ") && list.ends_with("- c"), "{list:?}");
    }
}

#[test]
fn numbers_too_long_for_python_are_refused_at_once() {
    for text in [format!("1{}", ":00".repeat(500_000)), "9".repeat(500_000), format!("0x{}", "f".repeat(500_000))] {
        assert!(
            matches!(pyyaml::classify_scalar(&root(&text)), Some(pyyaml::PyyamlScalar::Refused(_))),
            "{}",
            &text[..8]
        );
    }
}

#[test]
fn what_is_written_is_read_back_by_both_typings() {
    let long = "a long \"key\": ".repeat(200);
    let inner = serde_json::json!({ "b": [1e30, -2.5e-9], "c": {} });
    let value = serde_json::json!({ long.clone(): inner.clone(), "d": [{ long: null, "e": inner }] });
    let written = super::render_document(&value);
    let read = parse(&written, 0);
    assert_eq!(read.fatal_problem(), None, "{written}");
    let root = read.root.unwrap();
    assert_eq!(super::core::to_json(&root), value);
    assert_eq!(super::pyyaml::to_json(&root), value);
}

#[test]
fn text_is_quoted_only_where_yaml_reads_it_differently() {
    for plain in ["Read Grep", "Bash(git:*) Read", "a#b"] {
        assert_eq!(quote_if_needed(plain), plain);
    }
    for text in ["true", "1", "", "a: b", "a #b", "[a]", " a", "null"] {
        assert_eq!(quote_if_needed(text), format!("\"{text}\""));
    }
}
