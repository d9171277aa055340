//! Running a skill's tools safely: `Plan → Policy → Granted → Outcome`.
//!
//! The only room that starts processes. A [`Plan`] says what a run needs and is pure and printable;
//! only a policy makes a grant of it, and only a grant can run. What the skill declared is enforced by the
//! kernel ([`sandbox`]); where it cannot be, the run is refused and never weakened in silence.

pub mod access;
pub mod approval;
pub mod channel;
pub mod command;
mod database;
pub mod environment;
pub mod execute;
pub mod grant;
pub mod interpreter;
pub mod outcome;
pub mod plan;
pub mod request;
pub mod schema;
pub mod secret;
pub mod session;
mod shim;
pub mod state;
pub mod task;
pub mod token;
pub mod trial;
mod typescript;
pub mod workflow;

pub use execute::{ExecuteOptions, execute};
pub use grant::{Answer, Consent, Context, Decision, Granted, Question, Refusal, Trust};
pub use outcome::{Outcome, Reply, ToolError, Verdict};
pub use plan::{Call, Limits, Permissions, Plan, PlanError, Runtime};
pub use rep_permissions::Policy;
