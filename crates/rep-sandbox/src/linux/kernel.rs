//! Wrappers for system calls that have no safe wrapper in a crate. This module makes no decisions.
#![expect(unsafe_code, reason = "system calls without a safe wrapper")]

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

/// The process in which a clone returns.
pub(super) enum CloneResult {
    /// The new process.
    Child,
    /// The original process, with the ID and the pidfd of the new one.
    Parent(i32, OwnedFd),
}

/// Creates a process in new namespaces.
///
/// # Safety
///
/// The child is a copy with a single thread. If the caller has several threads, the child must not take locks or
/// allocate before it executes another program.
pub(super) unsafe fn clone3(namespaces: u64) -> io::Result<CloneResult> {
    let mut pidfd: RawFd = -1;
    // SAFETY: all zeroes is a valid value of this structure of integers.
    let mut arguments: libc::clone_args = unsafe { std::mem::zeroed() };
    arguments.flags = namespaces | u64::from(libc::CLONE_PIDFD.cast_unsigned());
    arguments.pidfd = (&raw mut pidfd) as u64;
    arguments.exit_signal = u64::from(libc::SIGCHLD.cast_unsigned());
    // SAFETY: the structure outlives the call, and its size is passed. The caller guarantees what the child does.
    let pid = unsafe { libc::syscall(libc::SYS_clone3, &raw const arguments, size_of::<libc::clone_args>()) };
    match pid {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(CloneResult::Child),
        pid => {
            // SAFETY: the kernel created this descriptor for this call, and nothing else owns it.
            let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
            Ok(CloneResult::Parent(i32::try_from(pid).unwrap_or(-1), pidfd))
        }
    }
}

pub(super) const READ_ONLY: u64 = libc::MOUNT_ATTR_RDONLY;
pub(super) const NO_SUID: u64 = libc::MOUNT_ATTR_NOSUID;
pub(super) const NO_DEVICES: u64 = libc::MOUNT_ATTR_NODEV;
pub(super) const NO_EXEC: u64 = libc::MOUNT_ATTR_NOEXEC;

/// Sets the attributes of a mount tree and, optionally, its ID mapping.
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
    check_result(done).map(drop)
}

/// Executes another program. Returns only if that fails.
pub(super) fn execute_program(program: &CStr, arguments: &[CString], environment: &[CString]) -> io::Error {
    let pointers = |texts: &[CString]| -> Vec<*const libc::c_char> {
        texts.iter().map(|text| text.as_ptr()).chain([std::ptr::null()]).collect()
    };
    let (arguments, environment) = (pointers(arguments), pointers(environment));
    // SAFETY: both lists end with a null pointer, and their strings outlive the call.
    unsafe { libc::execve(program.as_ptr(), arguments.as_ptr(), environment.as_ptr()) };
    io::Error::last_os_error()
}

/// Marks every descriptor from `first` on as close-on-exec.
pub(super) fn close_on_exec_from(first: u32) -> io::Result<()> {
    // SAFETY: only marks descriptors and closes none.
    let done = unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    check_result(done).map(drop)
}

/// Resets every signal to its default action, and unblocks all signals.
pub(super) fn reset_signals() {
    for signal in 1..=64 {
        // SAFETY: installs no handler; for signals that cannot be changed, the call fails without effect.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    // SAFETY: `sigemptyset` initialises the set before it is used.
    unsafe {
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
    }
}

/// Opens a descriptor that becomes readable when a child has ended.
pub(super) fn open_child_signals() -> io::Result<OwnedFd> {
    // SAFETY: the set is initialised before it is used, and nothing else owns the descriptor.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGCHLD);
        libc::sigprocmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
        let fd = libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
        check_result(i64::from(fd))?;
        Ok(OwnedFd::from_raw_fd(fd))
    }
}

/// Reads all waiting notifications about children, so that the descriptor is not readable until the next one.
pub(super) fn drain_child_signals(signals: &OwnedFd) {
    let mut notifications = [0_u8; 4 * size_of::<libc::signalfd_siginfo>()];
    while rustix::io::read(signals, &mut notifications).is_ok_and(|length| length == notifications.len()) {}
}

/// Signals every process in this PID namespace. Does nothing unless this is its init process: elsewhere the same call
/// would reach every process of the machine.
pub(super) fn signal_everything(signal: i32) {
    // SAFETY: neither call accesses memory.
    unsafe {
        if libc::getpid() == 1 {
            libc::kill(-1, signal);
        }
    }
}

/// Exits immediately, without running destructors or exit handlers.
pub(super) fn exit_now(code: i32) -> ! {
    // SAFETY: never returns and accesses no memory.
    unsafe { libc::_exit(code) }
}

/// Takes ownership of a descriptor that was passed to this process under a fixed number.
///
/// # Safety
///
/// Nothing else in this process may own the descriptor.
pub(super) unsafe fn adopt_descriptor(number: RawFd) -> OwnedFd {
    // SAFETY: guaranteed by the caller.
    unsafe { OwnedFd::from_raw_fd(number) }
}

/// Closes an inherited descriptor that nothing owns.
pub(super) fn close_inherited(number: RawFd) {
    // SAFETY: the init process calls this for its three standard descriptors, which it never uses.
    unsafe { libc::close(number) };
}

/// Installs a seccomp filter. Returns the descriptor that receives its notifications.
pub(super) fn install_filter(program: &[libc::sock_filter]) -> io::Result<OwnedFd> {
    let length = u16::try_from(program.len()).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    let filter = libc::sock_fprog { len: length, filter: program.as_ptr().cast_mut() };
    let install = |flags: libc::c_ulong| {
        // SAFETY: the kernel copies the program during the call and does not write to it.
        let fd = unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const filter) };
        check_result(fd)
    };
    let asking = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
    // A process that waits for an answer can only be interrupted by a fatal signal. Requires Linux 5.19.
    let fd = install(asking | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV).or_else(|_| install(asking))?;
    // SAFETY: the kernel created this descriptor for this call.
    let listener = unsafe { OwnedFd::from_raw_fd(RawFd::try_from(fd).unwrap_or(-1)) };
    // The kernel then switches between the two processes on one processor, instead of waking another one for each
    // notification and each answer. Without it (before Linux 6.6), notifications only take longer.
    // SAFETY: the request number belongs to this argument, which is passed by value.
    unsafe { libc::ioctl(listener.as_raw_fd(), NOTIFICATION_SET_FLAGS, SWITCHES_DIRECTLY) };
    Ok(listener)
}

/// A system call that waits for an answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct PendingSyscall {
    id: u64,
    /// The calling process.
    pub(super) pid: i32,
    /// The number of the system call.
    pub(super) call: i64,
    /// Its arguments.
    pub(super) arguments: [u64; 6],
}

/// Returns the next waiting system call, if it is still waiting.
pub(super) fn next_pending_syscall(listener: &OwnedFd) -> io::Result<PendingSyscall> {
    // SAFETY: the structure contains only integers; the kernel requires it to be zeroed.
    let mut notification: libc::seccomp_notif = unsafe { std::mem::zeroed() };
    // SAFETY: the request number belongs to this structure.
    let done = unsafe { libc::ioctl(listener.as_raw_fd(), NOTIFICATION_RECEIVE, &raw mut notification) };
    check_result(i64::from(done))?;
    Ok(PendingSyscall {
        id: notification.id,
        pid: notification.pid.cast_signed(),
        call: i64::from(notification.data.nr),
        arguments: notification.data.args,
    })
}

/// Reads memory of another process, and returns the number of bytes read.
pub(super) fn read_process_memory(pid: i32, address: u64, buffer: &mut [u8]) -> io::Result<usize> {
    let local = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    let address = usize::try_from(address).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    let remote = libc::iovec { iov_base: std::ptr::without_provenance_mut(address), iov_len: buffer.len() };
    // SAFETY: the kernel writes at most the length of the buffer, and only reads from the other process.
    let length = unsafe { libc::process_vm_readv(pid, &raw const local, 1, &raw const remote, 1, 0) };
    usize::try_from(length).map_err(|_| io::Error::last_os_error())
}

/// Lets a system call continue, or fails it with an error number.
pub(super) fn answer_syscall(listener: &OwnedFd, asked: PendingSyscall, refusal: Option<i32>) {
    let mut response = libc::seccomp_notif_resp {
        id: asked.id,
        val: 0,
        error: refusal.map_or(0, |number| -number),
        flags: if refusal.is_none() { CONTINUE_SYSCALL } else { 0 },
    };
    // SAFETY: the request number belongs to this structure. An error means that the calling process is gone.
    unsafe { libc::ioctl(listener.as_raw_fd(), NOTIFICATION_SEND, &raw mut response) };
}

/// Makes a system call return a value without executing it.
pub(super) fn complete_syscall(listener: &OwnedFd, asked: PendingSyscall, value: i64) {
    let mut response = libc::seccomp_notif_resp { id: asked.id, val: value, error: 0, flags: 0 };
    // SAFETY: the request number belongs to this structure. An error means that the calling process is gone.
    unsafe { libc::ioctl(listener.as_raw_fd(), NOTIFICATION_SEND, &raw mut response) };
}

/// Makes a system call return a copy of a descriptor of this process. Requires Linux 5.14.
pub(super) fn return_descriptor(
    listener: &OwnedFd,
    asked: PendingSyscall,
    descriptor: &OwnedFd,
    is_closed_on_exec: bool,
) -> io::Result<()> {
    const ANSWERS_CALL: u32 = 2;
    let mut addition = libc::seccomp_notif_addfd {
        id: asked.id,
        flags: ANSWERS_CALL,
        srcfd: descriptor.as_raw_fd().cast_unsigned(),
        newfd: 0,
        newfd_flags: if is_closed_on_exec { libc::O_CLOEXEC.cast_unsigned() } else { 0 },
    };
    // SAFETY: the request number belongs to this structure.
    let done = unsafe { libc::ioctl(listener.as_raw_fd(), NOTIFICATION_ADD, &raw mut addition) };
    check_result(i64::from(done)).map(drop)
}

/// `SECCOMP_IOCTL_NOTIF_ADDFD`: write of its structure, number 3.
const NOTIFICATION_ADD: libc::Ioctl = ioctl_number(1, size_of::<libc::seccomp_notif_addfd>(), 3);

/// `SECCOMP_IOCTL_NOTIF_SET_FLAGS`: write of 64 bits, number 4, with `SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP`.
const NOTIFICATION_SET_FLAGS: libc::Ioctl = ioctl_number(1, size_of::<u64>(), 4);
const SWITCHES_DIRECTLY: libc::c_ulong = 1;

/// `SECCOMP_IOCTL_NOTIF_RECV` and `_SEND`: read and write of the two structures, numbers 0 and 1.
const NOTIFICATION_RECEIVE: libc::Ioctl = ioctl_number(3, size_of::<libc::seccomp_notif>(), 0);
const NOTIFICATION_SEND: libc::Ioctl = ioctl_number(3, size_of::<libc::seccomp_notif_resp>(), 1);
const CONTINUE_SYSCALL: u32 = 1;

/// Returns the number of a request of type `!`. C libraries disagree on whether such numbers have a sign.
#[expect(clippy::cast_possible_truncation, reason = "requests have 32 bits, structures are small")]
const fn ioctl_number(direction: u32, size: usize, number: u32) -> libc::Ioctl {
    (direction << 30 | (size as u32) << 16 | (b'!' as u32) << 8 | number) as libc::Ioctl
}

/// Returns the Landlock version of the kernel.
pub(super) fn landlock_version() -> Option<u32> {
    const VERSION: u32 = 1;
    // SAFETY: with the version flag, the call takes no structure.
    let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0, VERSION) };
    u32::try_from(version).ok().filter(|version| *version > 0)
}

/// Changes the owner of an open file.
pub(super) fn change_owner(file: impl AsFd, user: u32) -> io::Result<()> {
    // SAFETY: accesses no memory.
    let done = unsafe { libc::fchown(file.as_fd().as_raw_fd(), user, user) };
    check_result(i64::from(done)).map(drop)
}

fn check_result(result: i64) -> io::Result<i64> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}
