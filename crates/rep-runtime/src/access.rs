//! Questions about a policy: may this file be read, may that host be reached, and what says so.
//!
//! Paths are worked out as a run would: `.` and `..` first, without looking (what leads out of the workspace is refused), then
//! the real path, with every link resolved. Both must fit. Universal 2.1 §8.
#![expect(clippy::disallowed_methods, reason = "links can only be resolved by looking")]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::plan::{HostRule, Permissions};
use rep_permissions::glob::{Glob, normalise};
use rep_sandbox::trusted::Trusted;

/// What somebody wants to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccessRequest {
    /// Whether a file may be read.
    Read(String),
    /// Whether a file may be made, changed or removed.
    Write(String),
    /// Whether a host, and perhaps a port, may be reached.
    Connect(String),
    /// Whether other programs may be started.
    Spawn,
}

/// An answer, and what it rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessVerdict {
    /// Whether it may.
    pub is_allowed: bool,
    /// What decided: a declaration, or a rule of ours.
    pub by: String,
    /// Why, in a sentence.
    pub why: String,
}

impl AccessVerdict {
    fn new(is_allowed: bool, by: impl Into<String>, why: impl Into<String>) -> Self {
        Self { is_allowed, by: by.into(), why: why.into() }
    }
}

/// What a question is put to.
#[derive(Clone, Copy, Debug)]
pub struct AccessContext<'a> {
    /// What the skill may do.
    pub permissions: &'a Permissions,
    /// The folder patterns are relative to.
    pub workspace: &'a Path,
    /// The skill's own folder.
    pub folder: &'a Path,
}

const DENIED: &str = "default deny";

impl AccessContext<'_> {
    /// Answers a question.
    pub fn answer(&self, request: &AccessRequest) -> AccessVerdict {
        match request {
            AccessRequest::Read(path) => self.read(path),
            AccessRequest::Write(path) => self.write(path),
            AccessRequest::Connect(host) => self.connect(host),
            AccessRequest::Spawn if self.permissions.allow_subprocess => {
                AccessVerdict::new(true, "permissions.processes.allow_subprocess", "it is declared")
            }
            AccessRequest::Spawn => {
                AccessVerdict::new(false, DENIED, "`permissions.processes.allow_subprocess` is not declared as `true`")
            }
        }
    }

    fn read(&self, path: &str) -> AccessVerdict {
        if self.is_own(path) {
            return AccessVerdict::new(true, "the skill's own folder", "a skill may read what it ships");
        }
        self.fits(path, &self.permissions.read, "permissions.filesystem.read")
    }

    fn write(&self, path: &str) -> AccessVerdict {
        let answer = self.fits(path, &self.permissions.write, "permissions.filesystem.write");
        if answer.is_allowed && self.is_own(path) {
            return AccessVerdict::new(
                false,
                "the skill's own folder",
                "a skill never changes itself, whatever it declares",
            );
        }
        if answer.is_allowed && self.relative(path).is_some_and(|path| self.is_trusted(&path)) {
            let why = "other programs run or believe what stands there, so no skill may write it";
            return AccessVerdict::new(false, "names that others trust", why);
        }
        answer
    }

    /// Whether a path of the workspace is one others trust.
    fn is_trusted(&self, path: &str) -> bool {
        let workspace = fs::canonicalize(self.workspace).unwrap_or_else(|_| self.workspace.to_owned());
        Trusted::of(&workspace, &[], None).and_where_links_lead(&workspace).is(path)
    }

    /// Whether a path lies in the skill's own folder, links resolved.
    fn is_own(&self, path: &str) -> bool {
        let (Ok(folder), Ok(real)) = (fs::canonicalize(self.folder), real(&self.workspace.join(path))) else {
            return false;
        };
        real.starts_with(folder)
    }

    /// Whether a path fits one of the patterns, as it is written and as it really is.
    fn fits(&self, path: &str, patterns: &[Glob], field: &str) -> AccessVerdict {
        let Some(written) = self.relative(path) else {
            return AccessVerdict::new(false, DENIED, format!("`{path}` is not inside the workspace"));
        };
        let fitting = |path: &str| patterns.iter().find(|pattern| pattern.fits(path));
        let Some(pattern) = fitting(&written) else {
            let why = match patterns {
                [] => format!("`{field}` declares nothing"),
                _ => format!("`{written}` fits nothing in `{field}`"),
            };
            return AccessVerdict::new(false, DENIED, why);
        };
        let found = fs::canonicalize(self.workspace).and_then(|root| Ok((real(&root.join(&written))?, root)));
        let (real, root) = match found {
            Ok(found) => found,
            Err(error) => {
                return AccessVerdict::new(false, DENIED, format!("where `{written}` leads cannot be seen: {error}"));
            }
        };
        let Ok(real) = real.strip_prefix(root).map(Path::to_string_lossy) else {
            return AccessVerdict::new(false, DENIED, format!("`{written}` leads out of the workspace by a link"));
        };
        if fitting(&real).is_none() {
            let why = format!("`{written}` is really `{real}`, which fits nothing in `{field}`");
            return AccessVerdict::new(false, DENIED, why);
        }
        AccessVerdict::new(
            true,
            format!("{field}: {}", pattern.as_str()),
            format!("`{written}` fits `{}`", pattern.as_str()),
        )
    }

    /// A path relative to the workspace. An absolute one counts where it lies inside, as that is how tools may name it.
    fn relative(&self, path: &str) -> Option<String> {
        let inside = Path::new(path).strip_prefix(self.workspace).ok().and_then(Path::to_str);
        normalise(inside.unwrap_or(path)).filter(|path| !path.is_empty())
    }

    fn connect(&self, request: &str) -> AccessVerdict {
        const FIELD: &str = "permissions.network.outbound";
        let Some(request) = HostRule::parse(request).ok().filter(|request| !request.host.contains('*')) else {
            return AccessVerdict::new(false, DENIED, format!("`{request}` is no host"));
        };
        let request = HostRule { port: Some(request.port.unwrap_or(443)), ..request };
        let is_fitting = |rule: &&HostRule| request.ports().iter().all(|port| rule.fits(&request.host, *port));
        match self.permissions.outbound.iter().find(is_fitting) {
            Some(rule) => AccessVerdict::new(true, format!("{FIELD}: {rule}"), format!("`{request}` fits `{rule}`")),
            None if self.permissions.outbound.is_empty() => {
                AccessVerdict::new(false, DENIED, format!("`{FIELD}` declares nothing"))
            }
            None => AccessVerdict::new(false, DENIED, format!("`{request}` fits nothing in `{FIELD}`")),
        }
    }
}

/// The real path of what is there, with what is not there yet behind it. A link that leads nowhere is an error: to write there
/// would make what it names.
fn real(path: &Path) -> io::Result<PathBuf> {
    let mut rest = Vec::new();
    let mut there = path;
    loop {
        match fs::canonicalize(there) {
            Ok(real) => return Ok(rest.iter().rev().fold(real, |path, part| path.join(part))),
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Err(error) if fs::symlink_metadata(there).is_ok() => {
                return Err(io::Error::new(error.kind(), "it is a link that leads nowhere"));
            }
            Err(error) => {
                // `..` behind what is not there leads nobody knows where.
                let (Some(name), Some(parent)) = (there.file_name(), there.parent()) else { return Err(error) };
                rest.push(name.to_owned());
                there = parent;
            }
        }
    }
}

#[cfg(test)]
mod tests;
