//! User namespaces that only say whose files are whose: for showing granted files to a user who owns none.
#![expect(unsafe_code, reason = "a namespace is made by a process that lives in it for a moment")]
#![expect(clippy::disallowed_methods, reason = "maps of namespaces are files")]

use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{WaitId, WaitIdOptions};

use super::kernel::{self, Cloned};

/// A namespace in which files of `user` and `group` are those of `shown_as`.
pub(super) fn namespace(user: u32, group: u32, shown_as: u32) -> io::Result<OwnedFd> {
    let (wait, release) = pipe_with(PipeFlags::CLOEXEC)?;
    // SAFETY: the first process of a sandbox has one thread.
    match unsafe { kernel::clone3(u64::from(libc::CLONE_NEWUSER.cast_unsigned())) }? {
        Cloned::Child => {
            drop(release);
            // Ends when the other side has the namespace, or is gone.
            let _ = rustix::io::read(&wait, &mut [0_u8; 1]);
            kernel::exit_now(0)
        }
        Cloned::Parent(pid, pidfd) => {
            let made = (|| {
                fs::write(format!("/proc/{pid}/uid_map"), format!("{user} {shown_as} 1"))?;
                fs::write(format!("/proc/{pid}/gid_map"), format!("{group} {shown_as} 1"))?;
                fs::File::open(format!("/proc/{pid}/ns/user")).map(OwnedFd::from)
            })();
            drop(release);
            drop(wait);
            rustix::process::waitid(WaitId::PidFd(pidfd.as_fd()), WaitIdOptions::EXITED)?;
            made
        }
    }
}
