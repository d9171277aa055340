//! Why the library could not do its work: the world's fault, never a skill's.

use std::io;
use std::path::{Path, PathBuf};

/// Something outside a skill could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("could not {action} `{}`: {}", path.display(), words(source))]
pub struct LibraryError {
    action: &'static str,
    path: PathBuf,
    source: io::Error,
    /// What to do about it.
    hint: Option<&'static str>,
}

impl LibraryError {
    pub(crate) fn new(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self { action, path: path.to_owned(), source, hint: None }
    }

    #[must_use]
    pub(crate) fn hinting(mut self, hint: &'static str) -> Self {
        self.hint = Some(hint);
        self
    }

    /// What to do about it, where there is something.
    pub fn hint(&self) -> Option<&'static str> {
        self.hint
    }
}

/// The system's words without its error number.
pub(crate) fn words(error: &io::Error) -> String {
    let text = error.to_string();
    if error.raw_os_error().is_none() {
        return text;
    }
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
}
