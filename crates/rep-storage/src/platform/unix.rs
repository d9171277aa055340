//! Linux and macOS.
#![expect(clippy::disallowed_methods, reason = "this module asks the system about files and processes")]

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fs::{DirBuilder, File, FileType, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::Path;

use rustix::fs::{CWD, OFlags, RenameFlags};
use rustix::io::Errno;

/// A stream that a process inherits.
pub use std::os::fd::OwnedFd as OwnedStream;
/// A stream to another process of this machine.
pub use std::os::unix::net::UnixStream as LocalStream;

use super::{FileMarks, LinkPolicy, RenameError};

/// The mode of a file that others may read, before the umask.
const SHARED_FILE_MODE: u32 = 0o666;

/// How often to look whether a process is still there.
#[cfg(not(target_os = "linux"))]
const PROCESS_CHECK_INTERVAL: std::time::Duration = std::time::Duration::from_millis(200);

/// Device and inode.
pub(super) type FileNumber = (u64, u64);

pub(super) fn number_of_target(path: &Path) -> io::Result<FileNumber> {
    std::fs::metadata(path).map(|metadata| (metadata.dev(), metadata.ino()))
}

pub(super) fn number_of_entry(path: &Path) -> io::Result<FileNumber> {
    std::fs::symlink_metadata(path).map(|metadata| (metadata.dev(), metadata.ino()))
}

pub(super) fn file_state(metadata: &Metadata) -> FileMarks {
    FileMarks {
        modified: (metadata.mtime(), metadata.mtime_nsec()),
        changed: (metadata.ctime(), metadata.ctime_nsec()),
        size_bytes: metadata.len(),
        number: metadata.ino(),
        device: metadata.dev(),
        mode: metadata.mode(),
    }
}

pub(super) fn is_executable(metadata: &Metadata) -> bool {
    metadata.permissions().mode() & 0o111 != 0
}

pub(super) fn name_special_kind(kind: FileType) -> Option<&'static str> {
    if kind.is_fifo() {
        Some("named pipe")
    } else if kind.is_socket() {
        Some("socket")
    } else if kind.is_char_device() || kind.is_block_device() {
        Some("device")
    } else {
        None
    }
}

pub(super) fn user_id() -> u32 {
    rustix::process::geteuid().as_raw()
}

pub(super) fn set_open_flags(options: &mut OpenOptions, links: LinkPolicy) {
    let mut flags = OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    if links == LinkPolicy::Refuse {
        flags |= OFlags::NOFOLLOW;
    }
    options.custom_flags(flags.bits().cast_signed());
}

pub(super) fn set_creation_mode(options: &mut OpenOptions, mode: u32) {
    options.mode(mode);
}

pub(super) fn share_temporary_files(builder: &mut tempfile::Builder<'_, '_>) {
    builder.permissions(Permissions::from_mode(SHARED_FILE_MODE));
}

pub(super) fn set_file_mode(file: &File, mode: u32) -> io::Result<()> {
    file.set_permissions(Permissions::from_mode(mode))
}

pub(super) fn set_folder_mode(builder: &mut DirBuilder, mode: u32) {
    builder.mode(mode);
}

pub(super) fn find_exposure(metadata: &Metadata) -> Option<&'static str> {
    if metadata.permissions().mode() & 0o077 != 0 {
        return Some("other users can access it; `chmod 600` it and treat its content as exposed");
    }
    let is_ours = metadata.uid() == user_id() || rustix::process::geteuid().is_root();
    (!is_ours).then_some("it belongs to another user")
}

pub(super) fn create_link(target: &Path, link: &Path) -> io::Result<()> {
    symlink(target, link)
}

pub(super) fn exchange_paths(one: &Path, other: &Path) -> Result<(), RenameError> {
    rename_with(one, other, RenameFlags::EXCHANGE)
}

pub(super) fn rename_new(from: &Path, to: &Path) -> Result<(), RenameError> {
    rename_with(from, to, RenameFlags::NOREPLACE)
}

fn rename_with(from: &Path, to: &Path, flags: RenameFlags) -> Result<(), RenameError> {
    rustix::fs::renameat_with(CWD, from, CWD, to, flags).map_err(|error| match error {
        Errno::EXIST => RenameError::Exists,
        Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP => RenameError::Unsupported,
        other => RenameError::Failed(other.into()),
    })
}

pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

pub(super) fn bytes_of(text: &OsStr) -> Cow<'_, [u8]> {
    Cow::Borrowed(text.as_bytes())
}

pub(super) fn text_from_bytes(bytes: &[u8]) -> OsString {
    OsString::from_vec(bytes.to_vec())
}

#[cfg(target_os = "linux")]
pub(super) fn read_start_time(pid: u32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name is in parentheses and may contain any byte. The fields after it are numbers and one letter.
    let mut fields = stat[stat.rfind(')')? + 1..].split_ascii_whitespace();
    let state = fields.next()?;
    let ticks = fields.nth(18)?;
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    (state != "Z" && state != "X").then(|| format!("{ticks}@{}", boot.trim()))
}

#[cfg(not(target_os = "linux"))]
pub(super) fn read_start_time(pid: u32) -> Option<String> {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).ok()?)?;
    let is_there = rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH);
    is_there.then(String::new)
}

#[cfg(target_os = "linux")]
pub(super) fn wait_for_process_end(pid: u32) {
    use std::os::fd::AsFd as _;

    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::process::{Pid, PidfdFlags, pidfd_open};

    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let Some(process) = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()) else { return };
    let mut watched = [PollFd::from_borrowed_fd(process.as_fd(), PollFlags::IN)];
    // Interrupted waits are resumed; any other error means that the process cannot be watched.
    while poll(&mut watched, None) == Err(rustix::io::Errno::INTR) {}
}

#[cfg(not(target_os = "linux"))]
pub(super) fn wait_for_process_end(pid: u32) {
    while read_start_time(pid).is_some() {
        std::thread::park_timeout(PROCESS_CHECK_INTERVAL);
    }
}

pub(super) fn raise_file_limit(wanted: u64) -> u64 {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let limit = getrlimit(Resource::Nofile);
    let target = limit.maximum.map_or(wanted, |maximum| maximum.min(wanted));
    let current = limit.current.unwrap_or(wanted);
    let is_raised = current < target && setrlimit(Resource::Nofile, Rlimit { current: Some(target), ..limit }).is_ok();
    if is_raised { target } else { current }
}

pub(super) fn parent_id() -> Option<u32> {
    rustix::process::getppid().map(|parent| parent.as_raw_nonzero().get().cast_unsigned())
}

pub(super) fn connect_streams() -> io::Result<(LocalStream, LocalStream)> {
    LocalStream::pair()
}
