//! Truncates text to a number of characters, for messages and lists.

use std::borrow::Cow;

/// Returns the first `chars_max` characters of a text, or the whole text if it is shorter.
pub fn truncate_chars(text: &str, chars_max: usize) -> &str {
    text.char_indices().nth(chars_max).map_or(text, |(end, _)| &text[..end])
}

/// Returns the first `chars_max` characters of a text, followed by `…` if characters were removed.
///
/// ```
/// use rep_model::truncate::truncate_with_ellipsis;
///
/// assert_eq!(truncate_with_ellipsis("Fills forms", 5), "Fills…");
/// assert_eq!(truncate_with_ellipsis("Fills", 5), "Fills");
/// ```
pub fn truncate_with_ellipsis(text: &str, chars_max: usize) -> Cow<'_, str> {
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
        assert_eq!(truncate_with_ellipsis("äöü", 2), "äö…");
        assert_eq!(truncate_with_ellipsis("äöü", 0), "…");
        assert!(matches!(truncate_with_ellipsis("äöü", 3), Cow::Borrowed("äöü")));
        assert_eq!(truncate_with_ellipsis("", 0), "");
    }
}
