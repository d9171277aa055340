//! JSON-RPC 2.0 messages, one on each line.

use std::io::{self, BufRead, Read};

use serde_json::{Map, Value, json};

use crate::error::ApiError;

/// A line of the client.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum IncomingLine {
    /// The bytes of the line.
    Complete(Vec<u8>),
    /// A line over the limit; it was skipped.
    TooLong,
}

/// Reads the next line, or `None` at the end of the input. Memory grows with the bytes that arrive, up to the limit.
pub(crate) fn read_line(input: &mut impl BufRead, bytes_max: usize) -> io::Result<Option<IncomingLine>> {
    let mut line = Vec::new();
    let read = input.by_ref().take(bytes_max as u64 + 1).read_until(b'\n', &mut line)?;
    if read == 0 {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
        return Ok(Some(IncomingLine::Complete(line)));
    }
    if line.len() <= bytes_max {
        // The input ended without a line feed.
        return Ok(Some(IncomingLine::Complete(line)));
    }
    drop(line);
    skip_line(input)?;
    Ok(Some(IncomingLine::TooLong))
}

/// Skips the rest of a line.
fn skip_line(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let (is_end, length) = {
            let buffer = input.fill_buf()?;
            match buffer.iter().position(|byte| *byte == b'\n') {
                Some(position) => (true, position + 1),
                None => (buffer.is_empty(), buffer.len()),
            }
        };
        input.consume(length);
        if is_end {
            return Ok(());
        }
    }
}

/// A message of the client.
#[derive(Debug, PartialEq)]
pub(crate) enum ClientMessage {
    /// A question that needs an answer.
    Request { id: Value, method: String, params: Map<String, Value> },
    /// A message without an answer.
    Notification { method: String, params: Map<String, Value> },
    /// The answer to a question of the server.
    Response { id: Value, result: Option<Value> },
    /// JSON that is not a message.
    Invalid { id: Value, reason: &'static str },
}

impl ClientMessage {
    /// Parses the JSON of a line.
    pub(crate) fn from_json(mut value: Value) -> Self {
        let id = value.get("id").filter(|id| id.is_number() || id.is_string()).cloned();
        let invalid = |reason| Self::Invalid { id: id.clone().unwrap_or_default(), reason };
        if value.is_array() {
            return invalid("batches are not supported; send one object on each line");
        }
        if value.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return invalid("`jsonrpc` must be \"2.0\"");
        }
        let params = match value.get_mut("params").map(Value::take) {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(params)) => params,
            Some(_) => return invalid("`params` must be an object"),
        };
        let method = value.get("method").and_then(Value::as_str).map(str::to_owned);
        match (method, id.clone()) {
            (Some(method), Some(id)) => Self::Request { id, method, params },
            (Some(method), None) if value.get("id").is_none() => Self::Notification { method, params },
            (None, Some(id)) if value.get("result").is_some() || value.get("error").is_some() => {
                let result = value.get_mut("result").map(Value::take).filter(|_| value.get("error").is_none());
                Self::Response { id, result }
            }
            _ => invalid("a message has a `method`, a `result` or an `error`, and an `id` that is a string or number"),
        }
    }
}

/// The result of a method.
#[derive(Clone, Debug)]
pub(crate) enum MethodResult {
    /// A document.
    Value(Value),
    /// The text of a document that was rendered before.
    Text(std::sync::Arc<str>),
}

impl From<Value> for MethodResult {
    fn from(value: Value) -> Self {
        Self::Value(value)
    }
}

/// Renders an answer as one line.
pub(crate) fn render_response(id: &Value, result: &Result<MethodResult, ApiError>) -> String {
    match result {
        Ok(MethodResult::Text(text)) => format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{text}}}"),
        Ok(MethodResult::Value(value)) => format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{value}}}"),
        Err(error) => json!({ "jsonrpc": "2.0", "id": id, "error": error.to_json() }).to_string(),
    }
}

/// Renders a notification as one line.
pub(crate) fn render_notification(method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string()
}

/// Renders a question of the server as one line.
pub(crate) fn render_request(id: &str, method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(mut bytes: &[u8], limit: usize) -> Vec<IncomingLine> {
        let mut lines = Vec::new();
        while let Some(line) = read_line(&mut bytes, limit).unwrap() {
            lines.push(line);
        }
        lines
    }

    #[test]
    fn a_line_over_the_limit_is_skipped_and_the_next_one_is_read() {
        let complete = |text: &str| IncomingLine::Complete(text.into());
        assert_eq!(read_all(b"ab\n\ncd", 2), [complete("ab"), complete(""), complete("cd")]);
        assert_eq!(read_all(b"abc\nde\n", 2), [IncomingLine::TooLong, complete("de")]);
        assert_eq!(read_all(b"abcdefgh", 2), [IncomingLine::TooLong]);
    }

    #[test]
    fn the_shape_decides_what_a_message_is() {
        let read = |value: Value| ClientMessage::from_json(value);
        let request = read(json!({ "jsonrpc": "2.0", "id": 1, "method": "list" }));
        assert_eq!(request, ClientMessage::Request { id: json!(1), method: "list".to_owned(), params: Map::new() });
        assert!(matches!(
            read(json!({ "jsonrpc": "2.0", "method": "cancel", "params": { "id": 1 } })),
            ClientMessage::Notification { .. }
        ));
        assert!(matches!(
            read(json!({ "jsonrpc": "2.0", "id": "c1", "error": {} })),
            ClientMessage::Response { result: None, .. }
        ));
        for invalid in [
            json!([]),
            json!(3),
            json!({ "id": 1, "method": "list" }),
            json!({ "jsonrpc": "2.0", "id": 1 }),
            json!({ "jsonrpc": "2.0", "id": {}, "method": "list" }),
            json!({ "jsonrpc": "2.0", "id": 1, "method": "list", "params": [] }),
        ] {
            assert!(matches!(read(invalid), ClientMessage::Invalid { .. }));
        }
    }
}
