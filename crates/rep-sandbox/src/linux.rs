//! The sandbox of Linux: namespaces, a view of files, Landlock, seccomp, and a first process that watches over it.

mod control;
mod denials;
mod first;
mod guard;
mod kernel;
mod landlock;
mod launch;
mod mounts;
mod order;
mod owners;
mod register;
mod repository;
mod seccomp;
mod staging;
mod supervise;
mod tool;
mod view;
mod walk;

use super::{
    CHANNEL_FD, Cancel, Denial, Ended, Exit, GIVEN_FOLDER, Job, Killed, Layer, SandboxError, gateway, trusted,
};

/// Never returns in a process that was started as the first one of a sandbox.
pub(super) fn init() {
    if first::is_this() {
        first::live();
    }
}

/// Runs a job. `without` names layers that tests leave out.
pub(super) fn run(job: Job, cancel: &Cancel, without: &[&str]) -> Result<Ended, SandboxError> {
    supervise::run(job, cancel, without)
}
