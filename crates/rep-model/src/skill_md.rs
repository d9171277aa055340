//! SKILL.md cut into frontmatter and body.
//!
//! A fence is a line that is exactly `---`, blanks after it allowed. The reference tool cuts
//! at the first `---` wherever it stands; the specification means lines, and so do we.

use crate::Span;

/// Where the parts of a SKILL.md are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    /// The length of a byte order mark at the start: 0 or 3.
    pub mark: usize,
    /// The text between the fences.
    pub front: Span,
    /// Everything after the closing fence's line.
    pub body: Span,
}

/// Why a SKILL.md has no frontmatter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfenced {
    /// The first line is not a fence. Holds the line to point at.
    NoOpening(Span),
    /// No later line is a fence. Holds the opening fence.
    NoClosing(Span),
}

/// Finds the parts. Without fences the whole text is body.
pub fn split(text: &str) -> Result<Parts, Unfenced> {
    let mark = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let (first, mut at) = line(text, mark);
    if !is_fence(&text[first.range()]) {
        return Err(Unfenced::NoOpening(first));
    }
    let start = at;
    while at < text.len() {
        let (span, next) = line(text, at);
        if is_fence(&text[span.range()]) {
            return Ok(Parts { mark, front: Span::new(start, at), body: Span::new(next, text.len()) });
        }
        at = next;
    }
    Err(Unfenced::NoClosing(first))
}

/// The line that starts at `start`, without its line end, and where the next one starts.
fn line(text: &str, start: usize) -> (Span, usize) {
    let rest = &text[start..];
    let end = rest.find('\n').map_or(rest.len(), |newline| newline);
    let next = (start + end + 1).min(text.len());
    let content = rest[..end].trim_end_matches('\r').len();
    (Span::new(start, start + content), next)
}

fn is_fence(line: &str) -> bool {
    line.strip_prefix("---").is_some_and(|rest| rest.bytes().all(|byte| byte == b' ' || byte == b'\t'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> (&str, &str) {
        let parts = split(text).unwrap();
        (&text[parts.front.range()], &text[parts.body.range()])
    }

    #[test]
    fn fences_are_whole_lines() {
        assert_eq!(parts("---\na: x---y\n---\nbody\n---\n"), ("a: x---y\n", "body\n---\n"));
        assert_eq!(parts("---  \r\na: 1\r\n--- \t\r\nb"), ("a: 1\r\n", "b"));
        assert_eq!(parts("---\na: 1\n---"), ("a: 1\n", ""));
        assert_eq!(parts("\u{feff}---\n---\n"), ("", ""));
    }

    #[test]
    fn longer_or_indented_dashes_are_no_fence() {
        assert_eq!(split("---\na: 1\n----\n"), Err(Unfenced::NoClosing(Span::new(0, 3))));
        assert_eq!(split("---\na: 1\n  ---\n"), Err(Unfenced::NoClosing(Span::new(0, 3))));
        assert_eq!(split("---name: x\n---\n"), Err(Unfenced::NoOpening(Span::new(0, 10))));
        assert_eq!(split("\n---\n"), Err(Unfenced::NoOpening(Span::new(0, 0))));
        assert_eq!(split(""), Err(Unfenced::NoOpening(Span::new(0, 0))));
    }
}
