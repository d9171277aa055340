//! Text with byte spans, and the conversion of byte offsets to lines and columns.

use std::ops::Range;
use std::sync::OnceLock;

/// A half-open range of bytes in one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// Creates a span of the bytes `start..end`.
    pub const fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// Creates an empty span before the byte `at`.
    pub const fn empty_at(at: usize) -> Self {
        Self { start: at, end: at }
    }

    /// Returns the span as a range, for slicing.
    pub const fn range(self) -> Range<usize> {
        self.start..self.end
    }

    /// Whether the span contains `offset`.
    pub const fn contains(self, offset: usize) -> bool {
        self.start <= offset && offset < self.end
    }
}

/// A position in a text. Both numbers start at one, and columns count code points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column, in code points.
    pub column: usize,
}

/// The offset up to which lines are counted each time instead of indexed.
const COUNTED_BYTES_MAX: usize = 1024;

/// The text of a file.
#[derive(Clone, Debug, Default)]
pub struct SourceText {
    text: String,
    /// The start of each line, computed on first use because a report needs thousands of positions.
    lines: OnceLock<Vec<usize>>,
}

impl PartialEq for SourceText {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for SourceText {}

impl SourceText {
    /// Wraps a text.
    pub fn new(text: String) -> Self {
        Self { text, lines: OnceLock::new() }
    }

    /// Returns the whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the text of a span, or an empty text if the span is out of range.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or("")
    }

    /// Returns the position of a byte. An offset inside a character is rounded down, and one past the end is clamped.
    pub fn position_at(&self, offset: usize) -> Position {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let (line, line_start) = self.find_line(offset);
        Position { line, column: self.text[line_start..offset].chars().count() + 1 }
    }

    /// Returns the number and the start of the line that contains `offset`.
    fn find_line(&self, offset: usize) -> (usize, usize) {
        // Most positions are in the frontmatter, where counting the lines before one is faster than indexing the file.
        if offset <= COUNTED_BYTES_MAX && self.lines.get().is_none() {
            let before = &self.text[..offset];
            let newlines = before.matches('\n').count();
            let start = before.rfind('\n').map_or(0, |newline| newline + 1);
            return (newlines + 1, start);
        }
        let lines = self.lines.get_or_init(|| {
            [0].into_iter().chain(self.text.match_indices('\n').map(|(newline, _)| newline + 1)).collect()
        });
        let line = lines.partition_point(|start| *start <= offset);
        (line, lines[line - 1])
    }

    /// Returns the start and the text of the line that contains `offset`, without its line ending.
    pub fn line_at(&self, offset: usize) -> (usize, &str) {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let start = self.text[..offset].rfind('\n').map_or(0, |newline| newline + 1);
        let end = self.text[offset..].find('\n').map_or(self.text.len(), |newline| offset + newline);
        (start, self.text[start..end].trim_end_matches('\r'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_code_points_and_lines_count_newlines() {
        let source = SourceText::new("ab\r\né😀x\n".to_owned());
        assert_eq!(source.position_at(0), Position { line: 1, column: 1 });
        assert_eq!(source.position_at(10), Position { line: 2, column: 3 });
        assert_eq!(source.line_at(5), (4, "é😀x"));
        assert_eq!(source.position_at(999).line, 3);
    }

    #[test]
    fn near_and_far_places_are_counted_alike() {
        let source = SourceText::new("one\n\ntwo ü\n".repeat(200));
        let near: Vec<Position> = (0..COUNTED_BYTES_MAX).map(|offset| source.position_at(offset)).collect();
        assert_eq!(source.position_at(source.text().len()).line, 601);
        let far: Vec<Position> = (0..COUNTED_BYTES_MAX).map(|offset| source.position_at(offset)).collect();
        assert_eq!(near, far, "once all lines are known, they are looked up");
    }
}
