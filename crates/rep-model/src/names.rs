//! Character classes and lengths of skill names, as the specifications define them.

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

/// Strips the characters that Python's `str.strip` strips, which are slightly more than those of Rust's `trim`.
pub fn strip_whitespace(text: &str) -> &str {
    text.trim_matches(|letter: char| letter.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&letter))
}

/// Returns the NFKC form, which the reference tool applies to names and directories before every check.
pub fn normalise_nfkc(text: &str) -> String {
    if text.is_ascii() || is_nfkc_quick(text.chars()) == IsNormalized::Yes {
        return text.to_owned();
    }
    text.nfkc().collect()
}

/// Whether a character is a letter or digit: general category L* or N*, like Python's `isalnum`. Combining marks are
/// not, although Rust considers some of them alphanumeric.
pub fn is_letter_or_digit(letter: char) -> bool {
    if letter.is_ascii() {
        return letter.is_ascii_alphanumeric();
    }
    matches!(letter.general_category_group(), GeneralCategoryGroup::Letter | GeneralCategoryGroup::Number)
}

/// Whether full Unicode lowercasing leaves the text unchanged.
pub fn is_lowercase_text(text: &str) -> bool {
    text.is_ascii() && !text.bytes().any(|byte| byte.is_ascii_uppercase()) || text.to_lowercase() == text
}

/// Returns the number of code points, by which all specifications measure length.
pub fn count_chars(text: &str) -> usize {
    text.chars().count()
}

/// Whether text contains only `a-z`, `0-9` and `-`, and starts with a letter: an id of UASP and x-personal-mcp.
pub fn is_lowercase_id(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_lowercase()) && is_plain_name(text)
}

/// Whether text contains only `a-z`, `0-9` and `-`, and is not empty.
pub fn is_plain_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

/// Returns the first word reserved by Anthropic that `name` contains.
pub fn find_reserved_word(name: &str) -> Option<&'static str> {
    ["anthropic", "claude"].into_iter().find(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_what_python_calls_alphanumeric() {
        for letter in ['a', '9', 'é', '技', 'м', '½', 'Ⅳ', '०'] {
            assert!(is_letter_or_digit(letter), "{letter}");
        }
        for other in ['\u{93f}', '\u{e31}', '😀', '\u{200d}', '_', ' '] {
            assert!(!is_letter_or_digit(other), "{other}");
        }
    }

    #[test]
    fn strip_takes_the_separators_rust_leaves() {
        assert_eq!(strip_whitespace("\u{1c} a\u{a0}\u{1f}"), "a");
        assert_eq!("\u{1c}a".trim(), "\u{1c}a");
    }

    #[test]
    fn dotted_capital_i_is_not_lowercase() {
        assert!(!is_lowercase_text("İstanbul"));
        assert!(is_lowercase_text("straße"));
    }

    #[test]
    fn nfkc_folds_full_width_and_superscripts() {
        assert_eq!(normalise_nfkc("ｍｙ-x²"), "my-x2");
        assert_eq!(normalise_nfkc("cafe\u{301}"), "café");
    }
}
