//! Stores a user's private files: approvals, secrets, audit records and tasks. Files are readable only by their owner,
//! are replaced atomically, and have one writer at a time.

use std::fs::{DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, FileType, Mode, OFlags};

use crate::atomic::{self, OnExistingFile};

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
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|error| StorageError::new("create the directory", folder, error))?;
    Ok(folder)
}

/// Reads a file of at most `most` bytes, or returns `None` if it does not exist. Never follows a link or blocks on a
/// pipe. Refuses a file that other users can read or write, because they could act in the user's name.
pub fn read_private(path: &Path, most: u64) -> Result<Option<Vec<u8>>, StorageError> {
    let failed = |error| StorageError::new("read", path, error);
    let Some(file) = open_existing(path)? else { return Ok(None) };
    let metadata = file.metadata().map_err(failed)?;
    if metadata.permissions().mode() & 0o077 != 0 {
        return Err(failed(io::Error::other(
            "other users can access it; `chmod 600` it and treat its content as exposed",
        )));
    }
    let is_ours = metadata.uid() == rustix::process::geteuid().as_raw() || rustix::process::geteuid().is_root();
    if !is_ours {
        return Err(failed(io::Error::other("it belongs to another user")));
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
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path) {
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
    let written =
        atomic::persist_file(path, bytes, Some(Permissions::from_mode(atomic::PRIVATE_MODE)), OnExistingFile::Replace);
    // The file name is durable only after its directory is synced.
    written.and_then(|()| atomic::sync_folder(folder)).map_err(|error| StorageError::new("write", path, error))
}

/// An exclusive lock, released when the value is dropped.
pub struct FileLock {
    _file: File,
}

/// Removes the oldest files of a directory until at most `most` are left.
pub fn prune_oldest(folder: &Path, most: usize) -> Result<(), StorageError> {
    let failed = |error: rustix::io::Errno| StorageError::new("prune", folder, error.into());
    let opened = rustix::fs::open(folder, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
    let opened = opened.map_err(failed)?;
    let mut files = Vec::new();
    for entry in rustix::fs::Dir::read_from(&opened).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name().to_owned();
        let Ok(about) = rustix::fs::statat(&opened, &name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
        if FileType::from_raw_mode(about.st_mode) == FileType::RegularFile {
            files.push((about.st_mtime, name));
        }
    }
    files.sort();
    for (_, name) in files.iter().take(files.len().saturating_sub(most)) {
        match rustix::fs::unlinkat(&opened, name, AtFlags::empty()) {
            Ok(()) | Err(rustix::io::Errno::NOENT) => {}
            Err(error) => return Err(failed(error)),
        }
    }
    Ok(())
}

/// Removes a file if it exists.
pub fn remove_if_present(path: &Path) -> Result<(), StorageError> {
    match rustix::fs::unlink(path) {
        Ok(()) | Err(rustix::io::Errno::NOENT) => Ok(()),
        Err(error) => Err(StorageError::new("remove", path, error.into())),
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
    let flags = OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true).mode(0o600).custom_flags(flags.bits().cast_signed());
    let file = options.open(path).map_err(|error| StorageError::new("open", path, error))?;
    match file.metadata() {
        Ok(metadata) if metadata.is_file() => Ok(file),
        Ok(_) => Err(StorageError::invalid_content(path, "it is not a regular file")),
        Err(error) => Err(StorageError::new("open", path, error)),
    }
}

/// Returns random bytes from the kernel.
pub fn random_bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    let mut filled = 0;
    while filled < N {
        let rest = &mut bytes[filled..];
        filled += rustix::rand::getrandom(rest, rustix::rand::GetRandomFlags::empty())
            .expect("the kernel provides random bytes");
    }
    bytes
}
