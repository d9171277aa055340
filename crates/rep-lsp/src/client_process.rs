//! Notices when the process of the client ends without closing the input.

use std::os::fd::AsFd;
use std::sync::mpsc::SyncSender;
use std::thread;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use serde_json::Value;

use crate::session::ServerEvent;

/// Sends an event when the process named by `processId` ends. A client can be silent about its process.
pub(crate) fn watch_client_process(params: &Value, events: &SyncSender<ServerEvent>) {
    let id = params.get("processId").and_then(Value::as_i64).and_then(|id| i32::try_from(id).ok());
    let Some(pid) = id.filter(|id| *id > 0).and_then(Pid::from_raw) else { return };
    let events = events.clone();
    thread::spawn(move || {
        wait_for_end(pid);
        // If the session ended, nobody needs the event.
        let _ = events.send(ServerEvent::ClientGone);
    });
}

fn wait_for_end(pid: Pid) {
    let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else { return };
    let mut watched = [PollFd::from_borrowed_fd(process.as_fd(), PollFlags::IN)];
    // Interrupted waits are resumed; any other error means that the process cannot be watched.
    while poll(&mut watched, None) == Err(rustix::io::Errno::INTR) {}
}
