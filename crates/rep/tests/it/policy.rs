//! `rep policy` and `rep deps`: what may be done, asked through the binary.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Command, Stdio};

use insta::assert_snapshot;
use rep_test_support::{DEADLINE, ScratchFolder};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::{json, rep, run, stable, transcript};

const SKILL: &str = "---\nname: forms\ndescription: Fills forms. Use for forms.\nspec_version: \"2.1\"\nversion: 1.0.0\n\
permissions:\n  filesystem: {read: ['docs/**', '!docs/x'], write: ['output/**', 'skills/**']}\n  network: {outbound: [api.example.org]}\n\
safety:\n  require_confirmation_for: [destructive_writes]\n  redact: {secrets: true, pii: true}\n\
secrets: {required: [{name: FORMS_KEY, usage: env, optional: true}]}\n\
tools:\n  - name: fill\n    description: Fills.\n    confirmation: {level: always, prompt: \"Fill it \\e[31mnow?\"}\n\
\x20   input_schema: {type: object, additionalProperties: false, properties: {}}\n\
\x20   implementation: {runtime: bash, entrypoint: scripts/fill.sh, timeout_seconds: 5, dependencies: {pip: [x==1], system: [poppler], notes: Vendored.}}\n\
\x20 - name: broken\n    description: Broken.\n    input_schema: {type: object}\n    implementation: {runtime: bash, entrypoint: ../fill.sh}\n---\n\n# Forms\n";

pub(super) fn scratch() -> ScratchFolder {
    let scratch = ScratchFolder::new();
    scratch.write_file("skills/forms/SKILL.md", SKILL);
    scratch.write_file("skills/forms/scripts/fill.sh", "echo '{}'\n");
    scratch.write_file("docs/a.pdf", "");
    scratch.write_file("secret.txt", "");
    scratch
}

#[test]
fn a_question_is_answered_in_json_and_in_the_exit_code() {
    let scratch = scratch();
    symlink(scratch.work_folder().join("secret.txt"), scratch.work_folder().join("docs/link.pdf")).unwrap();
    let absolute = scratch.work_folder().join("skills/forms/SKILL.md");
    for (question, is_allowed, by) in [
        (["--read", "docs/a.pdf"], true, "permissions.filesystem.read: docs/**"),
        (["--read", "docs\\a.pdf"], true, "permissions.filesystem.read: docs/**"),
        (["--read", "docs/../secret.txt"], false, "default deny"),
        (["--read", "docs/link.pdf"], false, "default deny"),
        (["--read", "/etc/passwd"], false, "default deny"),
        (["--read", "output/a.txt"], false, "default deny"),
        (["--read", absolute.to_str().unwrap()], true, "the skill's own directory"),
        (["--write", "output/new/a.txt"], true, "permissions.filesystem.write: output/**"),
        (["--write", "docs/a.pdf"], false, "default deny"),
        (["--write", "skills/other/a.txt"], false, "names that other programs trust"),
        (["--write", "skills/forms/scripts/fill.sh"], false, "the skill's own directory"),
        (["--connect", "API.example.org:443"], true, "permissions.network.outbound: api.example.org"),
        (["--connect", "api.example.org:22"], false, "default deny"),
        (["--connect", "example.org"], false, "default deny"),
    ] {
        let run = run(&scratch, &["policy", "skills/forms", question[0], question[1], "--json"]);
        let answer = json(&run);
        assert_eq!(
            (answer["allowed"].as_bool(), answer["by"].as_str()),
            (Some(is_allowed), Some(by)),
            "{question:?} {run:?}"
        );
        assert_eq!(run.code, if is_allowed { 0 } else { 3 }, "{question:?}");
        assert!(answer["why"].as_str().is_some_and(|why| !why.is_empty()));
    }
    assert_eq!(run(&scratch, &["policy", "skills/forms:fill", "--spawn"]).code, 3);
    let elsewhere = run(&scratch, &["policy", "skills/forms", "--read", "docs/a.pdf", "--workspace", "docs"]);
    assert_eq!(elsewhere.code, 0, "a file that is not there yet fits by its name: {elsewhere:?}");
    assert_eq!(run(&scratch, &["policy", "skills/forms", "--read", "x", "--workspace", "nowhere"]).code, 2);
}

#[test]
fn the_whole_policy_is_told_with_what_was_declared_in_vain() {
    let scratch = scratch();
    let told = run(&scratch, &["policy", "skills/forms"]);
    assert_snapshot!(transcript(&scratch, &told), @"
    exit code 0
    --- stdout ---
    forms
      reads its own directory, and `docs/**` in [WORK]
      makes, changes and removes `output/**`, `skills/**` in [WORK]
      connects to `api.example.org` on 443 and 80
      starts no other program
      uses the secret FORMS_KEY, which is not set and is optional
      `!docs/x` in `permissions.filesystem.read` grants nothing: negated patterns are not part of the specification
    forms:fill
      needs confirmation (destructive_writes, always); time limit 5 s
    forms:broken
      does not run: `implementation.entrypoint` is `../fill.sh`, which is not inside the skill; use a path inside the skill
    ");
    let told = json(&run(&scratch, &["policy", "skills/forms:fill", "--json"]));
    assert_eq!(told["tools"].as_array().unwrap().len(), 1);
    assert_eq!(told["tools"][0]["asks"], serde_json::json!(["destructive_writes", "always"]));
    assert_eq!(told["permissions"]["filesystem"]["write"], serde_json::json!(["output/**", "skills/**"]));
    assert_eq!(told["secrets"][0]["source"], "missing");
    let missing = run(&scratch, &["policy", "skills/forms:fil"]);
    assert_snapshot!(transcript(&scratch, &missing), @"
    exit code 2
    --- stderr ---
    error: `forms` has no tool `fil`
    help: did you mean `fill`?
    ");
}

#[test]
fn an_untrusted_skill_may_nothing() {
    let scratch = scratch();
    fs::create_dir_all(scratch.work_folder().join(".agents/skills")).unwrap();
    fs::rename(scratch.work_folder().join("skills/forms"), scratch.work_folder().join(".agents/skills/forms")).unwrap();
    let question = ["policy", "forms", "--read", "docs/a.pdf", "--json"];
    let answer = run(&scratch, &question);
    assert_eq!((answer.code, json(&answer)["by"].as_str()), (3, Some("trust")), "{answer:?}");
    assert_eq!(run(&scratch, &["trust"]).code, 0);
    assert_eq!(run(&scratch, &question).code, 0);
}

#[test]
fn the_users_settings_can_only_deny() {
    let scratch = scratch();
    let folder = scratch.work_folder().parent().unwrap().join("home/.config/repertoire");
    fs::create_dir_all(&folder).unwrap();
    let settings = folder.join("rep.yaml");
    for (text, code) in [
        ("policy: {deny: {skills: [other], hosts: [example.com], paths: ['secret/**']}}\n", 0),
        ("policy: {deny: {skills: [forms]}}\n", 3),
        ("policy: {deny: {hosts: ['*.example.org']}}\n", 3),
        // What is declared may hold such a file.
        ("policy: {deny: {paths: ['**/*.key']}}\n", 3),
        // A denial that cannot be read stops everything.
        ("policy: {deny: {paths: ['!x']}}\n", 2),
        ("policy: {allow: {paths: ['**']}}\n", 2),
    ] {
        fs::write(&settings, text).unwrap();
        let run = run(&scratch, &["policy", "skills/forms", "--read", "docs/a.pdf"]);
        assert_eq!(run.code, code, "{text} {run:?}");
    }
}

#[test]
fn dependencies_are_shown_and_never_installed() {
    let scratch = scratch();
    let shown = run(&scratch, &["deps", "skills/forms"]);
    assert_eq!(
        (shown.code, shown.stdout.as_str()),
        (0, "fill  pip  x==1\nfill  system  poppler\nfill  notes  Vendored.\n")
    );
    let shown = json(&run(&scratch, &["deps", "skills/forms:fill", "--json"]));
    assert_eq!(shown["tools"][0]["system"], serde_json::json!(["poppler"]));
}

/// Runs the binary on a terminal of its own: waits for words, types an answer, and gives back all that was seen.
pub(super) fn typed(scratch: &ScratchFolder, arguments: &[&str], awaited: &str, answer: &[u8]) -> (i32, String) {
    let is_optional = answer.is_empty();
    let (code, seen, is_answered) = watch(scratch, arguments, awaited, |main| {
        main.write_all(answer).expect("a terminal takes what is typed");
    });
    assert!(is_answered || is_optional, "`{awaited}` did not appear: {seen}");
    (code, seen)
}

/// Runs the binary on a terminal of its own, and calls `react` once some words appear. Returns the exit code, all that was
/// seen, and whether the words appeared.
pub(super) fn watch(
    scratch: &ScratchFolder,
    arguments: &[&str],
    awaited: &str,
    react: impl FnOnce(&mut File),
) -> (i32, String, bool) {
    let mut react = Some(react);
    let main = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("there are terminals");
    grantpt(&main).and_then(|()| unlockpt(&main)).expect("a terminal can be used");
    let name = ptsname(&main, Vec::new()).expect("a terminal has a name").into_string().expect("in ASCII");
    let end = File::options().read(true).write(true).open(name).expect("a terminal can be opened");
    let home = scratch.work_folder().parent().expect("a scratch has a root").join("home");
    let mut child = Command::new(rep())
        .args(arguments)
        .current_dir(scratch.work_folder())
        .env("HOME", home)
        .env("NO_COLOR", "1")
        .env_remove("XDG_DATA_HOME")
        .env_remove("XDG_CONFIG_HOME")
        .stdin(Stdio::from(end.try_clone().expect("a terminal can be shared")))
        .stdout(Stdio::null())
        .stderr(Stdio::from(end))
        .spawn()
        .expect("the binary can be started");
    let mut main = File::from(main);
    // A prompt that never appears fails the test instead of blocking it.
    let id = child.id().to_string();
    let (ended, is_ended) = std::sync::mpsc::channel::<()>();
    let guard = std::thread::spawn(move || {
        if is_ended.recv_timeout(DEADLINE).is_err() {
            Command::new("kill").args(["-9", &id]).status().ok();
        }
    });
    let mut seen = Vec::new();
    let mut piece = [0; 4096];
    // Reading fails once nobody has the other end any more.
    while let Ok(count @ 1..) = main.read(&mut piece) {
        seen.extend_from_slice(&piece[..count]);
        if String::from_utf8_lossy(&seen).contains(awaited)
            && let Some(react) = react.take()
        {
            react(&mut main);
        }
    }
    let code = child.wait().expect("the binary ends").code().unwrap_or(-1);
    ended.send(()).ok();
    guard.join().expect("the guard ends");
    (code, String::from_utf8_lossy(&seen).into_owned(), react.is_none())
}

#[test]
fn a_tool_is_approved_on_a_terminal_and_never_without_one() {
    let scratch = scratch();
    let approve = ["policy", "skills/forms:fill", "--approve"];
    let approved = |scratch: &ScratchFolder| {
        json(&run(scratch, &["policy", "skills/forms:fill", "--json"]))["tools"][0]["approved"].clone()
    };
    let refused = run(&scratch, &approve);
    assert_snapshot!(transcript(&scratch, &refused), @"
    exit code 3
    --- stderr ---
    error: `forms:fill` needs confirmation (destructive_writes, always), and no prompt is available
    help: run it in a terminal: an approval needs your answer
    ");
    let (code, seen) = typed(&scratch, &approve, "[N]o:", b"n\n");
    assert_eq!((code, approved(&scratch)), (3, serde_json::json!(false)), "{seen}");
    let (code, seen) = typed(&scratch, &approve, "[N]o:", b"yes\n");
    assert_eq!((code, approved(&scratch)), (0, serde_json::json!(true)), "{seen}");
    // The author's words are shown, and cannot steer the terminal.
    assert!(!seen.contains('\u{1b}'), "{seen:?}");
    // What follows is typed, and echoed by the terminal at any moment.
    let question = seen.split("[y]es").next().expect("a question ends with the choices").replace('\r', "");
    assert_snapshot!(stable(&scratch, &question), @r"
    run `fill` of `forms`?
      its author says: Fill it \u{1b}[31mnow?
      reads its own directory, and `docs/**` in [WORK]
      makes, changes and removes `output/**`, `skills/**` in [WORK]
      connects to `api.example.org` on 443 and 80
      starts no other program
      uses the secrets FORMS_KEY (optional)
      runs for 5 s at most, with 1024 MiB and 128 processes
      redacts secrets and personal data from its output
    ");
    let file = scratch.work_folder().parent().unwrap().join("home/.local/share/repertoire/approvals.json");
    assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    // Any byte of the skill that changes asks again; as it was, it is approved still.
    let script = scratch.read_file("skills/forms/scripts/fill.sh");
    scratch.write_file("skills/forms/scripts/fill.sh", "echo '{} '\n");
    assert_eq!(approved(&scratch), false);
    scratch.write_file("skills/forms/scripts/fill.sh", script);
    assert_eq!(approved(&scratch), true);
    assert_eq!(run(&scratch, &["policy", "skills/forms", "--forget"]).code, 0);
    assert_eq!(approved(&scratch), false);
}
