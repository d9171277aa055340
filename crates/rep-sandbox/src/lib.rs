//! Runs a program in a sandbox that grants declared permissions and nothing else.
//!
//! The entry point is [`run_confined`]: it takes a [`SandboxJob`] and returns a [`SandboxOutcome`]. Callers do not
//! depend on kernel interfaces, and this crate does not know what a skill is.
//!
//! A program that runs tools must call [`init`] at the start of `main`. In the init process of a sandbox, [`init`]
//! never returns.
//!
//! ```
//! use rep_sandbox::Cancel;
//!
//! rep_sandbox::init();
//! let cancel = Cancel::default();
//! cancel.cancel();
//! assert!(cancel.is_cancelled());
//! ```

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rep_permissions::{RunLimits, RunPermissions};
use rep_storage::platform::OwnedStream;

pub mod allocator;
pub mod detach;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub mod gateway;
pub mod interrupt;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod linux;
pub mod protected_paths;
#[cfg_attr(not(target_os = "linux"), path = "no_unconfined.rs")]
pub mod unconfined;

/// Whether this program can confine runs: on Linux on x86-64. Elsewhere, a confined run is refused with the reason.
pub const IS_SUPPORTED: bool = cfg!(all(target_os = "linux", target_arch = "x86_64"));

/// Whether [`init`] was called. Without that call, a sandbox would run this program's `main` as its init process.
static IS_READY: AtomicBool = AtomicBool::new(false);

/// Prepares this process for running tools. Call it at the start of `main`.
///
/// Returns immediately, except in the init process of a sandbox, where it never returns.
pub fn init() {
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    linux::enter_init_process();
    IS_READY.store(true, Ordering::SeqCst);
}

/// Runs a program with the granted permissions and nothing else.
///
/// No process of the run is left when this function returns.
pub fn run_confined(job: SandboxJob, cancel: &Cancel) -> Result<SandboxOutcome, SandboxError> {
    run_without_layers(job, cancel, &[])
}

/// Runs a program like [`run_confined`], and calls `when_launched` when the sandbox was started. It is called again if the
/// sandbox has to be started in another way.
///
/// Starting a sandbox is faster in a process with a single thread. A caller that serves the tool from another thread can
/// start that thread here.
pub fn run_confined_then(
    job: SandboxJob,
    cancel: &Cancel,
    when_launched: &mut dyn FnMut(),
) -> Result<SandboxOutcome, SandboxError> {
    run_job(job, cancel, &[], when_launched)
}

/// Runs a program without some of the layers, so that tests can show what each layer prevents. Only tests of this
/// crate call it.
#[doc(hidden)]
pub fn run_without_layers(job: SandboxJob, cancel: &Cancel, without: &[&str]) -> Result<SandboxOutcome, SandboxError> {
    run_job(job, cancel, without, &mut || {})
}

fn run_job(
    job: SandboxJob,
    cancel: &Cancel,
    without: &[&str],
    when_launched: &mut dyn FnMut(),
) -> Result<SandboxOutcome, SandboxError> {
    if !IS_READY.load(Ordering::SeqCst) {
        return Err(SandboxError::Unavailable {
            feature: "`rep_sandbox::init` was not called".to_owned(),
            remedy: "call `rep_sandbox::init` at the start of `main`".to_owned(),
        });
    }
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    return linux::run_job(job, cancel, without, when_launched);
    #[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
    {
        let _ = (job, cancel, without, when_launched);
        Err(SandboxError::Unavailable {
            feature: "the sandbox is not available on this operating system and processor".to_owned(),
            remedy: "run on Linux on x86-64".to_owned(),
        })
    }
}

/// A program to run, and its permissions and limits.
pub struct SandboxJob {
    /// The program: an absolute path with all symbolic links resolved.
    pub program: PathBuf,
    /// The arguments, starting with the program's own name.
    pub argv: Vec<OsString>,
    /// The complete environment. It may contain secrets, so it is never printed.
    pub env: Vec<(OsString, OsString)>,
    /// The content of stdin.
    pub stdin: Vec<u8>,
    /// The directory that patterns are relative to, and the program's working directory.
    pub workspace: PathBuf,
    /// Additional readable directories: those of the skill and the interpreter.
    pub readable: Vec<PathBuf>,
    /// A directory created for this run and removed afterwards. The program may read, change and execute everything in
    /// it, because no other program uses it. It may be the workspace.
    pub private_folder: Option<PathBuf>,
    /// Directories that are hidden regardless of grants: those of the runtime. Paths must be resolved.
    pub hidden: Vec<PathBuf>,
    /// Files to add to the view, by name and content. They appear in the read-only directory `/rep`.
    pub injected_files: Vec<(String, Vec<u8>)>,
    /// Additional settings for protected paths.
    pub protection: ProtectionOptions,
    /// The permissions.
    pub permissions: RunPermissions,
    /// The resource limits.
    pub limits: RunLimits,
    /// A stream to the caller. Apart from it, stdin, stdout and stderr, no other descriptor is passed on.
    pub channel: Option<SandboxChannel>,
}

/// A stream between the caller and the program.
pub enum SandboxChannel {
    /// Descriptor [`CHANNEL_FD`] in the sandbox, used to call other tools.
    Descriptor(OwnedStream),
    /// Both stdin and stdout, for a program that converses over them. [`SandboxJob::stdin`] is not used, and
    /// [`SandboxOutcome::stdout`] is empty.
    Stdio(OwnedStream),
}

/// Settings for protecting paths that other programs execute or obey.
#[derive(Clone, Debug, Default)]
pub struct ProtectionOptions {
    /// The directories on the caller's `PATH`, which are read-only. Absolute, or relative to the workspace.
    pub program_folders: Vec<PathBuf>,
    /// The caller's home directory, with all symbolic links resolved.
    pub home: Option<PathBuf>,
    /// The directory that records active runs. With it, concurrent runs do not mistake each other's new files for
    /// existing ones, and files left by killed runs are found. It must be one of the hidden directories.
    pub run_registry: Option<PathBuf>,
    /// Whether the run installs packages. If so, files that Python loads automatically may be written.
    pub installs_packages: bool,
}

/// The descriptor number of the channel in the sandbox.
pub const CHANNEL_FD: i32 = 3;

/// The directory that contains injected files in the sandbox.
pub const INJECTED_FILES_FOLDER: &str = "/rep";

/// A cancellation request for a run. Clones share one state; cancelling again has no effect.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Requests cancellation.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Whether cancellation was requested.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessExit {
    /// It exited with this code.
    Code(i32),
    /// A signal terminated it.
    Signal(i32),
}

/// Why the sandbox killed a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KillReason {
    /// It exceeded the time limit.
    Timeout,
    /// The run was cancelled.
    Cancelled,
    /// It wrote more output than the limit allows.
    Output,
    /// It exceeded the memory limit.
    Memory,
}

/// An operation that the program attempted and that was denied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denial {
    /// The operation: `read`, `write`, `connect`, `spawn`, …
    pub action: &'static str,
    /// The object: a path relative to the workspace, a host and port, or a program.
    pub target: String,
    /// The declaration that would allow it, if there is one.
    pub suggestion: Option<String>,
}

impl Denial {
    /// Returns the declaration that decides about the operation.
    pub fn declaration(&self) -> &'static str {
        match self.action {
            "read" => "permissions.filesystem.read",
            "write" => "permissions.filesystem.write",
            "spawn" => "permissions.processes.allow_subprocess",
            _ => "permissions.network.outbound",
        }
    }
}

/// The state of a sandbox layer in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SandboxLayer {
    /// The name: `namespaces`, `landlock`, `seccomp`, …
    pub name: &'static str,
    /// `enforced`, or the reason why it is not.
    pub state: String,
}

/// The result of a run that has ended. None of its processes are left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SandboxOutcome {
    /// How the program ended.
    pub exit: ProcessExit,
    /// Why the sandbox killed it, if it did.
    pub kill_reason: Option<KillReason>,
    /// The captured stdout, up to the limit.
    pub stdout: Vec<u8>,
    /// The captured stderr, up to the limit.
    pub stderr: Vec<u8>,
    /// Whether output beyond the limit was dropped.
    pub is_truncated: bool,
    /// The operations that were denied, each once, up to a limit.
    pub denials: Vec<Denial>,
    /// The number of further denials beyond the limit.
    pub denials_omitted: u64,
    /// The layers that were enforced.
    pub layers: Vec<SandboxLayer>,
    /// The files created or changed through patterns, after they were committed.
    pub written: Vec<String>,
    /// The files that another process changed during the run, and how each conflict was handled.
    pub conflicts: Vec<String>,
    /// Other findings, such as files left by killed runs.
    pub notes: Vec<String>,
    /// The duration in milliseconds.
    pub duration_ms: u64,
}

/// Why a program was not run, or its changes were rejected.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// This system cannot enforce the declared permissions.
    #[error("this system cannot enforce the declared permissions: {feature}")]
    Unavailable {
        /// The missing feature and the error that revealed it.
        feature: String,
        /// How to fix it.
        remedy: String,
    },
    /// The program could not be started.
    #[error("could not start `{program}`: {reason}")]
    Unstartable {
        /// The program.
        program: String,
        /// The reason.
        reason: String,
    },
    /// The tool changed files that it may not write. No changes were committed.
    #[error("the tool wrote files it may not write: {0}")]
    Rejected(String),
}

/// Reports the layers that this machine supports, by running a program that does nothing.
pub fn probe_layers() -> Vec<SandboxLayer> {
    let job = SandboxJob {
        program: "/usr/bin/true".into(),
        argv: vec!["true".into()],
        env: Vec::new(),
        stdin: Vec::new(),
        workspace: "/etc".into(),
        readable: Vec::new(),
        private_folder: None,
        hidden: Vec::new(),
        injected_files: Vec::new(),
        protection: ProtectionOptions::default(),
        permissions: RunPermissions::default(),
        limits: RunLimits::default(),
        channel: None,
    };
    match run_confined(job, &Cancel::default()) {
        Ok(ended) => ended.layers,
        Err(SandboxError::Unavailable { feature, remedy }) => {
            vec![SandboxLayer { name: "sandbox", state: format!("missing: {feature}; {remedy}") }]
        }
        Err(error) => vec![SandboxLayer { name: "sandbox", state: format!("missing: {error}") }],
    }
}
