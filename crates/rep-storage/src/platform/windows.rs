//! Windows.
#![expect(clippy::disallowed_methods, reason = "this module asks the system about files")]

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fs::{DirBuilder, File, FileType, Metadata, OpenOptions};
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::windows::fs::{MetadataExt, OpenOptionsExt, symlink_dir, symlink_file};
use std::path::{Path, PathBuf};

/// A stream to another process of this machine.
pub use std::net::TcpStream as LocalStream;
/// A stream that a process inherits.
pub use std::os::windows::io::OwnedSocket as OwnedStream;

use super::{FileMarks, LinkPolicy, RenameError};

/// `FILE_FLAG_OPEN_REPARSE_POINT`: opens a link itself instead of its target.
const OPEN_LINK_ITSELF: u32 = 0x0020_0000;
/// `FILE_FLAG_BACKUP_SEMANTICS`: lets a directory be opened, which then is reported as one.
const OPEN_FOLDERS: u32 = 0x0200_0000;
/// The number of 100-nanosecond ticks in a second.
const TICKS_PER_SECOND: u64 = 10_000_000;

/// The path without links, because the number of a file cannot be read with the standard library.
pub(super) type FileNumber = PathBuf;

pub(super) fn number_of_target(path: &Path) -> io::Result<FileNumber> {
    std::fs::canonicalize(path)
}

pub(super) fn number_of_entry(path: &Path) -> io::Result<FileNumber> {
    let name = path.file_name().map(OsStr::to_owned);
    match (path.parent(), name) {
        (Some(parent), Some(name)) => {
            std::fs::symlink_metadata(path)?;
            Ok(std::fs::canonicalize(parent)?.join(name))
        }
        _ => std::fs::canonicalize(path),
    }
}

pub(super) fn file_state(metadata: &Metadata) -> FileMarks {
    let split = |ticks: u64| {
        let seconds = i64::try_from(ticks / TICKS_PER_SECOND).unwrap_or(i64::MAX);
        (seconds, i64::try_from(ticks % TICKS_PER_SECOND * 100).unwrap_or(0))
    };
    FileMarks {
        modified: split(metadata.last_write_time()),
        changed: split(metadata.creation_time()),
        size_bytes: metadata.len(),
        number: metadata.creation_time(),
        device: 0,
        mode: metadata.file_attributes(),
    }
}

pub(super) fn is_executable(_: &Metadata) -> bool {
    false
}

pub(super) fn name_special_kind(kind: FileType) -> Option<&'static str> {
    let is_known = kind.is_file() || kind.is_dir() || kind.is_symlink();
    (!is_known).then_some("device")
}

pub(super) fn user_id() -> u32 {
    0
}

pub(super) fn set_open_flags(options: &mut OpenOptions, links: LinkPolicy) {
    let links = if links == LinkPolicy::Refuse { OPEN_LINK_ITSELF } else { 0 };
    options.custom_flags(OPEN_FOLDERS | links);
}

pub(super) fn set_creation_mode(_: &mut OpenOptions, _: u32) {}

pub(super) fn share_temporary_files(_: &mut tempfile::Builder<'_, '_>) {}

pub(super) fn set_file_mode(_: &File, _: u32) -> io::Result<()> {
    Ok(())
}

pub(super) fn set_folder_mode(_: &mut DirBuilder, _: u32) {}

pub(super) fn find_exposure(_: &Metadata) -> Option<&'static str> {
    None
}

pub(super) fn create_link(target: &Path, link: &Path) -> io::Result<()> {
    let resolved = link.parent().map_or_else(|| target.to_owned(), |parent| parent.join(target));
    if resolved.is_dir() { symlink_dir(target, link) } else { symlink_file(target, link) }
}

pub(super) fn exchange_paths(_: &Path, _: &Path) -> Result<(), RenameError> {
    Err(RenameError::Unsupported)
}

/// A directory is never replaced by a rename on Windows, so only files need the check.
pub(super) fn rename_new(from: &Path, to: &Path) -> Result<(), RenameError> {
    if std::fs::symlink_metadata(to).is_ok() {
        return Err(RenameError::Exists);
    }
    std::fs::rename(from, to).map_err(RenameError::Failed)
}

pub(super) fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

pub(super) fn bytes_of(text: &OsStr) -> Cow<'_, [u8]> {
    match text.to_string_lossy() {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    }
}

pub(super) fn text_from_bytes(bytes: &[u8]) -> OsString {
    String::from_utf8_lossy(bytes).into_owned().into()
}

/// Other processes cannot be asked with the standard library.
pub(super) fn read_start_time(pid: u32) -> Option<String> {
    (pid == std::process::id()).then(String::new)
}

pub(super) fn wait_for_process_end(_: u32) {
    loop {
        std::thread::park();
    }
}

pub(super) fn raise_file_limit(wanted: u64) -> u64 {
    wanted
}

pub(super) fn parent_id() -> Option<u32> {
    None
}

pub(super) fn connect_streams() -> io::Result<(LocalStream, LocalStream)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let ours = LocalStream::connect(listener.local_addr()?)?;
    // Another program could connect first.
    loop {
        let (theirs, peer) = listener.accept()?;
        if peer == ours.local_addr()? {
            return Ok((ours, theirs));
        }
    }
}
