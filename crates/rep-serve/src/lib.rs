//! Skills over MCP, in both eras of the protocol, over stdio and HTTP, and a page for people beside it.
//!
//! The only room with asynchronous code. It translates and decides nothing: which skills there are is `rep-library`'s
//! word, and a run is asked of whoever hands in [`Runs`]; what the page
//! shows besides is asked of an [`Office`]. Both revisions are served at the same place: 2025-11-25, with
//! sessions, and 2026-07-28, without; with the Skills extension (SEP-2640) in both.

mod calls;
mod confirm;
mod conformance;
mod convert;
mod desk;
mod fault;
mod http;
mod log;
mod metrics;
mod oauth;
mod office;
mod page;
mod peer;
mod prompts;
mod resources;
mod runs;
mod server;
mod shelf;
mod skills;
mod stdio;
mod tls;
mod tools;
mod uri;
mod visitors;
mod web;

pub use calls::{Calls, Made};
pub use convert::Converts;
pub use http::{Http, http};
pub use log::{Log, LogForm};
pub use oauth::{KeySource, OAuth};
pub use office::{CallTrail, Noted, Office, Ran, Task, Trail, Wanted};
pub use runs::{Asked, Call, Offer, Runs, Said, Stop};
pub use server::{Served, ServedOptions, Talk};
pub use stdio::stdio;
pub use tls::Tls;
