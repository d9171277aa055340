//! The protocol below its methods: malformed messages, batches, the form of answers, and the end of the server.

use std::io::{Read, Write};
use std::net::TcpStream;

use rep_test_support::{DEADLINE, ScratchFolder, wait_for};
use serde_json::{Value, json};

use super::serve::{Client, Era, PATH, library};
use super::serve_http::{ask_new, listening, post, request};
use super::serve_runs::{RUN, tools};

fn ping(id: u32) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "ping" })
}

/// Starts a session of an older revision and returns its headers.
fn begin_session(address: &str, revision: &str) -> Vec<(&'static str, String)> {
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": revision, "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } } });
    let answer = post(address, &[], &hello.to_string());
    let session = answer.header("mcp-session-id").expect("the revision has sessions").to_owned();
    let headers = vec![("Mcp-Session-Id", session), ("MCP-Protocol-Version", revision.to_owned())];
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string();
    assert_eq!(post(address, &borrow(&headers), &ready).status, 202);
    headers
}

fn borrow<'a>(headers: &'a [(&'static str, String)]) -> Vec<(&'static str, &'a str)> {
    headers.iter().map(|(name, value)| (*name, value.as_str())).collect()
}

#[test]
fn malformed_messages_get_errors_of_json_rpc_over_http() {
    let scratch = ScratchFolder::new();
    library(&scratch);
    let (_server, address) = listening(&scratch, &PATH);
    for (body, code) in [
        ("{{{", -32700),
        ("", -32700),
        ("null", -32600),
        ("5", -32600),
        ("[]", -32600),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600),
    ] {
        let answer = post(&address, &[], body);
        assert_eq!((answer.status, &answer.message()["error"]["code"]), (400, &json!(code)), "{body}: {answer:?}");
        assert_eq!(answer.header("content-type"), Some("application/json"), "{body}");
    }
}

#[test]
fn malformed_lines_get_errors_of_json_rpc_on_stdio_and_the_server_goes_on() {
    let scratch = ScratchFolder::new();
    library(&scratch);
    let mut client = Client::new(&scratch, &PATH, Era::Old);
    let batch = json!([ping(5)]).to_string();
    for (line, code) in [("{{{", -32700), ("null", -32600), (r#"{"jsonrpc":"2.0","id":9}"#, -32600), (&batch, -32600)] {
        writeln!(client.input.as_mut().unwrap(), "{line}").unwrap();
        assert_eq!(client.hear()["error"]["code"], code, "{line}");
    }
    let long = "x".repeat(17 << 20);
    writeln!(client.input.as_mut().unwrap(), "{long}").unwrap();
    assert_eq!(client.hear()["error"]["code"], -32600);
    writeln!(client.input.as_mut().unwrap()).unwrap();
    assert_eq!(client.ask("ping", json!({}))["result"], json!({}));
}

#[test]
fn batches_are_answered_in_the_revision_that_has_them() {
    let scratch = ScratchFolder::new();
    library(&scratch);
    let (_server, address) = listening(&scratch, &PATH);
    let headers = begin_session(&address, "2025-03-26");
    let note = json!({ "jsonrpc": "2.0", "method": "notifications/roots/list_changed" });
    let list = json!({ "jsonrpc": "2.0", "id": "b", "method": "tools/list", "params": {} });
    let batch = json!([ping(1), note, list, { "jsonrpc": "2.0", "id": 3 }]);
    let answer = post(&address, &borrow(&headers), &batch.to_string());
    let answers = answer.message();
    let ids: Vec<&Value> = answers.as_array().unwrap().iter().map(|answer| &answer["id"]).collect();
    assert_eq!((answer.status, ids), (200, vec![&json!(1), &json!("b"), &json!(3)]), "{answer:?}");
    assert!(answers[1]["result"]["tools"].is_array() && answers[2]["error"]["code"] == -32600, "{answers}");
    assert_eq!(post(&address, &borrow(&headers), &json!([note]).to_string()).status, 202);
    // Later revisions have none.
    let headers = begin_session(&address, "2025-11-25");
    let refused = post(&address, &borrow(&headers), &json!([ping(1)]).to_string());
    assert_eq!((refused.status, &refused.message()["error"]["code"]), (400, &json!(-32600)), "{refused:?}");
    // On stdio, the revision is that of the handshake.
    let mut client = Client::new(&scratch, &PATH, Era::New);
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } } });
    client.say(&hello);
    assert_eq!(client.hear()["result"]["protocolVersion"], "2025-03-26");
    client.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    client.say(&json!([ping(7), ping(8), 5]));
    let answers = client.hear();
    assert_eq!(answers.as_array().map(Vec::len), Some(3), "{answers}");
}

#[test]
fn answers_that_are_not_streamed_are_plain_json_of_any_size() {
    let scratch = ScratchFolder::new();
    library(&scratch);
    let text = "0123456789abcde\n".repeat(3 << 16);
    scratch.write_file("skills/pdf/assets/large.txt", &text);
    let (_server, address) = listening(&scratch, &PATH);
    let uri = json!({ "uri": "skill://pdf/assets/large.txt" });
    let new = ask_new(&address, "resources/read", uri.clone(), &[]);
    let headers = begin_session(&address, "2025-11-25");
    let read = json!({ "jsonrpc": "2.0", "id": 2, "method": "resources/read", "params": uri });
    let old = post(&address, &borrow(&headers), &read.to_string());
    for answer in [new, old] {
        assert_eq!(answer.header("content-type"), Some("application/json"), "{}", answer.status);
        let message: Value = serde_json::from_str(&answer.body).unwrap();
        assert_eq!(message["result"]["contents"][0]["text"].as_str().map(str::len), Some(text.len()));
    }
}

#[test]
fn pages_are_bounded_by_bytes_too() {
    let scratch = ScratchFolder::new();
    for number in 0..1200 {
        let about = format!("Does {number}. {}", "Use when testing long descriptions of skills. ".repeat(21));
        let text = format!("---\nname: s{number:04}\ndescription: {about}\n---\n\n# S\n");
        scratch.write_file(&format!("skills/s{number:04}/SKILL.md"), text);
    }
    let mut client = Client::new(&scratch, &PATH, Era::New);
    for (method, field) in [("skills/list", "skills"), ("resources/list", "resources"), ("prompts/list", "prompts")] {
        let mut params = json!({});
        let mut count = 0;
        loop {
            let page = client.ask(method, params.clone())["result"].clone();
            assert!(page.to_string().len() < 800 << 10, "{method}: {}", page.to_string().len());
            count += page[field].as_array().unwrap().len();
            if page["nextCursor"].is_null() {
                break;
            }
            params = json!({ "cursor": page["nextCursor"] });
        }
        assert_eq!(count, 1200, "{method}");
    }
}

#[test]
fn requests_that_name_two_hosts_or_are_too_large_are_refused_at_once() {
    let scratch = ScratchFolder::new();
    library(&scratch);
    let (_server, address) = listening(&scratch, &PATH);
    for (head, status) in [
        (format!("GET / HTTP/1.1\r\nHost: {address}\r\nHost: evil.example\r\n"), "400"),
        (format!("GET http://evil.example/ HTTP/1.1\r\nHost: {address}\r\n"), "400"),
        (format!("GET http://{address}/readyz HTTP/1.1\r\nHost: {address}\r\n"), "200"),
        (format!("POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Length: 99999999999\r\n"), "413"),
    ] {
        let mut stream = TcpStream::connect(&address).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        stream.write_all(format!("{head}Connection: close\r\n\r\n").as_bytes()).unwrap();
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        assert_eq!(answer.split(' ').nth(1), Some(status), "{head}: {answer}");
    }
}

#[test]
fn the_end_of_a_session_is_answered_as_clients_expect() {
    let scratch = ScratchFolder::new();
    library(&scratch);
    let (_server, address) = listening(&scratch, &PATH);
    let headers = begin_session(&address, "2025-11-25");
    assert_eq!(request(&address, "DELETE", "/mcp", &borrow(&headers), "").status, 204);
}

#[test]
fn a_call_that_runs_when_the_server_is_asked_to_end_gets_its_answer() {
    for era in ["2026-07-28", "2025-11-25"] {
        let scratch = ScratchFolder::new();
        tools(&scratch);
        let (mut server, address) = listening(&scratch, &RUN);
        let session = if era == "2025-11-25" { begin_session(&address, era) } else { Vec::new() };
        let (place, headers) = (address.clone(), session.clone());
        let calling = std::thread::spawn(move || {
            let params = json!({ "name": "plain__forever", "arguments": {} });
            if headers.is_empty() {
                return ask_new(&place, "tools/call", params, &[]);
            }
            let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params });
            post(&place, &borrow(&headers), &call.to_string())
        });
        wait_for("the run", DEADLINE, || {
            let metrics = request(&address, "GET", "/metrics", &[], "").body;
            metrics.contains("rep_runs_going 1").then_some(())
        });
        let pid = rustix::process::Pid::from_child(&server.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        wait_for("the probe", DEADLINE, || (request(&address, "GET", "/readyz", &[], "").status == 503).then_some(()));
        let refused = ask_new(&address, "tools/list", json!({}), &[]);
        assert_eq!(refused.status, 503, "{refused:?}");
        let answer = calling.join().unwrap();
        let result = answer.message()["result"].clone();
        assert_eq!(result["structuredContent"]["error"]["code"], "CANCELLED", "{era}: {answer:?}");
        assert!(server.child.wait().unwrap().success());
    }
}
