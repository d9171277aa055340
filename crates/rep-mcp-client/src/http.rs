//! Messages over HTTP: one POST for each, answered by JSON or by a stream of events.
//!
//! Connections are those of `rep-net`: only to the declared host, with a limit on size and time.

use std::time::{Duration, Instant};

use rep_net::{HttpHeader, HttpMethod, HttpResponse, NetErrorCode, OutgoingRequest, SendOptions, SendOutcome};
use rep_permissions::{HostResolver, HostRule};
use serde_json::Value;

use crate::client::Wait;
use crate::error::{ClientError, ClientErrorKind, shorten};
use crate::message::{self, ServerMessage};
use crate::sse::split_events;

/// The time limit for ending a session, which the server may ignore.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// A server that is reached over HTTP. It may contain secrets, so it cannot be printed.
#[derive(Clone)]
pub struct HttpServer {
    /// The address of its endpoint.
    pub url: String,
    /// Further headers of every request.
    pub headers: Vec<HttpHeader>,
    /// The hosts that may be reached.
    pub rules: Vec<HostRule>,
}

/// A conversation over HTTP.
pub(crate) struct HttpTransport {
    server: HttpServer,
    bytes_max: usize,
    session: Option<String>,
}

impl HttpTransport {
    pub(crate) fn new(server: HttpServer) -> Self {
        Self { server, bytes_max: 0, session: None }
    }

    pub(crate) fn limit_messages(&mut self, bytes_max: usize) {
        self.bytes_max = bytes_max;
    }

    /// Sends a request and returns its result.
    pub(crate) fn exchange(
        &mut self,
        request: &Value,
        id: u64,
        headers: &[(String, String)],
        wait: &Wait<'_>,
    ) -> Result<Value, ClientError> {
        let answer = self.post(request, headers, wait)?;
        if let Some(session) = answer.header("mcp-session-id") {
            self.session = Some(session.to_owned());
        }
        let found = find_answer(&answer, id);
        if !(200..300).contains(&answer.status) {
            return Err(match found {
                Ok(Some(ServerMessage::Error { code, message, .. })) if !is_unauthorized(answer.status) => {
                    rejected(wait, code, &message)
                }
                _ => status_error(answer.status, wait),
            });
        }
        match found {
            Ok(Some(ServerMessage::Result { result, .. })) => Ok(result),
            Ok(Some(ServerMessage::Error { code, message, .. })) => Err(rejected(wait, code, &message)),
            Ok(_) => Err(ClientError::invalid(format!("the server did not answer `{}`", wait.method))),
            Err(reason) => {
                let body = shorten(&String::from_utf8_lossy(&answer.body));
                Err(ClientError::invalid(format!("the server does not speak MCP: {reason}; it sent `{body}`")))
            }
        }
    }

    /// Sends a notification.
    pub(crate) fn notify(
        &mut self,
        message: &Value,
        headers: &[(String, String)],
        wait: &Wait<'_>,
    ) -> Result<(), ClientError> {
        let answer = self.post(message, headers, wait)?;
        if answer.status < 400 { Ok(()) } else { Err(status_error(answer.status, wait)) }
    }

    /// Ends the session, if there is one. Whether the server agrees does not matter.
    pub(crate) fn close(&mut self) {
        let Some(session) = self.session.take() else { return };
        let mut request = OutgoingRequest { method: HttpMethod::Delete, ..OutgoingRequest::get(&self.server.url) };
        request.headers.clone_from(&self.server.headers);
        request.headers.push(plain_header("Mcp-Session-Id", &session));
        let options = self.options(CLOSE_TIMEOUT);
        drop(rep_net::send_request(request, &options, &|| false));
    }

    fn options(&self, timeout: Duration) -> SendOptions<'_> {
        SendOptions {
            rules: &self.server.rules,
            resolver: HostResolver::system(),
            bytes_max: u64::try_from(self.bytes_max).unwrap_or(u64::MAX),
            timeout,
        }
    }

    fn post(
        &self,
        message: &Value,
        headers: &[(String, String)],
        wait: &Wait<'_>,
    ) -> Result<HttpResponse, ClientError> {
        let mut all = vec![
            plain_header("Content-Type", "application/json"),
            plain_header("Accept", "application/json, text/event-stream"),
        ];
        all.extend(self.session.iter().map(|session| plain_header("Mcp-Session-Id", session)));
        all.extend(headers.iter().map(|(name, value)| plain_header(name, value)));
        all.extend(self.server.headers.iter().cloned());
        let request = OutgoingRequest {
            method: HttpMethod::Post,
            headers: all,
            body: Some(message.to_string().into_bytes()),
            is_idempotent: false,
            ..OutgoingRequest::get(&self.server.url)
        };
        let left = wait.until.saturating_duration_since(Instant::now());
        match rep_net::send_request(request, &self.options(left), wait.is_cancelled) {
            SendOutcome::Answered(answer) => Ok(answer),
            SendOutcome::Failed(error) if error.code == NetErrorCode::OutputTooLarge => {
                Err(ClientError::new(ClientErrorKind::TooLarge, error.message))
            }
            SendOutcome::Failed(error) => {
                let message = format!("could not reach the server: {}", error.message);
                Err(ClientError::new(ClientErrorKind::Unreachable(Box::new(error)), message))
            }
            SendOutcome::Cancelled => Err(ClientError::new(ClientErrorKind::Cancelled, "the call was cancelled")),
            SendOutcome::TimedOut => Err(wait.timeout_error()),
        }
    }
}

fn plain_header(name: &str, value: &str) -> HttpHeader {
    HttpHeader { name: name.to_owned(), value: value.to_owned(), is_secret: false }
}

/// Finds the answer to a request in a response.
fn find_answer(answer: &HttpResponse, id: u64) -> Result<Option<ServerMessage>, String> {
    let kind = answer.header("content-type").unwrap_or_default().to_ascii_lowercase();
    let is_answer = |message: &ServerMessage| match message {
        ServerMessage::Result { id: answered, .. } => *answered == id,
        ServerMessage::Error { id: answered, .. } => answered.is_none_or(|answered| answered == id),
        ServerMessage::Request { .. } | ServerMessage::Notification { .. } => false,
    };
    if !kind.starts_with("text/event-stream") {
        return message::parse_message(&answer.body).map(|message| Some(message).filter(is_answer));
    }
    let body = String::from_utf8_lossy(&answer.body);
    let mut unreadable = None;
    for event in split_events(&body) {
        match message::parse_message(event.as_bytes()) {
            Ok(message) if is_answer(&message) => return Ok(Some(message)),
            Ok(_) => {}
            Err(reason) => unreadable = Some(reason),
        }
    }
    unreadable.map_or(Ok(None), Err)
}

fn rejected(wait: &Wait<'_>, code: i64, message: &str) -> ClientError {
    let message = format!("the server refused `{}`: {} ({code})", wait.method, shorten(message));
    ClientError::new(ClientErrorKind::Rejected { code }, message)
}

pub(crate) const fn is_unauthorized(status: u16) -> bool {
    matches!(status, 401 | 403)
}

fn status_error(status: u16, wait: &Wait<'_>) -> ClientError {
    let kind = ClientErrorKind::Rejected { code: i64::from(status) };
    let error = ClientError::new(kind, format!("the server answered `{}` with status {status}", wait.method));
    if is_unauthorized(status) {
        return error.with_remedy("give the server's token in `headers`, for example `Authorization: Bearer ${TOKEN}`");
    }
    error.with_remedy("check that `url` is the address of an MCP endpoint")
}
