//! The `/mcp` endpoint around the SDK's service.
//!
//! It answers malformed messages as JSON-RPC demands, splits the batches of revision 2025-03-26, and sends
//! `application/json` if nothing is streamed: clients limit the size of an event in a stream. While the server shuts
//! down, it refuses new requests, and counts the answers that are still on their way.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody as _};
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use rep_runtime::named_token::TokenScope;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_stream::StreamExt as _;

use super::{REQUEST_BYTES_MAX, plain_response};
use crate::identity::BearerIdentity;
use crate::json_rpc::{self, MessageFault};
use crate::server::McpServer;

/// How long an answer is awaited before its stream is sent as one. Longer answers need signs of life.
const STREAM_DELAY: Duration = Duration::from_secs(5);
/// The maximum size of an event that becomes an answer without a stream.
const ANSWER_BYTES_MAX: usize = 256 << 20;
const JSON_TYPE: &str = "application/json";
const EVENT_STREAM_TYPE: &str = "text/event-stream";
/// The only revision with batches. Without a header, clients are of this revision.
const BATCH_REVISION: &str = "2025-03-26";
/// The first revision whose clients know events without data, which only tell them where to resume.
const EMPTY_EVENTS_REVISION: &str = "2025-11-25";
/// The maximum size of an event without data.
const EMPTY_EVENT_BYTES_MAX: usize = 256;
/// The requests that are answered while the server shuts down, because a running call needs them.
const FINAL_METHODS: [&str; 4] = ["ping", "tasks/get", "tasks/update", "tasks/cancel"];

/// An answer that is on its way.
struct OpenAnswer(watch::Sender<usize>);

impl OpenAnswer {
    fn new(count: &watch::Sender<usize>) -> Self {
        count.send_modify(|count| *count += 1);
        Self(count.clone())
    }
}

impl Drop for OpenAnswer {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

/// Handles a request to the endpoint.
pub(super) async fn handle_message(State(server): State<McpServer>, request: Request, next: Next) -> Response {
    match *request.method() {
        Method::POST if is_json(request.headers()) => {}
        Method::DELETE => {
            let mut response = next.run(request).await;
            // Clients expect that an ended session has nothing more to say.
            if response.status() == StatusCode::ACCEPTED {
                response = plain_response(StatusCode::NO_CONTENT, Body::empty());
            }
            return response;
        }
        _ => {
            let knows_empty_events = knows_empty_events(request.headers());
            let response = next.run(request).await;
            return if knows_empty_events || !is_event_stream(response.headers()) {
                response
            } else {
                response.map(|body| Body::from_stream(body.into_data_stream().map(|chunk| chunk.map(strip_empty_data))))
            };
        }
    }
    let (parts, body) = request.into_parts();
    let Ok(bytes) = axum::body::to_bytes(body, REQUEST_BYTES_MAX).await else {
        return plain_response(StatusCode::PAYLOAD_TOO_LARGE, "the request is larger than 4 MiB");
    };
    let message: Value = match serde_json::from_slice(&bytes) {
        Ok(message) => message,
        Err(_) => return fault_response(&MessageFault::not_json()),
    };
    if message.is_array() {
        return answer_batch(&server, &parts, message, &next).await;
    }
    if let Err(fault) = json_rpc::check_message(&message) {
        return fault_response(&fault);
    }
    answer_message(&server, Request::from_parts(parts, Body::from(bytes)), &message, next).await
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with(JSON_TYPE))
}

fn fault_response(fault: &MessageFault) -> Response {
    json_response(StatusCode::BAD_REQUEST, fault.to_answer().to_string())
}

fn json_response(status: StatusCode, text: impl Into<Body>) -> Response {
    let mut response = plain_response(status, text);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(JSON_TYPE));
    response
}

/// Answers one message.
async fn answer_message(server: &McpServer, request: Request, message: &Value, next: Next) -> Response {
    let method = message.get("method").and_then(Value::as_str);
    let (Some(method), Some(id)) = (method, message.get("id")) else {
        // Notifications and responses have no answer.
        return next.run(request).await;
    };
    if server.is_draining() && !FINAL_METHODS.contains(&method) {
        let mut response = plain_response(StatusCode::SERVICE_UNAVAILABLE, "the server is shutting down");
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        return response;
    }
    if method == "subscriptions/listen" {
        return next.run(request).await;
    }
    if let Some(refusal) = refuse_run(server, &request, message) {
        return refusal;
    }
    let answer = OpenAnswer::new(&server.0.open_answers);
    let knows_empty_events = knows_empty_events(request.headers());
    let response = next.run(request).await;
    if response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
        // The SDK reports a message that it cannot read in this way.
        return fault_response(&MessageFault::unreadable(Some(id)));
    }
    if is_event_stream(response.headers()) {
        collapse_stream(response, answer, knows_empty_events).await
    } else {
        response
    }
}

/// Refuses to run a tool for a token that does not allow it, so that an OAuth client can ask for one that does.
fn refuse_run(server: &McpServer, request: &Request, message: &Value) -> Option<Response> {
    let bearer = request.extensions().get::<BearerIdentity>()?;
    let name = message.pointer("/params/name").and_then(Value::as_str).unwrap_or_default();
    let is_call = message.get("method").and_then(Value::as_str) == Some("tools/call");
    if !is_call || bearer.allows(TokenScope::Run) || !server.0.is_run(name) {
        return None;
    }
    let error =
        json!({ "code": -32600, "message": "this token does not allow to run tools; it needs the scope `run`" });
    let answer = json!({ "jsonrpc": "2.0", "id": message.get("id"), "error": error });
    let mut response = json_response(StatusCode::FORBIDDEN, answer.to_string());
    let challenge = "Bearer realm=\"repertoire\", error=\"insufficient_scope\", scope=\"run\"";
    response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
    Some(response)
}

pub(super) fn is_event_stream(headers: &HeaderMap) -> bool {
    headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(EVENT_STREAM_TYPE.as_bytes()))
}

/// Answers with JSON if the first message of a stream is its last one and arrives soon.
async fn collapse_stream(response: Response, answer: OpenAnswer, knows_empty_events: bool) -> Response {
    let (mut parts, mut body) = response.into_parts();
    let mut events = EventBuffer::default();
    let deadline = Instant::now() + STREAM_DELAY;
    let last = loop {
        match events.next_message() {
            Some(message) if is_answer(&message) => break Some(message),
            Some(_) => break None,
            None if events.bytes.len() > ANSWER_BYTES_MAX => break None,
            None => {}
        }
        let frame = std::future::poll_fn(|context| Pin::new(&mut body).poll_frame(context));
        match tokio::time::timeout_at(deadline, frame).await {
            Ok(Some(Ok(frame))) => {
                if let Ok(data) = frame.into_data() {
                    events.bytes.extend_from_slice(&data);
                }
            }
            Ok(Some(Err(_)) | None) | Err(_) => break None,
        }
    };
    if let Some(message) = last {
        parts.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(JSON_TYPE));
        parts.headers.remove(header::TRANSFER_ENCODING);
        return Response::from_parts(parts, Body::from(message));
    }
    let begun = Bytes::from(events.bytes);
    let begun = tokio_stream::once(Ok(if knows_empty_events { begun } else { strip_empty_data(begun) }));
    let rest = body.into_data_stream().map(move |chunk| {
        // The answer is on its way until the stream ends.
        let _answer = &answer;
        chunk
    });
    Response::from_parts(parts, Body::from_stream(begun.chain(rest)))
}

/// Whether a client knows events without data. Clients of earlier revisions take one for a damaged message, and some
/// give up the connection.
fn knows_empty_events(headers: &HeaderMap) -> bool {
    let revision = headers.get("mcp-protocol-version").and_then(|revision| revision.to_str().ok());
    // Revisions are dates.
    revision.is_some_and(|revision| revision >= EMPTY_EVENTS_REVISION)
}

/// Removes the empty data from the first event of a chunk, so that it only says where to resume and when.
fn strip_empty_data(chunk: Bytes) -> Bytes {
    let end = chunk.windows(2).take(EMPTY_EVENT_BYTES_MAX).position(|pair| pair == b"\n\n");
    let Some((event, rest)) = end.map(|end| chunk.split_at(end)) else { return chunk };
    let (data, others): (Vec<&[u8]>, Vec<&[u8]>) =
        event.split(|byte| *byte == b'\n').partition(|line| line.starts_with(b"data"));
    if data.iter().any(|line| !matches!(*line, b"data" | b"data:" | b"data: ")) {
        return chunk;
    }
    Bytes::from([&others.join(&b'\n'), rest].concat())
}

fn is_answer(message: &[u8]) -> bool {
    let message = serde_json::from_slice::<Value>(message).unwrap_or_default();
    message.is_object() && message.get("method").is_none()
}

/// The begun part of a stream of events.
#[derive(Default)]
struct EventBuffer {
    bytes: Vec<u8>,
    /// The end of the events that were examined.
    examined: usize,
    /// How far the end of the next event was searched for.
    searched: usize,
}

impl EventBuffer {
    /// Returns the data of the next complete event that has any. Events without data only keep a stream open.
    fn next_message(&mut self) -> Option<Vec<u8>> {
        loop {
            let from = self.searched.max(self.examined);
            let Some(end) = self.bytes[from..].windows(2).position(|pair| pair == b"\n\n") else {
                self.searched = self.bytes.len().saturating_sub(1).max(self.examined);
                return None;
            };
            let event = &self.bytes[self.examined..from + end];
            self.examined = from + end + 2;
            let lines = event.split(|byte| *byte == b'\n').filter_map(|line| line.strip_prefix(b"data:"));
            let data: Vec<&[u8]> = lines.map(|line| line.strip_prefix(b" ").unwrap_or(line)).collect();
            let data = data.join(&b'\n');
            if !data.trim_ascii().is_empty() {
                return Some(data);
            }
        }
    }
}

/// Answers the messages of a batch together.
async fn answer_batch(server: &McpServer, parts: &Parts, batch: Value, next: &Next) -> Response {
    let revision = parts.headers.get("mcp-protocol-version");
    let allows_batches = revision.is_none_or(|revision| revision == BATCH_REVISION);
    let messages = match json_rpc::split_batch(batch, allows_batches) {
        Ok(messages) => messages,
        Err(fault) => return fault_response(&fault),
    };
    let shared = Arc::new(parts.clone());
    let mut working: JoinSet<(usize, Option<Value>)> = JoinSet::new();
    for (place, message) in messages.into_iter().enumerate() {
        let (server, parts, next) = (server.clone(), Arc::clone(&shared), next.clone());
        working.spawn(async move { (place, answer_part(&server, &parts, message, next).await) });
    }
    let mut answers: Vec<(usize, Value)> = Vec::new();
    while let Some(done) = working.join_next().await {
        if let Ok((place, Some(answer))) = done {
            answers.push((place, answer));
        }
    }
    if answers.is_empty() {
        return plain_response(StatusCode::ACCEPTED, Body::empty());
    }
    answers.sort_by_key(|(place, _)| *place);
    json_response(StatusCode::OK, answers.into_iter().map(|(_, answer)| answer).collect::<Value>().to_string())
}

/// Answers one message of a batch. Returns `None` if it has no answer.
async fn answer_part(server: &McpServer, parts: &Parts, message: Value, next: Next) -> Option<Value> {
    if let Err(fault) = json_rpc::check_message(&message) {
        return Some(fault.to_answer());
    }
    let mut parts = parts.clone();
    let text = message.to_string();
    parts.headers.insert(header::CONTENT_LENGTH, HeaderValue::from(text.len()));
    let request = Request::from_parts(parts, Body::from(text));
    let response = answer_message(server, request, &message, next).await;
    let id = message.get("id").filter(|_| message.get("method").is_some())?;
    let is_stream = is_event_stream(response.headers());
    let read = axum::body::to_bytes(response.into_body(), ANSWER_BYTES_MAX).await;
    let answer = read.ok().and_then(|bytes| {
        if !is_stream {
            return serde_json::from_slice::<Value>(&bytes).ok();
        }
        let mut events = EventBuffer { bytes: bytes.to_vec(), ..EventBuffer::default() };
        let messages = std::iter::from_fn(|| events.next_message());
        messages.filter(|message| is_answer(message)).last().and_then(|last| serde_json::from_slice(&last).ok())
    });
    // A part that plain HTTP refused, such as one of a session that ended.
    let refused = || MessageFault::unreadable(Some(id)).to_answer();
    Some(answer.filter(Value::is_object).unwrap_or_else(refused))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_found_wherever_their_bytes_are_cut() {
        let text = b": comment\n\nid: 0\nretry: 3000\ndata:\n\ndata: {\"a\":1}\nid: 1\n\ndata: {\"b\":2}\n\n";
        for cut in 0..text.len() {
            let mut events = EventBuffer::default();
            let mut found = Vec::new();
            for part in [&text[..cut], &text[cut..]] {
                events.bytes.extend_from_slice(part);
                found.extend(std::iter::from_fn(|| events.next_message()));
            }
            assert_eq!(found, [b"{\"a\":1}".to_vec(), b"{\"b\":2}".to_vec()], "{cut}");
        }
    }

    #[test]
    fn only_empty_data_is_removed_from_a_stream() {
        let strip = |text: &'static str| String::from_utf8(strip_empty_data(Bytes::from(text)).to_vec()).unwrap();
        assert_eq!(strip("id: 0\nretry: 3000\ndata:\n\n"), "id: 0\nretry: 3000\n\n");
        assert_eq!(strip("data: \nid: 0\n\ndata: {}\n\n"), "id: 0\n\ndata: {}\n\n");
        for kept in [": alive\n\n", "data: {}\nid: 1\n\n", "data:\ndata: {}\n\n", "data: {", ""] {
            assert_eq!(strip(kept), kept);
        }
    }

    #[test]
    fn only_messages_without_a_method_are_answers() {
        assert!(is_answer(br#"{"jsonrpc":"2.0","id":1,"result":{"method":1}}"#));
        assert!(!is_answer(br#"{"jsonrpc":"2.0","method":"notifications/progress"}"#));
        assert!(!is_answer(b"text"));
    }
}
