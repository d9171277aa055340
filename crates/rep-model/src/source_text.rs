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

/// The distance of the places in long lines up to which characters are counted once.
const CHECKPOINT_BYTES: usize = 4096;

/// The text of a file.
#[derive(Clone, Debug, Default)]
pub struct SourceText {
    text: String,
    /// The start of each line, computed on first use because a report needs thousands of positions.
    lines: OnceLock<Vec<usize>>,
    /// The number of characters before each [`CHECKPOINT_BYTES`], computed for the first long line.
    checkpoints: OnceLock<Vec<usize>>,
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
        Self { text, lines: OnceLock::new(), checkpoints: OnceLock::new() }
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
        let characters = if offset - line_start <= CHECKPOINT_BYTES {
            count_characters(&self.text.as_bytes()[line_start..offset])
        } else {
            self.characters_before(offset) - self.characters_before(line_start)
        };
        Position { line, column: characters + 1 }
    }

    /// Returns the number of characters before an offset. The cost does not depend on the offset.
    fn characters_before(&self, offset: usize) -> usize {
        let bytes = self.text.as_bytes();
        let checkpoints = self.checkpoints.get_or_init(|| {
            let count = |total: &mut usize, part: &[u8]| {
                let before = *total;
                *total += count_characters(part);
                Some(before)
            };
            bytes.chunks(CHECKPOINT_BYTES).scan(0, count).collect()
        });
        let whole = (offset / CHECKPOINT_BYTES).min(checkpoints.len().saturating_sub(1));
        let before = checkpoints.get(whole).copied().unwrap_or_default();
        before + count_characters(&bytes[whole * CHECKPOINT_BYTES..offset])
    }

    /// Returns the part of a line that starts `before` characters before an offset, at most `characters_max` long and
    /// without the line ending.
    pub fn excerpt_at(&self, offset: usize, before: usize, characters_max: usize) -> &str {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.find_line(offset).1;
        let back = self.text[line..offset].char_indices().rev().take(before).last();
        let start = back.map_or(offset, |(at, _)| line + at);
        let rest = &self.text[start..];
        let is_end = |(count, (_, letter)): &(usize, (usize, char))| *count == characters_max || *letter == '\n';
        let end = rest.char_indices().enumerate().find(is_end).map_or(rest.len(), |(_, (at, _))| at);
        rest[..end].trim_end_matches('\r')
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

/// Counts characters by their first bytes. The bytes may start or end inside a character.
fn count_characters(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte & 0xC0 != 0x80).count()
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
    fn places_in_long_lines_are_counted_in_characters() {
        let line = "ü😀x".repeat(3_000);
        let source = SourceText::new(format!("first\n{line}\r\nlast\n"));
        for (offset, letter) in source.text().char_indices().skip(6).take(9_000) {
            let column = line[..offset - 6].chars().count() + 1;
            if column.is_multiple_of(97) {
                assert_eq!(source.position_at(offset), Position { line: 2, column }, "{letter}");
            }
        }
        let end = 6 + line.len();
        assert_eq!(source.position_at(end).column, 9_001);
        assert_eq!(source.excerpt_at(end, 3, 400), "ü😀x");
        assert_eq!(source.excerpt_at(6, 10, 2), "ü😀");
        assert_eq!((source.excerpt_at(0, 0, 400), source.excerpt_at(999_999, 0, 9)), ("first", ""));
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
