//! The same skill in another shape, and what that shape loses.
//!
//! Every function here is pure: a skill goes in, a shape and the list of what it loses come out. Nothing judges a skill
//! (that is `rep-check`'s business), and nothing is changed in silence: what a shape cannot express is refused.
//!
//! ```
//! use rep_hosts::HOSTS;
//!
//! let api = HOSTS.iter().find(|host| host.id == "claude-api").expect("a known host");
//! assert_eq!(api.name, "Claude API");
//! ```

pub mod hosts;
pub mod loss;
mod projection;
pub mod schema;

pub use hosts::{HOSTS, Host, Takes, Wanted};
pub use loss::{Loss, Weight};
pub use projection::{Form, Made, MadeContent, Projection, Source, is_part};
