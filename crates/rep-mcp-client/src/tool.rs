//! Tools as a server describes them, and what a call returns.

use serde_json::{Map, Value};

use crate::error::ClientError;

/// The maximum length of a name. The protocol recommends 128 characters.
const NAME_BYTES_MAX: usize = 256;

/// A tool of a server. All of it is foreign text.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerTool {
    /// The name.
    pub name: String,
    /// The description, or the title; empty if there is neither.
    pub description: String,
    /// The schema of the arguments.
    pub input_schema: Value,
    /// The schema of the structured result.
    pub output_schema: Option<Value>,
    /// Further hints, as the server sent them; null if there are none.
    pub annotations: Value,
    /// Whether the server says that the tool changes nothing. This is a hint, and true only if the server is honest.
    pub is_read_only: bool,
}

impl ServerTool {
    pub(crate) fn parse(value: &Value) -> Result<Self, ClientError> {
        let name = value.get("name").and_then(Value::as_str).unwrap_or_default();
        if name.is_empty() || name.len() > NAME_BYTES_MAX || name.chars().any(char::is_control) {
            return Err(ClientError::invalid("the server lists a tool without a usable name"));
        }
        let input_schema = value.get("inputSchema").filter(|schema| schema.is_object()).cloned();
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
        Ok(Self {
            name: name.to_owned(),
            description: text(value.get("description")).or_else(|| text(value.get("title"))).unwrap_or_default(),
            input_schema: input_schema
                .ok_or_else(|| ClientError::invalid(format!("the tool `{name}` of the server has no `inputSchema`")))?,
            output_schema: value.get("outputSchema").filter(|schema| schema.is_object()).cloned(),
            annotations: value.get("annotations").cloned().unwrap_or_default(),
            is_read_only: value.pointer("/annotations/readOnlyHint") == Some(&Value::Bool(true)),
        })
    }
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolResult {
    /// The blocks of content, as the server sent them.
    pub content: Vec<Value>,
    /// The structured result.
    pub structured: Option<Value>,
    /// Whether the tool reports a failure.
    pub is_error: bool,
}

impl ToolResult {
    pub(crate) fn parse(result: &Map<String, Value>) -> Result<Self, ClientError> {
        let content = match result.get("content") {
            Some(Value::Array(content)) => content.clone(),
            None => Vec::new(),
            Some(_) => return Err(ClientError::invalid("the result of the call has no list of content")),
        };
        let structured = result.get("structuredContent").filter(|value| !value.is_null()).cloned();
        if structured.is_none() && !result.contains_key("content") {
            return Err(ClientError::invalid("the result of the call has neither content nor a structured result"));
        }
        Ok(Self { content, structured, is_error: result.get("isError") == Some(&Value::Bool(true)) })
    }

    /// Returns the text blocks, joined.
    pub fn join_text(&self) -> String {
        let texts = self.content.iter().filter_map(|block| block.get("text").and_then(Value::as_str));
        texts.collect::<Vec<_>>().join("\n")
    }
}
