//! The `description` field of SKILL.md, the tags in it, and their positions in the file.

use std::ops::Range;

use rep_model::frontmatter::ScalarText;
use rep_model::{Manifest, Skill, Span, names};

/// Returns the description, unless it is missing, blank or not text, and the file that contains it.
pub(crate) fn find_description(skill: &Skill) -> Option<(&Manifest, ScalarText<'_>)> {
    let manifest = skill.manifest.as_ref()?;
    let description = manifest.front.as_ref()?.description()?;
    (!names::strip_whitespace(description.value).is_empty()).then_some((manifest, description))
}

/// Finds the tag-like parts of a text: `<`, optionally `/`, a letter, and everything up to the next `>`.
pub(crate) fn find_tags(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let start = from + text[from..].find('<')?;
            let inner = &text[start + 1..];
            from = start + 1;
            if inner.strip_prefix('/').unwrap_or(inner).starts_with(|first: char| first.is_ascii_alphabetic()) {
                // If no `>` follows this `<`, none follows a later `<` either.
                from = start + 1 + inner.find('>')? + 1;
                return Some(start..from);
            }
        }
    })
}

/// Returns the span of a part of a value, or of the whole value if the file writes the part differently.
pub(crate) fn locate_part(source: &str, part: &str, whole: Span) -> Span {
    // The first line of a block is its header, whose `>` is not part of the text.
    let text = if source.starts_with(['|', '>']) { source.find('\n').unwrap_or(0) } else { 0 };
    let at = source[text..].find(part).map(|at| whole.start + text + at);
    at.map_or(whole, |start| Span::new(start, start + part.len()))
}
