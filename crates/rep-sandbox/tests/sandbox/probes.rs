//! Every way out we know of is tried from inside. Each must be closed, and each must open when its layer is left out:
//! a probe that cannot fail proves nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::{Value, json};

use crate::scene::{Scene, Who, everyone, is_root, python};

/// As root the user who owns nothing is a wall of its own, so it is left out as well; for others that changes nothing.
const FILES: &[&str] = &["view", "landlock", "mapping"];
const CALLS: &[&str] = &["seccomp"];
const RULES: &[&str] = &["landlock"];
const NETWORK: &[&str] = &["seccomp", "network", "landlock"];

/// A probe, what it hears in the sandbox, and the layers without which it hears something else.
const PROBES: &[(&str, &[&str], &[&str])] = &[
    ("read-shadow", &["ENOENT"], FILES),
    ("read-home", &["ENOENT"], FILES),
    ("list-home", &["ENOENT"], FILES),
    ("read-undeclared", &["ENOENT"], FILES),
    ("list-workspace", &["held"], FILES),
    ("list-docs", &["held"], FILES),
    ("link-to-home", &["EACCES", "ENOENT"], FILES),
    ("link-to-undeclared", &["EACCES", "ENOENT"], FILES),
    ("link-through-proc", &["EACCES", "ENOENT"], FILES),
    ("make-link", &["EACCES"], RULES),
    ("make-pipe", &["EACCES"], RULES),
    ("make-device", &["EPERM"], CALLS),
    ("hard-link-undeclared", &["ENOENT"], FILES),
    ("hard-link-declared", &["EXDEV", "EACCES"], FILES),
    ("dot-dot", &["ENOENT"], FILES),
    ("proc-root", &["ENOENT"], FILES),
    ("proc-first", &["ENOENT"], FILES),
    ("proc-runtime", &["ENOENT"], FILES),
    ("create-in-workspace", &["EROFS"], FILES),
    ("create-in-docs", &["EROFS"], FILES),
    ("change-etc", &["EROFS"], FILES),
    ("change-usr", &["EROFS"], FILES),
    ("change-root", &["EROFS"], FILES),
    ("create-outside", &["ENOENT", "EROFS"], FILES),
    ("core-pattern", &["ENOENT"], &["masks", "landlock"]),
    ("oom-score", &["EACCES"], RULES),
    ("utime-declared", &["EROFS"], FILES),
    ("chmod-declared", &["EROFS"], FILES),
    ("truncate-declared", &["EROFS", "EACCES"], FILES),
    ("unlink-declared", &["EROFS", "EBUSY"], FILES),
    ("rename-output", &["EROFS", "EBUSY"], FILES),
    ("stat-sys", &["ENOENT"], FILES),
    ("proc-sys", &["held"], &["masks"]),
    ("devices", &["held"], FILES),
    ("tcp", &["EACCES"], NETWORK),
    ("udp", &["EACCES"], NETWORK),
    ("abstract-socket", &["EACCES"], NETWORK),
    ("path-socket", &["EACCES"], CALLS),
    ("path-datagram", &["EACCES"], CALLS),
    ("socket-vsock", &["EACCES"], CALLS),
    ("socket-packet", &["EACCES"], CALLS),
    ("socket-netlink", &["EACCES"], CALLS),
    ("socket-alg", &["EACCES"], CALLS),
    ("socket-inet-raw", &["EACCES"], CALLS),
    ("process-vm-readv", &["EPERM"], CALLS),
    ("pidfd-getfd", &["EPERM"], CALLS),
    ("io-uring", &["ENOSYS"], CALLS),
    ("memfd", &["ENOSYS"], CALLS),
    ("add-key", &["EPERM"], CALLS),
    ("keyctl", &["EPERM"], CALLS),
    ("setns", &["EPERM"], CALLS),
    ("clone3", &["ENOSYS"], CALLS),
    ("clone-namespace", &["EPERM"], CALLS),
    ("mount", &["EPERM"], CALLS),
    ("umount", &["EPERM"], CALLS),
    ("chroot", &["EPERM"], CALLS),
    ("fsopen", &["ENOSYS"], CALLS),
    ("open-tree", &["ENOSYS"], CALLS),
    ("openat2", &["ENOSYS"], CALLS),
    ("name-to-handle", &["EPERM"], CALLS),
    ("perf", &["EPERM"], CALLS),
    ("userfault", &["EPERM"], CALLS),
    ("own-filter", &["EPERM"], CALLS),
    ("own-filter-prctl", &["EPERM"], CALLS),
    ("terminal-input", &["EPERM"], CALLS),
    ("terminal-input-high-bits", &["EPERM"], CALLS),
    ("personality", &["EPERM"], CALLS),
    ("set-user-id", &["EPERM"], CALLS),
    ("writable-for-all", &["EPERM"], CALLS),
    ("create-set-user-id", &["EPERM"], CALLS),
    ("execveat", &["EPERM"], CALLS),
    ("execve", &["EPERM"], CALLS),
    ("spawn", &["EPERM"], CALLS),
    ("fork", &["EPERM"], CALLS),
    ("signal-first", &["EPERM"], RULES),
    ("capabilities", &["held"], &["capabilities"]),
    ("filter", &["held"], CALLS),
    ("unshare", &["EPERM"], CALLS),
    ("ptrace", &["EPERM"], CALLS),
];

/// What no layer is for by itself: the way a sandbox is started. None of these can be left out.
const ALWAYS: &[(&str, &str)] = &[
    ("signal-runtime", "ESRCH"),
    ("descriptors", "held"),
    ("environment", "held"),
    ("no-new-privileges", "held"),
    ("user", "held"),
];

fn tried(scene: &Scene, subprocess: bool, without: &[&str]) -> (BTreeMap<String, (String, String)>, Value) {
    let job = scene.job(json!({}));
    let mut env = job["env"].clone();
    env["PROBE"] = json!(scene.told(subprocess).to_string());
    env["TMPDIR"] = json!(if without.contains(&"view") { scene.outside().to_str().unwrap() } else { "/run/tmp" });
    let script = include_str!("probes.py");
    // Given files are part of the view.
    let argv = if without.contains(&"view") {
        json!([python(), "-I", "-c", script])
    } else {
        json!([python(), "-I", "/rep/probes.py"])
    };
    let result = scene.run(json!({
        "argv": argv,
        "given": { "probes.py": script },
        "allow_subprocess": subprocess,
        "env": env,
        "without": without,
        "threads": scene.has_threads,
    }));
    assert_eq!(result["code"], 0, "{result:#}");
    let lines = result["stdout"].as_str().unwrap().lines();
    let found = lines.map(|line| {
        let [name, word, detail] = serde_json::from_str::<[String; 3]>(line).unwrap();
        (name, (word, detail))
    });
    (found.collect(), result)
}

fn all_are_closed(scene: &Scene, subprocess: bool, without: &[&str]) -> Value {
    let (found, result) = tried(scene, subprocess, without);
    let always: Vec<(&str, Vec<&str>)> = ALWAYS.iter().map(|(name, word)| (*name, vec![*word])).collect();
    let probes = PROBES.iter().map(|(name, words, _)| (*name, words.to_vec())).chain(always);
    let mut wrong = Vec::new();
    for (name, words) in probes {
        let is_about_processes = ["execve", "spawn", "fork"].contains(&name);
        match found.get(name) {
            None if subprocess && is_about_processes => {}
            None => wrong.push(format!("{name} was not tried")),
            Some((word, _)) if words.contains(&word.as_str()) => {}
            Some((word, detail)) => wrong.push(format!("{name}: {word} ({detail}), not {words:?}")),
        }
    }
    assert!(wrong.is_empty(), "{:?}, subprocess {subprocess}, without {without:?}:\n{}", scene.who, wrong.join("\n"));
    assert!(!scene.was_reached(), "a listener outside was reached");
    assert_eq!(scene.text("docs/a.pdf").as_deref(), Some("PDFDATA\n"));
    assert_eq!(scene.survivors(), Vec::<u32>::new());
    result
}

#[test]
fn no_known_way_leads_out() {
    for who in everyone() {
        let result = all_are_closed(&Scene::new(who), false, &[]);
        let spawns = result["denials"].as_array().unwrap().iter().filter(|denial| denial[0] == "spawn");
        let spawns: Vec<_> = spawns.collect();
        assert!(spawns.iter().any(|denial| denial[1] == "/nonexistent"), "{spawns:?}");
        assert!(spawns.iter().all(|denial| denial[2] == "permissions.processes.allow_subprocess: true"));
        assert!(result["denials"].as_array().unwrap().iter().any(|denial| denial[0] == "connect"));
        all_are_closed(&Scene::new(who), true, &[]);
    }
}

/// The sandbox of a caller with several threads is an execution of its own, and no copy of the caller.
#[test]
fn no_known_way_leads_out_when_the_caller_has_several_threads() {
    for who in everyone() {
        all_are_closed(&Scene::new(who).with_threads(), false, &[]);
    }
}

/// The names that the host sees of the first processes that a caller started.
fn first_processes(caller: u32) -> Vec<String> {
    let numbers = fs::read_dir("/proc").unwrap().flatten();
    let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let read = |pid: u32, file: &str| fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap_or_default();
    let is_child = |pid: &u32| read(*pid, "status").contains(&format!("\nPPid:\t{caller}\n"));
    numbers.filter(is_child).map(|pid| read(pid, "cmdline").replace('\0', "")).collect()
}

#[test]
fn a_caller_with_one_thread_is_copied_and_one_with_several_executes_itself() {
    for who in everyone() {
        for (scene, is_copied) in [(Scene::new(who), true), (Scene::new(who).with_threads(), false)] {
            let child = scene.begin("look", "", "", json!({ "threads": scene.has_threads }));
            let names = first_processes(child.id());
            assert_eq!(names.len(), 1, "{names:?}");
            assert_eq!(names[0].ends_with("sandbox-trial"), is_copied, "{who:?}: {names:?}");
            assert_eq!(scene.end("look", child)["code"], 0);
        }
    }
}

#[test]
fn no_known_way_leads_out_for_root_where_files_cannot_be_mapped() {
    if is_root() {
        let result = all_are_closed(&Scene::new(Who::Root), false, &["mapping"]);
        assert!(result["layers"].to_string().contains("caller's user"), "{result:#}");
    }
}

#[test]
fn every_probe_opens_when_its_layer_is_left_out() {
    let layers: BTreeSet<&[&str]> = PROBES.iter().map(|(_, _, layers)| *layers).collect();
    for who in everyone() {
        let mut closed = Vec::new();
        for without in &layers {
            let (found, _) = tried(&Scene::new(who), false, without);
            for (name, words, _) in PROBES.iter().filter(|(_, _, layers)| layers == without) {
                let (word, detail) = &found[*name];
                if words.contains(&word.as_str()) {
                    closed.push(format!("{name}: {word} ({detail}) even without {without:?}"));
                }
            }
        }
        assert!(closed.is_empty(), "{who:?}:\n{}", closed.join("\n"));
    }
}

#[test]
fn files_that_lie_elsewhere_are_seen_only_where_they_are_declared() {
    for who in everyone() {
        let scene = Scene::new(who);
        fs::set_permissions(scene.workspace().join("docs/a.pdf"), std::os::unix::fs::PermissionsExt::from_mode(0o600))
            .unwrap();
        let result = scene.python(
            "import os; print(open('docs/a.pdf').read().strip(), open(os.environ['S'] + '/lib.txt').read().strip())\n\
             try: open(os.environ['S'] + '/lib.txt', 'a')\nexcept OSError as error: print(error.strerror)",
            json!({ "readable": [scene.outside().join("skill")], "env": { "S": scene.outside().join("skill") } }),
        );
        assert_eq!(result["stdout"], "PDFDATA of the skill\nRead-only file system\n", "{result:#}");
    }
}
