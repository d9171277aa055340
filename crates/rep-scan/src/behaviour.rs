//! What code does, with arguments: a closed list of behaviours, and the capabilities that follow from them.

use std::collections::{BTreeMap, BTreeSet};

use rep_model::Span;

use crate::value::Taint;

/// The kinds of behaviour. The list is closed: a rule can be about nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BehaviourKind {
    /// Reads a file or lists a directory.
    Read,
    /// Creates or changes a file.
    Write,
    /// Removes a file.
    Delete,
    /// Reads a variable of the environment.
    Env,
    /// Reads a variable whose name says that it is a secret.
    Secret,
    /// Connects to a host.
    Connect,
    /// Sends data to a host.
    Send,
    /// Starts a program.
    Run,
    /// Evaluates text as code.
    Evaluate,
    /// Installs a package.
    Install,
    /// Arranges to be started again.
    Persist,
    /// Raises privileges.
    Privilege,
}

impl BehaviourKind {
    /// Returns the name used in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Delete => "delete",
            Self::Env => "env",
            Self::Secret => "secret",
            Self::Connect => "connect",
            Self::Send => "send",
            Self::Run => "run",
            Self::Evaluate => "evaluate",
            Self::Install => "install",
            Self::Persist => "persist",
            Self::Privilege => "privilege",
        }
    }

    /// Returns the capability that the behaviour needs.
    pub const fn capability(self) -> Option<CapabilityKind> {
        match self {
            Self::Read => Some(CapabilityKind::Read),
            Self::Write | Self::Delete => Some(CapabilityKind::Write),
            Self::Env => Some(CapabilityKind::Env),
            Self::Secret => Some(CapabilityKind::Secrets),
            Self::Connect | Self::Send => Some(CapabilityKind::Connect),
            Self::Run => Some(CapabilityKind::Spawn),
            Self::Evaluate | Self::Install | Self::Persist | Self::Privilege => None,
        }
    }
}

/// The kinds of capability, in the language of `permissions`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CapabilityKind {
    /// Files that are read.
    Read,
    /// Files that are written.
    Write,
    /// Hosts.
    Connect,
    /// Programs.
    Spawn,
    /// Variables of the environment.
    Env,
    /// Secrets.
    Secrets,
}

impl CapabilityKind {
    /// All kinds, in the order of reports.
    pub const ALL: [Self; 6] = [Self::Read, Self::Write, Self::Connect, Self::Spawn, Self::Env, Self::Secrets];

    /// Returns the name used in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Connect => "connect",
            Self::Spawn => "spawn",
            Self::Env => "env",
            Self::Secrets => "secrets",
        }
    }
}

/// One thing that a skill does, and where.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Behaviour {
    /// The file, relative to the skill.
    pub file: String,
    /// The location in the file.
    pub span: Span,
    /// What it does.
    pub kind: BehaviourKind,
    /// To what: a path, a host, a program, a variable. An unknown part is `*`.
    pub argument: String,
    /// Whether a text shows the code, rather than a script containing it.
    pub is_shown: bool,
    /// How many layers of encoding hid it.
    pub layers: u8,
}

/// What the behaviours of a skill need.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    by_kind: BTreeMap<CapabilityKind, BTreeSet<String>>,
}

impl Capabilities {
    /// Collects what behaviours need.
    pub fn from_behaviours<'a>(behaviours: impl IntoIterator<Item = &'a Behaviour>) -> Self {
        let mut capabilities = Self::default();
        for behaviour in behaviours {
            if let Some(kind) = behaviour.kind.capability() {
                capabilities.by_kind.entry(kind).or_default().insert(behaviour.argument.clone());
            }
        }
        capabilities
    }

    /// Returns the arguments of one kind, sorted.
    pub fn arguments(&self, kind: CapabilityKind) -> impl Iterator<Item = &str> {
        self.by_kind.get(&kind).into_iter().flatten().map(String::as_str)
    }

    /// Whether nothing is needed.
    pub fn is_empty(&self) -> bool {
        self.by_kind.is_empty()
    }
}

/// What a rule can report. Each kind has one rule in `rep-check`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SignalKind {
    /// Code of a host is run.
    RemoteCodeRun,
    /// Decoded text is run.
    DecodedCodeRun,
    /// A shell is connected to a host.
    ReverseShell,
    /// A secret leaves in a request.
    SecretSent,
    /// The environment leaves in a request.
    EnvironmentSent,
    /// A private file leaves in a request.
    PrivateFileSent,
    /// Data leaves in the name of a DNS query.
    DataInDnsQuery,
    /// A private file is read.
    PrivateFileRead,
    /// Secrets of several services are collected.
    CredentialsCollected,
    /// The skill starts itself again.
    PersistenceAdded,
    /// A file that agents obey is changed.
    AgentFileChanged,
    /// The skill changes itself.
    SelfModified,
    /// Data or logs are destroyed.
    Destruction,
    /// Privileges are raised.
    PrivilegeRaised,
    /// A protection is turned off.
    ProtectionDisabled,
    /// A miner is started.
    MinerStarted,
    /// Packages come from a foreign index.
    ForeignPackageIndex,
    /// A package has nearly the name of a known one.
    PackageNameLookalike,
    /// An install hook starts code.
    InstallHook,
    /// A reader is lured into running a download.
    LureDownload,
    /// A host of anonymous drops or tunnels is used.
    DropHost,
    /// Text is hidden.
    HiddenText,
    /// An instruction wants the user not to know.
    StealthInstruction,
    /// An instruction wants earlier ones ignored.
    OverrideInstruction,
    /// A file cannot be read by people.
    OpaqueFile,
    /// A file was not looked at.
    NotLookedAt,
    /// Data that cannot act, such as an image, was not looked into.
    DataNotRead,
    /// A file is evaluated as code.
    FileEvaluated,
    /// A package runner starts what nobody pinned.
    UnpinnedPackageRun,
    /// A host is hidden by an encoding.
    HostHidden,
    /// An instruction wants private data sent.
    SendInstruction,
    /// The service that gives out credentials of a cloud machine is asked.
    MetadataServiceRead,
    /// A host has nearly the name of a known one.
    HostLookalike,
    /// A settings file of the skill starts code on events of the agent.
    AgentHook,
}

/// A fact for a rule, with its message and the places that explain it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Signal {
    /// The file, relative to the skill.
    pub file: String,
    /// The location in the file.
    pub span: Span,
    /// What it is.
    pub kind: SignalKind,
    /// The message: one lower-case phrase, without control characters.
    pub message: String,
    /// Where the data came from.
    pub origin: Option<SignalOrigin>,
}

/// Where data of a signal came from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SignalOrigin {
    /// The file, relative to the skill.
    pub file: String,
    /// The location in the file.
    pub span: Span,
    /// What happens there.
    pub message: String,
}

impl SignalOrigin {
    pub(crate) fn new(taint: &Taint, message: &str) -> Self {
        Self { file: taint.file.to_string(), span: taint.span, message: message.to_owned() }
    }
}
