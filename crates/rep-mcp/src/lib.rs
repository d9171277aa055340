//! Skills over MCP, in two revisions of the protocol (2025-11-25 with sessions, 2026-07-28 without), over stdio and HTTP.
//!
//! A translation of [`rep_library`] and [`rep_runtime`]: it decides nothing itself. Which skills there are is the library's answer;
//! a `tools/call` of a skill's tool is a [`rep_runtime::Runtime::call`], the same function that `rep run` uses. The Skills extension
//! (SEP-2640) is served in both revisions. The dashboard (`rep-web`) is handed to [`serve_http`] as [`Pages`].
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use rep_library::{Library, Options};
//! use rep_mcp::{AllowedRuns, McpServer, ServerOptions, serve_stdio};
//! use rep_runtime::{Paths, Runtime, RuntimeOptions};
//!
//! let library = Options { paths: vec!["skills".into()], ..Options::default() };
//! let runtime = Runtime::open(Paths::default(), RuntimeOptions { library: library.clone(), ..RuntimeOptions::default() });
//! let options = ServerOptions {
//!     runtime: Arc::new(runtime),
//!     allowed_runs: AllowedRuns::None,
//!     recorder: None,
//!     version: "1.0.0",
//! };
//! let server = McpServer::new(Arc::new(Library::open(library)?), options);
//! server.watch();
//! serve_stdio(&server)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod call_log;
mod catalog_view;
mod client_config;
mod confirmation;
mod connections;
mod convert;
mod http;
mod library_tools;
mod log;
mod metrics;
mod oauth;
mod pagination;
mod peer;
mod pending_calls;
mod pending_confirmations;
mod prompts;
mod protocol_error;
mod resources;
mod server;
mod session_handler;
mod skills_extension;
mod stdio;
mod subscriptions;
mod tls;
mod tool_calls;
mod uri;

pub use call_log::DashboardAction;
pub use catalog_view::{AllowedRuns, CatalogView, digest, one_line};
pub use client_config::{CLIENT_HOSTS, ClientConfig};
pub use confirmation::random;
pub use connections::Connection;
pub use http::{
    Authenticator, BearerIdentity, HttpContext, HttpOptions, PageAccess, Pages, PagesBuilder, SessionToken,
    is_own_origin, plain_response, redirect, serve_http, serve_http_with, wants_page,
};
pub use log::{LogFormat, LogOptions, init_log};
pub use oauth::{KeySource, OAuth};
pub use pending_confirmations::{ConfirmationOutcome, ConfirmationViewer, PendingConfirmation, PendingConfirmations};
pub use resources::read_file;
pub use server::{ActiveRun, ChangedList, ListChanges, McpServer, ServerOptions};
pub use session_handler::SessionHandler;
pub use stdio::serve_stdio;
pub use tls::TlsIdentity;
pub use tool_calls::ToolResponse;

/// The server could not be started, or broke off.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ServeError(String);

fn runtime_error(error: &std::io::Error) -> ServeError {
    ServeError(format!("the asynchronous runtime could not be started: {error}"))
}
