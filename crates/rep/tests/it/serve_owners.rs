//! What belongs to whom: questions, tasks, sessions and state of a bearer, when another bearer asks for them.

use std::io::{Read, Write};
use std::net::TcpStream;

use rep_test_support::{DEADLINE, ScratchFolder, wait_for, wait_until};
use serde_json::{Value, json};

use super::serve::{Server, meta};
use super::serve_http::{Answer, base64url, listening, post, request};
use super::serve_runs::{RUN, tools};
use super::serve_web;

const ANN: &str = "ann-has-this-long-token";
const BOB: &str = "bob-has-this-long-token";

/// A server with a token for Ann and one for Bob.
fn shared_server(scratch: &ScratchFolder) -> (Server, String) {
    scratch.write_file("tokens.txt", format!("{ANN}\n{BOB}\n"));
    listening(scratch, &[&RUN[..], &["--token-file", "tokens.txt"]].concat())
}

/// A request of the new era by the bearer of a token.
pub(super) fn ask_as(address: &str, token: &str, can: &Value, method: &str, mut params: Value) -> Value {
    params["_meta"] = meta(can);
    let name = params["name"].as_str().or(params["taskId"].as_str()).unwrap_or_default().to_owned();
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
    let bearer = format!("Bearer {token}");
    let mut headers =
        vec![("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", method), ("Authorization", bearer.as_str())];
    if !name.is_empty() {
        headers.push(("Mcp-Name", &name));
    }
    post(address, &headers, &body).message()
}

#[test]
fn a_question_is_answered_by_the_bearer_that_was_asked() {
    let scratch = ScratchFolder::new();
    tools(&scratch);
    let (_server, address) = shared_server(&scratch);
    let can = json!({ "elicitation": { "form": {} } });
    let call = json!({ "name": "writer__mark", "arguments": {} });
    let asked = ask_as(&address, ANN, &can, "tools/call", call.clone())["result"].clone();
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let mut again = call;
    again["requestState"] = asked["requestState"].clone();
    again["inputResponses"] = json!({ "confirm": { "action": "accept", "content": { "run": true } } });
    let foreign = ask_as(&address, BOB, &can, "tools/call", again.clone());
    assert_eq!(foreign["error"]["code"], -32602, "{foreign}");
    assert!(!scratch.work_folder().join("marked").exists());
    let done = ask_as(&address, ANN, &can, "tools/call", again)["result"].clone();
    assert_eq!(done["structuredContent"], json!({ "done": 1 }), "{done}");
}

#[test]
fn a_task_of_another_bearer_does_not_exist() {
    let scratch = ScratchFolder::new();
    tools(&scratch);
    let (_server, address) = shared_server(&scratch);
    let can = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    let ask = |token: &str, method: &str, params: Value| ask_as(&address, token, &can, method, params);
    let made = ask(ANN, "tools/call", json!({ "name": "plain__forever", "arguments": {} }))["result"].clone();
    let id = made["taskId"].as_str().or(made["task"]["taskId"].as_str()).expect("a task has an id").to_owned();
    let unknown = "11111111-1111-4111-8111-111111111111";
    for method in ["tasks/get", "tasks/cancel", "tasks/update"] {
        let params = |id: &str| json!({ "taskId": id, "inputResponses": {} });
        let (foreign, missing) = (ask(BOB, method, params(&id)), ask(BOB, method, params(unknown)));
        assert_eq!(foreign["error"]["code"], -32602, "{method}: {foreign}");
        assert_eq!(foreign.to_string().replace(&id, unknown), missing.to_string(), "{method}");
    }
    let own = ask(ANN, "tasks/get", json!({ "taskId": id }))["result"].clone();
    assert_eq!(own["status"], "working", "{own}");
    assert!(ask(ANN, "tasks/cancel", json!({ "taskId": id })).get("result").is_some());
}

#[test]
fn a_session_of_another_bearer_does_not_exist() {
    let scratch = ScratchFolder::new();
    tools(&scratch);
    let (_server, address) = shared_server(&scratch);
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } } });
    let bearer = |token: &str| format!("Bearer {token}");
    let begun = post(&address, &[("Authorization", &bearer(ANN))], &hello.to_string());
    let session = begun.header("mcp-session-id").expect("the revision has sessions").to_owned();
    let send = |token: &str, session: &str, method: &str, body: &str| -> Answer {
        let token = bearer(token);
        let headers = [
            ("Authorization", token.as_str()),
            ("Mcp-Session-Id", session),
            ("MCP-Protocol-Version", "2025-11-25"),
            ("Content-Type", "application/json"),
            ("Accept", if method == "GET" { "text/event-stream" } else { "application/json, text/event-stream" }),
            ("Last-Event-Id", "0"),
        ];
        request(&address, method, "/mcp", &headers, body)
    };
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string();
    assert_eq!(send(ANN, &session, "POST", &ready).status, 202);
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {} }).to_string();
    for (method, body) in [("POST", list.as_str()), ("GET", ""), ("DELETE", "")] {
        let foreign = send(BOB, &session, method, body);
        let missing = send(BOB, "11111111-1111-4111-8111-111111111111", method, body);
        assert_eq!((foreign.status, &foreign.body), (missing.status, &missing.body), "{method}");
        // Ending a session that does not exist succeeds.
        assert!(method == "DELETE" || foreign.status == 404, "{method}: {foreign:?}");
    }
    let own = send(ANN, &session, "POST", &list);
    assert!(own.status == 200 && own.message()["result"]["tools"].is_array(), "{own:?}");
    assert_eq!(send(ANN, &session, "DELETE", "").status, 204);
    assert_eq!(send(ANN, &session, "POST", &list).status, 404);
}

#[test]
fn state_of_another_bearer_does_not_exist() {
    let scratch = ScratchFolder::new();
    let skill = "meta: {name: marks, version: \"00000000\", type: cli, description: Marks things for a test.}\nstate:\n  entities:\n    - {name: mark, created_by: [make]}\nsafety: {require_confirmation_for: []}\ncommands:\n  make: {syntax: \"true\", creates: [mark]}\n  use: {syntax: \"true\", requires: [mark]}\n";
    scratch.write_file("skills/marks.uasp.yaml", skill);
    let (_server, address) = shared_server(&scratch);
    let can = json!({ "elicitation": {} });
    let call = |token: &str, tool: &str, arguments: Value| {
        let mut params = json!({ "name": tool, "arguments": arguments });
        let asked = ask_as(&address, token, &can, "tools/call", params.clone())["result"].clone();
        if asked["resultType"] != "input_required" {
            return asked;
        }
        params["requestState"] = asked["requestState"].clone();
        params["inputResponses"] = json!({ "confirm": { "action": "accept", "content": { "run": true } } });
        ask_as(&address, token, &can, "tools/call", params)["result"].clone()
    };
    for session in [json!({ "session": "one" }), json!({})] {
        let made = call(ANN, "marks__make", session.clone());
        assert_eq!(made["isError"], false, "{made}");
        let foreign = call(BOB, "marks__use", session.clone());
        assert_eq!(foreign["structuredContent"]["error"]["code"], "INVALID_STATE", "{foreign}");
        let own = call(ANN, "marks__use", session);
        assert_eq!(own["isError"], false, "{own}");
    }
}

/// An authorization server of the tests.
pub(super) struct Issuer(ring::signature::Ed25519KeyPair);

pub(super) const OAUTH: [&str; 6] = [
    "--oauth-issuer",
    "https://id.example",
    "--oauth-audience",
    "https://skills.example/mcp",
    "--oauth-keys",
    "jwks.json",
];

impl Issuer {
    pub(super) fn new(scratch: &ScratchFolder) -> Self {
        use ring::signature::{Ed25519KeyPair, KeyPair as _};
        let pair = Ed25519KeyPair::from_seed_unchecked(&[7; 32]).expect("32 bytes are a seed");
        let key = json!({ "kty": "OKP", "crv": "Ed25519", "x": base64url(pair.public_key().as_ref()) });
        scratch.write_file("jwks.json", json!({ "keys": [key] }).to_string());
        Self(pair)
    }

    /// A token with these claims.
    pub(super) fn token(&self, more: &Value) -> String {
        let mut claims = json!({ "iss": OAUTH[1], "aud": OAUTH[3], "exp": 4_000_000_000_u64 });
        for (name, value) in more.as_object().expect("claims are an object") {
            claims[name] = value.clone();
        }
        let signed = format!("{}.{}", base64url(br#"{"alg":"EdDSA"}"#), base64url(claims.to_string().as_bytes()));
        format!("{signed}.{}", base64url(self.0.sign(signed.as_bytes()).as_ref()))
    }
}

/// Signs a user in and returns the cookie.
pub(super) fn sign_in(address: &str, token: &str) -> String {
    let key = serve_web::get(address, "/sign-in").key();
    let done = serve_web::post(address, "/sign-in", &[], &format!("key={key}&token={token}"));
    let cookie = done.header("set-cookie").expect("there is a cookie");
    cookie.split(';').next().expect("there is a cookie").to_owned()
}

#[test]
fn the_dashboard_shows_the_questions_and_runs_of_who_looks() {
    let scratch = ScratchFolder::new();
    tools(&scratch);
    let issuer = Issuer::new(&scratch);
    let (_server, address) = listening(&scratch, &[&RUN[..], &OAUTH].concat());
    let token = |name: &str| issuer.token(&json!({ "sub": name, "scope": "read run" }));
    let (ann, bob) = (token("ann"), token("bob"));
    let (ann_cookie, bob_cookie) = (sign_in(&address, &ann), sign_in(&address, &bob));
    let page = |cookie: &str, path: &str| {
        request(&address, "GET", path, &[("Cookie", cookie), ("Accept", "text/html")], "").body
    };
    let call = |token: &str| {
        let (address, token) = (address.clone(), token.to_owned());
        let params = json!({ "name": "writer__mark", "arguments": {} });
        std::thread::spawn(move || ask_as(&address, &token, &json!({}), "tools/call", params)["result"].clone())
    };
    // Bob's open page is not one that could show Ann's question.
    let _bobs_page = open_events(&address, &bob_cookie);
    let refused = call(&ann).join().unwrap();
    assert_eq!(refused["isError"], true, "{refused}");
    let _anns_page = open_events(&address, &ann_cookie);
    let calling = call(&ann);
    let question = wait_for("the question", DEADLINE, || {
        let body = page(&ann_cookie, "/runs");
        let (_, rest) = body.split_once("name=\"question\" value=\"")?;
        Some((rest.split('"').next()?.to_owned(), serve_key(&body)))
    });
    let bobs_runs = page(&bob_cookie, "/runs");
    assert!(!bobs_runs.contains("writer"), "{bobs_runs}");
    assert!(!page(&bob_cookie, "/").contains("waits for your answer"));
    let answer = |cookie: &str, key: &str| {
        let form = format!("key={key}&question={}&answer=yes", question.0);
        serve_web::post(&address, "/answer", &[("Cookie", cookie)], &form).status
    };
    assert_eq!(answer(&bob_cookie, &serve_key(&bobs_runs)), 303);
    assert!(page(&ann_cookie, "/runs").contains("Waiting for your answer"));
    assert!(!scratch.work_folder().join("marked").exists());
    assert_eq!(answer(&ann_cookie, &question.1), 303);
    let done = calling.join().unwrap();
    assert_eq!(done["structuredContent"], json!({ "done": 1 }), "{done}");
    // The record of the run is Ann's too.
    wait_until("Ann's run is on her page", DEADLINE, || page(&ann_cookie, "/runs?part=1").contains("writer"));
    assert!(!page(&bob_cookie, "/runs?part=1").contains("writer"));
}

/// The key of a page's forms.
fn serve_key(body: &str) -> String {
    let (_, rest) = body.split_once("name=\"key\" value=\"").expect("the page has a form");
    rest.split('"').next().expect("the page has a form").to_owned()
}

/// Keeps a page open, and returns when the server knows that.
fn open_events(address: &str, cookie: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).expect("the server listens");
    stream.set_read_timeout(Some(DEADLINE)).expect("the deadline is not zero");
    stream
        .write_all(format!("GET /events HTTP/1.1\r\nHost: {address}\r\nCookie: {cookie}\r\n\r\n").as_bytes())
        .expect("the server reads requests");
    let mut text = String::new();
    let mut bytes = [0; 1024];
    while !text.contains("event: hello") {
        let count = stream.read(&mut bytes).expect("an answer within the deadline");
        assert!(count > 0, "{text}");
        text.push_str(&String::from_utf8_lossy(&bytes[..count]));
    }
    stream
}
