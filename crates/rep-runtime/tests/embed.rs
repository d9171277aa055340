//! Runs the embedding example as a host would.
#![expect(clippy::disallowed_methods, reason = "the test starts the example")]

use std::path::Path;
use std::process::Command;

#[test]
fn an_embedding_host_selects_runs_and_reads_the_record() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let output = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "-p", "rep-runtime", "--example", "embed", "--"])
        .arg(&examples)
        .arg("what is in this csv file?")
        .output()
        .unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{stdout}{stderr}");
    let lines: Vec<&str> = stdout.lines().collect();
    assert_eq!(lines[0], "selected: csv-profile", "{stdout}");
    assert!(lines[1].starts_with("result: {") && lines[1].contains("\"city\""), "{stdout}");
    assert_eq!(lines[2], "recorded: csv-profile:profile ok", "{stdout}");
}

#[test]
fn the_example_stays_under_60_lines() {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/embed.rs")).unwrap();
    let lines = text.lines().filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with("//"));
    assert!(lines.count() < 60);
}
