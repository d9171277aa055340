//! What does not run is said aloud, past whoever catches what tests print.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

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
    // Looked for and not asked: some know no `--version`, and answer it with a failure.
    let is_there = std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|at| is_program(&at.join(program))));
    if !is_there {
        not_run(&format!("{program} is not installed"));
    }
    is_there
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|is| is.is_file() && is.permissions().mode() & 0o111 != 0)
}
