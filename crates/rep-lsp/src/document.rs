//! An open document, as the client edits it.

use std::sync::Arc;

use serde_json::Value;

use crate::position::{LineIndex, LspPosition, PositionEncoding};

/// The maximum length of a document. Longer ones are treated as unreadable, as on disk.
pub(crate) const DOCUMENT_BYTES_MAX: usize = 64 * 1024 * 1024;

/// An open document.
#[derive(Clone, Debug)]
pub(crate) struct OpenDocument {
    /// The URI, as the client writes it.
    pub uri: String,
    /// The version, as the client counts it.
    pub version: i64,
    /// The text.
    pub text: Arc<str>,
    /// The lines of the text.
    pub lines: LineIndex,
}

impl OpenDocument {
    /// Creates a document.
    pub(crate) fn new(uri: &str, version: i64, text: &str) -> Self {
        Self { uri: uri.to_owned(), version, text: text.into(), lines: LineIndex::new(text) }
    }

    /// Applies the changes of a notification, in order. A change without a text is skipped.
    pub(crate) fn apply_changes(&mut self, changes: &[Value], encoding: PositionEncoding) {
        let mut text = String::from(&*self.text);
        for change in changes {
            let Some(new_text) = change.get("text").and_then(Value::as_str) else { continue };
            let range = change.get("range").and_then(|range| {
                Some((LspPosition::from_json(range.get("start")?)?, LspPosition::from_json(range.get("end")?)?))
            });
            let (start, end) = match range {
                None if change.get("range").is_some_and(|range| !range.is_null()) => continue,
                None => (0, text.len()),
                Some((start, end)) => {
                    let start = self.lines.offset_at(&text, start, encoding);
                    let end = self.lines.offset_at(&text, end, encoding);
                    (start.min(end), start.max(end))
                }
            };
            if text.len() - (end - start) + new_text.len() > DOCUMENT_BYTES_MAX {
                continue;
            }
            text.replace_range(start..end, new_text);
            self.lines.update(&text, start);
        }
        self.text = text.into();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn edited(text: &str, changes: &[Value], encoding: PositionEncoding) -> String {
        let mut document = OpenDocument::new("file:///x", 1, text);
        document.apply_changes(changes, encoding);
        assert_eq!(document.lines, LineIndex::new(&document.text));
        document.text.to_string()
    }

    fn change(start: (u32, u32), end: (u32, u32), text: &str) -> Value {
        let position = |(line, character): (u32, u32)| json!({ "line": line, "character": character });
        json!({ "range": { "start": position(start), "end": position(end) }, "text": text })
    }

    #[test]
    fn changes_apply_in_order() {
        let changes = [change((0, 1), (0, 2), "XY"), change((0, 3), (1, 0), ""), change((0, 0), (0, 0), "\n")];
        assert_eq!(edited("abc\ndef\n", &changes, PositionEncoding::Utf16), "\naXYdef\n");
        assert_eq!(edited("abc", &[json!({ "text": "new" })], PositionEncoding::Utf16), "new");
    }

    #[test]
    fn columns_are_those_of_the_encoding() {
        for (encoding, column) in
            [(PositionEncoding::Utf8, 4), (PositionEncoding::Utf16, 2), (PositionEncoding::Utf32, 1)]
        {
            let insert = change((0, column), (0, column), "|");
            assert_eq!(edited("😀x", &[insert], encoding), "😀|x");
        }
    }

    #[test]
    fn bad_ranges_are_clamped_or_skipped() {
        let far = change((9, 9), (99, 99), "!");
        assert_eq!(edited("a\n", &[far], PositionEncoding::Utf16), "a\n!");
        let reversed = change((0, 2), (0, 1), "-");
        assert_eq!(edited("abc", &[reversed], PositionEncoding::Utf16), "a-c");
        for bad in [json!({}), json!({ "range": 3, "text": "x" }), json!({ "range": { "start": {} }, "text": "x" })] {
            assert_eq!(edited("abc", &[bad], PositionEncoding::Utf16), "abc");
        }
    }
}
