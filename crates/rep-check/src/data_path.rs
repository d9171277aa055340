//! Data paths: where a value is inside a document, such as `tools[0].implementation.runtime`.

use rep_model::truncate::truncate_chars;

/// The most characters of a key that a data path shows.
const KEY_CHARS_MAX: usize = 100;

/// The data path of a field below another.
pub(crate) fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// A key cut to a length that can be repeated in the path of everything below it.
pub(crate) fn short_key(key: &str) -> &str {
    truncate_chars(key, KEY_CHARS_MAX)
}
