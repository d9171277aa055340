//! PEM: base64 between lines that name what it is.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use crate::SignatureError;

/// The maximum size of a text with keys or certificates.
const TEXT_BYTES_MAX: usize = 1 << 20;
/// The maximum number of blocks in a text.
const BLOCKS_MAX: usize = 100;

/// A block of a PEM text.
pub(crate) struct PemBlock {
    /// What it is, such as `PUBLIC KEY`.
    pub(crate) label: String,
    pub(crate) bytes: Vec<u8>,
}

/// Parses all blocks of a text. Text between them is skipped.
pub(crate) fn parse_blocks(text: &str) -> Result<Vec<PemBlock>, SignatureError> {
    if text.len() > TEXT_BYTES_MAX {
        return Err(SignatureError::malformed("it is larger than 1 MiB"));
    }
    let mut blocks = Vec::new();
    let mut open: Option<(String, String)> = None;
    for line in text.lines().map(str::trim) {
        let marker = |start: &str| line.strip_prefix(start).and_then(|rest| rest.strip_suffix("-----"));
        if let Some(label) = marker("-----BEGIN ") {
            open = Some((label.to_owned(), String::new()));
        } else if let Some(label) = marker("-----END ") {
            let (own, data) = open
                .take()
                .filter(|(own, _)| own == label)
                .ok_or_else(|| SignatureError::malformed("a PEM block has no matching end"))?;
            let bytes = BASE64_STANDARD
                .decode(&data)
                .map_err(|_| SignatureError::malformed(format!("the PEM block `{own}` is not base64")))?;
            blocks.push(PemBlock { label: own, bytes });
            if blocks.len() > BLOCKS_MAX {
                return Err(SignatureError::malformed("it has more than 100 PEM blocks"));
            }
        } else if let Some((_, data)) = &mut open {
            // Lines with a colon are headers of old formats.
            if !line.contains(':') {
                data.push_str(line);
            }
        }
    }
    if open.is_some() {
        return Err(SignatureError::malformed("a PEM block has no end"));
    }
    Ok(blocks)
}

/// Writes a block, in lines of 64 characters.
pub(crate) fn write_block(label: &str, bytes: &[u8]) -> String {
    let data = BASE64_STANDARD.encode(bytes);
    let mut text = format!("-----BEGIN {label}-----\n");
    let mut rest = data.as_str();
    while !rest.is_empty() {
        let (line, more) = rest.split_at(rest.len().min(64));
        text.push_str(line);
        text.push('\n');
        rest = more;
    }
    text + &format!("-----END {label}-----\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_come_back_and_broken_ones_are_refused() {
        let text = format!("before\n{}between\n{}", write_block("A B", &[7; 100]), write_block("C", b""));
        let blocks = parse_blocks(&text).unwrap();
        let shape: Vec<(&str, usize)> = blocks.iter().map(|one| (one.label.as_str(), one.bytes.len())).collect();
        assert_eq!(shape, [("A B", 100), ("C", 0)]);
        for text in ["-----BEGIN A-----\n", "-----END A-----\n", "-----BEGIN A-----\n%%\n-----END A-----\n"] {
            assert!(parse_blocks(text).is_err(), "{text}");
        }
        assert!(parse_blocks("-----BEGIN A-----\n-----END B-----\n").is_err());
        assert!(parse_blocks(&write_block("A", b"x").repeat(101)).is_err());
    }
}
