//! `rep test`: the tests a skill ships.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

use rep_test_support::ScratchFolder;
use serde_json::{Value, json};

use super::run::{environment, installed};
use super::{Watching, json, rep, run};

/// A skill with nothing but what is said here.
fn skill(scratch: &ScratchFolder, folder: &str, fields: &str) {
    let name = folder.rsplit('/').next().unwrap_or(folder);
    let text =
        format!("---\nname: {name}\ndescription: Tries things. Use when testing tests.\n{fields}---\n\n# Tried\n");
    scratch.write_file(&format!("{folder}/SKILL.md"), text);
}

/// A skill with cases: stem, command, and what is expected.
fn cases(scratch: &ScratchFolder, folder: &str, config: &str, all: &[(&str, &str, &str)]) {
    skill(scratch, folder, "");
    scratch.write_file(&format!("{folder}/tests/test-config.json"), config);
    for (stem, command, expected) in all {
        case(scratch, folder, stem, &format!("command: {}", json!(command)), expected);
    }
}

fn case(scratch: &ScratchFolder, folder: &str, stem: &str, input: &str, expected: &str) {
    let input = input.replace('\n', "\n  ");
    let text = format!("name: {stem}\ninput:\n  {input}\nexpected: {{{expected}}}\n");
    scratch.write_file(&format!("{folder}/tests/cases/{stem}.yaml"), text);
}

const PLAIN: &str = "{\"version\": 1}";

/// Runs tests, and gives each case with what it came to.
fn tested(scratch: &ScratchFolder, arguments: &[&str]) -> (i32, Vec<(String, String)>, Value) {
    let found = run(scratch, &[&["test", "--json"], arguments].concat());
    let report = json(&found);
    (found.code, outcomes(&report), report)
}

fn outcomes(report: &Value) -> Vec<(String, String)> {
    let text = |row: &Value, field: &str| row[field].as_str().unwrap_or_default().to_owned();
    report["cases"].as_array().into_iter().flatten().map(|row| (text(row, "case"), text(row, "outcome"))).collect()
}

fn pairs(all: &[(&str, &str)]) -> Vec<(String, String)> {
    all.iter().map(|(case, outcome)| ((*case).to_owned(), (*outcome).to_owned())).collect()
}

/// The first failure of the first case.
fn failure(report: &Value) -> &Value {
    &report["cases"][0]["failures"][0]
}

/// Whether some process was started with this word.
fn is_running(word: &str) -> bool {
    let all = fs::read_dir("/proc").expect("the kernel tells of processes").flatten();
    all.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok())
        .any(|line| line.split(|byte| *byte == 0).any(|part| part == word.as_bytes()))
}

#[test]
fn expectations_decide_what_a_case_comes_to() {
    let scratch = ScratchFolder::new();
    scratch.write_file("s/out.json", r#"{"a": {"b": 1, "c": 2}, "l": [{"x": 1, "y": 2}]}"#);
    let all = [
        ("exit-default", "true", "", "pass"),
        ("exit-default-not", "false", "", "fail"),
        ("exit-3", "exit 3", "exit-code: 3", "pass"),
        ("exit-3-not", "true", "exit-code: 3", "fail"),
        ("json", "cat out.json", "stdout-json: {a: {b: 1.0}, l: [{x: 1}]}", "pass"),
        ("json-not", "cat out.json", "stdout-json: {a: {b: 2}}", "fail"),
        ("json-none", "echo no", "stdout-json: {}", "fail"),
        ("not", "echo ok", "not-contains: [ERROR]", "pass"),
        ("not-err", "echo ERROR >&2", "not-contains: [ERROR]", "fail"),
        ("not-out", "echo ERROR", "not-contains: [ERROR]", "fail"),
        ("stderr", "echo oops >&2", "stderr-contains: [oops]", "pass"),
        ("stderr-not", "echo oops", "stderr-contains: [oops]", "fail"),
        ("stdout", "echo one; echo two", "stdout-contains: [one, two]", "pass"),
        ("stdout-not", "echo one >&2", "stdout-contains: [one]", "fail"),
        ("stdout-one-not", "echo one", "stdout-contains: [one, two]", "fail"),
    ];
    let written: Vec<(&str, &str, &str)> =
        all.iter().map(|(stem, command, expected, _)| (*stem, *command, *expected)).collect();
    cases(&scratch, "s", PLAIN, &written);
    let (code, found, report) = tested(&scratch, &["s"]);
    let mut wanted: Vec<(&str, &str)> = all.iter().map(|(stem, _, _, outcome)| (*stem, *outcome)).collect();
    wanted.sort_unstable();
    assert_eq!((code, found), (1, pairs(&wanted)), "{report}");
    assert_eq!(report["summary"]["passed"], 6);
    assert_eq!(report["summary"]["failed"], 9);
    let text = run(&scratch, &["test", "s", "--case", "json-not"]);
    assert!(text.stdout.contains("`$.a.b` is 1, expected 2"), "{text:?}");
}

#[test]
fn a_case_runs_at_the_root_with_its_input_and_variables() {
    let scratch = ScratchFolder::new();
    cases(
        &scratch,
        "s",
        r#"{"version": 1, "env": {"WORD": "hello", "COUNT": 3}}"#,
        &[
            ("1-root", "test -f SKILL.md && basename \"$PWD\"", "stdout-contains: [\"s\\n\"]"),
            ("2-env", "echo \"$WORD $COUNT\"", "stdout-contains: [hello 3]"),
        ],
    );
    case(&scratch, "s", "3-stdin", "command: cat\nstdin: \"a line\\n\"", "stdout-contains: [a line]");
    case(&scratch, "s", "4-null", "command: \"wc -c | tr -d ' '\"\nstdin: null", "stdout-contains: [\"0\\n\"]");
    case(&scratch, "s", "5-none", "command: \"wc -c | tr -d ' '\"", "stdout-contains: [\"0\\n\"]");
    case(
        &scratch,
        "s",
        "6-script",
        "command: ./scripts/a.sh | tr a-z A-Z\nfiles: [scripts/a.sh]",
        "stdout-contains: [RAN]",
    );
    let script = scratch.write_file("s/scripts/a.sh", "#!/bin/sh\necho ran\n");
    fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let secret = [("WORD", "from outside"), ("LEAK", "leaked")];
    case(&scratch, "s", "7-minimal", "command: env", "not-contains: [leaked, from outside]");
    let found = scratch.run_with_environment(rep(), &["test", "s"], &secret);
    assert_eq!(found.code, 0, "{found:?}");
}

#[test]
fn the_interpreters_of_this_machine_are_on_the_path() {
    let scratch = ScratchFolder::new();
    let runtimes = installed();
    skill(&scratch, "s", "");
    scratch.write_file("s/tests/test-config.json", PLAIN);
    for (runtime, command) in [("python", "python3 -c 'import json; print(6 * 7)'"), ("node", "node -p '6 * 7'")] {
        if runtimes.contains(&runtime) {
            case(&scratch, "s", runtime, &format!("command: {}", json!(command)), "stdout-contains: [\"42\"]");
        }
    }
    let (environment, data) = (environment(), scratch.work_folder().join("data").display().to_string());
    let mut environment: Vec<(&str, &str)> =
        environment.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    environment.push(("XDG_DATA_HOME", &data));
    let found = scratch.run_with_environment(rep(), &["test", "s"], &environment);
    assert_eq!(found.code, 0, "{found:?}");
}

#[test]
fn a_program_that_is_not_there_is_explained() {
    let scratch = ScratchFolder::new();
    cases(&scratch, "s", PLAIN, &[("a", "no-such-program-at-all", "")]);
    let found = scratch.run_with_environment(rep(), &["test", "s"], &[("PATH", "/usr/bin:/bin")]);
    assert!(found.code == 1 && found.stdout.contains("the shell did not find the program"), "{found:?}");
}

#[test]
fn settings_that_are_broken_are_told_and_nothing_is_run() {
    for (config, words) in [
        (Some("{\"timeout\": 5}"), "has no `version`"),
        (Some("{\"version\": 2}"), "only 1 is supported"),
        (Some("{\"version\": \"1\"}"), "is not a number"),
        (Some("{"), "is not valid JSON"),
        (None, "is missing, but there are cases"),
    ] {
        let scratch = ScratchFolder::new();
        cases(&scratch, "s", config.unwrap_or("{}"), &[("a", "true", "")]);
        if config.is_none() {
            fs::remove_file(scratch.work_folder().join("s/tests/test-config.json")).unwrap();
        }
        let (code, found, report) = tested(&scratch, &["./s"]);
        assert_eq!((code, found), (2, pairs(&[("test-config.json", "error")])), "{report}");
        assert!(failure(&report)["message"].as_str().unwrap().contains(words), "{report}");
        assert!(failure(&report)["help"].is_string(), "{report}");
    }
}

#[test]
fn a_case_that_is_written_wrongly_is_an_error_with_its_line() {
    let scratch = ScratchFolder::new();
    cases(&scratch, "s", PLAIN, &[("good", "true", "")]);
    let long = "a".repeat(65);
    for (stem, text) in [
        ("a-name", "name: Bad Name\ninput: {command: \"true\"}\n".to_owned()),
        ("b-long", format!("name: {long}\ninput: {{command: \"true\"}}\n")),
        ("c-none", "input: {command: \"true\"}\n".to_owned()),
        ("d-command", "name: d\ninput: {}\n".to_owned()),
        ("e-fixture", "name: e\ninput: {command: \"true\", files: [tests/fixtures/nope.pdf]}\n".to_owned()),
        ("f-typo", "name: f\ninput: {command: \"false\"}\nexpected: {exit-cod: 1}\n".to_owned()),
        ("g-nul", "name: g\ninput: {command: \"echo \\0\"}\n".to_owned()),
        ("h-outside", "name: h\ninput: {command: \"true\", files: [../../x]}\n".to_owned()),
        ("i-yaml", "name: [\n".to_owned()),
        ("j-huge", format!("name: j\ninput: {{command: \"true\"}}\n# {}\n", "x".repeat(2 << 20))),
        ("k-deep", format!("name: {}", "[".repeat(5_000))),
    ] {
        scratch.write_file(&format!("s/tests/cases/{stem}.yaml"), text);
    }
    scratch.write_file("s/tests/cases/l-bytes.yaml", [b'n', 0xff, 0xfe]);
    let (code, found, report) = tested(&scratch, &["s"]);
    assert_eq!(code, 1, "{report}");
    assert_eq!(found.iter().filter(|(_, outcome)| outcome == "error").count(), 12, "{report}");
    assert!(found.contains(&("good".to_owned(), "pass".to_owned())), "{report}");
    let typo = report["cases"].as_array().unwrap().iter().find(|row| row["case"] == "f-typo").unwrap();
    let fault = &typo["failures"][0];
    assert_eq!((&fault["file"], &fault["line"]), (&json!("tests/cases/f-typo.yaml"), &json!(3)), "{report}");
    assert_eq!(fault["help"], "did you mean `exit-code`?");
}

#[test]
fn only_yaml_files_of_the_folder_are_cases() {
    let scratch = ScratchFolder::new();
    cases(&scratch, "s", PLAIN, &[("10", "true", ""), ("1", "true", ""), ("2", "true", "")]);
    for other in ["notes.md", "x.json", "y.yml", "deep/z.yaml", ".hidden.yaml"] {
        scratch.write_file(&format!("s/tests/cases/{other}"), "name: x\ninput: {command: \"false\"}\n");
    }
    let found = run(&scratch, &["test", "s", "--json"]);
    assert_eq!(outcomes(&json(&found)), pairs(&[("1", "pass"), ("10", "pass"), ("2", "pass")]), "{found:?}");
    assert!(found.stderr.contains("y.yml"), "what looks like a case and is none is told: {found:?}");
}

#[test]
fn time_that_is_over_ends_all_that_was_started() {
    let scratch = ScratchFolder::new();
    let mark = format!("7{}.5", std::process::id());
    let command = format!("sleep {mark} & (setsid sleep {mark} &); sleep {mark}");
    cases(&scratch, "s", r#"{"version": 1, "timeout": 0.4}"#, &[("slow", &command, "")]);
    let (code, found, report) = tested(&scratch, &["s"]);
    assert_eq!((code, found), (1, pairs(&[("slow", "fail")])), "{report}");
    assert_eq!(failure(&report)["expectation"], "timeout", "{report}");
    assert!(!is_running(&mark));
}

#[test]
fn what_a_case_leaves_behind_goes_with_it() {
    let scratch = ScratchFolder::new();
    let mark = format!("8{}.5", std::process::id());
    let command = format!("(setsid nohup sleep {mark} >/dev/null 2>&1 &) ; echo started");
    cases(&scratch, "s", PLAIN, &[("forks", &command, "stdout-contains: [started]")]);
    let temporary = scratch.work_folder().join("tmp");
    fs::create_dir_all(&temporary).unwrap();
    let environment = [("TMPDIR", temporary.to_str().unwrap())];
    let found = scratch.run_with_environment(rep(), &["test", "s"], &environment);
    assert_eq!(found.code, 0, "{found:?}");
    assert!(!is_running(&mark));
    // The folder for copies stays, empty.
    let left = |folder: fs::DirEntry| fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(
        fs::read_dir(&temporary).unwrap().map(|folder| left(folder.unwrap())).sum::<usize>(),
        0,
        "no copy is left"
    );
}

#[test]
fn a_case_can_damage_neither_the_skill_nor_another_case_nor_anything_else() {
    let scratch = ScratchFolder::new();
    let home = scratch.work_folder().parent().unwrap().join("home");
    fs::create_dir_all(home.join(".ssh")).unwrap();
    fs::write(home.join(".ssh/id"), "PRIVATE KEY").unwrap();
    let outside = scratch.work_folder().join("outside");
    let key = home.join(".ssh/id").display().to_string();
    let before =
        |scratch: &ScratchFolder| (scratch.read_file("s/SKILL.md"), scratch.read_file("s/tests/cases/1-change.yaml"));
    cases(
        &scratch,
        "s",
        PLAIN,
        &[
            (
                "1-change",
                "echo changed >> SKILL.md; echo new > new.txt; rm -r tests; cat new.txt",
                "stdout-contains: [new]",
            ),
            ("2-fresh", "test ! -e new.txt && test -f tests/test-config.json", ""),
            ("3-gone", "rm -rf \"$PWD\"/* \"$PWD\"; echo done", "stdout-contains: [done]"),
            ("4-outside", &format!("echo x > {}", outside.display()), ""),
            ("5-key", &format!("cat {key} ~/.ssh/id"), "stdout-contains: [PRIVATE]"),
            ("6-net", "exec 3<>/dev/tcp/127.0.0.1/9", ""),
            ("7-tmp", "echo x > /tmp/a && echo y > \"$TMPDIR/b\" && cat \"$TMPDIR/b\"", "stdout-contains: [y]"),
        ],
    );
    let held = before(&scratch);
    let found = run(&scratch, &["test", "s", "--json", "--jobs", "1"]);
    let wanted = [
        ("1-change", "pass"),
        ("2-fresh", "pass"),
        ("3-gone", "pass"),
        ("4-outside", "fail"),
        ("5-key", "fail"),
        ("6-net", "fail"),
        ("7-tmp", "pass"),
    ];
    assert_eq!(outcomes(&json(&found)), pairs(&wanted), "{found:?}");
    assert_eq!(before(&scratch), held);
    assert!(!outside.exists() && !found.stdout.contains("PRIVATE KEY"), "{found:?}");
}

#[test]
fn output_that_is_endless_or_no_text_does_no_harm() {
    let scratch = ScratchFolder::new();
    cases(
        &scratch,
        "s",
        PLAIN,
        &[
            ("flood", "yes", ""),
            ("bytes", "printf '\\377\\376\\033[31mok<&>\"\\001\\n'; printf 'é' >&2; false", "stdout-contains: [ok]"),
        ],
    );
    let found = run(&scratch, &["test", "s", "--json", "--junit", "out.xml"]);
    let report = json(&found);
    assert_eq!(outcomes(&report), pairs(&[("bytes", "fail"), ("flood", "fail")]), "{found:?}");
    assert_eq!(report["cases"][1]["failures"][0]["expectation"], "limit", "{report}");
    assert!(found.stdout.len() < 100_000, "a flood is cut");
    let text = run(&scratch, &["test", "s", "--case", "bytes"]);
    assert!(!text.stdout.contains('\u{1b}'), "{text:?}");
    let xml = scratch.read_file("out.xml");
    assert!(!xml.chars().any(|letter| letter < ' ' && letter != '\n'), "control characters are not in XML");
    assert!(xml.contains("tests=\"2\" failures=\"2\" errors=\"0\""), "{}", &xml[..300]);
    if installed().contains(&"python") {
        let program = "import sys, xml.etree.ElementTree as t; print(len(t.parse(sys.argv[1]).findall('.//failure')))";
        let file = scratch.work_folder().join("out.xml");
        let parsed = Command::new("python3").args(["-c", program]).arg(file).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&parsed.stdout).trim(), "2", "{parsed:?}");
    }
}

#[test]
fn links_are_followed_inside_of_the_skill_alone() {
    let scratch = ScratchFolder::new();
    cases(&scratch, "s", PLAIN, &[("real", "true", "")]);
    scratch.write_file("secret.yaml", "name: x\ninput: {command: \"true\"}\n");
    symlink("real.yaml", scratch.work_folder().join("s/tests/cases/inside.yaml")).unwrap();
    symlink(scratch.work_folder().join("secret.yaml"), scratch.work_folder().join("s/tests/cases/outside.yaml"))
        .unwrap();
    let (_, found, report) = tested(&scratch, &["s"]);
    assert_eq!(found, pairs(&[("inside", "pass"), ("outside", "error"), ("real", "pass")]), "{report}");
}

#[test]
fn a_case_is_chosen_by_its_stem_and_then_by_its_name() {
    let scratch = ScratchFolder::new();
    cases(&scratch, "s", PLAIN, &[]);
    for (stem, name) in [("01-basic", "basic"), ("02-more", "01-basic"), ("03-same", "same"), ("04-same", "same")] {
        scratch
            .write_file(&format!("s/tests/cases/{stem}.yaml"), format!("name: {name}\ninput: {{command: \"true\"}}\n"));
    }
    let one = |word: &str| tested(&scratch, &["s", "--case", word]);
    assert_eq!(one("01-basic").1, pairs(&[("01-basic", "pass")]), "the stem comes first");
    assert_eq!(one("basic").1, pairs(&[("01-basic", "pass")]));
    let (code, _, report) = one("same");
    assert_eq!((code, &report["error"]["code"]), (2, &json!("AMBIGUOUS")), "{report}");
    let missing = run(&scratch, &["test", "s", "--case", "01-basik"]);
    assert!(missing.code == 2 && missing.stderr.contains("did you mean `01-basic`?"), "{missing:?}");
}

#[test]
fn without_an_argument_every_skill_below_is_tested() {
    let scratch = ScratchFolder::new();
    cases(&scratch, "skills/a", PLAIN, &[("01", "true", "")]);
    cases(&scratch, "skills/b", PLAIN, &[("01", "true", ""), ("02", "false", "")]);
    skill(&scratch, "skills/c", "");
    let (code, found, report) = tested(&scratch, &[]);
    assert_eq!((code, found), (1, pairs(&[("01", "pass"), ("01", "pass"), ("02", "fail")])), "{report}");
    assert_eq!(report["summary"]["skills"], 3);
    for arguments in [&["--skill", "a"][..], &["skills/a"], &["skills", "--skill", "a"], &["--path", "skills", "a"]] {
        let (code, found, report) = tested(&scratch, arguments);
        assert_eq!((code, found), (0, pairs(&[("01", "pass")])), "{arguments:?}: {report}");
    }
    let none = run(&scratch, &["test", "skills/c"]);
    assert_eq!((none.code, none.stdout.as_str()), (0, "no tests in 1 skill\n"), "{none:?}");
    for arguments in [&["nobody"][..], &["--skill", "nobody"], &["skills", "--skill", "nobody"], &["./nowhere"]] {
        let missing = run(&scratch, &[&["test"], arguments].concat());
        assert_eq!(missing.code, 2, "{arguments:?}: {missing:?}");
    }
    let empty = ScratchFolder::new();
    assert_eq!(run(&empty, &["test"]).code, 2, "a folder without skills holds nothing to test");
}

#[test]
fn the_order_is_the_same_however_many_run_at_once() {
    let scratch = ScratchFolder::new();
    for name in ["a", "b"] {
        let all: Vec<(String, String)> =
            (0..8).map(|number| (format!("{number:02}"), format!("test {} -ne 3", number % 5))).collect();
        let all: Vec<(&str, &str, &str)> =
            all.iter().map(|(stem, command)| (stem.as_str(), command.as_str(), "")).collect();
        cases(&scratch, name, PLAIN, &all);
    }
    let rows = |jobs: &str| {
        let found = run(&scratch, &["test", "--jobs", jobs]);
        let without_time = |line: &str| line.split("  (").next().unwrap_or_default().to_owned();
        found.stdout.lines().filter(|line| !line.contains(" in 2 skills ")).map(without_time).collect::<Vec<String>>()
    };
    let one = rows("1");
    assert_eq!(one.iter().filter(|line| line.starts_with("FAIL")).count(), 2, "{one:?}");
    assert_eq!(one, rows("8"));
}

#[test]
fn smoke_tests_call_tools_through_the_runtime() {
    let scratch = ScratchFolder::new();
    let fields = "spec_version: \"2.1\"\nversion: 1.0.0\npermissions: {filesystem: {read: ['data/*.txt'], write: ['out/**']}, network: {outbound: []}, processes: {allow_subprocess: false}}\ntools:\n  - name: look\n    description: Looks.\n    input_schema: {type: object, properties: {path: {type: string}}, required: [path], additionalProperties: false}\n    output_schema: {type: object, properties: {text: {type: string}}, required: [text]}\n    implementation: {runtime: bash, entrypoint: scripts/look.sh}\nevaluation:\n  smoke_tests:\n    - {name: reads, tool: look, input: {path: data/a.txt}, expect: {text: hello}}\n    - {tool: look, input: {path: data/a.txt}, expect: {text: other}}\n    - {name: refused, tool: look, input: {}, expect: {status: error, error: {code: INVALID_ARGUMENT}}}\n    - {name: unexpected, tool: look, input: {}}\n    - {name: denied, tool: look, input: {path: SECRET}}\n    - {name: unknown, tool: lock}\n    - {name: typo, tool: look, expects: {}}\n";
    skill(&scratch, "s", fields);
    scratch.write_file("s/data/a.txt", "hello\n");
    scratch.write_file("s/SECRET", "hidden\n");
    scratch.write_file(
        "s/scripts/look.sh",
        "read -r input; path=${input#*\\\"path\\\":\\\"}; path=${path%%\\\"*}\nread -r text < \"$path\" || exit 1\nprintf '{\"text\": \"%s\"}' \"$text\"\n",
    );
    let (code, found, report) = tested(&scratch, &["s"]);
    let wanted = [
        ("smoke:reads", "pass"),
        ("smoke:2", "fail"),
        ("smoke:refused", "pass"),
        ("smoke:unexpected", "error"),
        ("smoke:denied", "fail"),
        ("smoke:unknown", "error"),
        ("smoke:typo", "error"),
    ];
    assert_eq!((code, found), (1, pairs(&wanted)), "{report}");
    assert_eq!(report["cases"][1]["failures"][0]["at"], "$.text", "{report}");
    // Of five calls, two had arguments that do not fit.
    assert_eq!(report["summary"]["tool_calls"], 5, "{report}");
    assert_eq!(report["summary"]["tool_calls_conforming"], 3, "{report}");
    assert_eq!(tested(&scratch, &["s", "--case", "reads"]).1, pairs(&[("smoke:reads", "pass")]));
}

#[test]
fn evals_are_counted_and_not_run() {
    let scratch = ScratchFolder::new();
    cases(&scratch, "s", PLAIN, &[("a", "true", "")]);
    let eval = json!({"id": 1, "prompt": "p", "expected_output": "o"});
    scratch.write_file(
        "s/evals/evals.json",
        json!({"skill_name": "s", "evals": [eval, {"id": 2, "prompt": "p", "expected_output": "o"}]}).to_string(),
    );
    let (code, _, report) = tested(&scratch, &["s"]);
    assert_eq!((code, &report["evals"]), (0, &json!(2)), "{report}");
    scratch.write_file("s/evals/evals.json", "{\"evals\": [{}]}");
    let found = run(&scratch, &["test", "s"]);
    assert!(found.code == 0 && found.stderr.contains("evals/evals.json: has no `skill_name`"), "{found:?}");
}

#[test]
fn an_agent_is_asked_with_the_skill_and_without_it() {
    let scratch = ScratchFolder::new();
    skill(&scratch, "s", "");
    scratch.write_file("s/evals/files/in.txt", "input");
    let eval = json!({
        "id": 1, "prompt": "count", "expected_output": "three", "files": ["evals/files/in.txt"],
        "assertions": ["The output contains \"three\"", "The file `made.txt` exists", "It reads well"],
    });
    scratch.write_file("s/evals/evals.json", json!({"skill_name": "s", "evals": [eval]}).to_string());
    let agent = "read -r prompt || true; test -f evals/files/in.txt || exit 1; echo x > made.txt\n\
                 echo '{\"total_tokens\": 7}' > \"$REP_EVAL_TIMING\"\n\
                 if test -f \"$REP_EVAL_SKILL/SKILL.md\"; then echo \"$prompt: three\"; else echo \"$prompt: two\"; fi\n";
    let agent = scratch.write_file("agent.sh", agent).display().to_string();
    let found = run(&scratch, &["test", "./s", "--json", "--evals", "--out", "results", "--agent", "sh", &agent]);
    assert_eq!(found.code, 0, "{found:?}");
    let read = |path: &str| -> Value { serde_json::from_str(&scratch.read_file(path)).expect("it is JSON") };
    let summary = read("results/iteration-1/benchmark.json")["run_summary"].clone();
    assert_eq!(
        (&summary["with_skill"]["pass_rate"]["mean"], &summary["delta"]["pass_rate"]),
        (&json!(1.0), &json!(0.5))
    );
    let grading = read("results/iteration-1/s/eval-1/without_skill/grading.json");
    assert_eq!(grading["assertion_results"][0]["passed"], false, "{grading}");
    assert_eq!(grading["assertion_results"][2]["passed"], Value::Null, "{grading}");
    assert_eq!(grading["summary"]["ungraded"], 1);
    assert_eq!(read("results/iteration-1/s/eval-1/with_skill/timing.json")["total_tokens"], json!(7.0));
    assert_eq!(scratch.read_file("results/iteration-1/s/eval-1/with_skill/outputs/response.txt"), "count: three\n");
    let again = run(&scratch, &["test", "./s", "--evals", "--out", "results", "--agent", "no-such-agent"]);
    assert!(again.code == 2 && again.stderr.contains("`no-such-agent` was not found"), "{again:?}");
    assert_eq!(run(&scratch, &["test", "./s", "--evals"]).code, 2, "evals need an agent");
    assert_eq!(run(&scratch, &["test", "--evals", "--agent", "sh"]).code, 3, "what the agent reads is named");
}

#[test]
fn an_untrusted_skill_is_refused_by_name_and_tested_by_path() {
    let scratch = ScratchFolder::new();
    cases(&scratch, ".claude/skills/theirs", PLAIN, &[("a", "true", "")]);
    let (code, _, report) = tested(&scratch, &["theirs"]);
    assert_eq!((code, &report["error"]["code"]), (3, &json!("UNTRUSTED")), "{report}");
    assert_eq!(tested(&scratch, &["./.claude/skills/theirs"]).0, 0);
    assert_eq!(tested(&scratch, &["theirs", "--trust"]).0, 0);
}

#[test]
fn secrets_go_to_skills_that_are_named_and_to_no_other() {
    let scratch = ScratchFolder::new();
    cases(&scratch, "s", PLAIN, &[("a", "test \"$API_KEY\" = tops3cret && echo \"$API_KEY\"", "")]);
    skill(&scratch, "s", "secrets: {required: [{name: API_KEY, usage: env}]}\n");
    let with_key = |arguments: &[&str]| {
        scratch.run_with_environment(rep(), &[&["test", "--json"], arguments].concat(), &[("API_KEY", "tops3cret")])
    };
    let named = with_key(&["./s"]);
    assert_eq!(named.code, 0, "{named:?}");
    assert!(!named.stdout.contains("tops3cret"));
    for found in [with_key(&[]), run(&scratch, &["test", "--json", "./s"])] {
        assert_eq!(found.code, 3, "{found:?}");
        assert_eq!(failure(&json(&found))["code"], "SECRET_MISSING", "{found:?}");
    }
    skill(&scratch, "s", "secrets: {required: [{name: API_KEY, usage: env, optional: true}]}\n");
    assert_eq!((with_key(&["./s"]).code, with_key(&[]).code), (0, 1), "an optional one is passed on where it may be");
}

#[test]
fn what_the_machine_denies_is_refused_and_every_case_is_on_record() {
    let scratch = ScratchFolder::new();
    cases(&scratch, "s", PLAIN, &[("a", "true", ""), ("b", "false", "")]);
    assert_eq!(tested(&scratch, &["s"]).0, 1);
    let runs = json(&run(&scratch, &["audit", "--json"]));
    let mut told: Vec<(&str, &str)> = runs["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| (run["tool"].as_str().unwrap(), run["outcome"].as_str().unwrap()))
        .collect();
    told.sort_unstable();
    assert_eq!(told, [("test:a", "ok"), ("test:b", "COMMAND_FAILED")]);
    assert_eq!(run(&scratch, &["audit", "verify"]).code, 0);
    let settings = scratch.work_folder().parent().unwrap().join("home/.config/repertoire/rep.yaml");
    fs::create_dir_all(settings.parent().unwrap()).unwrap();
    fs::write(settings, "policy:\n  deny:\n    skills: [s]\n").unwrap();
    let (code, _, report) = tested(&scratch, &["s"]);
    assert_eq!((code, &failure(&report)["code"]), (3, &json!("POLICY_DENIED")), "{report}");
}

#[test]
fn an_interrupt_ends_the_cases_and_is_told() {
    let scratch = ScratchFolder::new();
    let mark = format!("9{}.5", std::process::id());
    let pipe = scratch.work_folder().join("begun");
    let command = format!("echo > {}; sleep {mark}", pipe.display());
    cases(&scratch, "s", PLAIN, &[("a", &command, ""), ("b", "true", "")]);
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let child = Command::new(rep())
        .args(["test", "s", "--json", "--no-sandbox", "--jobs", "1"])
        .current_dir(scratch.work_folder())
        .env("HOME", scratch.work_folder().parent().unwrap().join("home"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    fs::File::open(&pipe).unwrap().read_to_end(&mut Vec::new()).unwrap();
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("WITHOUT a sandbox"), "{output:?}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(outcomes(&report), pairs(&[("a", "error")]), "what was not begun is not told of: {report}");
    assert!(!is_running(&mark));
}

#[test]
fn every_example_and_every_scaffold_passes_its_own_tests() {
    let scratch = ScratchFolder::new();
    let runtimes = installed();
    let (environment, data) = (environment(), scratch.work_folder().join("data").display().to_string());
    let mut environment: Vec<(&str, &str)> =
        environment.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    environment.push(("XDG_DATA_HOME", &data));
    for runtime in &runtimes {
        assert_eq!(run(&scratch, &["init", &format!("with-{runtime}"), "--tool", runtime]).code, 0);
    }
    assert_eq!(run(&scratch, &["init", "tested", "--profile", "aam"]).code, 0);
    let found = scratch.run_with_environment(rep(), &["test", "--json"], &environment);
    assert_eq!((found.code, &json(&found)["summary"]["passed"]), (0, &json!(runtimes.len() + 1)), "{found:?}");
    if runtimes.len() == 3 {
        let examples = std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples");
        let found = scratch.run_with_environment(rep(), &["test", examples.to_str().unwrap(), "--json"], &environment);
        let report = json(&found);
        assert_eq!(found.code, 0, "{found:?}");
        assert!(report["summary"]["passed"].as_u64() >= Some(20), "{report}");
    }
}

#[test]
fn a_change_is_tested_again() {
    let scratch = ScratchFolder::new();
    cases(&scratch, "s", PLAIN, &[("a", "true", "")]);
    let child = Command::new(rep())
        .args(["test", "./s", "--watch", "--junit", "s/out.xml"])
        .current_dir(scratch.work_folder())
        .env("HOME", scratch.work_folder().parent().unwrap().join("home"))
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut watching = Watching(child);
    let mut lines = BufReader::new(watching.0.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.starts_with("1 passed")));
    case(&scratch, "s", "a", "command: \"false\"", "");
    assert!(lines.any(|line| line.starts_with("0 passed, 1 failed")));
    case(&scratch, "s", "a", "command: \"true\"", "");
    assert!(lines.any(|line| line.starts_with("1 passed")));
    assert!(Command::new("kill").args(["-INT", &watching.0.id().to_string()]).status().unwrap().success());
    assert_eq!(watching.0.wait().unwrap().code(), Some(130));
}

#[test]
fn a_skill_that_was_not_named_does_not_reach_this_machine() {
    let scratch = ScratchFolder::new();
    let server = rep_test_support::TestServer::start(|_, _| rep_test_support::build_response("200 OK", &[], "hello"));
    let fields = format!(
        "spec_version: \"2.1\"\nversion: 1.0.0\npermissions: {{network: {{outbound: ['127.0.0.1:{}']}}}}\n",
        server.port
    );
    let knock = format!("bash -c 'exec 3<>/dev/tcp/127.0.0.1/{}'", server.port);
    cases(&scratch, "s", PLAIN, &[("a", &knock, "exit-code: 0")]);
    skill(&scratch, "s", &fields);
    let all = run(&scratch, &["test", "--json"]);
    assert_ne!(json(&all)["cases"][0]["outcome"], "pass", "{all:?}");
    let named = run(&scratch, &["test", "./s", "--json"]);
    assert_eq!(json(&named)["cases"][0]["outcome"], "pass", "{named:?}");
}
