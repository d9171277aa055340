//! The server through the real binary: a small client of the protocol over stdio and HTTP, in both eras.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use rep_test_support::{DEADLINE, ScratchFolder, wait_for};
use serde_json::{Value, json};

use super::{GOOD, json, rep, run};

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

pub(super) fn start(scratch: &ScratchFolder, arguments: &[&str]) -> Command {
    let mut command = Command::new(rep());
    command
        .arg("serve")
        .args(arguments)
        .current_dir(scratch.work_folder())
        .env("HOME", scratch.work_folder().parent().expect("the server is there").join("home"))
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
    pub(super) input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    era: Era,
    can: Value,
    next: u64,
    /// What came besides answers.
    heard: Vec<Value>,
}

impl Client {
    pub(super) fn new(scratch: &ScratchFolder, arguments: &[&str], era: Era) -> Self {
        Self::that_can(scratch, arguments, era, json!({}))
    }

    #[expect(clippy::needless_pass_by_value, reason = "reads better where it is called")]
    pub(super) fn that_can(scratch: &ScratchFolder, arguments: &[&str], era: Era, can: Value) -> Self {
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

/// A library with skills of all kinds.
pub(super) fn library(scratch: &ScratchFolder) {
    scratch.write_file("skills/pdf/SKILL.md", GOOD);
    scratch.write_file("skills/pdf/references/forms.md", "# Forms\r\n");
    scratch.write_file("skills/pdf/assets/dot.png", [0x89, b'P', b'N', b'G', 0xff]);
    scratch.write_file("skills/pdf/node_modules/x/index.js", "junk");
    let front = |name: &str, more: &str| {
        format!("---\nname: {name}\ndescription: Does {name}. Use when testing {name}.\n{more}---\n\n# {name}\n")
    };
    scratch.write_file("skills/secret/SKILL.md", front("secret", "disable-model-invocation: true\n"));
    scratch.write_file("skills/quiet/SKILL.md", front("quiet", "user-invocable: false\n"));
    let body = front("fix-issue", "arguments: [issue, branch]\n") + "\nFix $issue on $branch.\n";
    scratch.write_file("skills/fix-issue/SKILL.md", body);
    let contract = "x-personal-mcp:\n  id: notes\n  version: 1.2.0\n  tags: [a]\n  capabilities: [resource://skills/notes/document, resource://skills/notes/references/style]\n  references:\n    style: {path: references/style.md, mime_type: text/markdown, title: Style}\n";
    scratch.write_file("skills/notes/SKILL.md", front("notes", contract));
    scratch.write_file("skills/notes/references/style.md", "Short.\n");
}

pub(super) const PATH: [&str; 2] = ["--path", "skills"];

#[test]
fn both_eras_say_what_they_can() {
    let scratch = ScratchFolder::new();
    library(&scratch);
    let mut old = Client::new(&scratch, &PATH, Era::Old);
    assert_eq!(old.ask("ping", json!({}))["result"], json!({}));
    let mut new = Client::new(&scratch, &PATH, Era::New);
    let answer = new.ask("server/discover", json!({}))["result"].clone();
    let versions = answer["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")) && versions.contains(&json!("2025-11-25")), "{answer}");
    assert_eq!(answer["capabilities"]["extensions"]["io.modelcontextprotocol/skills"]["directoryRead"], true);
    let instructions = answer["instructions"].as_str().unwrap();
    assert!(instructions.chars().count() <= 2048 && instructions.contains("- pdf: Fills PDF forms."), "{instructions}");
    assert!(!instructions.contains("secret"), "{instructions}");
}

#[test]
fn a_skill_of_one_file_is_that_file_and_nothing_beside_it() {
    let scratch = ScratchFolder::new();
    let text = "meta: {name: marks, version: \"00000000\", type: cli, description: Marks things.}\ncommands:\n  make: {syntax: \"true\"}\n";
    scratch.write_file("skills/marks.uasp.yaml", text);
    scratch.write_file("skills/private.txt", "not for you");
    let mut client = Client::new(&scratch, &PATH, Era::New);
    let listed = client.ask("resources/list", json!({}))["result"]["resources"].clone();
    assert_eq!((listed.as_array().unwrap().len(), &listed[0]["name"]), (1, &json!("marks")), "{listed}");
    let uri = listed[0]["uri"].as_str().unwrap().to_owned();
    assert_eq!(client.ask("resources/read", json!({ "uri": uri }))["result"]["contents"][0]["text"], text);
    let told = client.ask("server/discover", json!({}))["result"]["instructions"].clone();
    assert!(told.as_str().unwrap().contains("- marks: Marks things."), "{told}");
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
    let scratch = ScratchFolder::new();
    for number in 0..300 {
        let text = format!("---\nname: skill-{number:03}\ndescription: Does {number}. Use when testing.\n---\n\n# S\n");
        scratch.write_file(&format!("skills/skill-{number:03}/SKILL.md"), text);
    }
    let mut client = Client::new(&scratch, &PATH, Era::New);
    let answer = client.ask("server/discover", json!({}))["result"]["instructions"].clone();
    let text = answer.as_str().unwrap();
    assert!(text.chars().count() <= 2048 && text.contains("300 agent skills"), "{text}");
    // A list that does not fit is not cut by alphabet.
    assert!(text.contains("search_skills") && !text.contains("skill-000"), "{text}");
}

#[test]
fn the_first_answer_does_not_wait_for_the_library() {
    let scratch = ScratchFolder::new();
    library(&scratch);
    let options = ["--path", "skills", "--allow-run", "--no-sandbox"];
    let instructions = || {
        let mut client = Client::new(&scratch, &options, Era::New);
        let answer = client.ask("server/discover", json!({}))["result"]["instructions"].clone();
        let text = answer.as_str().expect("there are instructions").to_owned();
        (client, text)
    };
    let (mut client, whole) = instructions();
    assert!(whole.contains("4 agent skills") && whole.contains("- pdf: "), "{whole}");
    // The library is read, and what it says is stored.
    client.ask("tools/list", json!({}));
    let stored = || scratch.work_folder().parent().unwrap().join("home/.cache/repertoire/instructions").read_dir();
    rep_test_support::wait_until("the instructions are stored", DEADLINE, || {
        stored().is_ok_and(|mut all| all.next().is_some())
    });
    drop(client);
    // A server of tools that says nothing holds back the library.
    scratch
        .write_file("../home/.config/repertoire/rep.yaml", "mcp_servers:\n  slow: {command: sleep, args: [\"600\"]}\n");
    let (_client, stored) = instructions();
    assert_eq!(stored, whole);
    // What is stored about other skills is not used.
    scratch.write_file("skills/pdf/SKILL.md", GOOD.replace("Fills", "Completes"));
    let (_client, workflow) = instructions();
    assert!(workflow.contains("This server has agent skills") && workflow.contains("`search_skills`"), "{workflow}");
    assert!(!workflow.contains("pdf"), "{workflow}");
}

#[test]
fn skills_are_listed_with_the_digest_of_every_file() {
    let scratch = ScratchFolder::new();
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
    let scratch = ScratchFolder::new();
    library(&scratch);
    for number in 0..512 {
        scratch.write_file(&format!("skills/pdf/many/{number}.txt"), "x");
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
    let scratch = ScratchFolder::new();
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
    let scratch = ScratchFolder::new();
    library(&scratch);
    scratch.write_file("outside.txt", "not for you");
    std::os::unix::fs::symlink("../../outside.txt", scratch.work_folder().join("skills/pdf/leak.txt")).unwrap();
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
            assert!(!error.to_string().contains(scratch.work_folder().to_str().unwrap()), "{error}");
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
    let scratch = ScratchFolder::new();
    library(&scratch);
    let mut client = Client::new(&scratch, &PATH, Era::Old);
    let listed = client.ask("resources/list", json!({}))["result"]["resources"].clone();
    let find = |uri: &str| listed.as_array().unwrap().iter().find(|one| one["uri"] == uri).unwrap().clone();
    let document = find("resource://skills/notes/document");
    assert_eq!(document["_meta"]["skill_id"], "notes");
    let hints = json!({ "readOnlyHint": true, "idempotentHint": true });
    assert_eq!(document["_meta"]["fastmcp"], json!({ "tags": ["a"], "version": "1.2.0", "annotations": hints }));
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
fn aliases_and_further_capabilities_are_answered_and_the_export_says_the_same() {
    let scratch = ScratchFolder::new();
    let contract = "x-personal-mcp:\n  id: notes\n  version: 1.2.0\n  tags: [a]\n  capabilities:\n\
                    \u{20}   - resource://skills/notes/document\n    - resource://skills/notes/assets/form.txt\n\
                    \u{20}   - resource://skills/notes/references/old-style\n    - resource://skills/notes/none.txt\n\
                    \u{20}   - resource://skills/notes/../outside.txt\n  references:\n\
                    \u{20}   style: {path: references/style.md, aliases: [old-style, older]}\n";
    let text = format!("---\nname: notes\ndescription: Takes notes. Use for notes.\n{contract}---\n\n# Notes\n");
    scratch.write_file("skills/notes/SKILL.md", text);
    scratch.write_file("skills/notes/references/style.md", "Short.\n");
    scratch.write_file("skills/notes/assets/form.txt", "form\n");
    scratch.write_file("skills/notes/assets/other.txt", "other\n");
    scratch.write_file("skills/outside.txt", "outside\n");
    let mut client = Client::new(&scratch, &PATH, Era::Old);
    let mut read = |path: &str| {
        let uri = format!("resource://skills/notes/{path}");
        client.ask("resources/read", json!({ "uri": uri }))["result"]["contents"][0]["text"].clone()
    };
    for (path, text) in [
        ("references/style", "Short.\n"),
        ("references/old-style", "Short.\n"),
        ("references/older", "Short.\n"),
        ("assets/form.txt", "form\n"),
    ] {
        assert_eq!(read(path), text, "{path}");
    }
    for path in ["references/oldest", "assets/other.txt", "none.txt", "../outside.txt"] {
        assert_eq!(read(path), Value::Null, "{path}");
    }
    let listed = client.ask("resources/list", json!({}))["result"]["resources"].clone();
    let is_contract = |one: &&Value| one["uri"].as_str().unwrap().starts_with("resource://");
    let listed: Vec<&Value> = listed.as_array().unwrap().iter().filter(is_contract).collect();
    let export = json(&run(&scratch, &["export", "--host", "mcp", "./skills/notes"]));
    let exported = export["resources"].as_array().unwrap();
    let uris: Vec<&str> = listed.iter().map(|one| one["uri"].as_str().unwrap()).collect();
    let wanted =
        ["document", "references/style", "assets/form.txt"].map(|path| format!("resource://skills/notes/{path}"));
    assert_eq!(uris, wanted);
    assert_eq!(listed.len(), exported.len());
    for (live, file) in listed.iter().zip(exported) {
        for key in ["uri", "name", "title", "description", "mimeType", "_meta"] {
            assert_eq!(live[key], file[key], "{key}: {live} {file}");
        }
        let hints = json!({ "readOnlyHint": true, "idempotentHint": true });
        assert_eq!(live["_meta"]["fastmcp"]["annotations"], hints, "{live}");
        assert_eq!(live["annotations"], json!({ "audience": ["assistant"] }), "{live}");
        let all = json!({ "audience": ["assistant"], "readOnlyHint": true, "idempotentHint": true });
        assert_eq!(file["annotations"], all, "{file}");
    }
}

#[test]
fn skills_people_may_call_are_prompts() {
    let scratch = ScratchFolder::new();
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
    let scratch = ScratchFolder::new();
    library(&scratch);
    for era in ERAS {
        let mut client = Client::new(&scratch, &PATH, era);
        let tools = client.ask("tools/list", json!({}))["result"]["tools"].clone();
        let names: Vec<&str> = tools.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
        let wanted = [
            "list_skills",
            "search_skills",
            "select_skills",
            "load_skill",
            "read_skill_file",
            "query_skill",
            "scan_skill",
            "convert_skill",
        ];
        assert_eq!(names, wanted);
        for tool in tools.as_array().unwrap() {
            // Hosts prefer structured content to text, and instructions are text.
            assert_eq!(tool["outputSchema"].is_object(), tool["name"] != "load_skill", "{tool}");
            assert!(tool["annotations"]["readOnlyHint"] == true, "{tool}");
        }
        let listed = client.call("list_skills", json!({ "limit": 2 }));
        assert_eq!((&listed["isError"], &listed["structuredContent"]["total"]), (&json!(false), &json!(4)));
        let cursor = &listed["structuredContent"]["next_cursor"];
        let rest = client.call("list_skills", json!({ "cursor": cursor }));
        assert_eq!(rest["structuredContent"]["skills"][0]["name"], "pdf");
        let copy: Value = serde_json::from_str(rest["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(copy, rest["structuredContent"]);
        let found = client.call("search_skills", json!({ "text": "fill in a form" }));
        let first = found["structuredContent"]["results"][0].as_object().unwrap();
        assert_eq!(first.keys().collect::<Vec<_>>(), ["name", "description", "score"]);
        assert_eq!(first["name"], "pdf");
        let explained = client.call("search_skills", json!({ "text": "fill in a form", "reasons": true }));
        assert!(explained["structuredContent"]["results"][0]["why"][0]["term"].is_string(), "{explained}");
        let found = client.call("search_skills", json!({ "text": "secret" }));
        assert!(!found.to_string().contains("Does secret"), "{found}");
        let loaded = client.call("load_skill", json!({ "name": "pdf" }));
        let text = loaded["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("Fill the form.") && text.contains("skill://pdf"), "{text}");
        assert!(loaded.get("structuredContent").is_none(), "{loaded}");
        // A client that started the server may know where it found the skill.
        let folder = scratch.work_folder().join("skills/pdf");
        assert!(text.contains(&format!("Skill directory: {}", folder.display())), "{text}");
        let read = client.call("read_skill_file", json!({ "skill": "pdf", "path": "references/forms.md" }));
        assert_eq!(read["structuredContent"]["text"], "# Forms\r\n");
        let asked = client.call("query_skill", json!({ "query": "pdf:meta.name" }));
        assert_eq!(asked["structuredContent"]["value"], "pdf");
        assert_eq!(asked["structuredContent"]["facts"], "confident");
        let selected = client.call("select_skills", json!({ "text": "/pdf please" }));
        assert_eq!(selected["structuredContent"]["selected"][0]["name"], "pdf");
        let selected = client.call("select_skills", json!({ "text": "Use pdf to fill it in" }));
        assert_eq!(selected["structuredContent"]["selected"][0]["matches"][0]["trigger"], "pdf");
    }
}

#[test]
fn errors_of_tools_are_tool_errors_and_errors_of_the_protocol_are_not() {
    let scratch = ScratchFolder::new();
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
    let scratch = ScratchFolder::new();
    for number in 0..501 {
        let text = format!("---\nname: s{number:03}\ndescription: Does {number}. Use when testing.\n---\n\n# S\n");
        scratch.write_file(&format!("skills/s{number:03}/SKILL.md"), text);
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
    let scratch = ScratchFolder::new();
    scratch.write_file(".git/HEAD", "ref: refs/heads/main\n");
    scratch.write_file(".agents/skills/pdf/SKILL.md", GOOD);
    let seen = |scratch: &ScratchFolder| {
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
    let scratch = ScratchFolder::new();
    library(&scratch);
    for era in ERAS {
        scratch.write_file("skills/pdf/references/forms.md", "# Forms\r\n");
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
        let told = wait_for("the change is announced", DEADLINE, || {
            number += 1;
            scratch.write_file("skills/pdf/references/forms.md", format!("# Forms {number}\n"));
            let now = client.ask("skills/list", json!({}))["result"].clone();
            let is_update = |message: &&Value| message["method"] == "notifications/resources/updated";
            let update = client.heard.iter().find(is_update)?.clone();
            assert_ne!(now, before);
            Some(update)
        });
        assert_eq!(told["params"]["uri"], uri);
        assert!(client.heard.iter().any(|message| message["method"] == "notifications/resources/list_changed"));
        let mark = &told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
        assert_eq!(mark.is_null(), era == Era::Old, "{told}");
    }
}

#[test]
fn every_host_gets_its_settings_and_nothing_else_on_stdout() {
    let scratch = ScratchFolder::new();
    for host in &rep_mcp::CLIENT_HOSTS {
        let found = run(&scratch, &["serve", "--print-config", host.id]);
        assert_eq!(found.code, 0, "{found:?}");
        assert!(found.stdout.contains("rep") && found.stdout.contains("serve"), "{found:?}");
        assert!(found.stderr.contains(host.file), "{found:?}");
        if host.format == rep_mcp::ConfigFormat::Json {
            assert!(serde_json::from_str::<Value>(&found.stdout).is_ok(), "{found:?}");
        }
        let quiet = run(&scratch, &["--quiet", "serve", "--print-config", host.id]);
        assert_eq!((&quiet.stdout, quiet.stderr.as_str()), (&found.stdout, ""));
        let found = run(&scratch, &["serve", "--print-config", host.id, "--http", "127.0.0.1:8300"]);
        assert!(found.stdout.contains("8300") || ["claude-desktop", "mux"].contains(&host.id), "{found:?}");
    }
    let alias = run(&scratch, &["serve", "--print-config", "codex-cli"]);
    assert_eq!((alias.code, alias.stdout.starts_with("[mcp_servers.repertoire]")), (0, true), "{alias:?}");
    let found = run(&scratch, &["serve", "--print-config", "nobody"]);
    assert_eq!(found.code, 2, "{found:?}");
    assert!(found.stderr.contains("claude-code"), "{found:?}");
}
