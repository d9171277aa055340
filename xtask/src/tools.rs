//! Runs checks by programs outside the Rust toolchain: `cargo deny` for dependencies, `typos` for spelling,
//! `mdbook` for the documentation site.
//!
//! [`install_tools`] installs pinned versions into `target/tools` and does not change the developer's installed
//! programs. If a program is not there, the one on the `PATH` is used.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use rep_test_support::report_skipped;

use crate::run_command;

struct PinnedTool {
    package: &'static str,
    version: &'static str,
    program: &'static str,
    /// The features to build; empty for the default features.
    features: &'static [&'static str],
}

const DENY: PinnedTool = PinnedTool { package: "cargo-deny", version: "0.20.2", program: "cargo-deny", features: &[] };
const TYPOS: PinnedTool = PinnedTool { package: "typos-cli", version: "1.52.0", program: "typos", features: &[] };
/// Without its server and watcher, which only interactive users need.
const MDBOOK: PinnedTool = PinnedTool { package: "mdbook", version: "0.5.4", program: "mdbook", features: &["search"] };

/// Installs the pinned versions of the named programs, or of all. Skips programs that are already installed.
pub(crate) fn install_tools(root: &Path, programs: &[&str]) -> Result<(), String> {
    let tools = root.join("target/tools");
    let build = tools.join("build");
    let all = [DENY, TYPOS, MDBOOK];
    if let Some(unknown) = programs.iter().find(|name| !all.iter().any(|tool| tool.program == **name)) {
        return Err(format!("`{unknown}` is not one of the tools: cargo-deny, typos, mdbook"));
    }
    for tool in all {
        let is_wanted = programs.is_empty() || programs.contains(&tool.program);
        if !is_wanted || tool.is_installed(&tools) {
            continue;
        }
        let features = if tool.features.is_empty() { Vec::new() } else { vec!["--no-default-features", "--features"] };
        // Replaces an interrupted installation. Unoptimized, because an optimized build takes longer than a day's
        // checks.
        run_command(
            Command::new("cargo")
                .args(["install", "--locked", "--force", "--debug", tool.package, "--version", tool.version, "--root"])
                .arg(&tools)
                .args(features)
                .args(tool.features)
                .env("CARGO_PROFILE_DEV_DEBUG", "0")
                .env("CARGO_TARGET_DIR", &build),
        )?;
    }
    // The builds share dependencies, which are not needed afterwards.
    if build.exists() {
        fs::remove_dir_all(&build).map_err(|error| format!("could not remove {}: {error}", build.display()))?;
    }
    Ok(())
}

/// Checks licenses, bans and sources of all dependencies, and advisories if their database is on this machine. Uses
/// no network.
pub(crate) fn check_dependencies(root: &Path) -> Result<(), String> {
    let program = DENY.find_program(root)?;
    run_command(Command::new(&program).args(["check", "bans", "licenses", "sources"]))?;
    let databases = fs::read_dir(advisory_databases()).into_iter().flatten().flatten();
    if !databases.into_iter().any(|entry| entry.path().is_dir()) {
        report_skipped(
            "no advisory database: known vulnerabilities were not checked; run `cargo deny fetch db` to download it",
        );
        return Ok(());
    }
    run_command(Command::new(&program).args(["check", "--disable-fetch", "advisories"]))
}

/// Finds the program that builds the documentation site.
pub(crate) fn find_mdbook(root: &Path) -> Result<PathBuf, String> {
    MDBOOK.find_program(root)
}

/// Returns where `cargo deny` stores advisory databases.
fn advisory_databases() -> PathBuf {
    let cargo_home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo"));
    cargo_home.or(home).unwrap_or_default().join("advisory-dbs")
}

/// Checks the spelling of all files that are not ignored.
pub(crate) fn check_spelling(root: &Path) -> Result<(), String> {
    run_command(Command::new(TYPOS.find_program(root)?).args([".", ".ci", ".cargo"]))
}

/// Runs both checks. A check whose program is not installed is reported and skipped.
pub(crate) fn check_installed(root: &Path) -> Result<(), String> {
    type Check = fn(&Path) -> Result<(), String>;
    let checks: [(PinnedTool, Check); 2] = [(DENY, check_dependencies), (TYPOS, check_spelling)];
    for (tool, check) in checks {
        match tool.find_program(root) {
            Ok(_) => check(root)?,
            Err(missing) => report_skipped(&missing),
        }
    }
    Ok(())
}

impl PinnedTool {
    /// Whether the pinned version is in the tools directory, and starts.
    fn is_installed(&self, tools: &Path) -> bool {
        let output = Command::new(tools.join("bin").join(self.program)).arg("--version").output();
        output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains(self.version))
    }

    fn find_program(&self, root: &Path) -> Result<PathBuf, String> {
        let path = env::var_os("PATH").unwrap_or_default();
        let folders = [root.join("target/tools/bin")].into_iter().chain(env::split_paths(&path));
        let mut files = folders.map(|folder| folder.join(self.program));
        files
            .find(|file| file.is_file())
            .ok_or_else(|| format!("`{}` is not installed; install it with `cargo xtask install-tools`", self.program))
    }
}
