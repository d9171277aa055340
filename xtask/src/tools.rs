//! Checks by programs outside the Rust toolchain: `cargo deny` for dependencies, `typos` for spelling.
//!
//! [`install`] puts pinned versions into `target/tools`, which does not change what the developer has installed. A program on the
//! `PATH` is used if it is not there.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use rep_test_support::left_out;

use crate::run;

struct Tool {
    package: &'static str,
    version: &'static str,
    program: &'static str,
}

const DENY: Tool = Tool { package: "cargo-deny", version: "0.20.2", program: "cargo-deny" };
const TYPOS: Tool = Tool { package: "typos-cli", version: "1.52.0", program: "typos" };

/// Installs the pinned versions. Does nothing for those that are installed already.
pub(crate) fn install(root: &Path) -> Result<(), String> {
    let tools = root.join("target/tools");
    let build = tools.join("build");
    for tool in [DENY, TYPOS] {
        if tool.is_installed(&tools) {
            continue;
        }
        // An installation that was cut off is replaced. Unoptimized, because the build would take longer than all checks of a day.
        run(Command::new("cargo")
            .args(["install", "--locked", "--force", "--debug", tool.package, "--version", tool.version, "--root"])
            .arg(&tools)
            .env("CARGO_PROFILE_DEV_DEBUG", "0")
            .env("CARGO_TARGET_DIR", &build))?;
    }
    // Both builds share dependencies; afterwards nobody needs them.
    if build.exists() {
        fs::remove_dir_all(&build).map_err(|error| format!("could not remove {}: {error}", build.display()))?;
    }
    Ok(())
}

/// Checks licenses, bans and sources of all dependencies, and advisories if their database is on this machine. Nothing is fetched.
pub(crate) fn check_dependencies(root: &Path) -> Result<(), String> {
    let program = DENY.find(root)?;
    run(Command::new(&program).args(["check", "bans", "licenses", "sources"]))?;
    let databases = fs::read_dir(advisory_databases()).into_iter().flatten().flatten();
    if !databases.into_iter().any(|entry| entry.path().is_dir()) {
        left_out(
            "there is no advisory database (`cargo deny fetch db` gets one where the network allows it), so known vulnerabilities of dependencies were not looked for",
        );
        return Ok(());
    }
    run(Command::new(&program).args(["check", "--disable-fetch", "advisories"]))
}

/// Where `cargo deny` stores advisory databases.
fn advisory_databases() -> PathBuf {
    let cargo_home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo"));
    cargo_home.or(home).unwrap_or_default().join("advisory-dbs")
}

/// Checks the spelling of all files that are not ignored.
pub(crate) fn check_spelling(root: &Path) -> Result<(), String> {
    run(Command::new(TYPOS.find(root)?).args([".", ".ci", ".cargo"]))
}

/// Runs both checks. A check whose program is not installed is reported and skipped.
pub(crate) fn check_installed(root: &Path) -> Result<(), String> {
    type Check = fn(&Path) -> Result<(), String>;
    let checks: [(Tool, Check); 2] = [(DENY, check_dependencies), (TYPOS, check_spelling)];
    for (tool, check) in checks {
        match tool.find(root) {
            Ok(_) => check(root)?,
            Err(missing) => left_out(&missing),
        }
    }
    Ok(())
}

impl Tool {
    /// Whether the pinned version is in the folder for tools, and starts.
    fn is_installed(&self, tools: &Path) -> bool {
        let output = Command::new(tools.join("bin").join(self.program)).arg("--version").output();
        output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains(self.version))
    }

    fn find(&self, root: &Path) -> Result<PathBuf, String> {
        let path = env::var_os("PATH").unwrap_or_default();
        let folders = [root.join("target/tools/bin")].into_iter().chain(env::split_paths(&path));
        let mut files = folders.map(|folder| folder.join(self.program));
        files
            .find(|file| file.is_file())
            .ok_or_else(|| format!("`{}` is not installed; `cargo xtask install-tools` installs it", self.program))
    }
}
