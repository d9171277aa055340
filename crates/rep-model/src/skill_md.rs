//! Splits a SKILL.md into frontmatter and body.
//!
//! A fence is a line that is exactly `---`, optionally followed by whitespace. The reference tool splits at the first
//! `---` anywhere in the text, but the specification describes lines.

use crate::Span;

/// The location of the parts of a SKILL.md.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SkillMdParts {
    /// The length of a byte order mark at the start: 0 or 3.
    pub mark_bytes: usize,
    /// The text between the fences.
    pub front: Span,
    /// Everything after the line of the closing fence.
    pub body: Span,
}

/// The reason why a SKILL.md has no frontmatter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrontmatterFenceError {
    /// The first line is not a fence. Contains the location of that line.
    NoOpening(Span),
    /// No later line is a fence. Contains the location of the opening fence.
    NoClosing(Span),
}

/// Finds the parts.
pub fn split_frontmatter(text: &str) -> Result<SkillMdParts, FrontmatterFenceError> {
    let mark = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let (first, mut at) = find_line(text, mark);
    if !is_fence_line(&text[first.range()]) {
        return Err(FrontmatterFenceError::NoOpening(first));
    }
    let start = at;
    while at < text.len() {
        let (span, next) = find_line(text, at);
        if is_fence_line(&text[span.range()]) {
            return Ok(SkillMdParts {
                mark_bytes: mark,
                front: Span::new(start, at),
                body: Span::new(next, text.len()),
            });
        }
        at = next;
    }
    Err(FrontmatterFenceError::NoClosing(first))
}

/// Returns the line that starts at `start`, without its line ending, and the start of the next line.
fn find_line(text: &str, start: usize) -> (Span, usize) {
    let rest = &text[start..];
    let end = rest.find('\n').map_or(rest.len(), |newline| newline);
    let next = (start + end + 1).min(text.len());
    let content = rest[..end].trim_end_matches('\r').len();
    (Span::new(start, start + content), next)
}

fn is_fence_line(line: &str) -> bool {
    line.strip_prefix("---").is_some_and(|rest| rest.bytes().all(|byte| byte == b' ' || byte == b'\t'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> (&str, &str) {
        let parts = split_frontmatter(text).unwrap();
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
        assert_eq!(split_frontmatter("---\na: 1\n----\n"), Err(FrontmatterFenceError::NoClosing(Span::new(0, 3))));
        assert_eq!(split_frontmatter("---\na: 1\n  ---\n"), Err(FrontmatterFenceError::NoClosing(Span::new(0, 3))));
        assert_eq!(split_frontmatter("---name: x\n---\n"), Err(FrontmatterFenceError::NoOpening(Span::new(0, 10))));
        assert_eq!(split_frontmatter("\n---\n"), Err(FrontmatterFenceError::NoOpening(Span::new(0, 0))));
        assert_eq!(split_frontmatter(""), Err(FrontmatterFenceError::NoOpening(Span::new(0, 0))));
    }
}
