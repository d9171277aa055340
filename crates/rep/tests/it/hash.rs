use rep_test_support::ScratchFolder;

use super::{json, run};

const TEXT: &str = "# a note\nmeta:\n  name: t\n  version: \"deadbeef\"   # stored\n  type: cli\n";

#[test]
fn a_hash_says_declared_computed_and_whether_they_agree() {
    let scratch = ScratchFolder::new();
    scratch.write_file("t.uasp.yaml", TEXT);
    let found = run(&scratch, &["hash", "t.uasp.yaml", "--json"]);
    let value = json(&found);
    assert_eq!(
        (found.code, &value["declared"], &value["computed"], &value["match"]),
        (0, &"deadbeef".into(), &"0daf9a80".into(), &false.into())
    );
    assert_eq!(value["sha256"].as_str().map(str::len), Some(64));
    assert_eq!(run(&scratch, &["hash", "t.uasp.yaml", "--check"]).code, 1);
}

#[test]
fn writing_changes_the_version_and_no_other_byte() {
    let scratch = ScratchFolder::new();
    for (before, after) in [
        (TEXT.to_owned(), TEXT.replace("deadbeef", "0daf9a80")),
        ("meta: {name: t, type: cli}\n".to_owned(), "meta: {version: \"0daf9a80\", name: t, type: cli}\n".to_owned()),
        (
            "meta:\n  name: t\n  type: cli\n".to_owned(),
            "meta:\n  version: \"0daf9a80\"\n  name: t\n  type: cli\n".to_owned(),
        ),
        (
            "meta:\n  version: 12345678\n  name: t\n  type: cli\n".to_owned(),
            "meta:\n  version: \"0daf9a80\"\n  name: t\n  type: cli\n".to_owned(),
        ),
        (
            "meta:\n  version:\n  name: t\n  type: cli\n".to_owned(),
            "meta:\n  version: \"0daf9a80\"\n  name: t\n  type: cli\n".to_owned(),
        ),
    ] {
        scratch.write_file("t.uasp.yaml", &before);
        let found = run(&scratch, &["hash", "t.uasp.yaml", "--write"]);
        assert_eq!(found.code, 0, "{found:?}");
        assert_eq!(scratch.read_file("t.uasp.yaml"), after);
        assert_eq!(run(&scratch, &["hash", "t.uasp.yaml", "--check"]).code, 0);
    }
}

#[test]
fn what_cannot_be_hashed_names_the_line_and_the_remedy() {
    let scratch = ScratchFolder::new();
    for (text, place, words) in [
        ("meta: {name: t}\nx: 2024-01-01\n", "t.uasp.yaml:2:4", "quote the value"),
        ("meta: {name: t}\nx: {a: 1, a: 2}\n", "t.uasp.yaml:2:11", "remove one"),
        ("x: 1\n", "t.uasp.yaml:1:1", "`meta`"),
        ("meta: [\n", "t.uasp.yaml:", "fix the syntax"),
    ] {
        scratch.write_file("t.uasp.yaml", text);
        let found = run(&scratch, &["hash", "t.uasp.yaml", "--json"]);
        assert_eq!(found.code, 2, "{found:?}");
        assert!(found.stderr.contains(place) && found.stderr.contains(words), "{found:?}");
        assert_eq!(json(&found)["status"], "error");
    }
}

#[test]
fn layout_comments_and_quotes_do_not_count() {
    let scratch = ScratchFolder::new();
    scratch.write_file("a.uasp.yaml", "meta: {type: 'cli', name: \"t\"} # x\n");
    scratch.write_file("b.uasp.yaml", TEXT);
    let one = json(&run(&scratch, &["hash", "a.uasp.yaml", "--json"]));
    let two = json(&run(&scratch, &["hash", "b.uasp.yaml", "--json"]));
    assert_eq!(one["sha256"], two["sha256"]);
}
