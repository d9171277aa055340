//! JSON-RPC 2.0 messages, as LSP uses them.

use serde_json::{Value, json};

/// An error response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RpcError {
    /// The code.
    pub code: i64,
    /// The message, for people.
    pub message: String,
}

impl RpcError {
    /// The frame is not JSON.
    pub(crate) const PARSE_ERROR: i64 = -32700;
    /// The JSON is not a message, or not one that is allowed now.
    pub(crate) const INVALID_REQUEST: i64 = -32600;
    /// The method does not exist.
    pub(crate) const METHOD_NOT_FOUND: i64 = -32601;
    /// The parameters of a method are invalid.
    pub(crate) const INVALID_PARAMS: i64 = -32602;
    /// The server has a bug.
    pub(crate) const INTERNAL_ERROR: i64 = -32603;
    /// The client did not send `initialize` yet.
    pub(crate) const SERVER_NOT_INITIALIZED: i64 = -32002;
    /// The request is valid but cannot be done, such as a rename to an invalid name.
    pub(crate) const REQUEST_FAILED: i64 = -32803;
    /// The client cancelled the request.
    pub(crate) const REQUEST_CANCELLED: i64 = -32800;

    /// Creates an error.
    pub(crate) fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// Creates an error about missing or mistyped parameters.
    pub(crate) fn invalid_params(what: &str) -> Self {
        Self::new(Self::INVALID_PARAMS, format!("invalid parameters: {what}"))
    }
}

/// A message from the client.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ClientMessage {
    /// A question that needs an answer.
    Request {
        /// The id of the answer.
        id: Value,
        /// The method.
        method: String,
        /// The parameters.
        params: Value,
    },
    /// A message without an answer.
    Notification {
        /// The method.
        method: String,
        /// The parameters.
        params: Value,
    },
    /// The answer to a request of the server.
    Response {
        /// The id of the request.
        id: Value,
        /// The result, or `None` for an error.
        result: Option<Value>,
    },
    /// JSON that is not a message.
    Invalid {
        /// The id, if there is one.
        id: Value,
    },
}

impl ClientMessage {
    /// Reads a message from JSON.
    pub(crate) fn from_json(mut value: Value) -> Self {
        let id = value.get("id").filter(|id| id.is_number() || id.is_string()).cloned();
        let params = value.get_mut("params").map(Value::take).unwrap_or_default();
        match (value.get("method").and_then(Value::as_str), id) {
            (Some(method), Some(id)) => Self::Request { id, method: method.to_owned(), params },
            (Some(method), None) if value.get("id").is_none() => {
                Self::Notification { method: method.to_owned(), params }
            }
            (None, Some(id)) if value.get("result").is_some() || value.get("error").is_some() => {
                let result = value.get_mut("result").map(Value::take).filter(|_| value.get("error").is_none());
                Self::Response { id, result }
            }
            (_, id) => Self::Invalid { id: id.unwrap_or_default() },
        }
    }
}

/// Builds a JSON object of values that are moved, not copied.
pub(crate) fn build_object<const COUNT: usize>(fields: [(&str, Value); COUNT]) -> Value {
    Value::Object(fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

/// Builds a response.
pub(crate) fn build_response(id: &Value, result: Result<Value, RpcError>) -> Value {
    let (key, value) = match result {
        Ok(result) => ("result", result),
        Err(error) => ("error", json!({ "code": error.code, "message": error.message })),
    };
    build_object([("jsonrpc", "2.0".into()), ("id", id.clone()), (key, value)])
}

/// Builds a notification.
pub(crate) fn build_notification(method: &str, params: Value) -> Value {
    build_object([("jsonrpc", "2.0".into()), ("method", method.into()), ("params", params)])
}

/// Builds a request of the server.
pub(crate) fn build_request(id: i64, method: &str, params: Value) -> Value {
    build_object([("jsonrpc", "2.0".into()), ("id", id.into()), ("method", method.into()), ("params", params)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shape_decides_what_a_message_is() {
        let read = |value: Value| ClientMessage::from_json(value);
        let request = read(json!({"id": 1, "method": "a", "params": {"b": 2}}));
        assert_eq!(request, ClientMessage::Request { id: json!(1), method: "a".into(), params: json!({"b": 2}) });
        assert!(matches!(read(json!({"method": "a"})), ClientMessage::Notification { params: Value::Null, .. }));
        assert!(matches!(read(json!({"id": "x", "result": null})), ClientMessage::Response { result: Some(_), .. }));
        assert!(matches!(read(json!({"id": 1, "error": {}})), ClientMessage::Response { result: None, .. }));
        for invalid in [json!([]), json!(3), json!({}), json!({"id": 1}), json!({"id": {}, "method": "a"})] {
            assert!(matches!(read(invalid), ClientMessage::Invalid { .. }));
        }
    }
}
