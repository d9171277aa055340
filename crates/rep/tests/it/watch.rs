use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use rep_test_support::ScratchFolder;

use super::{GOOD, Watching};

#[test]
fn a_change_is_checked_again() {
    let scratch = ScratchFolder::new();
    scratch.write_file("pdf/SKILL.md", GOOD);
    let child = Command::new(super::rep())
        .args(["check", "--watch"])
        .current_dir(scratch.work_folder())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary can be started");
    let mut watching = Watching(child);
    let mut lines = BufReader::new(watching.0.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert_eq!(lines.next().as_deref(), Some("checked 1 skill: no findings"));
    scratch.write_file("pdf/SKILL.md", "# no frontmatter\n");
    let seen: Vec<String> = lines.by_ref().take_while(|line| !line.starts_with("checked")).collect();
    assert!(seen.iter().any(|line| line.contains("frontmatter-missing")), "{seen:?}");
    scratch.write_file("pdf/SKILL.md", GOOD);
    assert!(lines.any(|line| line == "checked 1 skill: no findings"));
}
