//! The Linux sandbox: namespaces, a mount view, Landlock, seccomp, and an init process that supervises the tool.

mod commit_journal;
mod connections;
mod control;
mod denials;
mod guard;
mod hidden_paths;
mod host_lookup;
mod id_mapping;
mod init;
mod kernel;
mod landlock;
mod launch;
mod launch_spec;
mod memory;
mod mount_table;
mod mounts;
mod observer;
mod repository;
mod run_registry;
mod seccomp;
mod staging;
mod supervisor;
mod tool;
mod view;
mod walk;

use super::{
    CHANNEL_FD, Cancel, Denial, INJECTED_FILES_FOLDER, KillReason, ProcessExit, SandboxChannel, SandboxError,
    SandboxJob, SandboxLayer, SandboxOutcome, gateway, protected_paths,
};

/// Runs the init process of a sandbox, and does not return there. Returns immediately in any other process.
pub(super) fn enter_init_process() {
    if init::is_init_process() {
        init::run_init();
    }
}

/// Runs a job. `without` names the layers that tests disable.
pub(super) fn run_job(
    job: SandboxJob,
    cancel: &Cancel,
    without: &[&str],
    when_launched: &mut dyn FnMut(),
) -> Result<SandboxOutcome, SandboxError> {
    supervisor::supervise_job(job, cancel, without, when_launched)
}
