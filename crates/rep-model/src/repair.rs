//! Lenient parsing of frontmatter with values that need quotes.
//!
//! The agentskills client guide asks loaders to retry a `key: value with: colon` by quoting the value. This module
//! quotes the offending top-level value and parses the text again. It returns the quoted values, so that they can be
//! reported to the author and fixed in the file.

use crate::Span;
use crate::yaml::{self, YamlDocument, YamlNode, YamlValue};

/// The maximum number of values to quote.
const ATTEMPTS_MAX: usize = 8;

/// A value that was parsed as if it were quoted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct QuotedValue {
    /// The key of the value.
    pub(crate) key: String,
    /// The location of the value in the file.
    pub(crate) span: Span,
    /// The quoted value.
    pub(crate) replacement: String,
    /// The syntax error that made the quotes necessary.
    pub(crate) problem: String,
}

impl QuotedValue {
    /// Whether the value starts as a flow list or mapping and has unbalanced brackets.
    pub(crate) fn lacks_bracket(&self) -> bool {
        let count = |bracket: char| self.replacement.matches(bracket).count();
        self.replacement.get(1..).is_some_and(|value| value.starts_with(['[', '{']))
            && (count('[') != count(']') || count('{') != count('}'))
    }
}

/// Parses `text` again with offending values quoted. Returns `None` if that does not help.
pub(crate) fn quote_broken_values(
    text: &str,
    base: usize,
    broken: &YamlDocument,
) -> Option<(YamlDocument, Vec<QuotedValue>)> {
    let mut quoted: Vec<QuotedValue> = Vec::new();
    let mut document = broken.clone();
    for _ in 0..ATTEMPTS_MAX {
        let (trouble, at) = match document.fatal_problem()?.clone() {
            (yaml::YamlProblem::Syntax(trouble), at) => (trouble, at),
            (yaml::YamlProblem::TabIndentation, at) => ("a tab in the indentation".to_owned(), at),
            _ => return None,
        };
        let repaired = apply_quotes(text, base, &quoted);
        let offset = map_offset_back(&repaired.moves, at.start - base);
        let next = find_broken_value(text, offset, &trouble, base, &quoted)?;
        quoted.push(next);
        quoted.sort_by_key(|value| value.span);
        let repaired = apply_quotes(text, base, &quoted);
        document = yaml::parse(&repaired.text, 0);
        if document.fatal_problem().is_none() {
            let place = |span: Span| {
                Span::new(
                    map_offset_back(&repaired.moves, span.start) + base,
                    map_offset_back(&repaired.moves, span.end) + base,
                )
            };
            if let Some(root) = &mut document.root {
                move_spans(root, &place);
            }
            for (_, span) in &mut document.problems {
                *span = place(*span);
            }
            for span in &mut document.comments {
                *span = place(*span);
            }
            return Some((document, quoted));
        }
        for (_, span) in &mut document.problems {
            *span = Span::new(span.start + base, span.end + base);
        }
    }
    None
}

/// Finds the value to quote: that of the top-level line at or above `offset`, unless it is already quoted.
fn find_broken_value(
    text: &str,
    offset: usize,
    trouble: &str,
    base: usize,
    quoted: &[QuotedValue],
) -> Option<QuotedValue> {
    let mut start = text[..floor_char_boundary(text, offset)].rfind('\n').map_or(0, |newline| newline + 1);
    loop {
        let line = text[start..].split('\n').next().unwrap_or("").trim_end_matches('\r');
        if let Some((key, at)) = split_key_and_value(line) {
            let mut end = start + line.len();
            // A plain value may continue on indented lines; quotes around all of it preserve the folding.
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
            return Some(QuotedValue {
                key: key.to_owned(),
                span,
                replacement: quote_value(value),
                problem: quoting_reason(value, trouble),
            });
        }
        if start == 0 {
            return None;
        }
        start = text[..start - 1].rfind('\n').map_or(0, |newline| newline + 1);
    }
}

/// Says why a value needs quotes; what the parser says where no common reason applies.
fn quoting_reason(value: &str, problem: &str) -> String {
    match value.chars().next() {
        Some('`') => "it starts with a backtick".to_owned(),
        Some(first @ ('@' | '%' | '&' | '*' | '!' | '|' | '>')) => format!("it starts with `{first}`"),
        Some('{' | '[') => problem.to_owned(),
        _ if value.contains(": ") => "it contains `: `".to_owned(),
        _ if value.ends_with(':') => "it ends with `:`".to_owned(),
        _ => problem.to_owned(),
    }
}

/// Quotes a value and preserves its line breaks, which fold inside quotes as they do outside.
fn quote_value(value: &str) -> String {
    if value.contains('\'') || value.contains('\n') {
        format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
    } else {
        format!("'{value}'")
    }
}

/// Splits a top-level line `key: value` whose value is neither quoted nor a block scalar.
fn split_key_and_value(line: &str) -> Option<(&str, usize)> {
    let (key, value) = line.split_once(": ")?;
    let is_key = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    let value_start = line.len() - value.trim_start().len();
    let value = value.trim();
    (is_key && !value.is_empty() && !value.starts_with(['"', '\'', '|', '>', '#'])).then_some((key, value_start))
}

struct RepairedText {
    text: String,
    /// The span of each quoted value: in the original, and in the repaired text.
    moves: Vec<(Span, Span)>,
}

fn apply_quotes(text: &str, base: usize, quoted: &[QuotedValue]) -> RepairedText {
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
    RepairedText { text: out, moves }
}

/// Maps an offset in the repaired text to the original text.
fn map_offset_back(moves: &[(Span, Span)], offset: usize) -> usize {
    let mut shift = 0_isize;
    for (original, repaired) in moves {
        if offset < repaired.start {
            break;
        }
        if offset == repaired.start {
            return original.start;
        }
        if offset < repaired.end {
            return original.end.min(original.start + (offset - repaired.start).saturating_sub(1));
        }
        shift = repaired.end.cast_signed() - original.end.cast_signed();
    }
    offset.saturating_add_signed(-shift)
}

fn move_spans(node: &mut YamlNode, place: &impl Fn(Span) -> Span) {
    node.span = place(node.span);
    match &mut node.value {
        YamlValue::Scalar { .. } => {}
        YamlValue::Sequence { items, .. } => items.iter_mut().for_each(|item| move_spans(item, place)),
        YamlValue::Mapping { entries, .. } => {
            for entry in entries {
                move_spans(&mut entry.key, place);
                move_spans(&mut entry.value, place);
            }
        }
    }
}

fn floor_char_boundary(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repair_text(text: &str) -> Option<(YamlNode, Vec<String>)> {
        let broken = yaml::parse(text, 7);
        assert!(broken.fatal_problem().is_some());
        let (document, quoted) = quote_broken_values(text, 7, &broken)?;
        Some((document.root.unwrap(), quoted.into_iter().map(|value| value.key).collect()))
    }

    #[test]
    fn a_colon_in_a_value_is_read_as_text_and_spans_stay_true() {
        let text = "name: a\ndescription: Use when: x\nlicense: MIT\n";
        let (root, keys) = repair_text(text).unwrap();
        assert_eq!(keys, ["description"]);
        let value = &root.find_entry("description").unwrap().value;
        assert_eq!(value.text(), Some("Use when: x"));
        assert_eq!(&text[value.span.start - 7..value.span.end - 7], "Use when: x");
        let license = root.find_entry("license").unwrap().value.span;
        assert_eq!(&text[license.start - 7..license.end - 7], "MIT");
    }

    #[test]
    fn two_bad_values_are_both_quoted() {
        let (root, keys) = repair_text("a: @x\nb: it's: y\n").unwrap();
        assert_eq!(keys, ["a", "b"]);
        assert_eq!(root.find_entry("b").unwrap().value.text(), Some("it's: y"));
    }

    #[test]
    fn what_quotes_cannot_mend_stays_broken() {
        assert_eq!(repair_text("a: 1\nsome words\nb: 2\n"), None);
        assert_eq!(repair_text("- @x\n"), None);
    }
}
