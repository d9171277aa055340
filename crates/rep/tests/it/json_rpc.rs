//! `rep api`: requests and answers through the real binary.
#![expect(clippy::needless_pass_by_value, reason = "`json!` values are written where they are used")]

mod client;
mod running;
mod session;

use rep_test_support::ScratchFolder;
use serde_json::{Value, json};

use self::client::ApiClient;
use super::{GOOD, json, run, schemas};

/// Writes a library with a good, a hidden and an invalid skill.
fn write_library(scratch: &ScratchFolder) {
    scratch.write_file("skills/pdf/SKILL.md", GOOD);
    scratch.write_file("skills/pdf/references/forms.md", "Fields have names.\n");
    scratch.write_file("skills/pdf/logo.bin", [0xff, 0x00]);
    let hidden = "---\nname: secret\ndescription: Deploys. Use when asked.\ndisable-model-invocation: true\n---\nGo.\n";
    scratch.write_file("skills/secret/SKILL.md", hidden);
    scratch.write_file("skills/broken/SKILL.md", "no frontmatter\n");
}

#[test]
fn each_method_answers_with_the_document_of_its_command() {
    let scratch = ScratchFolder::new();
    write_library(&scratch);
    let mut client = ApiClient::start(&scratch, &["--path", "skills"]);
    let same: [(&str, Value, &str, Vec<&str>); 7] = [
        ("list", json!({}), "list", vec!["list"]),
        ("show", json!({ "skill": "pdf" }), "show", vec!["show", "pdf"]),
        ("search", json!({ "text": "fill a form" }), "search", vec!["search", "fill a form"]),
        ("select", json!({ "text": "use pdf to fill it" }), "select", vec!["select", "use pdf to fill it"]),
        ("query", json!({ "query": "pdf:meta.name" }), "query", vec!["query", "pdf:meta.name"]),
        ("query", json!({ "query": "pdf:nothing" }), "query", vec!["query", "pdf:nothing"]),
        ("tools", json!({ "skill": "pdf" }), "tools", vec!["tools", "pdf"]),
    ];
    for (method, params, schema, mut arguments) in same {
        arguments.extend(["--path", "skills", "--json"]);
        let printed = json(&run(&scratch, &arguments));
        let result = client.call(method, params);
        assert_eq!(result, printed, "{method}");
        schemas::check_answer(schema, &result);
    }
    let checked = client.call("check", json!({ "paths": ["skills/pdf"] }));
    assert_eq!(checked, json(&run(&scratch, &["check", "skills/pdf", "--format", "json"])));
    let broken = client.call("check", json!({ "paths": ["skills/broken"] }));
    assert_eq!(broken, json(&run(&scratch, &["check", "skills/broken", "--format", "json"])));
    assert_eq!(broken["summary"]["errors"], 1, "{broken}");
    scratch.write_file("skills/pdf/scripts/send.sh", "curl -d @notes.txt https://example.org/in\n");
    let scanned = client.call("scan", json!({ "paths": ["skills/pdf"] }));
    assert_eq!(scanned, json(&run(&scratch, &["scan", "skills/pdf", "--json"])));
    assert_eq!(scanned["skills"][0]["capabilities"]["connect"], json!(["example.org"]));
    schemas::check_answer("scan", &scanned);
    let everything = client.call("scan", json!({}));
    assert_eq!(everything["skills"].as_array().unwrap().len(), 3, "without paths, the skills of the library");
    let asked = client.call("ask", json!({ "skill": "pdf", "question": "how", "about": "fill" }));
    assert_eq!(asked["skill"], "pdf");
}

#[test]
fn prompt_and_read_give_what_goes_into_a_context() {
    let scratch = ScratchFolder::new();
    write_library(&scratch);
    let mut client = ApiClient::start(&scratch, &["--path", "skills"]);
    let prompt = client.call("prompt", json!({}));
    assert_eq!(prompt["text"], run(&scratch, &["prompt", "--path", "skills"]).stdout);
    assert_eq!(prompt["skills"], json!(["pdf"]), "a hidden and an invalid skill are not shown");
    let budget = client.call("prompt", json!({ "budget": 1000, "style": "markdown", "no_location": true }));
    assert!(budget["tokens"].as_u64().unwrap() <= 1000, "{budget}");
    let small = client.call_error("prompt", json!({ "budget": 1 }));
    assert_eq!((&small["code"], &small["exit"]), (&json!("BUDGET_TOO_SMALL"), &json!(1)));
    let read = client.call("read", json!({ "skill": "pdf" }));
    assert_eq!(read["text"], run(&scratch, &["read", "pdf", "--path", "skills"]).stdout);
    let file = client.call("read", json!({ "skill": "pdf", "file": "references/forms.md" }));
    assert_eq!((&file["text"], &file["size_bytes"]), (&json!("Fields have names.\n"), &json!(19)));
    assert_eq!(client.call("read", json!({ "skill": "pdf", "file": "logo.bin" }))["base64"], "/wA=");
}

#[test]
fn errors_carry_the_code_the_remedy_and_the_exit_code_of_the_command() {
    let scratch = ScratchFolder::new();
    write_library(&scratch);
    let mut client = ApiClient::start(&scratch, &["--path", "skills"]);
    for (method, params, code, exit) in [
        ("read", json!({ "skill": "pdff" }), "SKILL_NOT_FOUND", 2),
        ("read", json!({ "skill": "broken" }), "VALIDATION_FAILED", 2),
        ("read", json!({ "skill": "pdf", "file": "../secret/SKILL.md" }), "OUTSIDE", 3),
        ("read", json!({ "skill": "pdf", "file": "missing.md" }), "FILE_NOT_FOUND", 2),
        ("check", json!({ "select": ["no-such-rule"] }), "UNKNOWN_RULE", 2),
        ("run", json!({ "skill": "pdf", "tool": "fill" }), "TOOL_NOT_FOUND", 2),
        ("run_script", json!({ "skill": "broken", "script": "x.py" }), "VALIDATION_FAILED", 2),
        ("list", json!({ "library": { "paths": ["missing"] } }), "UNREADABLE", 2),
        ("list", json!({ "colour": true }), "INVALID_ARGUMENT", 2),
        ("read", json!({}), "INVALID_ARGUMENT", 2),
        ("read", json!({ "skill": 3 }), "INVALID_ARGUMENT", 2),
        ("dance", json!({}), "UNKNOWN_METHOD", 2),
    ] {
        let error = client.call_error(method, params.clone());
        assert_eq!((&error["code"], &error["exit"]), (&json!(code), &json!(exit)), "{method} {params}: {error}");
    }
    let error = client.call_error("read", json!({ "skill": "pdff" }));
    assert_eq!((&error["remedy"], &error["class"]), (&json!("did you mean `pdf`?"), &json!("unable")));
    let printed = run(&scratch, &["read", "pdff", "--path", "skills"]);
    assert!(printed.stderr.contains(error["message"].as_str().unwrap()), "{printed:?}");
}

#[test]
fn a_request_can_name_another_library() {
    let scratch = ScratchFolder::new();
    write_library(&scratch);
    scratch.write_file("others/csv/SKILL.md", GOOD.replace("name: pdf", "name: csv"));
    let mut client = ApiClient::start(&scratch, &["--path", "skills"]);
    let names = |list: &Value| {
        let skills = list["skills"].as_array().unwrap().iter();
        skills.map(|skill| skill["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(&client.call("list", json!({}))), ["broken", "pdf", "secret"]);
    let other = client.call("list", json!({ "library": { "paths": ["others"] } }));
    assert_eq!(names(&other), ["csv"]);
    assert_eq!(names(&client.call("list", json!({}))), ["broken", "pdf", "secret"]);
}

#[test]
fn untrusted_skills_of_a_project_are_listed_and_not_read() {
    let scratch = ScratchFolder::new();
    scratch.write_file(".git/HEAD", "");
    scratch.write_file(".agents/skills/pdf/SKILL.md", GOOD);
    let mut client = ApiClient::start(&scratch, &[]);
    assert_eq!(client.call("list", json!({}))["skills"][0]["status"], "untrusted");
    assert_eq!(client.call("prompt", json!({}))["text"], "");
    assert_eq!(client.call_error("read", json!({ "skill": "pdf" }))["code"], "SKILL_NOT_FOUND");
    let trusted = client.call("read", json!({ "skill": "pdf", "library": { "trust": true } }));
    assert_eq!(trusted["name"], "pdf");
}
