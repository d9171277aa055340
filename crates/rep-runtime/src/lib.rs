//! Running a skill's tools safely: `Plan → Policy → Granted → Outcome`.
//!
//! The only room that starts processes. A [`Plan`] says what a run needs and is pure and printable;
//! only a policy makes a grant of it, and only a grant can run. What the skill declared is enforced by the
//! kernel ([`sandbox`]); where it cannot be, the run is refused and never weakened in silence.

pub mod channel;
pub mod execute;
pub mod glob;
pub mod interpreter;
pub mod interrupt;
pub mod outcome;
pub mod pii;
pub mod plan;
pub mod redact;
pub mod sandbox;
pub mod schema;
mod shim;

pub use execute::{ExecuteOptions, execute};
pub use outcome::{Outcome, Reply, ToolError, Verdict};
pub use plan::{Limits, Permissions, Plan, Runtime};
