//! Formatting of frontmatter and UASP files, where nothing but space between words changes.
//!
//! Spaces at the ends of lines, between a key and its value, and repeated empty lines are removed. Comments, the order
//! of fields, quotes and texts of several lines stay as they are. If the result would parse to other values, nothing
//! is changed.

use rep_model::Span;
use rep_model::yaml::{self, YamlNode, YamlScalarStyle, YamlValue};
use serde_json::{Value, json};

use crate::edits::minimal_edits;
use crate::session::Session;
use crate::view::{DocumentKind, DocumentView};

impl Session {
    /// Answers `textDocument/formatting`.
    pub(crate) fn format_document(&mut self, params: &Value) -> Option<Value> {
        let view = self.view(params)?;
        let span = find_formatted(&view)?;
        let before = view.slice(span);
        let after = format_yaml(before)?;
        let edits = minimal_edits(before, &after).into_iter().map(|(part, new)| {
            let range = view.range(Span::new(span.start + part.start, span.start + part.end));
            json!({ "range": range, "newText": new })
        });
        Some(edits.collect())
    }
}

/// Returns the location of the YAML text.
fn find_formatted(view: &DocumentView) -> Option<Span> {
    match view.kind {
        DocumentKind::Manifest => Some(view.manifest()?.parts?.front),
        DocumentKind::Uasp => {
            let mark = if view.text.starts_with('\u{feff}') { 3 } else { 0 };
            Some(Span::new(mark, view.text.len()))
        }
        DocumentKind::ToolsJson | DocumentKind::Markdown | DocumentKind::Other => None,
    }
}

/// Formats a YAML text. Returns `None` if it does not parse, or if the result would not mean the same.
fn format_yaml(text: &str) -> Option<String> {
    let document = yaml::parse(text, 0);
    let root = document.root.as_ref().filter(|_| document.problems.is_empty())?;
    let mut texts = Vec::new();
    list_multiline(root, text, &mut texts);
    let mut out = String::with_capacity(text.len());
    let mut start = 0;
    let mut was_empty = true;
    for line in text.split_inclusive('\n') {
        let span = Span::new(start, start + line.len());
        start += line.len();
        if texts.iter().any(|kept| kept.start < span.end && span.start < kept.end) {
            out.push_str(line);
            was_empty = false;
            continue;
        }
        let end = if line.ends_with("\r\n") {
            "\r\n"
        } else if line.ends_with('\n') {
            "\n"
        } else {
            ""
        };
        let content = line.trim_end();
        if content.is_empty() && was_empty {
            continue;
        }
        was_empty = content.is_empty();
        out.push_str(&space_key(content));
        out.push_str(end);
    }
    is_same(text, &out).then_some(out)
}

/// Writes one space between a key and its value.
fn space_key(line: &str) -> String {
    let Some(colon) = line.find(": ") else { return line.to_owned() };
    let (key, value) = line.split_at(colon + 1);
    let value = value.trim_start();
    // Space before a comment aligns it.
    if key.contains(['"', '\'', '#', '{', '[']) || value.starts_with('#') {
        return line.to_owned();
    }
    format!("{key} {value}")
}

/// Lists the scalars of several lines, with their whole lines.
fn list_multiline(node: &YamlNode, text: &str, spans: &mut Vec<Span>) {
    match &node.value {
        YamlValue::Scalar { style, .. } => {
            let is_block = matches!(style, YamlScalarStyle::Literal | YamlScalarStyle::Folded);
            if is_block || text.get(node.span.range()).is_some_and(|source| source.contains('\n')) {
                spans.push(node.span);
            }
        }
        YamlValue::Sequence { items, .. } => items.iter().for_each(|item| list_multiline(item, text, spans)),
        YamlValue::Mapping { entries, .. } => {
            for entry in entries {
                list_multiline(&entry.key, text, spans);
                list_multiline(&entry.value, text, spans);
            }
        }
    }
}

/// Whether two texts have the same values, styles and comments.
fn is_same(one: &str, two: &str) -> bool {
    let (before, after) = (yaml::parse(one, 0), yaml::parse(two, 0));
    let comments = |text: &str, spans: &[Span]| -> Vec<String> {
        spans.iter().map(|span| text.get(span.range()).unwrap_or_default().trim_end().to_owned()).collect()
    };
    let is_equal = match (&before.root, &after.root) {
        (Some(one), Some(two)) => is_same_node(one, two),
        (one, two) => one.is_none() && two.is_none(),
    };
    is_equal && after.problems.is_empty() && comments(one, &before.comments) == comments(two, &after.comments)
}

fn is_same_node(one: &YamlNode, two: &YamlNode) -> bool {
    let is_same_value = match (&one.value, &two.value) {
        (
            YamlValue::Mapping { entries: left, is_flow: left_flow },
            YamlValue::Mapping { entries: right, is_flow: right_flow },
        ) => {
            left_flow == right_flow
                && left.len() == right.len()
                && left
                    .iter()
                    .zip(right)
                    .all(|(one, two)| is_same_node(&one.key, &two.key) && is_same_node(&one.value, &two.value))
        }
        (
            YamlValue::Sequence { items: left, is_flow: left_flow },
            YamlValue::Sequence { items: right, is_flow: right_flow },
        ) => {
            left_flow == right_flow
                && left.len() == right.len()
                && left.iter().zip(right).all(|(one, two)| is_same_node(one, two))
        }
        (left @ YamlValue::Scalar { .. }, right @ YamlValue::Scalar { .. }) => left == right,
        _ => false,
    };
    is_same_value && one.tag == two.tag
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_space_changes() {
        let text = "\nname:   x  \n\n\nmetadata:\n  a:  \"b  c\"   # why  \n  d: |\n    keep   \n\n\n    this\nlist: [a,  b] \n\n";
        let formatted =
            "name: x\n\nmetadata:\n  a: \"b  c\"   # why\n  d: |\n    keep   \n\n\n    this\nlist: [a,  b]\n\n";
        assert_eq!(format_yaml(text).as_deref(), Some(formatted));
        assert_eq!(format_yaml("a:  b\r\n").as_deref(), Some("a: b\r\n"));
        assert_eq!(format_yaml("a: [b\n"), None, "a text that does not parse");
    }

    proptest! {
        #[test]
        fn formatting_keeps_the_meaning_and_ends(text in "((  )?[a-c]:  ?([a-c\"'#>|]{0,3}|\\[a,  b\\])? ?\r?\n|  - a\n|\n|  x  \n){0,8}") {
            if let Some(once) = format_yaml(&text) {
                prop_assert!(is_same(&text, &once));
                prop_assert_eq!(format_yaml(&once), Some(once.clone()));
            }
        }
    }
}
