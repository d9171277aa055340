//! Compares two versions of a text line by line.

use std::fmt::Write as _;
use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput};

/// The number of lines that a unified diff shows before and after a change.
const CONTEXT: usize = 3;

/// Lines of the old version that others of the new version replace. One of both ranges can be empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineChange {
    /// The indexes of the lines in the old version.
    pub old: Range<usize>,
    /// The indexes of the lines in the new version.
    pub new: Range<usize>,
}

/// Splits a text into lines. Each has its line break; the last one can lack it.
pub fn split_lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Returns what changed, in order. The time is nearly linear: for texts with little in common, larger parts are replaced
/// than necessary.
pub fn compare_lines(old: &[&str], new: &[&str]) -> Vec<LineChange> {
    let mut input: InternedInput<&str> = InternedInput::default();
    input.update_before(old.iter().copied());
    input.update_after(new.iter().copied());
    let mut diff = Diff::compute(Algorithm::Myers, &input);
    diff.postprocess_no_heuristic(&input);
    let range = |lines: Range<u32>| lines.start as usize..lines.end as usize;
    diff.hunks().map(|hunk| LineChange { old: range(hunk.before), new: range(hunk.after) }).collect()
}

/// Renders the changes as a unified diff with the names of both versions. Texts that are equal give an empty string.
pub fn render_unified_diff(before: &str, after: &str, from: &str, to: &str) -> String {
    let (old, new) = (split_lines(before), split_lines(after));
    let changes = compare_lines(&old, &new);
    let mut out = String::new();
    for group in changes.chunk_by(|one, next| next.old.start - one.old.end <= 2 * CONTEXT) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        if out.is_empty() {
            let _ = write!(out, "--- {from}\n+++ {to}\n");
        }
        let lead = first.old.start.min(CONTEXT);
        let trail = (old.len() - last.old.end).min(CONTEXT);
        let shown_old = first.old.start - lead..last.old.end + trail;
        let shown_new = first.new.start - lead..last.new.end + trail;
        let _ = writeln!(out, "@@ -{} +{} @@", render_range(&shown_old), render_range(&shown_new));
        let mut next = shown_old.start;
        for change in group {
            push_lines(&mut out, ' ', &old[next..change.old.start]);
            push_lines(&mut out, '-', &old[change.old.clone()]);
            push_lines(&mut out, '+', &new[change.new.clone()]);
            next = change.old.end;
        }
        push_lines(&mut out, ' ', &old[next..shown_old.end]);
    }
    out
}

/// Renders a range of lines as `patch` reads it: the first line, and the number of lines unless it is 1. An empty range
/// names the line before it.
fn render_range(lines: &Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => (lines.start + 1).to_string(),
        count => format!("{},{count}", lines.start + 1),
    }
}

fn push_lines(out: &mut String, sign: char, lines: &[&str]) {
    for line in lines {
        out.push(sign);
        out.push_str(line);
        if !line.ends_with('\n') {
            out.push_str("\n\\ No newline at end of file\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_have_context_and_distant_ones_are_apart() {
        let before = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\n";
        let after = "a\nB\nc\nd\ne\nf\ng\nh\ni\nj\nk\n";
        let expected = "--- a/x\n+++ b/x\n@@ -1,5 +1,5 @@\n a\n-b\n+B\n c\n d\n e\n@@ -9,4 +9,3 @@\n i\n j\n k\n-l\n";
        assert_eq!(render_unified_diff(before, after, "a/x", "b/x"), expected);
        let near = render_unified_diff("a\nb\nc\n", "A\nb\nC\n", "x", "y");
        assert_eq!(near, "--- x\n+++ y\n@@ -1,3 +1,3 @@\n-a\n+A\n b\n-c\n+C\n");
    }

    #[test]
    fn new_and_removed_texts_have_a_range_without_lines() {
        assert_eq!(render_unified_diff("", "a\n", "x", "y"), "--- x\n+++ y\n@@ -0,0 +1 @@\n+a\n");
        assert_eq!(render_unified_diff("a\nb\n", "", "x", "y"), "--- x\n+++ y\n@@ -1,2 +0,0 @@\n-a\n-b\n");
        assert_eq!(render_unified_diff("a\n", "a\n", "x", "y"), "");
    }

    #[test]
    fn a_missing_line_break_at_the_end_is_visible() {
        let expected = "--- x\n+++ y\n@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n";
        assert_eq!(render_unified_diff("a\n", "a", "x", "y"), expected);
    }
}
