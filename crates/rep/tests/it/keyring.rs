//! The key of secrets in a real keyring: a bus and a Secret Service of the test's own.

use std::fs;
use std::process::{Command, Stdio};

use rep_test_support::{ProgramRun, ScratchFolder, is_program_installed};

use super::rep;

/// Runs a script in a session with a keyring that is unlocked. Returns `None`, and reports it, where the program is missing.
fn in_session(scratch: &ScratchFolder, script: &str) -> Option<ProgramRun> {
    if !["dbus-run-session", "gnome-keyring-daemon"].into_iter().all(is_program_installed) {
        return None;
    }
    let root = scratch.work_folder().parent().expect("a scratch has a root").to_owned();
    let begin =
        "printf word | gnome-keyring-daemon --unlock --components=secrets --daemonize >/dev/null 2>&1 || exit 99";
    let output = Command::new("dbus-run-session")
        .args(["--", "bash", "-c", &format!("{begin}\n{script}")])
        .current_dir(scratch.work_folder())
        .env("HOME", root.join("home"))
        .env("XDG_RUNTIME_DIR", &root)
        .env("REP", rep())
        .env("NO_COLOR", "1")
        .env_remove("XDG_DATA_HOME")
        .env_remove("DISPLAY")
        .stdin(Stdio::null())
        .output()
        .expect("a session can be started");
    Some(ProgramRun {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}

/// A skill whose tool says how long its secret is.
fn skill(scratch: &ScratchFolder) {
    scratch.write_file(
        "wants/SKILL.md",
        "---\nname: wants\ndescription: Wants a key. Use when testing keys.\nspec_version: \"2.1\"\nversion: 1.0.0\nsafety: {require_confirmation_for: [destructive_writes], redact: {secrets: true, pii: true}}\nsecrets: {required: [{name: A_KEY, usage: env}]}\ntools:\n  - name: tell\n    description: Tells.\n    input_schema: {type: object}\n    implementation: {runtime: bash, entrypoint: scripts/tell.sh}\n---\n\n# Wants\n",
    );
    scratch.write_file("wants/scripts/tell.sh", "echo \"{\\\"letters\\\": ${#A_KEY}}\"\n");
}

const ALONE: &str = "env -u DBUS_SESSION_BUS_ADDRESS -u XDG_RUNTIME_DIR";

#[test]
fn the_key_of_secrets_is_in_the_keyring_where_there_is_one() {
    let scratch = ScratchFolder::new();
    skill(&scratch);
    let script = format!(
        "set -x
        echo tops3cret | $REP secrets set A_KEY --json || exit 10
        $REP run ./wants:tell --input '{{}}' --yes || exit 11
        {ALONE} $REP run ./wants:tell --input '{{}}' --yes && exit 12
        dbus-send --session --print-reply --dest=org.freedesktop.secrets /org/freedesktop/secrets \\
          org.freedesktop.Secret.Service.Lock array:objpath:/org/freedesktop/secrets/collection/login >/dev/null || exit 13
        $REP run ./wants:tell --input '{{}}' --yes && exit 14
        exit 0"
    );
    let Some(run) = in_session(&scratch, &script) else { return };
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stdout.contains("\"key\": \"keyring\"") || run.stdout.contains("\"key\":\"keyring\""), "{run:?}");
    assert!(run.stdout.contains("\"letters\": 9") || run.stdout.contains("\"letters\":9"), "{run:?}");
    assert!(run.stdout.contains("no keyring is available in this session"), "{run:?}");
    assert!(run.stdout.contains("it is locked and was not unlocked"), "{run:?}");
    let folder = scratch.work_folder().parent().unwrap().join("home/.local/share/repertoire");
    assert!(!folder.join("secrets.key").exists());
    assert!(!fs::read_to_string(folder.join("secrets.json")).unwrap().contains("tops3cret"));
    crate::schemas::check_file("secrets-file", &folder.join("secrets.json"));
}

#[test]
fn the_key_is_moved_and_nothing_is_lost() {
    let scratch = ScratchFolder::new();
    skill(&scratch);
    let script = format!(
        "echo tops3cret | $REP secrets set A_KEY --for wants || exit 10
        $REP secrets key file || exit 11
        {ALONE} $REP run ./wants:tell --input '{{}}' --yes || exit 12
        $REP secrets key keyring --json || exit 13
        {ALONE} $REP run ./wants:tell --input '{{}}' --yes && exit 14
        $REP run ./wants:tell --input '{{}}' --yes || exit 15
        {ALONE} $REP secrets key file && exit 16
        {ALONE} $REP secrets key || exit 17
        exit 0"
    );
    let Some(run) = in_session(&scratch, &script) else { return };
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stderr.contains("for wants; its key is in the desktop keyring"), "{run:?}");
    assert_eq!(run.stdout.matches("\"letters\"").count(), 2, "{run:?}");
    assert!(!scratch.work_folder().parent().unwrap().join("home/.local/share/repertoire/secrets.key").exists());
}
