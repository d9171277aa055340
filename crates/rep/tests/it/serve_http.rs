//! The server over HTTP: who is let in, what is refused, and how it ends.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use rep_test_support::{DEADLINE, ScratchFolder, build_response};
use serde_json::{Value, json};

use super::run;
use super::serve::{Client, Era, PATH, Server, library, meta, start};
use super::serve_runs::{RUN, tools};
use super::serve_tokens::{hear, open_stream};

/// An answer over HTTP.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    head: String,
    pub(super) body: String,
}

impl Answer {
    /// The last message, out of a stream or alone.
    pub(super) fn message(&self) -> Value {
        let mut lines = self.body.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim);
        let text = lines.rfind(|line| line.starts_with('{')).unwrap_or(&self.body);
        serde_json::from_str(text).unwrap_or_else(|error| panic!("no message ({error}): {self:?}"))
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (own, value) = line.split_once(':')?;
            own.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// The key of the first form of a page that changes something.
    pub(super) fn key(&self) -> String {
        let (_, rest) = self.body.split_once("name=\"key\" value=\"").expect("the page has a form");
        rest.split('"').next().expect("the page has a form").to_owned()
    }
}

/// A server over HTTP, and its address.
pub(super) fn listening(scratch: &ScratchFolder, arguments: &[&str]) -> (Server, String) {
    let mut all = vec!["--http", "127.0.0.1:0"];
    all.extend_from_slice(arguments);
    // What a token does is tested on its own.
    let is_open = |word: &&&str| word.starts_with("--allow-run");
    if arguments.iter().find(is_open).is_some()
        && !arguments.contains(&"--token-file")
        && !arguments.contains(&"--oauth-issuer")
    {
        all.push("--no-token");
    }
    let mut child = start(scratch, &all).spawn().expect("the binary can be started");
    let mut lines = BufReader::new(child.stderr.take().expect("the server is there")).lines();
    let address = lines.find_map(|line| {
        let line = line.expect("the server is there");
        let (_, address) = line.split_once("listening on ")?;
        Some(address.split_once("://")?.1.trim_end_matches("/mcp").to_owned())
    });
    // Whoever talks to a closed pipe fails; somebody must listen on.
    std::thread::spawn(move || lines.for_each(drop));
    (Server { child }, address.expect("the server says where it listens"))
}

/// Sends a request with these headers and waits for the whole answer.
pub(super) fn post(address: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    let own = [("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")];
    request(address, "POST", "/mcp", &[headers, &own].concat(), body)
}

/// Sends a request to an address of the server and waits for the whole answer.
pub(super) fn request(address: &str, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    let mut stream = TcpStream::connect(address).expect("the server is there");
    stream.set_read_timeout(Some(DEADLINE)).expect("the server is there");
    let mut text = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        text.push_str(&format!("Host: {address}\r\n"));
    }
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str("\r\n");
    stream.write_all(text.as_bytes()).expect("the server is there");
    // A server that refuses may not wait for the body.
    let _ = stream.write_all(body.as_bytes());
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split_whitespace().nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    Answer { status, head: head.to_owned(), body: body.to_owned() }
}

/// A request of the new era over HTTP.
pub(super) fn ask_new(address: &str, method: &str, mut params: Value, headers: &[(&str, &str)]) -> Answer {
    params["_meta"] = meta(&json!({}));
    let name = params["name"].as_str().or(params["uri"].as_str()).unwrap_or_default().to_owned();
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
    let mut all = vec![("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", method)];
    if !name.is_empty() {
        all.push(("Mcp-Name", &name));
    }
    all.extend_from_slice(headers);
    post(address, &all, &body)
}

/// A client that loses the stream of its call gets the answer when it comes back.
#[test]
fn the_answer_of_a_call_is_resumed_after_its_stream_was_lost() {
    let scratch = ScratchFolder::new();
    tools(&scratch);
    // The tool ends when the test says so.
    scratch.write_file("skills/plain/scripts/echo.sh", "until [ -e go ]; do sleep 0.1; done; echo '{\"ok\": true}'\n");
    let (_server, address) = listening(&scratch, &RUN);
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } } });
    let session = post(&address, &[], &hello.to_string()).header("mcp-session-id").expect("there is one").to_owned();
    let headers = [("Mcp-Session-Id", session.as_str()), ("MCP-Protocol-Version", "2025-11-25")];
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(post(&address, &headers, &ready.to_string()).status, 202);
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "plain__echo", "arguments": {} } });
    let kinds = [("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")];
    let mut stream = open_stream(&address, "POST", "/mcp", &[&headers[..], &kinds].concat(), &call.to_string());
    // The stream begins if the answer takes a while; its first event says where to resume.
    let begun = hear(&mut stream, "retry: ");
    let last = begun.lines().find_map(|line| line.strip_prefix("id: ")).expect("the event has an id").trim();
    drop(stream);
    scratch.write_file("go", "");
    let resumed = [&headers[..], &[("Accept", "text/event-stream"), ("Last-Event-Id", last)]].concat();
    let mut stream = open_stream(&address, "GET", "/mcp", &resumed, "");
    let heard = hear(&mut stream, "\"result\"");
    assert!(heard.contains("\"id\":2") && heard.contains("\"ok\":true"), "{heard}");
}

/// A client of an earlier revision, such as Gemini CLI, takes an event without data for a damaged message and leaves.
#[test]
fn events_without_data_are_for_clients_that_know_them() {
    let scratch = ScratchFolder::new();
    library(&scratch);
    let (_server, address) = listening(&scratch, &PATH);
    for (revision, has_empty_event) in [("2025-06-18", false), ("2025-11-25", true)] {
        let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": revision, "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } } });
        let answer = post(&address, &[], &hello.to_string());
        assert_eq!(answer.message()["result"]["protocolVersion"], revision);
        let session = answer.header("mcp-session-id").expect("the revision has sessions").to_owned();
        let headers = [("Mcp-Session-Id", session.as_str()), ("MCP-Protocol-Version", revision)];
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(post(&address, &headers, &ready.to_string()).status, 202);
        let headers = [&headers[..], &[("Accept", "text/event-stream")]].concat();
        let mut stream = open_stream(&address, "GET", "/mcp", &headers, "");
        let begun = hear(&mut stream, "retry: ");
        scratch.write_file(
            &format!("skills/more-{revision}/SKILL.md"),
            format!("---\nname: more-{revision}\ndescription: More. Use when testing.\n---\n\n# More\n"),
        );
        let heard = begun + &hear(&mut stream, "list_changed");
        let is_empty = |line: &&str| line.trim_end() == "data:";
        assert_eq!(heard.lines().find(is_empty).is_some(), has_empty_event, "{revision}: {heard}");
    }
}

#[test]
fn both_eras_are_answered_at_one_address() {
    let scratch = ScratchFolder::new();
    library(&scratch);
    let (_server, address) = listening(&scratch, &PATH);
    let new = ask_new(&address, "skills/list", json!({}), &[]);
    assert_eq!(new.message()["result"]["skills"].as_array().unwrap().len(), 4, "{new:?}");
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } } });
    let answer = post(&address, &[], &hello.to_string());
    let session = answer.header("mcp-session-id").expect("the old era has sessions").to_owned();
    assert_eq!(answer.message()["result"]["protocolVersion"], "2025-11-25");
    let headers = [("Mcp-Session-Id", session.as_str()), ("MCP-Protocol-Version", "2025-11-25")];
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(post(&address, &headers, &ready.to_string()).status, 202);
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "skills/list", "params": {} });
    let old = post(&address, &headers, &list.to_string());
    assert_eq!(old.message()["result"]["skills"], new.message()["result"]["skills"]);
    let unknown = ask_new(&address, "nothing/there", json!({}), &[]);
    assert_eq!((unknown.status, &unknown.message()["error"]["code"]), (404, &json!(-32601)), "{unknown:?}");
    assert_eq!(request(&address, "DELETE", "/mcp", &headers, "").status / 100, 2);
    assert_eq!(post(&address, &headers, &list.to_string()).status, 404);
}

#[test]
fn pages_of_the_web_are_not_answered() {
    let scratch = ScratchFolder::new();
    library(&scratch);
    let (_server, address) = listening(&scratch, &["--path", "skills", "--allow-origin", "https://tool.example"]);
    let status = |headers: &[(&str, &str)]| ask_new(&address, "skills/list", json!({}), headers).status;
    assert_eq!(status(&[]), 200);
    assert_eq!(status(&[("Origin", "http://localhost:6274")]), 200);
    assert_eq!(status(&[("Origin", "https://tool.example")]), 200);
    for origin in ["https://evil.example", "null", "http://localhost.evil.example", "file://", ""] {
        assert_eq!(status(&[("Origin", origin)]), 403, "{origin}");
    }
    for host in ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example"] {
        assert_eq!(status(&[("Host", host)]), 403, "{host}");
    }
    assert_eq!(status(&[("Host", "localhost")]), 200);
}

#[test]
fn other_machines_need_a_token_and_it_must_be_the_right_one() {
    let scratch = ScratchFolder::new();
    library(&scratch);
    let found = run(&scratch, &["serve", "--http", "0.0.0.0:0", "--path", "skills"]);
    assert_eq!(found.code, 3, "{found:?}");
    assert!(found.stderr.contains("--token-file"), "{found:?}");
    scratch.write_file("short.txt", "abc\n");
    let found = run(&scratch, &["serve", "--http", "0.0.0.0:0", "--path", "skills", "--token-file", "short.txt"]);
    assert_eq!(found.code, 2, "{found:?}");
    scratch.write_file("tokens.txt", "# ours\nfirst-token-of-ours-1\n\n  second-token-of-ours-2  \n");
    let (_server, address) = listening(&scratch, &["--path", "skills", "--token-file", "tokens.txt"]);
    let status = |token: &str| ask_new(&address, "skills/list", json!({}), &[("Authorization", token)]);
    assert_eq!(status("Bearer first-token-of-ours-1").status, 200);
    assert_eq!(status("bearer second-token-of-ours-2").status, 200);
    for wrong in
        ["Bearer first-token-of-ours-", "Bearer # ours", "Basic first-token-of-ours-1", "first-token-of-ours-1", ""]
    {
        let answer = status(wrong);
        assert_eq!(answer.status, 401, "{wrong}");
        assert!(answer.header("www-authenticate").is_some(), "{answer:?}");
    }
}

/// Base64 as tokens have it.
pub(super) fn base64url(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::new();
    for part in bytes.chunks(3) {
        let word = part.iter().fold(0_usize, |word, byte| word << 8 | usize::from(*byte)) << (8 * (3 - part.len()));
        for at in 0..=part.len() {
            text.push(char::from(LETTERS[word >> (18 - 6 * at) & 63]));
        }
    }
    text
}

#[test]
fn tokens_of_an_authorization_server_are_let_in() {
    use ring::signature::{Ed25519KeyPair, KeyPair as _};
    let scratch = ScratchFolder::new();
    library(&scratch);
    let pair = Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap();
    let key = json!({ "kty": "OKP", "crv": "Ed25519", "x": base64url(pair.public_key().as_ref()) });
    scratch.write_file("jwks.json", json!({ "keys": [key] }).to_string());
    let audience = "https://skills.example/mcp";
    let oauth = ["--oauth-issuer", "https://id.example", "--oauth-audience", audience, "--oauth-keys", "jwks.json"];
    let (_server, address) = listening(&scratch, &[&PATH[..], &oauth].concat());
    let token = |claims: &Value| {
        let signed = format!("{}.{}", base64url(br#"{"alg":"EdDSA"}"#), base64url(claims.to_string().as_bytes()));
        format!("Bearer {signed}.{}", base64url(pair.sign(signed.as_bytes()).as_ref()))
    };
    let ask = |token: &str| ask_new(&address, "skills/list", json!({}), &[("Authorization", token)]);
    let claims = json!({ "iss": "https://id.example", "aud": audience, "exp": 4_000_000_000_u64 });
    assert_eq!(ask(&token(&claims)).status, 200);
    for (name, value) in [("aud", json!("https://other.example")), ("iss", json!("x")), ("exp", json!(1))] {
        let mut claims = claims.clone();
        claims[name] = value;
        let refused = ask(&token(&claims));
        assert_eq!(refused.status, 401, "{name}");
        let challenge = refused.header("www-authenticate").unwrap();
        assert!(challenge.contains("/.well-known/oauth-protected-resource/mcp"), "{challenge}");
    }
    let mut stream = TcpStream::connect(&address).unwrap();
    let head = "GET /.well-known/oauth-protected-resource/mcp HTTP/1.1";
    stream.write_all(format!("{head}\r\nHost: {address}\r\nConnection: close\r\n\r\n").as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert!(text.starts_with("HTTP/1.1 200") && text.contains("https://id.example"), "{text}");
    scratch.write_file("none.json", "{}");
    let bad =
        ["serve", "--http", "127.0.0.1:0", "--oauth-issuer", "x", "--oauth-audience", "y", "--oauth-keys", "none.json"];
    assert_eq!(run(&scratch, &bad).code, 2);
}

#[test]
fn who_may_run_tools_bears_a_token() {
    let scratch = ScratchFolder::new();
    library(&scratch);
    let begin = || {
        let child = start(&scratch, &["--http", "127.0.0.1:0", "--path", "skills", "--allow-run"]).spawn().unwrap();
        let mut server = Server { child };
        let lines = BufReader::new(server.child.stderr.take().unwrap()).lines();
        let mut file = None;
        for line in lines.map(Result::unwrap) {
            if let Some((_, rest)) = line.split_once("the token in `") {
                file = Some(rest.trim_end_matches('`').to_owned());
            }
            if let Some((_, address)) = line.split_once("listening on http://") {
                let address = address.trim_end_matches("/mcp").to_owned();
                return (server, address, file.expect("the file is told first"));
            }
        }
        panic!("the server does not listen");
    };
    let (_server, address, file) = begin();
    let token = std::fs::read_to_string(&file).unwrap().trim().to_owned();
    let ask = |address: &str, token: &str| {
        ask_new(address, "skills/list", json!({}), &[("Authorization", &format!("Bearer {token}"))]).status
    };
    assert_eq!(ask_new(&address, "skills/list", json!({}), &[]).status, 401);
    assert_eq!((ask(&address, &token), ask(&address, "another-token-of-some-length")), (200, 401));
    // Hosts are set up once: the token is the same the next time.
    let (_other, address, again) = begin();
    assert_eq!((file, ask(&address, &token)), (again, 200));
}

#[test]
fn keys_come_from_the_issuer_and_change_with_it() {
    use ring::signature::{Ed25519KeyPair, KeyPair as _};
    let scratch = ScratchFolder::new();
    library(&scratch);
    let pair = |seed: u8| Ed25519KeyPair::from_seed_unchecked(&[seed; 32]).unwrap();
    let keys = move |seed: u8| {
        let x = base64url(pair(seed).public_key().as_ref());
        json!({ "keys": [{ "kty": "OKP", "crv": "Ed25519", "kid": seed.to_string(), "x": x }] }).to_string()
    };
    let seed = Arc::new(AtomicU8::new(1));
    let signing = Arc::clone(&seed);
    let server = rep_test_support::TestServer::start(move |asked, _| match asked.line.as_str() {
        "GET /.well-known/openid-configuration/team" => {
            let own = format!("http://{}", asked.header("host").unwrap_or_default());
            let value = json!({ "issuer": format!("{own}/team"), "jwks_uri": format!("{own}/keys") });
            build_response("200 OK", &[], &value.to_string())
        }
        "GET /keys" => build_response("200 OK", &[], &keys(signing.load(Ordering::Relaxed))),
        _ => build_response("404 Not Found", &[], ""),
    });
    let at = |path: &str| format!("http://127.0.0.1:{}{path}", server.port);
    let issuer = at("/team");
    let oauth = ["--oauth-issuer", &issuer, "--oauth-audience", "us"];
    let (_server, address) = listening(&scratch, &[&PATH[..], &oauth].concat());
    let ask = |seed: u8| {
        let header = json!({ "alg": "EdDSA", "kid": seed.to_string() }).to_string();
        let claims = json!({ "iss": issuer, "aud": "us", "exp": 4_000_000_000_u64 }).to_string();
        let signed = format!("{}.{}", base64url(header.as_bytes()), base64url(claims.as_bytes()));
        let token = format!("Bearer {signed}.{}", base64url(pair(seed).sign(signed.as_bytes()).as_ref()));
        ask_new(&address, "skills/list", json!({}), &[("Authorization", &token)]).status
    };
    assert_eq!(ask(1), 200);
    seed.store(2, Ordering::Relaxed);
    assert_eq!((ask(2), ask(1)), (200, 401));
    let other = at("/other");
    let refused =
        run(&scratch, &["serve", "--http", "127.0.0.1:0", "--oauth-issuer", &other, "--oauth-audience", "us"]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("404") && refused.stderr.contains("--oauth-keys"), "{}", refused.stderr);
}

#[test]
fn a_certificate_makes_it_https() {
    let scratch = ScratchFolder::new();
    library(&scratch);
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    scratch.write_file("cert.pem", made.cert.pem());
    scratch.write_file("key.pem", made.signing_key.serialize_pem());
    let wrong = ["serve", "--http", "127.0.0.1:0", "--path", "skills", "--tls-cert", "key.pem", "--tls-key", "key.pem"];
    let found = run(&scratch, &wrong);
    assert_eq!(found.code, 2, "{found:?}");
    assert!(!found.stderr.contains("PRIVATE"), "{found:?}");
    let (_server, address) =
        listening(&scratch, &["--path", "skills", "--tls-cert", "cert.pem", "--tls-key", "key.pem"]);
    let mut roots = rustls::RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = std::sync::Arc::new(config.with_root_certificates(roots).with_no_client_auth());
    // Somebody who never greets keeps nobody waiting.
    let _silent = TcpStream::connect(&address).unwrap();
    let client = rustls::ClientConnection::new(config, "localhost".try_into().unwrap()).unwrap();
    let stream = TcpStream::connect(&address).unwrap();
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    let mut stream = rustls::StreamOwned::new(client, stream);
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "skills/list", "params": { "_meta": meta(&json!({})) } });
    let body = body.to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: skills/list\r\n\r\n",
        body.len()
    );
    stream.write_all((head + &body).as_bytes()).unwrap();
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes);
    assert!(text.starts_with("HTTP/1.1 200") && text.contains("skill://pdf/SKILL.md"), "{text}");
}

#[test]
fn what_is_too_large_or_no_message_is_refused_and_the_server_goes_on() {
    let scratch = ScratchFolder::new();
    library(&scratch);
    let (_server, address) = listening(&scratch, &PATH);
    let large = "x".repeat(5 << 20);
    assert_eq!(post(&address, &[], &large).status, 413);
    for body in ["", "{", "[]", "null", "{\"jsonrpc\":\"2.0\"}"] {
        let status = post(&address, &[], body).status;
        assert_eq!(status / 100, 4, "{body}: {status}");
    }
    assert_eq!(ask_new(&address, "skills/list", json!({}), &[]).status, 200);
}

#[test]
fn the_end_is_clean_whoever_asks_for_it() {
    let scratch = ScratchFolder::new();
    library(&scratch);
    // The client goes.
    let mut client = Client::new(&scratch, &PATH, Era::Old);
    drop(client.input.take());
    assert!(client.server.child.wait().unwrap().success());
    // A signal comes while a stream is open.
    let (mut server, address) = listening(&scratch, &PATH);
    let mut stream = TcpStream::connect(&address).unwrap();
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen",
        "params": { "_meta": meta(&json!({})), "notifications": { "resourcesListChanged": true } } })
    .to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Length: {}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\n\r\n",
        body.len()
    );
    stream.write_all((head + &body).as_bytes()).unwrap();
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    while !line.contains("acknowledged") {
        line.clear();
        assert_ne!(reader.read_line(&mut line).unwrap(), 0, "the stream ended");
    }
    let pid = rustix::process::Pid::from_child(&server.child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert!(server.child.wait().unwrap().success());
}
