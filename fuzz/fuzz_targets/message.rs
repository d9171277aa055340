//! Reads messages of an MCP server from any bytes. Lines do not depend on how the bytes arrive, and none is too long.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rep_mcp_client::message::{LineBuffer, parse_message};

const LINE_MAX: usize = 512;

fuzz_target!(|bytes: &[u8]| {
    let whole = read_lines(bytes, bytes.len().max(1));
    assert_eq!(read_lines(bytes, 1), whole);
    for line in whole.iter().flatten() {
        assert!(line.len() <= LINE_MAX && !line.contains(&b'\n'));
        // Any line is a message or an error.
        let _ = parse_message(line);
    }
});

/// Returns the lines, and `None` in the end if one is too long.
fn read_lines(bytes: &[u8], size: usize) -> Vec<Option<Vec<u8>>> {
    let mut buffer = LineBuffer::new(LINE_MAX);
    let mut lines = Vec::new();
    for piece in bytes.chunks(size) {
        buffer.push_bytes(piece);
        loop {
            match buffer.take_line() {
                Ok(Some(line)) => lines.push(Some(line)),
                Ok(None) => break,
                Err(_) => {
                    lines.push(None);
                    return lines;
                }
            }
        }
    }
    lines
}
