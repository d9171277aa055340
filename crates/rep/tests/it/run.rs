use std::io::{Read, Write};
use std::process::{Command, Stdio};

use insta::assert_snapshot;
use rep_test_support::{DEADLINE, ProgramRun, ScratchFolder, is_program_installed, wait_for, wait_until};
use serde_json::{Value, json};

use super::{json, rep, run, transcript};

/// A skill with bash tools: name and script.
pub(super) fn skill(scratch: &ScratchFolder, name: &str, more: &str, tools: &[(&str, &str)]) {
    let mut listed = String::new();
    for (tool, script) in tools {
        scratch.write_file(&format!("{name}/scripts/{tool}.sh"), script);
        listed.push_str(&format!(
            "  - name: {tool}\n    description: A tool for a test.\n    input_schema: {{type: object}}\n    implementation: {{runtime: bash, entrypoint: scripts/{tool}.sh}}\n"
        ));
    }
    let text = format!(
        "---\nname: {name}\ndescription: Runs tools. Use when testing tools.\nspec_version: \"2.1\"\nversion: 1.0.0\nsafety: {{require_confirmation_for: [destructive_writes], redact: {{secrets: true, pii: true}}}}\n{more}tools:\n{listed}---\n\n# Tools\n"
    );
    scratch.write_file(&format!("{name}/SKILL.md"), text);
}

/// The runtimes that are installed. Says aloud which are not; in CI, that is a failure.
pub(super) fn installed() -> Vec<&'static str> {
    let all = [("python", "python3"), ("node", "node"), ("bash", "bash")];
    all.into_iter().filter(|(_, program)| is_program_installed(program)).map(|(runtime, _)| runtime).collect()
}

fn code(run: &ProgramRun) -> Value {
    json(run)["error"]["code"].clone()
}

#[test]
fn a_tool_of_each_runtime_runs_from_its_scaffold() {
    let scratch = ScratchFolder::new();
    for runtime in installed() {
        run(&scratch, &["init", runtime, "--tool", runtime]);
        let target = format!("./{runtime}:count-words");
        let path = std::env::var("PATH").unwrap();
        let real_home = std::env::var("HOME").unwrap_or_default();
        let input = r#"{"text": "one two three"}"#;
        // The home of the test has no versions of interpreters; shims on the path need the real one.
        let environment = [("PATH", path.as_str()), ("HOME", real_home.as_str())];
        let arguments = ["run", &target, "--input", input, "--no-sandbox"];
        let found = scratch.run_with_environment(rep(), &arguments, &environment);
        assert_eq!((found.code, json(&found)), (0, json!({"words": 3})), "{found:?}");
        assert!(found.stderr.contains("WITHOUT a sandbox"), "{found:?}");
    }
}

#[test]
fn arguments_come_from_the_line_a_file_or_stdin() {
    let scratch = ScratchFolder::new();
    skill(&scratch, "echo", "", &[("echo", "IFS= read -r line; printf '%s' \"$line\"\n")]);
    scratch.write_file("args.json", "{\"from\": \"file\"}");
    let call = |input: &str| run(&scratch, &["run", "./echo:echo", "--input", input, "--no-sandbox"]);
    assert_eq!(json(&call("{\"from\": \"line\"}"))["from"], "line");
    assert_eq!(json(&call("@args.json"))["from"], "file");
    assert_eq!(json(&run(&scratch, &["run", "./echo:echo", "--no-sandbox"])), json!({}));
    for (input, code_wanted) in [("{", "INVALID_ARGUMENT"), ("@none.json", "UNREADABLE"), ("-", "INVALID_ARGUMENT")] {
        let found = call(input);
        assert_eq!((found.code, code(&found)), (2, code_wanted.into()), "{found:?}");
    }
    let found = call("[1]");
    assert_eq!((found.code, code(&found)), (3, "INVALID_ARGUMENT".into()), "{found:?}");
    // `--json` prints the same document, and nothing about the error elsewhere.
    let quiet = run(&scratch, &["run", "./echo:echo", "--input", "[1]", "--no-sandbox", "--json"]);
    assert_eq!((quiet.code, &quiet.stdout), (3, &found.stdout));
    assert!(found.stderr.contains("do not match") && !quiet.stderr.contains("do not match"), "{quiet:?}");
    let result = run(&scratch, &["run", "./echo:echo", "--input", "{\"a\": 1}", "--no-sandbox", "--json"]);
    assert_eq!((result.code, json(&result)), (0, json!({ "a": 1 })));
    let missing = run(&scratch, &["run", "./echo:nothing", "--json"]);
    assert_eq!(json(&missing)["status"], "error", "{missing:?}");
    let mut child = Command::new(rep())
        .args(["run", "./echo:echo", "--input", "-", "--no-sandbox"])
        .current_dir(scratch.work_folder())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"{\"from\": \"stdin\"}").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&output.stdout).unwrap()["from"], "stdin");
}

#[test]
fn exit_codes_say_who_failed() {
    let scratch = ScratchFolder::new();
    skill(
        &scratch,
        "ends",
        "",
        &[
            ("fail", "exit 7\n"),
            ("task", "echo '{\"status\":\"async\",\"task\":{\"id\":\"t1\",\"status\":\"running\"}}'\n"),
        ],
    );
    let call = |tool: &str, more: &[&str]| run(&scratch, &[&["run", &format!("./ends:{tool}")], more].concat());
    let failed = call("fail", &["--no-sandbox"]);
    assert_eq!((failed.code, code(&failed)), (4, "TOOL_FAILED".into()), "{failed:?}");
    let task = call("task", &["--no-sandbox"]);
    assert_eq!((task.code, &json(&task)["task"]["id"]), (0, &"t1".into()), "{task:?}");
    let missing = call("none", &["--no-sandbox"]);
    assert_eq!((missing.code, code(&missing)), (2, "TOOL_NOT_FOUND".into()), "{missing:?}");
    assert!(missing.stderr.contains("its tools: fail, task"), "{missing:?}");
    for target in ["./ends", "./ends:", ":fail", "./none:fail", "nobody:fail"] {
        assert_eq!(run(&scratch, &["run", target, "--no-sandbox"]).code, 2, "{target}");
    }
}

#[test]
fn a_plan_is_shown_and_nothing_is_run() {
    let scratch = ScratchFolder::new();
    skill(&scratch, "plans", "", &[("mark", "echo > marked; echo '{}'\n")]);
    let found = run(&scratch, &["run", "./plans:mark", "--dry-run", "--timeout", "5"]);
    let plan = json(&found);
    let digest = plan["digest"].as_str().expect("a plan has a digest");
    assert_snapshot!(transcript(&scratch, &found).replace(digest, "[DIGEST]"), @r#"
    exit code 0
    --- stdout ---
    {
      "skill": "plans",
      "digest": "[DIGEST]",
      "folder": "[WORK]/plans",
      "tool": "mark",
      "workspace": "[WORK]",
      "input": {},
      "sandbox": true,
      "policy": {
        "permissions": {
          "filesystem": {
            "read": [],
            "write": []
          },
          "network": {
            "outbound": []
          },
          "processes": {
            "allow_subprocess": false
          }
        },
        "confirm": [
          "destructive_writes"
        ],
        "prompt": null,
        "redact": {
          "secrets": true,
          "pii": true
        },
        "secrets": [],
        "limits": {
          "timeout_ms": 5000,
          "grace_ms": 2000,
          "cpu_s": 60,
          "memory_bytes": 1073741824,
          "processes": 128,
          "open_files": 1024,
          "file_bytes": 1073741824,
          "temporary_bytes": 268435456,
          "output_bytes": 8388608
        }
      },
      "ignored": [],
      "runtime": "bash",
      "entrypoint": "scripts/mark.sh",
      "handler": "handler",
      "typescript_runner": null,
      "dependencies": []
    }
    "#);
    assert!(!scratch.work_folder().join("marked").exists());
    run(&scratch, &["run", "./plans:mark", "--no-sandbox"]);
    assert!(scratch.work_folder().join("marked").exists(), "the workspace is the current folder");
    scratch.write_file("elsewhere/x", "");
    run(&scratch, &["run", "./plans:mark", "--no-sandbox", "--workspace", "elsewhere"]);
    assert!(scratch.work_folder().join("elsewhere/marked").exists());
}

#[test]
fn consent_and_secrets_are_asked_for_before_anything_runs() {
    let scratch = ScratchFolder::new();
    let more = "permissions: {filesystem: {write: ['out/**']}}\nsecrets: {required: [{name: A_KEY, usage: env}]}\n";
    skill(&scratch, "asks", more, &[("mark", "echo > marked; printf '{\"key\": \"%s\"}' \"$A_KEY\"\n")]);
    let call = |more: &[&str], environment: &[(&str, &str)]| {
        scratch.run_with_environment(rep(), &[&["run", "./asks:mark", "--no-sandbox"], more].concat(), environment)
    };
    let key = [("A_KEY", "sk-very-secret")];
    let unasked = call(&[], &key);
    assert_snapshot!(transcript(&scratch, &unasked), @r#"
    exit code 3
    --- stdout ---
    {
      "status": "error",
      "error": {
        "code": "CONFIRMATION_REQUIRED",
        "message": "`asks:mark` needs confirmation (destructive_writes), and no prompt is available",
        "retriable": false,
        "remedy": "pass `--yes` or run it in a terminal"
      }
    }
    --- stderr ---
    warning: running WITHOUT a sandbox: the tool has all your permissions
    error: CONFIRMATION_REQUIRED: `asks:mark` needs confirmation (destructive_writes), and no prompt is available
    help: pass `--yes` or run it in a terminal
    "#);
    let without = call(&["--yes"], &[]);
    assert_snapshot!(transcript(&scratch, &without), @r#"
    exit code 3
    --- stdout ---
    {
      "status": "error",
      "error": {
        "code": "SECRET_MISSING",
        "message": "`asks` needs the secret `A_KEY`, which is not set",
        "retriable": false,
        "remedy": "run `rep secrets set A_KEY`, or set A_KEY in the environment; `rep secrets list` shows the skills of each"
      }
    }
    --- stderr ---
    warning: running WITHOUT a sandbox: the tool has all your permissions
    error: SECRET_MISSING: `asks` needs the secret `A_KEY`, which is not set
    help: run `rep secrets set A_KEY`, or set A_KEY in the environment; `rep secrets list` shows the skills of each
    "#);
    assert!(!scratch.work_folder().join("marked").exists());
    let given = call(&["--yes", "--json-meta", "meta.json"], &key);
    assert_eq!((given.code, json(&given)), (0, json!({"key": "[redacted:A_KEY]"})), "{given:?}");
    assert!(
        given.stderr.contains("`./asks:mark` received the secrets: A_KEY"),
        "who got which secret is told: {given:?}"
    );
    let meta: Value = serde_json::from_str(&scratch.read_file("meta.json")).unwrap();
    assert_eq!((&meta["executed"], &meta["layers"][0]["name"]), (&true.into(), &"none".into()), "{meta}");
}

#[test]
fn tools_call_tools_and_not_in_circles() {
    let scratch = ScratchFolder::new();
    let ask = |tool: &str| {
        format!(
            "echo '{{\"tool\":\"{tool}\",\"args\":{{}}}}' >&$REP_CHANNEL; read -r answer <&$REP_CHANNEL\nprintf '%s' \"$answer\"\n"
        )
    };
    skill(
        &scratch,
        "first",
        "",
        &[
            ("to-own", &ask("leaf")),
            ("to-other", &ask("second:leaf")),
            ("to-circle", &ask("second:back")),
            ("to-none", &ask("third:leaf")),
            ("to-path", &ask("./second:leaf")),
            ("leaf", "echo '{\"leaf\": 1}'\n"),
        ],
    );
    skill(
        &scratch,
        "second",
        "",
        &[("leaf", "echo deep talk >&2; echo '{\"leaf\": 2}'\n"), ("back", &ask("first:to-circle"))],
    );
    let call = |tool: &str| {
        let target = format!("first:{tool}");
        run(
            &scratch,
            &["run", &target, "--path", "first", "--path", "second", "--no-sandbox", "--json-meta", "meta.json"],
        )
    };
    assert_eq!(json(&call("to-own")), json!({"result": {"leaf": 1}}));
    let other = call("to-other");
    assert_eq!(json(&other), json!({"result": {"leaf": 2}}));
    assert!(other.stderr.contains("deep talk"), "{other:?}");
    let meta: Value = serde_json::from_str(&scratch.read_file("meta.json")).unwrap();
    assert_eq!(meta["calls"][0]["tool"], "second:leaf");
    let circle = json(&call("to-circle"));
    assert_eq!(circle["result"]["error"]["code"], "CALL_CYCLE", "{circle}");
    for tool in ["to-none", "to-path"] {
        assert_eq!(json(&call(tool))["error"]["code"], "TOOL_NOT_FOUND", "{tool}");
    }
}

#[test]
fn an_interrupt_ends_the_tool_and_is_told() {
    let scratch = ScratchFolder::new();
    skill(
        &scratch,
        "waits",
        "",
        &[("wait", "trap 'echo > cleaned; exit 1' TERM\necho > begun\nwhile true; do sleep 0.05; done\n")],
    );
    let pipe = scratch.work_folder().join("begun");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let child = Command::new(rep())
        .args(["run", "./waits:wait", "--no-sandbox"])
        .current_dir(scratch.work_folder())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::fs::File::open(&pipe).unwrap().read_to_end(&mut Vec::new()).unwrap();
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    assert_eq!(serde_json::from_slice::<Value>(&output.stdout).unwrap()["error"]["code"], "CANCELLED");
    assert!(scratch.work_folder().join("cleaned").exists());
}

#[test]
fn untrusted_skills_are_not_run() {
    let scratch = ScratchFolder::new();
    skill(&scratch, ".claude/skills/theirs", "", &[("mark", "echo > marked; echo '{}'\n")]);
    let text = scratch.read_file(".claude/skills/theirs/SKILL.md").replace(".claude/skills/theirs", "theirs");
    scratch.write_file(".claude/skills/theirs/SKILL.md", text);
    let found = run(&scratch, &["run", "theirs:mark", "--no-sandbox"]);
    assert_eq!((found.code, code(&found)), (3, "UNTRUSTED".into()), "{found:?}");
    let trusted = run(&scratch, &["run", "theirs:mark", "--no-sandbox", "--trust"]);
    assert_eq!(trusted.code, 0, "{trusted:?}");
}

/// Where interpreters are found: shims on the path need the real home.
pub(super) fn environment() -> Vec<(String, String)> {
    let path = std::env::var("PATH").unwrap_or_default();
    let home = std::env::var("HOME").unwrap_or_default();
    vec![("PATH".to_owned(), path), ("HOME".to_owned(), home)]
}

/// Runs a tool in the sandbox.
pub(super) fn sandboxed(scratch: &ScratchFolder, target: &str, more: &[&str]) -> ProgramRun {
    scratch.run_with_environment(rep(), &[&["run", target, "--yes", "--json-meta", "meta.json"], more].concat(), &[])
}

fn meta(scratch: &ScratchFolder) -> Value {
    serde_json::from_str(&scratch.read_file("meta.json")).expect("the run wrote how it went")
}

#[test]
fn a_tool_of_each_runtime_runs_in_the_sandbox() {
    let scratch = ScratchFolder::new();
    let environment = environment();
    let data = scratch.work_folder().join("data").display().to_string();
    let mut environment: Vec<(&str, &str)> =
        environment.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    environment.push(("XDG_DATA_HOME", &data));
    for runtime in installed() {
        run(&scratch, &["init", runtime, "--tool", runtime]);
        let target = format!("./{runtime}:count-words");
        let input = r#"{"text": "one two three"}"#;
        let arguments = ["run", &target, "--input", input, "--yes", "--json-meta", "meta.json"];
        let found = scratch.run_with_environment(rep(), &arguments, &environment);
        assert_eq!((found.code, json(&found)), (0, json!({"words": 3})), "{found:?}");
        let layers = meta(&scratch)["layers"].clone();
        for layer in ["namespaces", "view", "seccomp"] {
            let held =
                layers.as_array().unwrap().iter().any(|one| {
                    one["name"] == layer && one["state"].as_str().unwrap_or_default().starts_with("enforced")
                });
            assert!(held, "{layer}: {layers}");
        }
    }
}

#[test]
fn what_is_not_declared_is_denied_and_told_with_what_would_allow_it() {
    let scratch = ScratchFolder::new();
    scratch.write_file("private.txt", "mine");
    scratch.write_file("in/open.txt", "open");
    let more = "permissions: {filesystem: {read: ['in/*.txt'], write: ['out/**']}, network: {outbound: []}, processes: {allow_subprocess: false}}\n";
    skill(
        &scratch,
        "walls",
        more,
        &[
            ("steal", "read -r x < private.txt && echo \"{\\\"x\\\": \\\"$x\\\"}\"\n"),
            ("read", "read -r x < in/open.txt; echo \"{\\\"x\\\": \\\"$x\\\"}\"\n"),
            ("write", "echo new > out/made.txt; echo bad > in/made.txt; echo '{}'\n"),
            ("spawn", "/usr/bin/env > out/env.txt; echo '{}'\n"),
            ("connect", "exec 3<>/dev/tcp/127.0.0.1/80 || exit 9; echo '{}'\n"),
        ],
    );
    let read = sandboxed(&scratch, "./walls:read", &[]);
    assert_eq!((read.code, json(&read)), (0, json!({"x": "open"})), "{read:?}");
    let steal = sandboxed(&scratch, "./walls:steal", &[]);
    assert_eq!(steal.code, 4, "{steal:?}");
    let denials = meta(&scratch)["denials"].clone();
    assert_eq!((&denials[0]["action"], &denials[0]["target"]), (&"read".into(), &"private.txt".into()), "{denials}");
    assert!(denials[0]["suggestion"].as_str().unwrap().contains("private.txt"), "{denials}");
    sandboxed(&scratch, "./walls:write", &[]);
    assert_eq!(scratch.read_file("out/made.txt"), "new\n");
    assert!(!scratch.work_folder().join("in/made.txt").exists());
    sandboxed(&scratch, "./walls:spawn", &[]);
    let denials = meta(&scratch)["denials"].to_string();
    assert!(denials.contains("spawn") && denials.contains("allow_subprocess"), "{denials}");
    assert_eq!(sandboxed(&scratch, "./walls:connect", &[]).code, 4);
    let denials = meta(&scratch)["denials"].to_string();
    assert!(denials.contains("connect") && denials.contains("outbound"), "{denials}");
}

#[test]
fn tools_call_tools_through_the_sandbox() {
    let scratch = ScratchFolder::new();
    let ask = "echo '{\"tool\":\"leaf\",\"args\":{}}' >&$REP_CHANNEL; read -r answer <&$REP_CHANNEL\nprintf '%s' \"$answer\"\n";
    skill(&scratch, "first", "", &[("ask", ask), ("leaf", "echo '{\"leaf\": 1}'\n")]);
    let found = sandboxed(&scratch, "./first:ask", &[]);
    assert_eq!(json(&found), json!({"result": {"leaf": 1}}), "{found:?}");
    assert_eq!(meta(&scratch)["calls"][0]["tool"], "first:leaf");
}

#[test]
fn every_run_is_on_record() {
    let scratch = ScratchFolder::new();
    skill(&scratch, "told", "", &[("tell", "echo '{}'\n"), ("fail", "exit 3\n")]);
    sandboxed(&scratch, "./told:tell", &[]);
    sandboxed(&scratch, "./told:fail", &["--no-sandbox"]);
    let records = run(&scratch, &["audit", "--json"]);
    let text = records.stdout.clone();
    assert!(text.contains("\"told\"") && text.contains("seccomp"), "{records:?}");
    assert!(text.contains("TOOL_FAILED") && text.contains("\"none\""), "a run without a sandbox is told: {records:?}");
    assert_eq!(run(&scratch, &["audit", "verify"]).code, 0);
}

#[test]
fn a_detached_run_is_a_task_that_can_be_followed_and_cancelled() {
    let scratch = ScratchFolder::new();
    skill(
        &scratch,
        "slow",
        "permissions: {filesystem: {write: ['out/**']}}\n",
        &[("quick", "echo '{\"done\": true}'\n"), ("wait", "echo > out/begun; while :; do :; done\n")],
    );
    let start = |tool: &str| {
        let found = run(&scratch, &["run", &format!("./slow:{tool}"), "--yes", "--detach", "--input", "{}"]);
        let answer = json(&found);
        assert_eq!((found.code, &answer["status"]), (0, &"async".into()), "{found:?}");
        answer["task"]["id"].as_str().unwrap().to_owned()
    };
    let ended = |id: &str| {
        wait_for("the task has ended", DEADLINE, || {
            let task = json(&run(&scratch, &["tasks", "get", id, "--json"]));
            (task["status"] != "running").then_some(task)
        })
    };
    let task = ended(&start("quick"));
    assert_eq!((&task["status"], &task["result"]["done"]), (&"done".into(), &true.into()), "{task}");
    let id = start("wait");
    wait_until("the tool has begun", DEADLINE, || scratch.work_folder().join("out/begun").exists());
    assert_eq!(run(&scratch, &["tasks", "cancel", &id]).code, 0);
    let task = ended(&id);
    assert_eq!(task["status"], "cancelled", "{task}");
    assert_eq!(run(&scratch, &["run", "./slow:none", "--yes", "--detach"]).code, 2);
}

/// Runs `rep` with something on stdin, in the scratch home.
fn fed(scratch: &ScratchFolder, arguments: &[&str], stdin: &str) -> (Option<i32>, Value) {
    let mut child = Command::new(rep())
        .args(arguments)
        .current_dir(scratch.work_folder())
        .env("XDG_DATA_HOME", scratch.work_folder().join("data"))
        .env("XDG_CONFIG_HOME", scratch.work_folder().join("config"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("rep can be started");
    let mut pipe = child.stdin.take().expect("it has a stdin");
    // A process that refuses its arguments ends without reading.
    match pipe.write_all(stdin.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => panic!("its stdin cannot be written: {error}"),
        _ => {}
    }
    drop(pipe);
    let output = child.wait_with_output().expect("it ends");
    (output.status.code(), serde_json::from_slice(&output.stdout).unwrap_or_default())
}

#[test]
fn a_background_process_runs_only_what_was_agreed_to() {
    let scratch = ScratchFolder::new();
    let more = "permissions: {filesystem: {write: ['out/**']}}\n";
    skill(&scratch, "late", more, &[("mark", "echo > marked; echo '{}'\n")]);
    let call = ["run", "./late:mark", "--no-sandbox", "--as-task"];
    let other = json!({"input": {}, "binding": "0".repeat(64)}).to_string();
    let (exit, answer) = fed(&scratch, &call, &other);
    assert_eq!((exit, &answer["error"]["code"]), (Some(3), &"SKILL_CHANGED".into()), "{answer}");
    // To be a task is not to have consent.
    for stdin in ["{}", "{\"input\": {}}"] {
        assert_eq!(fed(&scratch, &call, stdin).0, Some(2), "{stdin}");
    }
    assert_eq!(fed(&scratch, &[&call[..], &["--yes"]].concat(), &other).0, Some(2));
    assert!(!scratch.work_folder().join("marked").exists());
}

#[test]
fn consent_for_a_tool_is_none_for_the_tools_it_calls() {
    let scratch = ScratchFolder::new();
    let ask = "echo '{\"tool\":\"second:mark\",\"args\":{}}' >&$REP_CHANNEL; read -r answer <&$REP_CHANNEL\nprintf '%s' \"$answer\"\n";
    skill(&scratch, "first", "", &[("ask", ask)]);
    let more = "permissions: {filesystem: {write: ['out/**']}}\n";
    skill(&scratch, "second", more, &[("mark", "echo > marked; echo '{}'\n")]);
    let found = run(&scratch, &["run", "first:ask", "--path", "first", "--path", "second", "--no-sandbox", "--yes"]);
    let error = &json(&found)["error"];
    assert_eq!(error["code"], "CONFIRMATION_REQUIRED", "{found:?}");
    assert!(error["remedy"].as_str().unwrap().contains("rep policy second:mark --approve"), "{error}");
    assert!(!scratch.work_folder().join("marked").exists());
}

#[test]
fn what_runs_is_what_was_decided_over() {
    let scratch = ScratchFolder::new();
    // The tool exchanges its own script on the disk, and then looks at itself where it runs.
    let script = "echo 'echo bad' > \"$REP_WORKSPACE/moves/scripts/next.sh\"; . \"$REP_SKILL/scripts/next.sh\"\n";
    skill(&scratch, "moves", "", &[("go", script), ("next", "echo '{\"next\": \"good\"}'\n")]);
    scratch.write_file("moves/.git/hook.sh", "echo '{}'\n");
    let found = run(&scratch, &["run", "./moves:go", "--no-sandbox"]);
    assert_eq!((found.code, json(&found)), (0, json!({"next": "good"})), "{found:?}");
    assert_eq!(scratch.read_file("moves/scripts/next.sh"), "echo bad\n");
    // The plan that is shown names the skill's own folder.
    let plan = json(&run(&scratch, &["run", "./moves:go", "--dry-run"]));
    assert_eq!(plan["folder"], scratch.work_folder().join("moves").canonicalize().unwrap().display().to_string());
    let text = scratch.read_file("moves/SKILL.md").replace("scripts/go.sh", ".git/hook.sh");
    scratch.write_file("moves/SKILL.md", text);
    assert_ne!(run(&scratch, &["run", "./moves:go", "--no-sandbox"]).code, 0, "what has no digest does not run");
}

#[test]
fn a_project_skill_that_changes_after_it_was_trusted_is_not_run() {
    let scratch = ScratchFolder::new();
    skill(&scratch, ".claude/skills/theirs", "", &[("mark", "echo '{}'\n")]);
    let text = scratch.read_file(".claude/skills/theirs/SKILL.md").replace(".claude/skills/theirs", "theirs");
    scratch.write_file(".claude/skills/theirs/SKILL.md", text);
    assert_eq!(run(&scratch, &["trust"]).code, 0);
    let found = run(&scratch, &["run", "theirs:mark", "--no-sandbox"]);
    assert_eq!(found.code, 0, "the copy of a trusted skill is trusted: {found:?}");
    scratch.write_file(".claude/skills/theirs/scripts/.git/more.sh", "echo\n");
    let found = run(&scratch, &["run", "theirs:mark", "--no-sandbox"]);
    assert_eq!((found.code, code(&found)), (3, "UNTRUSTED".into()), "{found:?}");
}

/// A tool that hands its arguments, or `args`, on to another one and prints the answer.
fn asking(tool: &str, args: &str) -> String {
    format!(
        "printf '{{\"tool\":\"{tool}\",\"args\":%s}}\\n' \"{args}\" >&$REP_CHANNEL; read -r answer <&$REP_CHANNEL\nprintf '%s' \"$answer\"\n"
    )
}

#[test]
fn a_secret_that_is_handed_on_stays_one() {
    let scratch = ScratchFolder::new();
    let more = "secrets: {required: [{name: A_KEY, usage: env}]}\n";
    let ask = asking("second:tell", "{\\\"key\\\":\\\"$A_KEY\\\"}");
    skill(&scratch, "first", more, &[("ask", &ask)]);
    let tell = "read -r line; echo \"$line\" >&2\nprintf '{\"status\":\"error\",\"error\":{\"code\":\"X\",\"message\":\"sk-very-secret\"}}'; exit 1\n";
    skill(&scratch, "second", "", &[("tell", tell)]);
    let data = scratch.work_folder().join("data");
    let environment = [("A_KEY", "sk-very-secret"), ("XDG_DATA_HOME", data.to_str().unwrap())];
    let arguments = ["run", "first:ask", "--path", "first", "--path", "second", "--no-sandbox"];
    let found = scratch.run_with_environment(rep(), &arguments, &environment);
    assert_eq!(json(&found)["error"]["code"], "X", "{found:?}");
    let record = scratch.read_file("data/repertoire/audit.jsonl");
    for told in [&found.stdout, &found.stderr, &record] {
        assert!(!told.contains("sk-very-secret"), "{told}");
    }
    assert!(found.stderr.contains("[redacted:A_KEY]"), "{found:?}");
    assert!(record.contains("\"sandbox\":false"), "a run that nothing holds is on record as one: {record}");
}

#[test]
fn a_tool_does_not_learn_what_the_one_it_calls_was_denied() {
    let scratch = ScratchFolder::new();
    scratch.write_file("private.txt", "mine");
    let steal = "read -r x < private.txt || exit 1\n";
    skill(&scratch, "first", "", &[("ask", &asking("steal", "{}")), ("steal", steal)]);
    let found = sandboxed(&scratch, "./first:ask", &[]);
    let error = &json(&found)["error"];
    assert_eq!((&error["code"], error.get("denied")), (&"TOOL_FAILED".into(), None), "{error}");
    assert!(meta(&scratch)["calls"][0]["run"]["denials"].to_string().contains("private.txt"), "the user is told");
}

#[test]
fn what_called_tools_leave_behind_is_bounded() {
    let scratch = ScratchFolder::new();
    let many = "for i in {1..1001}; do echo '{\"tool\":\"none:x\"}' >&$REP_CHANNEL; read -r answer <&$REP_CHANNEL; done\nprintf '%s' \"$answer\"\n";
    let loud = "printf 'x%.0s' {1..200000} >&2; echo '{}'\n";
    skill(&scratch, "first", "", &[("many", many), ("ask", &asking("loud", "{}")), ("loud", loud)]);
    let found = run(&scratch, &["run", "./first:many", "--no-sandbox"]);
    assert_eq!(json(&found)["error"]["code"], "CALLS_TOO_MANY", "{found:?}");
    let found = run(&scratch, &["run", "./first:ask", "--no-sandbox"]);
    assert_eq!(json(&found), json!({"result": {}}));
    assert!((60_000..70_000).contains(&found.stderr.len()), "{}", found.stderr.len());
}

#[test]
fn how_a_run_went_is_not_written_through_a_link() {
    let scratch = ScratchFolder::new();
    skill(&scratch, "plain", "", &[("go", "echo '{}'\n")]);
    scratch.write_file("precious", "mine");
    std::os::unix::fs::symlink("precious", scratch.work_folder().join("meta.json")).unwrap();
    assert_eq!(run(&scratch, &["run", "./plain:go", "--no-sandbox", "--json-meta", "meta.json"]).code, 0);
    assert_eq!(scratch.read_file("precious"), "mine");
    assert_eq!(meta(&scratch)["executed"], true);
}

#[test]
fn timings_name_the_phases_and_leave_the_result_alone() {
    let scratch = ScratchFolder::new();
    skill(&scratch, "idle", "", &[("go", "echo '{\"done\": true}'\n")]);
    let plain = run(&scratch, &["run", "./idle:go"]);
    assert!(!plain.stderr.contains(" ms "), "{plain:?}");
    let timed = run(&scratch, &["run", "./idle:go", "--timings", "--json-meta", "meta.json"]);
    assert_eq!((timed.code, json(&timed)), (0, json!({"done": true})), "{timed:?}");
    let named = ["find the skill", "copy the skill", "plan", "decide", "record the start", "validate arguments"];
    let confined = ["set up the sandbox", "run the tool", "take over results", "check the result", "record the end"];
    for phase in named.iter().chain(&confined).chain(&["total"]) {
        assert!(timed.stderr.contains(&format!(" ms  {phase}\n")), "{phase}: {}", timed.stderr);
    }
    let meta = meta(&scratch);
    let phases = meta["timings"]["phases"].as_array().unwrap();
    assert!(phases.iter().any(|phase| phase["phase"] == "run the tool" && phase["ms"].is_f64()), "{meta}");
    assert!(meta["timings"]["total_ms"].as_f64().unwrap() > 0.0, "{meta}");
    let refused = run(&scratch, &["run", "./idle:go", "--timings", "--dry-run"]);
    assert_eq!(refused.code, 2, "{refused:?}");
}

/// Handlers that take fewer arguments than two, or none, or are not plain functions.
#[test]
fn python_handlers_get_as_many_arguments_as_they_take() {
    if !is_program_installed("python3") {
        return;
    }
    let scratch = ScratchFolder::new();
    let handlers = [
        ("both", "def handler(args, ctx):\n    return {'tool': ctx.tool, 'at': str(ctx.paths.skill) != ''}\n"),
        ("one", "def handler(args):\n    return {'args': args}\n"),
        ("none", "def handler():\n    return {'none': True}\n"),
        ("default", "def handler(args, ctx=None, *, more=1):\n    return {'more': more, 'has': ctx is not None}\n"),
        ("keyword", "def handler(args, ctx, *, more):\n    return {}\n"),
        ("awaited", "async def handler(args, ctx):\n    return {'awaited': True}\n"),
        ("object", "class Tool:\n    def __call__(self, args):\n        return {'object': True}\nhandler = Tool()\n"),
        (
            "wrapped",
            "import functools\n@functools.wraps(print)\ndef handler(*given, **named):\n    return {'count': len(given)}\n",
        ),
        (
            "generator",
            "import types\n@types.coroutine\ndef handler(args, ctx):\n    if False:\n        yield\n    return {'generator': True}\n",
        ),
    ];
    let mut listed = String::new();
    for (name, text) in handlers {
        scratch.write_file(&format!("shapes/scripts/{name}.py"), text);
        listed.push_str(&format!("  - name: {name}\n    description: A tool for a test.\n    input_schema: {{type: object}}\n    implementation: {{runtime: python, entrypoint: scripts/{name}.py}}\n"));
    }
    scratch.write_file("shapes/SKILL.md", format!("---\nname: shapes\ndescription: Runs tools. Use when testing tools.\nspec_version: \"2.1\"\nversion: 1.0.0\ntools:\n{listed}---\n\n# Shapes\n"));
    let mut answers = String::new();
    for (name, _) in handlers {
        let found = run(&scratch, &["run", &format!("./shapes:{name}"), "--yes", "--no-sandbox"]);
        let answer = json(&found);
        let shown = if found.code == 0 { answer.to_string() } else { answer["error"]["message"].to_string() };
        answers.push_str(&format!("{name}: {shown}\n"));
    }
    assert_snapshot!(answers, @r#"
    both: {"tool":"shapes:both","at":true}
    one: {"args":{}}
    none: {"none":true}
    default: {"more":1,"has":true}
    keyword: "handler() missing 1 required keyword-only argument: 'more'"
    awaited: {"awaited":true}
    object: {"object":true}
    wrapped: {"count":2}
    generator: {"generator":true}
    "#);
}

/// Values go in and out as `json` reads and writes them, and no module is imported that the tool does not import.
#[test]
fn python_tools_start_without_modules_and_get_every_value() {
    if !is_program_installed("python3") {
        return;
    }
    let scratch = ScratchFolder::new();
    // What the interpreter imports without a script, such as the modules of `.pth` files, is not counted.
    let handler = "import sys\n\nHEAVY = ['inspect', 'json', 're', 'signal', 'traceback']\nFOUND = {name for name in HEAVY \
                   if name in sys.modules}\n\n\ndef handler(args, ctx):\n    import subprocess\n    plain = \
                   subprocess.run([sys.executable, '-I', '-c', 'import sys; print(*sys.modules)'], \
                   capture_output=True, text=True)\n    return {'args': args, 'more': (1, float(args['n'])), \
                   'imported': sorted(FOUND - set(plain.stdout.split()))}\n";
    scratch.write_file("values/scripts/go.py", handler);
    let text = "---\nname: values\ndescription: Runs tools. Use when testing tools.\nspec_version: \"2.1\"\nversion: \
                1.0.0\ntools:\n  - name: go\n    description: Returns its arguments.\n    input_schema: {type: object}\n    \
                implementation: {runtime: python, entrypoint: scripts/go.py}\n---\n\n# Values\n";
    scratch.write_file("values/SKILL.md", text);
    let input = json!({
        "n": "1.5", "text": "ü \u{1f600} \"\\\n\u{7}", "list": [null, true, -0.0, 1e300, 12_345_678_901_234_567_u64], "a": {"": {}},
    });
    let found = run(&scratch, &["run", "./values:go", "--yes", "--no-sandbox", "--input", &input.to_string()]);
    assert_eq!(found.code, 0, "{found:?}");
    assert_eq!(json(&found), json!({ "args": input, "more": [1, 1.5], "imported": [] }));
    let odd = run(&scratch, &["run", "./values:go", "--yes", "--no-sandbox", "--input", r#"{"n": "inf"}"#]);
    assert_eq!((odd.code, code(&odd)), (4, json!("INVALID_RESULT")), "{odd:?}");
}

#[test]
fn the_question_shows_what_called_tools_may_do() {
    let scratch = ScratchFolder::new();
    let ask = "echo '{\"tool\": \"b:read\", \"args\": {}}' >&$REP_CHANNEL; read -r line <&$REP_CHANNEL; echo '{}'\n";
    let writes = "permissions: {filesystem: {read: ['own/**'], write: ['out/*.txt']}}\n";
    skill(&scratch, "lib/a", writes, &[("x", ask), ("alone", "echo '{}'\n")]);
    let via = "echo '{\"tool\": \"c:send\", \"args\": {}}' >&$REP_CHANNEL; echo '{}'\n";
    skill(&scratch, "lib/b", "permissions: {filesystem: {read: ['own/**', 'docs/**']}}\n", &[("read", via)]);
    skill(&scratch, "lib/c", "permissions: {network: {outbound: [example.org]}}\n", &[("send", "echo '{}'\n")]);
    for name in ["a", "b", "c"] {
        let text = scratch.read_file(&format!("lib/{name}/SKILL.md")).replace("name: lib/", "name: ");
        scratch.write_file(&format!("lib/{name}/SKILL.md"), text);
    }
    let plan = json(&run(&scratch, &["run", "a:x", "--path", "lib", "--dry-run"]));
    let expected = [
        "calls `b:read` → `c:send`, which connects to `example.org` on 443 and 80",
        "calls `b:read`, which reads `docs/**`",
    ];
    assert_eq!(plan["callees"], json!(expected), "{plan:#}");
    assert_eq!(json(&run(&scratch, &["run", "a:alone", "--path", "lib", "--dry-run"])).get("callees"), None);
    let (code, told) = super::policy::typed(&scratch, &["run", "a:x", "--path", "lib"], "[N]o", b"n\n");
    assert_eq!(code, 3, "{told}");
    assert!(expected.iter().all(|line| told.contains(line)), "{told}");
}

#[test]
fn a_commit_that_is_killed_is_completed_or_undone_by_the_next_run() {
    const FILES: usize = 200;
    let scratch = ScratchFolder::new();
    let write =
        format!("read -r line; for ((n = 1; n <= {FILES}; n++)); do echo \"$line\" > data/$n.txt; done; echo '{{}}'\n");
    let writes = "permissions: {filesystem: {write: ['data/*.txt']}}\n";
    skill(&scratch, "many", writes, &[("write", &write), ("idle", "echo '{}'\n")]);
    std::fs::create_dir(scratch.work_folder().join("data")).unwrap();
    let call = |number: usize| {
        let mut command = Command::new(rep());
        let input = format!("{{\"n\":{number}}}");
        command.args(["run", "many:write", "--path", "many", "--yes", "--input", &input]);
        command.current_dir(scratch.work_folder()).env("HOME", scratch.work_folder().with_file_name("home"));
        command.env_remove("XDG_DATA_HOME").env_remove("XDG_CONFIG_HOME");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    let texts = || -> Vec<String> {
        (1..=FILES)
            .filter_map(|n| std::fs::read_to_string(scratch.work_folder().join(format!("data/{n}.txt"))).ok())
            .collect()
    };
    let names = || -> Vec<String> {
        let entries = std::fs::read_dir(scratch.work_folder().join("data")).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    };
    assert!(call(0).status().unwrap().success());
    let mut told = String::new();
    for number in 1..=6 {
        let mut child = call(number).spawn().unwrap();
        // Killed while files are written beside their destinations, or a little later, while they are renamed.
        wait_until("the commit begins or the run ends", DEADLINE, || {
            names().iter().filter(|name| name.starts_with(".rep-")).count() > FILES * number / 7
                || child.try_wait().unwrap().is_some()
        });
        // It may have ended.
        child.kill().ok();
        child.wait().unwrap();
        let next = run(&scratch, &["run", "many:idle", "--path", "many", "--yes", "-v"]);
        assert_eq!(next.code, 0, "{next:?}");
        told.push_str(&next.stderr);
        let texts = texts();
        assert_eq!(texts.len(), FILES);
        assert!(texts.iter().all(|text| *text == texts[0]), "old and new files are mixed after {number}: {told}");
        assert!(names().iter().all(|name| !name.starts_with(".rep-")), "{:?}", names());
    }
    let data = scratch.work_folder().with_file_name("home").join(".local/share/repertoire/running");
    let left = std::fs::read_dir(data)
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().path().extension().is_some_and(|extension| extension == "commit"));
    assert_eq!(left.count(), 0);
}
