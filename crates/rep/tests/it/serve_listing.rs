//! What the server lists: skills that conform to the specification, and no private files.

use std::io::{BufRead, BufReader, Read};

use rep_test_support::ScratchFolder;
use serde_json::{Value, json};

use super::serve::{Client, ERAS, Era, PATH, library, start};
use super::serve_http::{listening, request};

const TOKEN: &str = "0123456789abcdef0123";

/// Writes skills that hosts load and that violate the Agent Skills specification, one in each way.
fn write_odd_skills(scratch: &ScratchFolder) {
    let write = |folder: &str, front: &str| {
        scratch.write_file(&format!("skills/{folder}/SKILL.md"), format!("---\n{front}---\n\n# Odd\n"));
    };
    write("Upper", "name: Upper\ndescription: Does upper. Use when testing.\n");
    write("colons", "name: odd::colons\ndescription: Does colons. Use when testing.\n");
    write("long", &format!("name: long\ndescription: {}\n", "x".repeat(1025)));
    write("meta", "name: meta\ndescription: Does meta. Use when testing.\nmetadata: {version: 1.0}\n");
    write("license", "name: license\ndescription: Does license. Use when testing.\nlicense: 2.0\n");
    write("twice", "name: twice\ndescription: Does twice.\ndescription: Does it again. Use when testing.\n");
}

const ODD: [&str; 6] = ["Upper", "license", "long", "meta", "odd::colons", "twice"];

#[test]
fn skills_that_violate_the_specification_are_not_listed_and_named_with_the_reason() {
    let scratch = ScratchFolder::new();
    library(&scratch);
    write_odd_skills(&scratch);
    for era in ERAS {
        let mut client = Client::new(&scratch, &PATH, era);
        let listed = client.ask("skills/list", json!({}))["result"]["skills"].clone();
        let uris: Vec<&str> = listed.as_array().unwrap().iter().map(|skill| skill["uri"].as_str().unwrap()).collect();
        assert_eq!(uris, ["fix-issue", "notes", "pdf", "quiet"].map(|name| format!("skill://{name}/SKILL.md")));
        let told = client.call("list_skills", json!({}))["structuredContent"].clone();
        let unlisted = told["unlisted"].as_array().unwrap();
        let names: Vec<&str> = unlisted.iter().map(|skill| skill["name"].as_str().unwrap()).collect();
        assert_eq!((names.as_slice(), &told["unlisted_total"]), (&ODD[..], &json!(6)), "{told}");
        assert!(unlisted.iter().all(|skill| skill["reason"].as_str().is_some_and(|reason| reason.len() > 5)), "{told}");
        assert!(!told.to_string().contains(scratch.work_folder().to_str().unwrap()), "{told}");
        let error = client.ask("skills/get", json!({ "uri": "skill://Upper/SKILL.md" }))["error"].clone();
        assert!(error["code"] == -32602 && error["message"].as_str().unwrap().contains("a-z"), "{error}");
        // A skill can still be loaded by who knows it.
        assert_eq!(client.call("load_skill", json!({ "name": "Upper" }))["isError"], false);
    }
}

#[test]
fn every_listed_address_can_be_read() {
    let scratch = ScratchFolder::new();
    library(&scratch);
    write_odd_skills(&scratch);
    let mut client = Client::new(&scratch, &PATH, Era::New);
    let listed = client.ask("resources/list", json!({}))["result"]["resources"].clone();
    let listed = listed.as_array().unwrap();
    assert!(listed.iter().any(|one| one["uri"] == "skill://odd%3A%3Acolons/SKILL.md"), "{listed:?}");
    for resource in listed {
        let read = client.ask("resources/read", json!({ "uri": resource["uri"] }));
        assert!(read["result"]["contents"][0].is_object(), "{resource}: {read}");
    }
}

#[test]
fn an_operator_learns_which_skills_are_not_listed() {
    let scratch = ScratchFolder::new();
    library(&scratch);
    write_odd_skills(&scratch);
    scratch.write_file("tokens", format!("{TOKEN}\n"));
    let arguments = ["--http", "127.0.0.1:0", "--path", "skills", "--token-file", "tokens"];
    let mut child = super::serve::Server { child: start(&scratch, &arguments).spawn().unwrap() };
    let mut log = BufReader::new(child.child.stderr.take().unwrap());
    let mut address = String::new();
    let mut reported = 0;
    while address.is_empty() || reported < ODD.len() {
        let mut line = String::new();
        assert_ne!(log.read_line(&mut line).unwrap(), 0, "the server ended");
        if let Some((_, rest)) = line.split_once("listening on http://") {
            address = rest.trim().trim_end_matches("/mcp").to_owned();
        }
        reported += usize::from(line.contains("is not in `skills/list`: "));
    }
    std::thread::spawn(move || drop(log.read_to_end(&mut Vec::new())));
    let ready = request(&address, "GET", "/readyz", &[], "");
    assert!(ready.status == 200 && ready.body.contains("skills not listed: 6\n"), "{ready:?}");
    assert!(!ready.body.contains("Upper"), "{ready:?}");
    let bearer = format!("Bearer {TOKEN}");
    let ready = request(&address, "GET", "/readyz", &[("Authorization", &bearer)], "");
    assert!(ready.body.contains("Upper: `name` may contain only"), "{ready:?}");
}

#[test]
fn private_files_are_not_served() {
    let scratch = ScratchFolder::new();
    library(&scratch);
    let private =
        [".env", "conf/.env.local", "id_rsa", "tls/server.key", "notes.md~", ".vscode/settings.json", ".gitignore"];
    for path in private {
        scratch.write_file(&format!("skills/pdf/{path}"), "hidden-words");
    }
    scratch.write_file("skills/pdf/.env.example", "KEY=\n");
    let (_server, address) = listening(&scratch, &PATH);
    let mut client = Client::new(&scratch, &PATH, Era::New);
    let all = client.ask("resources/list", json!({})).to_string() + &client.ask("skills/list", json!({})).to_string();
    assert!(all.contains("skill://pdf/.env.example"), "{all}");
    for path in private {
        let uri = format!("skill://pdf/{path}");
        assert!(!all.contains(&format!("\"{uri}\"")), "{path}");
        assert_eq!(client.ask("resources/read", json!({ "uri": uri }))["error"]["code"], -32602, "{path}");
        let read = client.call("read_skill_file", json!({ "skill": "pdf", "path": path }));
        assert_eq!(read["isError"], true, "{path}: {read}");
        let loaded = client.call("load_skill", json!({ "name": "pdf" })).to_string();
        assert!(!loaded.contains(&format!("<file>{path}</file>")), "{path}: {loaded}");
    }
    // The published archive is served without them too: its installed copy has none.
    let index = request(&address, "GET", "/.well-known/agent-skills/index.json", &[], "");
    assert!(index.body.contains("pdf.tar.gz"), "{index:?}");
    let installed = super::run(
        &scratch,
        &[
            "install",
            &format!("http://{address}"),
            "--skill",
            "pdf",
            "--scope",
            "project",
            "--host",
            "claude-code",
            "--yes",
        ],
    );
    let there = scratch.work_folder().join(".claude/skills/pdf");
    assert!(there.join("SKILL.md").exists() && there.join(".env.example").exists(), "{installed:?}");
    for path in private {
        assert!(!there.join(path).exists(), "{path}");
    }
}

#[test]
fn hosts_without_the_extension_read_an_index() {
    let scratch = ScratchFolder::new();
    library(&scratch);
    let mut client = Client::new(&scratch, &PATH, Era::Old);
    let listed = client.ask("resources/list", json!({})).to_string();
    assert!(!listed.contains("skill://index.json"), "{listed}");
    let read = client.ask("resources/read", json!({ "uri": "skill://index.json" }))["result"]["contents"][0].clone();
    assert_eq!(read["mimeType"], "application/json");
    let index: Value = serde_json::from_str(read["text"].as_str().unwrap()).unwrap();
    let pdf = index["skills"].as_array().unwrap().iter().find(|skill| skill["name"] == "pdf").unwrap();
    assert_eq!((&pdf["type"], &pdf["url"]), (&json!("skill-md"), &json!("skill://pdf/SKILL.md")));
    assert!(pdf["description"].as_str().unwrap().starts_with("Fills PDF forms"), "{pdf}");
    assert!(!index.to_string().contains("secret"), "{index}");
    let skill = client.ask("resources/read", json!({ "uri": pdf["url"] }))["result"]["contents"][0]["text"].clone();
    assert!(skill.as_str().unwrap().contains("# PDF"), "{skill}");
}
