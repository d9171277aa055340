//! Running a skill as a library call: decide, ask, record, run confined, record the end.
//!
//! [`Runtime`] is the only public way for a skill's code to start a process or to send a request. A [`Plan`] says what a run needs and is pure
//! and printable; only the policy, or an answer to its question, makes a grant of it; only a grant runs; and a grant never leaves
//! this crate. What the skill declared is enforced by the kernel (`rep-sandbox`); where it cannot be, the run is refused and never
//! weakened in silence.
//!
//! ```no_run
//! use rep_library::{Catalog, Options};
//! use rep_runtime::{CallResult, NobodyToAsk, Paths, Runtime, RuntimeOptions, ToolCall};
//! use rep_sandbox::Cancel;
//! use serde_json::json;
//!
//! rep_sandbox::init(); // first thing in `main`
//! let library = Options { paths: vec!["skills".into()], ..Options::default() };
//! let catalog = Catalog::discover(&library)?;
//! let paths = Paths { data: Some("/home/ada/.local/share/repertoire".into()), ..Paths::default() };
//! let options = RuntimeOptions { library, workspace: "/srv/site".into(), user: "ada".into(), ..RuntimeOptions::default() };
//! let runtime = Runtime::open(paths, options);
//! let call = ToolCall::tool("csv-profile", "profile", json!({ "path": "data.csv" }));
//! if let CallResult::Finished(call) = runtime.call(&catalog, &call, &NobodyToAsk::default(), &Cancel::default())? {
//!     println!("{}", call.value());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod access;
pub mod approval;
pub mod channel;
pub mod command;
mod database;
pub mod environment;
pub mod error;
pub mod executable_skill;
mod execute;
pub mod grant;
pub mod interpreter;
pub mod outcome;
pub mod plan;
mod prompter;
pub mod request;
mod runtime;
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

pub use error::{Audience, CallError, ErrorCode, ErrorKind};
pub use executable_skill::{ExecutableSkill, tool_name};
pub use grant::{Question, Refusal, Trust};
pub use outcome::{Outcome, Reply, ToolError, Verdict};
pub use plan::command::PermissionOverride;
pub use plan::{Call, Confinement, Limits, Permissions, Plan, PlanError, ToolRuntime};
pub use prompter::{Answer, NobodyToAsk, Prompter};
pub use rep_permissions::Policy;
pub use runtime::*;

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests touch the disk and start programs")]
#[expect(clippy::needless_pass_by_value, reason = "tests write values where they use them")]
mod tests;
