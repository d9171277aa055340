use std::process::{Command, Stdio};

use rep_test_support::ScratchFolder;

use super::{json, rules, run};

#[test]
fn every_scaffold_passes_its_own_checks() {
    let scratch = ScratchFolder::new();
    for (name, more, profile) in [
        ("plain", &[][..], "agentskills"),
        ("upload", &[], "claude-api"),
        ("universal", &["--profile", "universal"], "universal"),
        ("with-python", &["--tool", "python"], "universal"),
        ("with-node", &["--tool", "node"], "universal"),
        ("with-bash", &["--tool", "bash"], "universal"),
        ("tested", &["--profile", "aam"], "aam"),
        ("served", &["--profile", "pmcp"], "pmcp"),
        ("structured", &["--uasp"], "uasp"),
    ] {
        let mut arguments = vec!["init", name];
        arguments.extend(more);
        let made = run(&scratch, &arguments);
        assert_eq!(made.code, 0, "{made:?}");
        let found = run(&scratch, &["check", name, "--profile", profile, "--format", "json"]);
        // The text of the template is the only thing to report.
        assert_eq!((found.code, rules(&found)), (0, vec!["placeholder-text".to_owned()]), "{name}: {}", found.stdout);
    }
    let all = run(&scratch, &["check", "--format", "json"]);
    assert_eq!(json(&all)["summary"]["errors"], 0, "{}", all.stdout);
}

#[test]
fn the_scaffolded_scripts_do_what_they_say() {
    let scratch = ScratchFolder::new();
    run(&scratch, &["init", "with-bash", "--tool", "bash"]);
    let mut child = Command::new("bash")
        .arg(scratch.work_folder().join("with-bash/scripts/main.sh"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("bash can be run");
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"{\"text\": \"hello  big world\"}\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "{\"words\": 3}\n");
}

#[test]
fn names_no_host_takes_are_refused_with_a_better_one() {
    let scratch = ScratchFolder::new();
    for (name, words) in [
        ("PDF_Tools", "`pdf-tools`"),
        ("claude-x", "reserved"),
        ("1x", "starting with a letter"),
        ("a--b", "`a-b`"),
        ("../x", "not a name"),
    ] {
        let found = run(&scratch, &["init", name]);
        assert_eq!(found.code, 2, "{found:?}");
        assert!(found.stderr.contains(words), "{found:?}");
    }
}

#[test]
fn an_existing_folder_is_left_alone() {
    let scratch = ScratchFolder::new();
    scratch.write_file("mine/notes.txt", "x");
    let found = run(&scratch, &["init", "mine"]);
    assert_eq!(found.code, 2);
    assert!(found.stderr.contains("already exists"), "{found:?}");
}

#[test]
fn contradictory_flags_are_refused() {
    let scratch = ScratchFolder::new();
    for flags in
        [&["--tool", "python", "--uasp"][..], &["--profile", "pmcp", "--tool", "bash"], &["--profile", "aam", "--uasp"]]
    {
        let mut arguments = vec!["init", "x"];
        arguments.extend(flags);
        assert_eq!(run(&scratch, &arguments).code, 2, "{flags:?}");
    }
}
