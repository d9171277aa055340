//! Outgoing connections of `rep` itself: resolves a name, checks the address, connects, and exchanges messages.
//!
//! Every request of an API skill, every download and every request to a model uses one connector. A name is resolved
//! once, its address is checked, and the connection goes to the checked address. Proxy settings of the environment are
//! ignored. Responses are bounded in size and time.
//!
//! ```
//! use rep_net::{NetErrorCode, OutgoingRequest, SendOptions, SendOutcome, send_request};
//! use rep_permissions::HostRule;
//!
//! // A host that is not declared is not even looked up.
//! let request = OutgoingRequest::get("https://api.example.org/");
//! let rules = [HostRule::parse("other.example.org").unwrap()];
//! match send_request(request, &SendOptions::new(&rules), &|| false) {
//!     SendOutcome::Failed(error) => assert_eq!(error.code, NetErrorCode::PermissionDenied),
//!     _ => unreachable!(),
//! }
//! ```

mod connector;
mod exchange;
pub mod fetch;
pub mod git;
pub mod issuer;
pub mod model;
pub mod oci;
mod origin;
mod program;
mod progress;
mod proxy;
mod response;
mod send;

use std::fmt;

use rep_permissions::HostRule;

pub use exchange::{HttpHeader, OutgoingRequest};
pub use origin::{HttpMethod, HttpOrigin};
pub use progress::{DownloadObserver, DownloadProgress};
pub use proxy::HttpProxy;
pub use response::HttpResponse;
pub use send::{SendOptions, SendOutcome, send_request};

/// A code for why a request failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetErrorCode {
    /// The host is not declared, or its address is not public.
    PermissionDenied,
    /// The name could not be resolved, or the server could not be reached.
    ConnectionFailed,
    /// The TLS connection could not be established or is not trusted.
    TlsFailed,
    /// The response ended early or is not HTTP.
    InvalidResponse,
    /// There were too many redirects.
    TooManyRedirects,
    /// The request cannot be sent.
    InvalidArgument,
    /// The response is too large.
    OutputTooLarge,
    /// The time limit was exceeded.
    Timeout,
    /// This machine could not start the exchange.
    Unavailable,
}

impl NetErrorCode {
    /// Returns the code as written in results and records.
    pub const fn as_str(self) -> &'static str {
        match self {
            NetErrorCode::PermissionDenied => "PERMISSION_DENIED",
            NetErrorCode::ConnectionFailed => "CONNECTION_FAILED",
            NetErrorCode::TlsFailed => "TLS_FAILED",
            NetErrorCode::InvalidResponse => "INVALID_RESPONSE",
            NetErrorCode::TooManyRedirects => "TOO_MANY_REDIRECTS",
            NetErrorCode::InvalidArgument => "INVALID_ARGUMENT",
            NetErrorCode::OutputTooLarge => "OUTPUT_TOO_LARGE",
            NetErrorCode::Timeout => "TIMEOUT",
            NetErrorCode::Unavailable => "RUNTIME_UNAVAILABLE",
        }
    }
}

impl fmt::Display for NetErrorCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// A refused connection: the host and port, and the declaration that would allow it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeniedConnection {
    /// The host and port.
    pub target: String,
    /// The declaration that would allow it, if one would.
    pub suggestion: Option<String>,
}

/// Why a request failed.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct NetError {
    /// The code for programs.
    pub code: NetErrorCode,
    /// The message for people.
    pub message: String,
    /// How to fix it.
    pub remedy: Option<String>,
    /// Whether a retry may succeed.
    pub is_retriable: bool,
    /// Whether nothing was sent.
    pub is_unsent: bool,
    /// The refused connection.
    pub denied: Option<DeniedConnection>,
}

impl NetError {
    fn new(code: NetErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), remedy: None, is_retriable: false, is_unsent: false, denied: None }
    }

    fn retriable(mut self) -> Self {
        self.is_retriable = true;
        self
    }

    fn unsent(mut self) -> Self {
        self.is_unsent = true;
        self
    }

    /// Creates an error for an undeclared connection. `suggested` is the host whose declaration would allow it.
    fn permission_denied(message: String, host: &str, port: u16, suggested: &str) -> Self {
        let rule = |host: &str| HostRule { host: host.to_owned(), port: Some(port) }.to_string();
        let suggestion = HostRule::parse(&rule(suggested)).ok().map(|rule| format!("network.outbound: \"{rule}\""));
        Self {
            remedy: suggestion.as_ref().map(|suggestion| format!("to allow it: {suggestion}")),
            is_unsent: true,
            denied: Some(DeniedConnection { target: rule(host), suggestion }),
            ..Self::new(NetErrorCode::PermissionDenied, message)
        }
    }
}

#[cfg(test)]
mod tests;
