//! Answers questions about a policy: whether a file may be read or a host reached, and which rule decides.
//!
//! Paths are resolved as in a run: first `.` and `..`, lexically (a path that leaves the workspace is
//! refused), then the real path with every link resolved. Both must match. Universal 2.1 §8.
#![expect(clippy::disallowed_methods, reason = "links can only be resolved on the file system")]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::plan::{HostRule, RunPermissions};
use rep_permissions::glob::{Glob, normalise_path};
use rep_sandbox::protected_paths::ProtectedPaths;
use serde_json::{Value, json};

/// A question about access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccessRequest {
    /// Whether a file may be read.
    Read(String),
    /// Whether a file may be created, changed or removed.
    Write(String),
    /// Whether a host, and perhaps a port, may be reached.
    Connect(String),
    /// Whether other programs may be started.
    Spawn,
}

/// The answer to a question, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessVerdict {
    /// Whether access is allowed.
    pub is_allowed: bool,
    /// The rule that decided: a declaration, or a built-in rule.
    pub by: String,
    /// The reason, in a sentence.
    pub why: String,
}

impl AccessVerdict {
    /// Renders the document of `rep policy` with a question.
    pub fn to_json(&self) -> Value {
        json!({ "allowed": self.is_allowed, "by": self.by, "why": self.why })
    }

    fn new(is_allowed: bool, by: impl Into<String>, why: impl Into<String>) -> Self {
        Self { is_allowed, by: by.into(), why: why.into() }
    }
}

/// The context of a question.
#[derive(Clone, Copy, Debug)]
pub struct AccessContext<'a> {
    /// The permissions of the skill.
    pub permissions: &'a RunPermissions,
    /// The directory that patterns are relative to.
    pub workspace: &'a Path,
    /// The skill's own directory.
    pub folder: &'a Path,
}

const DEFAULT_DENY: &str = "default deny";

impl AccessContext<'_> {
    /// Answers a question.
    pub fn check_request(&self, request: &AccessRequest) -> AccessVerdict {
        match request {
            AccessRequest::Read(path) => self.check_read(path),
            AccessRequest::Write(path) => self.check_write(path),
            AccessRequest::Connect(host) => self.check_connect(host),
            AccessRequest::Spawn if self.permissions.allow_subprocess => {
                AccessVerdict::new(true, "permissions.processes.allow_subprocess", "it is declared")
            }
            AccessRequest::Spawn => AccessVerdict::new(
                false,
                DEFAULT_DENY,
                "`permissions.processes.allow_subprocess` is not declared as `true`",
            ),
        }
    }

    fn check_read(&self, path: &str) -> AccessVerdict {
        if self.is_inside_skill(path) {
            return AccessVerdict::new(true, "the skill's own directory", "a skill may read its own files");
        }
        // A run can list the workspace itself if it may read everything below it.
        let is_workspace = !path.is_empty() && normalise_path(path).is_some_and(|path| path.is_empty());
        if is_workspace && self.permissions.read.iter().any(|pattern| pattern.as_str() == "**") {
            let reason = format!("`{path}` is the workspace, and `**` matches all of it");
            return AccessVerdict::new(true, "permissions.filesystem.read: **", reason);
        }
        self.check_patterns(path, &self.permissions.read, "permissions.filesystem.read")
    }

    fn check_write(&self, path: &str) -> AccessVerdict {
        let answer = self.check_patterns(path, &self.permissions.write, "permissions.filesystem.write");
        if answer.is_allowed && self.is_inside_skill(path) {
            return AccessVerdict::new(false, "the skill's own directory", "skills cannot modify their own directory");
        }
        if answer.is_allowed && self.relative_to_workspace(path).is_some_and(|path| self.is_protected_path(&path)) {
            let why = "other programs execute or trust this file, so no skill may write it";
            return AccessVerdict::new(false, "names that other programs trust", why);
        }
        answer
    }

    /// Returns whether a path of the workspace is one that other programs trust.
    fn is_protected_path(&self, path: &str) -> bool {
        let workspace = fs::canonicalize(self.workspace).unwrap_or_else(|_| self.workspace.to_owned());
        ProtectedPaths::for_workspace(&workspace, &[], None).with_link_targets(&workspace).is_protected(path)
    }

    /// Returns whether a path is in the skill's own directory, with links resolved.
    fn is_inside_skill(&self, path: &str) -> bool {
        let (Ok(folder), Ok(real)) = (fs::canonicalize(self.folder), resolve_real_path(&self.workspace.join(path)))
        else {
            return false;
        };
        real.starts_with(folder)
    }

    /// Returns whether a path matches one of the patterns, both as written and with links resolved.
    fn check_patterns(&self, path: &str, patterns: &[Glob], field: &str) -> AccessVerdict {
        let Some(written) = self.relative_to_workspace(path) else {
            return AccessVerdict::new(false, DEFAULT_DENY, format!("`{path}` is not inside the workspace"));
        };
        let fitting = |path: &str| patterns.iter().find(|pattern| pattern.matches(path));
        let Some(pattern) = fitting(&written) else {
            let why = match patterns {
                [] => format!("`{field}` declares nothing"),
                _ => format!("`{written}` matches no pattern in `{field}`"),
            };
            return AccessVerdict::new(false, DEFAULT_DENY, why);
        };
        let found =
            fs::canonicalize(self.workspace).and_then(|root| Ok((resolve_real_path(&root.join(&written))?, root)));
        let (real, root) = match found {
            Ok(found) => found,
            Err(error) => {
                return AccessVerdict::new(false, DEFAULT_DENY, format!("could not resolve `{written}`: {error}"));
            }
        };
        let Ok(real) = real.strip_prefix(root).map(Path::to_string_lossy) else {
            return AccessVerdict::new(
                false,
                DEFAULT_DENY,
                format!("`{written}` links to a path outside the workspace"),
            );
        };
        if fitting(&real).is_none() {
            let why = format!("`{written}` links to `{real}`, which matches no pattern in `{field}`");
            return AccessVerdict::new(false, DEFAULT_DENY, why);
        }
        AccessVerdict::new(
            true,
            format!("{field}: {}", pattern.as_str()),
            format!("`{written}` matches `{}`", pattern.as_str()),
        )
    }

    /// Makes a path relative to the workspace. Tools may use absolute paths inside the workspace.
    fn relative_to_workspace(&self, path: &str) -> Option<String> {
        let inside = Path::new(path).strip_prefix(self.workspace).ok().and_then(Path::to_str);
        normalise_path(inside.unwrap_or(path)).filter(|path| !path.is_empty())
    }

    fn check_connect(&self, request: &str) -> AccessVerdict {
        const FIELD: &str = "permissions.network.outbound";
        let Some(request) = HostRule::parse(request).ok().filter(|request| !request.host.contains('*')) else {
            return AccessVerdict::new(false, DEFAULT_DENY, format!("`{request}` is not a valid host"));
        };
        let request = HostRule { port: Some(request.port.unwrap_or(443)), ..request };
        let is_fitting = |rule: &&HostRule| request.ports().iter().all(|port| rule.matches(&request.host, *port));
        match self.permissions.outbound.iter().find(is_fitting) {
            Some(rule) => AccessVerdict::new(true, format!("{FIELD}: {rule}"), format!("`{request}` matches `{rule}`")),
            None if self.permissions.outbound.is_empty() => {
                AccessVerdict::new(false, DEFAULT_DENY, format!("`{FIELD}` declares nothing"))
            }
            None => AccessVerdict::new(false, DEFAULT_DENY, format!("`{request}` matches nothing in `{FIELD}`")),
        }
    }
}

/// Resolves the existing part of a path and appends the part that does not exist yet. A dangling link is an
/// error: writing to it would create its target.
fn resolve_real_path(path: &Path) -> io::Result<PathBuf> {
    let mut rest = Vec::new();
    let mut there = path;
    loop {
        match fs::canonicalize(there) {
            Ok(real) => return Ok(rest.iter().rev().fold(real, |path, part| path.join(part))),
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Err(error) if fs::symlink_metadata(there).is_ok() => {
                return Err(io::Error::new(error.kind(), "it is a dangling link"));
            }
            Err(error) => {
                // `..` after a missing component cannot be resolved.
                let (Some(name), Some(parent)) = (there.file_name(), there.parent()) else { return Err(error) };
                rest.push(name.to_owned());
                there = parent;
            }
        }
    }
}

#[cfg(test)]
mod tests;
