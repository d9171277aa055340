//! The record of what clients ask the server.

use std::fs;
use std::path::{Path, PathBuf};

use rep_test_support::{DEADLINE, ScratchFolder, wait_for, wait_until};
use rustix::fs::{CWD, RenameFlags};
use serde_json::{Value, json};

use super::serve::{Client, ERAS, Era, PATH, library, start};
use super::serve_http::{ask_new, listening};
use super::serve_runs::{RUN, tools};
use super::{json as parsed, run};

fn kept(scratch: &ScratchFolder) -> PathBuf {
    scratch.work_folder().parent().expect("a scratch has a root").join("home/.local/share/repertoire")
}

/// Lets a client go, and waits for the end of its server.
fn end(mut client: Client) {
    drop(client.input.take());
    assert!(client.server.child.wait().expect("the server ends").success());
}

fn calls(scratch: &ScratchFolder, more: &[&str]) -> Vec<Value> {
    let told = parsed(&run(scratch, &[&["audit", "--calls", "--json"], more].concat()));
    told["calls"].as_array().expect("a list of calls").clone()
}

#[test]
fn every_call_is_on_record_with_who_made_it_and_what_came_of_it() {
    for era in ERAS {
        let scratch = ScratchFolder::new();
        library(&scratch);
        let mut client = Client::new(&scratch, &PATH, era);
        client.ask("tools/list", json!({}));
        client.ask("skills/list", json!({}));
        client.ask("resources/templates/list", json!({}));
        client.ask("tools/call", json!({ "name": "load_skill", "arguments": { "name": "pdf" } }));
        client.ask("tools/call", json!({ "name": "search_skills", "arguments": { "text": "my own words" } }));
        client.ask("tools/call", json!({ "name": "load_skill", "arguments": { "name": "nowhere" } }));
        client.ask("tools/call", json!({ "name": "query_skill", "arguments": { "query": "pdf:constraints.never" } }));
        client.ask("resources/read", json!({ "uri": "skill://pdf/SKILL.md" }));
        client.ask("resources/read", json!({ "uri": "skill://pdf/none.md" }));
        end(client);
        let mut calls = calls(&scratch, &[]);
        if era == Era::Old {
            assert_eq!(calls.remove(0)["method"], "initialize");
        }
        let text = |call: &Value, field: &str| call[field].as_str().unwrap_or_default().to_owned();
        let told: Vec<String> = calls
            .iter()
            .map(|call| {
                format!(
                    "{} {} | {} | {}",
                    text(call, "method"),
                    text(call, "target"),
                    text(call, "skill"),
                    text(call, "outcome")
                )
            })
            .collect();
        let missing = told.last().expect("there are calls").rsplit(' ').next().expect("a code").to_owned();
        assert!(missing.starts_with("-32"), "{told:?}");
        assert_eq!(
            told,
            [
                "tools/list  |  | ok".to_owned(),
                "skills/list  |  | ok".to_owned(),
                "resources/templates/list  |  | ok".to_owned(),
                "tools/call load_skill pdf | pdf | ok".to_owned(),
                "tools/call search_skills |  | ok".to_owned(),
                "tools/call load_skill |  | SKILL_NOT_FOUND".to_owned(),
                "tools/call query_skill pdf:constraints.never | pdf | PATH_NOT_FOUND".to_owned(),
                "resources/read skill://pdf/SKILL.md | pdf | ok".to_owned(),
                format!("resources/read skill://pdf/none.md | pdf | {missing}"),
            ],
            "{era:?}"
        );
        assert!(calls.iter().all(|call| call["who"] == "test 1"), "{calls:?}");
        // What was looked for is the user's own, and so is what names no skill: its digest is kept, and it is not.
        let record = fs::read_to_string(kept(&scratch).join("calls.jsonl")).unwrap();
        assert!(!record.contains("my own words") && !record.contains("nowhere"));
        assert!(calls[4]["input_digest"].is_string());
        let of_one = self::calls(&scratch, &["--skill", "pdf"]);
        assert_eq!(of_one.len(), 4);
        let shown = run(&scratch, &["audit", "--calls"]);
        assert!(shown.stdout.contains(" ms  \"test 1\"  tools/call load_skill pdf\n"), "{shown:?}");
        // They are no runs.
        assert_eq!(parsed(&run(&scratch, &["audit", "--json"]))["runs"], json!([]));
    }
}

/// The full files of the record, oldest first.
fn full_files(record: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(record.parent().expect("it is in a folder")).expect("the folder is there");
    let paths = entries.map(|entry| entry.expect("the folder is there").path());
    let is_full = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("calls-"));
    let mut full: Vec<PathBuf> = paths.filter(is_full).collect();
    full.sort();
    full
}

/// Calls with long texts until another file of the record is full.
pub(super) fn fill_record(scratch: &ScratchFolder, arguments: &[&str], record: &Path) {
    let before = full_files(record);
    let mut client = Client::new(scratch, &[&PATH[..], arguments].concat(), Era::New);
    let long = "\u{1F600}".repeat(300);
    while full_files(record) == before {
        for _ in 0..50 {
            let answer = client.ask(&format!("{}/{long}", before.len()), json!({ "uri": long }));
            assert!(answer["error"].is_object(), "{answer}");
        }
    }
    end(client);
}

#[test]
fn a_full_record_is_continued_in_another_file_while_the_server_runs() {
    let scratch = ScratchFolder::new();
    library(&scratch);
    let file = kept(&scratch).join("calls.jsonl");
    fs::create_dir_all(kept(&scratch)).unwrap();
    let rotation = ["--record-size", "1", "--record-keep", "2"];
    fill_record(&scratch, &rotation, &file);
    fill_record(&scratch, &rotation, &file);
    let [first, second] = full_files(&file).try_into().expect("two files are full");
    assert!(first.metadata().unwrap().len() >= 1 << 20);
    let records = |path: &Path| fs::read_to_string(path).unwrap().lines().count() as u64;
    let total = records(&first) + records(&second) + records(&file);
    let verdict = |intact: bool| {
        let verdict = parsed(&run(&scratch, &["audit", "verify", "--json"]));
        assert_eq!(verdict["intact"], intact, "{verdict}");
        verdict
    };
    assert_eq!((&verdict(true)["records_of_calls"], &verdict(true)["notes"]), (&json!(total), &json!([])));
    // Every call is shown, whichever file it is in.
    let shown = calls(&scratch, &[]);
    assert!(shown[0]["method"].as_str().unwrap().starts_with("0/"), "{}", shown[0]);
    assert!(shown.last().unwrap()["method"].as_str().unwrap().starts_with("1/"));
    assert_eq!(shown.len() as u64, total - 4, "two servers started, and two files continue another one");
    // The oldest file gives way to the third one, and the rest is still one chain.
    fill_record(&scratch, &rotation, &file);
    assert!(!first.exists() && second.exists());
    let note = verdict(true)["notes"][0].as_str().unwrap().to_owned();
    assert!(note.contains("are in files that were moved away"), "{note}");
    // A file that is missing in the middle is a fault, and so is a changed one.
    let newest = full_files(&file).pop().unwrap();
    let aside = newest.with_extension("aside");
    fs::rename(&newest, &aside).unwrap();
    assert!(verdict(false)["faults"][0].as_str().unwrap().contains("missing"));
    let changed = fs::read_to_string(&aside).unwrap().replacen("\"outcome\":\"-32601\"", "\"outcome\":\"ok\"", 1);
    fs::write(&newest, changed).unwrap();
    assert!(verdict(false)["faults"][0].as_str().unwrap().contains("calls-"));
    fs::rename(&aside, &newest).unwrap();
    verdict(true);
}

#[test]
fn a_record_of_calls_that_was_changed_is_found() {
    let scratch = ScratchFolder::new();
    library(&scratch);
    let mut client = Client::new(&scratch, &PATH, Era::New);
    client.ask("tools/list", json!({}));
    client.ask("skills/list", json!({}));
    end(client);
    let intact = parsed(&run(&scratch, &["audit", "verify", "--json"]));
    // The first says that a server began.
    assert_eq!((&intact["intact"], &intact["records_of_calls"]), (&json!(true), &json!(3)), "{intact}");
    let file = kept(&scratch).join("calls.jsonl");
    let changed = fs::read_to_string(&file).unwrap().replace("tools/list", "tools/lost");
    fs::write(&file, changed).unwrap();
    let verdict = run(&scratch, &["audit", "verify"]);
    assert_eq!(verdict.code, 1, "{verdict:?}");
    assert!(verdict.stdout.contains("calls: line 2: invalid or modified record"), "{verdict:?}");
}

#[test]
fn the_record_tells_tokens_apart_and_holds_none() {
    let scratch = ScratchFolder::new();
    tools(&scratch);
    let tokens = ["first-0123456789abcdef", "second-0123456789abcdef"];
    scratch.write_file("tokens.txt", tokens.join("\n"));
    let (mut server, address) = listening(&scratch, &[&RUN[..], &["--token-file", "tokens.txt"]].concat());
    for token in tokens {
        let bearer = format!("Bearer {token}");
        let headers = [("Authorization", bearer.as_str()), ("X-Request-Id", "named-by-me")];
        let done = ask_new(&address, "tools/call", json!({ "name": "plain__echo", "arguments": {} }), &headers);
        assert_eq!(done.message()["result"]["structuredContent"], json!({ "ok": true }), "{done:?}");
    }
    ask_to_end(server.child.id());
    assert!(server.child.wait().expect("the server ends").success());
    let calls = calls(&scratch, &[]);
    let who = |call: &Value| call["who"].as_str().expect("somebody").to_owned();
    assert_eq!(calls.len(), 2, "{calls:?}");
    let bearer = |call: &Value| call["bearer"].as_str().expect("a token").to_owned();
    assert!(calls.iter().all(|call| bearer(call).starts_with("token ") && call["request"] == "named-by-me"));
    assert!(calls.iter().all(|call| who(call) == "test 1"), "{calls:?}");
    assert!(calls.iter().all(|call| call["skill"] == "plain"), "{calls:?}");
    assert_ne!(bearer(&calls[0]), bearer(&calls[1]));
    // A run says for whom, in the same words.
    let runs = parsed(&run(&scratch, &["audit", "--json"]));
    for (run, call) in runs["runs"].as_array().unwrap().iter().zip(&calls) {
        let told = format!(" for {}, a client that calls itself \"test 1\"", bearer(call));
        assert!(who(run).ends_with(&told), "{run} {call}");
    }
    for file in ["calls.jsonl", "audit.jsonl"] {
        let record = fs::read_to_string(kept(&scratch).join(file)).unwrap();
        assert!(tokens.iter().all(|token| !record.contains(token)), "{file}");
    }
}

/// Asks a process to end.
fn ask_to_end(id: u32) {
    let id = rustix::process::Pid::from_raw(i32::try_from(id).expect("a small number")).expect("a process");
    rustix::process::kill_process(id, rustix::process::Signal::TERM).expect("the server is there");
}

/// Replaces the record of a running server by a directory, in one step: after a removal the server could create the file again.
fn replace_by_directory(file: &Path) {
    let aside = file.with_extension("aside");
    fs::create_dir(&aside).expect("the folder is there");
    rustix::fs::renameat_with(CWD, &aside, CWD, file, RenameFlags::EXCHANGE).expect("both are there");
    fs::remove_file(&aside).expect("the record is there");
}

/// Calls until the answer has this field, and returns the answer.
fn wait_for_answer(client: &mut Client, field: &str) -> Value {
    wait_for(&format!("the answer has the field `{field}`"), DEADLINE, || {
        let answer = client.ask("tools/list", json!({}));
        answer[field].is_object().then_some(answer)
    })
}

#[test]
fn what_cannot_be_recorded_is_not_answered() {
    let scratch = ScratchFolder::new();
    library(&scratch);
    let file = kept(&scratch).join("calls.jsonl");
    fs::create_dir_all(&file).unwrap();
    let refused = start(&scratch, &PATH).output().expect("the binary can be started");
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(said.contains("calls.jsonl") && said.contains("--no-record"), "{said}");
    let mut client = Client::new(&scratch, &[&PATH[..], &["--no-record"]].concat(), Era::New);
    assert!(client.ask("tools/list", json!({}))["result"].is_object());
    end(client);
    fs::remove_dir(&file).unwrap();

    let mut client = Client::new(&scratch, &PATH, Era::New);
    assert!(client.ask("tools/list", json!({}))["result"].is_object());
    replace_by_directory(&file);
    let error = wait_for_answer(&mut client, "error");
    assert!(error["error"]["message"].as_str().unwrap().contains("cannot record"), "{error}");
    assert!(!error.to_string().contains("calls.jsonl"), "{error}");
    fs::remove_dir(&file).unwrap();
    wait_for_answer(&mut client, "result");
    end(client);
}

#[test]
fn nothing_runs_that_could_not_be_recorded_and_the_end_comes_all_the_same() {
    let scratch = ScratchFolder::new();
    tools(&scratch);
    let mut client = Client::new(&scratch, &RUN, Era::New);
    assert!(client.ask("tools/list", json!({}))["result"].is_object());
    let file = kept(&scratch).join("calls.jsonl");
    replace_by_directory(&file);
    wait_for_answer(&mut client, "error");
    let error = client.ask("tools/call", json!({ "name": "plain__forever", "arguments": {} }));
    assert!(error["error"]["message"].as_str().unwrap().contains("cannot record"), "{error}");
    assert!(!scratch.work_folder().join("begun").exists());
    // What was answered before anybody knew is counted at the end.
    drop(client.input.take());
    assert_eq!(client.server.child.wait().expect("the server ends").code(), Some(2));
}

#[test]
fn who_holds_the_record_back_does_not_hold_the_server() {
    let scratch = ScratchFolder::new();
    library(&scratch);
    let mut client = Client::new(&scratch, &PATH, Era::New);
    assert!(client.ask("tools/list", json!({}))["result"].is_object());
    let lock = fs::File::open(kept(&scratch).join("calls.lock")).unwrap();
    lock.lock().unwrap();
    for _ in 0..20 {
        assert!(client.ask("tools/list", json!({}))["result"].is_object());
    }
    drop(client.input.take());
    assert_eq!(client.server.child.wait().expect("the server ends").code(), Some(2));
}

#[test]
fn calls_that_go_on_when_the_server_is_ended_are_on_record() {
    let scratch = ScratchFolder::new();
    tools(&scratch);
    let (mut server, address) = listening(&scratch, &RUN);
    let going: Vec<_> = (0..3)
        .map(|_| {
            let address = address.clone();
            std::thread::spawn(move || {
                ask_new(&address, "tools/call", json!({ "name": "plain__forever", "arguments": {} }), &[])
            })
        })
        .collect();
    let runs = || parsed(&run(&scratch, &["audit", "--json"]))["runs"].as_array().map_or(0, Vec::len);
    wait_until("three runs are on record", DEADLINE, || runs() == 3);
    ask_to_end(server.child.id());
    assert!(server.child.wait().expect("the server ends").success());
    for call in going {
        drop(call.join());
    }
    let calls = calls(&scratch, &[]);
    assert_eq!(calls.iter().filter(|call| call["target"] == "plain__forever").count(), 3, "{calls:?}");
}

/// The resident memory of a process, in MiB.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn resident_mib(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).expect("the server is there");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("the kernel tells the memory");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("it is a number") / 1024
}

/// Without limits on the heaps of the C library, every thread keeps what its largest answers needed: 23 MiB more after
/// as many calls, instead of 11.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[test]
fn memory_does_not_depend_on_how_many_threads_have_answered() {
    const SKILLS: usize = 60;
    const CLIENTS: usize = 16;
    const CALLS: usize = 64;
    let scratch = ScratchFolder::new();
    let write = |number: usize, turn: usize| {
        let body = format!("Step {turn} of task {number}, with words to search for.\n").repeat(150);
        let front = format!("---\nname: skill-{number}\ndescription: Does task {number}. Use when testing.\n---\n\n");
        scratch.write_file(&format!("skills/skill-{number}/SKILL.md"), front + &body);
    };
    (0..SKILLS).for_each(|number| write(number, 0));
    let (server, address) = listening(&scratch, &["--path", "skills"]);
    let ask = |client: usize, call: usize| {
        let name = format!("skill-{}", (client * 7 + call) % SKILLS);
        let tool = |name: &str, arguments: Value| ("tools/call", json!({ "name": name, "arguments": arguments }));
        let (method, params) = match call % 4 {
            0 => ("skills/list", json!({})),
            1 => tool("search_skills", json!({ "text": format!("task {call}") })),
            2 => tool("load_skill", json!({ "name": name })),
            _ => ("resources/read", json!({ "uri": format!("skill://{name}/SKILL.md") })),
        };
        let answer = ask_new(&address, method, params, &[]);
        assert_eq!(answer.status, 200, "{method}: {answer:?}");
    };
    (0..4).for_each(|call| ask(0, call));
    let before = resident_mib(server.child.id());
    std::thread::scope(|threads| {
        for client in 0..CLIENTS {
            let ask = &ask;
            threads.spawn(move || (0..CALLS).for_each(|call| ask(client, call)));
        }
        threads.spawn(|| (0..10).for_each(|number| write(number, 1)));
    });
    let after = resident_mib(server.child.id());
    assert!(after <= before + 17, "{before} MiB became {after} MiB");
}
