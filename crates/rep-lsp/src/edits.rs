//! Edits of the workspace, in the form that the client supports, and as small as possible.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rep_library::line_diff::{compare_lines, split_lines};
use rep_model::Span;
use serde_json::{Map, Value, json};

use crate::client::ClientFeatures;

/// Collects edits of several files.
pub(crate) struct WorkspaceEdit<'a> {
    features: &'a ClientFeatures,
    /// The URIs of files, and the versions of those that are open.
    name: &'a dyn Fn(&Path) -> (String, Option<i64>),
    edits: BTreeMap<PathBuf, Vec<Value>>,
    operations: Vec<Value>,
}

impl<'a> WorkspaceEdit<'a> {
    /// Creates an edit that changes nothing.
    pub(crate) fn new(features: &'a ClientFeatures, name: &'a dyn Fn(&Path) -> (String, Option<i64>)) -> Self {
        Self { features, name, edits: BTreeMap::new(), operations: Vec::new() }
    }

    /// Replaces a range of a file.
    pub(crate) fn replace(&mut self, file: &Path, range: &Value, new_text: &str) {
        self.edits.entry(file.to_owned()).or_default().push(json!({ "range": range, "newText": new_text }));
    }

    /// Inserts a text with placeholders, if the client supports that; otherwise the plain text.
    pub(crate) fn insert_snippet(&mut self, file: &Path, range: &Value, snippet: &str, plain: &str) {
        if !(self.features.snippet_edits && self.features.document_changes) {
            return self.replace(file, range, plain);
        }
        let edit = json!({ "range": range, "snippet": { "kind": "snippet", "value": snippet } });
        self.edits.entry(file.to_owned()).or_default().push(edit);
    }

    /// Creates an empty file.
    pub(crate) fn create(&mut self, file: &Path) {
        let (uri, _) = (self.name)(file);
        self.operations.push(json!({ "kind": "create", "uri": uri, "options": { "ignoreIfExists": true } }));
    }

    /// Renames a file or directory, after the edits.
    pub(crate) fn rename(&mut self, from: &Path, to: &Path) {
        let ((old, _), (new, _)) = ((self.name)(from), (self.name)(to));
        self.operations.push(json!({ "kind": "rename", "oldUri": old, "newUri": new }));
    }

    /// Returns the edit for the client. Created and renamed files need a client that supports them.
    pub(crate) fn finish(self) -> Value {
        let name = self.name;
        if !self.features.document_changes {
            let changes: Map<String, Value> =
                self.edits.into_iter().map(|(file, edits)| (name(&file).0, Value::Array(edits))).collect();
            return json!({ "changes": changes });
        }
        let edit = |(file, edits): (PathBuf, Vec<Value>)| {
            let (uri, version) = name(&file);
            json!({ "textDocument": { "uri": uri, "version": version }, "edits": edits })
        };
        let changes: Vec<Value> = self.edits.into_iter().map(edit).chain(self.operations).collect();
        json!({ "documentChanges": changes })
    }
}

/// Returns the smallest replacements that turn one text into another, in order. Text that does not change is not
/// repeated: cursors stay where they are, and edits reveal nothing that they do not change.
pub(crate) fn minimal_edits(before: &str, after: &str) -> Vec<(Span, String)> {
    let (old, new) = (split_lines(before), split_lines(after));
    let mut edits = Vec::new();
    if old.len() == new.len() {
        let mut start = 0;
        for (one, two) in old.iter().zip(&new) {
            push_trimmed(start, one, two, &mut edits);
            start += one.len();
        }
        return edits;
    }
    let (mut line, mut offset) = (0, 0);
    for change in compare_lines(&old, &new) {
        offset += old[line..change.old.start].iter().map(|line| line.len()).sum::<usize>();
        line = change.old.start;
        push_trimmed(offset, &old[change.old].concat(), &new[change.new].concat(), &mut edits);
    }
    edits
}

/// Adds the replacement of a part of a text, without what both versions have in common at their ends.
fn push_trimmed(start: usize, one: &str, two: &str, edits: &mut Vec<(Span, String)>) {
    if one == two {
        return;
    }
    let prefix: usize =
        one.chars().zip(two.chars()).take_while(|(left, right)| left == right).map(|(left, _)| left.len_utf8()).sum();
    let (old, new) = (&one[prefix..], &two[prefix..]);
    let suffix: usize = old
        .chars()
        .rev()
        .zip(new.chars().rev())
        .take_while(|(left, right)| left == right)
        .map(|(left, _)| left.len_utf8())
        .sum();
    let (old, new) = (&old[..old.len() - suffix], &new[..new.len() - suffix]);
    let start = start + prefix;
    let end = start + old.len();
    // A value that gets quotes stays what it is between them.
    match new.find(old).filter(|_| !old.is_empty()) {
        Some(at) => {
            let (left, right) = (&new[..at], &new[at + old.len()..]);
            if !left.is_empty() {
                edits.push((Span::empty_at(start), left.to_owned()));
            }
            if !right.is_empty() {
                edits.push((Span::empty_at(end), right.to_owned()));
            }
        }
        None => edits.push((Span::new(start, end), new.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn apply(text: &str, edits: &[(Span, String)]) -> String {
        let mut out = String::new();
        let mut done = 0;
        for (span, new) in edits {
            out.push_str(&text[done..span.start]);
            out.push_str(new);
            done = span.end;
        }
        out + &text[done..]
    }

    #[test]
    fn edits_repeat_nothing() {
        let crlf = minimal_edits("a\r\nsecret\r\n", "a\nsecret\n");
        assert_eq!(crlf, [(Span::new(1, 2), String::new()), (Span::new(9, 10), String::new())]);
        let quoted = minimal_edits("d: a: secret\n", "d: \"a: secret\"\n");
        assert_eq!(quoted, [(Span::empty_at(3), "\"".to_owned()), (Span::empty_at(12), "\"".to_owned())]);
        assert_eq!(minimal_edits("a\nb\nc\n", "a\nc\n"), [(Span::new(2, 4), String::new())]);
        assert_eq!(minimal_edits("same", "same"), []);
    }

    proptest! {
        #[test]
        fn edits_turn_one_text_into_the_other(
            before in "([a-cé😀\"]|\r\n|\n){0,40}",
            after in "([a-cé😀\"]|\r\n|\n){0,40}",
        ) {
            let edits = minimal_edits(&before, &after);
            prop_assert!(edits.is_sorted_by_key(|(span, _)| (span.start, span.end)));
            prop_assert_eq!(apply(&before, &edits), after);
        }
    }
}
