//! What differs between operating systems, with one function for each difference. All other modules of the workspace,
//! except the sandbox, are the same everywhere.
//!
//! On Linux and macOS, files have modes, owners and numbers. On Windows they have none of these: a file that only its
//! owner may read is protected by the profile directory that it is in, and no file is executable by its mode.

use std::ffi::OsStr;
use std::fs::{DirBuilder, File, FileType, Metadata, OpenOptions};
use std::io;
use std::path::Path;

#[cfg(unix)]
#[path = "platform/unix.rs"]
mod system;
#[cfg(windows)]
#[path = "platform/windows.rs"]
mod system;

pub use system::{LocalStream, OwnedStream};

/// The mode of a file that only its owner can read.
pub const PRIVATE_FILE_MODE: u32 = 0o600;
/// The mode of a directory that only its owner can enter.
pub const PRIVATE_FOLDER_MODE: u32 = 0o700;

/// Whether to open what a link points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkPolicy {
    /// Open the target of a link.
    Follow,
    /// Fail if the last component of the path is a link.
    Refuse,
}

/// Identifies a file while it exists: two paths lead to the same file if their numbers are equal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(system::FileNumber);

impl FileId {
    /// Identifies the file at a path. Links are followed.
    pub fn of_target(path: &Path) -> io::Result<Self> {
        system::number_of_target(path).map(Self)
    }

    /// Identifies the file or link at a path.
    pub fn of_entry(path: &Path) -> io::Result<Self> {
        system::number_of_entry(path).map(Self)
    }
}

/// What the system notes about the state of a file. It changes when the file does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileMarks {
    /// When the content last changed, in seconds and nanoseconds.
    pub modified: (i64, i64),
    /// When the content or the metadata last changed; on Windows, when the file was created.
    pub changed: (i64, i64),
    /// The size in bytes.
    pub size_bytes: u64,
    /// The number of the file. Two files that exist at the same time have different ones. On Windows, this is when it was
    /// created.
    pub number: u64,
    /// The number of its file system; 0 on Windows.
    pub device: u64,
    /// The mode; on Windows, the attributes.
    pub mode: u32,
}

impl FileMarks {
    /// Reads the state from metadata.
    pub fn from_metadata(metadata: &Metadata) -> Self {
        system::file_state(metadata)
    }

    /// Returns when the file last changed, in nanoseconds by the clock of its file system.
    pub fn newest_ns(&self) -> i128 {
        let ns = |(seconds, rest): (i64, i64)| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
        ns(self.changed).max(ns(self.modified))
    }

    /// Returns when the content or the metadata last changed, in nanoseconds.
    pub fn changed_ns(&self) -> i128 {
        i128::from(self.changed.0) * 1_000_000_000 + i128::from(self.changed.1)
    }
}

/// Returns whether somebody may execute the file. Always false on Windows.
pub fn is_executable(metadata: &Metadata) -> bool {
    system::is_executable(metadata)
}

/// Returns what a file is that is neither regular, a directory nor a link.
pub fn name_special_kind(kind: FileType) -> Option<&'static str> {
    system::name_special_kind(kind)
}

/// Returns the number of the user of this process. On Windows, where users have none, it is 0.
pub fn user_id() -> u32 {
    system::user_id()
}

/// Opens a file for reading. Does not wait for the writer of a pipe.
pub fn open_file(path: &Path, links: LinkPolicy) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    set_open_flags(&mut options, links);
    options.open(path)
}

/// Makes an open call fail or return instead of waiting for a pipe, and, if wanted, instead of following a link.
pub fn set_open_flags(options: &mut OpenOptions, links: LinkPolicy) {
    system::set_open_flags(options, links);
}

/// Sets the mode of files that the options create, before the umask. No effect on Windows.
pub fn set_creation_mode(options: &mut OpenOptions, mode: u32) {
    system::set_creation_mode(options, mode);
}

/// Lets others read temporary files, as far as the umask allows. They are private without this. No effect on Windows.
pub(crate) fn share_temporary_files(builder: &mut tempfile::Builder<'_, '_>) {
    system::share_temporary_files(builder);
}

/// Sets the mode of an open file. No effect on Windows.
pub fn set_file_mode(file: &File, mode: u32) -> io::Result<()> {
    system::set_file_mode(file, mode)
}

/// Creates a directory that only its owner can enter, and those above it if `recursive` is set.
pub fn create_private_folder(path: &Path, recursive: bool) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(recursive);
    system::set_folder_mode(&mut builder, PRIVATE_FOLDER_MODE);
    builder.create(path)
}

/// Returns why other users could read an open file, or `None` if only its owner can.
pub(crate) fn find_exposure(metadata: &Metadata) -> Option<&'static str> {
    system::find_exposure(metadata)
}

/// Creates a symbolic link. On Windows, this needs a right that ordinary users may not have.
pub fn create_link(target: &Path, link: &Path) -> io::Result<()> {
    system::create_link(target, link)
}

/// Why a path was not renamed.
#[derive(Debug)]
pub enum RenameError {
    /// The new name is taken.
    Exists,
    /// The system or the file system has no such operation.
    Unsupported,
    /// It failed.
    Failed(io::Error),
}

/// Exchanges two paths in one step.
pub fn exchange_paths(one: &Path, other: &Path) -> Result<(), RenameError> {
    system::exchange_paths(one, other)
}

/// Renames a path in one step, unless the new name is taken.
pub fn rename_new(from: &Path, to: &Path) -> Result<(), RenameError> {
    system::rename_new(from, to)
}

/// Syncs a directory, which makes the names of its files durable. Windows does this without being asked.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    system::sync_folder(folder)
}

/// Returns the bytes of a path or name. On Windows, what is not valid Unicode is replaced.
pub fn bytes_of(text: &OsStr) -> std::borrow::Cow<'_, [u8]> {
    system::bytes_of(text)
}

/// Returns the path or name with these bytes. On Windows, what is not valid UTF-8 is replaced.
pub fn text_from_bytes(bytes: &[u8]) -> std::ffi::OsString {
    system::text_from_bytes(bytes)
}

/// Raises the limit of open files to a number, as far as this process may, and returns the limit. Windows has none.
pub fn raise_file_limit(wanted: u64) -> u64 {
    system::raise_file_limit(wanted)
}

/// Returns when a process started, or `None` if it has exited or is a zombie. Empty where the system does not tell.
pub(crate) fn read_start_time(pid: u32) -> Option<String> {
    system::read_start_time(pid)
}

/// Waits until the process with this id ends. Returns at once if it does not exist. On Windows, where it cannot be watched,
/// this never returns.
pub fn wait_for_process_end(pid: u32) {
    system::wait_for_process_end(pid);
}

/// Returns the process that started this one. Windows does not tell.
pub fn parent_id() -> Option<u32> {
    system::parent_id()
}

/// Creates two connected streams. One of them is passed to another process.
pub fn connect_streams() -> io::Result<(LocalStream, LocalStream)> {
    system::connect_streams()
}

/// Returns random bytes from the operating system.
pub fn random_bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the operating system provides random bytes");
    bytes
}
