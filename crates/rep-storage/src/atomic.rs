//! Writes whole files: after a crash there is the old file or the new one, never half of one.
//!
//! The bytes go to a temporary file in the same folder, are synced, and take the place of the target in one step. Files of the
//! user alone (approvals, secrets, records) are written by [`crate::files`]; everything else that `rep` writes, such as results,
//! fixed skills and lock files, is written here.
#![expect(clippy::disallowed_methods, reason = "this is the atomic writer that others are told to use")]

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The start of the names of temporary files.
const TEMPORARY: &str = ".rep-";
/// The mode of a new file, before the user's mask.
const SHARED: u32 = 0o666;
/// The mode of a file that only its owner may read.
pub(crate) const PRIVATE: u32 = 0o600;

/// Why a file was not written. What was there before is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// There is a file already, and it must not be replaced.
    #[error("`{}` is there already", .0.display())]
    Exists(PathBuf),
    /// There is a link, which is neither followed nor replaced.
    #[error("`{}` is a link and was not changed", .0.display())]
    Link(PathBuf),
    /// There is a folder.
    #[error("`{}` is a folder, and is not replaced", .0.display())]
    Folder(PathBuf),
    /// There is something that is neither a file nor a folder nor a link.
    #[error("`{}` is no file but a device, a pipe or a socket, and is not replaced", .0.display())]
    Special(PathBuf),
    /// The file no longer holds what was read from it.
    #[error("`{}` changed while it was being mended and was left alone", .0.display())]
    Changed(PathBuf),
    /// The system refused.
    #[error("could not write `{}`: {source}", path.display())]
    Failed {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
}

impl From<WriteError> for io::Error {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Failed { source, .. } => source,
            other => io::Error::other(other.to_string()),
        }
    }
}

/// What happens to a file that is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// It stays, and nothing is written.
    Keep,
    /// It is replaced, and the new one gets its mode. A link is replaced, not followed.
    Replace,
}

/// Writes a file, with the folders above it.
pub fn write(path: &Path, bytes: &[u8], existing: Existing) -> Result<(), WriteError> {
    let failed = |source| WriteError::Failed { path: path.to_owned(), source };
    fs::create_dir_all(folder_of(path)).map_err(failed)?;
    if existing == Existing::Replace {
        return put(path, bytes);
    }
    match persist(path, bytes, None, Existing::Keep) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(WriteError::Exists(path.to_owned())),
        result => result.map_err(failed),
    }
}

/// Writes a file into a folder that exists; what is there is replaced as [`Existing::Replace`] says.
pub fn put(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    let there = fs::symlink_metadata(path).ok();
    let mode = match &there {
        Some(there) if there.is_file() => Some(there.permissions()),
        Some(there) if there.is_dir() => return Err(WriteError::Folder(path.to_owned())),
        Some(there) if !there.is_symlink() => return Err(WriteError::Special(path.to_owned())),
        Some(_) | None => None,
    };
    let written = persist(path, bytes, mode, Existing::Replace);
    written.map_err(|source| WriteError::Failed { path: path.to_owned(), source })
}

/// Replaces a file by a new version, keeping its mode. Refuses if the file is a link or no longer holds `expected`.
pub fn update(path: &Path, expected: &[u8], bytes: &[u8]) -> Result<(), WriteError> {
    let failed = |source| WriteError::Failed { path: path.to_owned(), source };
    let metadata = fs::symlink_metadata(path).map_err(failed)?;
    if metadata.is_symlink() {
        return Err(WriteError::Link(path.to_owned()));
    }
    if fs::read(path).map_err(failed)? != expected {
        return Err(WriteError::Changed(path.to_owned()));
    }
    persist(path, bytes, Some(metadata.permissions()), Existing::Replace).map_err(failed)
}

/// Writes a file that can be computed again, readable by its owner only. It is whole, but not synced: a power cut may lose it.
pub fn put_cache(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // Temporary files have the mode 0600.
    let mut file = tempfile::Builder::new().prefix(TEMPORARY).tempfile_in(folder_of(path))?;
    file.write_all(bytes)?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

/// The folder that holds a file.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes the name of a file in a folder durable.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Writes a synced temporary file beside the target and gives it the target's name. Without a mode the user's mask decides.
pub(crate) fn persist(path: &Path, bytes: &[u8], mode: Option<Permissions>, existing: Existing) -> io::Result<()> {
    let mut builder = tempfile::Builder::new();
    let builder = builder.prefix(TEMPORARY);
    let mut file = match &mode {
        // Nobody else may open it before it has the mode it is meant to have.
        Some(_) => builder.tempfile_in(folder_of(path))?,
        None => builder.permissions(Permissions::from_mode(SHARED)).tempfile_in(folder_of(path))?,
    };
    file.write_all(bytes)?;
    if let Some(mode) = mode {
        file.as_file().set_permissions(mode)?;
    }
    file.as_file().sync_all()?;
    match existing {
        Existing::Keep => file.persist_noclobber(path),
        Existing::Replace => file.persist(path),
    }
    .map(drop)
    .map_err(|error| error.error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    fn names(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect()
    }

    #[test]
    fn a_file_is_kept_or_replaced_with_its_mode() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/file");
        write(&path, b"1", Existing::Keep).unwrap();
        assert!(matches!(write(&path, b"2", Existing::Keep), Err(WriteError::Exists(_))));
        assert_eq!(fs::read(&path).unwrap(), b"1");
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        write(&path, b"2", Existing::Replace).unwrap();
        assert_eq!((fs::read(&path).unwrap().as_slice(), mode(&path)), (b"2".as_slice(), 0o640));
        assert_eq!(names(path.parent().unwrap()), ["file"]);
    }

    #[test]
    fn a_link_is_replaced_by_put_and_refused_by_update() {
        let folder = tempfile::tempdir().unwrap();
        let (target, link) = (folder.path().join("target"), folder.path().join("link"));
        put(&target, b"1").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        assert!(matches!(update(&link, b"1", b"2"), Err(WriteError::Link(_))));
        put(&link, b"2").unwrap();
        assert_eq!((fs::read(&target).unwrap(), fs::read(&link).unwrap()), (b"1".to_vec(), b"2".to_vec()));
        assert!(!link.is_symlink());
    }

    #[test]
    fn what_changed_meanwhile_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        put(&path, b"1").unwrap();
        assert!(matches!(update(&path, b"other", b"2"), Err(WriteError::Changed(_))));
        assert_eq!(fs::read(&path).unwrap(), b"1");
        update(&path, b"1", b"2").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"2");
    }

    #[test]
    fn folders_and_special_files_are_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(put(folder.path(), b""), Err(WriteError::Folder(_))));
        let pipe = folder.path().join("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0).unwrap();
        assert!(matches!(put(&pipe, b""), Err(WriteError::Special(_))));
        assert!(matches!(put(&folder.path().join("no/file"), b""), Err(WriteError::Failed { .. })));
    }
}
