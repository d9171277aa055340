//! A bell that ends the waiting of the loop.

use std::io;
use std::os::fd::OwnedFd;

use rustix::event::{EventfdFlags, eventfd};

pub(super) fn new() -> io::Result<OwnedFd> {
    Ok(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?)
}

pub(super) fn ring(bell: &OwnedFd) {
    // It fails only where it has rung so often that it is still ringing.
    let _ = rustix::io::write(bell, &1_u64.to_ne_bytes());
}

pub(super) fn silence(bell: &OwnedFd) {
    // It fails only where it did not ring.
    let _ = rustix::io::read(bell, &mut [0_u8; 8]);
}
