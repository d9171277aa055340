//! Tools of skills, run for clients of the server.

use std::io::Write;
use std::net::TcpStream;

use rep_test_support::{DEADLINE, ScratchFolder, wait_for, wait_until};
use serde_json::{Value, json};

use super::serve::{Client, ERAS, Era, PATH, meta};
use super::serve_http::listening;
use super::{json, run};

/// A library with tools: one that is harmless, one that needs consent, one that does not end.
pub(super) fn tools(scratch: &ScratchFolder) {
    let tool = |name: &str, output: &str| {
        format!(
            "  - name: {name}\n    description: A tool for a test.\n    input_schema: {{type: object, properties: {{a: {{type: integer}}}}, additionalProperties: false}}\n{output}    implementation: {{runtime: bash, entrypoint: scripts/{name}.sh}}\n"
        )
    };
    let skill = |name: &str, more: &str, tools: &str| {
        let text = format!(
            "---\nname: {name}\ndescription: Runs tools. Use when testing tools.\nspec_version: \"2.1\"\nversion: 1.0.0\nsafety: {{require_confirmation_for: [destructive_writes], redact: {{secrets: true, pii: true}}}}\n{more}tools:\n{tools}---\n\n# Tools\n"
        );
        scratch.write_file(&format!("skills/{name}/SKILL.md"), text);
    };
    let output = "    output_schema: {type: object, properties: {ok: {type: boolean}}, required: [ok]}\n";
    skill("plain", "", &(tool("echo", output) + &tool("fail", output) + &tool("forever", "")));
    scratch.write_file("skills/plain/scripts/echo.sh", "echo '{\"ok\": true}'\n");
    scratch.write_file("skills/plain/scripts/fail.sh", "echo broken >&2; exit 3\n");
    scratch.write_file("skills/plain/scripts/forever.sh", "echo begun > begun; exec sleep 600\n");
    skill("writer", "permissions: {filesystem: {write: ['out/**']}}\n", &tool("mark", ""));
    scratch.write_file("skills/writer/scripts/mark.sh", "echo x >> marked; echo '{\"done\": 1}'\n");
}

pub(super) const RUN: [&str; 4] = ["--path", "skills", "--allow-run", "--no-sandbox"];

#[test]
fn tools_run_only_where_that_is_allowed() {
    let scratch = ScratchFolder::new();
    tools(&scratch);
    let names = |arguments: &[&str]| {
        let mut client = Client::new(&scratch, arguments, Era::Old);
        let tools = client.ask("tools/list", json!({}))["result"]["tools"].clone();
        let names = tools.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap().to_owned());
        names.filter(|name| name.contains("__")).collect::<Vec<String>>()
    };
    assert!(names(&PATH).is_empty());
    assert_eq!(names(&RUN), ["plain__echo", "plain__fail", "plain__forever", "writer__mark"]);
    assert_eq!(names(&["--path", "skills", "--allow-run=writer"]), ["writer__mark"]);
    let mut client = Client::new(&scratch, &PATH, Era::Old);
    let error = client.ask("tools/call", json!({ "name": "plain__echo", "arguments": {} }))["error"].clone();
    assert_eq!(error["code"], -32602);
}

#[test]
fn tools_have_the_names_that_the_user_chose_in_the_export_and_on_the_server() {
    let scratch = ScratchFolder::new();
    tools(&scratch);
    let export = |skills: &[&str], naming: &str| {
        let fixed = ["export", "--host", "mcp", "--path", "skills", "--tool-names", naming];
        run(&scratch, &[&fixed, skills].concat())
    };
    let to_names = |tools: &Value| -> Vec<String> {
        let names = tools.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap().to_owned());
        let mut names: Vec<String> = names.filter(|name| !name.contains("_skill")).collect();
        names.sort();
        names
    };
    let serve = |naming: &str| Client::new(&scratch, &[&RUN[..], &["--tool-names", naming]].concat(), Era::Old);
    let list = |client: &mut Client| to_names(&client.ask("tools/list", json!({}))["result"]["tools"]);

    let own = ["echo", "fail", "forever", "mark"];
    for naming in ["plain", "auto"] {
        assert_eq!(to_names(&json(&export(&["plain", "writer"], naming))["tools"]), own, "{naming}");
        let mut client = serve(naming);
        assert_eq!(list(&mut client), own, "{naming}");
        for name in ["echo", "plain__echo"] {
            assert_eq!(client.call(name, json!({}))["structuredContent"], json!({ "ok": true }), "{naming} {name}");
        }
    }

    // Another skill has a tool with the same name.
    let text = scratch.read_file("skills/plain/SKILL.md").replace("name: plain", "name: other");
    let text = text.replace("fail", "stop").replace("forever", "load");
    scratch.write_file("skills/other/SKILL.md", &text);
    scratch.write_file("skills/other/scripts/echo.sh", "echo '{\"ok\": false}'\n");
    for script in ["load", "load_skill", "stop"] {
        scratch.write_file(&format!("skills/other/scripts/{script}.sh"), "echo '{\"ok\": false}'\n");
    }
    let without_echo = ["fail", "forever", "load", "stop"].map(str::to_owned).to_vec();
    let refused = export(&["plain", "other"], "plain");
    assert_eq!((refused.code, to_names(&json(&refused)["tools"])), (1, without_echo), "{refused:?}");
    assert!(refused.stderr.contains("`plain:echo` and `other:echo` have the same name `echo`"), "{refused:?}");
    let mut qualified = to_names(&json(&export(&["plain", "other"], "auto"))["tools"]);
    qualified.retain(|name| name.contains("__"));
    assert_eq!(qualified, ["other__echo", "plain__echo"]);

    // A tool has the name of a tool of the server.
    scratch.write_file("skills/other/SKILL.md", text.replace("load", "load_skill"));
    let mut client = serve("auto");
    assert_eq!(list(&mut client), ["fail", "forever", "mark", "other__echo", "plain__echo", "stop"]);
    for (name, is_ok) in [("plain__echo", true), ("other__echo", false), ("stop", false), ("other__load_skill", false)]
    {
        let done = client.call(name, json!({}));
        let text: Value = serde_json::from_str(done["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(text, json!({ "ok": is_ok }), "{name}");
    }
    assert_eq!(client.ask("tools/call", json!({ "name": "echo", "arguments": {} }))["error"]["code"], -32602);
    // The server cannot offer either of two tools with one name.
    assert_eq!(list(&mut serve("plain")), ["fail", "forever", "mark", "stop"]);

    let config = run(&scratch, &["serve", "--tool-names", "auto", "--print-config", "claude-desktop"]);
    assert!(config.stdout.contains("--tool-names") && config.stdout.contains("auto"), "{config:?}");
    let other_host =
        run(&scratch, &["export", "--host", "openai", "plain", "--path", "skills", "--tool-names", "auto"]);
    assert_eq!(other_host.code, 2, "{other_host:?}");
}

#[test]
fn a_tool_gives_its_result_and_its_failure_and_is_on_record() {
    let scratch = ScratchFolder::new();
    tools(&scratch);
    for era in ERAS {
        let mut client = Client::new(&scratch, &RUN, era);
        let listed = client.ask("tools/list", json!({}))["result"]["tools"].clone();
        let echo = listed.as_array().unwrap().iter().find(|one| one["name"] == "plain__echo").unwrap();
        assert_eq!(echo["inputSchema"]["additionalProperties"], false);
        assert_eq!(echo["outputSchema"]["required"], json!(["ok"]));
        let done = client.call("plain__echo", json!({ "a": 1 }));
        assert_eq!((&done["isError"], &done["structuredContent"]), (&json!(false), &json!({ "ok": true })), "{done}");
        let text: Value = serde_json::from_str(done["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(text, json!({ "ok": true }));
        // An error that does not fit the tool's contract is told as text alone.
        for (tool, arguments) in [("plain__fail", json!({})), ("plain__echo", json!({ "b": 1 }))] {
            let failed = client.call(tool, arguments);
            assert_eq!(failed["isError"], true, "{failed}");
            assert!(failed.get("structuredContent").is_none(), "{failed}");
            let told: Value = serde_json::from_str(failed["content"][0]["text"].as_str().unwrap()).unwrap();
            assert_eq!(told["status"], "error", "{told}");
            assert!(!told.to_string().contains(scratch.work_folder().to_str().unwrap()), "{told}");
        }
    }
    let audit = run(&scratch, &["audit", "--json"]);
    assert_eq!(audit.stdout.matches("\"echo\"").count(), 4, "{audit:?}");
}

#[test]
fn who_cannot_be_asked_is_refused() {
    let scratch = ScratchFolder::new();
    tools(&scratch);
    for era in ERAS {
        let mut client = Client::new(&scratch, &RUN, era);
        let refused = client.call("writer__mark", json!({}));
        assert_eq!(refused["isError"], true, "{refused}");
        assert_eq!(refused["structuredContent"]["error"]["code"], "CONFIRMATION_REQUIRED", "{refused}");
        assert!(refused["structuredContent"]["error"].to_string().contains("elicitation"), "{refused}");
        assert!(!scratch.work_folder().join("marked").exists());
    }
}

#[test]
fn a_client_of_the_old_era_is_asked_in_the_middle() {
    let scratch = ScratchFolder::new();
    tools(&scratch);
    let mut client = Client::that_can(&scratch, &RUN, Era::Old, json!({ "elicitation": {} }));
    let yes = json!({ "action": "accept", "content": { "run": true } });
    for (answer, is_run) in [
        (json!({ "action": "decline" }), false),
        (json!({ "action": "cancel" }), false),
        (json!({ "action": "accept", "content": { "run": false } }), false),
        (json!({ "action": "accept" }), false),
        (yes, true),
    ] {
        let id = client.send("tools/call", json!({ "name": "writer__mark", "arguments": {} }));
        let question = client.hear();
        assert_eq!(question["method"], "elicitation/create", "{question}");
        let text = question["params"]["message"].as_str().unwrap();
        assert!(text.contains("mark") && text.contains("out/**"), "{text}");
        client.say(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer }));
        let done = client.answer(id)["result"].clone();
        assert_eq!(done["isError"] == false, is_run, "{answer}: {done}");
        assert_eq!(scratch.work_folder().join("marked").exists(), is_run, "{answer}");
    }
}

#[test]
fn a_client_of_the_new_era_is_asked_by_the_answer() {
    let scratch = ScratchFolder::new();
    tools(&scratch);
    let mut client = Client::that_can(&scratch, &RUN, Era::New, json!({ "elicitation": { "form": {} } }));
    let call = |client: &mut Client, arguments: Value, state: &Value, action: &str, is_yes: bool| {
        let mut params = json!({ "name": "writer__mark", "arguments": arguments });
        if !state.is_null() {
            params["requestState"] = state.clone();
            params["inputResponses"] = json!({ "confirm": { "action": action, "content": { "run": is_yes } } });
        }
        client.ask("tools/call", params)
    };
    let asked = call(&mut client, json!({}), &Value::Null, "", false)["result"].clone();
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    assert_eq!(asked["inputRequests"]["confirm"]["method"], "elicitation/create");
    let state = &asked["requestState"];
    let marked = || scratch.work_folder().join("marked").exists();
    let declined = call(&mut client, json!({}), state, "decline", true)["result"].clone();
    assert!(declined["isError"] == true && !marked(), "{declined}");
    // What was agreed to for one call is none for another, and cannot be made up.
    let other = call(&mut client, json!({ "a": 1 }), state, "accept", true);
    assert_eq!(other["error"]["code"], -32602, "{other}");
    let made_up = call(&mut client, json!({}), &json!("e30"), "accept", true);
    assert_eq!(made_up["error"]["code"], -32602, "{made_up}");
    assert!(!marked());
    let done = call(&mut client, json!({}), state, "accept", true)["result"].clone();
    assert_eq!((&done["structuredContent"], marked()), (&json!({ "done": 1 }), true), "{done}");
    // One answer is for one run.
    let again = call(&mut client, json!({}), state, "accept", true);
    assert_eq!(again["error"]["code"], -32602, "{again}");
    assert_eq!(scratch.read_file("marked"), "x\n");
}

#[test]
fn a_client_learns_no_path_of_the_machine_when_a_run_cannot_be_recorded() {
    let scratch = ScratchFolder::new();
    tools(&scratch);
    let file = scratch.work_folder().parent().unwrap().join("home/.local/share/repertoire/audit.jsonl");
    std::fs::create_dir_all(file).unwrap();
    let mut client = Client::new(&scratch, &RUN, Era::New);
    let refused = client.call("writer__mark", json!({}));
    assert_eq!(refused["structuredContent"]["error"]["code"], "UNRECORDED", "{refused}");
    assert!(!refused.to_string().contains("audit.jsonl"), "{refused}");
}

#[test]
fn an_answer_counts_when_its_call_made_room_for_others() {
    let scratch = ScratchFolder::new();
    tools(&scratch);
    let mut client = Client::that_can(&scratch, &RUN, Era::New, json!({ "elicitation": { "form": {} } }));
    let call = json!({ "name": "writer__mark", "arguments": {} });
    let first = client.ask("tools/call", call.clone())["result"]["requestState"].clone();
    let copies = scratch.work_folder().parent().unwrap().join("home/.local/share/repertoire/copies");
    let copies = || std::fs::read_dir(&copies).unwrap().count();
    let per_call = copies();
    assert!(per_call > 0, "the skill is loaded once, for the question");
    for _ in 0..64 {
        client.ask("tools/call", call.clone());
    }
    assert!(copies() <= 64 * per_call, "{} copies", copies());
    let answer = json!({ "confirm": { "action": "accept", "content": { "run": true } } });
    let mut again = call;
    again["requestState"] = first;
    again["inputResponses"] = answer;
    let done = client.ask("tools/call", again)["result"].clone();
    assert_eq!(done["structuredContent"], json!({ "done": 1 }), "{done}");
}

#[test]
fn what_was_agreed_to_is_what_runs() {
    let scratch = ScratchFolder::new();
    tools(&scratch);
    let mut client = Client::that_can(&scratch, &RUN, Era::Old, json!({ "elicitation": {} }));
    let id = client.send("tools/call", json!({ "name": "writer__mark", "arguments": {} }));
    let question = client.hear();
    scratch.write_file("skills/writer/scripts/mark.sh", "echo y >> other; echo '{}'\n");
    let yes = json!({ "action": "accept", "content": { "run": true } });
    client.say(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": yes }));
    let done = client.answer(id)["result"].clone();
    assert_eq!(done["structuredContent"]["error"]["code"], "SKILL_CHANGED", "{done}");
    assert!(!scratch.work_folder().join("other").exists() && !scratch.work_folder().join("marked").exists());
}

/// Waits until a file exists.
fn wait_for_file(scratch: &ScratchFolder, file: &str) {
    wait_until(&format!("`{file}` exists"), DEADLINE, || scratch.work_folder().join(file).exists());
}

/// Waits until the audit record says that a run ended because it was cancelled.
fn wait_for_cancelled_run(scratch: &ScratchFolder) {
    wait_until("a cancelled run is on record", DEADLINE, || {
        run(scratch, &["audit", "--json"]).stdout.contains("CANCELLED")
    });
}

#[test]
fn a_call_that_is_cancelled_ends_and_so_does_its_tool() {
    let scratch = ScratchFolder::new();
    tools(&scratch);
    let mut client = Client::new(&scratch, &RUN, Era::Old);
    let id = client.send("tools/call", json!({ "name": "plain__forever", "arguments": {} }));
    wait_for_file(&scratch, "begun");
    client.say(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }));
    wait_for_cancelled_run(&scratch);
    assert_eq!(client.ask("ping", json!({}))["result"], json!({}));
}

#[test]
fn a_client_that_goes_takes_its_run_with_it() {
    let scratch = ScratchFolder::new();
    tools(&scratch);
    let (_server, address) = listening(&scratch, &RUN);
    let mut stream = TcpStream::connect(&address).unwrap();
    let params = json!({ "name": "plain__forever", "arguments": {}, "_meta": meta(&json!({})) });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Length: {}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: plain__forever\r\n\r\n",
        body.len()
    );
    stream.write_all((head + &body).as_bytes()).unwrap();
    wait_for_file(&scratch, "begun");
    drop(stream);
    wait_for_cancelled_run(&scratch);
}

#[test]
fn a_tool_that_clients_could_not_list_hides_no_other() {
    let scratch = ScratchFolder::new();
    tools(&scratch);
    let odd = "---\nname: odd\ndescription: Is odd. Use when testing.\nspec_version: \"2.1\"\nversion: 1.0.0\ntools:\n  - name: list\n    description: Takes a list.\n    input_schema: {type: array}\n    implementation: {runtime: bash, entrypoint: scripts/x.sh}\n---\n\n# Odd\n";
    scratch.write_file("skills/odd/SKILL.md", odd);
    let mut client = Client::new(&scratch, &RUN, Era::Old);
    let listed = client.ask("tools/list", json!({}))["result"]["tools"].to_string();
    assert!(listed.contains("plain__echo") && !listed.contains("odd__list"), "{listed}");
}

#[test]
fn the_end_of_the_server_is_the_end_of_its_tools() {
    let scratch = ScratchFolder::new();
    tools(&scratch);
    let mut client = Client::new(&scratch, &RUN, Era::New);
    client.send("tools/call", json!({ "name": "plain__forever", "arguments": {} }));
    wait_for_file(&scratch, "begun");
    let pid = rustix::process::Pid::from_child(&client.server.child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert!(client.server.child.wait().unwrap().success());
    let audit = run(&scratch, &["audit", "--json"]);
    assert!(audit.stdout.contains("CANCELLED"), "{audit:?}");
}

#[test]
fn commands_of_structured_skills_keep_state_by_session() {
    let scratch = ScratchFolder::new();
    let skill = "meta: {name: marks, version: \"00000000\", type: cli, description: Marks things for a test.}\nstate:\n  entities:\n    - {name: mark, created_by: [make]}\nsafety: {require_confirmation_for: []}\ncommands:\n  make: {syntax: \"true <what>\", args: [{name: what, type: string, required: true}], creates: [mark]}\n  use: {syntax: \"true\", requires: [mark]}\n";
    scratch.write_file("skills/marks.uasp.yaml", skill);
    let can = json!({ "elicitation": {} });
    let mut client = Client::that_can(&scratch, &RUN, Era::New, can);
    let listed = client.ask("tools/list", json!({}))["result"]["tools"].to_string();
    assert!(listed.contains("marks__make") && listed.contains("marks__use"), "{listed}");
    assert!(listed.contains(r#""what":{"type":"string"}"#) && listed.contains(r#""required":["what"]"#), "{listed}");
    let mut call = |tool: &str, arguments: Value| {
        let asked = client.ask("tools/call", json!({ "name": tool, "arguments": arguments }))["result"].clone();
        if asked["resultType"] != "input_required" {
            return asked;
        }
        let answer = json!({ "confirm": { "action": "accept", "content": { "run": true } } });
        let params = json!({ "name": tool, "arguments": arguments, "requestState": asked["requestState"], "inputResponses": answer });
        client.ask("tools/call", params)["result"].clone()
    };
    let early = call("marks__use", json!({ "session": "one" }));
    assert_eq!(early["structuredContent"]["error"]["code"], "INVALID_STATE", "{early}");
    let made = call("marks__make", json!({ "what": "x", "session": "one" }));
    assert_eq!(made["structuredContent"]["state"]["entities"]["mark"]["valid"], true, "{made}");
    let used = call("marks__use", json!({ "session": "one" }));
    assert_eq!(used["isError"], false, "{used}");
    let other = call("marks__use", json!({ "session": "two" }));
    assert_eq!(other["structuredContent"]["error"]["code"], "INVALID_STATE", "{other}");
}

#[test]
fn a_run_that_takes_long_is_a_task_to_who_knows_tasks() {
    let scratch = ScratchFolder::new();
    tools(&scratch);
    scratch.write_file("skills/plain/scripts/echo.sh", "until [ -e go ]; do sleep 0.1; done; echo '{\"ok\": true}'\n");
    let can = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    let mut client = Client::that_can(&scratch, &RUN, Era::New, can);
    let made = client.call("plain__echo", json!({}));
    assert_eq!(made["resultType"], "task", "{made}");
    let id = made["taskId"].as_str().or(made["task"]["taskId"].as_str()).expect("a task has an id").to_owned();
    scratch.write_file("go", "");
    let done = wait_for("the task has ended", DEADLINE, || {
        let state = client.ask("tasks/get", json!({ "taskId": id }))["result"].clone();
        (state["status"] != "working").then_some(state)
    });
    assert_eq!(
        (&done["status"], &done["result"]["structuredContent"]["ok"]),
        (&json!("completed"), &json!(true)),
        "{done}"
    );
    let made = client.call("plain__forever", json!({}));
    let id = made["taskId"].as_str().or(made["task"]["taskId"].as_str()).unwrap().to_owned();
    assert!(client.ask("tasks/cancel", json!({ "taskId": id })).get("result").is_some());
    wait_until("the task is cancelled", DEADLINE, || {
        client.ask("tasks/get", json!({ "taskId": id }))["result"]["status"] == "cancelled"
    });
    let error = client.ask("tasks/get", json!({ "taskId": "none" }))["error"].clone();
    assert_eq!(error["code"], -32602, "{error}");
}
