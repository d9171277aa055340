//! Helpers for tests: parse rule pages and documents, create scratch directories and libraries, run the binary,
//! serve HTTP.
//!
//! This crate works with plain paths and strings and depends on no other crate of the workspace, so that every
//! crate can use it in its tests.
//!
//! ```
//! let scratch = rep_test_support::ScratchFolder::new();
//! scratch.write_file("pdf/SKILL.md", "---\nname: pdf\n---\n");
//! assert!(scratch.read_file("pdf/SKILL.md").contains("name: pdf"));
//! ```
#![expect(clippy::disallowed_methods, reason = "tests access the disk and start the binary")]

mod document;
mod git_server;
mod registry;
mod rule_page;
mod scratch;
mod server;
mod skip;
pub mod synthetic_library;
mod wait;

pub use document::{ConsoleBlock, ConsoleCommand, DocumentBlock, matches_output, parse_document, update_output};
pub use git_server::{GitServer, TestRepository};
pub use registry::{Registry, RegistryProtection};
pub use rule_page::{ExampleFile, ExampleKind, RuleExample, RulePage};
pub use scratch::{ProgramRun, RunObserver, ScratchFolder, observe_runs};
pub use server::{ReceivedRequest, TestResponse, TestServer, build_response};
pub use skip::{find_oracle, is_oracle_installed, is_program_installed, report_skipped, skip_unless_ci};
pub use wait::{DEADLINE, poll_until, wait_for, wait_until, with_growing_timeout};
