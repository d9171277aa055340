//! From Markdown to UASP, back, and again: every fact stays, for the bundled examples and every skill of the corpus.
//!
//! The corpus lies beside the repository and is not part of it; where it is absent this says so and passes.
#![expect(clippy::disallowed_methods, reason = "tests read skills from disk")]

use std::path::{Path, PathBuf};

use rep_model::{Skill, SkillTree};
use rep_uasp::convert::{differences, finish};
use rep_uasp::{Document, docs, extract};
use serde_json::Value;

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
    Skill::parse(SkillTree::of("skill", &[(file, text)])).0
}

/// What a SKILL.md says, as it would be written.
fn converted(markdown: &str) -> Value {
    finish(&extract::extract(&parse("SKILL.md", markdown)).value).value
}

/// What is different after the way there and back.
fn lost(value: &Value) -> Vec<String> {
    let back = converted(&docs::skill_md(value));
    differences(value, &back).iter().map(|one| format!("{one:?}")).collect()
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
        let text = String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
        let value = converted(&text);
        let mut lost = Vec::new();
        unequal("", &value, &converted(&docs::skill_md(&value)), &mut lost);
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
        let document = Document::of(&parse("skill.uasp.yaml", &text)).unwrap();
        assert_eq!(lost(&document.value), [""; 0], "{}", path.display());
    }
}

#[test]
fn every_skill_of_the_corpus_keeps_every_fact() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/skills");
    if !root.is_dir() {
        eprintln!("SKIPPED: ../shared/corpus is not here, so no real skill went there and back");
        return;
    }
    roundtrip(&root, 400);
}
