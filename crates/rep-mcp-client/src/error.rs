//! Why a conversation with a server failed.

use rep_net::NetError;

/// The kind of a failure.
#[derive(Clone, Debug)]
pub enum ClientErrorKind {
    /// The server did not answer in time.
    Timeout,
    /// The caller cancelled.
    Cancelled,
    /// The server ended the conversation.
    Closed,
    /// The server does not follow the protocol.
    InvalidMessage,
    /// A message or a list exceeds its limit.
    TooLarge,
    /// The server answered with an error.
    Rejected {
        /// The code of JSON-RPC.
        code: i64,
    },
    /// The server needs something that this client does not offer.
    Unsupported,
    /// The server could not be reached.
    Unreachable(Box<NetError>),
}

/// Why a conversation with a server failed.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct ClientError {
    /// The kind, for programs.
    pub kind: ClientErrorKind,
    /// The message for people. It may quote the server, whose text is foreign.
    pub message: String,
    /// How to fix it.
    pub remedy: Option<&'static str>,
}

impl ClientError {
    pub(crate) fn new(kind: ClientErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), remedy: None }
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(ClientErrorKind::InvalidMessage, message)
    }

    pub(crate) fn with_remedy(mut self, remedy: &'static str) -> Self {
        self.remedy = Some(remedy);
        self
    }
}

/// Shortens a foreign text for a message.
pub(crate) fn shorten(text: &str) -> String {
    const CHARS_MAX: usize = 200;
    let text = text.trim();
    match text.char_indices().nth(CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
