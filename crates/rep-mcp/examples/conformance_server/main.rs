//! A server for the official MCP conformance suite: the server of this crate over HTTP, with the tools, prompts and resources that
//! the suite expects. `bench/mcp.sh` runs the suite against it.
//!
//! ```text
//! conformance_server SKILLS_DIRECTORY
//! ```

use std::error::Error;
use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use rep_library::{LibraryOptions, SkillLibrary};
use rep_mcp::{AllowedRuns, HttpOptions, McpServer, ServerOptions, ToolNaming, serve_http_with};
use rep_runtime::{Runtime, RuntimeOptions, RuntimePaths};

mod conformance_handler;
mod fixtures;
mod task_fixtures;

fn main() -> Result<(), Box<dyn Error>> {
    let skills = std::env::args_os().nth(1).map(PathBuf::from).ok_or("name the directory of the skills")?;
    let library = LibraryOptions { paths: vec![skills], ..LibraryOptions::default() };
    let runtime =
        Runtime::open(RuntimePaths::default(), RuntimeOptions { library: library.clone(), ..Default::default() });
    let options = ServerOptions {
        runtime: Arc::new(runtime),
        allowed_runs: AllowedRuns::None,
        tool_naming: ToolNaming::Qualified,
        recorder: None,
        pinned_skills: Vec::new(),
        client_skills: Vec::new(),
        instructions_cache: None,
        version: env!("CARGO_PKG_VERSION"),
    };
    let server = McpServer::new(Arc::new(SkillLibrary::open(library)?), options);
    server.watch_library();
    let http = HttpOptions {
        address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        tokens: Vec::new(),
        named_tokens: None,
        allow_other_users: false,
        oauth: None,
        hosts: Vec::new(),
        origins: Vec::new(),
        rate: 10_000,
        tls: None,
    };
    let shared = conformance_handler::Fixtures::new(server.clone());
    serve_http_with(
        &server,
        &http,
        None,
        // As `rep serve` reports it.
        |url| drop(writeln!(std::io::stderr(), "listening on {url}")),
        move || conformance_handler::ConformanceHandler::new(&shared),
    )?;
    Ok(())
}
