//! Every real skill of the shared corpus extracts, and what comes out is valid UASP without contradictions.
//!
//! The corpus lies beside the repository and is not part of it; where it is absent this says so and passes.
#![expect(clippy::disallowed_methods, reason = "tests read the corpus from disk")]

use std::path::{Path, PathBuf};

use rep_check::{CheckOptions, Profile};
use rep_convert::extract::extract_document;
use rep_model::{Skill, SkillTree};
use serde_json::json;

fn corpus() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/skills");
    path.is_dir().then_some(path)
}

/// The folders that hold a SKILL.md, in order.
fn skills(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut todo = vec![root.to_path_buf()];
    while let Some(folder) = todo.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                todo.push(path);
            } else if path.file_name().is_some_and(|name| name == "SKILL.md") {
                found.push(folder.clone());
            }
        }
    }
    found.sort();
    found
}

/// The names of a skill's files.
fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut todo = vec![folder.to_path_buf()];
    while let Some(folder_now) = todo.pop() {
        for entry in std::fs::read_dir(&folder_now).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                todo.push(path);
            } else if let Some(name) = path.strip_prefix(folder).ok().and_then(Path::to_str) {
                found.push(name.replace('\\', "/"));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn every_extracted_document_is_valid() {
    let Some(corpus) = corpus() else {
        rep_test_support::report_skipped("../shared/corpus is not here, so no real skill was extracted");
        return;
    };
    let mut wrong = Vec::new();
    let mut count = 0;
    for folder in skills(&corpus) {
        let text = String::from_utf8_lossy(&std::fs::read(folder.join("SKILL.md")).unwrap()).into_owned();
        let names = files(&folder);
        let mut tree: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
        tree.retain(|(name, _)| *name != "SKILL.md" && !name.ends_with(".uasp.yaml"));
        tree.push(("SKILL.md", &text));
        let (skill, _) = Skill::parse(SkillTree::from_texts("skill", &tree));
        let document = extract_document(&skill);
        let lines = text.lines().count() + 1;
        for fact in &document.facts {
            if fact.line == 0 || fact.line > lines {
                wrong.push(format!("{}: {:?} stands on line {} of {lines}", folder.display(), fact.path, fact.line));
            }
        }
        let mut value = document.into_raw_value();
        value["meta"]["version"] = json!("00000000");
        let uasp = value.to_string();
        let name = format!("{}.uasp.yaml", value["meta"]["name"].as_str().unwrap());
        tree.retain(|(file, _)| *file != "SKILL.md");
        tree.push((&name, &uasp));
        let (skill, faults) = Skill::parse(SkillTree::from_texts("skill", &tree));
        let options = CheckOptions { profiles: vec![Profile::Uasp], strict_schema: true, ..CheckOptions::default() };
        let report = rep_check::check_skill(&skill, faults, &options);
        for finding in report.findings.iter().filter(|finding| !EXPECTED.contains(&finding.rule.name)) {
            wrong.push(format!("{}: {} {}", folder.display(), finding.rule.name, finding.message));
        }
        count += 1;
    }
    assert!(wrong.is_empty(), "{} of {count} skills:\n{}", wrong.len(), wrong[..wrong.len().min(60)].join("\n"));
    assert!(count > 400, "only {count} skills were read");
}

/// What no extraction can help: the version is a placeholder until it is computed, a link of the author may lead nowhere,
/// and the text may hold what the author put there.
const EXPECTED: &[&str] = &["uasp-version-stale", "uasp-path-missing"];
