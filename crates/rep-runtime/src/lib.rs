//! Runs skills as a library call: decide, ask, record the start, run confined, record the end.
//!
//! [`Runtime`] is the only public way for a skill's code to start a process or send a request. A [`Plan`]
//! describes what a run needs; it is pure and printable. Only the policy, or an answer to its confirmation,
//! turns a plan into a grant, and only a grant can run. A grant never leaves this crate. The kernel enforces
//! what the skill declared (`rep-sandbox`). If it cannot, the run is refused; the sandbox is never weakened
//! silently.
//!
//! ```no_run
//! use rep_library::{Catalog, LibraryOptions};
//! use rep_runtime::{CallResult, NobodyToAsk, Runtime, RuntimeOptions, RuntimePaths, ToolCall};
//! use rep_sandbox::Cancel;
//! use serde_json::json;
//!
//! rep_sandbox::init(); // first thing in `main`
//! let library = LibraryOptions { paths: vec!["skills".into()], ..LibraryOptions::default() };
//! let catalog = Catalog::discover(&library)?;
//! let paths = RuntimePaths { data: Some("/home/ada/.local/share/repertoire".into()), ..RuntimePaths::default() };
//! let options = RuntimeOptions { library, workspace: "/srv/site".into(), user: "ada".into(), ..RuntimeOptions::default() };
//! let runtime = Runtime::open(paths, options);
//! let call = ToolCall::for_tool("csv-profile", "profile", json!({ "path": "data.csv" }));
//! if let CallResult::Finished(call) = runtime.call(&catalog, &call, &NobodyToAsk::default(), &Cancel::default())? {
//!     println!("{}", call.to_json());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod access;
pub mod approval;
pub mod channel;
pub mod command;
mod database;
mod digest_records;
pub mod environment;
pub mod error;
pub mod executable_skill;
mod execute;
pub mod grant;
pub mod interpreter;
pub mod named_token;
pub mod outcome;
pub mod permission_grants;
pub mod plan;
mod prompter;
pub mod request;
mod runtime;
pub mod schema;
pub mod secret;
pub mod session;
mod shim;
pub mod skill_test;
pub mod state;
pub mod task;
pub mod token;
mod typescript;
pub mod workflow;

pub use error::{Audience, CallError, ErrorCode, ErrorKind};
pub use executable_skill::{ExecutableSkill, tool_name};
pub use grant::{ExecutionTrust, RunConfirmation, RunRefusal};
pub use outcome::{Outcome, RunReply, RunVerdict, ToolError};
pub use plan::command::PermissionOverride;
pub use plan::{Confinement, Plan, PlanError, RunLimits, RunPermissions, ToolPlanInput, ToolRuntime};
pub use prompter::{NobodyToAsk, Prompter, PrompterAnswer};
pub use rep_permissions::Policy;
pub use runtime::*;

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests touch the disk and start programs")]
#[expect(clippy::needless_pass_by_value, reason = "tests write values where they use them")]
mod tests;
