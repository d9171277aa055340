//! Cuts text to a number of characters, for messages and lists.

use std::borrow::Cow;

/// The first `chars_max` characters of a text; the whole text if it has no more.
pub fn truncate_chars(text: &str, chars_max: usize) -> &str {
    text.char_indices().nth(chars_max).map_or(text, |(end, _)| &text[..end])
}

/// The first `chars_max` characters of a text, followed by `…` if characters are left out.
///
/// ```
/// use rep_model::truncate::ellipsize;
///
/// assert_eq!(ellipsize("Fills forms", 5), "Fills…");
/// assert_eq!(ellipsize("Fills", 5), "Fills");
/// ```
pub fn ellipsize(text: &str, chars_max: usize) -> Cow<'_, str> {
    let start = truncate_chars(text, chars_max);
    if start.len() == text.len() { Cow::Borrowed(text) } else { Cow::Owned(format!("{start}…")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_between_characters() {
        assert_eq!(truncate_chars("äöü", 2), "äö");
        assert_eq!(truncate_chars("äöü", 3), "äöü");
        assert_eq!(truncate_chars("äöü", 0), "");
        assert_eq!(truncate_chars("", 1), "");
    }

    #[test]
    fn an_ellipsis_follows_only_what_was_cut() {
        assert_eq!(ellipsize("äöü", 2), "äö…");
        assert_eq!(ellipsize("äöü", 0), "…");
        assert!(matches!(ellipsize("äöü", 3), Cow::Borrowed("äöü")));
        assert_eq!(ellipsize("", 0), "");
    }
}
