//! What does not run is said aloud, past whoever catches what tests print.

use std::io::Write as _;
use std::process::Command;

/// Says that a test does not run here. In CI, which has everything, that is a failure.
pub fn not_run(why: &str) {
    assert!(std::env::var_os("CI").is_none(), "{why}, and CI must run this");
    left_out(why);
}

/// Says that something is left out here, which may be so anywhere.
pub fn left_out(why: &str) {
    // The macros are caught by the harness, and what is caught of a test that passes is never seen.
    let _ = writeln!(std::io::stderr(), "NOT RUN: {why}");
}

/// Whether a program is installed. Says aloud where it is not; in CI, that is a failure.
pub fn is_installed(program: &str) -> bool {
    let is_there = Command::new(program).arg("--version").output().is_ok_and(|found| found.status.success());
    if !is_there {
        not_run(&format!("{program} is not installed"));
    }
    is_there
}
