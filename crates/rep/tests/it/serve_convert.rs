//! `convert_skill` over MCP: by rule for everybody, with a client's own model for who lends one.

use rep_test_support::ScratchFolder;
use serde_json::{Value, json};

use super::serve::{Client, ERAS, Era};

const SKILL: &str = "---\nname: pay\ndescription: Takes payments. Use when the user wants to charge a card.\n---\n\n# Pay\n\nNever use the Charges API; it is deprecated.\n";
const ANSWER: &str = "```yaml\nmeta:\n  name: pay\n  version: \"00000000\"\n  type: knowledge\n  description: Takes payments.\nconstraints:\n  never:\n    - Use the Charges API\n    - Refund without a manager\n```\n";
const PATH: [&str; 2] = ["--path", "skills"];

fn library() -> ScratchFolder {
    let scratch = ScratchFolder::new();
    scratch.write_file("skills/pay/SKILL.md", SKILL);
    scratch
}

fn sampled(text: &str) -> Value {
    json!({ "role": "assistant", "model": "m", "stopReason": "endTurn", "content": { "type": "text", "text": text } })
}

/// The good answer as the tool tells it.
fn is_converted(done: &Value) {
    assert_eq!(done["isError"], false, "{done}");
    let told = &done["structuredContent"];
    assert_eq!((&told["valid"], &told["engine"], &told["name"]), (&json!(true), &json!("llm"), &json!("pay")));
    let yaml = told["yaml"].as_str().unwrap_or_default();
    assert!(yaml.contains("Use the Charges API") && !yaml.contains("\"00000000\""), "{yaml}");
    assert_eq!(done["content"][0]["text"], yaml);
    let doubtful = told["items"].as_array().into_iter().flatten().filter(|item| item["needs_review"] == true);
    let doubtful: Vec<&Value> = doubtful.map(|item| &item["path"]).collect();
    assert_eq!(doubtful, [&json!("constraints.never[1]")], "{told}");
}

#[test]
fn rules_convert_for_every_client() {
    let scratch = library();
    for era in ERAS {
        let mut client = Client::new(&scratch, &PATH, era);
        let done = client.call("convert_skill", json!({ "skill": "pay" }));
        let told = &done["structuredContent"];
        assert_eq!((&told["valid"], &told["engine"]), (&json!(true), &json!("rules")), "{done}");
        assert!(told["yaml"].as_str().unwrap().contains("Charges API"), "{done}");
        let folder = scratch.work_folder().to_string_lossy().into_owned();
        assert!(!done.to_string().contains(&folder), "no path of this machine is told: {done}");
        for (given, code) in [
            (json!({ "skill": "pay", "engine": "llm" }), "NO_MODEL"),
            (json!({ "skill": "pay", "engine": "magic" }), "INVALID_ARGUMENT"),
            (json!({ "skill": "none" }), "SKILL_NOT_FOUND"),
            (json!({}), "INVALID_ARGUMENT"),
        ] {
            let done = client.call("convert_skill", given.clone());
            assert_eq!(
                (&done["isError"], &done["structuredContent"]["error"]["code"]),
                (&json!(true), &json!(code)),
                "{given}"
            );
        }
    }
    assert!(!scratch.work_folder().join("skills/pay/pay.uasp.yaml").exists());
}

#[test]
fn the_model_of_a_client_of_the_old_era_is_asked_in_the_middle() {
    let scratch = library();
    let mut client = Client::that_can(&scratch, &PATH, Era::Old, json!({ "sampling": {} }));
    let arguments = json!({ "skill": "pay", "engine": "llm" });
    let id = client.send("tools/call", json!({ "name": "convert_skill", "arguments": arguments }));
    let first = client.hear();
    assert_eq!(first["method"], "sampling/createMessage", "{first}");
    let question = first["params"]["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(question.contains("<markdown_skill>") && question.contains("Rule 10"), "{question}");
    client.say(&json!({ "jsonrpc": "2.0", "id": first["id"], "result": sampled("I cannot.") }));
    let second = client.hear();
    let complaint = second["params"]["messages"][2]["content"]["text"].as_str().unwrap();
    assert!(complaint.contains("no YAML document"), "{second}");
    client.say(&json!({ "jsonrpc": "2.0", "id": second["id"], "result": sampled(ANSWER) }));
    is_converted(&client.answer(id)["result"]);

    let id = client.send("tools/call", json!({ "name": "convert_skill", "arguments": arguments }));
    for _ in 0..3 {
        let question = client.hear();
        client.say(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": sampled("I cannot.") }));
    }
    let done = client.answer(id)["result"].clone();
    assert_eq!(done["structuredContent"]["error"]["code"], "INVALID_ANSWER", "{done}");
    let id = client.send("tools/call", json!({ "name": "convert_skill", "arguments": arguments }));
    let question = client.hear();
    client.say(&json!({ "jsonrpc": "2.0", "id": question["id"], "error": { "code": -1, "message": "User rejected" } }));
    assert_eq!(client.answer(id)["result"]["structuredContent"]["error"]["code"], "MODEL_REFUSED");
}

#[test]
fn the_model_of_a_client_of_the_new_era_is_asked_by_the_answer() {
    let scratch = library();
    let mut client = Client::that_can(&scratch, &PATH, Era::New, json!({ "sampling": {} }));
    let arguments = json!({ "skill": "pay", "engine": "llm" });
    let call = |client: &mut Client, arguments: &Value, state: &Value, text: &str| {
        let mut params = json!({ "name": "convert_skill", "arguments": arguments });
        if !state.is_null() {
            params["requestState"] = state.clone();
            params["inputResponses"] = json!({ "convert": sampled(text) });
        }
        client.ask("tools/call", params)
    };
    let asked = call(&mut client, &arguments, &Value::Null, "")["result"].clone();
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    assert_eq!(asked["inputRequests"]["convert"]["method"], "sampling/createMessage");
    let mut state = asked["requestState"].clone();
    let other = call(&mut client, &json!({ "skill": "pay", "engine": "llm", "x": 1 }), &state, ANSWER);
    assert!(other.to_string().contains("INVALID_ARGUMENT"), "{other}");
    let made_up = call(&mut client, &arguments, &json!("e30"), ANSWER);
    assert_eq!(made_up["error"]["code"], -32602, "{made_up}");
    is_converted(&call(&mut client, &arguments, &state, ANSWER)["result"]);
    for _ in 0..2 {
        let asked = call(&mut client, &arguments, &state, "I cannot.")["result"].clone();
        let messages = &asked["inputRequests"]["convert"]["params"]["messages"];
        assert!(messages[2]["content"]["text"].as_str().is_some_and(|text| text.contains("no YAML")), "{asked}");
        state = asked["requestState"].clone();
    }
    let done = call(&mut client, &arguments, &state, "I cannot.")["result"].clone();
    assert_eq!(done["structuredContent"]["error"]["code"], "INVALID_ANSWER", "{done}");
}
