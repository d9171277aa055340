use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use rep_test_support::{ProgramRun, ScratchFolder, TestResponse, TestServer, build_response};
use serde_json::{Value, json};

use super::{json, rep};

/// A skill for a service whose address is in `NOTES_API_URL`.
const NOTES: &str = r#"
meta: {name: notes, version: "00000000", type: api, description: "Keeps notes. Use when somebody wants a note kept."}
api:
  headers: {X-Client: notes}
environment:
  - {name: NOTES_API_URL, purpose: Where the service is}
  - {name: NOTES_TOKEN, purpose: Who asks}
commands:
  get:
    syntax: "GET /notes/<id>?limit=<limit>&tag=[tag]"
    args: [{name: id, type: string, required: true}, {name: limit, type: int, default: 5}, {name: tag, type: string}, {name: page, type: int}]
    headers: {Authorization: "Bearer ${NOTES_TOKEN}"}
    creates: [note]
  put:
    syntax: "PUT /notes/<id>"
    args: [{name: id, type: string, required: true}, {name: text, type: string}, {name: tags, type: "string[]"}]
    requires: [note]
    invalidates: [note]
  trace:
    syntax: "GET /trace"
    args: [{name: X-Trace, type: string, in: header}]
  login:
    method: POST
    path: /login
    syntax: login
    body: {token: "${NOTES_TOKEN}", remember: true}
  slow:
    syntax: "GET /slow"
    timeout_seconds: 1
"#;

const TOKEN: &str = "token-0123456789";

pub(super) fn notes() -> ScratchFolder {
    let scratch = ScratchFolder::new();
    scratch.write_file("notes.uasp.yaml", NOTES);
    scratch
}

pub(super) fn exec(scratch: &ScratchFolder, base: &str, arguments: &[&str]) -> ProgramRun {
    let all = [&["exec", "./notes.uasp.yaml"], arguments].concat();
    scratch.run_with_environment(rep(), &all, &[("NOTES_API_URL", base), ("NOTES_TOKEN", TOKEN)])
}

fn code(run: &ProgramRun) -> (i32, Value) {
    (run.code, json(run)["error"]["code"].clone())
}

#[test]
fn a_command_of_an_api_skill_is_sent_and_its_answer_comes_back() {
    let scratch = notes();
    let server = TestServer::start(|asked, _| {
        let seen = asked.header("authorization").unwrap_or_default();
        build_response("200 OK", &["Content-Type: application/json"], &json!({ "id": "n1", "you": seen }).to_string())
    });
    let args = r#"{"id": "a/b", "page": 2}"#;
    let found = exec(&scratch, &server.url(), &["get", "--args", args, "--yes", "--json"]);
    assert_eq!(found.code, 0, "{found:?}");
    let asked = server.received_requests().pop().unwrap();
    assert_eq!(asked.line, "GET /notes/a%2Fb?limit=5&page=2");
    assert_eq!(asked.header("authorization"), Some(format!("Bearer {TOKEN}").as_str()));
    assert_eq!(asked.header("x-client"), Some("notes"));
    let told = json(&found);
    assert_eq!(told["response"]["status"], 200);
    assert_eq!(told["response"]["body"], json!({ "id": "n1", "you": "Bearer [redacted:NOTES_TOKEN]" }));
    assert_eq!((&told["returncode"], &told["stderr"]), (&json!(0), &json!("")));
    assert_eq!(told["state"]["entities"]["note"]["valid"], true);
    let found = exec(&scratch, &server.url(), &["get", "--args", args, "--yes"]);
    assert_eq!(found.stdout, r#"{"id":"n1","you":"Bearer [redacted:NOTES_TOKEN]"}"#);
    let audit = scratch.run_program(rep(), &["audit", "--json"]);
    assert!(!audit.stdout.contains(TOKEN) && audit.stdout.contains("NOTES_TOKEN"), "{}", audit.stdout);
    assert!(!found.stderr.contains(TOKEN));
}

#[test]
fn a_dry_run_shows_the_request_and_sends_nothing() {
    let scratch = notes();
    let server = TestServer::start(|_, _| build_response("200 OK", &[], ""));
    let found = exec(&scratch, &server.url(), &["login", "--dry-run"]);
    let port = server.port;
    assert_eq!(
        json(&found)["request"],
        json!({
            "method": "POST",
            "url": format!("http://127.0.0.1:{port}/login"),
            "headers": { "X-Client": "notes", "Content-Type": "application/json" },
            "body": { "token": "${NOTES_TOKEN}", "remember": true },
        })
    );
    assert_eq!(json(&found)["policy"]["permissions"]["network"]["outbound"], json!([format!("127.0.0.1:{port}")]));
    assert!(server.received_requests().is_empty() && !found.stdout.contains(TOKEN));
    let found = exec(&scratch, &server.url(), &["login", "--yes"]);
    assert_eq!(found.code, 0, "{found:?}");
    assert_eq!(server.received_requests()[0].body, format!(r#"{{"token":"{TOKEN}","remember":true}}"#));
}

#[test]
fn consent_is_asked_before_anything_is_sent() {
    let scratch = notes();
    let server = TestServer::start(|_, _| build_response("200 OK", &[], ""));
    let found = exec(&scratch, &server.url(), &["trace", "--json"]);
    assert_eq!(code(&found), (3, json!("CONFIRMATION_REQUIRED")), "{found:?}");
    assert!(server.received_requests().is_empty());
}

#[test]
fn state_is_held_against_requests_too() {
    let scratch = notes();
    let server = TestServer::start(|asked, _| match asked.line.as_str() {
        line if line.starts_with("PUT") => build_response("500 Oh No", &[], "broken"),
        _ => build_response("200 OK", &[], "a note"),
    });
    let put = ["put", "--args", r#"{"id": "1", "text": "x", "tags": ["a", "b"]}"#, "--yes", "--json"];
    assert_eq!(code(&exec(&scratch, &server.url(), &put)), (3, json!("INVALID_STATE")));
    assert!(server.received_requests().is_empty());
    assert_eq!(exec(&scratch, &server.url(), &["get", "--args", r#"{"id": "1"}"#, "--yes"]).code, 0);
    let found = exec(&scratch, &server.url(), &put);
    assert_eq!(code(&found), (4, json!("COMMAND_FAILED")), "{found:?}");
    let error = &json(&found)["error"];
    assert_eq!(
        (&error["response"]["status"], &error["stdout"], &error["returncode"]),
        (&json!(500), &json!("broken"), &json!(1))
    );
    assert_eq!(error["state"]["entities"]["note"]["valid"], false, "what it invalidates is invalid though it failed");
    assert_eq!(server.received_requests()[1].body, r#"{"tags":["a","b"],"text":"x"}"#);
}

#[test]
fn what_would_change_the_request_is_refused() {
    let scratch = notes();
    let server = TestServer::start(|_, _| build_response("200 OK", &[], ""));
    for (command, args) in [
        ("get", json!({ "id": ".." })),
        ("get", json!({ "id": "" })),
        ("get", json!({ "id": 7 })),
        ("get", json!({ "id": "1", "limit": "5" })),
        ("get", json!({ "id": "1", "tagg": "x" })),
        ("trace", json!({ "X-Trace": "a\r\nX-Evil: 1" })),
        ("trace", json!({ "X-Trace": "a\nb" })),
    ] {
        let found = exec(&scratch, &server.url(), &[command, "--args", &args.to_string(), "--yes", "--json"]);
        assert_eq!(code(&found), (3, json!("INVALID_ARGUMENT")), "{args}: {found:?}");
    }
    for base in ["", "127.0.0.1", "ftp://127.0.0.1/", "http://user@127.0.0.1/"] {
        let found = exec(&scratch, base, &["trace", "--yes", "--json"]);
        assert_eq!(code(&found), (3, json!("NO_BASE_URL")), "{base}: {found:?}");
    }
    assert!(server.received_requests().is_empty());
}

#[test]
fn failures_of_the_network_are_told_apart() {
    let scratch = notes();
    let server = TestServer::start(|_, _| TestResponse::Never);
    let found = exec(&scratch, &server.url(), &["slow", "--yes", "--json"]);
    assert_eq!(code(&found), (4, json!("TIMEOUT")), "{found:?}");
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let found = exec(&scratch, &format!("http://127.0.0.1:{free}"), &["trace", "--yes", "--json"]);
    assert_eq!(code(&found), (4, json!("CONNECTION_FAILED")), "{found:?}");
    let found = exec(&scratch, "http://api.example.org", &["get", "--args", r#"{"id": "1"}"#, "--yes", "--json"]);
    assert_eq!(code(&found), (3, json!("PERMISSION_DENIED")), "a secret is not sent in the clear: {found:?}");
}

#[test]
fn a_skill_that_declares_hosts_is_held_to_them() {
    let scratch = ScratchFolder::new();
    scratch
        .write_file("notes.uasp.yaml", format!("{NOTES}permissions: {{network: {{outbound: [api.example.org]}}}}\n"));
    let server = TestServer::start(|_, _| build_response("200 OK", &[], "fine"));
    let found = exec(&scratch, &server.url(), &["trace", "--yes", "--json"]);
    assert_eq!(code(&found), (3, json!("PERMISSION_DENIED")), "{found:?}");
    assert!(server.received_requests().is_empty());
    let lent = format!("127.0.0.1:{}", server.port);
    let found = exec(&scratch, &server.url(), &["trace", "--yes", "--allow-connect", &lent]);
    assert_eq!((found.code, found.stdout.as_str()), (0, "fine"), "{found:?}");
}

#[test]
fn proxies_of_the_environment_are_not_asked() {
    let scratch = notes();
    let proxy = TestServer::start(|_, _| build_response("200 OK", &[], "proxy"));
    let server = TestServer::start(|_, _| build_response("200 OK", &[], "server"));
    let (base, by) = (server.url(), proxy.url());
    let proxies = ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"];
    let mut environment = vec![("NOTES_API_URL", base.as_str())];
    environment.extend(proxies.map(|name| (name, by.as_str())));
    let found = scratch.run_with_environment(rep(), &["exec", "./notes.uasp.yaml", "trace", "--yes"], &environment);
    assert_eq!((found.stdout.as_str(), proxy.received_requests().len()), ("server", 0), "{found:?}");
}

/// The example's own server, ended with the value.
struct Example(Child);

impl Drop for Example {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts it, where python is installed. Says aloud where it is not; in CI, that is a failure.
fn example(folder: &str) -> Option<(Example, String)> {
    let server = format!("{folder}/scripts/server.py");
    let started = Command::new("python3").args([&server, "0"]).stdout(Stdio::piped()).spawn();
    let Ok(mut child) = started else {
        rep_test_support::skip_unless_ci("python3 is not installed, and the example's server needs it");
        return None;
    };
    let mut line = String::new();
    let stdout = child.stdout.take().expect("it was piped");
    BufReader::new(stdout).read_line(&mut line).expect("it says where it listens");
    let address = line.trim().strip_prefix("listening on ").expect("it says where it listens").to_owned();
    Some((Example(child), address))
}

#[test]
fn the_example_works_against_its_own_server() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/todo-api");
    let folder = folder.to_string_lossy().into_owned();
    let Some((_server, address)) = example(&folder) else { return };
    let scratch = ScratchFolder::new();
    let environment = json(&scratch.run_program(rep(), &["query", "todo-api:environment", "--path", &folder]));
    let variable = environment["value"][0]["name"].as_str().unwrap();
    let exec = |command: &str, args: Value| {
        let args = args.to_string();
        let all = ["exec", &folder, command, "--args", &args, "--yes", "--json"];
        scratch.run_with_environment(rep(), &all, &[(variable, &address)])
    };
    assert_eq!(json(&exec("health", json!({})))["response"]["body"]["status"], "ok");
    let page = json(&exec("todos.list", json!({ "limit": 2 })));
    assert_eq!(page["response"]["body"]["next"], "t2");
    let next = json(&exec("todos.next", json!({ "after": "t2" })));
    assert_eq!(next["response"]["body"]["items"][0]["title"], "Sharpen the saw");
    assert_eq!(code(&exec("todos.update", json!({ "id": "t1", "done": true }))), (3, json!("INVALID_STATE")));
    let made = json(&exec("todos.create", json!({ "title": "Write \"it\" down & go" })));
    assert_eq!((&made["response"]["status"], &made["response"]["body"]["id"]), (&json!(201), &json!("t4")));
    assert_eq!(json(&exec("todos.get", json!({ "id": "t4" })))["response"]["body"]["title"], "Write \"it\" down & go");
    assert_eq!(json(&exec("todos.update", json!({ "id": "t4", "done": true })))["response"]["body"]["done"], true);
    assert_eq!(json(&exec("todos.delete", json!({ "id": "t4" })))["response"]["status"], 204);
    assert_eq!(code(&exec("todos.get", json!({ "id": "t4" }))), (4, json!("COMMAND_FAILED")));
    assert_eq!(code(&exec("todos.create", json!({ "title": "" }))), (4, json!("COMMAND_FAILED")));
    // Its workflow, step by step, each a request.
    let all = ["workflow", &folder, "finish_a_task", "--run", "--yes", "--json", "--skip-optional", "--set", "id=t1"];
    let run = scratch.run_with_environment(rep(), &all, &[(variable, &address)]);
    assert_eq!((run.code, &json(&run)["done"]), (0, &json!(true)), "{run:?}");
    assert_eq!(json(&run)["steps"][3]["result"]["response"]["body"]["done"], true, "{run:?}");
}
