//! Scripts that skills bundle, run without a declared tool: from the terminal and for clients of the server.

use rep_test_support::{DEADLINE, ProgramRun, ScratchFolder, is_program_installed, wait_for};
use serde_json::{Value, json};

use super::run::installed;
use super::serve::{Client, ERAS, Era, PATH};
use super::{json, rep, run};

/// Writes a skill of the agentskills dialect, which can declare no tools.
fn plain_skill(scratch: &ScratchFolder, name: &str, scripts: &[(&str, &str)]) {
    let text = format!("---\nname: {name}\ndescription: Runs scripts. Use when testing scripts.\n---\n\n# Scripts\n");
    scratch.write_file(&format!("skills/{name}/SKILL.md"), text);
    for (path, script) in scripts {
        scratch.write_file(&format!("skills/{name}/{path}"), script);
    }
}

/// Runs a script with the environment of a user, in the sandbox.
fn run_script(scratch: &ScratchFolder, skill: &str, script: &str, more: &[&str]) -> ProgramRun {
    let path = std::env::var("PATH").expect("tests have a path");
    let arguments = [&["run", skill, "--path", "skills", "--script", script], more].concat();
    scratch.run_with_environment(rep(), &arguments, &[("PATH", &path), ("A_TOKEN", "tops3cret-value")])
}

#[test]
fn a_script_of_each_interpreter_gets_its_words_and_nothing_else() {
    let scratch = ScratchFolder::new();
    let python = "import json, os, sys\nprint(json.dumps([sys.argv[1:], sorted(os.environ)]))\n";
    let node = "console.log(JSON.stringify([process.argv.slice(2), Object.keys(process.env).sort()]));\n";
    let bash = "printf '%s|' \"$@\"; printf '%s' \"$A_TOKEN\"\n";
    let scripts = [
        ("scripts/s.py", python),
        ("scripts/s.js", node),
        ("scripts/s.sh", bash),
        ("other/run", "#!/usr/bin/env bash\necho first line\n"),
    ];
    plain_skill(&scratch, "plain", &scripts);
    let words = ["--", "a b", "$(id)", "", "--yes", "*"];
    for runtime in installed() {
        let script = match runtime {
            "python" => "scripts/s.py",
            "node" => "./scripts/s.js",
            _ => "scripts/s.sh",
        };
        let found = run_script(&scratch, "plain", script, &words);
        let result = json(&found);
        assert_eq!((found.code, &result["returncode"], &result["denied"]), (0, &json!(0), &json!([])), "{found:?}");
        let printed = result["stdout"].as_str().unwrap();
        assert!(!found.stdout.contains("tops3cret"), "{found:?}");
        if runtime == "bash" {
            assert_eq!(printed, "a b|$(id)||--yes|*|");
            continue;
        }
        let printed: Value = serde_json::from_str(printed).unwrap();
        assert_eq!(printed[0], json!(words[1..]), "{runtime}");
        assert!(!printed[1].as_array().unwrap().contains(&json!("A_TOKEN")), "{printed}");
    }
    assert_eq!(json(&run_script(&scratch, "plain", "other/run", &[]))["stdout"], "first line\n");
}

#[test]
fn what_a_script_is_denied_is_in_its_result_and_on_record() {
    let scratch = ScratchFolder::new();
    scratch.write_file("private.txt", "mine");
    let script = "read -r line < private.txt || echo denied; echo x > new.txt; exit 5\n";
    plain_skill(&scratch, "plain", &[("scripts/try.sh", script), ("scripts/start.sh", "/bin/true\n")]);
    let found = run_script(&scratch, "plain", "scripts/try.sh", &[]);
    let result = json(&found);
    assert_eq!((found.code, &result["returncode"], &result["stdout"]), (4, &json!(5), &json!("denied\n")), "{found:?}");
    let denied: Vec<&Value> = result["denied"].as_array().unwrap().iter().map(|denial| &denial["target"]).collect();
    assert_eq!(denied, ["private.txt", "new.txt"], "{result}");
    assert!(found.stderr.contains("`scripts/try.sh` exited with code 5"), "{found:?}");
    assert!(!scratch.work_folder().join("new.txt").exists());
    let record = json(&run(&scratch, &["audit", "--json"]))["runs"][0].clone();
    assert_eq!((&record["skill"], &record["tool"]), (&json!("plain"), &json!("scripts/try.sh")), "{record}");
    assert_eq!((&record["outcome"], &record["denials"]), (&json!("COMMAND_FAILED"), &result["denied"]), "{record}");
    let started = json(&run_script(&scratch, "plain", "scripts/start.sh", &[]));
    assert_eq!(started["denied"][0]["declaration"], "permissions.processes.allow_subprocess", "{started}");
}

#[test]
fn a_script_gets_what_its_skill_declares_and_asks_as_its_tools_would() {
    let scratch = ScratchFolder::new();
    scratch.write_file("data/in.txt", "12\n");
    let text = "---\nname: typed\ndescription: Runs scripts. Use when testing scripts.\nspec_version: \"2.1\"\nversion: 1.0.0\npermissions: {filesystem: {read: ['data/**'], write: ['out/**']}}\nsafety: {require_confirmation_for: [destructive_writes], redact: {secrets: true, pii: true}}\nsecrets: {required: [{name: A_TOKEN, usage: env}]}\n---\n\n# Scripts\n";
    scratch.write_file("skills/typed/SKILL.md", text);
    scratch.write_file("out/old.txt", "");
    let script = "read -r line < data/in.txt; echo \"$line\" > out/copy.txt; echo \"$A_TOKEN\" me@example.org\n";
    scratch.write_file("skills/typed/scripts/copy.sh", script);
    let refused = run_script(&scratch, "typed", "scripts/copy.sh", &[]);
    assert_eq!((refused.code, &json(&refused)["error"]["code"]), (3, &json!("CONFIRMATION_REQUIRED")), "{refused:?}");
    let found = run_script(&scratch, "typed", "scripts/copy.sh", &["--yes"]);
    assert_eq!((found.code, scratch.read_file("out/copy.txt").as_str()), (0, "12\n"), "{found:?}");
    let printed = json(&found)["stdout"].as_str().unwrap().to_owned();
    assert!(!printed.contains("tops3cret") && !printed.contains("me@example.org"), "{printed}");
    let missing = run(&scratch, &["run", "typed", "--path", "skills", "--script", "scripts/copy.sh", "--yes"]);
    assert_eq!((missing.code, &json(&missing)["error"]["code"]), (3, &json!("SECRET_MISSING")), "{missing:?}");
}

#[test]
fn a_file_that_is_not_a_script_of_the_skill_is_refused_with_the_nearest_one() {
    let scratch = ScratchFolder::new();
    plain_skill(&scratch, "plain", &[("scripts/count.sh", "echo 1\n"), ("notes.txt", "x")]);
    scratch.write_file("outside.sh", "echo outside\n");
    std::os::unix::fs::symlink(
        scratch.work_folder().join("outside.sh"),
        scratch.work_folder().join("skills/plain/link.sh"),
    )
    .unwrap();
    for (script, exit, code, help) in [
        ("count.sh", 2, "PATH_NOT_FOUND", "did you mean `scripts/count.sh`?"),
        ("scripts/cuont.sh", 2, "PATH_NOT_FOUND", "did you mean `scripts/count.sh`?"),
        ("../../outside.sh", 2, "INVALID_ARGUMENT", "relative to its directory"),
        ("/bin/sh", 2, "INVALID_ARGUMENT", "relative to its directory"),
        ("", 2, "INVALID_ARGUMENT", "relative to its directory"),
        ("link.sh", 2, "PATH_NOT_FOUND", "its scripts: scripts/count.sh"),
        ("scripts", 2, "PATH_NOT_FOUND", ""),
        ("notes.txt", 3, "INVALID_ENTRYPOINT", ""),
    ] {
        let found = run_script(&scratch, "plain", script, &[]);
        assert_eq!((found.code, &json(&found)["error"]["code"]), (exit, &json!(code)), "{script}: {found:?}");
        assert!(found.stderr.contains(help), "{script}: {found:?}");
    }
    let words_without_script = run(&scratch, &["run", "plain:tool", "--path", "skills", "--", "x"]);
    assert_eq!(words_without_script.code, 2, "{words_without_script:?}");
    let with_input = run_script(&scratch, "plain", "scripts/count.sh", &["--input", "{}"]);
    assert_eq!(with_input.code, 2, "{with_input:?}");
}

#[test]
fn a_script_can_be_planned_limited_and_continued_in_the_background() {
    let scratch = ScratchFolder::new();
    plain_skill(&scratch, "plain", &[("scripts/count.sh", "echo $#\n"), ("scripts/loop.sh", "while :; do :; done\n")]);
    let plan = json(&run_script(&scratch, "plain", "./scripts/count.sh", &["--dry-run", "--", "a", "b"]));
    assert_eq!(plan["argv"], json!(["scripts/count.sh", "a", "b"]), "{plan}");
    let stopped = run_script(&scratch, "plain", "scripts/loop.sh", &["--timeout", "1"]);
    assert_eq!((stopped.code, &json(&stopped)["error"]["code"]), (4, &json!("TIMEOUT")), "{stopped:?}");
    let task = json(&run_script(&scratch, "plain", "scripts/count.sh", &["--detach", "--", "a", "b"]));
    let id = task["task"]["id"].as_str().expect("a task has an id").to_owned();
    let done = wait_for("the end of the task", DEADLINE, || {
        let task = json(&run(&scratch, &["tasks", "get", &id, "--json"]));
        (task["status"] != "running").then_some(task)
    });
    assert_eq!(done["result"]["stdout"], "2\n", "{done}");
}

#[test]
fn clients_run_scripts_where_the_operator_allows_runs() {
    let scratch = ScratchFolder::new();
    let script = "echo \"$1\"; read -r line < ../private.txt; echo \"$0\" >&2; exit $2\n";
    plain_skill(&scratch, "plain", &[("scripts/echo.sh", script)]);
    plain_skill(&scratch, "other", &[("scripts/echo.sh", script)]);
    scratch.write_file("private.txt", "mine");
    let call = |script: &str, args: Value| json!({ "skill": "plain", "script": script, "args": args });
    for era in ERAS {
        let mut client = Client::new(&scratch, &["--path", "skills", "--allow-run=plain"], era);
        let listed = client.ask("tools/list", json!({}))["result"]["tools"].clone();
        let tool = listed.as_array().unwrap().iter().find(|tool| tool["name"] == "run_skill_script").unwrap();
        assert_eq!(tool["annotations"]["readOnlyHint"], false, "{tool}");
        let done = client.call("run_skill_script", call("scripts/echo.sh", json!(["a b", "0"])));
        let result = &done["structuredContent"];
        assert_eq!(
            (&done["isError"], &result["stdout"], &result["returncode"]),
            (&json!(false), &json!("a b\n"), &json!(0)),
            "{done}"
        );
        assert!(!done.to_string().contains(scratch.work_folder().parent().unwrap().to_str().unwrap()), "{done}");
        let failed = client.call("run_skill_script", call("scripts/echo.sh", json!(["x", "3"])));
        assert_eq!(
            (&failed["isError"], &failed["structuredContent"]["returncode"]),
            (&json!(true), &json!(3)),
            "{failed}"
        );
        for (arguments, code) in [
            (call("scripts/none.sh", json!([])), "PATH_NOT_FOUND"),
            (call("scripts/echo.sh", json!("x")), "INVALID_ARGUMENT"),
            (call("scripts/echo.sh", json!([1])), "INVALID_ARGUMENT"),
            (json!({ "skill": "other", "script": "scripts/echo.sh" }), "SKILL_NOT_FOUND"),
            (json!({ "skill": "plain" }), "INVALID_ARGUMENT"),
            (json!({ "skill": "plain", "script": "scripts/echo.sh", "shell": true }), "INVALID_ARGUMENT"),
        ] {
            let refused = client.call("run_skill_script", arguments);
            assert_eq!(refused["isError"], true, "{refused}");
            assert_eq!(refused["structuredContent"]["error"]["code"], code, "{refused}");
        }
    }
    let mut client = Client::new(&scratch, &PATH, Era::Old);
    let refused = client
        .ask("tools/call", json!({ "name": "run_skill_script", "arguments": call("scripts/echo.sh", json!([])) }));
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    let records = json(&run(&scratch, &["audit", "--json"]));
    assert!(records["runs"].as_array().unwrap().iter().all(|record| record["skill"] == "plain"), "{records}");
}

#[test]
fn typescript_runs_where_node_strips_types_and_is_refused_elsewhere() {
    if !is_program_installed("node") {
        return;
    }
    let scratch = ScratchFolder::new();
    plain_skill(
        &scratch,
        "plain",
        &[("scripts/typed.ts", "const words: string[] = process.argv.slice(2);\nconsole.log(words.length);\n")],
    );
    let found = run_script(&scratch, "plain", "scripts/typed.ts", &["--", "a", "b"]);
    if found.code == 0 {
        assert_eq!(json(&found)["stdout"], "2\n", "{found:?}");
        return;
    }
    let error = json(&found)["error"].clone();
    assert_eq!((found.code, &error["code"]), (3, &json!("RUNTIME_UNAVAILABLE")), "{found:?}");
    assert!(error["message"].as_str().unwrap().starts_with("`scripts/typed.ts` cannot be run"), "{error}");
}
