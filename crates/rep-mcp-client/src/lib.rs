//! A small synchronous MCP client: it lists the tools of a server and calls them, and nothing else.
//!
//! A server speaks over a stream that the caller has connected to its process ([`McpTransport::over_stream`]), or over
//! HTTP ([`McpTransport::over_http`]). Both generations of the protocol are spoken: 2026-07-28, in which every request
//! carries its version, and the revisions with a handshake, up to 2025-11-25. The client offers no capabilities, so a
//! server cannot ask it for input, files or a model.
//!
//! The server is foreign: messages, lists and waits are bounded, and an answer that does not follow the protocol is an
//! error. The crate starts no process and decides nothing; `rep-runtime` does both.
//!
//! ```
//! use std::io::{BufRead, BufReader, Write};
//! use std::os::unix::net::UnixStream;
//! use std::time::{Duration, Instant};
//!
//! use rep_mcp_client::{ConversationLimits, McpClient, McpTransport};
//!
//! let (ours, mut theirs) = UnixStream::pair().unwrap();
//! // The simplest server there can be: it answers two requests.
//! let server = std::thread::spawn(move || {
//!     let mut lines = BufReader::new(theirs.try_clone().unwrap()).lines();
//!     for result in [
//!         r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}"#,
//!         r#"{"resultType":"complete","tools":[{"name":"add","inputSchema":{"type":"object"}}]}"#,
//!     ] {
//!         let request: serde_json::Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
//!         writeln!(theirs, r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, request["id"]).unwrap();
//!     }
//! });
//! let limits = ConversationLimits::until(Instant::now() + Duration::from_secs(60));
//! let mut client = McpClient::connect(McpTransport::over_stream(&ours), limits, &|| false).unwrap();
//! assert_eq!(client.list_tools().unwrap()[0].name, "add");
//! server.join().unwrap();
//! ```

mod client;
mod error;
mod http;
pub mod message;
mod param_headers;
mod sse;
mod stream;
mod tool;

pub use client::{ConversationLimits, McpClient, McpTransport};
pub use error::{ClientError, ClientErrorKind};
pub use http::HttpServer;
pub use tool::{ServerTool, ToolResult};
