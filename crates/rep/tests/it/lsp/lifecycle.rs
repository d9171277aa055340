//! Starting, ending and surviving bad clients.

use std::process::{Command, Stdio};

use rep_test_support::{ScratchFolder, is_program_installed, skip_unless_ci};
use serde_json::{Value, json};

use super::client::{LspClient, codes, full_capabilities, uri};

const SKILL: &str =
    "---\nname: pdf\ndescription: Fills PDF forms. Use when a user brings a form.\n---\n\n# PDF\n\nSteps.\n";

#[test]
fn an_orderly_session_exits_with_0() {
    let scratch = ScratchFolder::new();
    let client = LspClient::start(&scratch, &full_capabilities());
    assert_eq!(client.initialized["serverInfo"]["name"], "rep");
    assert_eq!(client.initialized["capabilities"]["textDocumentSync"]["change"], 2, "incremental");
    assert_eq!(client.shut_down(), 0);
}

#[test]
fn exit_without_shutdown_exits_with_1() {
    let scratch = ScratchFolder::new();
    let mut client = LspClient::start(&scratch, &full_capabilities());
    client.notify("exit", Value::Null);
    assert_eq!(client.wait_exit().code(), Some(1));
}

#[test]
fn the_server_ends_when_the_input_ends() {
    let scratch = ScratchFolder::new();
    let mut client = LspClient::start(&scratch, &full_capabilities());
    client.close_input();
    assert_eq!(client.wait_exit().code(), Some(1));
    let mut silent = LspClient::spawn(&scratch);
    silent.close_input();
    assert_eq!(silent.wait_exit().code(), Some(1), "also before it was initialized");
}

#[test]
fn the_server_ends_when_the_process_of_the_client_ends() {
    let scratch = ScratchFolder::new();
    let mut editor = Command::new("sleep").arg("1000").stdout(Stdio::null()).spawn().unwrap();
    let mut client = LspClient::spawn(&scratch);
    client.request("initialize", json!({ "processId": editor.id(), "capabilities": {} }));
    client.notify("initialized", json!({}));
    // Not reaped: the process is a zombie, as that of an editor that was killed.
    editor.kill().unwrap();
    assert_eq!(client.wait_exit().code(), Some(1));
    editor.wait().unwrap();
}

#[test]
fn a_client_whose_process_is_gone_already_is_not_waited_for() {
    let scratch = ScratchFolder::new();
    let mut gone = Command::new("true").stdout(Stdio::null()).spawn().unwrap();
    gone.wait().unwrap();
    let mut client = LspClient::spawn(&scratch);
    client.send_request("initialize", json!({ "processId": gone.id(), "capabilities": {} }));
    assert_eq!(client.wait_exit().code(), Some(1));
}

#[test]
fn requests_before_and_after_the_session_are_refused() {
    let scratch = ScratchFolder::new();
    let mut client = LspClient::spawn(&scratch);
    assert_eq!(client.respond_to("textDocument/hover", json!({}))["error"]["code"], -32002);
    client.request("initialize", json!({ "capabilities": {} }));
    client.notify("initialized", json!({}));
    assert_eq!(client.respond_to("initialize", json!({ "capabilities": {} }))["error"]["code"], -32600);
    client.request("shutdown", Value::Null);
    assert_eq!(client.respond_to("textDocument/hover", json!({}))["error"]["code"], -32600);
    client.notify("exit", Value::Null);
    assert_eq!(client.wait_exit().code(), Some(0));
}

/// Sends bad input of every kind, and checks after each that the server still works.
#[test]
fn bad_input_gives_errors_or_silence_but_never_ends_the_server() {
    let scratch = ScratchFolder::new();
    let file = scratch.write_file("pdf/SKILL.md", SKILL);
    let mut client = LspClient::start(&scratch, &full_capabilities());
    assert_eq!(client.respond_to("no/such/method", json!({}))["error"]["code"], -32601);
    client.notify("no/such/notification", json!([1, 2]));
    for (raw, code) in [
        ("Content-Length: 1\r\n\r\n{", -32700),
        ("Content-Length: 4\r\n\r\n\u{7f}\u{0}xx", -32700),
        ("Content-Length: 2\r\n\r\n[]", -32600),
        ("Content-Length: 13\r\n\r\n{\"id\":[1,2,3]", -32700),
        ("Content-Length: 15\r\n\r\n{\"id\":{\"a\":1}} ", -32600),
    ] {
        client.write_raw(raw.as_bytes());
        let answer = client.wait_message(raw, |message| message["error"]["code"] == json!(code));
        assert_eq!(answer["id"], Value::Null, "{raw}");
    }
    let deep = "[".repeat(100_000);
    client.write_raw(format!("Content-Length: {}\r\n\r\n{deep}", deep.len()).as_bytes());
    client.wait_message("an error about deep nesting", |message| message["error"]["code"] == json!(-32700));
    client.write_raw(b"garbage without a header\r\n\r\n");
    let textless = json!({ "uri": uri(&file) });
    for (method, params) in [
        ("textDocument/didOpen", json!({})),
        ("textDocument/didOpen", json!({ "textDocument": { "uri": 3, "text": "x" } })),
        ("textDocument/didOpen", json!({ "textDocument": textless })),
        ("textDocument/didOpen", json!({ "textDocument": { "uri": "untitled:x", "version": 1, "text": "x" } })),
        ("textDocument/didOpen", json!({ "textDocument": { "uri": "file:///a/../b", "version": 1, "text": "x" } })),
        ("textDocument/didChange", json!({ "textDocument": { "uri": "file:///not/open", "version": 2 } })),
        ("textDocument/didClose", json!({ "textDocument": { "uri": "file:///not/open" } })),
        ("workspace/didChangeWatchedFiles", json!({ "changes": 3 })),
        ("workspace/didChangeWorkspaceFolders", json!({ "event": { "added": [3], "removed": null } })),
        ("workspace/didChangeConfiguration", json!(null)),
        ("$/cancelRequest", json!({ "id": { "a": 1 } })),
        ("$/setTrace", json!({ "value": "verbose" })),
    ] {
        client.notify(method, params);
    }
    client.open(&file, 1, SKILL);
    assert!(client.wait_version(&file, 1).is_empty());
    let range = |start: (u64, u64), end: (u64, u64)| {
        let position = |(line, character): (u64, u64)| json!({ "line": line, "character": character });
        json!({ "range": { "start": position(start), "end": position(end) }, "text": "" })
    };
    let document = json!({ "uri": uri(&file), "version": -7 });
    let far = range((u64::MAX, u64::MAX), (4_000_000_000, 9));
    client.notify("textDocument/didChange", json!({ "textDocument": document, "contentChanges": [far, 3, {}, null] }));
    assert!(client.wait_version(&file, -7).is_empty(), "a range outside of the text is its end");
    let all = range((9, 9), (0, 0));
    let document = json!({ "uri": uri(&file), "version": 3 });
    client.notify("textDocument/didChange", json!({ "textDocument": document, "contentChanges": [all] }));
    assert_eq!(codes(&client.wait_version(&file, 3)), ["frontmatter-missing"], "a reversed range is a range");
    assert_eq!(client.shut_down(), 0);
}

#[test]
fn huge_lines_and_files_that_are_not_text_are_answered() {
    let scratch = ScratchFolder::new();
    let file = scratch.write_file("pdf/SKILL.md", [0xff, 0xfe, 0x00]);
    scratch.write_file("other/SKILL.md", b"---\nname: \xff\n---\n");
    let work = scratch.work_folder();
    std::os::unix::fs::symlink(&work, work.join("loop")).unwrap();
    std::os::unix::fs::symlink(work.join("pdf/b"), work.join("pdf/a")).unwrap();
    std::os::unix::fs::symlink(work.join("pdf/a"), work.join("pdf/b")).unwrap();
    let pipe = std::process::Command::new("mkfifo").arg(work.join("pdf/pipe.md")).status().unwrap();
    assert!(pipe.success());
    let mut client = LspClient::start(&scratch, &full_capabilities());
    let line = "x".repeat(10_000_000);
    client.open(&file, 1, &format!("{SKILL}{line}\n"));
    let found = client.wait_version(&file, 1);
    assert_eq!(codes(&found), ["file-too-large"], "as a file of 10 MB on disk");
    let document = json!({ "uri": uri(&file), "version": 2 });
    let end = json!({ "line": 8, "character": 9_999_999 });
    let change = json!({ "range": { "start": { "line": 8, "character": 10 }, "end": end }, "text": "" });
    client.notify("textDocument/didChange", json!({ "textDocument": document, "contentChanges": [change] }));
    let found = client.wait_version(&file, 2);
    assert!(!codes(&found).contains(&"file-too-large"), "{found:?}");
    let pipe = work.join("pdf/pipe.md");
    let found = client.wait_diagnostics(&pipe, |found| !found.is_empty());
    assert_eq!(codes(&found), ["file-irregular"]);
    assert_eq!(client.shut_down(), 0);
}

/// System calls that start a program, use the network, or change a file.
const TRACED: &str = "trace=execve,%network,openat,creat,mkdir,mkdirat,rename,renameat,renameat2,unlink,unlinkat,\
                      symlink,symlinkat,link,linkat,truncate,ftruncate";

#[test]
fn the_server_starts_no_program_uses_no_network_and_changes_no_file() {
    if !is_program_installed("strace") {
        return skip_unless_ci("strace is not installed, so the server was not traced");
    }
    let scratch = ScratchFolder::new();
    let outside = scratch.write_file("../outside/private.md", "# Private\n");
    let file = scratch.write_file(
        "skills/pdf/SKILL.md",
        "---\nname: pdf\ndescription: Fills forms: text fields. Use for forms.\n---\n\n# PDF\n\nSee [x](nope.md), \
         [y](private.md), [z](../../../outside/private.md) and /other.\n\n```sh\nrm -rf /\n```\n",
    );
    scratch.write_file("skills/other/SKILL.md", SKILL.replace("name: pdf", "name: other"));
    scratch.write_file("skills/pdf/tests/cases/one.yaml", "name: one\ntool: fill\n");
    scratch.write_file("skills/pdf/scripts/fill.sh", "#!/bin/sh\ntouch /tmp/it-ran\n");
    std::os::unix::fs::symlink(&outside, file.with_file_name("private.md")).unwrap();
    let log = scratch.work_folder().with_file_name("trace");
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-e", TRACED, "-o"]).arg(&log).arg(super::super::rep());
    let mut client = LspClient::spawn_command(&scratch, command);
    let mut capabilities = full_capabilities();
    capabilities["workspace"].as_object_mut().unwrap().remove("didChangeWatchedFiles");
    client.initialize(&[scratch.work_folder()], &capabilities, &Value::Null);
    let text = client.open_file(&file);
    client.wait_version(&file, 1);
    client.replace(&file, 2, &format!("{text}\nMore.\n"));
    client.wait_version(&file, 2);
    let document = json!({ "textDocument": { "uri": uri(&file) } });
    let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 } });
    for line in 0..12 {
        for method in ["hover", "completion", "definition", "prepareRename", "documentHighlight"] {
            client.request_at(&format!("textDocument/{method}"), &file, (line, 7));
        }
    }
    for method in ["documentLink", "documentSymbol", "foldingRange", "semanticTokens/full"] {
        client.request(&format!("textDocument/{method}"), document.clone());
    }
    for method in ["inlayHint", "codeLens", "codeAction"] {
        let mut params = document.clone();
        (params["range"], params["context"]) = (range.clone(), json!({ "diagnostics": [] }));
        client.request(&format!("textDocument/{method}"), params);
    }
    client.respond_to("workspace/executeCommand", json!({ "command": "repertoire.runTests", "arguments": ["x"] }));
    let renamed = json!({ "files": [{ "oldUri": uri(&file), "newUri": uri(file.with_file_name("new.md")) }] });
    client.request("workspace/willRenameFiles", renamed);
    client.request("workspace/diagnostic", json!({ "previousResultIds": [] }));
    assert_eq!(client.shut_down(), 0);
    let trace = std::fs::read_to_string(&log).unwrap();
    let calls = |name: &str| trace.lines().filter(|line| line.contains(name)).collect::<Vec<_>>();
    assert_eq!(calls("execve(").len(), 1, "only strace starts a program: {:?}", calls("execve("));
    // A call that another thread interrupts has two lines; its arguments are in the first.
    let reads = |line: &&str| {
        (line.contains("openat(") && line.contains("O_RDONLY"))
            || ["execve(", "---", " resumed>"].iter().any(|part| line.contains(part))
    };
    let others: Vec<&str> = trace.lines().filter(|line| !reads(line) && line.contains('(')).collect();
    assert!(others.is_empty(), "{others:#?}");
    assert!(!calls("openat(").is_empty() && calls("outside/private").is_empty(), "{:?}", calls("outside/private"));
}
