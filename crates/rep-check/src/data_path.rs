//! Data paths: the position of a value in a document, such as `tools[0].implementation.runtime`.

use rep_model::truncate::truncate_chars;

/// The maximum number of characters of a key in a data path.
const KEY_CHARS_MAX: usize = 100;

/// Returns the data path of a field inside another.
pub(crate) fn join_path(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// Shortens a key, because the path of every nested value repeats it.
pub(crate) fn shorten_key(key: &str) -> &str {
    truncate_chars(key, KEY_CHARS_MAX)
}
