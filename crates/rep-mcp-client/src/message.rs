//! Messages of JSON-RPC 2.0 as a server sends them, and a bounded reader of lines.
//!
//! Follows the base protocol of MCP: one object per message, no batches.

use serde_json::{Value, json};

/// A message of the server.
#[derive(Clone, Debug, PartialEq)]
pub enum ServerMessage {
    /// The result of a request.
    Result {
        /// The request that it answers.
        id: u64,
        /// The result; always an object.
        result: Value,
    },
    /// The error of a request.
    Error {
        /// The request that it answers; `None` if the server could not read it.
        id: Option<u64>,
        /// The code.
        code: i64,
        /// The text of the server.
        message: String,
    },
    /// A request of the server.
    Request {
        /// Its number or text, which the answer repeats.
        id: Value,
        /// What it asks for.
        method: String,
    },
    /// A notification.
    Notification {
        /// What it reports.
        method: String,
    },
}

/// Parses one message. Numbers of requests are ours, so an answer to anything else than a number is malformed.
pub fn parse_message(bytes: &[u8]) -> Result<ServerMessage, String> {
    let value: Value = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    read_message(&value)
}

/// Reads a message from JSON.
pub fn read_message(value: &Value) -> Result<ServerMessage, String> {
    let fields = value.as_object().ok_or("it is not an object")?;
    if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err("it has no `\"jsonrpc\": \"2.0\"`".to_owned());
    }
    let id = fields.get("id").filter(|id| !id.is_null());
    if let Some(method) = fields.get("method").and_then(Value::as_str) {
        let method = method.to_owned();
        return Ok(match id {
            Some(id) => ServerMessage::Request { id: id.clone(), method },
            None => ServerMessage::Notification { method },
        });
    }
    let number = id.and_then(Value::as_u64);
    if let Some(error) = fields.get("error").and_then(Value::as_object) {
        let code = error.get("code").and_then(Value::as_i64).ok_or("its error has no code")?;
        let message = error.get("message").and_then(Value::as_str).unwrap_or("no reason was given").to_owned();
        return Ok(ServerMessage::Error { id: number, code, message });
    }
    match (number, fields.get("result")) {
        (Some(id), Some(result @ Value::Object(_))) => Ok(ServerMessage::Result { id, result: result.clone() }),
        (Some(_), Some(_)) => Err("its result is not an object".to_owned()),
        (Some(_), None) => Err("it has neither a result nor an error".to_owned()),
        (None, _) => Err("it answers no request".to_owned()),
    }
}

/// Builds the answer to a request of the server. Only `ping` needs no capability.
pub(crate) fn build_answer(id: &Value, method: &str) -> Value {
    if method == "ping" {
        return json!({ "jsonrpc": "2.0", "id": id, "result": {} });
    }
    let error = json!({ "code": -32601, "message": "this client does not offer it" });
    json!({ "jsonrpc": "2.0", "id": id, "error": error })
}

/// Splits a stream of bytes into lines, with a limit on the length of a line.
#[derive(Debug)]
pub struct LineBuffer {
    bytes: Vec<u8>,
    /// The bytes before this position contain no end of a line.
    searched: usize,
    bytes_max: usize,
}

/// The error for a line that exceeds the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineTooLongError;

impl LineBuffer {
    /// Creates a buffer for lines of at most this length.
    pub fn new(bytes_max: usize) -> Self {
        Self { bytes: Vec::new(), searched: 0, bytes_max }
    }

    /// Adds bytes of the stream.
    pub fn push_bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Takes the next line that is not blank, without its end; `None` if more bytes are needed.
    pub fn take_line(&mut self) -> Result<Option<Vec<u8>>, LineTooLongError> {
        loop {
            let Some(at) = self.bytes[self.searched..].iter().position(|byte| *byte == b'\n') else {
                self.searched = self.bytes.len();
                return if self.bytes.len() > self.bytes_max { Err(LineTooLongError) } else { Ok(None) };
            };
            let end = self.searched + at;
            if end > self.bytes_max {
                return Err(LineTooLongError);
            }
            let mut line: Vec<u8> = self.bytes.drain(..=end).collect();
            self.searched = 0;
            line.pop();
            if line.iter().any(|byte| !byte.is_ascii_whitespace()) {
                return Ok(Some(line));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_message_is_one_of_four_kinds() {
        let result = |id, result| Ok(ServerMessage::Result { id, result });
        for (text, expected) in [
            (r#"{"jsonrpc":"2.0","id":1,"result":{"a":1}}"#, result(1, json!({ "a": 1 }))),
            (
                r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}"#,
                Ok(ServerMessage::Error { id: Some(1), code: -32601, message: "no".to_owned() }),
            ),
            (
                r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700}}"#,
                Ok(ServerMessage::Error { id: None, code: -32700, message: "no reason was given".to_owned() }),
            ),
            (
                r#"{"jsonrpc":"2.0","id":"x","method":"ping"}"#,
                Ok(ServerMessage::Request { id: json!("x"), method: "ping".to_owned() }),
            ),
            (
                r#"{"jsonrpc":"2.0","method":"notifications/message","params":{}}"#,
                Ok(ServerMessage::Notification { method: "notifications/message".to_owned() }),
            ),
        ] {
            assert_eq!(parse_message(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_message_is_an_error() {
        for text in [
            "",
            "hello",
            "[]",
            "{}",
            r#"{"jsonrpc":"1.0","id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":[]}"#,
            r#"{"jsonrpc":"2.0","id":"1","result":{}}"#,
            r#"{"jsonrpc":"2.0","result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{}}"#,
            r#"[{"jsonrpc":"2.0","id":1,"result":{}}]"#,
        ] {
            assert!(parse_message(text.as_bytes()).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn lines_do_not_depend_on_how_they_arrive(text in "[ab \n]{0,60}", size in 1usize..9) {
            let whole: Vec<Vec<u8>> =
                text.split('\n').map(str::as_bytes).map(<[u8]>::to_vec).collect();
            let (complete, _) = whole.split_at(whole.len() - 1);
            let expected: Vec<Vec<u8>> =
                complete.iter().filter(|line| line.iter().any(|byte| *byte != b' ')).cloned().collect();
            let mut buffer = LineBuffer::new(64);
            let mut found = Vec::new();
            for piece in text.as_bytes().chunks(size) {
                buffer.push_bytes(piece);
                while let Some(line) = buffer.take_line().unwrap() {
                    found.push(line);
                }
            }
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn a_line_beyond_the_limit_is_refused(length in 0usize..40) {
            let mut buffer = LineBuffer::new(20);
            buffer.push_bytes("x".repeat(length).as_bytes());
            prop_assert_eq!(buffer.take_line().is_err(), length > 20);
            buffer.push_bytes(b"\n");
            prop_assert_eq!(buffer.take_line().is_err(), length > 20);
        }
    }
}
