//! Serves skills over MCP, over stdio and HTTP, in two revisions of the protocol: 2025-11-25 (with sessions) and
//! 2026-07-28 (without).
//!
//! This crate translates [`rep_library`] and [`rep_runtime`] and makes no decisions of its own. The library determines
//! which skills exist. A `tools/call` of a skill's tool is a [`rep_runtime::Runtime::call`], the function that `rep
//! run` uses. The Skills extension (SEP-2640) is served in both revisions. The dashboard (`rep-web`) is passed to
//! [`serve_http`] as [`PageRoutes`].
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use rep_library::{LibraryOptions, SkillLibrary};
//! use rep_mcp::{AllowedRuns, McpServer, ServerOptions, ToolNaming, serve_stdio};
//! use rep_runtime::{Runtime, RuntimeOptions, RuntimePaths};
//!
//! let library = LibraryOptions { paths: vec!["skills".into()], ..LibraryOptions::default() };
//! let runtime_options = RuntimeOptions { library: library.clone(), ..RuntimeOptions::default() };
//! let runtime = Runtime::open(RuntimePaths::default(), runtime_options);
//! let options = ServerOptions {
//!     runtime: Arc::new(runtime),
//!     allowed_runs: AllowedRuns::None,
//!     tool_naming: ToolNaming::Qualified,
//!     recorder: None,
//!     pinned_skills: Vec::new(),
//!     client_skills: Vec::new(),
//!     instructions_cache: None,
//!     version: "1.0.0",
//! };
//! let server = McpServer::new(Arc::new(SkillLibrary::open(library)?), options);
//! server.watch_library();
//! serve_stdio(&server)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod call_log;
mod catalog_view;
mod claimed_client;
mod client_activity;
mod client_config;
mod client_hosts;
mod confirmation;
mod connection_table;
mod connections;
mod convert_tool;
mod http;
mod identity;
mod json_rpc;
mod library_tools;
mod log;
mod metrics;
mod oauth;
mod overview;
mod owned_tasks;
mod pagination;
mod peer_owner;
mod pending_calls;
mod pending_confirmations;
mod prompts;
mod protocol_error;
mod resources;
mod run_slots;
mod script_tool;
mod server;
mod session_handler;
mod skill_actions;
mod skills_extension;
mod stdio;
mod stdio_transport;
mod subscriptions;
mod tls;
mod tool_calls;
mod uri;

pub use call_log::DashboardAction;
pub use rep_hosts::hosts::ToolNaming;

pub use catalog_view::{AllowedRuns, CatalogView, UnservedSkill, collapse_whitespace, sha256_digest};
pub use claimed_client::ClaimedClient;
pub use client_activity::ActiveClient;
pub use client_config::{ClientConfig, ClientHost, ConfigFormat, RenderedConfig};
pub use client_hosts::CLIENT_HOSTS;
pub use confirmation::random_bytes;
pub use connections::Connection;
pub use http::{
    Authenticator, HttpContext, HttpOptions, PageAccess, PageRoutes, PageRoutesBuilder, SessionTokenLookup,
    is_own_origin, plain_response, redirect_to, serve_http, serve_http_with, wants_page,
};
pub use identity::{BearerIdentity, Owner, Visitor};
pub use log::{LogFormat, LogOptions, init_log};
pub use oauth::{JwksSource, OAuthVerifier};
pub use overview::{CallLatency, RecordStatus, ServerOverview};
pub use pending_confirmations::{ConfirmationOutcome, ConfirmationViewer, PendingConfirmation, PendingConfirmations};
pub use resources::read_file;
pub use server::{
    ActiveRun, ChangedList, FollowedSource, InstructionsCache, ListChanges, McpServer, SaveInstructions, ServerOptions,
};
pub use session_handler::SessionHandler;
pub use stdio::serve_stdio;
pub use tls::TlsIdentity;
pub use tool_calls::ToolResponse;
pub use uri::main_file_uri;

/// The server could not be started, or failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ServeError(String);

fn runtime_error(error: &std::io::Error) -> ServeError {
    ServeError(format!("could not start the asynchronous runtime: {error}"))
}
