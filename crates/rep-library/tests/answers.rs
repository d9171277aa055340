//! Answers that are kept, on a real file system: a skill that changed is never answered from what it was.
#![expect(clippy::disallowed_methods, reason = "the test changes and deletes the files it made itself")]

use std::sync::Arc;

use rep_library::answer::{Answers, Miss};
use rep_library::{Catalog, Options};
use rep_test_support::Scratch;

fn uasp(name: &str, kind: &str) -> String {
    format!("meta: {{name: {name}, version: \"00000000\", type: {kind}}}\ndecisions: [{{when: a, then: b}}]\n")
}

#[test]
fn the_same_bytes_are_worked_out_once_and_other_bytes_anew() {
    let scratch = Scratch::new();
    scratch.write("skills/one.uasp.yaml", uasp("one", "cli"));
    scratch
        .write("skills/prose/SKILL.md", "---\nname: prose\ndescription: Writes.\n---\n- Never use capital letters.\n");
    let options = Options { paths: vec![scratch.work().join("skills")], ..Options::default() };
    let catalog = Catalog::discover(&options).unwrap();
    let answers = Answers::default();
    let ask = |text: &str| answers.query(&catalog, text);
    let first = ask("one:decisions?when=a").unwrap();
    assert!(
        Arc::ptr_eq(&first, &ask("one:decisions?when=a").unwrap()),
        "the same question is answered from what is kept"
    );
    assert!(!Arc::ptr_eq(&first, &ask("one:decisions?when=*").unwrap()), "another filter is another question");
    assert_eq!(ask("one:meta.type").unwrap().value, "cli");
    // The catalogue is the old snapshot; the answer is not.
    scratch.write("skills/one.uasp.yaml", uasp("one", "api"));
    assert_eq!(ask("one:meta.type").unwrap().value, "api");
    assert_eq!(ask("prose:constraints.never").unwrap().value, serde_json::json!(["use capital letters"]));
    scratch.write(
        "skills/prose/SKILL.md",
        "---\nname: prose\ndescription: Writes.\n---\n- Never use exclamation marks.\n",
    );
    let changed = ask("prose:constraints.never").unwrap();
    assert_eq!((&changed.value, changed.lines[0].line), (&serde_json::json!(["use exclamation marks"]), 5));
    std::fs::remove_file(scratch.work().join("skills/one.uasp.yaml")).unwrap();
    assert!(matches!(ask("one:meta"), Err(Miss::Unreadable(_) | Miss::Empty { .. })));
}
