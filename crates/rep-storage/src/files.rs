//! Stores a user's private files: approvals, secrets, audit records and tasks. Files are readable only by their owner,
//! are replaced atomically, and have one writer at a time.
#![expect(clippy::disallowed_methods, reason = "this module owns the user's private files")]

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::atomic::{self, FileMode, OnExistingFile};
use crate::platform::{self, LinkPolicy};

/// An error that occurred while a private file was read or written.
#[derive(Debug, thiserror::Error)]
#[error("could not {action} `{}`: {source}", path.display())]
pub struct StorageError {
    action: &'static str,
    path: PathBuf,
    #[source]
    source: io::Error,
}

impl StorageError {
    /// Creates an error from the failed action, the file and the cause.
    pub fn new(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self { action, path: path.to_owned(), source }
    }

    /// Returns the system error.
    pub fn into_source(self) -> io::Error {
        self.source
    }

    /// Creates an error for a file whose content is not valid.
    pub fn invalid_content(path: &Path, message: impl Into<String>) -> Self {
        Self::new("use", path, io::Error::other(message.into()))
    }
}

/// Creates the directory of a file, accessible only to its owner.
pub fn create_containing_folder(path: &Path) -> Result<&Path, StorageError> {
    let folder = atomic::containing_folder(path);
    platform::create_private_folder(folder, true)
        .map_err(|error| StorageError::new("create the directory", folder, error))?;
    Ok(folder)
}

/// Reads a file of at most `most` bytes, or returns `None` if it does not exist. Never follows a link or blocks on a
/// pipe. Refuses a file that other users can read or write, because they could act in the user's name.
pub fn read_private(path: &Path, most: u64) -> Result<Option<Vec<u8>>, StorageError> {
    let failed = |error| StorageError::new("read", path, error);
    let Some(file) = open_existing(path)? else { return Ok(None) };
    let metadata = file.metadata().map_err(failed)?;
    if let Some(reason) = platform::find_exposure(&metadata) {
        return Err(failed(io::Error::other(reason)));
    }
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > most {
        return Err(failed(io::Error::other(format!("it is larger than {most} bytes"))));
    }
    Ok(Some(bytes))
}

/// Opens a regular file for reading, or returns `None` if it does not exist.
pub fn open_existing(path: &Path) -> Result<Option<File>, StorageError> {
    let failed = |error| StorageError::new("read", path, error);
    let file = match platform::open_file(path, LinkPolicy::Refuse) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(failed(io::Error::other("it is not a regular file")));
    }
    Ok(Some(file))
}

/// Replaces a file atomically: after a crash, either the old or the new file exists.
pub fn replace_private(path: &Path, bytes: &[u8]) -> Result<(), StorageError> {
    let folder = create_containing_folder(path)?;
    let written = atomic::persist_file(path, bytes, &FileMode::Private, OnExistingFile::Replace);
    // The file name is durable only after its directory is synced.
    written.and_then(|()| platform::sync_folder(folder)).map_err(|error| StorageError::new("write", path, error))
}

/// An exclusive lock, released when the value is dropped.
pub struct FileLock {
    _file: File,
}

/// Removes the oldest files of a directory until at most `most` are left.
pub fn prune_oldest(folder: &Path, most: usize) -> Result<(), StorageError> {
    let failed = |error: io::Error| StorageError::new("prune", folder, error);
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        // The metadata of an entry is that of a link itself.
        let Ok(about) = entry.metadata() else { continue };
        if about.is_file() {
            files.push((about.modified().map_err(failed)?, entry.file_name()));
        }
    }
    files.sort();
    for (_, name) in files.iter().take(files.len().saturating_sub(most)) {
        match fs::remove_file(folder.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            Ok(()) | Err(_) => {}
        }
    }
    Ok(())
}

/// Removes a file if it exists.
pub fn remove_if_present(path: &Path) -> Result<(), StorageError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(StorageError::new("remove", path, error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// How long to wait for a lock, and how often to try. Writers hold it only briefly.
const LOCK_TIMEOUT: Duration = Duration::from_mins(1);
const LOCK_PAUSE: Duration = Duration::from_millis(2);

/// Acquires the exclusive right to change a file. Gives up after a minute, because the holder may be suspended.
pub fn lock_file(path: &Path) -> Result<FileLock, StorageError> {
    let path = path.with_extension("lock");
    let failed = |error| StorageError::new("lock", &path, error);
    let file = open_for_append(&path)?;
    let started = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(FileLock { _file: file }),
            Err(TryLockError::Error(error)) => return Err(failed(error)),
            Err(TryLockError::WouldBlock) if started.elapsed() > LOCK_TIMEOUT => {
                return Err(failed(io::Error::other("another process has held it for a minute")));
            }
            Err(TryLockError::WouldBlock) => std::thread::park_timeout(LOCK_PAUSE),
        }
    }
}

/// Opens a file for reading and appending, and creates it if it does not exist.
pub fn open_for_append(path: &Path) -> Result<File, StorageError> {
    create_containing_folder(path)?;
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true);
    platform::set_creation_mode(&mut options, platform::PRIVATE_FILE_MODE);
    platform::set_open_flags(&mut options, LinkPolicy::Refuse);
    let file = options.open(path).map_err(|error| StorageError::new("open", path, error))?;
    match file.metadata() {
        Ok(metadata) if metadata.is_file() => Ok(file),
        Ok(_) => Err(StorageError::invalid_content(path, "it is not a regular file")),
        Err(error) => Err(StorageError::new("open", path, error)),
    }
}

pub use platform::random_bytes;
