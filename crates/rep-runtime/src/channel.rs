//! Serves calls of other tools from inside a run: one line of JSON per request, one per response.
//!
//! The tool writes `{"tool": "skill:tool", "args": {…}}` and reads `{"result": {…}}` or `{"error": {…}}`. The
//! caller that answers decides by its own policy; this module only transports messages. A tool that never
//! reads its response, or sends malformed requests, affects only itself.

use std::io::{BufRead, BufReader, Read, Write};

use rep_storage::platform::LocalStream;
use serde_json::{Value, json};

use crate::error::ErrorCode;
use crate::outcome::ToolError;
use rep_sandbox::Cancel;

/// The maximum length of a request.
const REQUEST_BYTES_MAX: u64 = 8 << 20;

/// Answers a call of another tool. Gets its name, its arguments, and a token that is cancelled when the
/// response is no longer needed.
pub type NestedToolCaller<'a> = dyn Fn(&str, Value, &Cancel) -> Result<Value, ToolError> + Sync + 'a;

/// Answers requests until the other end is closed or sends a malformed request.
pub(crate) fn serve_requests(stream: &LocalStream, caller: &NestedToolCaller<'_>, cancel: &Cancel) {
    let mut reader = BufReader::new(stream);
    let mut writer = stream;
    loop {
        let mut line = Vec::new();
        match reader.by_ref().take(REQUEST_BYTES_MAX).read_until(b'\n', &mut line) {
            Ok(1..) if line.ends_with(b"\n") => {}
            // End of stream, a broken stream, or a line that is too long.
            Ok(_) | Err(_) => break,
        }
        let answer = match answer_request(&line, caller, cancel) {
            Ok(result) => json!({ "result": result }),
            Err(error) => json!({ "error": error.to_json() }),
        };
        if writer.write_all(format!("{answer}\n").as_bytes()).is_err() {
            break;
        }
    }
    // The tool must not wait for a response that will never arrive. An already closed stream is fine.
    let _ = stream.shutdown(std::net::Shutdown::Both);
}

fn answer_request(line: &[u8], caller: &NestedToolCaller<'_>, cancel: &Cancel) -> Result<Value, ToolError> {
    let bad = |message: &str| ToolError::new(ErrorCode::InvalidArgument, message);
    let request: Value = serde_json::from_slice(line).map_err(|_| bad("the request is not JSON"))?;
    let tool = request.get("tool").and_then(Value::as_str).ok_or_else(|| bad("the request names no tool"))?;
    let args = request.get("args").cloned().unwrap_or_else(|| json!({}));
    if args.is_object() { caller(tool, args, cancel) } else { Err(bad("the arguments are not an object")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(requests: &[u8]) -> Vec<String> {
        let (ours, theirs) = rep_storage::platform::connect_streams().unwrap();
        (&theirs).write_all(requests).unwrap();
        theirs.shutdown(std::net::Shutdown::Write).unwrap();
        let caller = |tool: &str, args: Value, _: &Cancel| match tool {
            "a:echo" => Ok(args),
            _ => Err(ToolError::new(ErrorCode::ToolNotFound, "no such tool")),
        };
        serve_requests(&ours, &caller, &Cancel::default());
        BufReader::new(theirs).lines().map(Result::unwrap).collect()
    }

    #[test]
    fn every_request_has_its_answer() {
        let lines = asked(b"{\"tool\":\"a:echo\",\"args\":{\"x\":1}}\n{\"tool\":\"b\"}\nnonsense\n{}\n{\"tool\":\"a:echo\",\"args\":[]}\n");
        assert_eq!(lines.len(), 5);
        assert_eq!(lines[0], r#"{"result":{"x":1}}"#);
        for (line, code) in
            lines[1..].iter().zip(["TOOL_NOT_FOUND", "INVALID_ARGUMENT", "INVALID_ARGUMENT", "INVALID_ARGUMENT"])
        {
            assert!(line.starts_with("{\"error\"") && line.contains(code), "{line}");
        }
    }

    #[test]
    fn a_request_without_an_end_is_no_request() {
        assert_eq!(asked(b"{\"tool\":\"a:echo\"").len(), 0);
    }
}
