//! Projects skills into the formats of hosts, and reports what each format cannot express.
//!
//! Every function is pure: it takes a skill, and returns the projection and its losses. This crate does not check
//! skills; that is the task of `rep-check`. Nothing is dropped silently: what a format cannot express is reported or
//! refused.
//!
//! ```
//! use rep_hosts::HOSTS;
//!
//! let api = HOSTS.iter().find(|host| host.id == "claude-api").expect("a known host");
//! assert_eq!(api.name, "Claude API");
//! ```

mod excluded_files;
pub mod hosts;
pub mod loss;
pub mod profile;
mod projection;
pub mod schema;

pub use excluded_files::is_skill_part;
pub use hosts::{HOSTS, HostInput, ProjectionHost, ProjectionOptions};
pub use loss::{Loss, LossSeverity};
pub use profile::{CompatibilityLevel, FactTopic, HostProfile, ProfileFact};
pub use projection::{ProjectedContent, ProjectedFile, Projection, ProjectionOutput, ProjectionSource};
