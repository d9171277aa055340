//! Starting one program so that it sees and does what was granted, and nothing else.
//!
//! The door of this module is [`run`]: a [`Job`] goes in, an [`Ended`] comes out. Nothing above it knows how the
//! kernel is asked; nothing below it knows what a skill is.
//!
//! A program that runs tools calls [`init`] first thing in `main`; in the process that a sandbox starts it never returns.
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
use std::os::fd::{OwnedFd, RawFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rep_permissions::{Limits, Permissions};

pub mod detach;
#[cfg(target_os = "linux")]
pub mod gateway;
pub mod interrupt;
#[cfg(target_os = "linux")]
mod linux;
pub mod trusted;
pub mod unconfined;

/// Whether [`init`] was called: without it, a sandbox would start this program's `main` as its first process.
static IS_READY: AtomicBool = AtomicBool::new(false);

/// Called first thing in `main` of every program that runs tools. Returns at once, except in a process that was
/// started as the first one of a sandbox: there it never returns.
pub fn init() {
    #[cfg(target_os = "linux")]
    linux::init();
    IS_READY.store(true, Ordering::SeqCst);
}

/// Runs a program so that it sees and does what was granted, and nothing else. When this returns, nothing of it is left.
pub fn run(job: Job, cancel: &Cancel) -> Result<Ended, SandboxError> {
    run_without(job, cancel, &[])
}

/// Runs a program without some of the layers, so that tests can show what each layer is for. Nothing but tests of this
/// crate calls it.
#[doc(hidden)]
pub fn run_without(job: Job, cancel: &Cancel, without: &[&str]) -> Result<Ended, SandboxError> {
    if !IS_READY.load(Ordering::SeqCst) {
        return Err(SandboxError::Unavailable {
            feature: "this program did not prepare for sandboxes".to_owned(),
            remedy: "call `rep_sandbox::init` first thing in `main`".to_owned(),
        });
    }
    #[cfg(target_os = "linux")]
    return linux::run(job, cancel, without);
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (job, cancel, without);
        Err(SandboxError::Unavailable {
            feature: "a sandbox for this operating system".to_owned(),
            remedy: "run on Linux".to_owned(),
        })
    }
}

/// A program to run, and what it may see and do.
pub struct Job {
    /// The program, absolute and with every link resolved.
    pub program: PathBuf,
    /// Its arguments, its own name first.
    pub argv: Vec<OsString>,
    /// Its whole environment. May hold secrets, so this is never printed.
    pub env: Vec<(OsString, OsString)>,
    /// What it reads on stdin.
    pub stdin: Vec<u8>,
    /// The folder patterns are relative to, and the one it starts in.
    pub workspace: PathBuf,
    /// Folders it may read besides: the skill's own, the interpreter's.
    pub readable: Vec<PathBuf>,
    /// A folder made for this run alone and gone after it: read, changed and run from as the program likes, because nobody
    /// else ever looks there. The workspace may be it.
    pub own: Option<PathBuf>,
    /// Folders it never sees, whatever else is granted: the runtime's own. As they are really called.
    pub hidden: Vec<PathBuf>,
    /// Files that are put into the view: name, and bytes. They lie in one read-only folder, `/rep`.
    pub given: Vec<(String, Vec<u8>)>,
    /// How names that others trust are held, besides by what they are.
    pub guarding: Guarding,
    /// What it may do.
    pub permissions: Permissions,
    /// How much it may use.
    pub limits: Limits,
    /// A stream to whoever runs it, for calls of other tools. It is descriptor [`CHANNEL_FD`] inside, and no other
    /// descriptor besides the three usual ones is passed on.
    pub channel: Option<OwnedFd>,
}

/// How names that others trust are held in a run.
#[derive(Clone, Debug, Default)]
pub struct Guarding {
    /// Folders the caller's programs are looked for in: nothing in them is written. Absolute, or relative to the workspace.
    pub held: Vec<PathBuf>,
    /// The caller's home, with every link resolved.
    pub home: Option<PathBuf>,
    /// The folder in which runs are noted while they go on, so that what one of them makes is not taken by another for
    /// what was always there, and what is left by one that is ended by force is found. It must be among the hidden ones.
    pub register: Option<PathBuf>,
    /// Whether packages are installed, so that what python loads is the work itself.
    pub is_for_packages: bool,
}

/// The number of the channel inside.
pub const CHANNEL_FD: RawFd = 3;

/// Where given files are seen inside.
pub const GIVEN_FOLDER: &str = "/rep";

/// Asks a run to end. Shared between threads; asking twice is asking once.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Asks.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Whether somebody asked.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// How the program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// By itself, with this code.
    Code(i32),
    /// By a signal.
    Signal(i32),
}

/// Why the program was ended by us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Killed {
    /// Its time was over.
    Timeout,
    /// Somebody asked.
    Cancelled,
    /// It wrote more than is read.
    Output,
    /// It used more memory than it may.
    Memory,
}

/// Something the program tried and may not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denial {
    /// What it tried: `read`, `write`, `connect`, `spawn`, …
    pub action: &'static str,
    /// On what: a path relative to the workspace, a host and port, a program.
    pub target: String,
    /// The declaration that would allow it, where one would.
    pub suggestion: Option<String>,
}

/// What a layer did in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// Its name: `namespaces`, `landlock`, `seccomp`, …
    pub name: &'static str,
    /// `enforced`, or why not.
    pub state: String,
}

/// A run that is over. Nothing of it is left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// How it ended.
    pub exit: Exit,
    /// Why we ended it, where we did.
    pub killed: Option<Killed>,
    /// What it wrote on stdout, as far as that is read.
    pub stdout: Vec<u8>,
    /// What it wrote on stderr, as far as that is read.
    pub stderr: Vec<u8>,
    /// Whether more was written than is read.
    pub is_truncated: bool,
    /// What it tried and may not.
    pub denials: Vec<Denial>,
    /// What held it.
    pub layers: Vec<Layer>,
    /// The files it made or changed by patterns, as far as they were taken over.
    pub written: Vec<String>,
    /// What somebody else changed while it ran, and what became of that.
    pub conflicts: Vec<String>,
    /// What was found besides: what runs left that were ended by force.
    pub notes: Vec<String>,
    /// How long it took.
    pub duration_ms: u64,
}

/// Why nothing was run.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// This system cannot enforce what was declared.
    #[error("this system cannot enforce the declared permissions: {feature}")]
    Unavailable {
        /// What is missing, and how it showed.
        feature: String,
        /// What would help.
        remedy: String,
    },
    /// The program could not be started.
    #[error("could not start `{program}`: {reason}")]
    Unstartable {
        /// The program.
        program: String,
        /// Why.
        reason: String,
    },
    /// What it wrote does not fit what it may write; nothing of it was taken over.
    #[error("the tool wrote what it may not: {0}")]
    Rejected(String),
}

/// What this machine offers, tried with a real run of a program that does nothing.
pub fn probe() -> Vec<Layer> {
    let job = Job {
        program: "/usr/bin/true".into(),
        argv: vec!["true".into()],
        env: Vec::new(),
        stdin: Vec::new(),
        workspace: "/etc".into(),
        readable: Vec::new(),
        own: None,
        hidden: Vec::new(),
        given: Vec::new(),
        guarding: Guarding::default(),
        permissions: Permissions::default(),
        limits: Limits::default(),
        channel: None,
    };
    match run(job, &Cancel::default()) {
        Ok(ended) => ended.layers,
        Err(SandboxError::Unavailable { feature, remedy }) => {
            vec![Layer { name: "sandbox", state: format!("missing: {feature}; {remedy}") }]
        }
        Err(error) => vec![Layer { name: "sandbox", state: format!("missing: {error}") }],
    }
}
