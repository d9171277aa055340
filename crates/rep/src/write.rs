//! Writes files atomically, and adds hints to write errors.

use std::path::Path;

use rep_storage::WriteError;
use rep_storage::atomic::{self, OnExistingFile};

use crate::exit::Failure;

/// Creates a file and its parent directories. The file must not exist yet.
pub(crate) fn create_file(path: &Path, text: &str) -> Result<(), Failure> {
    Ok(atomic::write_file(path, text.as_bytes(), OnExistingFile::Keep)?)
}

/// Writes a file, whether or not it exists. A link is replaced, not followed.
pub(crate) fn write_file(path: &Path, text: &str) -> Result<(), Failure> {
    Ok(atomic::replace_file(path, text.as_bytes())?)
}

/// Writes a file and its parent directories, replacing an existing file.
pub(crate) fn replace_file(path: &Path, text: &str) -> Result<(), Failure> {
    Ok(atomic::write_file(path, text.as_bytes(), OnExistingFile::Replace)?)
}

/// Writes the result of a command that has `--out` and `--force`, and creates parent directories.
pub(crate) fn write_result(path: &Path, bytes: &[u8], is_forced: bool) -> Result<(), Failure> {
    let existing = if is_forced { OnExistingFile::Replace } else { OnExistingFile::Keep };
    atomic::write_file(path, bytes, existing).map_err(write_failure)
}

/// Returns the failure for a result that could not be written.
pub(crate) fn write_failure(error: WriteError) -> Failure {
    let hint = match &error {
        WriteError::Exists(_) => Some("pass --force to replace it, or --out to write to another file"),
        WriteError::Folder(_) | WriteError::Special(_) => {
            Some("pass --out with another file, or omit it to print to stdout")
        }
        WriteError::Link(_) | WriteError::Changed(_) | WriteError::Failed { .. } => None,
    };
    Failure::from(error).hints(hint)
}
