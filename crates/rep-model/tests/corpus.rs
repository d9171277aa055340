//! Every real skill of the shared corpus parses to the value recorded for it, or fails with the recorded kind of fault.
//!
//! The corpus lies beside the repository and is not part of it; where it is absent this says so and passes.
#![expect(clippy::disallowed_methods, reason = "tests read the corpus from disk")]

use std::path::{Path, PathBuf};

use rep_model::yaml::{core, pyyaml};
use rep_model::{Fault, FaultKind, Skill, SkillTree};
use serde_json::Value;
use sha2::{Digest, Sha256};

fn corpus() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    path.is_dir().then_some(path)
}

/// The kinds of fault that match a recorded class of error.
fn kinds(class: &str) -> &'static [FaultKind] {
    match class.split([' ', ':']).next() {
        Some("delimit") if class.contains("unclosed") => &[FaultKind::FrontmatterUnclosed],
        Some("delimit") => &[FaultKind::FrontmatterMissing],
        // A key that is a mapping is legal YAML, which Python cannot hold; we quote it or refuse it.
        _ => &[FaultKind::YamlInvalid, FaultKind::YamlValueUnquoted, FaultKind::FrontmatterNotMapping],
    }
}

fn compare(expected: &Value, skill: &Skill, faults: &[Fault], wrong: &mut Vec<String>) {
    let id = &expected["dir"];
    let manifest = skill.manifest.as_ref().expect("every skill of the corpus has a SKILL.md");
    if expected["result"] == "error" {
        let class = expected["error_class"].as_str().unwrap_or_default();
        let found: Vec<FaultKind> = faults.iter().map(|fault| fault.kind).collect();
        if !found.iter().any(|kind| kinds(class).contains(kind)) && class != "yaml:unhashable-key" {
            wrong.push(format!("{id}: recorded {class}, found {found:?}"));
        }
        if let Some(lenient) = expected.get("lenient_frontmatter").filter(|_| class != "yaml:unhashable-key") {
            let found = skill.frontmatter().map(|front| pyyaml::to_json(&front.root));
            if found.as_ref() != Some(lenient) {
                wrong.push(format!("{id}: repaired to {found:?}, recorded {lenient}"));
            }
        }
        return;
    }
    let Some(front) = skill.frontmatter() else {
        wrong.push(format!("{id}: no frontmatter, {faults:?}"));
        return;
    };
    let mut typed = pyyaml::to_json(&front.root);
    // The record holds times as Python prints them; we keep them as written.
    for coerced in expected["coerced"].as_array().into_iter().flatten().filter(|coerced| coerced[1] == "timestamp") {
        let key = coerced[0].as_str().unwrap_or_default();
        if let Some(text) = typed[key].as_str().and_then(|text| text.strip_suffix('Z')) {
            typed[key] = Value::String(format!("{text}+00:00"));
        }
    }
    if typed != expected["frontmatter"] {
        wrong.push(format!("{id}: as PyYAML\n {typed}\n {}", expected["frontmatter"]));
    }
    let core_expected = expected.get("frontmatter_yaml12_core").unwrap_or(&expected["frontmatter"]);
    let typed = core::to_json(&front.root);
    if typed != *core_expected {
        wrong.push(format!("{id}: as YAML 1.2\n {typed}\n {core_expected}"));
    }
    let body = manifest.body();
    let digest: String = Sha256::digest(body.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    if digest != expected["body_sha256"].as_str().unwrap_or_default() {
        wrong.push(format!(
            "{id}: the body differs ({} characters, recorded {})",
            body.chars().count(),
            expected["body_chars"]
        ));
    }
}

#[test]
fn every_frontmatter_parses_to_what_is_recorded() {
    let Some(corpus) = corpus() else {
        rep_test_support::report_skipped("../shared/corpus is not here, so no real skill was read");
        return;
    };
    let lines = std::fs::read_to_string(corpus.join("expected.jsonl")).expect("the record can be read");
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in lines.lines() {
        let expected: Value = serde_json::from_str(line).expect("the record is JSON lines");
        let folder = corpus.join(expected["dir"].as_str().expect("a record names its folder"));
        let file = expected["skill_md"].as_str().unwrap_or("SKILL.md");
        let bytes = std::fs::read(folder.join(file)).expect("the skill can be read");
        let mut tree = SkillTree::from_texts("x", &[("SKILL.md", "")]);
        let size_bytes = bytes.len() as u64;
        let content = rep_model::FileContent::Bytes(bytes);
        tree.entries
            .insert("SKILL.md".to_owned(), rep_model::TreeEntry::File { size_bytes, is_executable: false, content });
        let (skill, faults) = Skill::parse(tree);
        compare(&expected, &skill, &faults, &mut wrong);
        count += 1;
    }
    assert!(count > 400, "only {count} skills were read");
    assert!(wrong.is_empty(), "{} of {count} differ:\n{}", wrong.len(), wrong.join("\n"));
}
