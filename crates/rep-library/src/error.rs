//! Errors of the environment that prevent the library from working. Problems in skills are findings instead.

use std::io;
use std::path::{Path, PathBuf};

/// An error that occurred while a file outside a skill was read or written.
#[derive(Debug, thiserror::Error)]
#[error("could not {action} `{}`: {}", path.display(), describe_io_error(source))]
pub struct LibraryError {
    action: &'static str,
    path: PathBuf,
    source: io::Error,
    /// The remedy.
    hint: Option<&'static str>,
}

impl LibraryError {
    /// The stable code for programs.
    pub const CODE: &'static str = "UNREADABLE";

    pub(crate) fn new(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self { action, path: path.to_owned(), source, hint: None }
    }

    #[must_use]
    pub(crate) fn with_hint(mut self, hint: &'static str) -> Self {
        self.hint = Some(hint);
        self
    }

    /// Returns the kind of the system's error.
    pub fn kind(&self) -> io::ErrorKind {
        self.source.kind()
    }

    /// Returns the remedy, if there is one.
    pub fn hint(&self) -> Option<&'static str> {
        self.hint
    }
}

/// Returns the system's message without the error number.
pub(crate) fn describe_io_error(error: &io::Error) -> String {
    let text = error.to_string();
    if error.raw_os_error().is_none() {
        return text;
    }
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
}
