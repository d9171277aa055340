//! `rep secrets`, `rep tasks` and `rep audit`: what the runtime keeps for its user.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, UNIX_EPOCH};

use insta::assert_snapshot;
use rep_runtime::task::{TaskCancelWatcher, TaskState, TaskStore};
use rep_sandbox::Cancel;
use rep_test_support::{DEADLINE, ProgramRun, ScratchFolder, wait_until};

use crate::policy::typed;
use crate::{json, rep, run, transcript};

fn kept(scratch: &ScratchFolder) -> PathBuf {
    scratch.work_folder().parent().expect("a scratch has a root").join("home/.local/share/repertoire")
}

pub(super) fn piped(scratch: &ScratchFolder, arguments: &[&str], input: &[u8]) -> ProgramRun {
    let mut child = Command::new(rep())
        .args(arguments)
        .current_dir(scratch.work_folder())
        .env("HOME", scratch.work_folder().parent().expect("a scratch has a root").join("home"))
        .env_remove("XDG_DATA_HOME")
        .env_remove("DBUS_SESSION_BUS_ADDRESS")
        .env_remove("XDG_RUNTIME_DIR")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary can be started");
    // A command that refuses early does not read.
    let _ = child.stdin.take().expect("stdin is a pipe").write_all(input);
    let output = child.wait_with_output().expect("the binary ends");
    ProgramRun {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

#[test]
fn secrets_are_kept_listed_by_name_and_forgotten() {
    let scratch = ScratchFolder::new();
    assert_eq!(json(&run(&scratch, &["secrets", "list", "--json"]))["secrets"], serde_json::json!([]));
    let set = piped(&scratch, &["secrets", "set", "OCR_KEY"], b"tops3cret\n");
    assert_eq!(set.code, 0, "{set:?}");
    let listed = run(&scratch, &["secrets", "list"]);
    assert_eq!((listed.code, listed.stdout.as_str()), (0, "OCR_KEY\n"));
    for entry in fs::read_dir(kept(&scratch)).unwrap() {
        let path = entry.unwrap().path();
        assert!(!String::from_utf8_lossy(&fs::read(&path).unwrap()).contains("tops3cret"), "{}", path.display());
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600, "{}", path.display());
    }
    assert_eq!(fs::metadata(kept(&scratch)).unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(run(&scratch, &["secrets", "rm", "OCR_KEY"]).code, 0);
    assert_eq!(run(&scratch, &["secrets", "rm", "OCR_KEY"]).code, 1);
    assert_eq!(run(&scratch, &["secrets", "list"]).stdout, "");
}

#[test]
fn a_secret_can_be_for_one_skill_alone() {
    let scratch = ScratchFolder::new();
    let fields = "spec_version: \"2.1\"\nversion: 1.0.0\nsecrets: {required: [{name: OCR_KEY, usage: env}]}\ntools:\n  - name: t\n    description: A tool.\n    input_schema: {type: object}\n    implementation: {runtime: bash, entrypoint: scripts/t.sh}\n";
    for name in ["one", "two"] {
        let text = format!("---\nname: {name}\ndescription: Does it. Use when testing.\n{fields}---\n\n# It\n");
        scratch.write_file(&format!("{name}/SKILL.md"), text);
        scratch.write_file(&format!("{name}/scripts/t.sh"), "echo '{}'\n");
    }
    assert_eq!(piped(&scratch, &["secrets", "set", "OCR_KEY", "--for", "one"], b"tops3cret").code, 0);
    assert_eq!(run(&scratch, &["secrets", "list"]).stdout, "OCR_KEY  for one\n");
    let one = run(&scratch, &["run", "./one:t", "--input", "{}", "--no-sandbox", "--yes"]);
    assert_eq!(one.code, 0, "{one:?}");
    let two = run(&scratch, &["run", "./two:t", "--input", "{}", "--no-sandbox", "--yes"]);
    assert_eq!((two.code, &json(&two)["error"]["code"]), (3, &serde_json::json!("SECRET_MISSING")), "{two:?}");
    let policy = run(&scratch, &["policy", "./two"]);
    assert!(policy.stdout.contains("stored for other skills only"), "{policy:?}");
    assert_eq!(piped(&scratch, &["secrets", "set", "OCR_KEY", "--for", "a\nb"], b"tops3cret").code, 2);
}

#[test]
fn bad_secrets_are_refused_and_nothing_is_kept() {
    let scratch = ScratchFolder::new();
    let large = vec![b'x'; 100_000];
    for (name, value) in [
        ("OCR_KEY", b"".as_slice()),
        ("OCR_KEY", b"\n"),
        ("OCR_KEY", b"a\0b"),
        ("OCR_KEY", b"\xff\xfe"),
        ("OCR_KEY", &large),
        ("LD_PRELOAD", b"x"),
        ("A=B", b"x"),
        ("", b"x"),
    ] {
        let set = piped(&scratch, &["secrets", "set", name, "--json"], value);
        assert_eq!(set.code, 2, "{name} {set:?}");
        assert_eq!(json(&set)["status"], "error");
    }
    // A value on the command line would be seen by everybody.
    assert_eq!(piped(&scratch, &["secrets", "set", "OCR_KEY", "value"], b"").code, 2);
    assert_eq!(run(&scratch, &["secrets", "list"]).stdout, "");
}

#[test]
fn a_secret_that_is_typed_is_not_shown() {
    let scratch = ScratchFolder::new();
    let (code, seen) = typed(&scratch, &["secrets", "set", "OCR_KEY"], "(hidden)", b"tops3cret\n");
    assert_eq!(code, 0, "{seen}");
    assert!(!seen.contains("tops3cret"), "{seen}");
    assert_eq!(run(&scratch, &["secrets", "list"]).stdout, "OCR_KEY\n");
    // The interrupt key gives up without a trace.
    let (code, seen) = typed(&scratch, &["secrets", "set", "OTHER"], "(hidden)", b"half\x03");
    assert_eq!(code, 2, "{seen}");
    assert_eq!(run(&scratch, &["secrets", "list"]).stdout, "OCR_KEY\n");
}

#[test]
fn tasks_are_seen_and_cancelled_from_another_process() {
    let scratch = ScratchFolder::new();
    assert_eq!(json(&run(&scratch, &["tasks", "list", "--json"]))["tasks"], serde_json::json!([]));
    // This process owns the task; the binary is the other one.
    let tasks = TaskStore::open(&kept(&scratch)).unwrap();
    let now = UNIX_EPOCH + Duration::from_hours(500_000);
    let task = tasks.create("forms", "fill", now).unwrap();
    let shown = json(&run(&scratch, &["tasks", "get", &task.id, "--json"]));
    assert_eq!((shown["status"].as_str(), shown["skill"].as_str()), (Some("running"), Some("forms")));
    let cancel = Cancel::default();
    let watch = TaskCancelWatcher::start(&kept(&scratch), &task.id, cancel.clone()).unwrap();
    assert_eq!(run(&scratch, &["tasks", "cancel", &task.id]).code, 0);
    wait_until("the task is cancelled", DEADLINE, || cancel.is_cancelled());
    drop(watch);
    assert!(tasks.finish(&task.id, TaskState::Cancelled, Some(&serde_json::json!({ "partial": 1 })), now).unwrap());
    let shown = json(&run(&scratch, &["tasks", "get", &task.id, "--json"]));
    assert_eq!((shown["status"].as_str(), shown["result"]["partial"].as_u64()), (Some("cancelled"), Some(1)));
    assert_eq!(run(&scratch, &["tasks", "cancel", &task.id]).code, 1);
    let missing = run(&scratch, &["tasks", "get", "task_none", "--json"]);
    assert_eq!((missing.code, json(&missing)["error"]["code"].as_str()), (2, Some("TASK_NOT_FOUND")));
    let mode = fs::metadata(kept(&scratch).join("tasks.db")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn the_record_is_shown_filtered_and_verified() {
    let scratch = ScratchFolder::new();
    let empty = run(&scratch, &["audit", "--json"]);
    assert_eq!((empty.code, json(&empty)["runs"].clone()), (0, serde_json::json!([])));
    assert_eq!(run(&scratch, &["audit", "verify"]).code, 0);
    assert_eq!(run(&scratch, &["audit", "--since", "yesterday"]).code, 2);
    // A chain written by hand from the documented form, so that the form cannot change unnoticed.
    fs::create_dir_all(kept(&scratch)).unwrap();
    fs::write(kept(&scratch).join("audit.jsonl"), LOG).unwrap();
    fs::write(kept(&scratch).join("audit.head"), HEAD).unwrap();
    for name in ["audit.jsonl", "audit.head"] {
        fs::set_permissions(kept(&scratch).join(name), fs::Permissions::from_mode(0o600)).unwrap();
    }
    let verified = run(&scratch, &["audit", "verify", "--json"]);
    assert_eq!((verified.code, json(&verified)["records"].as_u64()), (0, Some(3)), "{verified:?}");
    let shown = json(&run(&scratch, &["audit", "--json", "--skill", "forms"]));
    let states: Vec<&str> =
        shown["runs"].as_array().unwrap().iter().map(|run| run["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["ended", "cut short"]);
    assert_eq!(shown["runs"][0]["outcome"], "ok");
    assert_eq!(shown["runs"][0]["ended_at"], "2026-11-15T13:00:01.000Z");
    let later = json(&run(&scratch, &["audit", "--json", "--since", "2026-11-16"]));
    assert_eq!(later["runs"].as_array().unwrap().len(), 1);
    assert_snapshot!(transcript(&scratch, &run(&scratch, &["audit"])), @"
    exit code 0
    --- stdout ---
    2026-11-15 13:00:00.000  forms:fill  ended ok  1000 ms  ada
        denied: read secret.txt
    2026-11-16 09:30:00.000  pkg:forms:fill  cut short  ada
    --- stderr ---
    2 runs
    ");
    fs::write(kept(&scratch).join("audit.jsonl"), LOG.replace("\"ok\"", "\"no\"")).unwrap();
    let verified = run(&scratch, &["audit", "verify"]);
    assert_snapshot!(transcript(&scratch, &verified), @"
    exit code 1
    --- stdout ---
    line 2: invalid or modified record
    line 3: record 2 is missing
    --- stderr ---
    1 record in `[HOME]/.local/share/repertoire/audit.jsonl`, not intact
    0 records in `[HOME]/.local/share/repertoire/calls.jsonl`, intact
    ");
    let cut: String = LOG.split_inclusive('\n').take(2).collect();
    fs::write(kept(&scratch).join("audit.jsonl"), cut).unwrap();
    let verified = run(&scratch, &["audit", "verify"]);
    assert_snapshot!(transcript(&scratch, &verified), @"
    exit code 1
    --- stdout ---
    record 3 is missing at the end
    --- stderr ---
    2 records in `[HOME]/.local/share/repertoire/audit.jsonl`, not intact
    0 records in `[HOME]/.local/share/repertoire/calls.jsonl`, intact
    ");
}

const LOG: &str = r#"{"v":1,"seq":1,"prev":"0000000000000000000000000000000000000000000000000000000000000000","at":"2026-11-15T13:00:00.000Z","kind":"start","run":"aa","who":"ada","skill":"forms","tool":"fill","hash":"16025ca348dd9400ebcd0afdc1302f99f6fb42ed7e102e9772453f947aa06f09"}
{"v":1,"seq":2,"prev":"16025ca348dd9400ebcd0afdc1302f99f6fb42ed7e102e9772453f947aa06f09","at":"2026-11-15T13:00:01.000Z","kind":"end","run":"aa","skill":"forms","tool":"fill","outcome":"ok","denials":[{"action":"read","target":"secret.txt"}],"duration_ms":1000,"hash":"e1a088ae89a7d5f35a5ee46202aec47c46dc0b0f8d221e3136dcba1c27a477ce"}
{"v":1,"seq":3,"prev":"e1a088ae89a7d5f35a5ee46202aec47c46dc0b0f8d221e3136dcba1c27a477ce","at":"2026-11-16T09:30:00.000Z","kind":"start","run":"bb","who":"ada","skill":"pkg:forms","tool":"fill","pid":1,"pid_started":"0@none","hash":"bbaa0d94e3d570eff5eb855726b6882944dbc86dff4edc4776e7afb7815e8b10"}
"#;

const HEAD: &str = r#"{"v":1,"seq":3,"hash":"bbaa0d94e3d570eff5eb855726b6882944dbc86dff4edc4776e7afb7815e8b10","bytes":899}
"#;
