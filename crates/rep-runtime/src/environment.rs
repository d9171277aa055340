//! Installs the packages that a tool declares, only when the user asks for it. Each combination of skill,
//! package list and interpreter has a separate environment.
//!
//! ```text
//! environments/<key>/env/…        the installed packages: a venv, or a directory with `node_modules`
//! environments/<key>/ready.json   written last: without it the environment does not count as installed
//! ```
//!
//! The installer runs in the sandbox like any tool ([`install_environment`]): it sees its interpreter and its
//! own empty directory, and reaches only the hosts that the user's configuration names. A run reads an
//! environment and never writes to it.
#![expect(clippy::disallowed_methods, reason = "this module manages the directories that packages are installed in")]

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::error::ErrorCode;
use crate::interpreter::Interpreter;
use crate::outcome::{Outcome, RunReply};
use crate::plan::{PlannedTool, ToolRuntime};
use rep_storage::files::{self};

mod install;
mod package_name;
mod package_source;

pub use install::{
    EnvironmentInstallSpec, InstallError, PreparedInstallation, install_environment, prepare_installation,
};
pub use package_name::{InvalidPackageName, check_package_names};
pub use package_source::{PackageIndexSource, load_index_source};

const VERSION: u64 = 1;
const READY_BYTES_MAX: u64 = 1 << 20;

/// A complete environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageEnvironment {
    /// The directory of the environment.
    pub folder: PathBuf,
    runtime: ToolRuntime,
}

impl PackageEnvironment {
    /// Adapts an interpreter so that it finds the packages.
    pub(crate) fn adapt_interpreter(&self, mut interpreter: Interpreter) -> Interpreter {
        if self.runtime == ToolRuntime::Python {
            // Python finds its environment by the name it is started with; the program stays the real one.
            interpreter.argv0 = self.folder.join("bin/python").into();
        }
        interpreter.readable.push(self.folder.clone());
        interpreter
    }

    /// Returns the additional variables of the interpreter.
    pub(crate) fn interpreter_variables(&self) -> Vec<(OsString, OsString)> {
        match self.runtime {
            ToolRuntime::Node => vec![
                ("NODE_PATH".into(), self.folder.join("node_modules").into()),
                ("REP_PACKAGES".into(), self.folder.clone().into()),
            ],
            ToolRuntime::Python | ToolRuntime::Bash => Vec::new(),
        }
    }
}

/// Finds the environment of exactly this skill, package list and interpreter.
pub fn find_installed(
    root: &Path,
    skill: &str,
    tool: &PlannedTool,
    interpreter: &Interpreter,
) -> Option<PackageEnvironment> {
    if tool.dependencies.is_empty() {
        return None;
    }
    EnvironmentLocation::for_packages(root, skill, tool.runtime, &tool.dependencies, interpreter).find_complete()
}

/// The location of an environment, whether it exists or not.
#[derive(Clone, Debug)]
pub(crate) struct EnvironmentLocation {
    folder: PathBuf,
    content: Value,
    runtime: ToolRuntime,
}

impl EnvironmentLocation {
    /// Computes the location. The skill is part of the key, so that an index given for one skill never serves
    /// another.
    pub(crate) fn for_packages(
        root: &Path,
        skill: &str,
        runtime: ToolRuntime,
        packages: &[String],
        interpreter: &Interpreter,
    ) -> Self {
        let content = json!({
            "version": VERSION,
            "skill": skill,
            "runtime": runtime.name(),
            "packages": packages,
            "program": hex::encode(interpreter.program.as_os_str().as_encoded_bytes()),
            "interpreter": interpreter.version,
        });
        let key = hex::encode(&Sha256::digest(content.to_string().as_bytes())[..16]);
        Self { folder: root.join(key), content, runtime }
    }

    fn env_folder(&self) -> PathBuf {
        self.folder.join("env")
    }

    fn ready_file(&self) -> PathBuf {
        self.folder.join("ready.json")
    }

    /// Returns the environment if its installation is complete.
    fn find_complete(&self) -> Option<PackageEnvironment> {
        let bytes = files::read_private(&self.ready_file(), READY_BYTES_MAX).ok()??;
        let content: Value = serde_json::from_slice(&bytes).ok()?;
        let folder = std::fs::canonicalize(self.env_folder()).ok()?;
        (content == self.content).then_some(PackageEnvironment { folder, runtime: self.runtime })
    }
}

/// Adds an installation hint to an outcome if a declared package may be missing.
pub(crate) fn add_install_hint(mut outcome: Outcome, skill: &str, tool: &PlannedTool) -> Outcome {
    let RunReply::Error(error) = &mut outcome.reply else { return outcome };
    let kind = error.more.get("type").and_then(Value::as_str).unwrap_or_default();
    let is_missing = kind == "ModuleNotFoundError"
        || error.code == ErrorCode::ModuleNotFound
        || ["Cannot find package ", "Cannot find module "].iter().any(|start| error.message.starts_with(start));
    if is_missing && !tool.dependencies.is_empty() && !error.more.contains_key("remedy") {
        let remedy = format!("install the declared packages with `rep deps {skill} --install`");
        error.more.insert("remedy".to_owned(), remedy.into());
    }
    outcome
}

#[cfg(test)]
mod tests;
