use rep_test_support::ScratchFolder;

use super::{json, run};

#[test]
fn tools_json_is_made_from_the_frontmatter_and_the_same_every_time() {
    let scratch = ScratchFolder::new();
    run(&scratch, &["init", "counter", "--tool", "python"]);
    let shown = json(&run(&scratch, &["tools", "counter", "--json"]));
    assert_eq!(
        (&shown["source"], &shown["stale"], &shown["tools"][0]["name"]),
        (&"frontmatter".into(), &false.into(), &"count-words".into())
    );
    assert_eq!(run(&scratch, &["tools", "counter", "--write"]).code, 0);
    let first = scratch.read_file("counter/tools.json");
    assert_eq!(run(&scratch, &["tools", "counter", "--write"]).code, 0);
    assert_eq!(scratch.read_file("counter/tools.json"), first);
    let checked = run(&scratch, &["check", "counter"]);
    // The note is about the description, which is still that of the template.
    assert!(checked.code == 0 && checked.stdout.ends_with("checked 1 skill: 1 note\n"), "{checked:?}");
    assert!(checked.stdout.contains("placeholder-text"), "{checked:?}");
}

#[test]
fn a_stale_copy_is_told_and_mended() {
    let scratch = ScratchFolder::new();
    run(&scratch, &["init", "counter", "--tool", "python"]);
    run(&scratch, &["tools", "counter", "--write"]);
    let stale = scratch.read_file("counter/tools.json").replace("Counts the words", "Counted words");
    scratch.write_file("counter/tools.json", stale);
    assert_eq!(json(&run(&scratch, &["tools", "counter", "--json"]))["stale"], true);
    assert!(run(&scratch, &["check", "counter"]).stdout.contains("tools-json-stale"));
    run(&scratch, &["tools", "counter", "--write"]);
    assert_eq!(json(&run(&scratch, &["tools", "counter", "--json"]))["stale"], false);
}

#[test]
fn a_skill_without_tools_has_none_to_write() {
    let scratch = ScratchFolder::new();
    run(&scratch, &["init", "plain"]);
    assert_eq!(
        json(&run(&scratch, &["tools", "plain", "--json"])),
        serde_json::json!({"source": "none", "stale": false, "tools": []})
    );
    let found = run(&scratch, &["tools", "plain", "--write"]);
    assert_eq!(found.code, 2);
    assert!(found.stderr.contains("declares no tools"), "{found:?}");
}

#[test]
fn a_skill_is_taken_by_name_too() {
    let scratch = ScratchFolder::new();
    run(&scratch, &["init", "counter", "--tool", "python"]);
    let shown = json(&run(&scratch, &["tools", "counter", "--path", "counter", "--json"]));
    assert_eq!(shown["tools"][0]["name"], "count-words");
    let missing = run(&scratch, &["tools", "countre", "--path", "counter"]);
    assert!(missing.code == 2 && missing.stderr.contains("did you mean `counter`?"), "{missing:?}");
}
