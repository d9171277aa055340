//! The user's own files: approvals, secrets, audit and tasks. Readable by their owner only, replaced whole, one writer at a time.

use std::fs::{DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, FileType, Mode, OFlags};

use crate::atomic::{self, Existing};

/// A file of the user's could not be kept or read.
#[derive(Debug, thiserror::Error)]
#[error("could not {action} `{}`: {source}", path.display())]
pub struct StorageError {
    action: &'static str,
    path: PathBuf,
    #[source]
    source: io::Error,
}

impl StorageError {
    /// What could not be done, with which file, and why.
    pub fn new(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self { action, path: path.to_owned(), source }
    }

    /// The error of the system.
    pub fn into_source(self) -> io::Error {
        self.source
    }

    /// A file that was read and does not hold what it should.
    pub fn broken(path: &Path, message: impl Into<String>) -> Self {
        Self::new("use", path, io::Error::other(message.into()))
    }
}

/// Makes the folder of a file, for its owner only.
pub fn folder_of(path: &Path) -> Result<&Path, StorageError> {
    let folder = atomic::folder_of(path);
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|error| StorageError::new("make the folder", folder, error))?;
    Ok(folder)
}

/// Reads a file that is there and no larger than `most`; `None` where there is none. Never follows a link or waits on a pipe.
/// A file others may read or write is refused: who writes there could speak in the user's name.
pub fn read(path: &Path, most: u64) -> Result<Option<Vec<u8>>, StorageError> {
    let failed = |error| StorageError::new("read", path, error);
    let Some(file) = open_there(path)? else { return Ok(None) };
    let metadata = file.metadata().map_err(failed)?;
    if metadata.permissions().mode() & 0o077 != 0 {
        return Err(failed(io::Error::other("others may read it; `chmod 600` it, and think of what it held as known")));
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

/// Opens a regular file for reading; `None` where there is none.
pub fn open_there(path: &Path) -> Result<Option<File>, StorageError> {
    let failed = |error| StorageError::new("read", path, error);
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(failed(io::Error::other("it is no regular file")));
    }
    Ok(Some(file))
}

/// Replaces a file whole: a crash leaves the old one or the new one.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), StorageError> {
    let folder = folder_of(path)?;
    let written = atomic::persist(path, bytes, Some(Permissions::from_mode(atomic::PRIVATE)), Existing::Replace);
    // The name is on the disk only when the folder is.
    written.and_then(|()| atomic::sync_folder(folder)).map_err(|error| StorageError::new("write", path, error))
}

/// Holds others off until the value is dropped.
pub struct Lock {
    _file: File,
}

/// Removes the oldest files of a folder of our own, until no more than so many are left.
pub fn prune(folder: &Path, most: usize) -> Result<(), StorageError> {
    let failed = |error: rustix::io::Errno| StorageError::new("look through", folder, error.into());
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

/// Removes a file of the user's; one that is not there is fine.
pub fn remove(path: &Path) -> Result<(), StorageError> {
    match rustix::fs::unlink(path) {
        Ok(()) | Err(rustix::io::Errno::NOENT) => Ok(()),
        Err(error) => Err(StorageError::new("remove", path, error.into())),
    }
}

/// How long is waited for others, and how often is looked. They write a few lines each.
const LOCK_TIME: Duration = Duration::from_mins(1);
const LOCK_PAUSE: Duration = Duration::from_millis(2);

/// Waits for the sole right to change what lies at a path; not for ever, for who has it may have been stopped.
pub fn lock(path: &Path) -> Result<Lock, StorageError> {
    let path = path.with_extension("lock");
    let failed = |error| StorageError::new("lock", &path, error);
    let file = open(&path)?;
    let started = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Lock { _file: file }),
            Err(TryLockError::Error(error)) => return Err(failed(error)),
            Err(TryLockError::WouldBlock) if started.elapsed() > LOCK_TIME => {
                return Err(failed(io::Error::other("another process has held it for a minute")));
            }
            Err(TryLockError::WouldBlock) => std::thread::park_timeout(LOCK_PAUSE),
        }
    }
}

/// Opens a file for reading and appending, and makes it where there is none.
pub fn open(path: &Path) -> Result<File, StorageError> {
    folder_of(path)?;
    let flags = OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true).mode(0o600).custom_flags(flags.bits().cast_signed());
    let file = options.open(path).map_err(|error| StorageError::new("open", path, error))?;
    match file.metadata() {
        Ok(metadata) if metadata.is_file() => Ok(file),
        Ok(_) => Err(StorageError::broken(path, "it is no regular file")),
        Err(error) => Err(StorageError::new("open", path, error)),
    }
}

/// Fills bytes with chance from the kernel.
pub fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    let mut filled = 0;
    while filled < N {
        let rest = &mut bytes[filled..];
        filled += rustix::rand::getrandom(rest, rustix::rand::GetRandomFlags::empty())
            .expect("the kernel gives random bytes to everybody");
    }
    bytes
}
