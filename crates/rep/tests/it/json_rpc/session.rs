//! The life of a session: lines, order, cancellation, changes and ends.

use std::process::{Command, Stdio};

use rep_test_support::{DEADLINE, ScratchFolder, wait_until};
use serde_json::{Value, json};

use super::client::ApiClient;
use super::write_library;
use crate::{GOOD, rep};

#[test]
fn hello_names_the_version_and_the_methods() {
    let scratch = ScratchFolder::new();
    let mut client = ApiClient::start(&scratch, &["--path", "."]);
    let hello = client.call("hello", json!({ "client": "test" }));
    assert_eq!((&hello["name"], &hello["protocol"]), (&json!("rep"), &json!(1)));
    let methods: Vec<&str> = hello["methods"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    for method in
        ["list", "show", "prompt", "read", "search", "select", "query", "ask", "check", "tools", "run", "policy"]
    {
        assert!(methods.contains(&method), "{method}");
    }
}

#[test]
fn what_is_not_a_request_is_answered_and_the_session_goes_on() {
    let scratch = ScratchFolder::new();
    let mut client = ApiClient::start(&scratch, &["--path", "."]);
    for (line, number) in [
        ("{", -32700),
        ("[]", -32600),
        ("3", -32600),
        (r#"{"jsonrpc":"2.0","id":"x"}"#, -32600),
        (r#"{"id":"x","method":"list"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":"x","method":"list","params":[1]}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":"x","method":"dance"}"#, -32601),
        (r#"{"jsonrpc":"2.0","id":"x","method":"list","params":{"y":1}}"#, -32602),
    ] {
        client.write_raw(format!("{line}\n").as_bytes());
        let answer = client.wait_for("refusal", |message| message.get("error").is_some());
        assert_eq!(answer["error"]["code"], number, "{line}: {answer}");
    }
    client.write_raw(b"\n  \n");
    // One line over the limit is skipped, however long it is.
    client.write_raw(&vec![b'x'; (32 << 20) + 2]);
    client.write_raw(b"\n");
    let answer = client.wait_for("refusal", |message| message.get("error").is_some());
    assert_eq!(answer["error"]["message"], "the line exceeds 32 MiB");
    assert_eq!(client.call("list", json!({})), json!({ "skills": [] }));
}

#[test]
fn sixty_four_requests_at_once_are_answered_while_a_run_goes_on() {
    let scratch = ScratchFolder::new();
    write_library(&scratch);
    scratch.write_file("skills/pdf/scripts/wait.sh", "while :; do read -t 1 || true; done < /dev/zero\n");
    let mut client = ApiClient::start(&scratch, &["--path", "skills"]);
    let run = client.start_call("run_script", json!({ "skill": "pdf", "script": "scripts/wait.sh", "progress": true }));
    let started = client.wait_for("start", |message| message["method"] == "progress");
    assert_eq!((&started["params"]["id"], &started["params"]["tool"]), (&json!(run), &json!("scripts/wait.sh")));
    let calls: Vec<u64> = (0..64).map(|_| client.start_call("read", json!({ "skill": "pdf" }))).collect();
    for call in calls {
        assert_eq!(client.answer(call)["result"]["name"], "pdf");
    }
    client.send(json!({ "jsonrpc": "2.0", "method": "cancel", "params": { "id": run } }));
    let answer = client.answer(run);
    assert_eq!(answer["error"]["data"]["exit"], 130, "{answer}");
}

#[test]
fn a_watched_library_tells_when_it_changes() {
    let scratch = ScratchFolder::new();
    write_library(&scratch);
    let mut client = ApiClient::start(&scratch, &["--path", "skills"]);
    let watch = client.call("watch", json!({}));
    assert_eq!((&watch["watching"], &watch["skills"]["active"]), (&json!(true), &json!(1)));
    scratch.write_file("skills/csv/SKILL.md", GOOD.replace("name: pdf", "name: csv"));
    let change = client.wait_for("change", |message| {
        message["method"] == "library/changed" && message["params"]["skills"]["active"] == 2
    });
    assert_eq!(change["params"]["library"], watch["library"]);
    assert_eq!(client.call("read", json!({ "skill": "csv" }))["name"], "csv");
    scratch.write_file("skills/tsv/SKILL.md", GOOD.replace("name: pdf", "name: tsv"));
    assert_eq!(client.call("reload", json!({}))["skills"]["active"], 3, "a reload does not wait for the watcher");
}

#[test]
fn requests_before_the_end_of_the_input_are_answered_and_runs_are_cancelled() {
    let scratch = ScratchFolder::new();
    write_library(&scratch);
    scratch.write_file("skills/pdf/scripts/wait.sh", "while :; do read -t 1 || true; done < /dev/zero\n");
    let mut client = ApiClient::start(&scratch, &["--path", "skills"]);
    let run = json!({ "skill": "pdf", "script": "scripts/wait.sh", "progress": true });
    client.start_call("run_script", run);
    client.wait_for("start", |message| message["method"] == "progress");
    let list = client.start_call("list", json!({}));
    client.close_input();
    assert!(client.answer(list)["result"]["skills"].is_array());
    assert!(client.wait_for_end().success());
    let audit = crate::json(&crate::run(&scratch, &["audit", "--json"]));
    assert_eq!(audit["runs"][0]["outcome"], "CANCELLED", "{audit}");
}

#[test]
fn the_server_ends_with_its_parent_though_its_input_stays_open() {
    let scratch = ScratchFolder::new();
    let work = scratch.work_folder();
    // A shell starts the server with an input that this test holds open, tells its id, and ends.
    let mut shell = Command::new("sh")
        .args(["-c", "\"$1\" api --path . <&0 >/dev/null & echo $!", "sh"])
        .arg(rep())
        .current_dir(&work)
        .env("HOME", work.with_file_name("home"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a shell can be started");
    let input = shell.stdin.take();
    let printed = shell.wait_with_output().expect("the shell ends").stdout;
    let id = String::from_utf8(printed).unwrap().trim().to_owned();
    let has_ended = || {
        let status = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        status.is_empty() || status.rsplit(") ").next().is_some_and(|rest| rest.starts_with('Z'))
    };
    wait_until("the end of the server", DEADLINE, has_ended);
    drop(input);
}
