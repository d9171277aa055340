//! Boxes an author sets apart: `> [!WARNING]`, `:::tip`, `!!! danger`, `> **Note**`.
//!
//! The mark of a box is no text of a rule. Its kind tells how much the text in it weighs.

/// How much the text of a box weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Notice {
    /// A note, a tip: what it says counts by its own words.
    Mild,
    /// A warning: what it tells to do is a rule.
    Grave,
    /// An example, a quotation: what it says is shown.
    Shown,
}

/// The mark a box starts with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) notice: Notice,
    /// How many bytes of the text it takes.
    pub(super) length: usize,
    /// Whether it holds until a line of colons.
    pub(super) is_fenced: bool,
}

/// What closes a box that is fenced by colons.
pub(super) const FENCE: &str = ":::";

/// The mark at the start of a text.
pub(super) fn mark(text: &str, is_quoted: bool) -> Option<Mark> {
    let (rest, is_fenced) = if let Some(rest) = text.strip_prefix("[!").filter(|_| is_quoted) {
        (rest, false)
    } else if let Some(rest) = text.strip_prefix(FENCE) {
        (rest.trim_start_matches([':', ' ']), true)
    } else {
        let rest = text.strip_prefix("!!!").or(text.strip_prefix("???"))?;
        (rest.trim_start_matches(['+', ' ']), false)
    };
    let end = rest.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(rest.len());
    let kind = rest[..end].to_ascii_lowercase();
    let mut behind = &rest[end..];
    if text.starts_with("[!") {
        behind = behind.strip_prefix(']')?.trim_start_matches(['-', '+']);
    } else if behind.starts_with(' ') && behind.trim_start().starts_with('"') {
        // `!!! warning "Title"`
        let title = &behind.trim_start()[1..];
        behind = title.find('"').map_or(behind, |close| &title[close + 1..]);
    }
    let is_kind = !kind.is_empty() && kind.len() <= 16;
    let length = text.len() - behind.trim_start().len();
    is_kind.then_some(Mark { notice: weight(&kind), length, is_fenced })
}

fn weight(kind: &str) -> Notice {
    match kind {
        "important" | "warning" | "caution" | "danger" | "critical" | "attention" | "error" | "alert" => Notice::Grave,
        "example" | "quote" | "cite" | "question" => Notice::Shown,
        _ => Notice::Mild,
    }
}

/// What a line says that only names a box: `⚠️ **Warning:**`.
pub(super) fn label(text: &str) -> Option<Notice> {
    let bare = text.trim_matches(|letter: char| !letter.is_alphabetic()).to_lowercase();
    let labels = ["important", "note", "notes", "warning", "caution", "tip", "tips", "critical", "attention", "danger"];
    labels.contains(&bare.as_str()).then(|| weight(&bare))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_told_from_text() {
        for (text, expected) in [
            ("[!NOTE] Read it.", Some((Notice::Mild, 8))),
            ("[!warning]- Read it.", Some((Notice::Grave, 12))),
            (":::danger Read it.", Some((Notice::Grave, 10))),
            ("::: tip", Some((Notice::Mild, 7))),
            ("!!! caution \"Look\" Read it.", Some((Notice::Grave, 19))),
            ("[!quote] Read it.", Some((Notice::Shown, 9))),
            ("[!] Read it.", None),
            ("!!!", None),
            ("Note: read it.", None),
        ] {
            assert_eq!(mark(text, true).map(|mark| (mark.notice, mark.length)), expected, "{text}");
        }
        assert_eq!((mark("[!NOTE] x", false), label("⚠️ Warning:")), (None, Some(Notice::Grave)));
    }
}
