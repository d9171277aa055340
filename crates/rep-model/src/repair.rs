//! The lenient reading of frontmatter whose values want quotes.
//!
//! The agentskills client guide asks loaders to retry a `key: value with: colon` by quoting
//! the value. Here the offending top-level value is quoted and the whole is read again; what
//! was quoted is returned, so that the author can be told and the file mended.

use crate::Span;
use crate::yaml::{self, Document, Node, Value};

/// How many values are quoted before giving up.
const ATTEMPTS_MAX: usize = 8;

/// A value that was read as if quoted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Quoted {
    /// The key it belongs to.
    pub(crate) key: String,
    /// Where the value stands in the file.
    pub(crate) span: Span,
    /// What should stand there.
    pub(crate) replacement: String,
    /// The trouble that made it necessary.
    pub(crate) trouble: String,
}

impl Quoted {
    /// Whether the value starts as a list or mapping in brackets and has more of one bracket than of its partner.
    pub(crate) fn lacks_bracket(&self) -> bool {
        let count = |bracket: char| self.replacement.matches(bracket).count();
        self.replacement.get(1..).is_some_and(|value| value.starts_with(['[', '{']))
            && (count('[') != count(']') || count('{') != count('}'))
    }
}

/// Reads `text` again with offending values quoted. `None` when that does not help.
pub(crate) fn repair(text: &str, base: usize, broken: &Document) -> Option<(Document, Vec<Quoted>)> {
    let mut quoted: Vec<Quoted> = Vec::new();
    let mut document = broken.clone();
    for _ in 0..ATTEMPTS_MAX {
        let (yaml::Trouble::Syntax(trouble), at) = document.fatal()?.clone() else { return None };
        let mended = apply(text, base, &quoted);
        let offset = back(&mended.moves, at.start - base);
        let next = offending(text, offset, &trouble, base, &quoted)?;
        quoted.push(next);
        quoted.sort_by_key(|value| value.span);
        let mended = apply(text, base, &quoted);
        document = yaml::parse(&mended.text, 0);
        if document.fatal().is_none() {
            let place =
                |span: Span| Span::new(back(&mended.moves, span.start) + base, back(&mended.moves, span.end) + base);
            if let Some(root) = &mut document.root {
                move_spans(root, &place);
            }
            for (_, span) in &mut document.troubles {
                *span = place(*span);
            }
            for span in &mut document.comments {
                *span = place(*span);
            }
            return Some((document, quoted));
        }
        for (_, span) in &mut document.troubles {
            *span = Span::new(span.start + base, span.end + base);
        }
    }
    None
}

/// The value of the top-level line at or above `offset` that can be quoted and is not yet.
fn offending(text: &str, offset: usize, trouble: &str, base: usize, quoted: &[Quoted]) -> Option<Quoted> {
    let mut start = text[..floor(text, offset)].rfind('\n').map_or(0, |newline| newline + 1);
    loop {
        let line = text[start..].split('\n').next().unwrap_or("").trim_end_matches('\r');
        if let Some((key, at)) = key_and_value(line) {
            let mut end = start + line.len();
            // A plain value may go on in indented lines; quotes around all of it keep the folding.
            let mut next = text[end..].find('\n').map(|newline| end + newline + 1);
            while let Some(from) = next {
                let line = text[from..].split('\n').next().unwrap_or("").trim_end_matches('\r');
                if !line.starts_with([' ', '\t']) || line.trim().is_empty() {
                    break;
                }
                end = from + line.len();
                next = text[end..].find('\n').map(|newline| end + newline + 1);
            }
            let value = text[start + at..end].trim_end();
            let span = Span::new(start + at + base, start + at + value.len() + base);
            if quoted.iter().any(|done| done.span == span) {
                return None;
            }
            return Some(Quoted { key: key.to_owned(), span, replacement: wrap(value), trouble: trouble.to_owned() });
        }
        if start == 0 {
            return None;
        }
        start = text[..start - 1].rfind('\n').map_or(0, |newline| newline + 1);
    }
}

/// Quotes a value, keeping its line breaks, which fold inside quotes as they do outside.
fn wrap(value: &str) -> String {
    if value.contains('\'') || value.contains('\n') {
        format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
    } else {
        format!("'{value}'")
    }
}

/// A line `key: value` at the left margin whose value is not quoted and not a block scalar.
fn key_and_value(line: &str) -> Option<(&str, usize)> {
    let (key, value) = line.split_once(": ")?;
    let is_key = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    let value_start = line.len() - value.trim_start().len();
    let value = value.trim();
    (is_key && !value.is_empty() && !value.starts_with(['"', '\'', '|', '>', '#'])).then_some((key, value_start))
}

struct Mended {
    text: String,
    /// Start and end of each quoted value: in the original, then in the mended text.
    moves: Vec<(Span, Span)>,
}

fn apply(text: &str, base: usize, quoted: &[Quoted]) -> Mended {
    let mut out = String::with_capacity(text.len() + 2 * quoted.len());
    let mut moves = Vec::new();
    let mut from = 0;
    for value in quoted {
        let original = Span::new(value.span.start - base, value.span.end - base);
        out.push_str(&text[from..original.start]);
        let start = out.len();
        out.push_str(&value.replacement);
        moves.push((original, Span::new(start, out.len())));
        from = original.end;
    }
    out.push_str(&text[from..]);
    Mended { text: out, moves }
}

/// Where an offset of the mended text lies in the original.
fn back(moves: &[(Span, Span)], offset: usize) -> usize {
    let mut shift = 0_isize;
    for (original, mended) in moves {
        if offset < mended.start {
            break;
        }
        if offset == mended.start {
            return original.start;
        }
        if offset < mended.end {
            return original.end.min(original.start + (offset - mended.start).saturating_sub(1));
        }
        shift = mended.end.cast_signed() - original.end.cast_signed();
    }
    offset.saturating_add_signed(-shift)
}

fn move_spans(node: &mut Node, place: &impl Fn(Span) -> Span) {
    node.span = place(node.span);
    match &mut node.value {
        Value::Scalar { .. } => {}
        Value::Sequence { items, .. } => items.iter_mut().for_each(|item| move_spans(item, place)),
        Value::Mapping { entries, .. } => {
            for entry in entries {
                move_spans(&mut entry.key, place);
                move_spans(&mut entry.value, place);
            }
        }
    }
}

fn floor(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mend(text: &str) -> Option<(Node, Vec<String>)> {
        let broken = yaml::parse(text, 7);
        assert!(broken.fatal().is_some());
        let (document, quoted) = repair(text, 7, &broken)?;
        Some((document.root.unwrap(), quoted.into_iter().map(|value| value.key).collect()))
    }

    #[test]
    fn a_colon_in_a_value_is_read_as_text_and_spans_stay_true() {
        let text = "name: a\ndescription: Use when: x\nlicense: MIT\n";
        let (root, keys) = mend(text).unwrap();
        assert_eq!(keys, ["description"]);
        let value = &root.entry("description").unwrap().value;
        assert_eq!(value.text(), Some("Use when: x"));
        assert_eq!(&text[value.span.start - 7..value.span.end - 7], "Use when: x");
        let license = root.entry("license").unwrap().value.span;
        assert_eq!(&text[license.start - 7..license.end - 7], "MIT");
    }

    #[test]
    fn two_bad_values_are_both_quoted() {
        let (root, keys) = mend("a: @x\nb: it's: y\n").unwrap();
        assert_eq!(keys, ["a", "b"]);
        assert_eq!(root.entry("b").unwrap().value.text(), Some("it's: y"));
    }

    #[test]
    fn what_quotes_cannot_mend_stays_broken() {
        assert_eq!(mend("a: 1\nsome words\nb: 2\n"), None);
        assert_eq!(mend("- @x\n"), None);
    }
}
