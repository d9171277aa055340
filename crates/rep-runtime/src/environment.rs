//! Packages a tool declares, installed when the user asks and never else: an environment of its own per skill, list of packages
//! and interpreter.
//!
//! ```text
//! environments/<key>/env/…        what the installer wrote: a venv, or a folder with `node_modules`
//! environments/<key>/ready.json   written last: without it there is no environment
//! ```
//!
//! The installer runs in the sandbox like any tool ([`install()`]): it sees its interpreter and its own empty folder, reaches
//! the hosts the user's configuration names, and nothing else. A run reads an environment and never writes one.
#![expect(clippy::disallowed_methods, reason = "this room keeps the folders packages are installed in")]

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::error::ErrorCode;
use crate::interpreter::Interpreter;
use crate::outcome::{Outcome, Reply};
use crate::plan::{Tool, ToolRuntime};
use rep_storage::files::{self};

mod index;
mod install;
mod package;

pub use index::{Source, configured};
pub use install::{InstallError, Order, Prepared, install, prepare};
pub use package::{BadPackage, judge};

const VERSION: u64 = 1;
const READY_BYTES_MAX: u64 = 1 << 20;

/// An environment that is whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Environment {
    /// The folder everything is in.
    pub folder: PathBuf,
    runtime: ToolRuntime,
}

impl Environment {
    /// The same interpreter, started so that it finds the packages.
    pub(crate) fn entered(&self, mut interpreter: Interpreter) -> Interpreter {
        if self.runtime == ToolRuntime::Python {
            // Python knows its environment by the name it is called by; the program stays the real one.
            interpreter.argv0 = self.folder.join("bin/python").into();
        }
        interpreter.readable.push(self.folder.clone());
        interpreter
    }

    /// What else the interpreter must be told.
    pub(crate) fn variables(&self) -> Vec<(OsString, OsString)> {
        match self.runtime {
            ToolRuntime::Node => vec![
                ("NODE_PATH".into(), self.folder.join("node_modules").into()),
                ("REP_PACKAGES".into(), self.folder.clone().into()),
            ],
            ToolRuntime::Python | ToolRuntime::Bash => Vec::new(),
        }
    }
}

/// The environment of exactly this skill, list and interpreter, where there is one.
pub fn installed(root: &Path, skill: &str, tool: &Tool, interpreter: &Interpreter) -> Option<Environment> {
    if tool.dependencies.is_empty() {
        return None;
    }
    Place::of(root, skill, tool.runtime, &tool.dependencies, interpreter).whole()
}

/// Where an environment lies, or would.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    folder: PathBuf,
    content: Value,
    runtime: ToolRuntime,
}

impl Place {
    /// The skill is part of the key, so that an index that was named for one skill never serves another.
    pub(crate) fn of(
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

    fn env(&self) -> PathBuf {
        self.folder.join("env")
    }

    fn ready(&self) -> PathBuf {
        self.folder.join("ready.json")
    }

    /// The environment, if it was finished for just this.
    fn whole(&self) -> Option<Environment> {
        let bytes = files::read(&self.ready(), READY_BYTES_MAX).ok()??;
        let content: Value = serde_json::from_slice(&bytes).ok()?;
        let folder = std::fs::canonicalize(self.env()).ok()?;
        (content == self.content).then_some(Environment { folder, runtime: self.runtime })
    }
}

/// An outcome that says how to install what it lacks, where a declared package may be what is missing.
pub(crate) fn hinted(mut outcome: Outcome, skill: &str, tool: &Tool) -> Outcome {
    let Reply::Error(error) = &mut outcome.reply else { return outcome };
    let kind = error.more.get("type").and_then(Value::as_str).unwrap_or_default();
    let is_missing = kind == "ModuleNotFoundError"
        || error.code == ErrorCode::ModuleNotFound
        || ["Cannot find package ", "Cannot find module "].iter().any(|start| error.message.starts_with(start));
    if is_missing && !tool.dependencies.is_empty() && !error.more.contains_key("remedy") {
        let remedy = format!("`rep deps {skill} --install` installs the packages it declares");
        error.more.insert("remedy".to_owned(), remedy.into());
    }
    outcome
}

#[cfg(test)]
mod tests;
