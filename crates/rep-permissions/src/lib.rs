//! What a skill may do, and what may leave a run: the vocabulary of permissions.
//!
//! Pure values: path patterns ([`Glob`]), hosts ([`HostRule`]), the [`Permissions`] a skill declares, the [`Limits`] of a run, and
//! the [`redact`]ion of what leaves it. The sandbox enforces them, the network honours them, the runtime decides by them.
//!
//! ```
//! use rep_permissions::{Glob, HostRule};
//!
//! assert!(Glob::parse("reports/**").unwrap().fits("reports/2026/may.csv"));
//! assert!(HostRule::parse("*.example.org").unwrap().fits("api.example.org", 443));
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

pub use address::is_public;
pub use glob::Glob;
pub use host::{BadHost, canonical};
pub use limits::Limits;
pub use policy::Policy;
pub use redact::Redactor;
pub use resolver::Resolver;
pub use secret::Secret;

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
