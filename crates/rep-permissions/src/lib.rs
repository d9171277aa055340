//! Permissions of skills: what a run may do, and what is removed from its output.
//!
//! This crate contains pure values: path patterns ([`Glob`]), hosts ([`HostRule`]), the permissions that a skill
//! declares ([`RunPermissions`]), the limits of a run ([`RunLimits`]), and redaction of output ([`redact`]). The
//! sandbox and the network enforce them, and the runtime uses them to decide.
//!
//! ```
//! use rep_permissions::{Glob, HostRule};
//!
//! assert!(Glob::parse("reports/**").unwrap().matches("reports/2026/may.csv"));
//! assert!(HostRule::parse("*.example.org").unwrap().matches("api.example.org", 443));
//! ```

mod address;
pub mod glob;
mod host;
pub mod limits;
pub mod pii;
pub mod policy;
pub mod redact;
mod render;
pub mod resolver;
pub mod secret;

pub use address::is_public_address;
pub use glob::Glob;
pub use host::{HostRuleError, canonicalise_host_name};
pub use limits::RunLimits;
pub use policy::Policy;
pub use redact::Redactor;
pub use resolver::HostResolver;
pub use secret::SecretValue;

/// A host that a skill may connect to, with an optional port.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HostRule {
    /// The name in lower case without a trailing dot, or a literal address. `*.example.org` matches every name below
    /// it.
    pub host: String,
    /// The port; `None` means 443 and 80.
    pub port: Option<u16>,
}

/// The permissions of a run. The default grants nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunPermissions {
    /// The files it may read, in addition to the skill's own directory.
    pub read: Vec<Glob>,
    /// The files it may create, change and remove.
    pub write: Vec<Glob>,
    /// The hosts it may connect to.
    pub outbound: Vec<HostRule>,
    /// Whether it may start other programs.
    pub allow_subprocess: bool,
}
