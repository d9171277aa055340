//! Reports skipped tests on stderr, bypassing the output capture of the test harness.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Reports that a test is skipped. In CI, which has everything installed, this is a failure.
pub fn skip_unless_ci(why: &str) {
    assert!(std::env::var_os("CI").is_none(), "{why}, but CI must run this test");
    report_skipped(why);
}

/// Reports that a part of a test is skipped, which is allowed everywhere.
pub fn report_skipped(why: &str) {
    // The harness captures the print macros, and hides the output of tests that pass.
    let _ = writeln!(std::io::stderr(), "NOT RUN: {why}");
}

/// Whether a program is installed. Reports if it is not; in CI, that is a failure.
pub fn is_program_installed(program: &str) -> bool {
    let is_there = find_program(program).is_some();
    if !is_there {
        skip_unless_ci(&format!("{program} is not installed"));
    }
    is_there
}

/// Whether a program that other projects publish is there to compare with. Reports if it is not, which is allowed
/// everywhere: `.ci/oracles` can fetch it only where the package indexes have it.
pub fn is_oracle_installed(program: &str) -> bool {
    find_oracle(program).is_some()
}

/// Finds a program or script that other projects publish. Reports if it is not there, which is allowed everywhere.
pub fn find_oracle(program: &str) -> Option<PathBuf> {
    let found = find_program(program);
    if found.is_none() {
        report_skipped(&format!("{program} is not installed; `.ci/oracles` fetches it"));
    }
    found
}

/// Searches the `PATH` instead of running the program: some programs do not support `--version`.
fn find_program(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|at| at.join(program)).find(|at| is_executable_file(at))
}

fn is_executable_file(path: &Path) -> bool {
    path.metadata().is_ok_and(|is| is.is_file() && is.permissions().mode() & 0o111 != 0)
}
