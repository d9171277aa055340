//! Answers that are kept, on a real file system: a skill that changed is never answered from what it was.
#![expect(clippy::disallowed_methods, reason = "the test changes and deletes the files it made itself")]

use std::sync::Arc;

use rep_library::answer::{QueryEngine, QueryError};
use rep_library::{Catalog, LibraryOptions};
use rep_test_support::ScratchFolder;

fn uasp(name: &str, kind: &str) -> String {
    format!("meta: {{name: {name}, version: \"00000000\", type: {kind}}}\ndecisions: [{{when: a, then: b}}]\n")
}

#[test]
fn the_same_bytes_are_worked_out_once_and_other_bytes_anew() {
    let scratch = ScratchFolder::new();
    scratch.write_file("skills/one.uasp.yaml", uasp("one", "cli"));
    scratch.write_file(
        "skills/prose/SKILL.md",
        "---\nname: prose\ndescription: Writes.\n---\n- Never use capital letters.\n",
    );
    let options = LibraryOptions { paths: vec![scratch.work_folder().join("skills")], ..LibraryOptions::default() };
    let catalog = Catalog::discover(&options).unwrap();
    let answers = QueryEngine::default();
    let ask = |text: &str| answers.query(&catalog, text);
    let first = ask("one:decisions?when=a").unwrap();
    assert!(
        Arc::ptr_eq(&first, &ask("one:decisions?when=a").unwrap()),
        "the same question is answered from what is kept"
    );
    assert!(!Arc::ptr_eq(&first, &ask("one:decisions?when=*").unwrap()), "another filter is another question");
    assert_eq!(ask("one:meta.type").unwrap().value, "cli");
    // The catalogue is the old snapshot; the answer is not.
    scratch.write_file("skills/one.uasp.yaml", uasp("one", "api"));
    assert_eq!(ask("one:meta.type").unwrap().value, "api");
    assert_eq!(ask("prose:constraints.never").unwrap().value, serde_json::json!(["use capital letters"]));
    scratch.write_file(
        "skills/prose/SKILL.md",
        "---\nname: prose\ndescription: Writes.\n---\n- Never use exclamation marks.\n",
    );
    let changed = ask("prose:constraints.never").unwrap();
    assert_eq!((&changed.value, changed.lines[0].line), (&serde_json::json!(["use exclamation marks"]), 5));
    std::fs::remove_file(scratch.work_folder().join("skills/one.uasp.yaml")).unwrap();
    assert!(matches!(
        ask("one:meta"),
        Err(QueryError::Unreadable(_) | QueryError::NothingToQuery { .. } | QueryError::Invalid { .. })
    ));
}
