//! Our own connections to the outside: resolve a name, check the address, connect, exchange.
//!
//! Every request of an API skill, every fetch and every question to a model leaves through one connector. A name is resolved
//! once, the address it leads to is checked, and the checked address is the one connected to. Proxies named by the environment are
//! not used. Answers are bounded in size and time.
//!
//! ```
//! use rep_net::{NetErrorCode, OutgoingRequest, SendOptions, SendOutcome, send};
//! use rep_permissions::HostRule;
//!
//! // A host that is not declared is not even looked up.
//! let request = OutgoingRequest::get("https://api.example.org/");
//! let rules = [HostRule::parse("other.example.org").unwrap()];
//! match send(request, &SendOptions::new(&rules), &|| false) {
//!     SendOutcome::Failed(error) => assert_eq!(error.code, NetErrorCode::PermissionDenied),
//!     _ => unreachable!(),
//! }
//! ```

mod answer;
mod connector;
mod exchange;
pub mod fetch;
pub mod issuer;
pub mod model;
mod origin;
mod send;

use std::fmt;

use rep_permissions::HostRule;

pub use answer::HttpAnswer;
pub use exchange::{Header, OutgoingRequest};
pub use origin::{Method, Origin};
pub use send::{SendOptions, SendOutcome, send};

/// Why there is no answer, for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetErrorCode {
    /// The host is not declared, or its address is not public.
    PermissionDenied,
    /// The name could not be resolved, or the server could not be reached.
    ConnectionFailed,
    /// No trusted connection could be made.
    TlsFailed,
    /// The answer broke off or is not HTTP.
    InvalidResponse,
    /// The server redirected too often.
    TooManyRedirects,
    /// The request cannot be sent.
    InvalidArgument,
    /// The answer is larger than it may be.
    OutputTooLarge,
    /// It took too long.
    Timeout,
    /// This machine could not start the exchange.
    Unavailable,
}

impl NetErrorCode {
    /// The word in results and records.
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

/// A connection that was refused: the host and port, and the declaration that would allow it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeniedConnection {
    /// The host and port.
    pub target: String,
    /// The declaration that would allow it, if one would.
    pub suggestion: Option<String>,
}

/// Why there is no answer.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct NetError {
    /// The code for programs.
    pub code: NetErrorCode,
    /// The message for people.
    pub message: String,
    /// What would help.
    pub remedy: Option<String>,
    /// Whether another try may succeed.
    pub is_retriable: bool,
    /// Whether nothing was sent yet.
    pub is_unsent: bool,
    /// The connection that was refused.
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

    /// A connection the declarations do not allow; `suggested` is the host whose declaration would.
    fn denied(message: String, host: &str, port: u16, suggested: &str) -> Self {
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
