//! The base protocol: messages with a `Content-Length` header, as LSP 3.17 frames them.
//!
//! A client that sends garbage is answered with an error and read on. Nothing is allocated because a header claims it:
//! memory grows with the bytes that really arrive, up to [`MESSAGE_BYTES_MAX`].

use std::io::{self, BufRead, Read, Write};

use serde_json::Value;

/// The maximum length of a message. Longer ones are skipped.
pub const MESSAGE_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// The maximum length of a header line. The rest of a longer one is another line.
const LINE_BYTES_MAX: u64 = 4096;
/// The name of the only header that matters.
const LENGTH_HEADER: &str = "content-length:";

/// What was read from the client.
#[derive(Debug, PartialEq)]
pub enum IncomingFrame {
    /// A JSON document.
    Json(Value),
    /// A frame whose content is not JSON.
    Malformed(String),
    /// A frame that is longer than the limit.
    TooLong(u64),
}

/// Reads the next frame. Returns `None` at the end of the input.
pub fn read_frame(input: &mut impl BufRead) -> io::Result<Option<IncomingFrame>> {
    let Some(length) = read_header(input)? else { return Ok(None) };
    if length > MESSAGE_BYTES_MAX {
        io::copy(&mut input.take(length), &mut io::sink())?;
        return Ok(Some(IncomingFrame::TooLong(length)));
    }
    let mut content = Vec::new();
    input.take(length).read_to_end(&mut content)?;
    if (content.len() as u64) < length {
        return Ok(None);
    }
    Ok(Some(match serde_json::from_slice(&content) {
        Ok(value) => IncomingFrame::Json(value),
        Err(error) => IncomingFrame::Malformed(error.to_string()),
    }))
}

/// Reads the header of a frame and returns the length of the content. Lines that are not headers are skipped, so that
/// the reader finds the next frame after one with a wrong length.
fn read_header(input: &mut impl BufRead) -> io::Result<Option<u64>> {
    let mut length = None;
    let mut line = Vec::new();
    loop {
        line.clear();
        if input.take(LINE_BYTES_MAX).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        let text = String::from_utf8_lossy(&line).to_ascii_lowercase();
        if let Some((_, value)) = text.rsplit_once(LENGTH_HEADER) {
            length = value.trim().parse().ok();
        } else if text.trim().is_empty() && length.is_some() {
            return Ok(length);
        }
    }
}

/// Writes a message and flushes it.
pub fn write_frame(output: &mut impl Write, message: &Value) -> io::Result<()> {
    let content = message.to_string();
    write!(output, "Content-Length: {}\r\n\r\n{content}", content.len())?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read_all(bytes: &[u8]) -> Vec<IncomingFrame> {
        let mut input = bytes;
        let mut frames = Vec::new();
        while let Some(frame) = read_frame(&mut input).unwrap() {
            frames.push(frame);
        }
        frames
    }

    #[test]
    fn written_messages_are_read_back() {
        let mut bytes = Vec::new();
        let messages = [json!({"a": "ü😀\r\n"}), json!([1, 2])];
        for message in &messages {
            write_frame(&mut bytes, message).unwrap();
        }
        assert_eq!(read_all(&bytes), messages.map(IncomingFrame::Json));
    }

    #[test]
    fn header_names_have_any_case_and_other_headers_are_ignored() {
        let bytes = b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nCONTENT-LENGTH:  2 \r\n\r\n{}";
        assert_eq!(read_all(bytes), [IncomingFrame::Json(json!({}))]);
    }

    #[test]
    fn reading_goes_on_after_garbage_and_wrong_lengths() {
        let good = "Content-Length: 2\r\n\r\n{}";
        for bad in [
            "garbage\r\n\r\n".to_owned(),
            "Content-Length: many\r\n\r\n".to_owned(),
            "Content-Length: 1\r\n\r\n{}".to_owned(),
            "Content-Length: 3\r\n\r\n{,}".to_owned(),
            "x".repeat(10_000),
        ] {
            let frames = read_all(format!("{bad}{good}").as_bytes());
            assert_eq!(frames.last(), Some(&IncomingFrame::Json(json!({}))), "after {bad:.20}");
        }
    }

    #[test]
    fn a_claimed_length_is_not_allocated() {
        assert_eq!(read_all(b"Content-Length: 60000000\r\n\r\n{}"), []);
        assert_eq!(read_all(b"Content-Length: 18446744073709551615\r\n\r\n{}"), [IncomingFrame::TooLong(u64::MAX)]);
    }
}
