//! Runs through the API: results, refusals, confirmation and the audit log.

use rep_test_support::ScratchFolder;
use serde_json::{Value, json};

use super::client::ApiClient;
use super::write_library;
use crate::schemas;

/// A skill with a tool that its author wants to be confirmed.
const CAREFUL: &str = r#"---
name: careful
version: 1.0.0
spec_version: "2.1.0"
description: Greets with care. Use when a greeting must be confirmed.
tools:
  - name: greet
    description: Greets.
    version: 1.0.0
    input_schema: {type: object, properties: {who: {type: string}}, required: [who]}
    output_schema: {type: object, properties: {text: {type: string}}, required: [text]}
    implementation: {runtime: bash, entrypoint: scripts/greet.sh}
    confirmation: {level: always, prompt: "Greet somebody?"}
---
# Careful
"#;

fn write_careful_skill(scratch: &ScratchFolder) {
    scratch.write_file("skills/careful/SKILL.md", CAREFUL);
    scratch.write_file("skills/careful/scripts/greet.sh", "read -r input; echo '{\"text\": \"hello\"}'\n");
}

#[test]
fn a_script_runs_confined_and_is_recorded_for_its_caller() {
    let scratch = ScratchFolder::new();
    write_library(&scratch);
    let script = "printf '%s|' \"$@\"; printf '%s' \"$A_TOKEN\"; read -r x < mine.txt || exit 5\n";
    scratch.write_file("skills/pdf/scripts/s.sh", script);
    scratch.write_file("mine.txt", "mine");
    let mut client = ApiClient::start(&scratch, &["--path", "skills"]);
    let caller = json!({ "framework": "langchain 1.4", "agent": "research\n(evil)", "call": "call_7" });
    let params = json!({ "skill": "pdf", "script": "scripts/s.sh", "args": ["a b", "$(id)"], "caller": caller });
    let ran = client.call("run_script", params);
    schemas::check_answer("run-script", &ran["result"]);
    schemas::check_answer("run-meta", &ran["meta"]);
    let result = &ran["result"];
    assert_eq!((&result["stdout"], &result["returncode"]), (&json!("a b|$(id)|"), &json!(5)), "{ran}");
    assert_eq!(result["denied"][0]["target"], "mine.txt", "{ran}");
    assert_eq!(ran["exit"], 4, "as `rep run --script` ends");
    let audit = client.call("audit", json!({ "skill": "pdf" }));
    schemas::check_answer("audit", &audit);
    let who = audit["runs"][0]["who"].as_str().unwrap();
    assert!(who.ends_with(" for langchain 1.4 (agent research__evil_, call call_7)"), "{who}");
}

#[test]
fn a_run_that_needs_confirmation_is_refused_asked_or_approved() {
    let scratch = ScratchFolder::new();
    write_careful_skill(&scratch);
    let mut client = ApiClient::start(&scratch, &["--path", "skills"]);
    let params =
        |approve: Value| json!({ "skill": "careful", "tool": "greet", "input": { "who": "Ada" }, "approve": approve });
    let refused = client.call_error("run", params(json!(false)));
    assert_eq!((&refused["code"], &refused["exit"]), (&json!("CONFIRMATION_REQUIRED"), &json!(3)), "{refused}");
    for (answer, is_run) in [("yes", true), ("no", false), ("perhaps", false)] {
        let call = client.start_call("run", params(json!("ask")));
        let question = client.wait_for("question", |message| message["method"] == "confirm");
        let asked = &question["params"];
        assert_eq!(
            (&asked["request"], &asked["skill"], &asked["tool"]),
            (&json!(call), &json!("careful"), &json!("greet"))
        );
        assert!(asked["text"].as_str().unwrap().contains("Greet somebody?"), "{asked}");
        client.send(json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "answer": answer } }));
        let done = client.answer(call);
        if is_run {
            assert_eq!(done["result"]["result"], json!({ "text": "hello" }), "{done}");
        } else {
            assert_eq!(done["error"]["data"]["code"], "DECLINED", "{done}");
        }
    }
    let approved = client.call("run", params(json!(true)));
    assert_eq!((&approved["result"]["text"], &approved["exit"]), (&json!("hello"), &json!(0)));
    let wrong = client.call_error("run", json!({ "skill": "careful", "tool": "greet", "input": {}, "approve": true }));
    assert_eq!((&wrong["code"], &wrong["class"]), (&json!("INVALID_ARGUMENT"), &json!("refused")), "{wrong}");
    let plan =
        client.call("run", json!({ "skill": "careful", "tool": "greet", "input": { "who": "A" }, "dry_run": true }));
    assert_eq!(plan["plan"]["tool"], "greet", "{plan}");
}

#[test]
fn a_cancelled_question_is_not_waited_for() {
    let scratch = ScratchFolder::new();
    write_careful_skill(&scratch);
    let mut client = ApiClient::start(&scratch, &["--path", "skills"]);
    let call = client
        .start_call("run", json!({ "skill": "careful", "tool": "greet", "input": { "who": "Ada" }, "approve": "ask" }));
    client.wait_for("question", |message| message["method"] == "confirm");
    client.send(json!({ "jsonrpc": "2.0", "method": "cancel", "params": { "id": call } }));
    assert_eq!(client.answer(call)["error"]["data"]["code"], "DECLINED");
}

#[test]
fn the_policy_answers_as_the_command_does() {
    let scratch = ScratchFolder::new();
    write_careful_skill(&scratch);
    let mut client = ApiClient::start(&scratch, &["--path", "skills"]);
    let policy = client.call("policy", json!({ "skill": "careful" }));
    assert_eq!(policy, crate::json(&crate::run(&scratch, &["policy", "careful", "--path", "skills", "--json"])));
    let answer = client.call("policy", json!({ "skill": "careful", "read": "mine.txt" }));
    assert_eq!(answer["allowed"], false, "{answer}");
    let twice = client.call_error("policy", json!({ "skill": "careful", "read": "a", "spawn": true }));
    assert_eq!(twice["code"], "INVALID_ARGUMENT");
}
