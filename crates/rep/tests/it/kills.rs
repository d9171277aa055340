//! `rep` is killed, or interrupted as by Ctrl-C, at every kind of moment in which it changes something. Every place has its
//! old or its new content then, and the next command completes or undoes the rest.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use rep_test_support::{GitServer, Registry, ScratchFolder, TestRepository, is_program_installed};
use serde_json::Value;

use crate::install_git::skill;
use crate::{rep, run};

/// The names of the skills.
const NAMES: [&str; 2] = ["docx", "pdf"];
/// The system calls at which the program is stopped. While it waits for a server, it calls `futex` or `poll`.
const CALLS: &str = "openat,write,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,symlink,symlinkat,link,\
                     linkat,fsync,fdatasync,fchmod,chmod,futex,poll,wait4";
/// At how many moments each command is stopped.
const MOMENTS_MAX: usize = 16;

/// The content of each place, without the paths of the scratch directory.
type Places = BTreeMap<String, Vec<(String, Vec<u8>)>>;

fn write_skills(scratch: &ScratchFolder, version: &str) {
    for name in NAMES {
        let text = skill(name, version).replacen("---\n", &format!("---\nversion: {version}\n"), 1);
        scratch.write_file(&format!("src/{name}/SKILL.md"), text);
        scratch.write_file(&format!("src/{name}/scripts/fill.sh"), format!("#!/bin/sh\necho {version}\n"));
        scratch.write_file(&format!("src/{name}/data.txt"), version.repeat(5000));
    }
}

fn machine() -> ScratchFolder {
    let scratch = ScratchFolder::new();
    std::fs::create_dir_all(scratch.work_folder().join("project/.git")).expect("the folder can be made");
    write_skills(&scratch, "1.0.0");
    scratch
}

/// Makes a copy of a scratch directory, with its home.
fn copy(scratch: &ScratchFolder) -> ScratchFolder {
    let other = ScratchFolder::new();
    for folder in ["work", "home"] {
        let (from, to) = (scratch.work_folder().with_file_name(folder), other.work_folder().with_file_name(folder));
        let copied = Command::new("cp").arg("-a").arg(from.join(".")).arg(to).status();
        assert!(copied.expect("cp can be started").success());
    }
    other
}

fn read_folder(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut open: Vec<PathBuf> = vec![folder.to_owned()];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(&path).expect("it can be read").map(|entry| entry.expect("an entry").path()));
        } else {
            let name = path.strip_prefix(folder).expect("it is below").to_string_lossy().into_owned();
            found.push((name, std::fs::read(&path).expect("it can be read")));
        }
    }
    found.sort();
    found
}

/// Reads every place. A place that is missing or a broken link is not listed.
fn read_places(scratch: &ScratchFolder) -> Places {
    let mut places = Places::new();
    for host in [".agents", ".claude"] {
        for name in NAMES {
            let place = format!("{host}/skills/{name}");
            let folder = scratch.work_folder().join("project").join(&place);
            if folder.is_dir() {
                places.insert(place, read_folder(&folder));
            }
        }
    }
    places
}

/// A system call of a command: its name, and how many of that name there were before it.
#[derive(Clone, Debug)]
struct Moment {
    call: String,
    number: usize,
}

/// Runs a command to its end, and returns the moments in which it changed something or waited.
fn list_moments(scratch: &ScratchFolder, words: &[&str], has_server: bool) -> Vec<Moment> {
    let trace = scratch.work_folder().join("trace.txt");
    let done = traced(scratch, words, &["-o", &trace.to_string_lossy(), "-e", &format!("trace={CALLS}")]);
    assert_eq!(done, Some(0), "{words:?}");
    let text = std::fs::read_to_string(&trace).expect("there is a trace");
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut moments = Vec::new();
    for line in text.lines() {
        let Some((call, rest)) = line.split_once('(') else { continue };
        let number = counts.entry(call).or_default();
        *number += 1;
        let is_change = match call {
            "openat" => rest.contains("O_CREAT"),
            "write" => !rest.starts_with("1,") && !rest.starts_with("2,"),
            "futex" | "poll" | "wait4" => has_server,
            _ => CALLS.split(',').any(|known| known == call),
        };
        if is_change {
            moments.push(Moment { call: call.to_owned(), number: *number });
        }
    }
    let step = moments.len().div_ceil(MOMENTS_MAX).max(1);
    moments.into_iter().step_by(step).collect()
}

/// Runs a command under strace. Returns its exit code, or nothing if a signal ended it.
fn traced(scratch: &ScratchFolder, words: &[&str], options: &[&str]) -> Option<i32> {
    let output = Command::new("strace")
        .args(options)
        .arg(rep())
        .args(words)
        .args(["--project", "project"])
        .current_dir(scratch.work_folder())
        .env("HOME", scratch.work_folder().with_file_name("home"))
        .env_remove("XDG_CACHE_HOME")
        .env_remove("XDG_CONFIG_HOME")
        .env_remove("XDG_DATA_HOME")
        .output()
        .expect("strace can be started");
    output.status.code()
}

/// What a command finds and what it leaves.
struct Case<'a> {
    before: &'a ScratchFolder,
    words: &'a [&'a str],
    /// Whether a server takes part, for which the command waits.
    has_server: bool,
}

/// Stops the command at many moments, and calls `check` for what is left each time.
fn stop_at_many_moments(case: &Case<'_>, check: impl Fn(&ScratchFolder, &Places, &Places, &str)) {
    let finished = copy(case.before);
    let moments = list_moments(&finished, case.words, case.has_server);
    assert!(moments.len() >= 8, "there is little to stop: {moments:?}");
    let (old, new) = (read_places(case.before), read_places(&finished));
    let mut stopped = 0;
    for (at, moment) in moments.iter().enumerate() {
        let signal = if at % 2 == 0 { "SIGKILL" } else { "SIGINT" };
        let scratch = copy(case.before);
        let inject = format!("inject={}:signal={signal}:when={}", moment.call, moment.number);
        let code = traced(&scratch, case.words, &["-o", "/dev/null", "-e", &inject]);
        stopped += usize::from(code != Some(0));
        let told = format!("{:?} at {moment:?}, exit code {code:?}", case.words);
        for (place, content) in read_places(&scratch) {
            let is_whole = [&old, &new].iter().any(|state| state.get(&place) == Some(&content));
            assert!(is_whole, "{told}: {place} is neither old nor new");
        }
        check(&scratch, &old, &new, &told);
        let leftovers = find_leftovers(&scratch.work_folder().join("project"));
        assert_eq!(leftovers, [""; 0], "{told}");
    }
    // The rest waited elsewhere than in the first run.
    assert!(stopped * 2 >= moments.len(), "{stopped} of {} were stopped", moments.len());
}

/// Lists what a stopped command left and a later one did not remove. A temporary file is removed when it is old.
fn find_leftovers(project: &Path) -> Vec<String> {
    let names = read_folder(project).into_iter().map(|(name, _)| name);
    names.filter(|name| name.contains(".rep-") && !name.starts_with(".rep-")).collect()
}

fn at_project(scratch: &ScratchFolder, words: &[&str]) -> rep_test_support::ProgramRun {
    run(scratch, &[words, &["--project", "project", "--json"]].concat())
}

/// Checks that everything agrees: the places with the lock file, and both with the state before or after the command.
fn expect_old_or_new(scratch: &ScratchFolder, old: &Places, new: &Places, told: &str) {
    let verified = at_project(scratch, &["verify"]);
    assert_eq!(verified.code, 0, "{told}: {verified:?}");
    let places = read_places(scratch);
    assert!(places == *old || places == *new, "{told}: a mixture of old and new");
    let compared = at_project(scratch, &["sync", "--check"]);
    assert_eq!(compared.code, 0, "{told}: {compared:?}");
    let audit = run(scratch, &["audit", "verify"]);
    assert_eq!(audit.code, 0, "{told}: {audit:?}");
}

#[test]
fn a_stopped_installation_leaves_all_or_nothing() {
    if !is_program_installed("strace") {
        return;
    }
    let scratch = machine();
    let words = ["install", "src", "--host", "codex", "--host", "claude-code", "--yes"];
    let case = Case { before: &scratch, words: &words, has_server: false };
    stop_at_many_moments(&case, |scratch, old, new, told| {
        expect_old_or_new(scratch, old, new, told);
        let again = at_project(scratch, &words);
        assert_eq!((again.code, read_places(scratch) == *new), (0, true), "{told}: {again:?}");
    });
}

#[test]
fn a_stopped_update_leaves_the_old_or_the_new_version_of_all_skills() {
    if !is_program_installed("strace") {
        return;
    }
    let scratch = machine();
    assert_eq!(at_project(&scratch, &["install", "src", "--host", "codex", "--host", "claude-code"]).code, 0);
    write_skills(&scratch, "2.0.0");
    let case = Case { before: &scratch, words: &["update", "--yes"], has_server: false };
    stop_at_many_moments(&case, |scratch, old, new, told| {
        expect_old_or_new(scratch, old, new, told);
        let again = at_project(scratch, &["update", "--yes"]);
        assert_eq!((again.code, read_places(scratch) == *new), (0, true), "{told}: {again:?}");
    });
}

#[test]
fn a_stopped_removal_leaves_all_or_nothing() {
    if !is_program_installed("strace") {
        return;
    }
    let scratch = machine();
    assert_eq!(at_project(&scratch, &["install", "src", "--host", "codex", "--host", "claude-code"]).code, 0);
    let case = Case { before: &scratch, words: &["remove", "docx", "pdf"], has_server: false };
    stop_at_many_moments(&case, |scratch, old, new, told| {
        expect_old_or_new(scratch, old, new, told);
        let left: Value = serde_json::from_str(&scratch.read_file("project/skills-lock.json")).expect("it is JSON");
        let count = left["skills"].as_object().map_or(0, serde_json::Map::len);
        assert!(count == 0 || count == 2, "{told}: {left}");
        at_project(scratch, &["sync"]);
    });
}

/// What `sync` did not restore is missing, never half there, and the next `sync` restores it.
fn expect_restored(scratch: &ScratchFolder, new: &Places, told: &str) {
    let again = at_project(scratch, &["sync"]);
    assert_eq!((again.code, read_places(scratch) == *new), (0, true), "{told}: {again:?}");
    assert_eq!(at_project(scratch, &["verify"]).code, 0, "{told}");
}

#[test]
fn a_stopped_restore_from_a_repository_is_completed_by_the_next_one() {
    if !is_program_installed("strace") || !is_program_installed("git") {
        return;
    }
    let scratch = machine();
    let root = ScratchFolder::new();
    let repository = TestRepository::create(&root.work_folder().join("skills"));
    for name in NAMES {
        repository.write_file(&format!("{name}/SKILL.md"), skill(name, "1.0.0"));
        repository.write_file(&format!("{name}/data.txt"), "data".repeat(5000));
    }
    repository.commit_all("first");
    let server = GitServer::start(&root.work_folder(), None);
    let installed =
        at_project(&scratch, &["install", &server.url("skills"), "--host", "codex", "--host", "claude-code"]);
    assert_eq!(installed.code, 0, "{installed:?}");
    for folder in ["project/.agents", "project/.claude", "../home/.cache"] {
        std::fs::remove_dir_all(scratch.work_folder().join(folder)).expect("it is there");
    }
    let case = Case { before: &scratch, words: &["sync"], has_server: true };
    stop_at_many_moments(&case, |scratch, _, new, told| expect_restored(scratch, new, told));
}

#[test]
fn a_stopped_push_or_pull_leaves_what_the_next_one_completes() {
    if !is_program_installed("strace") {
        return;
    }
    let scratch = machine();
    let Some(registry) = Registry::start(&scratch.work_folder().with_file_name("registry")) else { return };
    let target = format!("oci://{}/team/all:1", registry.address);
    let words = ["push", "src/docx", "src/pdf", &target, "--collection", "team"];
    let pushed = run(&scratch, &words);
    assert_eq!(pushed.code, 0, "{pushed:?}");
    let words = ["install", &target, "--host", "codex", "--host", "claude-code", "--yes"];
    let case = Case { before: &scratch, words: &words, has_server: true };
    stop_at_many_moments(&case, |scratch, old, new, told| {
        expect_old_or_new(scratch, old, new, told);
        let again = at_project(scratch, &words);
        assert_eq!((again.code, read_places(scratch) == *new), (0, true), "{told}: {again:?}");
    });
    // A push that is stopped leaves the tag as it was, or moves it. What the tag means can always be installed.
    write_skills(&scratch, "2.0.0");
    for number in 1..=8 {
        let inject = format!("inject=futex:signal=SIGKILL:when={}", number * 4);
        let push = ["push", "src/docx", "src/pdf", &target, "--collection", "team", "--path", "src"];
        let mut command = Command::new("strace");
        command.args(["-f", "-o", "/dev/null", "-e", &inject]).arg(rep()).args(push);
        command.current_dir(scratch.work_folder()).env("HOME", scratch.work_folder().with_file_name("home"));
        command.output().expect("strace can be started");
        let other = machine();
        let installed = at_project(&other, &words);
        assert_eq!(installed.code, 0, "{number}: {installed:?}");
        let versions: Vec<bool> = NAMES
            .iter()
            .map(|name| other.read_file(&format!("project/.agents/skills/{name}/SKILL.md")).contains("version: 2.0.0"))
            .collect();
        assert_eq!(versions[0], versions[1], "{number}: a mixture of old and new");
    }
}
