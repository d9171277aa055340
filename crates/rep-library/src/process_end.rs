//! Notices when another process ends: the client of a server, which may end without closing its streams.

use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// Waits until the process with this id ends. Returns at once if it does not exist or cannot be watched.
pub fn wait_for_process_end(id: i32) {
    let Some(process) = Pid::from_raw(id).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()) else { return };
    let mut watched = [PollFd::from_borrowed_fd(process.as_fd(), PollFlags::IN)];
    // Interrupted waits are resumed; any other error means that the process cannot be watched.
    while poll(&mut watched, None) == Err(rustix::io::Errno::INTR) {}
}
