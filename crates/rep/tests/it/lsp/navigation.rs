//! Definitions, references, links, symbols, folds, hovers and renames.

use std::path::Path;

use rep_test_support::ScratchFolder;
use serde_json::{Value, json};

use super::client::{LspClient, full_capabilities, position_of, uri};

/// A library of three skills that refer to each other.
fn write_library(scratch: &ScratchFolder) {
    scratch.write_file(
        "skills/pdf/SKILL.md",
        "---\nspec_version: \"2.1\"\nname: pdf\ndescription: Fills PDF forms. Use when a user brings a form.\nversion: 1.0.0\ndepends_on: [other]\ntools:\n  - name: fill\n    description: Fills.\n    input_schema: {type: object}\n    implementation: {runtime: bash, entrypoint: scripts/fill.sh}\n---\n\n# PDF\n\nSee [the notes](references/notes.md#second-part) or run /other.\nThe `other` skill helps. Files are in `scripts/fill.sh`.\n\n## Steps\n\n```sh\n/other\n```\n",
    );
    scratch.write_file("skills/pdf/scripts/fill.sh", "#!/bin/sh\n");
    scratch.write_file(
        "skills/pdf/references/notes.md",
        "# Notes\n\n## Second part\n\nBack to [the skill](../SKILL.md). Others: $other.\n",
    );
    scratch.write_file(
        "skills/other/SKILL.md",
        "---\nname: other\ndescription: Helps others. Use when help is needed.\n---\n\n# Other\n\nUsed by [pdf](../pdf/SKILL.md), see /pdf. Not /pdfs, /usr/pdf or https://example.org/pdf.\n",
    );
    scratch.write_file(
        "skills/browser/browser.uasp.yaml",
        "meta:\n  name: browser\n  version: \"00000000\"\n  type: cli\ntriggers:\n  keywords: [web]\nstate:\n  entities:\n    - name: refs\n      created_by: [snapshot]\n      consumed_by: [click]\ndecisions:\n  - when: unsure\n    then: read\n    ref: docs\ncommands:\n  snapshot: {syntax: b snapshot, creates: [refs]}\n  click: {syntax: b click <ref>, requires: [refs]}\nworkflows:\n  visit:\n    description: Visits\n    steps:\n      - cmd: snapshot\n      - cmd: click @e1\nsources:\n  - id: docs\n    url: https://example.org\n",
    );
}

fn start(scratch: &ScratchFolder) -> LspClient {
    let mut client = LspClient::start(scratch, &full_capabilities());
    // The index is ready when the workspace has symbols.
    rep_test_support::wait_until("the index is built", rep_test_support::DEADLINE, || {
        let found = client.request("workspace/symbol", json!({ "query": "" }));
        found.as_array().is_some_and(|found| found.len() == 3)
    });
    client
}

fn locations(value: &Value, root: &Path) -> Vec<String> {
    let prefix = format!("{}/", uri(root));
    let show = |location: &Value| {
        let uri = location["uri"].as_str().unwrap().strip_prefix(&prefix).unwrap().to_owned();
        let start = &location["range"]["start"];
        format!("{uri}:{}:{}", start["line"], start["character"])
    };
    let mut all: Vec<String> = value.as_array().unwrap().iter().map(show).collect();
    all.sort();
    all
}

#[test]
fn definitions_lead_to_skills_files_headings_and_names() {
    let scratch = ScratchFolder::new();
    write_library(&scratch);
    let root = scratch.work_folder().join("skills");
    let mut client = start(&scratch);
    let pdf = root.join("pdf/SKILL.md");
    let text = client.open_file(&pdf);
    let mut define = |word: &str, offset: u32| {
        let (line, character) = position_of(&text, word);
        let found = client.request_at("textDocument/definition", &pdf, (line, character + offset));
        locations(&found, &root)
    };
    assert_eq!(define("[other]", 2), ["other/SKILL.md:1:6"], "depends_on");
    assert_eq!(define("/other.", 1), ["other/SKILL.md:1:6"], "a mention");
    assert_eq!(define("`other` skill", 2), ["other/SKILL.md:1:6"], "code beside the word skill");
    assert_eq!(define("references/notes.md#", 3), ["pdf/references/notes.md:2:0"], "a heading");
    assert_eq!(define("entrypoint: scripts", 15), ["pdf/scripts/fill.sh:0:0"], "an entrypoint");
    assert_eq!(define("`scripts/fill.sh`", 3), ["pdf/scripts/fill.sh:0:0"], "a path in code");
    let browser = root.join("browser/browser.uasp.yaml");
    let text = client.open_file(&browser);
    let mut define = |word: &str, offset: u32| {
        let (line, character) = position_of(&text, word);
        let found = client.request_at("textDocument/definition", &browser, (line, character + offset));
        locations(&found, &root)
    };
    let at = |word: &str, offset: u32| {
        let (line, character) = position_of(&text, word);
        [format!("browser/browser.uasp.yaml:{line}:{}", character + offset)]
    };
    assert_eq!(define("created_by: [snapshot", 13), at("snapshot: {", 0));
    assert_eq!(define("requires: [refs", 12), at("- name: refs", 8));
    assert_eq!(define("cmd: click", 6), at("click: {", 0));
    assert_eq!(define("ref: docs", 6), at("id: docs", 4));
    assert_eq!(client.shut_down(), 0);
}

#[test]
fn references_are_found_in_all_skills() {
    let scratch = ScratchFolder::new();
    write_library(&scratch);
    let root = scratch.work_folder().join("skills");
    let mut client = start(&scratch);
    let other = root.join("other/SKILL.md");
    let text = client.open_file(&other);
    let (line, character) = position_of(&text, "other");
    let mut params =
        json!({ "textDocument": { "uri": uri(&other) }, "position": { "line": line, "character": character } });
    params["context"] = json!({ "includeDeclaration": true });
    let found = client.request("textDocument/references", params.clone());
    let expected = [
        "other/SKILL.md:1:6",
        "pdf/SKILL.md:15:57",
        "pdf/SKILL.md:16:5",
        "pdf/SKILL.md:5:13",
        "pdf/references/notes.md:4:43",
    ];
    assert_eq!(locations(&found, &root), expected);
    params["context"] = json!({ "includeDeclaration": false });
    assert_eq!(client.request("textDocument/references", params).as_array().unwrap().len(), 4);
    let (line, character) = position_of(&text, "(../pdf/SKILL.md)");
    let found = client.request_at("textDocument/references", &other, (line, character + 3));
    assert_eq!(locations(&found, &root), ["other/SKILL.md:7:14", "pdf/references/notes.md:4:20"], "links to a file");
    let highlights = client.request_at("textDocument/documentHighlight", &other, (1, 7));
    assert_eq!(highlights.as_array().unwrap().len(), 1);
    assert_eq!(client.shut_down(), 0);
}

#[test]
fn links_symbols_folds_and_selections_show_the_structure() {
    let scratch = ScratchFolder::new();
    write_library(&scratch);
    let root = scratch.work_folder().join("skills");
    let mut client = start(&scratch);
    let pdf = root.join("pdf/SKILL.md");
    client.open_file(&pdf);
    let document = json!({ "textDocument": { "uri": uri(&pdf) } });
    let links = client.request("textDocument/documentLink", document.clone());
    let targets: Vec<&str> = links.as_array().unwrap().iter().map(|link| link["target"].as_str().unwrap()).collect();
    let script = uri(root.join("pdf/scripts/fill.sh"));
    let notes = format!("{}#L3", uri(root.join("pdf/references/notes.md")));
    assert_eq!(targets, [script.as_str(), &notes, &script]);
    let symbols = client.request("textDocument/documentSymbol", document.clone());
    let names = |symbols: &Value| -> Vec<String> {
        symbols.as_array().unwrap().iter().map(|symbol| symbol["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&symbols), ["spec_version", "name", "description", "version", "depends_on", "tools", "PDF"]);
    assert_eq!(names(&symbols[5]["children"]), ["fill"]);
    assert_eq!(names(&symbols[6]["children"]), ["Steps"]);
    let folds = client.request("textDocument/foldingRange", document);
    let lines: Vec<(u64, u64)> = folds
        .as_array()
        .unwrap()
        .iter()
        .map(|fold| (fold["startLine"].as_u64().unwrap(), fold["endLine"].as_u64().unwrap()))
        .collect();
    for expected in [(0, 11), (6, 10), (13, 22), (18, 22), (20, 22)] {
        assert!(lines.contains(&expected), "{expected:?} in {lines:?}");
    }
    let browser = root.join("browser/browser.uasp.yaml");
    client.open_file(&browser);
    let document = json!({ "textDocument": { "uri": uri(&browser) } });
    let symbols = client.request("textDocument/documentSymbol", document);
    let commands = symbols.as_array().unwrap().iter().find(|symbol| symbol["name"] == "commands").unwrap();
    assert_eq!(names(&commands["children"]), ["snapshot", "click"]);
    let positions = json!({ "textDocument": { "uri": uri(&pdf) }, "positions": [{ "line": 15, "character": 8 }] });
    let selection = client.request("textDocument/selectionRange", positions);
    let mut sizes = Vec::new();
    let mut next = &selection[0];
    while !next.is_null() {
        sizes.push(next["range"].clone());
        next = &next["parent"];
    }
    assert!(sizes.len() >= 5, "word, link, line, section, body, document: {sizes:?}");
    let skills = client.request("workspace/symbol", json!({ "query": "bws" }));
    assert_eq!(names(&skills), ["browser"]);
    assert_eq!(client.shut_down(), 0);
}

#[test]
fn hovers_describe_skills_files_and_rules() {
    let scratch = ScratchFolder::new();
    write_library(&scratch);
    let root = scratch.work_folder().join("skills");
    let mut client = start(&scratch);
    let pdf = root.join("pdf/SKILL.md");
    let text = client.open_file(&pdf);
    let mut hover = |word: &str, offset: u32| -> String {
        let (line, character) = position_of(&text, word);
        let found = client.request_at("textDocument/hover", &pdf, (line, character + offset));
        found["contents"]["value"].as_str().unwrap_or_default().to_owned()
    };
    let skill = hover("/other.", 2);
    assert!(skill.contains("Helps others. Use when help is needed."), "{skill}");
    assert!(skill.contains("skills/other/SKILL.md"), "{skill}");
    assert!(skill.contains("untrusted: this project is not trusted"), "{skill}");
    let file = hover("references/notes.md", 3);
    assert!(file.contains("**references/notes.md** · 75 bytes · 23 tokens"), "{file}");
    let broken = text.replace("references/notes.md#second-part", "nope.md");
    client.replace(&pdf, 2, &broken);
    let (line, character) = position_of(&broken, "nope.md");
    let rule = client.request_at("textDocument/hover", &pdf, (line, character));
    let rule = rule["contents"]["value"].as_str().unwrap();
    assert!(rule.contains("link-target-missing") && rule.contains("Why it matters"), "{rule}");
    assert_eq!(client.shut_down(), 0);
}

/// Applies the text edits of a workspace edit to the files, and returns the operations.
fn apply(edit: &Value, root: &Path) -> Vec<String> {
    let mut operations = Vec::new();
    for change in edit["documentChanges"].as_array().unwrap() {
        let relative =
            |key: &str| change[key].as_str().unwrap().strip_prefix(&format!("{}/", uri(root))).unwrap().to_owned();
        match change["kind"].as_str() {
            Some("rename") => operations.push(format!("{} -> {}", relative("oldUri"), relative("newUri"))),
            Some(kind) => operations.push(kind.to_owned()),
            None => {
                let path = change["textDocument"]["uri"].as_str().unwrap().strip_prefix("file://").unwrap();
                let text = std::fs::read_to_string(path).unwrap();
                std::fs::write(path, super::client::apply_edits(&text, change["edits"].as_array().unwrap())).unwrap();
            }
        }
    }
    operations
}

#[test]
fn renaming_a_skill_changes_its_folder_its_field_and_every_reference() {
    let scratch = ScratchFolder::new();
    write_library(&scratch);
    let root = scratch.work_folder().join("skills");
    let mut client = start(&scratch);
    let other = root.join("other/SKILL.md");
    let text = client.open_file(&other);
    let (line, character) = position_of(&text, "/pdf. Not");
    let prepared = client.request_at("textDocument/prepareRename", &other, (line, character + 2));
    assert_eq!(prepared["placeholder"], "pdf");
    assert_eq!(prepared["range"]["start"]["character"], character + 1, "without the slash");
    // Asked for at a reference, from another skill.
    let params = |name: &str| {
        json!({
            "textDocument": { "uri": uri(&other) },
            "position": { "line": line, "character": character + 2 },
            "newName": name,
        })
    };
    for (name, reason) in [
        ("other", "the name `other` is already used by `skills/other/SKILL.md`"),
        ("Bad Name", "`name` has characters other than letters, digits and hyphens"),
        ("", "is not a name"),
        ("a/b", "is not a name"),
    ] {
        let refused = client.respond_to("textDocument/rename", params(name));
        let message = refused["error"]["message"].as_str().unwrap_or_else(|| panic!("{name}: {refused}"));
        assert!(message.contains(reason), "{name}: {message}");
    }
    let edit = client.request("textDocument/rename", params("forms"));
    let versions: Vec<&Value> =
        edit["documentChanges"].as_array().unwrap().iter().map(|change| &change["textDocument"]["version"]).collect();
    assert!(versions.contains(&&json!(1)), "the open document has its version: {versions:?}");
    assert_eq!(apply(&edit, &root), ["pdf -> forms"]);
    let pdf = std::fs::read_to_string(root.join("pdf/SKILL.md")).unwrap();
    assert!(pdf.contains("\nname: forms\n") && pdf.contains("# PDF"), "{pdf}");
    let other = std::fs::read_to_string(&other).unwrap();
    assert!(
        other.contains("[pdf](../forms/SKILL.md), see /forms. Not /pdfs, /usr/pdf or https://example.org/pdf."),
        "{other}"
    );
    assert_eq!(client.shut_down(), 0);
}

#[test]
fn renaming_a_folder_or_a_bundled_file_updates_what_refers_to_it() {
    let scratch = ScratchFolder::new();
    write_library(&scratch);
    let root = scratch.work_folder().join("skills");
    let mut client = start(&scratch);
    let rename =
        |from: &str, to: &str| json!({ "files": [{ "oldUri": uri(root.join(from)), "newUri": uri(root.join(to)) }] });
    let edit = client.request("workspace/willRenameFiles", rename("other", "helper"));
    assert_eq!(apply(&edit, &root), Vec::<String>::new(), "the client moves the directory");
    let read = |file: &str| std::fs::read_to_string(root.join(file)).unwrap();
    assert!(read("other/SKILL.md").contains("name: helper"));
    let pdf = read("pdf/SKILL.md");
    assert!(
        pdf.contains("depends_on: [helper]") && pdf.contains("run /helper.") && pdf.contains("The `helper` skill"),
        "{pdf}"
    );
    assert!(pdf.contains("```sh\n/other\n```"), "a fence is left alone: {pdf}");
    assert!(read("pdf/references/notes.md").contains("$helper."));
    let edit = client.request("workspace/willRenameFiles", rename("pdf/scripts/fill.sh", "pdf/bin/fill form.sh"));
    apply(&edit, &root);
    let pdf = read("pdf/SKILL.md");
    assert!(pdf.contains("entrypoint: bin/fill form.sh") && pdf.contains("`bin/fill form.sh`"), "{pdf}");
    let edit = client.request("workspace/willRenameFiles", rename("pdf/references/notes.md", "pdf/notes 2.md"));
    apply(&edit, &root);
    assert!(read("pdf/SKILL.md").contains("](notes%202.md#second-part)"), "{}", read("pdf/SKILL.md"));
    assert!(read("pdf/references/notes.md").contains("](SKILL.md)"), "its own links follow");
    assert_eq!(client.shut_down(), 0);
}

#[test]
fn renaming_a_name_of_a_uasp_file_changes_where_it_is_used() {
    let scratch = ScratchFolder::new();
    write_library(&scratch);
    let root = scratch.work_folder().join("skills");
    let mut client = start(&scratch);
    let browser = root.join("browser/browser.uasp.yaml");
    let text = client.open_file(&browser);
    let mut rename = |word: &str, offset: u32, new: &str| {
        let (line, character) = position_of(&text, word);
        let position = json!({ "line": line, "character": character + offset });
        client.respond_to(
            "textDocument/rename",
            json!({ "textDocument": { "uri": uri(&browser) }, "position": position, "newName": new }),
        )
    };
    let taken = rename("created_by: [snapshot", 14, "click");
    assert!(taken["error"]["message"].as_str().unwrap().contains("already declares a command `click`"), "{taken}");
    assert!(rename("created_by: [snapshot", 14, "a b").get("error").is_some());
    let edit = rename("created_by: [snapshot", 14, "look");
    apply(&edit["result"], &root);
    let after = std::fs::read_to_string(&browser).unwrap();
    assert!(
        after.contains("created_by: [look]") && after.contains("\n  look: {") && after.contains("cmd: look\n"),
        "{after}"
    );
    assert!(after.contains("syntax: b snapshot"), "the command line itself is another thing: {after}");
    assert_eq!(client.shut_down(), 0);
}
