//! Every byte string is a legal input, and so is every kind of file: a clear finding, and the others are still checked.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use rep_test_support::{DEADLINE, ScratchFolder, wait_for};

use super::{GOOD, json, rules, run};

/// Checks a tree that also holds a good skill, which must be checked whatever the other is.
fn rules_beside_a_good_one(scratch: &ScratchFolder) -> Vec<String> {
    scratch.write_file("good/pdf/SKILL.md", GOOD);
    let found = run(scratch, &["check", "--format", "json"]);
    assert!(found.code == 0 || found.code == 1, "{found:?}");
    assert_eq!(json(&found)["summary"]["skills"], 2, "{found:?}");
    rules(&found)
}

fn has(rules: &[String], rule: &str) -> bool {
    rules.iter().any(|found| found == rule)
}

#[test]
fn fifty_megabytes_are_refused_without_being_read() {
    let scratch = ScratchFolder::new();
    let path = scratch.write_file("big/SKILL.md", "---\nname: big\n");
    let file = std::fs::File::options().write(true).open(path).unwrap();
    file.set_len(50 * 1024 * 1024).unwrap();
    assert!(has(&rules_beside_a_good_one(&scratch), "file-too-large"));
    let found = run(&scratch, &["validate", "big"]);
    assert_eq!(found.code, 1);
    assert!(found.stderr.contains("larger than"), "{found:?}");
}

#[test]
fn a_billion_laughs_and_ten_thousand_brackets_are_too_complex() {
    let mut laughs = "---\nname: x\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let items = vec![format!("*a{}", level - 1); 10].join(", ");
        laughs.push_str(&format!("a{level}: &a{level} [{items}]\n"));
    }
    laughs.push_str("---\n");
    for text in
        [laughs, format!("---\nx: {}\n---\n", "[".repeat(10_000)), format!("---\n{}\n---\n", "- ".repeat(10_000))]
    {
        let scratch = ScratchFolder::new();
        scratch.write_file("x/SKILL.md", &text);
        let rules = rules_beside_a_good_one(&scratch);
        assert!(has(&rules, "yaml-too-complex"), "{rules:?}");
    }
}

#[test]
fn odd_bytes_are_a_finding_each() {
    for (bytes, rule) in [
        (&b"\xff\xfe-\0-\0-\0"[..], "encoding-not-utf8"),
        (b"---\nname: \xff\xfe\n---\n", "encoding-not-utf8"),
        (b"---\nname: a\0b\n---\n", "nul-byte"),
        (b"\xef\xbb\xbf---\nname: x\ndescription: d\n---\n", "byte-order-mark"),
        (b"---\r\nname: x\r\ndescription: d\r\n---\r\n", "line-ends-crlf"),
        (b"", "frontmatter-missing"),
        (b"---\n", "frontmatter-unclosed"),
        (b"---\n---\n", "frontmatter-not-mapping"),
        (b"---\n- a\n---\n", "frontmatter-not-mapping"),
        (b"---\n- [\n---\n", "yaml-invalid"),
        (b"---\na: 1\na: 2\n---\n", "yaml-key-duplicate"),
    ] {
        let scratch = ScratchFolder::new();
        scratch.write_file("x/SKILL.md", bytes);
        let rules = rules_beside_a_good_one(&scratch);
        assert!(has(&rules, rule), "{rule} not in {rules:?}");
    }
}

#[test]
fn a_folder_named_skill_md_is_no_skill_md() {
    let scratch = ScratchFolder::new();
    scratch.write_file("x/SKILL.md/inner.txt", "x");
    assert!(has(&rules_beside_a_good_one(&scratch), "skill-md-not-a-file"));
    let found = run(&scratch, &["validate", "x"]);
    assert_eq!(found.code, 1);
    assert!(!found.stderr.contains("panicked"), "{found:?}");
}

#[test]
fn a_pipe_named_skill_md_does_not_hang() {
    let scratch = ScratchFolder::new();
    scratch.write_file("x/readme.txt", "x");
    let status =
        Command::new("mkfifo").arg(scratch.work_folder().join("x/SKILL.md")).status().expect("mkfifo can be run");
    assert!(status.success());
    assert!(has(&rules_beside_a_good_one(&scratch), "skill-md-not-a-file"));
    for command in ["validate", "read-properties", "to-prompt"] {
        let found = run(&scratch, &[command, "x"]);
        assert_eq!(found.code, 1, "{found:?}");
    }
}

#[test]
fn a_device_behind_a_link_is_not_read() {
    let scratch = ScratchFolder::new();
    scratch.write_file("x/readme.txt", "x");
    symlink("/dev/zero", scratch.work_folder().join("x/SKILL.md")).unwrap();
    assert!(has(&rules_beside_a_good_one(&scratch), "skill-md-not-a-file"));
}

#[test]
fn links_that_loop_dangle_or_leave_are_findings() {
    let scratch = ScratchFolder::new();
    scratch.write_file("x/SKILL.md", GOOD.replace("pdf\n", "x\n"));
    let inside = scratch.work_folder().join("x");
    symlink("..", inside.join("up")).unwrap();
    symlink("loop", inside.join("loop")).unwrap();
    symlink("nowhere.md", inside.join("gone.md")).unwrap();
    symlink("SKILL.md", inside.join("same.md")).unwrap();
    symlink("/etc/hostname", inside.join("host")).unwrap();
    symlink(".", scratch.work_folder().join("self")).unwrap();
    let rules = rules_beside_a_good_one(&scratch);
    assert!(has(&rules, "symlink-dangling") && has(&rules, "symlink-outside"), "{rules:?}");
    assert_eq!(rules.iter().filter(|rule| *rule == "symlink-dangling").count(), 2, "{rules:?}");
}

/// Runs as an ordinary user, also where the tests run as root, for whom no file is unreadable.
#[test]
fn a_file_or_folder_without_permission_is_a_finding() {
    use std::os::unix::process::CommandExt;
    let scratch = ScratchFolder::new();
    scratch.write_file("good/pdf/SKILL.md", GOOD);
    let file = scratch.write_file("file/SKILL.md", GOOD);
    scratch.write_file("folder/SKILL.md", GOOD);
    let mode = |path: &std::path::Path, mode: u32| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("the mode can be set");
    };
    let program = scratch.work_folder().join("rep");
    std::fs::copy(super::rep(), &program).unwrap();
    for path in scratch.work_folder().ancestors().take(2) {
        mode(path, 0o755);
    }
    mode(&file, 0o000);
    mode(&scratch.work_folder().join("folder"), 0o000);
    let is_root = std::fs::read(&file).is_ok();
    let mut command = Command::new(&program);
    command.args(["check", "--format", "json"]).current_dir(scratch.work_folder()).env("HOME", scratch.work_folder());
    if is_root {
        command.uid(65_534).gid(65_534);
    }
    // A child that another test started meanwhile may hold the copy open for writing until it starts its own program.
    let output = wait_for("nothing has the copy open for writing", DEADLINE, || match command.output() {
        Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => None,
        ended => Some(ended.expect("the binary can be started as an ordinary user")),
    });
    mode(&scratch.work_folder().join("folder"), 0o755);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a report is JSON");
    let found: Vec<(&str, &str)> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| (finding["rule"].as_str().unwrap(), finding["file"].as_str().unwrap()))
        .collect();
    assert_eq!(found, [("file-unreadable", "file/SKILL.md"), ("file-unreadable", "folder")], "{report:#}");
    assert_eq!((output.status.code(), &report["summary"]["skills"]), (Some(1), &3.into()));
}

#[test]
fn a_path_that_is_not_there_is_named_and_exits_two() {
    let scratch = ScratchFolder::new();
    for arguments in
        [&["check", "nope"][..], &["hash", "nope"], &["tools", "nope"], &["validate", "nope"], &["to-prompt", "nope"]]
    {
        let found = run(&scratch, arguments);
        assert_eq!(found.code, 2, "{found:?}");
        assert!(found.stderr.contains("nope") && found.stdout.is_empty(), "{found:?}");
    }
}

#[test]
fn a_file_that_is_no_skill_is_refused_with_words() {
    let scratch = ScratchFolder::new();
    scratch.write_file("notes.txt", "x");
    let found = run(&scratch, &["check", "notes.txt"]);
    assert_eq!(found.code, 2);
    assert!(found.stderr.contains("neither a directory, a SKILL.md nor a `*.uasp.yaml`"), "{found:?}");
}

#[test]
fn a_folder_without_skills_is_a_finding() {
    let scratch = ScratchFolder::new();
    scratch.write_file("docs/readme.md", "x");
    let found = run(&scratch, &["check", "docs", "--format", "json"]);
    assert_eq!((found.code, rules(&found)), (1, vec!["skill-md-missing".to_owned()]));
}

#[test]
fn a_reader_that_closes_early_is_no_crash() {
    let scratch = ScratchFolder::new();
    for number in 0..200 {
        scratch.write_file(&format!("s{number}/SKILL.md"), "x\n");
    }
    let mut child = Command::new(super::rep())
        .args(["check"])
        .current_dir(scratch.work_folder())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut stderr = String::new();
    std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut stderr).unwrap();
    let _ = child.wait().unwrap();
    assert!(!stderr.contains("panicked"), "{stderr}");
}

#[test]
fn no_skill_can_steer_the_terminal_or_forge_a_line() {
    let scratch = ScratchFolder::new();
    scratch.write_file(
        "a\u{1b}[31mb/SKILL.md",
        "---\nname: \"x\\e[31m\\nerror[fake]: forged\"\ndescription: d\n\u{202e}: 1\n---\n\n[a](no%1b[31mpe.md)\n",
    );
    for format in ["text", "github"] {
        let found = run(&scratch, &["check", "--format", format]);
        assert!(!found.stdout.contains('\u{1b}') && !found.stdout.contains('\u{202e}'), "{format}: {}", found.stdout);
        assert!(!found.stdout.lines().any(|line| line.starts_with("error[fake]")), "{format}: {}", found.stdout);
    }
    assert!(!run(&scratch, &["list", "--path", "."]).stdout.contains('\u{1b}'));
    assert!(!run(&scratch, &["check", "no\u{1b}[31mpe"]).stderr.contains('\u{1b}'));
    scratch.write_file("forged/SKILL.md", "---\nname: \"x\\n\\e[31mforged\"\ndescription: d\n---\n");
    assert!(!run(&scratch, &["validate", "forged"]).stderr.contains('\u{1b}'));
}

#[test]
fn what_lies_behind_a_link_outside_is_not_shown() {
    let scratch = ScratchFolder::new();
    scratch.write_file("secret.txt", "SECRET_TOKEN=abc\n");
    scratch.write_file("x/readme.txt", "x");
    symlink("../secret.txt", scratch.work_folder().join("x/SKILL.md")).unwrap();
    let found = run(&scratch, &["check", "x"]);
    assert!(found.stdout.contains("symlink-outside") && !found.stdout.contains("SECRET_TOKEN"), "{}", found.stdout);
}

#[test]
fn names_that_are_no_utf8_are_found_and_checked() {
    use std::os::unix::ffi::OsStrExt;
    let scratch = ScratchFolder::new();
    let folder = scratch.work_folder().join(std::ffi::OsStr::from_bytes(b"n\xff"));
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("SKILL.md"), "# no frontmatter\n").unwrap();
    assert!(has(&rules_beside_a_good_one(&scratch), "frontmatter-missing"));
}

#[test]
fn a_full_disk_is_told() {
    let scratch = ScratchFolder::new();
    scratch.write_file("pdf/SKILL.md", GOOD);
    let full = std::fs::File::options().write(true).open("/dev/full").expect("there is a /dev/full");
    let output = Command::new(super::rep())
        .args(["check", "--format", "sarif"])
        .current_dir(scratch.work_folder())
        .stdout(full)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_same_folder_named_twice_is_checked_once() {
    let scratch = ScratchFolder::new();
    scratch.write_file("pdf/SKILL.md", "# no frontmatter\n");
    let absolute = scratch.work_folder().join("pdf");
    let found = run(&scratch, &["check", "pdf", "./pdf/../pdf", absolute.to_str().unwrap(), "--format", "json"]);
    assert_eq!((json(&found)["summary"]["skills"].clone(), rules(&found).len()), (1.into(), 1));
}

#[test]
fn one_rule_cannot_flood_a_report_and_a_long_line_shows_its_fault() {
    let scratch = ScratchFolder::new();
    scratch.write_file(
        "pdf/SKILL.md",
        format!("{GOOD}\n{}\n\n{} [a](gone.md)\n", "[a](n.md) ".repeat(5_000), "x".repeat(100_000)),
    );
    let found = run(&scratch, &["check", "--format", "json", "--select", "link-target-missing"]);
    let finding = &json(&found)["findings"][0];
    assert_eq!((rules(&found).len(), finding["related"].as_array().map(Vec::len)), (1, Some(50)));
    assert_eq!(finding["message"], "2 linked files do not exist: `n.md` and `gone.md`");
    let sections: String = (0..5_000).map(|number| format!("s{number}: 1\n")).collect();
    scratch.write_file("b/b.uasp.yaml", sections);
    let found = run(&scratch, &["check", "b", "--format", "json", "--select", "uasp-key-unknown"]);
    assert_eq!(rules(&found).len(), 200);
    assert!(found.stdout.contains("and 4800 more like this one"), "{}", &found.stdout[found.stdout.len() - 900..]);
    scratch.write_file("pdf/SKILL.md", format!("{GOOD}\n{} [a](gone.md)\n", "x".repeat(100_000)));
    let found = run(&scratch, &["check", "--select", "link-target-missing"]);
    let lines: Vec<&str> = found.stdout.lines().collect();
    let carets = lines.iter().position(|line| line.contains('^')).expect("the fault is underlined");
    let column = lines[carets].find('^').expect("the fault is underlined");
    assert!(lines[carets - 1].chars().skip(column).collect::<String>().starts_with("[a](gone.md)"), "{}", found.stdout);
}
