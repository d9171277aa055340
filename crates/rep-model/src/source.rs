//! Text with byte spans, and where a byte stands for a person: line and column.

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
    /// Makes a span of the bytes `start..end`.
    pub const fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// Makes an empty span before the byte `at`.
    pub const fn at(at: usize) -> Self {
        Self { start: at, end: at }
    }

    /// The span as a range, for slicing.
    pub const fn range(self) -> Range<usize> {
        self.start..self.end
    }

    /// Whether `offset` lies inside.
    pub const fn contains(self, offset: usize) -> bool {
        self.start <= offset && offset < self.end
    }
}

/// Where a byte stands: both numbers count from one, columns count code points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column, in code points.
    pub column: usize,
}

/// How far from the beginning lines are counted anew each time.
const NEAR_BYTES: usize = 1024;

/// The text of one file, as it was read.
#[derive(Clone, Debug, Default)]
pub struct Source {
    text: String,
    /// Where each line starts, worked out on first use: a report asks for thousands of positions.
    lines: OnceLock<Vec<usize>>,
}

impl PartialEq for Source {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Source {}

impl Source {
    /// Wraps a text.
    pub fn new(text: String) -> Self {
        Self { text, lines: OnceLock::new() }
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text of a span; empty where the span does not fit the text.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or("")
    }

    /// Where a byte stands. An offset inside a character counts as its start, one past the end as the end.
    pub fn position(&self, offset: usize) -> Position {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let (line, line_start) = self.line(offset);
        Position { line, column: self.text[line_start..offset].chars().count() + 1 }
    }

    /// The number of the line that holds `offset`, and where it starts.
    fn line(&self, offset: usize) -> (usize, usize) {
        // Most places are in the frontmatter: to count the lines before one is less work than to find all lines of the file.
        if offset <= NEAR_BYTES && self.lines.get().is_none() {
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

    /// The line that holds `offset`, without its line end, and the offset at which it starts.
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
        let source = Source::new("ab\r\né😀x\n".to_owned());
        assert_eq!(source.position(0), Position { line: 1, column: 1 });
        assert_eq!(source.position(10), Position { line: 2, column: 3 });
        assert_eq!(source.line_at(5), (4, "é😀x"));
        assert_eq!(source.position(999).line, 3);
    }

    #[test]
    fn near_and_far_places_are_counted_alike() {
        let source = Source::new("one\n\ntwo ü\n".repeat(200));
        let near: Vec<Position> = (0..NEAR_BYTES).map(|offset| source.position(offset)).collect();
        assert_eq!(source.position(source.text().len()).line, 601);
        let far: Vec<Position> = (0..NEAR_BYTES).map(|offset| source.position(offset)).collect();
        assert_eq!(near, far, "once all lines are known, they are looked up");
    }
}
