//! What the first release wrote is still read: records verify, approvals hold, lock files compare.
//!
//! `tests/fixtures/first-release` was written by the binary before `Runtime` existed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rep_test_support::ScratchFolder;

use crate::{json, run};

/// Copies the fixture: records into the data directory, the skill and the lock file into the project.
fn fixture(scratch: &ScratchFolder) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/first-release");
    let data = scratch.work_folder().join("../home").join(".local/share/repertoire");
    fs::create_dir_all(&data).expect("the fixture can be copied");
    for name in ["approvals.json", "audit.head", "audit.jsonl", "calls.head", "calls.jsonl"] {
        fs::copy(from.join(name), data.join(name)).expect("the fixture can be copied");
        fs::set_permissions(data.join(name), fs::Permissions::from_mode(0o600)).expect("the fixture can be copied");
    }
    for (source, target) in [
        ("skills/forms/SKILL.md", "SKILL.md"),
        ("skills/forms/scripts/fill.sh", "scripts/fill.sh"),
        ("skills/forms/scripts/look.sh", "scripts/look.sh"),
    ] {
        let text = fs::read_to_string(from.join(source)).expect("the fixture can be copied");
        scratch.write_file(&format!("skills/forms/{target}"), &text);
        scratch.write_file(&format!(".claude/skills/forms/{target}"), &text);
    }
    scratch.write_file(
        "skills-lock.json",
        fs::read_to_string(from.join("skills-lock.json")).expect("the fixture can be copied"),
    );
}

#[test]
fn records_of_the_first_release_verify_and_are_continued() {
    let scratch = ScratchFolder::new();
    fixture(&scratch);
    let before = json(&run(&scratch, &["audit", "verify", "--json"]));
    assert_eq!(before["intact"], true, "{before}");
    let records = before["records"].as_u64().unwrap();
    let ran = run(&scratch, &["run", "forms:look", "--path", "skills", "--yes"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let after = json(&run(&scratch, &["audit", "verify", "--json"]));
    assert_eq!((after["intact"].as_bool(), after["records"].as_u64()), (Some(true), Some(records + 2)), "{after}");
    let runs = json(&run(&scratch, &["audit", "--json"]));
    assert!(runs["runs"].as_array().is_some_and(|runs| runs.len() >= 3), "{runs}");
}

#[test]
fn an_approval_of_the_first_release_still_holds_and_only_for_what_it_was_given() {
    let scratch = ScratchFolder::new();
    fixture(&scratch);
    let policy = |workspace: &str| {
        let policy = run(&scratch, &["policy", "forms", "--path", "skills", "--workspace", workspace, "--json"]);
        json(&policy)["tools"][0]["approved"].as_bool()
    };
    assert_eq!(policy("/usr/share"), Some(true));
    assert_eq!(policy("/usr/lib"), Some(false), "another workspace is another question");
}

#[test]
fn a_lock_file_of_the_first_release_still_verifies() {
    let scratch = ScratchFolder::new();
    fixture(&scratch);
    let verified = run(&scratch, &["verify"]);
    assert_eq!(verified.code, 0, "{verified:?}");
    scratch.write_file(".claude/skills/forms/SKILL.md", "changed");
    assert_eq!(run(&scratch, &["verify"]).code, 1);
}
