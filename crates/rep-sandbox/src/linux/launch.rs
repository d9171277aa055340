//! From the caller's process to the first process of a sandbox: new namespaces, and this same program again.
//!
//! Between the clone and the new program only plain system calls are made: the caller may have any number of threads.
#![expect(unsafe_code, reason = "a copy of a process with threads may only make plain system calls")]

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use super::kernel::{self, Cloned};
use super::order::Identity;

/// How the first process of a sandbox is called, so that [`super::init`] knows itself.
pub(super) const NAME: &CStr = c"rep-sandbox";

/// What the first process of a sandbox is given, under the numbers 0 to 4, and 5 where there is a channel.
pub(super) struct Wires {
    pub(super) stdin: OwnedFd,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
    pub(super) order: OwnedFd,
    pub(super) control: OwnedFd,
    pub(super) channel: Option<OwnedFd>,
}

/// A sandbox whose first process was started.
pub(super) struct Launched {
    pub(super) pidfd: OwnedFd,
}

/// What a child could not do before it became the first process. Sent as one byte, with the number of the error.
pub(super) const EARLY_STEPS: &[&str] =
    &["deny groups", "map the user", "map the group", "hand over descriptors", "execute itself"];

const ALL: i32 = libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP;

/// Starts the first process.
pub(super) fn launch(identity: Identity, has_network_namespace: bool, wires: &Wires) -> io::Result<Launched> {
    let mut namespaces = u64::from(ALL.cast_unsigned());
    if identity == Identity::Own {
        namespaces |= u64::from(libc::CLONE_NEWUSER.cast_unsigned());
    }
    if !has_network_namespace {
        namespaces &= !u64::from(libc::CLONE_NEWNET.cast_unsigned());
    }
    let user = rustix::process::geteuid().as_raw();
    let group = rustix::process::getegid().as_raw();
    let start = Start {
        maps: (identity == Identity::Own).then(|| [format!("1000 {user} 1"), format!("1000 {group} 1")]),
        descriptors: [&wires.stdin, &wires.stdout, &wires.stderr, &wires.order, &wires.control]
            .into_iter()
            .chain(&wires.channel)
            .map(AsRawFd::as_raw_fd)
            .collect(),
        control: wires.control.as_raw_fd(),
        argv: [NAME.as_ptr(), std::ptr::null()],
        environment: [std::ptr::null()],
    };
    // SAFETY: the child calls `Start::go`, which makes plain system calls on memory that was prepared above.
    match unsafe { kernel::clone3(namespaces) }? {
        Cloned::Child => start.go(),
        Cloned::Parent(_, pidfd) => Ok(Launched { pidfd }),
    }
}

struct Start {
    maps: Option<[String; 2]>,
    descriptors: Vec<RawFd>,
    control: RawFd,
    argv: [*const libc::c_char; 2],
    environment: [*const libc::c_char; 1],
}

impl Start {
    fn go(&self) -> ! {
        if let Some([user, group]) = &self.maps {
            self.write(0, c"/proc/self/setgroups", b"deny");
            self.write(1, c"/proc/self/uid_map", user.as_bytes());
            self.write(2, c"/proc/self/gid_map", group.as_bytes());
            keep_capabilities();
        }
        // SAFETY: plain system calls; the pointers were prepared before the clone and end with null.
        unsafe {
            // First out of the way, so that no copy overwrites a descriptor that is still to be copied.
            let mut moved = [-1; 6];
            for (at, descriptor) in self.descriptors.iter().enumerate() {
                moved[at] = libc::fcntl(*descriptor, libc::F_DUPFD, 16);
                if moved[at] < 0 {
                    self.fail(3);
                }
            }
            let count = self.descriptors.len();
            for (number, descriptor) in (0..).zip(moved).take(count) {
                if libc::dup2(descriptor, number) < 0 {
                    self.fail(3);
                }
            }
            libc::syscall(libc::SYS_close_range, count, u32::MAX, 0);
            libc::execve(c"/proc/self/exe".as_ptr(), self.argv.as_ptr(), self.environment.as_ptr());
            fail_on(4, 4)
        }
    }

    fn write(&self, step: u8, path: &CStr, text: &[u8]) {
        // SAFETY: plain system calls on memory that was prepared before the clone.
        unsafe {
            let file = libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
            if file < 0 || libc::write(file, text.as_ptr().cast(), text.len()) < 0 {
                self.fail(step);
            }
            libc::close(file);
        }
    }

    fn fail(&self, step: u8) -> ! {
        fail_on(self.control, step)
    }
}

fn fail_on(control: RawFd, step: u8) -> ! {
    let number = io::Error::last_os_error().raw_os_error().unwrap_or(0).to_le_bytes();
    let message = [b'B', step, number[0], number[1]];
    // SAFETY: plain system calls on memory of this stack.
    unsafe {
        libc::send(control, message.as_ptr().cast(), message.len(), libc::MSG_NOSIGNAL);
        libc::_exit(126)
    }
}

/// Carries the capabilities in the new user namespace over to the program: it is not its root.
fn keep_capabilities() {
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

/// A text for the kernel. What holds a NUL is no argument, path or variable.
pub(super) fn c_string(bytes: impl Into<Vec<u8>>) -> io::Result<CString> {
    CString::new(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "holds a NUL"))
}
