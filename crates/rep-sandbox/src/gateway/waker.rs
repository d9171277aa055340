//! Wakes the event loop from other threads.

use std::io;
use std::os::fd::OwnedFd;

use rustix::event::{EventfdFlags, eventfd};

pub(super) fn create_waker() -> io::Result<OwnedFd> {
    Ok(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?)
}

pub(super) fn wake_loop(bell: &OwnedFd) {
    // Writing fails only if the counter is full, and then the loop is already being woken.
    let _ = rustix::io::write(bell, &1_u64.to_ne_bytes());
}

pub(super) fn clear_wakeup(bell: &OwnedFd) {
    // Reading fails only if the counter is zero.
    let _ = rustix::io::read(bell, &mut [0_u8; 8]);
}
