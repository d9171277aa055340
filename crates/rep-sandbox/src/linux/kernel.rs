//! The calls to the kernel that no safe crate makes, each wrapped once. Nothing here decides anything.
#![expect(unsafe_code, reason = "system calls without a safe wrapper")]

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

/// Who we are after a clone.
pub(super) enum Cloned {
    /// The new process.
    Child,
    /// The old one: the new one's number, and a handle that cannot be mistaken for another process.
    Parent(i32, OwnedFd),
}

/// Makes a process in new namespaces.
///
/// # Safety
///
/// The child is a copy with one thread. Where the caller has several, the child must call nothing that takes a lock
/// or allocates before it executes another program.
pub(super) unsafe fn clone3(namespaces: u64) -> io::Result<Cloned> {
    let mut pidfd: RawFd = -1;
    // SAFETY: all zeroes is a valid value of this structure of integers.
    let mut arguments: libc::clone_args = unsafe { std::mem::zeroed() };
    arguments.flags = namespaces | u64::from(libc::CLONE_PIDFD.cast_unsigned());
    arguments.pidfd = (&raw mut pidfd) as u64;
    arguments.exit_signal = u64::from(libc::SIGCHLD.cast_unsigned());
    // SAFETY: the structure outlives the call, and its size is passed; what the child may do is the caller's promise.
    let pid = unsafe { libc::syscall(libc::SYS_clone3, &raw const arguments, size_of::<libc::clone_args>()) };
    match pid {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(Cloned::Child),
        pid => {
            // SAFETY: the kernel made this descriptor for us, and nobody else knows it.
            let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
            Ok(Cloned::Parent(i32::try_from(pid).unwrap_or(-1), pidfd))
        }
    }
}

pub(super) const READ_ONLY: u64 = libc::MOUNT_ATTR_RDONLY;
pub(super) const NO_SUID: u64 = libc::MOUNT_ATTR_NOSUID;
pub(super) const NO_DEVICES: u64 = libc::MOUNT_ATTR_NODEV;
pub(super) const NO_EXEC: u64 = libc::MOUNT_ATTR_NOEXEC;

/// Sets what may be done in a tree of mounts, and perhaps whose its files are.
pub(super) fn set_mount_attributes(tree: &OwnedFd, attributes: u64, owners: Option<BorrowedFd<'_>>) -> io::Result<()> {
    let change = libc::mount_attr {
        attr_set: attributes | if owners.is_some() { libc::MOUNT_ATTR_IDMAP } else { 0 },
        attr_clr: 0,
        propagation: libc::MS_PRIVATE,
        userns_fd: owners.map_or(0, |fd| u64::from(fd.as_raw_fd().cast_unsigned())),
    };
    // SAFETY: the path is an empty C string, and the structure outlives the call with its size passed.
    let done = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            tree.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH | libc::AT_RECURSIVE,
            &raw const change,
            size_of::<libc::mount_attr>(),
        )
    };
    checked(done).map(drop)
}

/// Becomes another program; returns only if that fails.
pub(super) fn execute(program: &CStr, arguments: &[CString], environment: &[CString]) -> io::Error {
    let pointers = |texts: &[CString]| -> Vec<*const libc::c_char> {
        texts.iter().map(|text| text.as_ptr()).chain([std::ptr::null()]).collect()
    };
    let (arguments, environment) = (pointers(arguments), pointers(environment));
    // SAFETY: both lists end with a null pointer, and their texts outlive the call.
    unsafe { libc::execve(program.as_ptr(), arguments.as_ptr(), environment.as_ptr()) };
    io::Error::last_os_error()
}

/// Marks every descriptor from this one on to be closed when another program is executed.
pub(super) fn close_on_exec_from(first: u32) -> io::Result<()> {
    // SAFETY: only marks descriptors, and closes none.
    let done = unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    checked(done).map(drop)
}

/// Sets every signal back to what it does by itself, and blocks none.
pub(super) fn reset_signals() {
    for signal in 1..=64 {
        // SAFETY: sets no handler; for numbers that cannot be set the call fails and changes nothing.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    // SAFETY: the set is initialised by `sigemptyset` before it is used.
    unsafe {
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
    }
}

/// A descriptor that is readable when a child has ended.
pub(super) fn child_signals() -> io::Result<OwnedFd> {
    // SAFETY: the set is initialised before it is used, and the descriptor is ours alone.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGCHLD);
        libc::sigprocmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
        let fd = libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
        checked(i64::from(fd))?;
        Ok(OwnedFd::from_raw_fd(fd))
    }
}

/// Signals every process of this process namespace. Does nothing unless we are its first process:
/// elsewhere the same call would reach every process of the machine.
pub(super) fn signal_everything(signal: i32) {
    // SAFETY: neither call touches memory.
    unsafe {
        if libc::getpid() == 1 {
            libc::kill(-1, signal);
        }
    }
}

/// Ends this process at once, without running anything that was left for its end.
pub(super) fn exit_now(code: i32) -> ! {
    // SAFETY: never returns and touches no memory.
    unsafe { libc::_exit(code) }
}

/// Takes over a descriptor that was handed to this process under a fixed number.
///
/// # Safety
///
/// Nothing else in this process owns the number.
pub(super) unsafe fn adopt(number: RawFd) -> OwnedFd {
    // SAFETY: the caller's promise.
    unsafe { OwnedFd::from_raw_fd(number) }
}

/// Closes a descriptor by its number, for those that were inherited and are owned by nobody.
pub(super) fn close_inherited(number: RawFd) {
    // SAFETY: called by the first process of a sandbox for its three standard descriptors, which it never uses.
    unsafe { libc::close(number) };
}

/// Installs a filter for system calls. What it leaves open to somebody's judgement is asked on the descriptor.
pub(super) fn install_filter(program: &[libc::sock_filter]) -> io::Result<OwnedFd> {
    let length = u16::try_from(program.len()).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    let filter = libc::sock_fprog { len: length, filter: program.as_ptr().cast_mut() };
    let install = |flags: libc::c_ulong| {
        // SAFETY: the kernel copies the program during the call and does not write to it.
        let fd = unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const filter) };
        checked(fd)
    };
    let asking = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
    // While it waits for an answer, a process is interrupted only by its end. Kernels before 5.19 cannot do that.
    let fd = install(asking | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV).or_else(|_| install(asking))?;
    // SAFETY: the kernel made this descriptor for us.
    Ok(unsafe { OwnedFd::from_raw_fd(RawFd::try_from(fd).unwrap_or(-1)) })
}

/// A system call that waits for an answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    id: u64,
    /// Who asks.
    pub(super) pid: i32,
    /// The number of the call.
    pub(super) call: i64,
    /// Its arguments.
    pub(super) arguments: [u64; 6],
}

/// The next call that waits, if it still does.
pub(super) fn next_asked(listener: &OwnedFd) -> io::Result<Asked> {
    // SAFETY: the structure is all integers; the kernel demands that it is zeroed.
    let mut notification: libc::seccomp_notif = unsafe { std::mem::zeroed() };
    // SAFETY: the request number belongs to this structure.
    let done = unsafe { libc::ioctl(listener.as_raw_fd(), NOTIFICATION_RECEIVE, &raw mut notification) };
    checked(i64::from(done))?;
    Ok(Asked {
        id: notification.id,
        pid: notification.pid.cast_signed(),
        call: i64::from(notification.data.nr),
        arguments: notification.data.args,
    })
}

/// Lets a call go on, or fails it with an error number.
pub(super) fn answer(listener: &OwnedFd, asked: Asked, refusal: Option<i32>) {
    let mut response = libc::seccomp_notif_resp {
        id: asked.id,
        val: 0,
        error: refusal.map_or(0, |number| -number),
        flags: if refusal.is_none() { CONTINUE } else { 0 },
    };
    // SAFETY: the request number belongs to this structure. A failure means that the asker is gone.
    unsafe { libc::ioctl(listener.as_raw_fd(), NOTIFICATION_SEND, &raw mut response) };
}

/// `SECCOMP_IOCTL_NOTIF_RECV` and `_SEND`: read and write of the two structures, type `!`, numbers 0 and 1.
const NOTIFICATION_RECEIVE: libc::c_ulong = ioctl_number(size_of::<libc::seccomp_notif>(), 0);
const NOTIFICATION_SEND: libc::c_ulong = ioctl_number(size_of::<libc::seccomp_notif_resp>(), 1);
const CONTINUE: u32 = 1;

const fn ioctl_number(size: usize, number: libc::c_ulong) -> libc::c_ulong {
    3 << 30 | (size as libc::c_ulong) << 16 | (b'!' as libc::c_ulong) << 8 | number
}

/// The version of Landlock the kernel has.
pub(super) fn landlock_version() -> Option<u32> {
    const VERSION: u32 = 1;
    // SAFETY: asked for the version, the call takes no structure.
    let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0, VERSION) };
    u32::try_from(version).ok().filter(|version| *version > 0)
}

/// Gives an open file to another user.
pub(super) fn give(file: impl AsFd, user: u32) -> io::Result<()> {
    // SAFETY: touches no memory.
    let done = unsafe { libc::fchown(file.as_fd().as_raw_fd(), user, user) };
    checked(i64::from(done)).map(drop)
}

fn checked(result: i64) -> io::Result<i64> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}
