//! Positions of the protocol and byte offsets, in the three encodings.
//!
//! A line ends with `\n`, `\r\n` or `\r`. A position behind the end of its line is the end of that line, one behind the
//! last line is the end of the text, and one inside a character is its start.

use serde_json::{Value, json};

/// The unit in which the columns of positions are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PositionEncoding {
    /// Bytes.
    Utf8,
    /// UTF-16 code units, which every client supports.
    Utf16,
    /// Code points.
    Utf32,
}

impl PositionEncoding {
    /// The encodings in the order of preference.
    pub(crate) const ALL: [Self; 3] = [Self::Utf8, Self::Utf32, Self::Utf16];

    /// Returns the name in the protocol.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "utf-8",
            Self::Utf16 => "utf-16",
            Self::Utf32 => "utf-32",
        }
    }

    /// Returns the length of a character.
    fn char_length(self, letter: char) -> usize {
        match self {
            Self::Utf8 => letter.len_utf8(),
            Self::Utf16 => letter.len_utf16(),
            Self::Utf32 => 1,
        }
    }

    /// Returns the length of a text.
    pub(crate) fn text_length(self, text: &str) -> usize {
        match self {
            Self::Utf8 => text.len(),
            Self::Utf16 | Self::Utf32 => text.chars().map(|letter| self.char_length(letter)).sum(),
        }
    }
}

/// A position of the protocol. Both numbers start at zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LspPosition {
    /// The line.
    pub line: u32,
    /// The column, in the units of the encoding.
    pub character: u32,
}

impl LspPosition {
    /// Reads a position. Numbers that are too large are clamped.
    pub(crate) fn from_json(value: &Value) -> Option<Self> {
        let number = |key: &str| Some(u32::try_from(value.get(key)?.as_u64()?).unwrap_or(u32::MAX));
        Some(Self { line: number("line")?, character: number("character")? })
    }

    /// Returns the position as JSON.
    pub(crate) fn to_json(self) -> Value {
        json!({ "line": self.line, "character": self.character })
    }
}

/// The starts of the lines of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LineIndex {
    starts: Vec<usize>,
}

impl LineIndex {
    /// Finds the lines of a text.
    pub(crate) fn new(text: &str) -> Self {
        let mut index = Self { starts: vec![0] };
        index.scan(text, 0);
        index
    }

    /// Updates the index after the text changed at or behind `from`.
    pub(crate) fn update(&mut self, text: &str, from: usize) {
        // The line before can end with the `\r` of a new `\r\n`.
        let line = self.starts.partition_point(|start| *start <= from).saturating_sub(2);
        let start = self.starts[line];
        self.starts.truncate(line + 1);
        self.scan(text, start);
    }

    fn scan(&mut self, text: &str, from: usize) {
        let bytes = text.as_bytes();
        for (at, byte) in bytes.iter().enumerate().skip(from) {
            let is_end = *byte == b'\n' || (*byte == b'\r' && bytes.get(at + 1) != Some(&b'\n'));
            if is_end {
                self.starts.push(at + 1);
            }
        }
    }

    /// Returns the number of lines.
    #[cfg(test)]
    fn line_count(&self) -> usize {
        self.starts.len()
    }

    /// Returns the number of the line that contains an offset.
    pub(crate) fn line_of(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset) - 1
    }

    /// Returns the start of a line and its end, without the line ending. A line behind the last one is empty.
    pub(crate) fn line_range(&self, text: &str, line: usize) -> (usize, usize) {
        let Some(&start) = self.starts.get(line) else { return (text.len(), text.len()) };
        let next = self.starts.get(line + 1).copied().unwrap_or(text.len());
        (start, start + text[start..next].trim_end_matches(['\r', '\n']).len())
    }

    /// Returns the offset of a position.
    pub(crate) fn offset_at(&self, text: &str, position: LspPosition, encoding: PositionEncoding) -> usize {
        let (start, end) = self.line_range(text, position.line as usize);
        let wanted = position.character as usize;
        let mut column = 0;
        for (at, letter) in text[start..end].char_indices() {
            let next = column + encoding.char_length(letter);
            if wanted < next {
                return start + at;
            }
            column = next;
        }
        end
    }

    /// Returns the position of an offset.
    pub(crate) fn position_at(&self, text: &str, offset: usize, encoding: PositionEncoding) -> LspPosition {
        let mut offset = offset.min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.line_of(offset);
        let (start, end) = self.line_range(text, line);
        let column = encoding.text_length(&text[start..offset.min(end)]);
        let clamp = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        LspPosition { line: clamp(line), character: clamp(column) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(line: u32, character: u32) -> LspPosition {
        LspPosition { line, character }
    }

    #[test]
    fn columns_count_units_of_the_encoding() {
        let text = "\u{feff}é😀x\n";
        let lines = LineIndex::new(text);
        for (encoding, columns) in [
            (PositionEncoding::Utf8, [0, 3, 5, 9, 10]),
            (PositionEncoding::Utf16, [0, 1, 2, 4, 5]),
            (PositionEncoding::Utf32, [0, 1, 2, 3, 4]),
        ] {
            for (offset, column) in [0, 3, 5, 9, 10].into_iter().zip(columns) {
                assert_eq!(lines.position_at(text, offset, encoding), position(0, column), "{encoding:?}");
                assert_eq!(lines.offset_at(text, position(0, column), encoding), offset, "{encoding:?}");
            }
        }
        assert_eq!(lines.offset_at(text, position(0, 3), PositionEncoding::Utf16), 5, "inside a surrogate pair");
    }

    #[test]
    fn lines_end_as_the_protocol_says() {
        let text = "a\r\nb\rc\n\nd";
        let lines = LineIndex::new(text);
        let starts: Vec<usize> = (0..lines.line_count()).map(|line| lines.line_range(text, line).0).collect();
        assert_eq!(starts, [0, 3, 5, 7, 8]);
        assert_eq!(lines.offset_at(text, position(0, 99), PositionEncoding::Utf16), 1, "before the line ending");
        assert_eq!(lines.offset_at(text, position(99, 0), PositionEncoding::Utf16), text.len());
        assert_eq!(lines.position_at(text, 2, PositionEncoding::Utf16), position(0, 1), "inside a line ending");
    }

    #[test]
    fn an_updated_index_equals_a_new_one() {
        let mut text = "one\rtwo\r\nthree\n".to_owned();
        let mut lines = LineIndex::new(&text);
        for (at, insert) in [(4, "\n"), (0, "\r"), (1, "\n"), (9, "x\r"), (3, "\r\n\r")] {
            text.insert_str(at, insert);
            lines.update(&text, at);
            assert_eq!(lines, LineIndex::new(&text), "{text:?}");
        }
    }
}
