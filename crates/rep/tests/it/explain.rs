use rep_test_support::Scratch;

use super::{json, run};

#[test]
fn a_rule_has_a_page_with_levels_and_origins() {
    let scratch = Scratch::new();
    let found = run(&scratch, &["explain", "name-differs-from-folder"]);
    assert_eq!(found.code, 0);
    for words in [
        "# name-differs-from-folder",
        "## What it finds",
        "- error: agentskills",
        "- agentskills.io specification: name field",
    ] {
        assert!(found.stdout.contains(words), "{words} not in {}", found.stdout);
    }
}

#[test]
fn the_catalogue_lists_every_rule_once() {
    let scratch = Scratch::new();
    let found = json(&run(&scratch, &["explain", "--json"]));
    let rules = found["rules"].as_array().unwrap();
    let names: Vec<&str> = rules.iter().map(|rule| rule["rule"].as_str().unwrap()).collect();
    assert!(names.len() > 140 && names.is_sorted(), "{}", names.len());
    assert_eq!(run(&scratch, &["explain"]).stdout.lines().count(), names.len());
    assert!(rules.iter().all(|rule| !rule["cites"].as_array().unwrap().is_empty()));
}

#[test]
fn a_miss_suggests_the_nearest_rule() {
    let scratch = Scratch::new();
    let found = run(&scratch, &["explain", "name-too-lang"]);
    assert_eq!(found.code, 2);
    assert!(found.stderr.contains("did you mean `name-too-long`?"), "{found:?}");
}
