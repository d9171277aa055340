//! The rules of JSON-RPC that hold before a message has a meaning: what is a message, and what a batch.

use serde_json::{Value, json};

/// The maximum number of messages of a batch.
pub(crate) const BATCH_MESSAGES_MAX: usize = 100;

const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;

/// The reason why something is not a message.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MessageFault {
    code: i64,
    message: &'static str,
    /// The id of the request, if it has one that can be returned.
    id: Value,
}

impl MessageFault {
    fn invalid(message: &'static str, id: Option<&Value>) -> Self {
        let id = id.filter(|id| is_id(id)).cloned().unwrap_or_default();
        Self { code: INVALID_REQUEST, message, id }
    }

    /// The bytes are not JSON.
    pub(crate) fn not_json() -> Self {
        Self { code: PARSE_ERROR, message: "parse error: the message is not valid JSON", id: Value::Null }
    }

    /// The message is too long to be read.
    pub(crate) fn too_long() -> Self {
        Self::invalid("invalid request: the message is too long", None)
    }

    /// The message has the form of a request, and a part of it has the wrong type.
    pub(crate) fn unreadable(id: Option<&Value>) -> Self {
        Self::invalid("invalid request: a part of the message has the wrong type", id)
    }

    /// Renders the answer.
    pub(crate) fn to_answer(&self) -> Value {
        json!({ "jsonrpc": "2.0", "id": self.id, "error": { "code": self.code, "message": self.message } })
    }
}

/// Checks that a value is a request, a notification or a response.
pub(crate) fn check_message(value: &Value) -> Result<(), MessageFault> {
    let Some(message) = value.as_object() else {
        return Err(MessageFault::invalid("invalid request: a message is an object", None));
    };
    let id = message.get("id");
    if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err(MessageFault::invalid("invalid request: `jsonrpc` must be \"2.0\"", id));
    }
    if message.contains_key("result") || message.contains_key("error") {
        return Ok(());
    }
    if !message.get("method").is_some_and(Value::is_string) {
        return Err(MessageFault::invalid("invalid request: `method` must be text", id));
    }
    if id.is_some_and(|id| !is_id(id)) {
        return Err(MessageFault::invalid("invalid request: `id` must be text or a whole number", None));
    }
    if message.get("params").is_some_and(|params| !params.is_object()) {
        return Err(MessageFault::invalid("invalid request: `params` must be an object", id));
    }
    Ok(())
}

/// Returns the messages of a batch.
pub(crate) fn split_batch(value: Value, allows_batches: bool) -> Result<Vec<Value>, MessageFault> {
    let Value::Array(messages) = value else {
        return Err(MessageFault::invalid("invalid request: a message is an object", None));
    };
    if !allows_batches {
        return Err(MessageFault::invalid(
            "invalid request: only revision 2025-03-26 has batches; send one message at a time",
            None,
        ));
    }
    if messages.is_empty() {
        return Err(MessageFault::invalid("invalid request: the batch is empty", None));
    }
    if messages.len() > BATCH_MESSAGES_MAX {
        return Err(MessageFault::invalid("invalid request: the batch has more than 100 messages", None));
    }
    if messages.iter().any(|message| message.get("method").and_then(Value::as_str) == Some("initialize")) {
        return Err(MessageFault::invalid("invalid request: `initialize` cannot be part of a batch", None));
    }
    Ok(messages)
}

fn is_id(id: &Value) -> bool {
    id.is_string() || id.is_i64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_messages_of_json_rpc_are_messages() {
        for fine in [
            json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }),
            json!({ "jsonrpc": "2.0", "id": "a", "method": "x", "params": {} }),
            json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
            json!({ "jsonrpc": "2.0", "id": 1, "result": {} }),
        ] {
            assert_eq!(check_message(&fine), Ok(()), "{fine}");
        }
        for odd in [
            json!(null),
            json!(5),
            json!({}),
            json!({ "jsonrpc": "1.0", "id": 1, "method": "ping" }),
            json!({ "jsonrpc": "2.0", "id": 1 }),
            json!({ "jsonrpc": "2.0", "id": null, "method": "ping" }),
            json!({ "jsonrpc": "2.0", "id": 1.5, "method": "ping" }),
            json!({ "jsonrpc": "2.0", "id": 1, "method": "ping", "params": [] }),
        ] {
            let answer = check_message(&odd).unwrap_err().to_answer();
            assert_eq!(answer["error"]["code"], INVALID_REQUEST, "{odd}");
        }
        let answer = check_message(&json!({ "jsonrpc": "2.0", "id": 7 })).unwrap_err().to_answer();
        assert_eq!(answer["id"], 7);
    }

    #[test]
    fn batches_belong_to_one_revision_and_are_bounded() {
        let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
        assert_eq!(split_batch(json!([ping, ping]), true).unwrap().len(), 2);
        assert!(split_batch(json!([ping]), false).is_err());
        assert!(split_batch(json!([]), true).is_err());
        assert!(split_batch(Value::Array(vec![ping; BATCH_MESSAGES_MAX + 1]), true).is_err());
        assert!(split_batch(json!([{ "jsonrpc": "2.0", "id": 1, "method": "initialize" }]), true).is_err());
    }
}
