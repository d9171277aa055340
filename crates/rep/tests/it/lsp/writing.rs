//! Completions, fields in hovers, token costs, semantic tokens and formatting.

use std::path::Path;

use rep_test_support::{DEADLINE, ScratchFolder, wait_until};
use serde_json::{Value, json};

use super::client::{LspClient, apply_edits, codes, full_capabilities, position_of, uri};

/// A text with the position of `|` in it.
fn split_marked(marked: &str) -> (String, (u32, u32)) {
    let position = position_of(marked, "|");
    (marked.replacen('|', "", 1), position)
}

/// Opens a document with the text around `|`, and returns the completions at `|`.
#[track_caller]
fn complete(client: &mut LspClient, path: &Path, version: i64, marked: &str) -> (String, Vec<Value>) {
    let (text, position) = split_marked(marked);
    if version == 1 {
        client.open(path, 1, &text);
    } else {
        client.replace(path, version, &text);
    }
    let found = client.request_at("textDocument/completion", path, position);
    let items = found["items"].as_array().cloned().unwrap_or_default();
    (text, items)
}

fn labels(items: &[Value]) -> Vec<&str> {
    items.iter().map(|item| item["label"].as_str().unwrap()).collect()
}

/// Returns the text after a completion was chosen.
#[track_caller]
fn choose(text: &str, items: &[Value], label: &str) -> String {
    let item = items.iter().find(|item| item["label"] == label).unwrap_or_else(|| panic!("{label} is not offered"));
    apply_edits(text, std::slice::from_ref(&item["textEdit"]))
}

fn write_skills(scratch: &ScratchFolder) {
    scratch.write_file(
        "skills/pdf/SKILL.md",
        "---\nname: pdf\ndescription: Fills forms. Use for PDF forms.\n---\n\n# PDF\n",
    );
    scratch.write_file("skills/pdf/references/field notes.md", "# Notes\n\n## Second part\n");
    scratch.write_file("skills/pdf/scripts/fill.sh", "#!/bin/sh\n");
    scratch.write_file(
        "skills/other/SKILL.md",
        "---\nname: other\ndescription: Helps others. Use when help is needed.\n---\n\n# Other\n",
    );
}

fn start(scratch: &ScratchFolder) -> LspClient {
    let mut client = LspClient::start(scratch, &full_capabilities());
    wait_until("the index is built", DEADLINE, || {
        let found = client.request("workspace/symbol", json!({ "query": "" }));
        found.as_array().is_some_and(|found| found.len() == 2)
    });
    client
}

#[test]
fn fields_and_values_are_completed() {
    let scratch = ScratchFolder::new();
    write_skills(&scratch);
    let mut client = start(&scratch);
    let path = scratch.work_folder().join("skills/pdf/SKILL.md");
    let (text, items) = complete(&mut client, &path, 1, "---\nname: pdf\nde|\n---\n\n# PDF\n");
    assert_eq!(labels(&items), ["description", "license", "compatibility", "metadata", "allowed-tools"]);
    assert!(choose(&text, &items, "description").contains("\ndescription: \n"));
    let documentation = items[0]["documentation"]["value"].as_str().unwrap();
    assert!(documentation.contains("Claude Code") && documentation.contains("1536"), "{documentation}");
    for (version, marked, wanted, result) in [
        (2, "---\nlicense: Ap|\n---\n", "Apache-2.0", "license: Apache-2.0\n"),
        (3, "---\nlicense:|\n---\n", "MIT", "license: MIT\n"),
        (4, "---\nallowed-tools: Read, We|\n---\n", "WebFetch", "allowed-tools: Read, WebFetch\n"),
        (5, "---\nallowed-tools: [Read, We|]\n---\n", "WebFetch", "allowed-tools: [Read, WebFetch]\n"),
        (6, "---\nname: |\n---\n", "pdf", "name: pdf\n"),
        (7, "---\nname: pdf\nlic|", "license", "name: pdf\nlicense: "),
        (8, "---\nspec_version: \"2.1\"\ndepends_on: [oth|\n---\n", "other", "depends_on: [other\n"),
        (9, "---\nspec_version: \"2.1\"\npermissions:\n  net|\n---\n", "network", "permissions:\n  network:\n"),
        (
            10,
            "---\nspec_version: \"2.1\"\ntools:\n  - name: a\n    implementation:\n      entrypoint: s|\n---\n",
            "scripts/fill.sh",
            "entrypoint: scripts/fill.sh\n",
        ),
        (11, "---\nspec_version: \"2.1\"\nsaf|\n---\n", "safety", "\nsafety:\n"),
    ] {
        let (text, items) = complete(&mut client, &path, version, marked);
        assert!(choose(&text, &items, wanted).contains(result), "{marked}: {}", choose(&text, &items, wanted));
    }
    for (version, marked) in [
        (20, "---\ndescription: >-\n  Some na|\n---\n"),
        (21, "---\n# na|\n---\n"),
        (22, "---\ndescription: a\n  b|\n---\n"),
    ] {
        assert_eq!(complete(&mut client, &path, version, marked).1, Vec::<Value>::new(), "{marked}");
    }
    assert_eq!(client.shut_down(), 0);
}

#[test]
fn an_empty_file_is_completed_to_a_skill_that_passes_its_checks() {
    let scratch = ScratchFolder::new();
    write_skills(&scratch);
    let mut client = start(&scratch);
    let path = scratch.work_folder().join("skills/release-notes/SKILL.md");
    let (text, items) = complete(&mut client, &path, 1, "|");
    let after = choose(&text, &items, "SKILL.md (agentskills)");
    assert!(after.contains("name: release-notes\n"), "{after}");
    client.replace(&path, 2, &after);
    let found = client.wait_version(&path, 2);
    assert_eq!(codes(&found), ["placeholder-text"]);
    assert_eq!(client.shut_down(), 0);
}

#[test]
fn links_headings_and_skills_are_completed_in_prose_only() {
    let scratch = ScratchFolder::new();
    write_skills(&scratch);
    let mut client = start(&scratch);
    let path = scratch.work_folder().join("skills/pdf/SKILL.md");
    let head = "---\nname: pdf\ndescription: Fills forms. Use for PDF forms.\n---\n\n# PDF\n\n";
    let mut version = 0;
    let mut try_body = |client: &mut LspClient, body: &str| {
        version += 1;
        complete(client, &path, version, &format!("{head}{body}"))
    };
    let (text, items) = try_body(&mut client, "See [notes](ref|");
    assert_eq!(labels(&items), ["references/field%20notes.md", "scripts/fill.sh"]);
    assert!(choose(&text, &items, "references/field%20notes.md").ends_with("[notes](references/field%20notes.md"));
    let (text, items) = try_body(&mut client, "See [notes](references/field%20notes.md#se|)\n");
    assert!(choose(&text, &items, "second-part").ends_with("notes.md#second-part)\n"));
    for body in ["Run /oth|\n", "Run $oth|\n", "(/|\n"] {
        let (text, items) = try_body(&mut client, body);
        assert_eq!(labels(&items), ["other"], "{body}");
        assert!(choose(&text, &items, "other").contains("other\n"), "{body}");
    }
    for body in [
        "```sh\n/oth|\n```\n",
        "Code `/oth|` here\n",
        "See https://example.org/oth|\n",
        "In /usr/oth|\n",
        "a/oth|\n",
        "[x](https://oth|)\n",
        "Plain oth|\n",
    ] {
        assert_eq!(try_body(&mut client, body).1, Vec::<Value>::new(), "{body}");
    }
    assert_eq!(client.shut_down(), 0);
}

#[test]
fn names_of_a_uasp_file_are_completed_while_it_does_not_parse() {
    let scratch = ScratchFolder::new();
    write_skills(&scratch);
    let mut client = start(&scratch);
    let path = scratch.work_folder().join("skills/browser/browser.uasp.yaml");
    let head = "meta:\n  name: browser\nstate:\n  entities:\n    - name: refs\nsources:\n  - id: docs\n";
    let commands = "commands:\n  snapshot: {syntax: b snapshot}\n  click:\n    syntax: b click\n";
    let mut version = 0;
    for (body, wanted) in [
        (format!("{commands}    requires: [re|"), vec!["refs", "snapshot", "click"]),
        (format!("{commands}    creates: [|]\n"), vec!["refs"]),
        (format!("{commands}workflows:\n  visit:\n    steps:\n      - cmd: |\n"), vec!["snapshot", "click"]),
        ("decisions:\n  - when: x\n    ref: |\n".to_owned(), vec!["docs"]),
    ] {
        version += 1;
        let (_, items) = complete(&mut client, &path, version, &format!("{head}{body}"));
        assert_eq!(labels(&items), wanted, "{body}");
    }
    let (_, items) = complete(&mut client, &path, 9, &format!("{head}trig|"));
    assert!(labels(&items).contains(&"triggers") && !labels(&items).contains(&"state"));
    assert_eq!(client.shut_down(), 0);
}

#[test]
fn a_host_decides_which_fields_are_offered_and_judged() {
    let scratch = ScratchFolder::new();
    let path = scratch.write_file(
        "skills/pdf/SKILL.md",
        "---\nname: pdf\ndescription: Fills forms. Use for PDF forms.\nargument-hint: \"[file]\"\nuser-invocable: true\n---\n\n# PDF\n\nDo it.\n",
    );
    for (host, is_read) in [("claude-code", true), ("copilot", true), ("gemini-cli", false)] {
        let options = json!({ "repertoire": { "host": host } });
        let folders = [scratch.work_folder()];
        let mut capabilities = full_capabilities();
        capabilities["workspace"]["configuration"] = json!(false);
        let mut client = LspClient::start_in(&scratch, &folders, &capabilities, &options);
        client.open_file(&path);
        let found = client.wait_version(&path, 1);
        assert_eq!(codes(&found), Vec::<&str>::new(), "{host}: {found:?}");
        let hover = client.request_at("textDocument/hover", &path, (1, 1));
        let text = hover["contents"]["value"].as_str().unwrap();
        assert!(text.contains("**name**") && text.contains("at most 64 characters of `name`"), "{text}");
        let (_, items) = complete(&mut client, &path, 2, "---\nname: pdf\na|\n---\n");
        assert_eq!(labels(&items).contains(&"argument-hint"), is_read, "{host}");
        assert_eq!(client.shut_down(), 0);
    }
}

#[test]
fn a_host_gets_no_finding_for_the_fields_that_it_documents() {
    let of_claude = "when_to_use: For forms.\nargument-hint: \"[file]\"\narguments: [file]\ndisable-model-invocation: false\n\
                     user-invocable: true\nallowed-tools: Read Bash(git *)\ndisallowed-tools: Write\nmodel: opus\neffort: high\n\
                     context: fork\nagent: Explore\nbackground: false\nhooks: {}\npaths: [\"*.pdf\"]\nshell: bash\nlicense: MIT\n\
                     compatibility: Needs git.\nmetadata: {short-description: Fills forms}\n";
    let of_copilot = "license: MIT\nallowed-tools: Read\nargument-hint: \"[file]\"\nuser-invocable: true\n\
                      disable-model-invocation: false\ncontext: fork\n";
    let of_codex = "metadata: {short-description: Fills forms}\n";
    let of_cursor = "paths: [\"*.pdf\"]\ndisable-model-invocation: true\nmetadata: {a: b}\n";
    for (host, fields) in
        [("claude-code", of_claude), ("copilot", of_copilot), ("codex", of_codex), ("cursor", of_cursor)]
    {
        let scratch = ScratchFolder::new();
        let text =
            format!("---\nname: pdf\ndescription: Fills forms. Use for PDF forms.\n{fields}---\n\n# PDF\n\nDo it.\n");
        let path = scratch.write_file("skills/pdf/SKILL.md", text);
        let mut capabilities = full_capabilities();
        capabilities["workspace"]["configuration"] = json!(false);
        let options = json!({ "repertoire": { "host": host } });
        let mut client = LspClient::start_in(&scratch, &[scratch.work_folder()], &capabilities, &options);
        client.open_file(&path);
        let found = client.wait_version(&path, 1);
        assert!(found.is_empty(), "{host}: {found:#?}");
        assert_eq!(client.shut_down(), 0);
    }
}

#[test]
fn token_costs_are_those_of_show() {
    let scratch = ScratchFolder::new();
    write_skills(&scratch);
    let mut capabilities = full_capabilities();
    capabilities["workspace"]["configuration"] = json!(false);
    let options = json!({ "commands": ["repertoire.showModelView", "repertoire.runTests"] });
    let folders = [scratch.work_folder()];
    let mut client = LspClient::start_in(&scratch, &folders, &capabilities, &options);
    let path = scratch.work_folder().join("skills/pdf/SKILL.md");
    client.open_file(&path);
    let shown = scratch.run_program(super::super::rep(), &["show", path.parent().unwrap().to_str().unwrap(), "--json"]);
    let shown: Value = serde_json::from_str(&shown.stdout).unwrap();
    let wanted = format!("{} tokens listed, {} when used", shown["tokens"]["catalogue"], shown["tokens"]["activation"]);
    let whole = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 } });
    let params = json!({ "textDocument": { "uri": uri(&path) }, "range": whole });
    let hints = client.request("textDocument/inlayHint", params.clone());
    assert_eq!(hints[0]["label"], json!(wanted));
    assert_eq!(hints[0]["position"], json!({ "line": 1, "character": 9 }));
    let lenses = client.request("textDocument/codeLens", params.clone());
    assert_eq!(lenses[0]["command"]["command"], "repertoire.showModelView");
    assert_eq!(lenses.as_array().unwrap().len(), 1, "a skill without tests has no lens for them");
    let settings = json!({ "settings": { "repertoire": { "hints": false } } });
    client.notify("workspace/didChangeConfiguration", settings);
    assert_eq!(client.request("textDocument/inlayHint", params.clone()), json!([]));
    assert_eq!(client.request("textDocument/codeLens", params), json!([]));
    assert_eq!(client.shut_down(), 0);
}

#[test]
fn a_hint_says_why_a_skill_is_not_listed() {
    let scratch = ScratchFolder::new();
    let text = "---\nname: pdf\ndescription: Fills forms. Use for PDF forms.\n---\n\n# PDF\n";
    scratch.write_file(".git/HEAD", "ref: refs/heads/main\n");
    let path = scratch.write_file("notes/pdf/SKILL.md", text);
    let options = json!({ "repertoire": { "host": "claude-code" } });
    let mut capabilities = full_capabilities();
    capabilities["workspace"]["configuration"] = json!(false);
    let mut client = LspClient::start_in(&scratch, &[scratch.work_folder()], &capabilities, &options);
    client.open_file(&path);
    let whole = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 9, "character": 0 } });
    let params = json!({ "textDocument": { "uri": uri(&path) }, "range": whole });
    let hints = client.request("textDocument/inlayHint", params);
    let label = hints[0]["label"].as_str().unwrap();
    assert!(label.ends_with("not listed by Claude Code: it does not search this directory"), "{label}");
    assert_eq!(client.shut_down(), 0);
}

#[test]
fn a_hint_names_the_skill_that_takes_precedence() {
    let scratch = ScratchFolder::new();
    let text = "---\nname: pdf\ndescription: Fills forms. Use for PDF forms.\n---\n\n# PDF\n";
    scratch.write_file(".git/HEAD", "ref: refs/heads/main\n");
    let paths = [".agents", ".claude"].map(|folder| scratch.write_file(&format!("{folder}/skills/pdf/SKILL.md"), text));
    assert_eq!(scratch.run_program(super::super::rep(), &["trust"]).code, 0);
    let mut capabilities = full_capabilities();
    capabilities["workspace"]["configuration"] = json!(false);
    let mut client = LspClient::start_in(&scratch, &[scratch.work_folder()], &capabilities, &Value::Null);
    let whole = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 9, "character": 0 } });
    let labels: Vec<String> = paths
        .iter()
        .map(|path| {
            client.open_file(path);
            let params = json!({ "textDocument": { "uri": uri(path) }, "range": whole });
            client.request("textDocument/inlayHint", params)[0]["label"].as_str().unwrap().to_owned()
        })
        .collect();
    let shadowed: Vec<&String> = labels.iter().filter(|label| label.contains("shadowed by")).collect();
    assert!(shadowed.len() == 1 && shadowed[0].contains("skills/pdf/SKILL.md"), "{labels:?}");
    assert_eq!(client.shut_down(), 0);
}

#[test]
fn references_have_semantic_tokens() {
    let scratch = ScratchFolder::new();
    write_skills(&scratch);
    let mut client = start(&scratch);
    let path = scratch.work_folder().join("skills/browser/browser.uasp.yaml");
    let text = "meta:\n  name: browser\nstate:\n  entities:\n    - name: refs\n      created_by: [snapshot]\ncommands:\n  snapshot: {syntax: b, creates: [refs]}\n";
    client.open(&path, 1, text);
    let params = json!({ "textDocument": { "uri": uri(&path) } });
    let legend = client.initialized["capabilities"]["semanticTokensProvider"]["legend"].clone();
    let data = client.request("textDocument/semanticTokens/full", params)["data"].clone();
    let numbers: Vec<u64> = data.as_array().unwrap().iter().map(|number| number.as_u64().unwrap()).collect();
    let (mut line, mut column) = (0, 0);
    let mut shown = Vec::new();
    for token in numbers.chunks(5) {
        column = if token[0] == 0 { column + token[1] } else { token[1] };
        line += token[0];
        let source = text.lines().nth(usize::try_from(line).unwrap()).unwrap();
        let word = &source[usize::try_from(column).unwrap()..][..usize::try_from(token[2]).unwrap()];
        let kind = legend["tokenTypes"][usize::try_from(token[3]).unwrap()].as_str().unwrap();
        shown.push(format!("{word}:{kind}{}", if token[4] == 1 { ":declaration" } else { "" }));
    }
    assert_eq!(
        shown,
        [
            "browser:namespace:declaration",
            "refs:variable:declaration",
            "snapshot:function",
            "snapshot:function:declaration",
            "refs:variable",
        ]
    );
    assert_eq!(client.shut_down(), 0);
}

#[test]
fn formatting_changes_only_space() {
    let scratch = ScratchFolder::new();
    write_skills(&scratch);
    let mut client = start(&scratch);
    let path = scratch.work_folder().join("skills/pdf/SKILL.md");
    let text = "---\nname:   pdf  \n# a comment\n\n\ndescription: |\n  Fills   \n\n\n  forms.\n---\n\n#  Body  \n";
    client.open(&path, 1, text);
    let params = json!({ "textDocument": { "uri": uri(&path) }, "options": { "tabSize": 2, "insertSpaces": true } });
    let edits = client.request("textDocument/formatting", params.clone());
    let after = apply_edits(text, edits.as_array().unwrap());
    let wanted = "---\nname: pdf\n# a comment\n\ndescription: |\n  Fills   \n\n\n  forms.\n---\n\n#  Body  \n";
    assert_eq!(after, wanted);
    client.replace(&path, 2, &after);
    assert_eq!(client.request("textDocument/formatting", params.clone()), json!([]), "a formatted text stays as it is");
    client.replace(&path, 3, "---\nname: [\n---\n");
    assert_eq!(client.request("textDocument/formatting", params), Value::Null, "a broken text stays as it is");
    assert_eq!(client.shut_down(), 0);
}
