//! What a run needs, as its skill declares it: pure, printable, and no permission to do anything.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::Value;

use crate::glob::Glob;

mod address;
mod host;

pub(crate) use address::is_public;
pub use host::BadHost;
pub(crate) use host::canonical;

/// What runs a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runtime {
    /// `handler(args, ctx)` in a Python file.
    Python,
    /// `handler(args, ctx)` in a JavaScript file.
    Node,
    /// JSON on stdin, JSON on stdout.
    Bash,
}

impl Runtime {
    /// The word of the specification.
    pub const fn name(self) -> &'static str {
        match self {
            Runtime::Python => "python",
            Runtime::Node => "node",
            Runtime::Bash => "bash",
        }
    }
}

/// A host, and perhaps a port, a skill may connect to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HostRule {
    /// The name in lower case without a dot at its end, or a literal address. `*.example.org` is every name below it.
    pub host: String,
    /// The port; 443 and 80 where none is declared.
    pub port: Option<u16>,
}

/// What a skill may do. The default is nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Permissions {
    /// The files it may read, besides its own folder.
    pub read: Vec<Glob>,
    /// The files it may make, change and remove.
    pub write: Vec<Glob>,
    /// The hosts it may connect to.
    pub outbound: Vec<HostRule>,
    /// Whether it may start other programs.
    pub allow_subprocess: bool,
}

/// A kind of action that wants somebody's consent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Risk {
    /// Files are changed or removed.
    DestructiveWrites,
    /// Something is sent to a host.
    ExternalNetwork,
    /// The tool asks for consent whatever it does.
    Always,
}

/// What leaves a run without what must not be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Redaction {
    /// Values of secrets.
    pub secrets: bool,
    /// Personal data, by its shape.
    pub pii: bool,
}

/// A secret a skill declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretNeed {
    /// The variable.
    pub name: String,
    /// Whether the tool runs without it.
    pub is_optional: bool,
}

/// How much a run may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Wall-clock time.
    pub timeout_ms: u64,
    /// Time between the request to end and the end.
    pub grace_ms: u64,
    /// Processor time of one process.
    pub cpu_s: u64,
    /// Memory of the whole tree.
    pub memory_bytes: u64,
    /// Processes and threads.
    pub processes: u64,
    /// Open files of one process.
    pub open_files: u64,
    /// The largest file.
    pub file_bytes: u64,
    /// Room for temporary files.
    pub temporary_bytes: u64,
    /// What is read of stdout, and of stderr.
    pub output_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            timeout_ms: 60_000,
            grace_ms: 2_000,
            cpu_s: 60,
            memory_bytes: 1 << 30,
            processes: 128,
            open_files: 1024,
            file_bytes: 1 << 30,
            temporary_bytes: 256 << 20,
            output_bytes: 8 << 20,
        }
    }
}

/// What a tool call needs.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The skill, by its qualified name.
    pub skill: String,
    /// The digest of the skill's folder.
    pub digest: String,
    /// The skill's folder, absolute.
    pub folder: PathBuf,
    /// The tool.
    pub tool: String,
    /// What runs it.
    pub runtime: Runtime,
    /// The file, relative to the skill.
    pub entrypoint: String,
    /// The function in it; `handler` where the skill names none.
    pub handler: String,
    /// The folder patterns are relative to, absolute.
    pub workspace: PathBuf,
    /// The arguments.
    pub input: Value,
    /// The contract of the arguments.
    pub input_schema: Value,
    /// The contract of the result.
    pub output_schema: Option<Value>,
    /// What it may do.
    pub permissions: Permissions,
    /// The kinds of action that want consent.
    pub confirm: BTreeSet<Risk>,
    /// What is asked then, in the author's words.
    pub prompt: Option<String>,
    /// What must not leave the run.
    pub redaction: Redaction,
    /// The secrets it declares.
    pub secrets: Vec<SecretNeed>,
    /// How much it may use.
    pub limits: Limits,
}
