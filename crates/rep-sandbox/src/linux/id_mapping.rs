//! Creates user namespaces for ID-mapped mounts, which show granted files as owned by the unprivileged user.
#![expect(unsafe_code, reason = "a short-lived process creates the namespace")]
#![expect(clippy::disallowed_methods, reason = "ID maps of namespaces are files")]

use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{WaitId, WaitIdOptions};

use super::kernel::{self, CloneResult};

/// Creates a namespace that maps files of `user` and `group` to `shown_as`.
pub(super) fn create_user_namespace(user: u32, group: u32, shown_as: u32) -> io::Result<OwnedFd> {
    let (wait, release) = pipe_with(PipeFlags::CLOEXEC)?;
    // SAFETY: the init process has a single thread.
    match unsafe { kernel::clone3(u64::from(libc::CLONE_NEWUSER.cast_unsigned())) }? {
        CloneResult::Child => {
            drop(release);
            // Returns when the parent has opened the namespace or is gone.
            let _ = rustix::io::read(&wait, &mut [0_u8; 1]);
            kernel::exit_now(0)
        }
        CloneResult::Parent(pid, pidfd) => {
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
