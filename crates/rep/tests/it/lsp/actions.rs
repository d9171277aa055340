//! Code actions: fixes, silences, missing files and pages.

use rep_test_support::ScratchFolder;
use serde_json::{Value, json};

use super::client::{LspClient, apply_edits, full_capabilities, uri};

fn whole() -> Value {
    json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 9999, "character": 0 } })
}

fn actions(client: &mut LspClient, path: &std::path::Path, only: &[&str]) -> Vec<Value> {
    let mut context = json!({ "diagnostics": [] });
    if !only.is_empty() {
        context["only"] = json!(only);
    }
    let params = json!({ "textDocument": { "uri": uri(path) }, "range": whole(), "context": context });
    client.request("textDocument/codeAction", params).as_array().unwrap().clone()
}

/// Returns the edits of an action for one file.
fn edits(action: &Value) -> Vec<Value> {
    let change = &action["edit"]["documentChanges"][0];
    change["edits"].as_array().unwrap_or_else(|| panic!("{action}")).clone()
}

fn titled<'a>(actions: &'a [Value], start: &str) -> &'a Value {
    let is_titled = |action: &&Value| action["title"].as_str().unwrap().starts_with(start);
    actions.iter().find(is_titled).unwrap_or_else(|| panic!("{start}: {actions:#?}"))
}

#[test]
fn fixing_all_equals_the_fix_of_the_command_line() {
    let texts = [
        "---\r\nname: pdf\r\ndescription: Fills PDF forms: text fields. Use when a user brings a form.\r\nallowed-tools: Read, Write\r\n---\r\n\r\n# PDF\r\n\r\nSteps.\r\n",
        "\u{feff}---\nname: pdf # the name\ndescription: \"Fills forms. Use when a form comes: always\"\n---\n\n# PDF\n\nSteps.\n",
        "---\nname: pdf\ndescription: 'Fills'\nmetadata: {a: b}\n---\n\n# PDF 😀: x\n\nSteps.\n",
    ];
    for text in texts {
        let scratch = ScratchFolder::new();
        let file = scratch.write_file("pdf/SKILL.md", text);
        let mut client = LspClient::start(&scratch, &full_capabilities());
        client.open_file(&file);
        let all = actions(&mut client, &file, &["source.fixAll"]);
        scratch.run_program(super::super::rep(), &["check", "--fix"]);
        let expected = scratch.read_file("pdf/SKILL.md");
        let fixed = all.first().map_or_else(
            || text.to_owned(),
            |action| {
                assert_eq!(action["kind"], "source.fixAll.repertoire");
                apply_edits(text, &edits(action))
            },
        );
        // Line endings and byte order marks belong to the editor, which hides them from the text it edits.
        assert_eq!(fixed.replace("\r\n", "\n").trim_start_matches('\u{feff}'), expected);
        assert_eq!(fixed.matches("\r\n").count(), text.matches("\r\n").count(), "line endings stay");
        assert_eq!(fixed.starts_with('\u{feff}'), text.starts_with('\u{feff}'), "the byte order mark stays");
        assert_eq!(fixed.contains("# the name"), text.contains("# the name"), "comments stay");
        client.replace(&file, 2, &fixed);
        assert_eq!(actions(&mut client, &file, &["source.fixAll.repertoire"]), Vec::<Value>::new(), "fixing twice");
        assert_eq!(client.shut_down(), 0);
    }
}

#[test]
fn a_quick_fix_is_the_edit_of_its_finding() {
    let scratch = ScratchFolder::new();
    let text = "---\nname: pdf\ndescription: Fills PDF forms: text fields. Use when a user brings a form.\n---\n\n# PDF\n\nSteps.\n";
    let file = scratch.write_file("pdf/SKILL.md", text);
    let mut client = LspClient::start(&scratch, &full_capabilities());
    client.open_file(&file);
    let all = actions(&mut client, &file, &["quickfix"]);
    let fix = titled(&all, "Put the value in quotes");
    assert_eq!(fix["isPreferred"], json!(true));
    assert_eq!(fix["diagnostics"][0]["code"], "yaml-value-unquoted");
    assert_eq!(fix["edit"]["documentChanges"][0]["textDocument"], json!({ "uri": uri(&file), "version": 1 }));
    let fixed = apply_edits(text, &edits(fix));
    assert!(fixed.contains("description: 'Fills PDF forms: text fields. Use when a user brings a form.'\n"), "{fixed}");
    assert!(!edits(fix).iter().any(|edit| edit["newText"].as_str().unwrap().contains("Fills")), "nothing is repeated");
    let explain = titled(&all, "Explain `yaml-value-unquoted`");
    let page = client.request("workspace/executeCommand", explain["command"].clone());
    assert!(page.as_str().unwrap().starts_with("# yaml-value-unquoted"), "{page}");
    assert!(client.respond_to("workspace/executeCommand", json!({ "command": "rm" })).get("error").is_some());
    // A client without versions gets the same edit in the older form.
    let mut older = full_capabilities();
    older["workspace"].as_object_mut().unwrap().remove("workspaceEdit");
    let mut client = LspClient::start(&scratch, &older);
    client.open_file(&file);
    let all = actions(&mut client, &file, &["quickfix"]);
    let fix = titled(&all, "Put the value in quotes");
    let changes = fix["edit"]["changes"][uri(&file)].as_array().unwrap();
    assert_eq!(apply_edits(text, changes), fixed);
    assert_eq!(client.shut_down(), 0);
}

#[test]
fn findings_can_be_silenced_with_a_reason() {
    let scratch = ScratchFolder::new();
    let text =
        "---\nname: pdf\ndescription: Fills PDF forms. Use when a user brings a form.\n---\n\n# PDF\n\n[x](nope.md)\n";
    let file = scratch.write_file("pdf/SKILL.md", text);
    let mut client = LspClient::start(&scratch, &full_capabilities());
    client.open_file(&file);
    let all = actions(&mut client, &file, &[]);
    let silence = titled(&all, "Allow `link-target-missing`");
    let snippet = &edits(silence)[0];
    assert_eq!(snippet["snippet"]["value"], "# rep: allow(link-target-missing) ${1:reason}\n");
    let mut plain = full_capabilities();
    plain["workspace"]["workspaceEdit"].as_object_mut().unwrap().remove("snippetEditSupport");
    let mut client = LspClient::start(&scratch, &plain);
    client.open_file(&file);
    let all = actions(&mut client, &file, &[]);
    let silenced = apply_edits(text, &edits(titled(&all, "Allow `link-target-missing`")));
    client.replace(&file, 2, &silenced);
    assert!(client.wait_version(&file, 2).is_empty(), "{silenced}");
    let broken = "# no frontmatter\n";
    client.replace(&file, 3, broken);
    let all = actions(&mut client, &file, &[]);
    let silenced = apply_edits(broken, &edits(titled(&all, "Allow `")));
    assert!(silenced.contains("<!-- rep: allow("), "{silenced}");
    assert_eq!(client.shut_down(), 0);
}

#[test]
fn missing_files_are_created_and_names_agree_with_directories() {
    let scratch = ScratchFolder::new();
    let text = "---\nname: forms\ndescription: Fills PDF forms. Use when a user brings a form.\n---\n\n# PDF\n\n[x](references/nope.md)\n";
    let file = scratch.write_file("pdf/SKILL.md", text);
    let mut client = LspClient::start(&scratch, &full_capabilities());
    client.open_file(&file);
    let all = actions(&mut client, &file, &["quickfix"]);
    let create = titled(&all, "Create `references/nope.md`");
    let operation = &create["edit"]["documentChanges"][0];
    assert_eq!(
        (&operation["kind"], &operation["uri"]),
        (&json!("create"), &json!(uri(scratch.work_folder().join("pdf/references/nope.md"))))
    );
    let set = titled(&all, "Name it `pdf`");
    assert!(apply_edits(text, &edits(set)).contains("name: pdf\n"));
    let rename = &titled(&all, "Rename the directory to `forms`")["edit"]["documentChanges"][0];
    assert_eq!(rename["newUri"], uri(scratch.work_folder().join("forms")));
    assert_eq!(client.shut_down(), 0);
}

#[test]
fn pages_of_rules_are_documents_for_clients_that_can_show_them() {
    let scratch = ScratchFolder::new();
    let mut capabilities = full_capabilities();
    capabilities["workspace"]["textDocumentContent"] = json!({});
    let mut client = LspClient::start(&scratch, &capabilities);
    assert_eq!(
        client.initialized["capabilities"]["workspace"]["textDocumentContent"]["schemes"],
        json!(["repertoire"])
    );
    let page = client.request("workspace/textDocumentContent", json!({ "uri": "repertoire://rules/body-empty.md" }));
    assert!(page["text"].as_str().unwrap().starts_with("# body-empty"), "{page}");
    client.request("workspace/executeCommand", json!({ "command": "repertoire.explain", "arguments": ["body-empty"] }));
    client.wait_message("the page is shown", |message| {
        message["method"] == "window/showDocument" && message["params"]["uri"] == "repertoire://rules/body-empty.md"
    });
    assert_eq!(client.shut_down(), 0);
}
