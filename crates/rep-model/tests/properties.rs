//! What holds for every input: reading never panics, spans lie inside the text, writing and reading are inverse.

use proptest::prelude::*;
use rep_model::yaml::{self, YamlNode, YamlValue, core};
use rep_model::{DocumentOrigin, FileContent, Skill, SkillDocument, SkillTree, TreeEntry, skill_md, uasp};
use serde_json::Value as Json;

/// Text that looks enough like YAML and Markdown to get deep into the parsers.
fn shaped_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("---\n".to_owned()),
        Just("name: a\n".to_owned()),
        Just("description: b: c\n".to_owned()),
        Just("  - x\n".to_owned()),
        Just("x-personal-mcp: {id: a, references: {r: {path: p}}}\n".to_owned()),
        Just("tools: [{name: t, input_schema: {type: object}}]\n".to_owned()),
        Just("k: |\n  one\n\n two\n".to_owned()),
        Just("k: >-\n  é😀\n".to_owned()),
        Just("&a [*a, *b]".to_owned()),
        Just("? {x: [".to_owned()),
        Just("]}'\"".to_owned()),
        Just("\r\n".to_owned()),
        Just("\t".to_owned()),
        Just("!!str 'x'".to_owned()),
        Just("[a](b.md) `c` \n```\n".to_owned()),
        Just("<!-- rep: allow(x) -->\n".to_owned()),
        Just("\u{feff}".to_owned()),
        "[ -~\u{e9}\u{1f600}\0]{0,8}",
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

fn tree_of(name: &str, bytes: Vec<u8>) -> SkillTree {
    let mut tree = SkillTree::from_texts("x", &[]);
    let size_bytes = bytes.len() as u64;
    tree.entries.insert(
        name.to_owned(),
        TreeEntry::File { size_bytes, is_executable: false, content: FileContent::Bytes(bytes) },
    );
    tree
}

fn assert_spans_inside(node: &YamlNode, length: usize) {
    assert!(node.span.start <= node.span.end && node.span.end <= length, "{:?} in {length}", node.span);
    match &node.value {
        YamlValue::Scalar { .. } => {}
        YamlValue::Sequence { items, .. } => items.iter().for_each(|item| assert_spans_inside(item, length)),
        YamlValue::Mapping { entries, .. } => {
            for entry in entries {
                assert_spans_inside(&entry.key, length);
                assert_spans_inside(&entry.value, length);
            }
        }
    }
}

fn json_value() -> impl Strategy<Value = Json> {
    let text = prop_oneof![
        "[ -~]{0,12}",
        "\\PC{0,6}",
        "(yes|no|on|null|~|1e3|010|1:30|2024-01-01|0x1f|.inf|-|\\?|: |# x|a\n b|'|\"|\\[|\\{|&a|\\*a|!t|%|@|`)",
        any::<String>().prop_map(|text| text.chars().filter(|letter| *letter != '\0').take(8).collect::<String>()),
    ];
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<f64>().prop_filter("JSON has no others", |number| number.is_finite()).prop_map(Json::from),
        text.clone().prop_map(Json::from),
    ];
    leaf.prop_recursive(4, 32, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Json::from),
            prop::collection::vec((text.clone(), inner), 0..5)
                .prop_map(|pairs| Json::Object(pairs.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_make_reading_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for name in ["SKILL.md", "tools.json", "x.uasp.yaml"] {
            let _ = Skill::parse(tree_of(name, bytes.clone()));
        }
    }

    #[test]
    fn shaped_text_is_read_with_spans_inside_it(text in shaped_text()) {
        for name in ["SKILL.md", "tools.json", "x.uasp.yaml"] {
            let (skill, faults) = Skill::parse(tree_of(name, text.clone().into_bytes()));
            for fault in faults {
                prop_assert!(fault.span.start <= fault.span.end && fault.span.end <= text.len(), "{:?}", fault);
            }
            if let Some(front) = skill.frontmatter() {
                assert_spans_inside(&front.root, text.len());
            }
            if let Some(manifest) = &skill.manifest {
                let _ = manifest.outline();
            }
            for uasp in &skill.uasp {
                if let Some(root) = &uasp.root {
                    assert_spans_inside(root, text.len());
                    let _ = rep_model::content_hash::hash_content(root);
                    let _ = uasp.document();
                }
            }
        }
    }

    #[test]
    fn a_document_has_the_same_sections_with_and_without_a_file(
        sections in prop::collection::vec((prop::sample::select(&uasp::SECTION_NAMES[..]), json_value()), 0..6),
    ) {
        let value = Json::Object(sections.into_iter().map(|(name, value)| (name.to_owned(), value)).collect());
        let (skill, _) = Skill::parse(tree_of("x.uasp.yaml", yaml::render_document(&value).into_bytes()));
        let alone = SkillDocument::from_value(value, DocumentOrigin::Authored, Vec::new());
        let Some(authored) = SkillDocument::from_skill(&skill) else {
            prop_assert_eq!(&alone.sections, &uasp::UaspSections::default());
            return Ok(());
        };
        prop_assert_eq!(authored.raw_value(), alone.raw_value());
        prop_assert_eq!(authored.runnable_names(), alone.runnable_names());
        prop_assert_eq!(&authored.sections.meta.extra, &alone.sections.meta.extra);
        prop_assert_eq!(authored.sections.decisions.len(), alone.sections.decisions.len());
    }

    #[test]
    fn the_parts_of_a_skill_md_put_together_are_the_file(text in shaped_text()) {
        if let Ok(parts) = skill_md::split_frontmatter(&text) {
            let whole = format!(
                "{}{}{}{}",
                &text[..parts.front.start],
                &text[parts.front.range()],
                &text[parts.front.end..parts.body.start],
                &text[parts.body.range()]
            );
            prop_assert_eq!(whole, text);
        }
    }

    #[test]
    fn what_is_written_is_read_back_the_same(value in json_value()) {
        let text = yaml::render_document(&value);
        let document = yaml::parse(&text, 0);
        prop_assert_eq!(document.fatal_problem(), None, "{}", text);
        let root = document.root.expect("a written value has a root");
        prop_assert_eq!(core::to_json(&root), value.clone(), "{}", text);
        prop_assert_eq!(yaml::pyyaml::to_json(&root), value, "{}", text);
    }
}
