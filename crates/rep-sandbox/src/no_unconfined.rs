//! Runs without a sandbox, which this operating system does not have either: the limits and the end of a run are enforced with
//! functions of Linux.

use super::{Cancel, SandboxError, SandboxJob, SandboxOutcome};

/// Refuses to run a program.
pub fn run_unconfined(_: SandboxJob, _: &Cancel) -> Result<SandboxOutcome, SandboxError> {
    Err(SandboxError::Unavailable {
        feature: "programs cannot be supervised on this operating system".to_owned(),
        remedy: "run on Linux on x86-64".to_owned(),
    })
}
