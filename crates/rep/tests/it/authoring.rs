//! What an author meets first: a new skill, the sample of a specification, a typing error.

use rep_test_support::ScratchFolder;

use super::{json, rules, run};

/// The sample of the UAAPS chapter on skills.
const AAM_SAMPLE: &str = "---
# === REQUIRED ===
name: skill-name                # [a-z0-9-], max 64 chars
description: >                  # Max 1024 chars. WHAT it does + WHEN to use it.
  Extract text and tables from PDF files, fill forms, merge documents.
  Use when working with PDF files or when the user mentions PDFs.
# === OPTIONAL (Open Standard) ===
license: Apache-2.0
compatibility:                  # Only if skill has special requirements
  requires:
    - python>=3.10
    - pypdf
metadata:                       # Arbitrary key-value extensions
  author: my-org
  version: \"1.0\"
# === OPTIONAL (Platform Extensions) ===
allowed-tools: Read Grep Glob Bash   # Pre-approved tools (experimental)
context: fork                   # Claude Code: run in isolated sub-agent
agent: Explore                  # Claude Code: sub-agent config
disable-model-invocation: true  # Claude Code: user-only invocation
---
# Skill Title
## Instructions
Step-by-step guidance...
## Examples
Concrete usage examples...
";

#[test]
fn the_sample_of_the_aam_chapter_has_no_findings() {
    let scratch = ScratchFolder::new();
    scratch.write_file("skill-name/SKILL.md", AAM_SAMPLE);
    let found = run(&scratch, &["check", "skill-name"]);
    assert_eq!((found.code, found.stdout.as_str()), (0, "checked 1 skill: no findings\n"));
    // Without the mapping, it is an ordinary skill with fields that only Claude Code reads. That is worth a finding only
    // for those who ask for a strict profile.
    let plain = AAM_SAMPLE.replace("\n  requires:\n    - python>=3.10\n    - pypdf", " Needs Python").replace(
        "compatibility:                  # Only if skill has special requirements Needs Python",
        "compatibility: Needs Python",
    );
    scratch.write_file("skill-name/SKILL.md", &plain);
    let found = json(&run(&scratch, &["check", "skill-name", "--format", "json"]));
    assert_eq!(found["findings"], serde_json::json!([]), "{found}");
    let found = json(&run(&scratch, &["check", "skill-name", "--profile", "agentskills", "--format", "json"]));
    assert_eq!((&found["summary"]["errors"], &found["findings"][0]["at"]), (&1.into(), &"context".into()), "{found}");
}

#[test]
fn a_new_skill_has_one_remark_about_its_placeholder() {
    for options in [vec![], vec!["--profile", "universal"], vec!["--profile", "aam"], vec!["--uasp"]] {
        let scratch = ScratchFolder::new();
        let arguments: Vec<&str> = ["init", "word-count"].into_iter().chain(options.iter().copied()).collect();
        assert_eq!(run(&scratch, &arguments).code, 0);
        let found = run(&scratch, &["check", "word-count", "--format", "json"]);
        let report = json(&found);
        assert_eq!((found.code, rules(&found)), (0, vec!["placeholder-text".to_owned()]), "{options:?}: {report}");
        assert_eq!(report["summary"]["infos"], 1);
    }
}

#[test]
fn a_broken_test_config_is_an_error_before_the_tests_run() {
    let scratch = ScratchFolder::new();
    assert_eq!(run(&scratch, &["init", "word-count", "--profile", "aam"]).code, 0);
    scratch.write_file("word-count/tests/test-config.json", "{\n  \"timeout\": 10,\n}\n");
    let found = run(&scratch, &["check", "word-count", "--select", "test-config-invalid", "--format", "json"]);
    let report = json(&found);
    assert_eq!((found.code, &report["findings"][0]["line"]), (1, &serde_json::json!(3)), "{report}");
    assert_eq!(report["findings"][0]["file"], "word-count/tests/test-config.json");
}

#[test]
fn a_new_skill_is_listed_or_the_listing_says_how() {
    let scratch = ScratchFolder::new();
    assert_eq!(run(&scratch, &["init", "word-count"]).code, 0);
    let listing = run(&scratch, &["list"]);
    assert!(
        listing.stderr.contains("use `rep list --path word-count`, or move it to `skills/word-count`"),
        "{listing:?}"
    );
    assert!(run(&scratch, &["list", "--path", "word-count"]).stdout.starts_with("word-count  active"));
    assert_eq!(run(&scratch, &["init", "house-style", "--uasp"]).code, 0);
    let listing = run(&scratch, &["list", "--json"]);
    assert!(listing.stderr.contains("`house-style`, `word-count` are not listed"), "{listing:?}");
    assert_eq!(json(&listing)["skills"], serde_json::json!([]));
    let moved = scratch.work_folder().join("skills");
    std::fs::create_dir(&moved).expect("the directory can be created");
    for name in ["word-count", "house-style"] {
        std::fs::rename(scratch.work_folder().join(name), moved.join(name)).expect("the skill can be moved");
    }
    let listing = run(&scratch, &["list", "--trust"]);
    assert!(listing.stdout.contains("word-count") && !listing.stderr.contains("not listed"), "{listing:?}");
}

#[test]
fn a_quiet_check_prints_errors_only() {
    let scratch = ScratchFolder::new();
    scratch.write_file("pdf/SKILL.md", "---\nname: pdf\ndescription: PDF\nauthor: me\n---\n\nBody.\n");
    assert!(run(&scratch, &["check"]).stdout.contains("info[field-unknown]"));
    let quiet = run(&scratch, &["check", "-q"]);
    assert_eq!((quiet.code, quiet.stdout.as_str(), quiet.stderr.as_str()), (0, "", ""));
    scratch.write_file("pdf/SKILL.md", "---\nname: pdf\nauthor: me\n---\n\nBody.\n");
    let quiet = run(&scratch, &["check", "-q"]);
    let lines: Vec<&str> = quiet.stdout.lines().filter(|line| line.contains('[') || line.contains("checked")).collect();
    assert_eq!(
        (quiet.code, lines),
        (1, vec!["error[description-missing]: field `description` is missing"]),
        "{quiet:?}"
    );
}
