//! Booleans written as text, such as `"yes"`, and the fields where authors write them.

/// The frontmatter fields that take `true` or `false`.
pub(crate) const BOOLEAN_FIELDS: [&str; 3] = ["background", "disable-model-invocation", "user-invocable"];

/// The words for booleans, and what they mean.
pub(crate) const BOOLEAN_WORDS: [(&str, bool); 12] = [
    ("true", true),
    ("yes", true),
    ("on", true),
    ("y", true),
    ("t", true),
    ("1", true),
    ("false", false),
    ("no", false),
    ("off", false),
    ("n", false),
    ("f", false),
    ("0", false),
];

/// Returns the boolean that a word means, if any.
pub(crate) fn parse_boolean_word(text: &str) -> Option<bool> {
    BOOLEAN_WORDS.iter().find(|(word, _)| text.eq_ignore_ascii_case(word)).map(|(_, value)| *value)
}
