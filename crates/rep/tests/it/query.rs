//! Exact answers, common questions, state and documentation through the binary.

use rep_test_support::ScratchFolder;
use serde_json::{Value, json};

use super::{json, run};

const BROWSER: &str = r#"meta: {name: web-browser, version: "00000000", type: cli, description: Drives a browser}
constraints:
  never:
    - reuse refs after the page changed
    - store passwords in scripts
  always: [close the browser when done]
decisions:
  - {when: the click changed the page, then: take a snapshot again, ref: refs}
  - {when: 100% sure & done?, then: stop}
state:
  entities: [{name: ref, created_by: [snapshot]}]
commands:
  open: {syntax: web open <url>, aliases: [goto], args: [{name: url, type: string, required: true}], invalidates: [refs]}
  snapshot: {syntax: web snapshot, creates: [refs], description: Take a picture of the page tree}
  click: {syntax: web click <ref>, requires: [refs], invalidates: [refs]}
  record.start: {syntax: web record start <file>}
  cookies: {syntax: web cookies}
  cookies.set: {syntax: web cookies set}
reference:
  sequence.parallel: {syntax: "par\nend\n"}
  shapes: {circle: "((x))"}
workflows:
  log_in: {description: Log in once, steps: [{cmd: open <url>}, {cmd: snapshot}]}
sources: [{id: refs, path: references/refs.md}, {id: "web:guide", url: "https://example.org/guide"}]
"#;

fn scratch() -> ScratchFolder {
    let scratch = ScratchFolder::new();
    scratch.write_file("skills/web-browser.uasp.yaml", BROWSER);
    scratch.write_file(
        "skills/prose/SKILL.md",
        "---\nname: prose\ndescription: Writes prose. Use when prose is wanted.\n---\n\n# Prose\n\n- Never use the word very.\n",
    );
    scratch
}

fn query(scratch: &ScratchFolder, text: &str) -> (i32, Value) {
    let found = run(scratch, &["query", text, "--path", "skills"]);
    (found.code, json(&found))
}

/// A skill argument is a name or a path, also in a query.
#[test]
fn a_skill_is_queried_by_its_path() {
    let scratch = scratch();
    for (query, value) in [
        ("./skills/web-browser.uasp.yaml:constraints.always", json!(["close the browser when done"])),
        ("skills/prose:constraints.never", json!(["use the word very"])),
    ] {
        let found = run(&scratch, &["query", query]);
        assert_eq!((found.code, json(&found)["value"].clone()), (0, value), "{found:?}");
    }
    let missing = run(&scratch, &["query", "skills/nothing:meta"]);
    assert_ne!(missing.code, 0, "{missing:?}");
    assert!(json(&missing)["error"]["code"].is_string(), "{missing:?}");
}

#[test]
fn a_query_answers_with_skill_path_found_and_value() {
    let scratch = scratch();
    let (code, answer) = query(&scratch, "web-browser:commands.click");
    assert_eq!(code, 0);
    let value = json!({ "syntax": "web click <ref>", "requires": ["refs"], "invalidates": ["refs"] });
    assert_eq!(answer["value"], value);
    assert_eq!(
        (&answer["skill"], &answer["path"], &answer["found"], &answer["origin"]),
        (&json!("web-browser"), &json!("commands.click"), &json!(true), &json!("authored"))
    );
    for (text, value) in [
        ("web-browser:commands.cookies.set.syntax", json!("web cookies set")),
        ("web-browser:commands.cookies.syntax", json!("web cookies")),
        ("web-browser:commands.open.args.url.type", json!("string")),
        ("web-browser:reference.sequence.parallel.syntax", json!("par\nend\n")),
        ("web-browser:sources.web:guide.url", json!("https://example.org/guide")),
        ("skill:web-browser:meta.type", json!("cli")),
        ("web:meta.name", json!("web-browser")),
        ("web-browser:commands.goto.syntax", json!("web open <url>")),
        (
            "web-browser:decisions?when=*CLICK*&then=*",
            json!([{ "when": "the click changed the page", "then": "take a snapshot again", "ref": "refs" }]),
        ),
        (
            "web-browser:decisions?when=100%25 sure %26 done%3F",
            json!([{ "when": "100% sure & done?", "then": "stop" }]),
        ),
        ("web-browser:state.entities?name=ref", json!([{ "name": "ref", "created_by": ["snapshot"] }])),
        ("web-browser:constraints.never?x=*", json!([])),
    ] {
        let (code, answer) = query(&scratch, text);
        assert_eq!((code, &answer["value"]), (0, &value), "{text}: {answer}");
    }
}

#[test]
fn a_miss_has_the_specifications_code_and_message_and_says_what_there_is() {
    let scratch = scratch();
    let (code, answer) = query(&scratch, "web-browser:commands.clik");
    assert_eq!((code, &answer["found"]), (1, &json!(false)));
    let error = json!({ "code": "PATH_NOT_FOUND", "message": "Path 'commands.clik' not found in skill 'web-browser'" });
    assert_eq!(answer["error"], error);
    assert_eq!(answer["suggestions"][0], "commands.click");
    let (code, answer) = query(&scratch, "ghost:meta");
    let error = json!({ "code": "SKILL_NOT_FOUND", "message": "Skill 'ghost' is not loaded" });
    assert_eq!((code, &answer["error"]), (1, &error));
    for text in ["web-browser", "web-browser:x?y", ":x"] {
        let (code, answer) = query(&scratch, text);
        assert_eq!((code, &answer["error"]["code"]), (1, &json!("INVALID_QUERY")), "{text}");
    }
    // A start that two names share stands for neither.
    scratch.write_file("skills/web-forms.uasp.yaml", BROWSER.replace("web-browser", "web-forms"));
    let (_, answer) = query(&scratch, "web:meta");
    assert_eq!(answer["error"]["code"], "SKILL_NOT_FOUND");
    assert_eq!(answer["suggestions"], json!(["web-browser", "web-forms"]));
}

#[test]
fn a_changed_skill_is_answered_from_what_it_is() {
    let scratch = scratch();
    assert_eq!(query(&scratch, "web-browser:meta.type").1["value"], "cli");
    scratch.write_file("skills/web-browser.uasp.yaml", BROWSER.replace("type: cli", "type: api"));
    assert_eq!(query(&scratch, "web-browser:meta.type").1["value"], "api");
}

#[test]
fn any_skill_answers() {
    let scratch = scratch();
    let (code, answer) = query(&scratch, "prose:meta.name");
    assert_eq!((code, &answer["value"], &answer["origin"]), (0, &json!("prose"), &json!("extracted")));
}

#[test]
fn an_answer_from_markdown_says_that_it_is_from_confident_facts() {
    let scratch = scratch();
    let found = run(&scratch, &["query", "prose:constraints.never", "--path", "skills"]);
    let answer = json(&found);
    assert_eq!((&answer["facts"], &answer["lines"][0]["rule"]), (&json!("confident"), &json!("never.marker")));
    let told: Vec<&str> = found.stderr.lines().collect();
    assert!(
        told.len() == 1 && told[0].contains("high-confidence") && told[0].contains("--include-doubtful"),
        "{told:?}"
    );
    let missed = run(&scratch, &["query", "prose:commands", "--path", "skills"]);
    assert_eq!((&json(&missed)["found"], &json(&missed)["facts"]), (&json!(false), &json!("confident")));
    assert_eq!(missed.stderr, found.stderr);
    assert_eq!(run(&scratch, &["query", "prose:meta.name", "--path", "skills", "-q"]).stderr, "");
    let authored = run(&scratch, &["query", "web-browser:meta.name", "--path", "skills"]);
    assert!(!authored.stderr.contains("high-confidence") && json(&authored)["facts"].is_null(), "{authored:?}");
}

#[test]
fn the_common_questions_are_compositions_of_queries() {
    let scratch = scratch();
    let ask = |words: &[&str]| -> (i32, Value) {
        let mut arguments = vec!["ask", "web-browser"];
        arguments.extend(words);
        arguments.extend(["--path", "skills", "--json"]);
        let found = run(&scratch, &arguments);
        (found.code, json(&found))
    };
    let (code, told) = ask(&["can", "reuse a ref after the page has changed"]);
    assert_eq!((code, &told["answer"]), (0, &json!("no")));
    assert_eq!(told["because"][0]["value"], "reuse refs after the page changed");
    assert_eq!(told["queries"], json!(["web-browser:constraints.never"]));
    let (code, told) = ask(&["can", "fly"]);
    assert_eq!((code, &told["answer"]), (1, &json!("silent")));
    let queries = json!(["web-browser:constraints.never", "web-browser:constraints.always", "web-browser:decisions"]);
    assert_eq!(told["queries"], queries);
    assert_eq!(ask(&["how", "record start"]).1["because"][0]["path"], "commands.record.start");
    assert_eq!(ask(&["how", "log in"]).1["because"][0]["path"], "workflows.log_in");
    assert_eq!(ask(&["how", "take pictures of a page"]).1["because"][0]["path"], "commands.snapshot");
    assert_eq!(ask(&["when", "click"]).1["because"][0]["value"]["then"], "take a snapshot again");
    assert_eq!(ask(&["syntax", "parallel"]).1["because"][0]["path"], "reference.sequence.parallel");
    assert_eq!(ask(&["syntax", "circle"]).1["because"][0]["value"], "((x))");
    let shown = run(&scratch, &["ask", "web-browser", "can", "store", "passwords", "--path", "skills"]);
    assert!(shown.stdout.starts_with("no\n") && shown.stderr.contains("web-browser:constraints.never"), "{shown:?}");
}

#[test]
fn state_after_a_sequence_is_simulated() {
    let scratch = scratch();
    let state = |after: &str| {
        let found = run(&scratch, &["state", "skills/web-browser.uasp.yaml", "--after", after, "--json"]);
        (found.code, json(&found))
    };
    let (code, value) = state("goto,snapshot");
    assert_eq!((code, &value["entities"]["refs"]["valid"]), (0, &json!(true)));
    assert!(value["runnable"].as_array().unwrap().contains(&json!("click")));
    let (code, value) = state("snapshot,click,click");
    assert_eq!(code, 1);
    assert_eq!(value["error"]["code"], "INVALID_STATE");
    assert_eq!(value["error"]["message"], "Required state 'refs' is invalid or missing");
    assert_eq!(state("fly").1["error"]["code"], "PATH_NOT_FOUND");
    let fresh = json(&run(&scratch, &["state", "skills/web-browser.uasp.yaml", "--json"]));
    assert!(!fresh["runnable"].as_array().unwrap().contains(&json!("click")));
}

/// What stands below the frontmatter.
fn page(text: &str) -> &str {
    text.split_once("\n---\n\n").expect("a SKILL.md has frontmatter").1
}

#[test]
fn documentation_has_every_section_and_cannot_be_broken_out_of() {
    let scratch = scratch();
    let found = run(&scratch, &["convert", "skills/web-browser.uasp.yaml", "--to", "markdown"]);
    let expected = include_str!("web-browser.md");
    if std::env::var_os("REP_BLESS").is_some() {
        let golden = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/web-browser.md");
        std::fs::write(golden, page(&found.stdout)).unwrap();
    } else {
        assert_eq!(page(&found.stdout), expected);
    }
    scratch.write_file(
        "t.uasp.yaml",
        "meta: {name: t, version: x, type: cli, description: \"a\\n# fake\\n===\"}\ncommands: {'a`b': {syntax: \"x\\n```\\n# fake\", description: \"| a |\", args: [{name: 'p|q', type: string}]}}\nworkflows: {a_b: {description: d, steps: [], example: run me}}\n",
    );
    let found = run(&scratch, &["convert", "t.uasp.yaml", "--to", "markdown"]);
    assert!(found.stdout.contains("run me\n```\n") && found.stdout.contains("````\nx\n```\n# fake\n````"), "{found:?}");
    assert!(found.stdout.contains("\\# fake\n\\===") && found.stdout.contains("``a`b``"), "{found:?}");
    let out = run(&scratch, &["convert", "t.uasp.yaml", "--to", "markdown", "--out", "t.md"]);
    assert_eq!((out.code, scratch.read_file("t.md")), (0, found.stdout));
    assert_eq!(run(&scratch, &["convert", "skills/prose", "--to", "markdown"]).code, 2);
}

#[test]
fn an_answer_can_say_what_it_cost() {
    let scratch = scratch();
    let found = run(&scratch, &["query", "web-browser:constraints.never", "--path", "skills", "--tokens"]);
    let tokens = &json(&found)["tokens"];
    assert_eq!(tokens["tokenizer"], "o200k_base");
    let (answer, whole) = (tokens["answer"].as_u64().unwrap(), tokens["whole"].as_u64().unwrap());
    assert!(answer < 30 && whole > 300, "{answer} of {whole}");
}
