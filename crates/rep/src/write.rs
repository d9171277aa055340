//! Writes files with the one atomic writer, and says what to do about a file that cannot be written.

use std::path::Path;

use rep_storage::WriteError;
use rep_storage::atomic::{self, Existing};

use crate::exit::Failure;

/// Writes a file that must not exist yet, with the folders above it.
pub(crate) fn create(path: &Path, text: &str) -> Result<(), Failure> {
    Ok(atomic::write(path, text.as_bytes(), Existing::Keep)?)
}

/// Writes a file, whether there is one or not. A link in its place is replaced, not followed.
pub(crate) fn put(path: &Path, text: &str) -> Result<(), Failure> {
    Ok(atomic::put(path, text.as_bytes())?)
}

/// Writes the result of a command that has `--out` and `--force`, with the folders above it.
pub(crate) fn file(path: &Path, bytes: &[u8], is_forced: bool) -> Result<(), Failure> {
    let existing = if is_forced { Existing::Replace } else { Existing::Keep };
    atomic::write(path, bytes, existing).map_err(unwritable)
}

/// Why the result of such a command was not written.
pub(crate) fn unwritable(error: WriteError) -> Failure {
    let hint = match &error {
        WriteError::Exists(_) => Some("--force replaces it; --out names another file"),
        WriteError::Folder(_) | WriteError::Special(_) => {
            Some("--out names another file; without it the result goes to stdout")
        }
        WriteError::Link(_) | WriteError::Changed(_) | WriteError::Failed { .. } => None,
    };
    Failure::from(error).hints(hint)
}
