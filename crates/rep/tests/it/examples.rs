use std::path::PathBuf;

use rep_test_support::Scratch;

use super::{json, run};

fn examples() -> String {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples").to_string_lossy().into_owned()
}

#[test]
fn every_example_passes_its_own_checks() {
    let scratch = Scratch::new();
    let found = run(&scratch, &["check", &examples(), "--format", "json"]);
    let report = json(&found);
    assert_eq!((found.code, &report["findings"]), (0, &serde_json::json!([])), "{}", found.stdout);
    assert!(report["summary"]["skills"].as_u64() >= Some(11), "{report}");
}

#[test]
fn each_example_passes_its_dialects_profile() {
    let scratch = Scratch::new();
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
    let scratch = Scratch::new();
    let temporary = scratch.work().join("tmp");
    std::fs::create_dir_all(&temporary).unwrap();
    let found = scratch.run_with(super::rep(), &["tour"], &[("TMPDIR", &temporary.to_string_lossy())]);
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
        "That was the tour.",
    ] {
        assert!(found.stdout.contains(words), "{words:?} not in\n{}", found.stdout);
    }
    assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 0);
}

#[test]
fn every_command_has_help_with_an_example() {
    let scratch = Scratch::new();
    let overview = run(&scratch, &["--help"]).stdout;
    let lines = overview.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let commands: Vec<&str> =
        names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").collect();
    assert!(commands.len() >= 20 && commands.contains(&"check"), "{commands:?}");
    for command in commands {
        let found = run(&scratch, &[command, "--help"]);
        assert_eq!(found.code, 0);
        let has_example = found.stdout.contains("Example") && found.stdout.contains(&format!("rep {command}"));
        assert!(has_example, "{command}: {}", found.stdout);
    }
}
