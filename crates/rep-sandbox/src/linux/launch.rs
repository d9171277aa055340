//! Starts the init process of a sandbox: creates namespaces, and continues as a copy of the caller or executes this
//! program again.
//!
//! A copy costs a fraction of an execution, but may only go on if the caller has a single thread: locks that other
//! threads hold would be held in the copy forever. Otherwise, only async-signal-safe system calls run between clone and
//! exec.
#![expect(unsafe_code, reason = "a copy of a process with threads may only make system calls")]

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use super::init;
use super::kernel::{self, CloneResult};
use super::launch_spec::ToolIdentity;

/// The name of the init process in `argv[0]`, by which [`super::init`] recognises itself.
pub(super) const INIT_NAME: &CStr = c"rep-sandbox";

/// The descriptors of the init process, numbered 0 to 4, and 5 if there is a channel.
pub(super) struct Pipes {
    pub(super) stdin: OwnedFd,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
    pub(super) spec: OwnedFd,
    pub(super) control: OwnedFd,
    pub(super) channel: Option<OwnedFd>,
}

/// A sandbox whose init process was started.
pub(super) struct LaunchedInit {
    pub(super) pidfd: OwnedFd,
}

/// The steps that can fail before the init process runs. A failure is sent as the step and the error number.
pub(super) const EARLY_STEPS: &[&str] =
    &["disable setgroups", "map the user", "map the group", "pass descriptors", "execute itself"];

const NAMESPACE_FLAGS: i32 = libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP;

/// Starts the init process.
pub(super) fn launch_init(
    identity: ToolIdentity,
    has_network_namespace: bool,
    wires: &Pipes,
) -> io::Result<LaunchedInit> {
    let mut namespaces = u64::from(NAMESPACE_FLAGS.cast_unsigned());
    if identity == ToolIdentity::Own {
        namespaces |= u64::from(libc::CLONE_NEWUSER.cast_unsigned());
    }
    if !has_network_namespace {
        namespaces &= !u64::from(libc::CLONE_NEWNET.cast_unsigned());
    }
    let user = rustix::process::geteuid().as_raw();
    let group = rustix::process::getegid().as_raw();
    let start = ChildSetup {
        maps: (identity == ToolIdentity::Own).then(|| [format!("1000 {user} 1"), format!("1000 {group} 1")]),
        descriptors: [&wires.stdin, &wires.stdout, &wires.stderr, &wires.spec, &wires.control]
            .into_iter()
            .chain(&wires.channel)
            .map(AsRawFd::as_raw_fd)
            .collect(),
        control: wires.control.as_raw_fd(),
        argv: [INIT_NAME.as_ptr(), std::ptr::null()],
        environment: [std::ptr::null()],
        is_copy: has_single_thread(),
    };
    // SAFETY: the child makes only plain system calls on memory that was prepared above, unless it is a copy of a process
    // with a single thread.
    match unsafe { kernel::clone3(namespaces) }? {
        CloneResult::Child => start.enter_init(),
        CloneResult::Parent(_, pidfd) => Ok(LaunchedInit { pidfd }),
    }
}

struct ChildSetup {
    maps: Option<[String; 2]>,
    descriptors: Vec<RawFd>,
    control: RawFd,
    argv: [*const libc::c_char; 2],
    environment: [*const libc::c_char; 1],
    /// Whether the init process is a copy of the caller instead of a new execution of this program.
    is_copy: bool,
}

/// Whether this process has no other thread. No other thread can then start one.
fn has_single_thread() -> bool {
    /// The links that every directory has: its name and its `.` entry. Each thread adds one.
    const DIRECTORY_LINKS: u64 = 2;
    rustix::fs::stat("/proc/self/task").is_ok_and(|stat| stat.st_nlink == DIRECTORY_LINKS + 1)
}

impl ChildSetup {
    fn enter_init(&self) -> ! {
        if let Some([user, group]) = &self.maps {
            self.write_file(0, c"/proc/self/setgroups", b"deny");
            self.write_file(1, c"/proc/self/uid_map", user.as_bytes());
            self.write_file(2, c"/proc/self/gid_map", group.as_bytes());
            retain_capabilities();
        }
        // SAFETY: plain system calls; the pointers were prepared before the clone and end with null.
        unsafe {
            // Move all descriptors out of the way first, so that no copy overwrites one that is still needed.
            let mut moved = [-1; 6];
            for (at, descriptor) in self.descriptors.iter().enumerate() {
                moved[at] = libc::fcntl(*descriptor, libc::F_DUPFD, 16);
                if moved[at] < 0 {
                    self.fail_step(3);
                }
            }
            let count = self.descriptors.len();
            for (number, descriptor) in (0..).zip(moved).take(count) {
                if libc::dup2(descriptor, number) < 0 {
                    self.fail_step(3);
                }
            }
            libc::syscall(libc::SYS_close_range, count, u32::MAX, 0);
            if self.is_copy {
                init::run_copied_init();
            }
            libc::execve(c"/proc/self/exe".as_ptr(), self.argv.as_ptr(), self.environment.as_ptr());
            send_failure_and_exit(4, 4)
        }
    }

    fn write_file(&self, step: u8, path: &CStr, text: &[u8]) {
        // SAFETY: plain system calls on memory that was prepared before the clone.
        unsafe {
            let file = libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
            if file < 0 || libc::write(file, text.as_ptr().cast(), text.len()) < 0 {
                self.fail_step(step);
            }
            libc::close(file);
        }
    }

    fn fail_step(&self, step: u8) -> ! {
        send_failure_and_exit(self.control, step)
    }
}

fn send_failure_and_exit(control: RawFd, step: u8) -> ! {
    let number = io::Error::last_os_error().raw_os_error().unwrap_or(0).to_le_bytes();
    let message = [b'B', step, number[0], number[1]];
    // SAFETY: plain system calls on memory of this stack.
    unsafe {
        libc::send(control, message.as_ptr().cast(), message.len(), libc::MSG_NOSIGNAL);
        libc::_exit(126)
    }
}

/// Retains the capabilities in the new user namespace across exec, because the process is not root there.
fn retain_capabilities() {
    const VERSION_3: u32 = 0x2008_0522;
    const CAPABILITIES: std::ops::Range<u64> = 0..41;
    let header = [VERSION_3, 0];
    // Effective, permitted, inheritable; twice, for the low and the high half.
    let mut sets = [0_u32; 6];
    // SAFETY: plain system calls; the arrays have the layout of version 3.
    unsafe {
        libc::syscall(libc::SYS_capget, header.as_ptr(), sets.as_mut_ptr());
        sets[2] = sets[1];
        sets[5] = sets[4];
        libc::syscall(libc::SYS_capset, header.as_ptr(), sets.as_ptr());
        for capability in CAPABILITIES {
            libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_RAISE, capability, 0, 0);
        }
    }
}

/// Converts bytes to a C string. Arguments, paths and variables cannot contain NUL.
pub(super) fn to_c_string(bytes: impl Into<Vec<u8>>) -> io::Result<CString> {
    CString::new(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "contains a NUL byte"))
}
