//! Booleans written as text, such as `"yes"`, and the fields where authors write them.

/// The frontmatter fields that take `true` or `false`.
pub(crate) const BOOLEAN_FIELDS: [&str; 3] = ["background", "disable-model-invocation", "user-invocable"];

/// Returns the boolean that a word means, if any.
pub(crate) fn parse_boolean_word(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "y" | "t" | "1" => Some(true),
        "false" | "no" | "off" | "n" | "f" | "0" => Some(false),
        _ => None,
    }
}
