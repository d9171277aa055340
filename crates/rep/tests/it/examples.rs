use std::path::PathBuf;

use rep_test_support::ScratchFolder;

use super::{json, run};

fn examples() -> String {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples").to_string_lossy().into_owned()
}

#[test]
fn every_example_passes_its_own_checks() {
    let scratch = ScratchFolder::new();
    let found = run(&scratch, &["check", &examples(), "--format", "json"]);
    let report = json(&found);
    assert_eq!((found.code, &report["findings"]), (0, &serde_json::json!([])), "{}", found.stdout);
    assert!(report["summary"]["skills"].as_u64() >= Some(11), "{report}");
}

#[test]
fn each_example_passes_its_dialects_profile() {
    let scratch = ScratchFolder::new();
    for (name, profile) in [
        ("changelog-notes", "agentskills"),
        ("changelog-notes", "portable"),
        ("changelog-notes", "claude-api"),
        ("csv-profile", "universal"),
        ("json-patch", "universal"),
        ("disk-tidy", "universal"),
        ("slugify", "aam"),
        ("style-guide", "pmcp"),
        ("glossary", "pmcp"),
        ("http-status", "uasp"),
        ("git-worktrees", "uasp"),
        ("todo-api", "uasp"),
        ("sql-review", "uasp"),
    ] {
        let found = run(
            &scratch,
            &["check", &format!("{}/{name}", examples()), "--profile", profile, "--strict-schema", "--format", "json"],
        );
        assert_eq!(json(&found)["summary"]["errors"], 0, "{name} under {profile}: {}", found.stdout);
    }
}

#[test]
fn the_tour_runs_to_its_end_and_leaves_nothing_behind() {
    let scratch = ScratchFolder::new();
    let temporary = scratch.work_folder().join("tmp");
    std::fs::create_dir_all(&temporary).unwrap();
    let found = scratch.run_with_environment(super::rep(), &["tour"], &[("TMPDIR", &temporary.to_string_lossy())]);
    assert_eq!(found.code, 0, "{found:?}");
    for words in [
        "$ rep check faulty\n",
        "yaml-value-unquoted",
        "$ rep check faulty --diff",
        "\"match\": true",
        "\"origin\": \"extracted\"",
        "connects to nothing",
        "\"path\": \"data/clutter/menu.txt.orig\"",
        "no findings",
        "End of the tour.",
    ] {
        assert!(found.stdout.contains(words), "{words:?} not in\n{}", found.stdout);
    }
    assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 0);
}
