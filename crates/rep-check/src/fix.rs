//! Applies the safe edits of findings to a text.

use rep_model::TextEdit;

use crate::Finding;

/// Applies the edits of one file's findings. Edits that overlap an earlier one are left for the next round.
pub fn apply_edits<'a>(text: &str, findings: impl IntoIterator<Item = &'a Finding>) -> String {
    let mut edits: Vec<&TextEdit> = findings.into_iter().filter_map(|finding| finding.edit.as_ref()).collect();
    edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for edit in edits {
        if edit.span.start < from || text.get(edit.span.range()).is_none() {
            continue;
        }
        out.push_str(&text[from..edit.span.start]);
        out.push_str(&edit.replacement);
        from = edit.span.end;
    }
    out.push_str(&text[from..]);
    out
}
