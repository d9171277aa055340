//! Named tokens: what each allows, for which skills, and what happens to wrong ones.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::sync::{Arc, Mutex};

use rep_test_support::{DEADLINE, ScratchFolder, wait_for, wait_until};
use serde_json::{Value, json};

use super::serve::{Client, Era, Server, meta, start};
use super::serve_http::{ask_new, listening, post, request};
use super::serve_owners::{Issuer, OAUTH, ask_as, sign_in};
use super::serve_runs::{RUN, tools};
use super::{json as parsed, rep, run};

/// Makes a token and returns it.
fn make_token(scratch: &ScratchFolder, arguments: &[&str]) -> String {
    let made = run(scratch, &[&["token", "new"], arguments].concat());
    assert_eq!(made.code, 0, "{made:?}");
    made.stdout.trim().to_owned()
}

/// A server for named tokens that allows runs.
fn guarded_server(scratch: &ScratchFolder) -> (Server, String) {
    // The helper opens servers that run tools; a file of tokens keeps it from that.
    scratch.write_file("tokens.txt", "the-operators-own-token\n");
    listening(scratch, &[&RUN[..], &["--token-file", "tokens.txt"]].concat())
}

fn tool_names(answer: &Value) -> Vec<String> {
    let tools = answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("no tools: {answer}"));
    tools.iter().map(|tool| tool["name"].as_str().expect("a tool has a name").to_owned()).collect()
}

#[test]
fn a_token_is_shown_once_and_listed_without_itself() {
    let scratch = ScratchFolder::new();
    let token =
        make_token(&scratch, &["ci", "--scope", "run", "--skill", "csv-*", "--tag", "data", "--expires", "90d"]);
    assert!(token.starts_with("rep_") && token.len() > 60, "{token}");
    let listed = run(&scratch, &["token", "list", "--json"]);
    let entry = parsed(&listed)["tokens"][0].clone();
    assert_eq!((&entry["name"], &entry["scopes"]), (&json!("ci"), &json!(["read", "run"])));
    assert_eq!(entry["skills"], json!(["csv-*", "tag:data"]));
    assert!(entry["expires"].is_string() && !listed.stdout.contains(&token));
    let kept = scratch.read_file("../home/.local/share/repertoire/tokens.json");
    assert!(!kept.contains(&token) && kept.contains("ci"));
    let again = run(&scratch, &["token", "new", "ci", "--json"]);
    assert_eq!((again.code, &parsed(&again)["error"]["code"]), (2, &json!("TOKEN_EXISTS")), "{again:?}");
    for wrong in [
        &["token", "new", "a b"][..],
        &["token", "new", "b", "--expires", "2001-01-01"],
        &["token", "new", "b", "--expires", "soon"],
        &["token", "new", "b", "--skill", "../x"],
        &["token", "new", "b", "--scope", "root"],
    ] {
        assert_eq!(run(&scratch, wrong).code, 2, "{wrong:?}");
    }
    assert_eq!(run(&scratch, &["token", "revoke", "ci"]).code, 0);
    let missing = run(&scratch, &["token", "revoke", "ci", "--json"]);
    assert_eq!((missing.code, parsed(&missing)), (1, json!({ "revoked": null })));
}

#[test]
fn a_named_token_closes_the_server_and_its_revocation_counts_at_once() {
    let scratch = ScratchFolder::new();
    tools(&scratch);
    let token = make_token(&scratch, &["laptop"]);
    let (_server, address) = listening(&scratch, &["--path", "skills"]);
    let status = |token: Option<&str>| {
        let bearer = token.map(|token| format!("Bearer {token}"));
        let headers: Vec<(&str, &str)> =
            bearer.as_deref().map(|bearer| ("Authorization", bearer)).into_iter().collect();
        ask_new(&address, "tools/list", json!({}), &headers).status
    };
    assert_eq!((status(None), status(Some(&token))), (401, 200));
    let later = make_token(&scratch, &["later"]);
    assert_eq!(status(Some(&later)), 200);
    assert_eq!(run(&scratch, &["token", "revoke", "laptop"]).code, 0);
    assert_eq!((status(Some(&token)), status(Some(&later))), (401, 200));
    assert_eq!(run(&scratch, &["token", "revoke", "later"]).code, 0);
    // Without tokens, nobody is let in: the server was started for those that have one.
    assert_eq!((status(None), status(Some(&later))), (401, 401));
    // Another address needs nothing else.
    make_token(&scratch, &["other"]);
    let public = start(&scratch, &["--http", "0.0.0.0:0", "--path", "skills"]).spawn();
    let mut public = Server { child: public.expect("the binary can be started") };
    let mut lines = BufReader::new(public.child.stderr.take().expect("it is piped")).lines();
    assert!(lines.any(|line| line.expect("the server is there").contains("listening on")));
}

/// Sends a request and returns its connection when the first words of the answer have arrived.
pub(super) fn open_stream(address: &str, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).expect("the server listens");
    stream.set_read_timeout(Some(DEADLINE)).expect("the deadline is not zero");
    let mut head = format!("{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
    stream.write_all(head.as_bytes()).expect("the server reads requests");
    stream
}

/// Reads from a stream until it contains a text, and returns what was read.
pub(super) fn hear(stream: &mut TcpStream, text: &str) -> String {
    let (mut heard, mut bytes) = (String::new(), [0; 1024]);
    while !heard.contains(text) {
        let count = stream.read(&mut bytes).expect("an answer within the deadline");
        assert!(count > 0, "{heard}");
        heard.push_str(&String::from_utf8_lossy(&bytes[..count]));
    }
    heard
}

/// The rest of a stream, which must end.
fn hear_end(mut stream: TcpStream) -> String {
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).expect("the stream ends within the deadline");
    String::from_utf8_lossy(&rest).into_owned()
}

/// A client with a named token that may run tools.
struct TokenClient<'a> {
    address: &'a str,
    token: String,
    bearer: String,
}

const TASKS: &str = "io.modelcontextprotocol/tasks";

impl<'a> TokenClient<'a> {
    fn new(scratch: &ScratchFolder, address: &'a str, name: &str) -> Self {
        let token = make_token(scratch, &[name, "--scope", "run"]);
        Self { address, bearer: format!("Bearer {token}"), token }
    }

    fn ask(&self, method: &str, params: Value) -> Value {
        ask_as(self.address, &self.token, &json!({ "extensions": { TASKS: {} } }), method, params)
    }

    /// Starts a session and returns its id.
    fn start_session(&self) -> String {
        let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } } });
        let begun = post(self.address, &[("Authorization", &self.bearer)], &hello.to_string());
        let session = begun.header("mcp-session-id").expect("the revision has sessions").to_owned();
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string();
        assert_eq!(post(self.address, &self.session_headers(&session), &ready).status, 202);
        session
    }

    fn session_headers<'b>(&'b self, session: &'b str) -> [(&'b str, &'b str); 3] {
        [("Authorization", &self.bearer), ("Mcp-Session-Id", session), ("MCP-Protocol-Version", "2025-11-25")]
    }

    fn new_headers<'b>(&'b self, method: &'b str) -> [(&'b str, &'b str); 5] {
        [
            ("Authorization", &self.bearer),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", method),
        ]
    }

    /// Subscribes to changes of the list of tools.
    fn subscribe(&self) -> TcpStream {
        let params = json!({ "_meta": meta(&json!({})), "notifications": { "toolsListChanged": true } });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params });
        let headers = self.new_headers("subscriptions/listen");
        let mut stream = open_stream(self.address, "POST", "/mcp", &headers, &body.to_string());
        hear(&mut stream, "notifications/subscriptions/acknowledged");
        stream
    }

    /// Sends a call that ends only if it is cancelled.
    fn call_forever(&self) -> TcpStream {
        let params = json!({ "name": "plain__forever", "arguments": {}, "_meta": meta(&json!({})) });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let headers = [&self.new_headers("tools/call")[..], &[("Mcp-Name", "plain__forever")]].concat();
        open_stream(self.address, "POST", "/mcp", &headers, &body.to_string())
    }

    /// Starts a task and returns its id.
    fn start_task(&self) -> String {
        let made = self.ask("tools/call", json!({ "name": "plain__forever", "arguments": {} }))["result"].clone();
        made["taskId"].as_str().or(made["task"]["taskId"].as_str()).expect("a task has an id").to_owned()
    }
}

#[test]
fn what_a_token_opened_ends_with_the_token() {
    let scratch = ScratchFolder::new();
    tools(&scratch);
    let (_server, address) = guarded_server(&scratch);
    let [lost, kept] = ["lost", "kept"].map(|name| TokenClient::new(&scratch, &address, name));
    let session = lost.start_session();
    let headers = [&lost.session_headers(&session)[..], &[("Accept", "text/event-stream")]].concat();
    let mut session_stream = open_stream(&address, "GET", "/mcp", &headers, "");
    hear(&mut session_stream, "200 OK");
    let cookie = sign_in(&address, &lost.token);
    let mut page = open_stream(&address, "GET", "/events", &[("Cookie", &cookie)], "");
    hear(&mut page, "event: hello");
    let (lost_news, mut kept_news) = (lost.subscribe(), kept.subscribe());
    let (call, lost_task, kept_task) = (lost.call_forever(), lost.start_task(), kept.start_task());

    assert_eq!(run(&scratch, &["token", "revoke", "lost"]).code, 0);
    for stream in [session_stream, lost_news, page, call] {
        let rest = hear_end(stream);
        assert!(!rest.contains("\"result\""), "{rest}");
    }
    wait_until("both runs have ended, and are recorded", DEADLINE, || {
        let runs = parsed(&run(&scratch, &["audit", "--json"]))["runs"].clone();
        runs.as_array().expect("a list").iter().filter(|run| run.to_string().contains("CANCELLED")).count() == 2
    });
    // A token that gets the same name finds nothing of it.
    let again = TokenClient::new(&scratch, &address, "lost");
    let gone = again.ask("tasks/get", json!({ "taskId": lost_task }));
    assert_eq!(gone["error"]["code"], -32602, "{gone}");
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {} }).to_string();
    assert_eq!(post(&address, &again.session_headers(&session), &list).status, 404);
    // The other token lost nothing.
    let task = kept.ask("tasks/get", json!({ "taskId": kept_task }))["result"].clone();
    assert_eq!(task["status"], "working", "{task}");
    std::fs::remove_dir_all(scratch.work_folder().join("skills/writer")).expect("it is there");
    hear(&mut kept_news, "notifications/tools/list_changed");
}

#[test]
fn a_stream_ends_when_the_token_of_an_authorization_server_expires() {
    let scratch = ScratchFolder::new();
    tools(&scratch);
    let issuer = Issuer::new(&scratch);
    let (_server, address) = listening(&scratch, &[&RUN[..], &OAUTH].concat());
    // The server tolerates a clock that differs by 30 seconds, so this token ends in two.
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("it is after 1970").as_secs();
    let token = issuer.token(&json!({ "sub": "ann", "exp": now - 28 }));
    let cookie = sign_in(&address, &token);
    let mut page = open_stream(&address, "GET", "/events", &[("Cookie", &cookie)], "");
    hear(&mut page, "event: hello");
    hear_end(page);
}

#[test]
fn a_scope_allows_what_it_says() {
    let scratch = ScratchFolder::new();
    tools(&scratch);
    let (_server, address) = guarded_server(&scratch);
    let [read, run_too, admin] = ["read", "run", "admin"].map(|scope| make_token(&scratch, &[scope, "--scope", scope]));
    let ask = |token: &str, method: &str, params: Value| ask_as(&address, token, &json!({}), method, params);
    let own = ["list_skills", "load_skill", "run_skill_script", "plain__echo"];
    let sees = |token: &str| {
        let names = tool_names(&ask(token, "tools/list", json!({})));
        own.map(|name| names.iter().any(|other| other == name))
    };
    assert_eq!(sees(&read), [true, true, false, false]);
    assert_eq!((sees(&run_too), sees(&admin)), ([true; 4], [true; 4]));
    for name in ["plain__echo", "run_skill_script", "run_skill_tool"] {
        let body = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {
            "name": name, "arguments": {}, "_meta": meta(&json!({})) } });
        let bearer = format!("Bearer {read}");
        let headers = [
            ("Authorization", bearer.as_str()),
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", "tools/call"),
            ("Mcp-Name", name),
        ];
        let refused = post(&address, &headers, &body.to_string());
        assert_eq!(refused.status, 403, "{refused:?}");
        let challenge = refused.header("www-authenticate").expect("it says what is missing");
        assert!(challenge.contains("insufficient_scope") && challenge.contains("scope=\"run\""), "{challenge}");
        assert_eq!(refused.message()["id"], 7);
    }
    let call = json!({ "name": "plain__echo", "arguments": {} });
    let done = ask(&run_too, "tools/call", call);
    assert_eq!(done["result"]["structuredContent"], json!({ "ok": true }), "{done}");
    let loaded = ask(&read, "tools/call", json!({ "name": "load_skill", "arguments": { "name": "plain" } }));
    let text = loaded["result"]["content"][0]["text"].as_str().expect("there are instructions");
    assert!(!text.contains("plain__echo"), "{text}");

    // The dashboard.
    let page = |token: &str, path: &str| {
        let bearer = format!("Bearer {token}");
        request(&address, "GET", path, &[("Authorization", &bearer), ("Accept", "text/html")], "")
    };
    let forms = |token: &str| page(token, "/skill?name=plain").body.contains("action=\"/run\"");
    assert_eq!((forms(&read), forms(&run_too)), (false, true));
    let names_clients = |token: &str| page(token, "/overview").body.contains("calls per second");
    assert_eq!((names_clients(&read), names_clients(&run_too), names_clients(&admin)), (false, false, true));
    let cookie = sign_in(&address, &read);
    let key = request(&address, "GET", "/skill?name=plain", &[("Cookie", &cookie), ("Accept", "text/html")], "").key();
    for (path, body) in
        [("/run", "tool=plain__echo&input={}"), ("/answer", "question=1&answer=yes"), ("/cancel", "run=1")]
    {
        let headers = [("Cookie", cookie.as_str()), ("Content-Type", "application/x-www-form-urlencoded")];
        let refused = request(&address, "POST", path, &headers, &format!("key={key}&{body}"));
        assert!([403, 404].contains(&refused.status), "{path}: {refused:?}");
    }
}

#[test]
fn a_token_shows_its_skills_and_no_others() {
    let scratch = ScratchFolder::new();
    tools(&scratch);
    let front = "---\nname: notes\ndescription: Keeps notes. Use when writing.\nmetadata: {tags: \"writing, home\"}\n---\n\nSee [style](style.md).\n";
    scratch.write_file("skills/notes/SKILL.md", front);
    scratch.write_file("skills/notes/style.md", "Short.\n");
    let (_server, address) = guarded_server(&scratch);
    let by_name = make_token(&scratch, &["by-name", "--scope", "run", "--skill", "pl*"]);
    let by_tag = make_token(&scratch, &["by-tag", "--scope", "admin", "--tag", "home"]);
    let ask = |token: &str, method: &str, params: Value| ask_as(&address, token, &json!({}), method, params);
    let call = |token: &str, name: &str, arguments: Value| {
        ask(token, "tools/call", json!({ "name": name, "arguments": arguments }))["result"].clone()
    };
    let listed = |token: &str| {
        let skills = call(token, "list_skills", json!({}))["structuredContent"]["skills"].clone();
        let names = skills.as_array().expect("a list").iter().map(|skill| skill["name"].as_str().unwrap().to_owned());
        names.collect::<Vec<_>>()
    };
    assert_eq!((listed(&by_name), listed(&by_tag)), (vec!["plain".to_owned()], vec!["notes".to_owned()]));
    let extension = ask(&by_tag, "skills/list", json!({}))["result"]["skills"].clone();
    assert_eq!(extension.as_array().expect("a list").len(), 1, "{extension}");
    let names = tool_names(&ask(&by_name, "tools/list", json!({})));
    assert!(names.contains(&"plain__echo".to_owned()) && !names.iter().any(|name| name.starts_with("writer")));
    // What is not shown does not exist, by any name.
    for (token, tool, arguments) in [
        (&by_name, "load_skill", json!({ "name": "notes" })),
        (&by_name, "read_skill_file", json!({ "uri": "skill://notes/style.md" })),
        (&by_name, "query_skill", json!({ "query": "notes:meta.description" })),
        (&by_name, "run_skill_script", json!({ "skill": "writer", "script": "scripts/mark.sh" })),
        (&by_tag, "load_skill", json!({ "name": "plain" })),
    ] {
        let missing = call(token, tool, arguments);
        assert_eq!(missing["isError"], true, "{tool}: {missing}");
        assert!(missing.to_string().contains("NOT_FOUND"), "{tool}: {missing}");
    }
    for (method, params) in [
        ("resources/read", json!({ "uri": "skill://notes/SKILL.md" })),
        ("skills/get", json!({ "uri": "skill://notes/SKILL.md" })),
        ("prompts/get", json!({ "name": "notes" })),
        ("tools/call", json!({ "name": "writer__mark", "arguments": {} })),
    ] {
        let missing = ask(&by_name, method, params);
        assert!(missing["error"].is_object(), "{method}: {missing}");
    }
    let hits = call(&by_name, "search_skills", json!({ "text": "keeps notes when writing" }));
    assert!(!hits.to_string().contains("notes\""), "{hits}");
    let resources = ask(&by_name, "resources/list", json!({})).to_string();
    assert!(resources.contains("skill://plain/") && !resources.contains("skill://notes/"), "{resources}");
    let bearer = format!("Bearer {by_name}");
    let page = |path: &str| request(&address, "GET", path, &[("Authorization", &bearer), ("Accept", "text/html")], "");
    assert!(!page("/?q=notes").body.contains("Keeps notes") && page("/skill?name=notes").status == 404);
    let index = page("/.well-known/agent-skills/index.json").body;
    assert!(index.contains("\"plain\"") && !index.contains("\"notes\""), "{index}");
    assert_eq!(page("/.well-known/agent-skills/notes.tar.gz").status, 404);
}

#[test]
fn a_client_sees_the_skills_that_its_settings_name() {
    let scratch = ScratchFolder::new();
    tools(&scratch);
    scratch.write_file("rep.yaml", "serve:\n  clients:\n    te*: [plain]\n    other: [writer]\n");
    for era in [Era::Old, Era::New] {
        let mut client = Client::new(&scratch, &["--path", "skills"], era);
        let listed = client.call("list_skills", json!({}))["structuredContent"]["skills"].clone();
        assert_eq!(listed.as_array().expect("a list").len(), 1, "{listed}");
        assert_eq!(listed[0]["name"], "plain");
    }
    scratch.write_file("rep.yaml", "serve:\n  clients:\n    test: []\n");
    let refused = start(&scratch, &["--path", "skills"]).output().expect("the binary can be started");
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(refused.status.code() == Some(2) && said.contains("rep.yaml:3:"), "{said}");
}

#[test]
fn wrong_tokens_are_logged_and_recorded_and_do_not_hold_back_right_ones() {
    let scratch = ScratchFolder::new();
    tools(&scratch);
    let token = make_token(&scratch, &["laptop"]);
    let arguments = ["--http", "127.0.0.1:0", "--path", "skills"];
    let mut child = start(&scratch, &arguments).spawn().expect("the binary can be started");
    let said = Arc::new(Mutex::new(String::new()));
    let (mut lines, own) = (BufReader::new(child.stderr.take().expect("it is piped")), Arc::clone(&said));
    std::thread::spawn(move || {
        let mut line = String::new();
        while lines.read_line(&mut line).is_ok_and(|read| read > 0) {
            own.lock().unwrap().push_str(&line);
            line.clear();
        }
    });
    let mut server = Server { child };
    let address = wait_for("the address", DEADLINE, || {
        let said = said.lock().unwrap();
        let (_, rest) = said.split_once("listening on http://")?;
        Some(rest.split_once("/mcp")?.0.to_owned())
    });
    let guess = |number: usize| {
        let address = address.clone();
        std::thread::spawn(move || {
            let bearer = format!("Bearer guess-{number}-0123456789");
            ask_new(&address, "tools/list", json!({}), &[("Authorization", &bearer)]).status
        })
    };
    let guesses: Vec<_> = (0..4).map(guess).collect();
    let bearer = format!("Bearer {token}");
    assert_eq!(ask_new(&address, "tools/list", json!({}), &[("Authorization", &bearer)]).status, 200);
    for guess in guesses {
        assert_eq!(guess.join().expect("the request ends"), 401);
    }
    wait_until("the log names the address", DEADLINE, || said.lock().unwrap().contains("wrong token from 127.0.0.1"));
    assert!(!said.lock().unwrap().contains("guess-"));
    let recorded = || {
        let calls = parsed(&run(&scratch, &["audit", "--calls", "--json"]))["calls"].clone();
        calls.as_array().expect("a list").iter().find(|call| call["method"] == "authenticate").cloned()
    };
    let record = wait_for("the record", DEADLINE, recorded);
    assert_eq!((&record["outcome"], &record["peer"]), (&json!("UNAUTHORIZED"), &json!("127.0.0.1")), "{record}");
    assert!(!record.to_string().contains("guess-"));
    server.child.kill().expect("the server is there");
}

#[test]
fn runs_of_one_bearer_leave_room_for_those_of_others() {
    let scratch = ScratchFolder::new();
    tools(&scratch);
    let (_server, address) = guarded_server(&scratch);
    let [greedy, modest] = ["greedy", "modest"].map(|name| make_token(&scratch, &[name, "--scope", "run"]));
    let can = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    let forever = json!({ "name": "plain__forever", "arguments": {} });
    let calls: Vec<_> = (0..20)
        .map(|_| {
            let (address, token, can, forever) = (address.clone(), greedy.clone(), can.clone(), forever.clone());
            std::thread::spawn(move || ask_as(&address, &token, &can, "tools/call", forever)["result"].clone())
        })
        .collect();
    // They go on as tasks, some of which wait for their turn.
    let tasks: Vec<Value> = calls.into_iter().map(|call| call.join().expect("the call is answered")).collect();
    let status = |task: &Value| {
        let id = task["taskId"].as_str().or(task["task"]["taskId"].as_str()).expect("a task has an id");
        let task = ask_as(&address, &greedy, &can, "tasks/get", json!({ "taskId": id }))["result"].clone();
        task["statusMessage"].as_str().unwrap_or_default().to_owned()
    };
    let waiting = tasks.iter().filter(|task| status(task).contains("waiting")).count();
    assert_eq!(waiting, 8, "{:?}", tasks.iter().map(status).collect::<Vec<_>>());
    // These would never be answered if they had to wait for the others.
    for token in [&modest, &modest] {
        let done = ask_as(&address, token, &json!({}), "tools/call", json!({ "name": "plain__echo", "arguments": {} }));
        assert_eq!(done["result"]["structuredContent"], json!({ "ok": true }), "{done}");
    }
    // A call that waits says so.
    let mut params = forever.clone();
    params["_meta"] = meta(&json!({}));
    params["_meta"]["progressToken"] = json!("mine");
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
    let mut stream = TcpStream::connect(&address).expect("the server is there");
    stream.set_read_timeout(Some(DEADLINE)).expect("the server is there");
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {greedy}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: plain__forever\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all((head + &body).as_bytes()).expect("the server is there");
    let mut heard = String::new();
    let mut reader = BufReader::new(stream);
    while !heard.contains("waiting for other runs to end") {
        assert!(reader.read_line(&mut heard).expect("a message arrives") > 0, "{heard}");
    }
    assert!(heard.contains("notifications/progress"), "{heard}");
}

#[test]
fn connections_that_say_nothing_give_way() {
    let scratch = ScratchFolder::new();
    tools(&scratch);
    let mut limited = Command::new("prlimit");
    limited.args(["--nofile=320:320"]).arg(rep()).args(["serve", "--http", "127.0.0.1:0", "--path", "skills"]);
    let template = start(&scratch, &[]);
    limited.current_dir(scratch.work_folder()).stdin(std::process::Stdio::null());
    for (name, value) in template.get_envs() {
        match value {
            Some(value) => drop(limited.env(name, value)),
            None => drop(limited.env_remove(name)),
        }
    }
    let Ok(mut child) = limited.stderr(std::process::Stdio::piped()).spawn() else {
        rep_test_support::report_skipped("`prlimit` is not installed");
        return;
    };
    let mut lines = BufReader::new(child.stderr.take().expect("it is piped")).lines();
    let address = lines.find_map(|line| {
        let line = line.expect("the server is there");
        Some(line.split_once("listening on http://")?.1.trim_end_matches("/mcp").to_owned())
    });
    std::thread::spawn(move || lines.for_each(drop));
    let (_server, address) = (Server { child }, address.expect("the server says where it listens"));
    // A client that was answered before keeps its connection.
    let mut kept = TcpStream::connect(&address).expect("the server is there");
    kept.set_read_timeout(Some(DEADLINE)).expect("the server is there");
    let mut ask_kept = || {
        kept.write_all(format!("GET /costs HTTP/1.1\r\nHost: {address}\r\n\r\n").as_bytes()).expect("it is open");
        let mut reader = BufReader::new(&kept);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(reader.read_line(&mut head).expect("it is open") > 0, "{head}");
        }
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        let length =
            head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length:")?.trim().parse().ok());
        let mut body = vec![0; length.expect("the length is in the head")];
        reader.read_exact(&mut body).expect("it is open");
    };
    ask_kept();
    let silent: Vec<TcpStream> = (0..400).map(|_| TcpStream::connect(&address).expect("the server is there")).collect();
    assert_eq!(request(&address, "GET", "/healthz", &[], "").status, 200);
    assert_eq!(ask_new(&address, "tools/list", json!({}), &[]).status, 200);
    ask_kept();
    drop(silent);
}
