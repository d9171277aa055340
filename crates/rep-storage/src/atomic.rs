//! Writes files atomically: after a crash, either the old or the new file exists, never a partial one.
//!
//! The bytes are written to a temporary file in the same directory and synced, and the file is then renamed to the
//! target. [`crate::files`] writes files that only their owner may read, such as approvals, secrets and records. This
//! module writes all other files, such as results, fixed skills and lock files.
#![expect(clippy::disallowed_methods, reason = "this is the atomic writer that other modules use")]

use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::owner::ProcessOwner;
use crate::platform;

/// The prefix of temporary file names. The process follows, so that files of killed processes are recognised.
const TEMPORARY_PREFIX: &str = ".rep-";
/// How long a temporary file remains at least. A process in another container looks as if it had ended.
const TEMPORARY_AGE_MIN: Duration = Duration::from_mins(1);
/// How long a temporary file remains if its name does not tell whether its process is running.
const TEMPORARY_AGE_MAX: Duration = Duration::from_hours(24);

/// The mode of a written file.
pub(crate) enum FileMode {
    /// What the umask leaves.
    Shared,
    /// Only the owner can read it.
    Private,
    /// That of another file.
    Copied(Permissions),
}

/// The reason a file was not written. The existing file is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The file already exists and must not be replaced.
    #[error("`{}` already exists", .0.display())]
    Exists(PathBuf),
    /// The path is a link, which is neither followed nor replaced.
    #[error("`{}` is a link and was not changed", .0.display())]
    Link(PathBuf),
    /// The path is a directory.
    #[error("`{}` is a directory and was not replaced", .0.display())]
    Folder(PathBuf),
    /// The path is neither a file, a directory nor a link.
    #[error("`{}` is a device, a pipe or a socket and was not replaced", .0.display())]
    Special(PathBuf),
    /// The file no longer has the expected content.
    #[error("`{}` changed while it was being fixed and was not written", .0.display())]
    Changed(PathBuf),
    /// A system call failed.
    #[error("could not write `{}`: {source}", path.display())]
    Failed {
        /// The file.
        path: PathBuf,
        /// The system error.
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

/// What to do if the file already exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnExistingFile {
    /// Keep the file and write nothing.
    Keep,
    /// Replace the file and retain its mode. A link is replaced, not followed.
    Replace,
}

/// Writes a file and creates its parent directories.
pub fn write_file(path: &Path, bytes: &[u8], existing: OnExistingFile) -> Result<(), WriteError> {
    let failed = |source| WriteError::Failed { path: path.to_owned(), source };
    fs::create_dir_all(containing_folder(path)).map_err(failed)?;
    if existing == OnExistingFile::Replace {
        return replace_file(path, bytes);
    }
    match persist_file(path, bytes, &FileMode::Shared, OnExistingFile::Keep) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(WriteError::Exists(path.to_owned())),
        result => result.map_err(failed),
    }
}

/// Writes a file into an existing directory. Replaces an existing file as [`OnExistingFile::Replace`] does.
pub fn replace_file(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    let there = fs::symlink_metadata(path).ok();
    let mode = match &there {
        Some(there) if there.is_file() => FileMode::Copied(there.permissions()),
        Some(there) if there.is_dir() => return Err(WriteError::Folder(path.to_owned())),
        Some(there) if !there.is_symlink() => return Err(WriteError::Special(path.to_owned())),
        Some(_) | None => FileMode::Shared,
    };
    let written = persist_file(path, bytes, &mode, OnExistingFile::Replace);
    written.map_err(|source| WriteError::Failed { path: path.to_owned(), source })
}

/// Replaces a file and retains its mode. Fails if the file is a link or its content is not `expected`.
pub fn update_file(path: &Path, expected: &[u8], bytes: &[u8]) -> Result<(), WriteError> {
    let failed = |source| WriteError::Failed { path: path.to_owned(), source };
    let metadata = fs::symlink_metadata(path).map_err(failed)?;
    if metadata.is_symlink() {
        return Err(WriteError::Link(path.to_owned()));
    }
    if fs::read(path).map_err(failed)? != expected {
        return Err(WriteError::Changed(path.to_owned()));
    }
    persist_file(path, bytes, &FileMode::Copied(metadata.permissions()), OnExistingFile::Replace).map_err(failed)
}

/// Renames a file within its directory. Fails if it is a link, if its content is not `expected`, or if another file has
/// the new name.
pub fn rename_file(path: &Path, expected: &[u8], new_path: &Path) -> Result<(), WriteError> {
    let failed = |source| WriteError::Failed { path: path.to_owned(), source };
    if fs::symlink_metadata(path).map_err(failed)?.is_symlink() {
        return Err(WriteError::Link(path.to_owned()));
    }
    if fs::read(path).map_err(failed)? != expected {
        return Err(WriteError::Changed(path.to_owned()));
    }
    // A second name is added first, because renaming would replace a file that appears in the meantime.
    match fs::hard_link(path, new_path) {
        Ok(()) => fs::remove_file(path).map_err(failed),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(WriteError::Exists(new_path.to_owned())),
        Err(source) => Err(failed(source)),
    }
}

/// Writes a file that can be recomputed, readable only by its owner. The write is atomic but not synced: a power
/// failure may lose the file.
pub fn write_cache_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // Temporary files are created with mode 0600.
    let mut file = tempfile::Builder::new().prefix(&temporary_prefix()).tempfile_in(containing_folder(path))?;
    file.write_all(bytes)?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

fn temporary_prefix() -> String {
    format!("{TEMPORARY_PREFIX}{}-", std::process::id())
}

/// Removes the temporary files of killed processes from a directory of `rep`. Errors are ignored: a file that remains
/// only takes up space.
pub fn remove_abandoned_files(folder: &Path) {
    remove_old_files(folder, |name| match name {
        TemporaryName::OfProcess(pid) if ProcessOwner::from_pid(pid).is_none() => Some(TEMPORARY_AGE_MIN),
        TemporaryName::OfUnknownProcess => Some(TEMPORARY_AGE_MAX),
        TemporaryName::OfProcess(_) | TemporaryName::None => None,
    });
}

/// Does the same in a directory of the user: only files whose names tell which process made them are removed.
pub fn remove_own_abandoned_files(folder: &Path) {
    remove_old_files(folder, |name| match name {
        TemporaryName::OfProcess(pid) if ProcessOwner::from_pid(pid).is_none() => Some(TEMPORARY_AGE_MIN),
        TemporaryName::OfProcess(_) | TemporaryName::OfUnknownProcess | TemporaryName::None => None,
    });
}

/// Removes the files that are older than `age_min` returns for their names.
fn remove_old_files(folder: &Path, age_min: impl Fn(TemporaryName) -> Option<Duration>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_str().map_or(TemporaryName::None, parse_temporary_name);
        let is_older_than = |age_min: Duration| {
            let modified = entry.metadata().and_then(|metadata| metadata.modified());
            modified.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > age_min))
        };
        if age_min(name).is_some_and(is_older_than) && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

enum TemporaryName {
    OfProcess(u32),
    /// Written by an earlier version.
    OfUnknownProcess,
    None,
}

fn parse_temporary_name(name: &str) -> TemporaryName {
    const RANDOM_CHARS: usize = 6;
    let is_random = |text: &str| text.len() == RANDOM_CHARS && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let rest = name.strip_prefix(TEMPORARY_PREFIX);
    match rest.and_then(|rest| rest.split_once('-')) {
        Some((pid, random)) if is_random(random) => pid.parse().map_or(TemporaryName::None, TemporaryName::OfProcess),
        _ if rest.or_else(|| name.strip_prefix(".tmp")).is_some_and(is_random) => TemporaryName::OfUnknownProcess,
        _ => TemporaryName::None,
    }
}

/// Returns the directory that contains a file.
pub(crate) fn containing_folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

pub use platform::sync_folder;

/// Writes and syncs a temporary file next to the target, then renames it.
pub(crate) fn persist_file(path: &Path, bytes: &[u8], mode: &FileMode, existing: OnExistingFile) -> io::Result<()> {
    let mut builder = tempfile::Builder::new();
    let prefix = temporary_prefix();
    builder.prefix(&prefix);
    // A temporary file is private until it has its final mode, so that other users cannot open it too early.
    if matches!(mode, FileMode::Shared) {
        platform::share_temporary_files(&mut builder);
    }
    let mut file = builder.tempfile_in(containing_folder(path))?;
    file.write_all(bytes)?;
    match mode {
        FileMode::Shared => {}
        // The umask may have removed more than it should.
        FileMode::Private => platform::set_file_mode(file.as_file(), platform::PRIVATE_FILE_MODE)?,
        FileMode::Copied(mode) => file.as_file().set_permissions(mode.clone())?,
    }
    file.as_file().sync_all()?;
    match existing {
        OnExistingFile::Keep => file.persist_noclobber(path),
        OnExistingFile::Replace => file.persist(path),
    }
    .map(drop)
    .map_err(|error| error.error)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn read_mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    fn list_names(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect()
    }

    #[test]
    fn a_file_is_kept_or_replaced_with_its_mode() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/file");
        write_file(&path, b"1", OnExistingFile::Keep).unwrap();
        assert!(matches!(write_file(&path, b"2", OnExistingFile::Keep), Err(WriteError::Exists(_))));
        assert_eq!(fs::read(&path).unwrap(), b"1");
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        write_file(&path, b"2", OnExistingFile::Replace).unwrap();
        assert_eq!((fs::read(&path).unwrap().as_slice(), read_mode(&path)), (b"2".as_slice(), 0o640));
        assert_eq!(list_names(path.parent().unwrap()), ["file"]);
    }

    #[test]
    fn a_link_is_replaced_by_put_and_refused_by_update() {
        let folder = tempfile::tempdir().unwrap();
        let (target, link) = (folder.path().join("target"), folder.path().join("link"));
        replace_file(&target, b"1").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        assert!(matches!(update_file(&link, b"1", b"2"), Err(WriteError::Link(_))));
        replace_file(&link, b"2").unwrap();
        assert_eq!((fs::read(&target).unwrap(), fs::read(&link).unwrap()), (b"1".to_vec(), b"2".to_vec()));
        assert!(!link.is_symlink());
    }

    #[test]
    fn a_file_is_renamed_unless_the_new_name_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let (old, new) = (folder.path().join("skill.md"), folder.path().join("SKILL.md"));
        replace_file(&old, b"1").unwrap();
        replace_file(&new, b"2").unwrap();
        assert!(matches!(rename_file(&old, b"1", &new), Err(WriteError::Exists(_))));
        fs::remove_file(&new).unwrap();
        assert!(matches!(rename_file(&old, b"2", &new), Err(WriteError::Changed(_))));
        rename_file(&old, b"1", &new).unwrap();
        assert_eq!((fs::read(&new).unwrap(), list_names(folder.path())), (b"1".to_vec(), vec!["SKILL.md".to_owned()]));
    }

    #[test]
    fn what_changed_meanwhile_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        replace_file(&path, b"1").unwrap();
        assert!(matches!(update_file(&path, b"other", b"2"), Err(WriteError::Changed(_))));
        assert_eq!(fs::read(&path).unwrap(), b"1");
        update_file(&path, b"1", b"2").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"2");
    }

    #[test]
    fn folders_and_special_files_are_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(replace_file(folder.path(), b""), Err(WriteError::Folder(_))));
        let pipe = folder.path().join("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0).unwrap();
        assert!(matches!(replace_file(&pipe, b""), Err(WriteError::Special(_))));
        assert!(matches!(replace_file(&folder.path().join("no/file"), b""), Err(WriteError::Failed { .. })));
    }

    #[test]
    fn temporary_files_of_killed_processes_are_removed_and_no_others() {
        let folder = tempfile::tempdir().unwrap();
        let own = format!(".rep-{}-abcdef", std::process::id());
        let kept = ["audit.jsonl", ".rep-notes", ".tmpnotes", ".rep-4294967295-abcdef", ".tmpXyZ123", &own];
        for name in kept {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let old = std::time::SystemTime::now() - 2 * TEMPORARY_AGE_MAX;
        for name in [".tmpAbC123", ".rep-AbC123", ".rep-4294967295-abc123", "old"] {
            File::create(folder.path().join(name)).unwrap().set_modified(old).unwrap();
        }
        remove_own_abandoned_files(folder.path());
        assert_eq!(list_names(folder.path()).len(), kept.len() + 3, "only the one with a process is removed");
        remove_abandoned_files(folder.path());
        let mut left = list_names(folder.path());
        left.sort();
        let mut expected: Vec<_> = kept.iter().chain(&["old"]).map(ToString::to_string).collect();
        expected.sort();
        assert_eq!(left, expected);
    }
}
