//! Arguments that a tool wants repeated as HTTP headers: `x-mcp-header`, revision 2026-07-28.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;

/// The maximum depth of nested objects that are searched.
const DEPTH_MAX: usize = 16;

/// Returns the headers for the arguments of a call. A null or missing argument has none.
pub(crate) fn build_param_headers(schema: &Value, arguments: &Value) -> Vec<(String, String)> {
    let mut headers = Vec::new();
    collect_headers(schema, arguments, 0, &mut headers);
    headers
}

fn collect_headers(schema: &Value, arguments: &Value, depth: usize, headers: &mut Vec<(String, String)>) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object).filter(|_| depth < DEPTH_MAX) else {
        return;
    };
    for (name, property) in properties {
        let Some(value) = arguments.get(name) else { continue };
        let header = property.get("x-mcp-header").and_then(Value::as_str).filter(|header| is_token(header));
        let text = match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            Value::Bool(value) => Some(value.to_string()),
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        };
        if let (Some(header), Some(text)) = (header, text) {
            headers.push((format!("Mcp-Param-{header}"), encode_value(&text)));
        }
        collect_headers(property, value, depth + 1, headers);
    }
}

/// Returns whether a text can be part of a header's name (RFC 9110, token).
fn is_token(text: &str) -> bool {
    let is_token_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.len() <= 128 && text.bytes().all(is_token_byte)
}

/// Encodes a value that could not be sent as it is.
pub(crate) fn encode_value(text: &str) -> String {
    let is_plain = text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic())
        && text.trim() == text
        && !(text.starts_with("=?base64?") && text.ends_with("?="));
    if is_plain { text.to_owned() } else { format!("=?base64?{}?=", BASE64_STANDARD.encode(text)) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn annotated_arguments_become_headers() {
        let schema = json!({ "properties": {
            "region": { "type": "string", "x-mcp-header": "Region" },
            "note": { "type": "string", "x-mcp-header": "Note" },
            "count": { "type": "integer", "x-mcp-header": "Count" },
            "bad": { "type": "string", "x-mcp-header": "No\r\nX: y" },
            "gone": { "type": "string", "x-mcp-header": "Gone" },
            "in": { "type": "object", "properties": { "deep": { "type": "boolean", "x-mcp-header": "Deep" } } },
        } });
        let arguments = json!({
            "region": "us-west1", "note": "a\nb", "count": 3, "bad": "x", "gone": null, "in": { "deep": true },
        });
        let headers = build_param_headers(&schema, &arguments);
        let expected = [
            ("Mcp-Param-Region", "us-west1"),
            ("Mcp-Param-Note", "=?base64?YQpi?="),
            ("Mcp-Param-Count", "3"),
            ("Mcp-Param-Deep", "true"),
        ];
        let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(headers, expected);
    }
}
