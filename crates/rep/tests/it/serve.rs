//! The server through the real binary: a small client of the protocol over stdio and HTTP, in both eras.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use rep_fixture::Scratch;
use serde_json::{Value, json};

use super::{GOOD, rep, run};

/// How long an answer may take before a test gives up: far more than any takes.
const PATIENCE: Duration = Duration::from_mins(1);

/// The two eras of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Era {
    Old,
    New,
}

pub(super) const ERAS: [Era; 2] = [Era::Old, Era::New];

/// A server that is ended with the value.
pub(super) struct Server {
    pub(super) child: Child,
}

impl Drop for Server {
    fn drop(&mut self) {
        // The test is over either way.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn start(scratch: &Scratch, arguments: &[&str]) -> Command {
    let mut command = Command::new(rep());
    command
        .arg("serve")
        .args(arguments)
        .current_dir(scratch.work())
        .env("HOME", scratch.work().parent().expect("the server is there").join("home"))
        .env("NO_COLOR", "1")
        .env_remove("XDG_CACHE_HOME")
        .env_remove("XDG_CONFIG_HOME")
        .env_remove("XDG_DATA_HOME")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// What a request of the new era bears.
pub(super) fn meta(can: &Value) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": can,
    })
}

/// A client on stdio.
pub(super) struct Client {
    pub(super) server: Server,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    era: Era,
    can: Value,
    next: u64,
    /// What came besides answers.
    heard: Vec<Value>,
}

impl Client {
    pub(super) fn new(scratch: &Scratch, arguments: &[&str], era: Era) -> Self {
        Self::that_can(scratch, arguments, era, json!({}))
    }

    #[expect(clippy::needless_pass_by_value, reason = "reads better where it is called")]
    pub(super) fn that_can(scratch: &Scratch, arguments: &[&str], era: Era, can: Value) -> Self {
        let mut child = start(scratch, arguments).stderr(Stdio::null()).spawn().expect("the binary can be started");
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("the server is there"));
        let mut client =
            Self { server: Server { child }, input, output, era, can: can.clone(), next: 0, heard: Vec::new() };
        if era == Era::Old {
            let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": can, "clientInfo": { "name": "test", "version": "1" } });
            let answer = client.ask("initialize", hello);
            assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{answer}");
            client.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        }
        client
    }

    pub(super) fn say(&mut self, message: &Value) {
        let input = self.input.as_mut().expect("the server is there");
        writeln!(input, "{message}").expect("the server is there");
        input.flush().expect("the server is there");
    }

    pub(super) fn send(&mut self, method: &str, mut params: Value) -> u64 {
        self.next += 1;
        if self.era == Era::New {
            params["_meta"] = meta(&self.can);
        }
        let id = self.next;
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    pub(super) fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("the server is there");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("no message ({error}): {line:?}"))
    }

    pub(super) fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.hear();
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
            self.heard.push(message);
        }
    }

    pub(super) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        self.answer(id)
    }

    #[expect(clippy::needless_pass_by_value, reason = "reads better where it is called")]
    pub(super) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({ "name": tool, "arguments": arguments }))["result"].clone()
    }
}

/// An answer over HTTP.
#[derive(Debug)]
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    /// The last message, out of a stream or alone.
    fn message(&self) -> Value {
        let mut lines = self.body.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim);
        let text = lines.rfind(|line| line.starts_with('{')).unwrap_or(&self.body);
        serde_json::from_str(text).unwrap_or_else(|error| panic!("no message ({error}): {self:?}"))
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (own, value) = line.split_once(':')?;
            own.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

/// A server over HTTP, and its address.
pub(super) fn listening(scratch: &Scratch, arguments: &[&str]) -> (Server, String) {
    let mut all = vec!["--http", "127.0.0.1:0"];
    all.extend_from_slice(arguments);
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
fn post(address: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    request(address, "POST", headers, body)
}

fn request(address: &str, method: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    let mut stream = TcpStream::connect(address).expect("the server is there");
    stream.set_read_timeout(Some(PATIENCE)).expect("the server is there");
    let mut text = format!("{method} /mcp HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        text.push_str(&format!("Host: {address}\r\n"));
    }
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str("Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\r\n");
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
fn ask_new(address: &str, method: &str, mut params: Value, headers: &[(&str, &str)]) -> Answer {
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

/// A library with skills of all kinds.
fn library(scratch: &Scratch) {
    scratch.write("skills/pdf/SKILL.md", GOOD);
    scratch.write("skills/pdf/references/forms.md", "# Forms\r\n");
    scratch.write("skills/pdf/assets/dot.png", [0x89, b'P', b'N', b'G', 0xff]);
    scratch.write("skills/pdf/node_modules/x/index.js", "junk");
    let front = |name: &str, more: &str| {
        format!("---\nname: {name}\ndescription: Does {name}. Use when testing {name}.\n{more}---\n\n# {name}\n")
    };
    scratch.write("skills/secret/SKILL.md", front("secret", "disable-model-invocation: true\n"));
    scratch.write("skills/quiet/SKILL.md", front("quiet", "user-invocable: false\n"));
    let body = front("fix-issue", "arguments: [issue, branch]\n") + "\nFix $issue on $branch.\n";
    scratch.write("skills/fix-issue/SKILL.md", body);
    let contract = "x-personal-mcp:\n  id: notes\n  version: 1.2.0\n  tags: [a]\n  capabilities: [resource://skills/notes/document, resource://skills/notes/references/style]\n  references:\n    style: {path: references/style.md, mime_type: text/markdown, title: Style}\n";
    scratch.write("skills/notes/SKILL.md", front("notes", contract));
    scratch.write("skills/notes/references/style.md", "Short.\n");
}

pub(super) const PATH: [&str; 2] = ["--path", "skills"];

#[test]
fn both_eras_say_what_they_can() {
    let scratch = Scratch::new();
    library(&scratch);
    let mut old = Client::new(&scratch, &PATH, Era::Old);
    assert_eq!(old.ask("ping", json!({}))["result"], json!({}));
    let mut new = Client::new(&scratch, &PATH, Era::New);
    let answer = new.ask("server/discover", json!({}))["result"].clone();
    let versions = answer["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")) && versions.contains(&json!("2025-11-25")), "{answer}");
    assert_eq!(answer["capabilities"]["extensions"]["io.modelcontextprotocol/skills"]["directoryRead"], true);
    let instructions = answer["instructions"].as_str().unwrap();
    assert!(instructions.chars().count() <= 2048 && instructions.contains("skill://pdf/SKILL.md"), "{instructions}");
    assert!(!instructions.contains("secret"), "{instructions}");
}

#[test]
fn a_skill_of_one_file_is_that_file_and_nothing_beside_it() {
    let scratch = Scratch::new();
    let text = "meta: {name: marks, version: \"00000000\", type: cli, description: Marks things.}\ncommands:\n  make: {syntax: \"true\"}\n";
    scratch.write("skills/marks.uasp.yaml", text);
    scratch.write("skills/private.txt", "not for you");
    let mut client = Client::new(&scratch, &PATH, Era::New);
    let listed = client.ask("resources/list", json!({}))["result"]["resources"].clone();
    assert_eq!((listed.as_array().unwrap().len(), &listed[0]["name"]), (1, &json!("marks")), "{listed}");
    let uri = listed[0]["uri"].as_str().unwrap().to_owned();
    assert_eq!(client.ask("resources/read", json!({ "uri": uri }))["result"]["contents"][0]["text"], text);
    let told = client.ask("server/discover", json!({}))["result"]["instructions"].clone();
    assert!(told.as_str().unwrap().contains(&uri), "{told}");
    let error = client.ask("resources/read", json!({ "uri": "skill://marks/private.txt" }))["error"].clone();
    assert_eq!(error["code"], -32602, "{error}");
    assert!(!client.call("load_skill", json!({ "name": "marks" })).to_string().contains("private"));
    let read = client.call("read_skill_file", json!({ "skill": "marks", "path": "private.txt" }));
    assert_eq!(read["isError"], true, "{read}");
    // The extension knows only skills with a SKILL.md.
    assert_eq!(client.ask("skills/list", json!({}))["result"]["skills"], json!([]));
}

#[test]
fn instructions_stay_short_with_many_skills() {
    let scratch = Scratch::new();
    for number in 0..300 {
        let text = format!("---\nname: skill-{number:03}\ndescription: Does {number}. Use when testing.\n---\n\n# S\n");
        scratch.write(&format!("skills/skill-{number:03}/SKILL.md"), text);
    }
    let mut client = Client::new(&scratch, &PATH, Era::New);
    let answer = client.ask("server/discover", json!({}))["result"]["instructions"].clone();
    let text = answer.as_str().unwrap();
    assert!(text.chars().count() <= 2048 && text.contains("300 agent skills") && text.contains(" more"), "{text}");
}

#[test]
fn skills_are_listed_with_the_digest_of_every_file() {
    let scratch = Scratch::new();
    library(&scratch);
    for era in ERAS {
        let mut client = Client::new(&scratch, &PATH, era);
        let result = client.ask("skills/list", json!({}))["result"].clone();
        assert_eq!((&result["resultType"], &result["cacheScope"]), (&json!("complete"), &json!("private")));
        assert!(result["ttlMs"].is_u64(), "{result}");
        let skills = result["skills"].as_array().unwrap();
        let uris: Vec<&str> = skills.iter().map(|skill| skill["uri"].as_str().unwrap()).collect();
        let wanted = ["fix-issue", "notes", "pdf", "quiet"].map(|name| format!("skill://{name}/SKILL.md"));
        assert_eq!(uris, wanted, "{era:?}");
        let pdf = &skills[2];
        assert_eq!(pdf["frontmatter"]["name"], "pdf");
        let files: Vec<&str> =
            pdf["resources"].as_array().unwrap().iter().map(|file| file["uri"].as_str().unwrap()).collect();
        assert_eq!(files, ["skill://pdf/SKILL.md", "skill://pdf/assets/dot.png", "skill://pdf/references/forms.md"]);
        // The digest is that of the bytes a client is then given.
        let forms = &pdf["resources"][2];
        assert_eq!(forms["size"], 9);
        assert_eq!(forms["digest"], "sha256:f3c67a7ace0b0b2d25232dae64b847c8f6ad3867750998985ac1f15244f599b0");
        let got = client.ask("skills/get", json!({ "uri": "skill://pdf/SKILL.md" }))["result"].clone();
        assert_eq!(got["skill"], *pdf);
        for unknown in ["skill://secret/SKILL.md", "skill://pdf", "skill://pdf/references/forms.md", "x", "skill://"] {
            let error = client.ask("skills/get", json!({ "uri": unknown }))["error"].clone();
            assert_eq!(error["code"], -32602, "{unknown}: {error}");
        }
        assert_eq!(client.ask("skills/get", json!({}))["error"]["code"], -32602);
        assert_eq!(client.ask("skills/none", json!({}))["error"]["code"], -32601);
    }
}

#[test]
fn a_skill_larger_than_hosts_take_is_not_listed_and_still_read() {
    let scratch = Scratch::new();
    library(&scratch);
    for number in 0..512 {
        scratch.write(&format!("skills/pdf/many/{number}.txt"), "x");
    }
    let mut client = Client::new(&scratch, &PATH, Era::New);
    let result = client.ask("skills/list", json!({}))["result"].clone();
    assert!(!result.to_string().contains("skill://pdf/"), "{result}");
    let error = client.ask("skills/get", json!({ "uri": "skill://pdf/SKILL.md" }))["error"].clone();
    assert!(error["message"].as_str().unwrap().contains("512"), "{error}");
    let read = client.ask("resources/read", json!({ "uri": "skill://pdf/many/7.txt" }))["result"].clone();
    assert_eq!(read["contents"][0]["text"], "x");
}

#[test]
fn folders_are_read_one_at_a_time() {
    let scratch = Scratch::new();
    library(&scratch);
    for era in ERAS {
        let mut client = Client::new(&scratch, &PATH, era);
        let read = |client: &mut Client, uri: &str| client.ask("resources/directory/read", json!({ "uri": uri }));
        let result = read(&mut client, "skill://pdf")["result"].clone();
        let children: Vec<(&str, &str)> = result["resources"]
            .as_array()
            .unwrap()
            .iter()
            .map(|child| (child["name"].as_str().unwrap(), child["mimeType"].as_str().unwrap()))
            .collect();
        let wanted = [("pdf", "text/markdown"), ("assets", "inode/directory"), ("references", "inode/directory")];
        assert_eq!(children, wanted);
        assert!(result["ttlMs"].is_u64() && result["resultType"] == "complete", "{result}");
        let result = read(&mut client, "skill://pdf/references")["result"].clone();
        assert_eq!(result["resources"][0]["uri"], "skill://pdf/references/forms.md");
        for uri in
            ["skill://pdf/SKILL.md", "skill://pdf/none", "skill://secret", "skill://pdf/..", "skill://pdf/node_modules"]
        {
            assert_eq!(read(&mut client, uri)["error"]["code"], -32602, "{uri}");
        }
    }
}

#[test]
fn every_file_is_a_resource_and_nothing_else_is() {
    let scratch = Scratch::new();
    library(&scratch);
    scratch.write("outside.txt", "not for you");
    std::os::unix::fs::symlink("../../outside.txt", scratch.work().join("skills/pdf/leak.txt")).unwrap();
    for (era, code) in [(Era::Old, -32002), (Era::New, -32602)] {
        let mut client = Client::new(&scratch, &PATH, era);
        let listed = client.ask("resources/list", json!({}))["result"].clone();
        let main = listed["resources"].as_array().unwrap().iter().find(|one| one["uri"] == "skill://pdf/SKILL.md");
        let main = main.unwrap();
        assert_eq!((&main["name"], &main["mimeType"]), (&json!("pdf"), &json!("text/markdown")));
        assert!(main["description"].as_str().unwrap().starts_with("Fills PDF forms"), "{main}");
        assert!(!listed.to_string().contains("secret") && !listed.to_string().contains("leak"), "{listed}");
        let read = |client: &mut Client, uri: &str| client.ask("resources/read", json!({ "uri": uri }));
        assert_eq!(read(&mut client, "skill://pdf/SKILL.md")["result"]["contents"][0]["text"], GOOD);
        assert_eq!(
            read(&mut client, "skill://pdf/references/forms.md")["result"]["contents"][0]["text"],
            "# Forms\r\n"
        );
        let image = read(&mut client, "skill://pdf/assets/dot.png")["result"]["contents"][0].clone();
        assert_eq!((&image["blob"], &image["mimeType"]), (&json!("iVBOR/8="), &json!("image/png")));
        let manifest = read(&mut client, "skill://pdf/_manifest")["result"]["contents"][0]["text"].clone();
        assert!(manifest.as_str().unwrap().contains("references/forms.md"), "{manifest}");
        for uri in [
            "skill://pdf/none.md",
            "skill://pdf/leak.txt",
            "skill://pdf/../../outside.txt",
            "skill://pdf/%2e%2e/%2e%2e/outside.txt",
            "skill://pdf/..%2f..%2foutside.txt",
            "skill://secret/SKILL.md",
            "skill://pdf/node_modules/x/index.js",
            "skill://pdf",
            "file:///etc/passwd",
            "",
        ] {
            let error = read(&mut client, uri)["error"].clone();
            assert_eq!(error["code"], code, "{uri}: {error}");
            assert!(!error.to_string().contains(scratch.work().to_str().unwrap()), "{error}");
        }
        let templates = client.ask("resources/templates/list", json!({}))["result"]["resourceTemplates"].clone();
        assert_eq!(templates[0]["uriTemplate"], "skill://{+path}");
        let reference = json!({ "type": "ref/resource", "uri": "skill://{+path}" });
        let params = json!({ "ref": reference, "argument": { "name": "path", "value": "pdf/r" } });
        let completion = client.ask("completion/complete", params)["result"]["completion"].clone();
        assert_eq!(completion["values"], json!(["pdf/references/forms.md"]));
    }
}

#[test]
fn the_personal_mcp_contract_is_answered_in_native_fields() {
    let scratch = Scratch::new();
    library(&scratch);
    let mut client = Client::new(&scratch, &PATH, Era::Old);
    let listed = client.ask("resources/list", json!({}))["result"]["resources"].clone();
    let find = |uri: &str| listed.as_array().unwrap().iter().find(|one| one["uri"] == uri).unwrap().clone();
    let document = find("resource://skills/notes/document");
    assert_eq!(document["_meta"]["skill_id"], "notes");
    assert_eq!(document["_meta"]["fastmcp"], json!({ "tags": ["a"], "version": "1.2.0" }));
    let reference = find("resource://skills/notes/references/style");
    assert_eq!((&reference["mimeType"], &reference["title"]), (&json!("text/markdown"), &json!("Style")));
    assert_eq!(reference["_meta"]["path"], "references/style.md");
    let native = ["uri", "name", "title", "description", "mimeType", "size", "icons", "annotations", "_meta"];
    for resource in listed.as_array().unwrap() {
        assert!(resource.as_object().unwrap().keys().all(|key| native.contains(&key.as_str())), "{resource}");
    }
    let read = client.ask("resources/read", json!({ "uri": "resource://skills/notes/references/style" }));
    assert_eq!(read["result"]["contents"][0]["text"], "Short.\n");
    let read = client.ask("resources/read", json!({ "uri": "resource://skills/notes/references/none" }));
    assert_eq!(read["error"]["code"], -32002);
}

#[test]
fn skills_people_may_call_are_prompts() {
    let scratch = Scratch::new();
    library(&scratch);
    for era in ERAS {
        let mut client = Client::new(&scratch, &PATH, era);
        let listed = client.ask("prompts/list", json!({}))["result"]["prompts"].clone();
        let names: Vec<&str> = listed.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
        // One that models may not choose is there, one that people may not call is not.
        assert_eq!(names, ["fix-issue", "notes", "pdf", "secret"]);
        let arguments: Vec<&Value> =
            listed[0]["arguments"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
        assert_eq!(arguments, ["issue", "branch"]);
        let params = json!({ "name": "fix-issue", "arguments": { "issue": "12", "branch": "main" } });
        let got = client.ask("prompts/get", params)["result"].clone();
        let text = got["messages"][0]["content"]["text"].as_str().unwrap();
        assert!(text.contains("Fix 12 on main."), "{text}");
        let error = client.ask("prompts/get", json!({ "name": "quiet" }))["error"].clone();
        assert_eq!(error["code"], -32602, "{error}");
    }
}

#[test]
fn our_own_tools_answer_with_structure_and_text() {
    let scratch = Scratch::new();
    library(&scratch);
    for era in ERAS {
        let mut client = Client::new(&scratch, &PATH, era);
        let tools = client.ask("tools/list", json!({}))["result"]["tools"].clone();
        let names: Vec<&str> = tools.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
        let wanted = ["list_skills", "search_skills", "select_skills", "load_skill", "read_skill_file", "query_skill"];
        assert_eq!(names, wanted);
        for tool in tools.as_array().unwrap() {
            assert!(tool["outputSchema"].is_object() && tool["annotations"]["readOnlyHint"] == true, "{tool}");
        }
        let listed = client.call("list_skills", json!({ "limit": 2 }));
        assert_eq!((&listed["isError"], &listed["structuredContent"]["total"]), (&json!(false), &json!(4)));
        let cursor = &listed["structuredContent"]["next_cursor"];
        let rest = client.call("list_skills", json!({ "cursor": cursor }));
        assert_eq!(rest["structuredContent"]["skills"][0]["name"], "pdf");
        let copy: Value = serde_json::from_str(rest["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(copy, rest["structuredContent"]);
        let found = client.call("search_skills", json!({ "text": "fill in a form" }));
        assert_eq!(found["structuredContent"]["results"][0]["uri"], "skill://pdf/SKILL.md");
        let found = client.call("search_skills", json!({ "text": "secret" }));
        assert!(!found.to_string().contains("Does secret"), "{found}");
        let loaded = client.call("load_skill", json!({ "name": "pdf" }));
        let text = loaded["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("Fill the form.") && text.contains("skill://pdf"), "{text}");
        assert!(!text.contains(scratch.work().to_str().unwrap()), "{text}");
        let read = client.call("read_skill_file", json!({ "skill": "pdf", "path": "references/forms.md" }));
        assert_eq!(read["structuredContent"]["text"], "# Forms\r\n");
        let asked = client.call("query_skill", json!({ "query": "pdf:meta.name" }));
        assert_eq!(asked["structuredContent"]["value"], "pdf");
        let selected = client.call("select_skills", json!({ "text": "/pdf please" }));
        assert_eq!(selected["structuredContent"]["selected"][0]["name"], "pdf");
    }
}

#[test]
fn errors_of_tools_are_tool_errors_and_errors_of_the_protocol_are_not() {
    let scratch = Scratch::new();
    library(&scratch);
    let mut client = Client::new(&scratch, &PATH, Era::Old);
    for (tool, arguments, code) in [
        ("load_skill", json!({ "name": "none" }), "SKILL_NOT_FOUND"),
        ("load_skill", json!({ "name": "secret" }), "SKILL_NOT_FOUND"),
        ("load_skill", json!({}), "INVALID_ARGUMENT"),
        ("load_skill", json!({ "name": 7 }), "INVALID_ARGUMENT"),
        ("list_skills", json!({ "limit": 0 }), "INVALID_ARGUMENT"),
        ("list_skills", json!({ "cursor": "1.1" }), "INVALID_ARGUMENT"),
        ("list_skills", json!({ "other": 1 }), "INVALID_ARGUMENT"),
        ("read_skill_file", json!({ "skill": "pdf", "path": "../notes/SKILL.md" }), "FILE_NOT_FOUND"),
        ("read_skill_file", json!({ "skill": "pdf" }), "INVALID_ARGUMENT"),
        ("query_skill", json!({ "query": "secret:meta.name" }), "SKILL_NOT_FOUND"),
        ("query_skill", json!({ "query": "pdf:none.at.all" }), "PATH_NOT_FOUND"),
    ] {
        let result = client.call(tool, arguments.clone());
        assert_eq!(result["isError"], true, "{tool} {arguments}: {result}");
        assert_eq!(result["structuredContent"]["error"]["code"], code, "{tool} {arguments}: {result}");
    }
    let error = client.ask("tools/call", json!({ "name": "none", "arguments": {} }))["error"].clone();
    assert_eq!(error["code"], -32602, "{error}");
    let error = client.ask("prompts/list", json!({ "cursor": "nonsense" }))["error"].clone();
    assert_eq!(error["code"], -32602, "{error}");
}

#[test]
fn lists_come_in_pages_that_follow_each_other() {
    let scratch = Scratch::new();
    for number in 0..501 {
        let text = format!("---\nname: s{number:03}\ndescription: Does {number}. Use when testing.\n---\n\n# S\n");
        scratch.write(&format!("skills/s{number:03}/SKILL.md"), text);
    }
    for era in ERAS {
        let mut client = Client::new(&scratch, &PATH, era);
        for (method, field) in [("skills/list", "skills"), ("resources/list", "resources"), ("prompts/list", "prompts")]
        {
            let first = client.ask(method, json!({}))["result"].clone();
            assert_eq!(first[field].as_array().unwrap().len(), 500, "{method}");
            let second = client.ask(method, json!({ "cursor": first["nextCursor"] }))["result"].clone();
            assert_eq!(second[field].as_array().unwrap().len(), 1, "{method}");
            assert!(second.get("nextCursor").is_none(), "{method}");
        }
    }
}

#[test]
fn what_is_not_trusted_or_switched_off_is_not_there() {
    let scratch = Scratch::new();
    scratch.write(".git/HEAD", "ref: refs/heads/main\n");
    scratch.write(".agents/skills/pdf/SKILL.md", GOOD);
    let seen = |scratch: &Scratch| {
        let mut client = Client::new(scratch, &[], Era::New);
        client.ask("skills/list", json!({}))["result"]["skills"].as_array().unwrap().len()
    };
    assert_eq!(seen(&scratch), 0);
    assert_eq!(run(&scratch, &["trust"]).code, 0);
    assert_eq!(seen(&scratch), 1);
    assert_eq!(run(&scratch, &["disable", "pdf"]).code, 0);
    assert_eq!(seen(&scratch), 0);
}

#[test]
fn changes_are_told_to_who_listens() {
    let scratch = Scratch::new();
    library(&scratch);
    for era in ERAS {
        scratch.write("skills/pdf/references/forms.md", "# Forms\r\n");
        let mut client = Client::new(&scratch, &PATH, era);
        let before = client.ask("skills/list", json!({}))["result"].clone();
        let uri = "skill://pdf/references/forms.md";
        if era == Era::Old {
            assert!(client.ask("resources/subscribe", json!({ "uri": uri })).get("result").is_some());
        } else {
            let wanted =
                json!({ "resourcesListChanged": true, "promptsListChanged": true, "resourceSubscriptions": [uri] });
            client.send("subscriptions/listen", json!({ "notifications": wanted }));
            assert_eq!(client.hear()["method"], "notifications/subscriptions/acknowledged");
        }
        // Watching begins beside the first answers: a change before it does is seen when it does, but not told file by file.
        let mut number = 0;
        loop {
            number += 1;
            scratch.write("skills/pdf/references/forms.md", format!("# Forms {number}\n"));
            let id = client.send("skills/list", json!({}));
            let now = client.answer(id)["result"].clone();
            if client.heard.iter().any(|message| message["method"] == "notifications/resources/updated") {
                assert_ne!(now, before);
                break;
            }
        }
        let told = client.heard.iter().find(|message| message["method"] == "notifications/resources/updated").unwrap();
        assert_eq!(told["params"]["uri"], uri);
        assert!(client.heard.iter().any(|message| message["method"] == "notifications/resources/list_changed"));
        let mark = &told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
        assert_eq!(mark.is_null(), era == Era::Old, "{told}");
    }
}

#[test]
fn both_eras_are_answered_at_one_address() {
    let scratch = Scratch::new();
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
    assert_eq!(request(&address, "DELETE", &headers, "").status / 100, 2);
    assert_eq!(post(&address, &headers, &list.to_string()).status, 404);
}

#[test]
fn pages_of_the_web_are_not_answered() {
    let scratch = Scratch::new();
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
    let scratch = Scratch::new();
    library(&scratch);
    let found = run(&scratch, &["serve", "--http", "0.0.0.0:0", "--path", "skills"]);
    assert_eq!(found.code, 3, "{found:?}");
    assert!(found.stderr.contains("--token-file"), "{found:?}");
    scratch.write("short.txt", "abc\n");
    let found = run(&scratch, &["serve", "--http", "0.0.0.0:0", "--path", "skills", "--token-file", "short.txt"]);
    assert_eq!(found.code, 2, "{found:?}");
    scratch.write("tokens.txt", "# ours\nfirst-token-of-ours-1\n\n  second-token-of-ours-2  \n");
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
fn base64url(bytes: &[u8]) -> String {
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
    let scratch = Scratch::new();
    library(&scratch);
    let pair = Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap();
    let key = json!({ "kty": "OKP", "crv": "Ed25519", "x": base64url(pair.public_key().as_ref()) });
    scratch.write("jwks.json", json!({ "keys": [key] }).to_string());
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
    scratch.write("none.json", "{}");
    let bad =
        ["serve", "--http", "127.0.0.1:0", "--oauth-issuer", "x", "--oauth-audience", "y", "--oauth-keys", "none.json"];
    assert_eq!(run(&scratch, &bad).code, 2);
}

#[test]
fn a_certificate_makes_it_https() {
    let scratch = Scratch::new();
    library(&scratch);
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    scratch.write("cert.pem", made.cert.pem());
    scratch.write("key.pem", made.signing_key.serialize_pem());
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
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
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
    let scratch = Scratch::new();
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
    let scratch = Scratch::new();
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
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
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

#[test]
fn every_host_gets_its_settings() {
    let scratch = Scratch::new();
    for host in ["claude-code", "claude-desktop", "codex", "cursor", "gemini-cli", "goose", "opencode", "vscode"] {
        let found = run(&scratch, &["serve", "--print-config", host]);
        assert_eq!(found.code, 0, "{found:?}");
        assert!(found.stdout.contains("rep") && found.stdout.contains("serve"), "{found:?}");
        let found = run(&scratch, &["serve", "--print-config", host, "--http", "127.0.0.1:8300"]);
        assert!(found.stdout.contains("8300") || host == "claude-desktop", "{found:?}");
    }
    let found = run(&scratch, &["serve", "--print-config", "nobody"]);
    assert_eq!(found.code, 2, "{found:?}");
    assert!(found.stderr.contains("claude-code"), "{found:?}");
}
