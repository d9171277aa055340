//! From Markdown to UASP, back, and again: every fact stays, for the bundled examples and every skill of the corpus.
//!
//! The corpus lies beside the repository and is not part of it; where it is absent this says so and passes.
#![expect(clippy::disallowed_methods, reason = "tests read skills from disk")]

use std::path::{Path, PathBuf};

use rep_check::{CheckOptions, Level, Profile};
use rep_convert::convert::{find_differences, finish_document};
use rep_convert::{docs, extract};
use rep_model::{DocumentOrigin, Skill, SkillDocument, SkillTree};
use serde_json::{Value, json};

/// The files below a folder whose name ends so, in order.
fn files(root: &Path, end: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut todo = vec![root.to_path_buf()];
    while let Some(folder) = todo.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                todo.push(path);
            } else if path.to_string_lossy().ends_with(end) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn parse(file: &str, text: &str) -> Skill {
    Skill::parse(SkillTree::from_texts("skill", &[(file, text)])).0
}

/// What a SKILL.md says, as it would be written.
fn converted(markdown: &str) -> Value {
    finish_document(extract::extract_document(&parse("SKILL.md", markdown)).raw_value()).document.into_raw_value()
}

/// A SKILL.md of what a UASP file says.
fn skill_md(value: &Value) -> String {
    docs::write_skill_md(&SkillDocument::from_value(value.clone(), DocumentOrigin::Authored, Vec::new()))
}

/// What is different after the way there and back.
fn lost(value: &Value) -> Vec<String> {
    let back = converted(&skill_md(value));
    find_differences(value, &back).iter().map(|one| format!("{one:?}")).collect()
}

/// What makes a text no SKILL.md.
fn refused(markdown: &str) -> Vec<String> {
    let name = parse("SKILL.md", markdown).name().unwrap_or_default().to_owned();
    let (skill, faults) = Skill::parse(SkillTree::from_texts(&name, &[("SKILL.md", markdown)]));
    let options = CheckOptions { profiles: vec![Profile::AgentSkills], ..CheckOptions::default() };
    let findings = rep_check::check_skill(&skill, faults, &options).findings;
    let errors = findings.iter().filter(|finding| finding.level == Level::Error);
    errors.map(|finding| format!("{}: {}", finding.rule.name, finding.message)).collect()
}

/// The places where two values are not equal to the letter.
fn unequal(path: &str, one: &Value, two: &Value, found: &mut Vec<String>) {
    match (one, two) {
        (Value::Object(a), Value::Object(b)) if a.len() == b.len() && a.keys().all(|key| b.contains_key(key)) => {
            a.iter().for_each(|(key, value)| unequal(&format!("{path}.{key}"), value, &b[key], found));
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            a.iter().zip(b).for_each(|(a, b)| unequal(&format!("{path}[]"), a, b, found));
        }
        _ if one == two => {}
        _ => found.push(format!("{path}: {one} became {two}")),
    }
}

fn roundtrip(root: &Path, least: usize) {
    let files = files(root, "/SKILL.md");
    let mut wrong = Vec::new();
    for path in &files {
        let text = String::from_utf8_lossy(&std::fs::read(path).expect("what was found can be read")).into_owned();
        let value = converted(&text);
        let mut lost = refused(&skill_md(&value));
        unequal("", &value, &converted(&skill_md(&value)), &mut lost);
        if !lost.is_empty() {
            wrong.push(format!("{}\n  {}", path.display(), lost.join("\n  ")));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), files.len(), wrong[..wrong.len().min(25)].join("\n"));
    assert!(files.len() >= least, "only {} skills were read", files.len());
}

#[test]
fn examples_keep_every_fact() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    roundtrip(&root, 5);
    for path in files(&root, ".uasp.yaml") {
        let text = std::fs::read_to_string(&path).unwrap();
        let document = SkillDocument::from_skill(&parse("skill.uasp.yaml", &text)).unwrap();
        let mut lost = lost(document.raw_value());
        unequal("", document.raw_value(), &converted(&skill_md(document.raw_value())), &mut lost);
        assert_eq!(lost, [""; 0], "{}", path.display());
        assert_eq!(refused(&skill_md(document.raw_value())), [""; 0], "{}", path.display());
    }
}

/// Files that lack everything a SKILL.md needs, or hold what it cannot.
#[test]
fn whatever_a_structured_skill_holds_its_markdown_is_a_skill() {
    for value in [
        json!({ "meta": { "name": "t", "type": "knowledge" } }),
        json!({ "meta": { "name": "Not A Name_1", "description": "" } }),
        json!({ "meta": {} }),
        json!({}),
        json!({ "meta": { "name": "x".repeat(90), "description": "long ".repeat(400) } }),
        json!({ "meta": { "name": "t", "description": "---\nname: fake\n---\n" }, "triggers": { "keywords": ["a"] } }),
        json!({ "meta": { "name": "t", "description": "a: b # c\n\n- d\n1. e" }, "x-own": { "a": [1, "b"] } }),
    ] {
        let markdown = skill_md(&value);
        assert_eq!(refused(&markdown), [""; 0], "{markdown}");
    }
}

/// A generated page may be continued by hand: text outside its layout is read like any Markdown.
#[test]
fn what_people_add_to_a_page_is_read_too() {
    let value = finish_document(&json!({
        "meta": { "name": "t", "type": "knowledge", "description": "Shows." },
        "constraints": { "never": ["lie"] },
        "x-own": { "a": 1 },
    }));
    let page = skill_md(value.document.raw_value()) + "\n## Notes\n\nNever skip the tests. If it rains, stay inside.\n";
    let read = converted(&page);
    assert_eq!(read["constraints"]["never"], json!(["lie", "skip the tests"]));
    assert_eq!(read["decisions"], json!([{ "when": "it rains", "then": "stay inside" }]));
    assert_eq!(read["x-own"], json!({ "a": 1 }));
}

/// Values that could be mistaken for the layout around them.
#[test]
fn hostile_values_stay_where_they_are() {
    let value = json!({
        "meta": { "name": "t", "version": "0", "type": "cli", "description": "# no\n\n- item\n| cell |\n\\back\n\n1. one" },
        "triggers": { "keywords": ["a`b", "404", "true", "a|b"], "intents": ["a; b", "c"], "file_patterns": ["*.{a,b}"] },
        "constraints": {
            "never": ["## Commands", "`x`", "a: b"],
            "prefer": [{ "use": "a over b", "over": "c" }, { "use": "x", "over": "y when z" }, { "use": "u", "over": "v", "when": "w" }],
        },
        "decisions": [{ "when": "a | b", "then": "`c \\| d`", "ref": "1" }],
        "state": { "entities": [{ "name": "7", "format": "@e{n}", "created_by": ["a, b", "c"], "invalidated_by": ["d"] }] },
        "commands": { "a.b": {
            "syntax": "a\n```\n## Workflows", "description": "> quote", "aliases": ["1"],
            "args": [
                { "name": "p|q", "type": "enum", "required": false, "values": ["1", 2, "x y"], "default": "3" },
                { "name": "r", "type": "string", "required": true },
                { "name": "s", "type": "string" },
            ],
            "flags": [{ "name": "--f", "short": "-f", "type": "int", "default": 3, "purpose": "a | b" }],
            "variants": [{ "syntax": "a \\\n  b" }], "x-own": { "deep": [1] }, "example": "run\n",
        }, "c": { "syntax": "c", "example": "one\n\ntwo\n\n" } },
        "workflows": { "A-b c": { "description": "Throughout", "steps": [{ "cmd": "`x`: (optional)", "note": "n", "optional": true }] } },
        "reference": { "r": { "notes": "n:", "syntax": "s\n", "example": "e\n  \n", "long": "k\nl\n", "values": ["1", "a"] } },
        "environment": [{ "name": "E", "purpose": "`p`", "default": "10" }],
        "sources": [{ "id": "s", "url": "https://e.org/a(b)", "use_for": "x (y)" }, { "id": "q", "path": "a b.md" }],
    });
    let value = finish_document(&value).document.into_raw_value();
    let mut lost = Vec::new();
    unequal("", &value, &converted(&skill_md(&value)), &mut lost);
    assert_eq!(lost, [""; 0], "{}", skill_md(&value));
}

/// The content version of the specification's own examples is the same after the way there and back.
#[test]
fn examples_of_the_specification_keep_their_content_version() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/seeds");
    let Some(file) = files(&folder, ".txt").into_iter().find(|file| file.to_string_lossy().contains("/003_")) else {
        rep_test_support::report_skipped(
            "../shared/seeds is not here, so no example of the specification was converted",
        );
        return;
    };
    let text = std::fs::read_to_string(file).unwrap();
    let blocks = text.split("```yaml\n").skip(1).filter_map(|block| block.split("```").next());
    let mut examples = 0;
    for block in blocks.filter(|block| block.contains("meta:\n") && block.len() > 3000) {
        let document = SkillDocument::from_skill(&parse("skill.uasp.yaml", block)).unwrap();
        let value = finish_document(document.raw_value()).document.into_raw_value();
        let mut lost = Vec::new();
        unequal("", &value, &converted(&skill_md(&value)), &mut lost);
        assert_eq!(lost, [""; 0], "{block}");
        examples += 1;
    }
    assert_eq!(examples, 3);
}

#[test]
fn every_skill_of_the_corpus_keeps_every_fact() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/skills");
    if !root.is_dir() {
        rep_test_support::report_skipped("../shared/corpus is not here, so no real skill went there and back");
        return;
    }
    roundtrip(&root, 400);
}
