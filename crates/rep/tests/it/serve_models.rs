//! How well a model is served: what its instructions say, what it finds, and how it learns to call what a skill brings.

use rep_test_support::ScratchFolder;
use serde_json::{Value, json};

use super::run;
use super::serve::{Client, ERAS, Era, PATH, library, meta};
use super::serve_http::{ask_new, listening, post};
use super::serve_runs::{RUN, tools};

fn instructions(client: &mut Client) -> String {
    client.ask("server/discover", json!({}))["result"]["instructions"].as_str().unwrap_or_default().to_owned()
}

fn text(result: &Value) -> String {
    result["content"][0]["text"].as_str().unwrap_or_default().to_owned()
}

/// Writes many skills, more than the instructions have room for.
fn write_many_skills(scratch: &ScratchFolder) {
    for number in 0..60 {
        let about = format!("Does thing {number} with great care. Use when thing {number} must be done by somebody.");
        let front = format!("---\nname: s{number:02}\ndescription: {about}\n---\n\n# S\n");
        scratch.write_file(&format!("skills/s{number:02}/SKILL.md"), front);
    }
}

#[test]
fn instructions_name_the_pinned_and_the_most_used_skills_with_descriptions() {
    let scratch = ScratchFolder::new();
    write_many_skills(&scratch);
    scratch.write_file("rep.yaml", "serve:\n  pinned: [s41, no-such-skill]\n");
    let mut client = Client::new(&scratch, &PATH, Era::New);
    let told = instructions(&mut client);
    assert!(told.contains("- s41: Does thing 41 with great care.") && !told.contains("- s00:"), "{told}");
    assert!(told.contains("59 more") && told.chars().count() <= 2048, "{told}");
    client.call("load_skill", json!({ "name": "s17" }));
    client.call("load_skill", json!({ "name": "s23" }));
    client.call("load_skill", json!({ "name": "s23" }));
    let told = instructions(&mut client);
    let place = |name: &str| told.find(&format!("- {name}: ")).unwrap_or_else(|| panic!("{name}: {told}"));
    assert!(place("s41") < place("s23") && place("s23") < place("s17"), "{told}");
    // The next server knows it from the record.
    drop(client.input.take());
    assert!(client.server.child.wait().unwrap().success());
    let told = instructions(&mut Client::new(&scratch, &PATH, Era::New));
    assert!(told.contains("- s23: ") && told.contains("- s17: "), "{told}");
    scratch.write_file("rep.yaml", "serve:\n  pinned: {a: 1}\n");
    let failed = run(&scratch, &["serve", "--path", "skills"]);
    assert!(failed.code == 2 && failed.stderr.contains("rep.yaml:2:"), "{failed:?}");
}

#[test]
fn a_loaded_skill_says_how_its_tools_and_scripts_are_called() {
    let scratch = ScratchFolder::new();
    tools(&scratch);
    for era in ERAS {
        let mut client = Client::new(&scratch, &RUN, era);
        let loaded = text(&client.call("load_skill", json!({ "name": "plain" })));
        assert!(loaded.contains("- `plain__echo`: A tool for a test."), "{loaded}");
        assert!(loaded.contains("`run_skill_script`") && loaded.contains("`scripts/echo.sh`"), "{loaded}");
        let done = client.call("plain__echo", json!({}));
        assert_eq!(done["structuredContent"]["ok"], true, "{done}");
        // Without runs, a local client learns where the scripts are.
        let loaded = text(&Client::new(&scratch, &PATH, era).call("load_skill", json!({ "name": "plain" })));
        assert!(!loaded.contains("plain__echo") && loaded.contains("`scripts/echo.sh`"), "{loaded}");
    }
    // Other machines learn no path of this one.
    let (_server, address) = listening(&scratch, &PATH);
    let loaded =
        ask_new(&address, "tools/call", json!({ "name": "load_skill", "arguments": { "name": "plain" } }), &[]);
    assert!(!loaded.body.contains(scratch.work_folder().to_str().unwrap()), "{loaded:?}");
    assert!(loaded.body.contains("Skill directory: skill://plain"), "{loaded:?}");
}

#[test]
fn many_tools_are_found_and_run_by_two() {
    let scratch = ScratchFolder::new();
    let definition = |name: &str| {
        format!(
            "  - name: {name}\n    description: Counts {name} things.\n    input_schema: {{type: object, properties: {{n: {{type: integer}}}}, required: [n], additionalProperties: false}}\n    implementation: {{runtime: bash, entrypoint: scripts/do.sh}}\n"
        )
    };
    for skill in 0..6 {
        let all: String = (0..8).map(|number| definition(&format!("count-{skill}-{number}"))).collect();
        let front = format!(
            "---\nname: kit-{skill}\ndescription: Kit {skill}. Use when testing.\nspec_version: \"2.1\"\nversion: 1.0.0\ntools:\n{all}---\n\n# Kit\n"
        );
        scratch.write_file(&format!("skills/kit-{skill}/SKILL.md"), front);
        scratch.write_file(&format!("skills/kit-{skill}/scripts/do.sh"), "echo '{\"did\": 1}'\n");
    }
    for era in ERAS {
        let mut client = Client::new(&scratch, &RUN, era);
        let listed = client.ask("tools/list", json!({}))["result"]["tools"].clone();
        let names: Vec<&str> = listed.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        assert!(!names.iter().any(|name| name.contains("__")), "{names:?}");
        let found = client.call("search_skill_tools", json!({ "text": "count-3-5 things" }));
        let first = &found["structuredContent"]["tools"][0];
        assert_eq!((&first["name"], &first["input_schema"]["required"][0]), (&json!("kit-3__count-3-5"), &json!("n")));
        let done = client.call("run_skill_tool", json!({ "tool": "kit-3__count-3-5", "arguments": { "n": 1 } }));
        assert_eq!(done["structuredContent"]["did"], 1, "{done}");
        let wrong = client.call("run_skill_tool", json!({ "tool": "kit-3__count-3-5", "arguments": { "n": "x" } }));
        assert_eq!(wrong["structuredContent"]["error"]["code"], "INVALID_ARGUMENT", "{wrong}");
        let unknown = client.call("run_skill_tool", json!({ "tool": "kit-3__none" }));
        assert_eq!(unknown["structuredContent"]["error"]["code"], "TOOL_NOT_FOUND", "{unknown}");
        // Its own name still works, and the skill says how each is called.
        assert_eq!(client.call("kit-3__count-3-5", json!({ "n": 1 }))["structuredContent"]["did"], 1);
        let loaded = text(&client.call("load_skill", json!({ "name": "kit-3" })));
        assert!(loaded.contains("run_skill_tool") && loaded.contains("kit-3__count-3-5"), "{loaded}");
        assert!(loaded.contains("\"required\":[\"n\"]"), "{loaded}");
    }
}

#[test]
fn a_miss_is_answered_with_a_suggestion_and_a_request_without_triggers_with_a_search() {
    let scratch = ScratchFolder::new();
    library(&scratch);
    let mut client = Client::new(&scratch, &PATH, Era::Old);
    let missed = client.call("load_skill", json!({ "name": "fix-issues" }));
    let remedy = missed["structuredContent"]["error"]["remedy"].as_str().unwrap().to_owned();
    assert!(remedy.contains("did you mean `fix-issue`?"), "{missed}");
    let missed = client.call("load_skill", json!({ "name": "secre" })).to_string();
    assert!(!missed.contains("`secret`"), "{missed}");
    scratch.write_file(
        "skills/table/SKILL.md",
        "---\nname: table\ndescription: Reads tables. Use when testing.\nwhen_to_use: {mentions: [spreadsheet]}\n---\n\n# T\n",
    );
    let mut client = Client::new(&scratch, &PATH, Era::New);
    let selected =
        client.call("select_skills", json!({ "text": "please fill in this form" }))["structuredContent"].clone();
    assert_eq!(selected["selected"][0]["name"], "pdf", "{selected}");
    assert!(selected["note"].as_str().unwrap().contains("no trigger matched"), "{selected}");
    let none = client.call("select_skills", json!({ "text": "please fill in this form", "fallback": "none" }));
    assert_eq!(none["structuredContent"]["selected"], json!([]));
}

#[test]
fn an_empty_query_lists_what_can_be_asked() {
    let scratch = ScratchFolder::new();
    library(&scratch);
    let mut client = Client::new(&scratch, &PATH, Era::Old);
    let asked = client.call("query_skill", json!({ "query": "pdf:" }))["structuredContent"].clone();
    assert!(asked["value"]["meta"].as_str().is_some_and(|keys| keys.contains("name")), "{asked}");
    let meta = client.call("query_skill", json!({ "query": "pdf:meta" }))["structuredContent"].clone();
    assert_eq!(meta["value"]["name"], "pdf");
    assert!(asked.to_string().len() < 2000, "{asked}");
}

#[test]
fn nobody_is_asked_about_a_call_that_cannot_be_made_and_an_unanswered_question_is_asked_again() {
    let scratch = ScratchFolder::new();
    tools(&scratch);
    let mut client = Client::that_can(&scratch, &RUN, Era::New, json!({ "elicitation": {} }));
    let wrong = client.call("writer__mark", json!({ "a": "text" }));
    assert_eq!(wrong["structuredContent"]["error"]["code"], "INVALID_ARGUMENT", "{wrong}");
    let asked = client.call("writer__mark", json!({ "a": 1 }));
    let state = asked["requestState"].as_str().unwrap();
    let params = json!({ "name": "writer__mark", "arguments": { "a": 1 }, "requestState": state });
    let again = client.ask("tools/call", params)["result"].clone();
    assert!(again["inputRequests"]["confirm"].is_object() && again["requestState"].is_string(), "{again}");
    let yes = json!({ "confirm": { "action": "accept", "content": { "run": true } } });
    let params = json!({ "name": "writer__mark", "arguments": { "a": 1 }, "requestState": again["requestState"], "inputResponses": yes });
    let done = client.ask("tools/call", params)["result"].clone();
    assert_eq!(done["structuredContent"]["done"], 1, "{done}");
}

#[test]
fn a_question_to_another_machine_does_not_name_paths_and_titles_name_the_skill() {
    let scratch = ScratchFolder::new();
    tools(&scratch);
    let (_server, address) = listening(&scratch, &RUN);
    let mut params = json!({ "name": "writer__mark", "arguments": { "a": 1 } });
    params["_meta"] = meta(&json!({ "elicitation": {} }));
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
    let headers = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/call"), ("Mcp-Name", "writer__mark")];
    let asked = post(&address, &headers, &body);
    let question = asked.message()["result"]["inputRequests"]["confirm"].to_string();
    assert!(question.contains("writer") && !question.contains(scratch.work_folder().to_str().unwrap()), "{question}");
    let listed = ask_new(&address, "tools/list", json!({}), &[]).message()["result"]["tools"].clone();
    let mark = listed.as_array().unwrap().iter().find(|tool| tool["name"] == "writer__mark").unwrap();
    assert_eq!(mark["title"], "writer: mark", "{mark}");
}
