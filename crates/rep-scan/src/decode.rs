//! Decodes what code hides: base64, hexadecimal digits, percent and character escapes, gzip and zlib, reversed text.
//!
//! At most 1 MiB comes out of one decoding. Nothing here runs anything.

use std::io::Read;

use base64::Engine;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// The maximum size of decoded data.
pub(crate) const DECODED_BYTES_MAX: usize = 1 << 20;

const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);

/// Decodes base64 of either alphabet. White space is ignored.
pub(crate) fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let letters: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    if letters.is_empty() || letters.len() > DECODED_BYTES_MAX * 4 / 3 {
        return None;
    }
    let alphabet = if letters.iter().any(|byte| matches!(byte, b'-' | b'_')) { &URL_SAFE } else { &STANDARD };
    GeneralPurpose::new(alphabet, LENIENT).decode(&letters).ok()
}

/// Decodes pairs of hexadecimal digits.
pub(crate) fn decode_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u32> = text
        .chars()
        .filter(|letter| !letter.is_whitespace())
        .map(|letter| letter.to_digit(16))
        .collect::<Option<_>>()?;
    if digits.is_empty() || !digits.len().is_multiple_of(2) || digits.len() > DECODED_BYTES_MAX * 2 {
        return None;
    }
    digits.chunks(2).map(|pair| u8::try_from(pair[0] * 16 + pair[1]).ok()).collect()
}

/// Decodes percent escapes.
pub(crate) fn decode_percent(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let pair = (bytes[at] == b'%').then(|| text.get(at + 1..at + 3)).flatten();
        if let Some(byte) = pair.and_then(|pair| u8::from_str_radix(pair, 16).ok()) {
            decoded.push(byte);
            at += 3;
        } else {
            decoded.push(bytes[at]);
            at += 1;
        }
    }
    decoded
}

/// Decompresses gzip, zlib or raw deflate, up to the limit.
pub(crate) fn inflate(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let limit = DECODED_BYTES_MAX as u64;
    let is_read = if bytes.starts_with(&[0x1f, 0x8b]) {
        flate2::read::GzDecoder::new(bytes).take(limit).read_to_end(&mut out).is_ok()
    } else {
        flate2::read::ZlibDecoder::new(bytes).take(limit).read_to_end(&mut out).is_ok()
    };
    (is_read && !out.is_empty()).then_some(out)
}

/// The bytes as text, if they are text without control characters.
pub(crate) fn readable(bytes: Vec<u8>) -> Option<String> {
    let bytes =
        if bytes.starts_with(&[0x1f, 0x8b]) || bytes.starts_with(&[0x78, 0x9c]) { inflate(&bytes)? } else { bytes };
    let text = if bytes.len() >= 4 && bytes.iter().skip(1).step_by(2).all(|byte| *byte == 0) {
        // What PowerShell's encoded commands contain.
        String::from_utf16_lossy(&bytes.chunks(2).map(|pair| u16::from(pair[0])).collect::<Vec<_>>())
    } else {
        String::from_utf8(bytes).ok()?
    };
    let is_text = text.chars().all(|letter| !letter.is_control() || matches!(letter, '\n' | '\r' | '\t'));
    (is_text && !text.trim().is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_decoded_and_rubbish_is_not() {
        assert_eq!(decode_base64("ZWNobyBoaQ==").as_deref(), Some(&b"echo hi"[..]));
        assert_eq!(decode_base64("ZWNobyBoaQ").as_deref(), Some(&b"echo hi"[..]));
        assert_eq!(decode_base64("***"), None);
        assert_eq!(decode_hex("6563 686f").as_deref(), Some(&b"echo"[..]));
        assert_eq!(decode_hex("zz"), None);
        assert_eq!(decode_percent("%41b%"), b"Ab%");
    }

    #[test]
    fn a_bomb_is_cut_off() {
        let mut packed = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut packed, &vec![b'a'; DECODED_BYTES_MAX * 3]).expect("memory can be written");
        let packed = packed.finish().expect("memory can be written");
        assert_eq!(inflate(&packed).map(|text| text.len()), Some(DECODED_BYTES_MAX));
    }
}
