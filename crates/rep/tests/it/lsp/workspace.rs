//! Folders, files on disk and settings, which change while the server runs.

use std::path::PathBuf;

use rep_test_support::ScratchFolder;
use serde_json::{Value, json};

use super::client::{LspClient, codes, full_capabilities, pull_capabilities, uri};

const GOOD: &str =
    "---\nname: pdf\ndescription: Fills PDF forms. Use when a user brings a form.\n---\n\n# PDF\n\nSteps.\n";

/// A client that does not watch files.
fn unwatching() -> Value {
    let mut capabilities = full_capabilities();
    capabilities["workspace"].as_object_mut().unwrap().remove("didChangeWatchedFiles");
    capabilities
}

#[test]
fn the_client_is_asked_to_watch_files_and_its_events_count() {
    let scratch = ScratchFolder::new();
    let file = scratch.write_file("pdf/SKILL.md", format!("{GOOD}\n[notes](notes.md)\n"));
    let mut client = LspClient::start(&scratch, &full_capabilities());
    let registration =
        client.wait_message("a registration", |message| message["method"] == "client/registerCapability");
    assert!(registration.to_string().contains("workspace/didChangeWatchedFiles"), "{registration}");
    client.open_file(&file);
    assert_eq!(codes(&client.wait_version(&file, 1)), ["link-target-missing"]);
    let notes = scratch.write_file("pdf/notes.md", "# Notes\n");
    let event = |kind: u8| json!({ "changes": [{ "uri": uri(&notes), "type": kind }] });
    client.notify("workspace/didChangeWatchedFiles", event(1));
    client.wait_diagnostics(&file, <[Value]>::is_empty);
    std::fs::remove_file(&notes).unwrap();
    client.notify("workspace/didChangeWatchedFiles", event(3));
    client.wait_diagnostics(&file, |found| codes(found) == ["link-target-missing"]);
    assert_eq!(client.shut_down(), 0);
}

#[test]
fn the_server_watches_files_if_the_client_does_not() {
    let scratch = ScratchFolder::new();
    scratch.write_file("rep.yaml", "check:\n  profiles: [claude-api]\n");
    let file = scratch.write_file("skills/pdf/SKILL.md", format!("{GOOD}\n[notes](refs/notes.md)\n"));
    let other = scratch.write_file("skills/other/SKILL.md", GOOD.replace("name: pdf", "name: other"));
    let mut client = LspClient::start(&scratch, &unwatching());
    client.open_file(&file);
    client.wait_diagnostics(&file, |found| codes(found) == ["link-target-missing"]);
    let notes = scratch.write_file("skills/pdf/refs/notes.md", "# Notes\n");
    client.wait_diagnostics(&file, <[Value]>::is_empty);
    std::fs::rename(&notes, notes.with_file_name("renamed.md")).unwrap();
    client.wait_diagnostics(&file, |found| codes(found) == ["link-target-missing"]);
    std::fs::rename(notes.with_file_name("renamed.md"), &notes).unwrap();
    client.wait_diagnostics(&file, <[Value]>::is_empty);
    // A skill that is not open gets the name of another.
    std::fs::write(&other, GOOD).unwrap();
    client.wait_diagnostics(&file, |found| codes(found) == ["name-duplicate"]);
    std::fs::remove_dir_all(other.parent().unwrap()).unwrap();
    client.wait_diagnostics(&file, <[Value]>::is_empty);
    // A new skill in a directory that has skills.
    scratch.write_file("skills/a-new/SKILL.md", GOOD);
    client.wait_diagnostics(&file, |found| codes(found) == ["name-duplicate"]);
    assert_eq!(client.shut_down(), 0);
}

#[test]
fn deleting_a_skill_withdraws_its_findings() {
    let scratch = ScratchFolder::new();
    let file = scratch.write_file("pdf/SKILL.md", "# no frontmatter\n");
    let mut client = LspClient::start(&scratch, &full_capabilities());
    client.open_file(&file);
    client.wait_version(&file, 1);
    client.close(&file);
    client.drain(std::time::Duration::from_millis(100));
    std::fs::remove_dir_all(file.parent().unwrap()).unwrap();
    client.notify("workspace/didChangeWatchedFiles", json!({ "changes": [{ "uri": uri(&file), "type": 3 }] }));
    client.wait_diagnostics(&file, <[Value]>::is_empty);
    assert_eq!(client.shut_down(), 0);
}

#[test]
fn folders_are_checked_separately_and_come_and_go() {
    let scratch = ScratchFolder::new();
    scratch.write_file("rep.yaml", "check:\n  profiles: [claude-api]\n");
    let one = scratch.write_file("one/pdf/SKILL.md", GOOD);
    let two = scratch.write_file("two/pdf/SKILL.md", GOOD);
    let twin = scratch.write_file("two/twin/SKILL.md", GOOD.replace("Steps.", "Other steps."));
    let outside = scratch.write_file("elsewhere/pdf/SKILL.md", "---\nname: pdf\n---\n\n# PDF\n\nSteps.\n");
    let folder = |name: &str| scratch.work_folder().join(name);
    let mut client = LspClient::start_in(&scratch, &[folder("one")], &full_capabilities(), &Value::Null);
    client.open_file(&one);
    assert!(client.wait_version(&one, 1).is_empty());
    client.open_file(&two);
    assert!(client.wait_version(&two, 1).is_empty(), "outside of every folder, it is judged alone");
    client.open_file(&outside);
    assert_eq!(codes(&client.wait_version(&outside, 1)), ["description-missing"]);
    let folder_of = |name: &str| json!({ "uri": uri(folder(name)), "name": name });
    let event = json!({ "event": { "added": [folder_of("two")], "removed": [] } });
    client.notify("workspace/didChangeWorkspaceFolders", event);
    let found = client.wait_diagnostics(&twin, |found| !found.is_empty());
    assert_eq!(codes(&found), ["name-differs-from-folder", "name-duplicate"]);
    let event = json!({ "event": { "added": [], "removed": [folder_of("two")] } });
    client.notify("workspace/didChangeWorkspaceFolders", event);
    client.wait_diagnostics(&twin, <[Value]>::is_empty);
    assert_eq!(client.shut_down(), 0);
}

#[test]
fn documents_of_other_schemes_are_ignored_without_noise() {
    let scratch = ScratchFolder::new();
    let mut client = LspClient::start(&scratch, &pull_capabilities());
    for uri in
        ["untitled:Untitled-1", "vscode-notebook-cell:/a#b", "git:/x/SKILL.md?ref", "http://example.org/SKILL.md"]
    {
        let item = json!({ "uri": uri, "languageId": "skill", "version": 1, "text": "# x\n" });
        client.notify("textDocument/didOpen", json!({ "textDocument": item }));
        let report = client.request("textDocument/diagnostic", json!({ "textDocument": { "uri": uri } }));
        assert_eq!(report["items"], json!([]));
    }
    let noisy = ["window/showMessage", "window/logMessage", "textDocument/publishDiagnostics"];
    let is_noise = |message: &&Value| noisy.iter().any(|method| message["method"] == json!(method));
    assert_eq!(client.transcript.iter().filter(is_noise).count(), 0);
    assert_eq!(client.shut_down(), 0);
}

#[test]
fn settings_of_the_client_apply_on_top_of_the_settings_file() {
    let scratch = ScratchFolder::new();
    scratch.write_file("rep.yaml", "check:\n  ignore: [link-target-missing]\n");
    let file = scratch
        .write_file("pdf/SKILL.md", format!("{GOOD}\n[x](nope.md)\n").replace("name: pdf", "name: pdf\ncolor: red"));
    let mut client = LspClient::spawn(&scratch);
    client.configuration = json!({ "levels": { "field-unknown": "error" } });
    let folders = json!([{ "uri": uri(scratch.work_folder()), "name": "x" }]);
    client.request("initialize", json!({ "workspaceFolders": folders, "capabilities": full_capabilities() }));
    client.notify("initialized", json!({}));
    client.open_file(&file);
    let found = client.wait_diagnostics(&file, |found| found.iter().any(|item| item["severity"] == 1));
    assert_eq!(codes(&found), ["field-unknown"]);
    client.configuration = json!({ "ignore": ["field-unknown"], "profiles": ["nonsense"] });
    client.notify("workspace/didChangeConfiguration", json!({ "settings": null }));
    client.wait_diagnostics(&file, <[Value]>::is_empty);
    let shown = client.wait_message("a message", |message| message["method"] == "window/showMessage");
    assert!(shown.to_string().contains("unknown profile `nonsense`"), "{shown}");
    scratch.write_file("rep.yaml", "check:\n  ignore: []\n");
    let event = json!({ "changes": [{ "uri": uri(scratch.work_folder().join("rep.yaml")), "type": 2 }] });
    client.notify("workspace/didChangeWatchedFiles", event);
    client.wait_diagnostics(&file, |found| codes(found) == ["link-target-missing"]);
    scratch.write_file("rep.yaml", "check:\n  ignroe: []\n");
    let event = json!({ "changes": [{ "uri": uri(scratch.work_folder().join("rep.yaml")), "type": 2 }] });
    client.notify("workspace/didChangeWatchedFiles", event);
    let shown = client.wait_message("a message", |message| message["method"] == "window/showMessage");
    assert!(shown.to_string().contains("unknown setting `ignroe`"), "{shown}");
    assert_eq!(client.shut_down(), 0);
}

#[test]
fn settings_can_be_pushed_and_given_at_the_start() {
    let scratch = ScratchFolder::new();
    let file = scratch.write_file("pdf/SKILL.md", format!("{GOOD}\n[x](nope.md)\n"));
    let mut capabilities = full_capabilities();
    capabilities["workspace"].as_object_mut().unwrap().remove("configuration");
    let options = json!({ "repertoire": { "builtin": "quiet" } });
    let folders: [PathBuf; 1] = [scratch.work_folder()];
    let mut client = LspClient::start_in(&scratch, &folders, &capabilities, &options);
    client.open_file(&file);
    assert!(client.wait_version(&file, 1).is_empty(), "left to the editor");
    let settings = json!({ "settings": { "repertoire": { "builtin": "keep" } } });
    client.notify("workspace/didChangeConfiguration", settings);
    client.wait_diagnostics(&file, |found| codes(found) == ["link-target-missing"]);
    assert_eq!(client.shut_down(), 0);
}
