//! `file:` URIs and paths.

use std::path::{Path, PathBuf};

use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// The characters that need no escape in a path.
const PATH_CHARACTERS: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// Returns the path of a `file:` URI, or `None` for another scheme, a remote file or a path with `..`.
pub(crate) fn parse_file_uri(uri: &str) -> Option<PathBuf> {
    let (scheme, rest) = uri.split_once(':')?;
    let rest = rest.strip_prefix("//").unwrap_or(rest);
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    if !scheme.eq_ignore_ascii_case("file") || !path.starts_with('/') {
        return None;
    }
    let path = path.split(['?', '#']).next().unwrap_or(path);
    let decoded = percent_decode_str(path).decode_utf8().ok()?;
    let is_plain = !decoded.contains('\0') && !decoded.split('/').any(|part| part == "..");
    // Collecting the components removes doubled and trailing slashes, so that a file has one path.
    is_plain.then(|| Path::new(decoded.as_ref()).components().collect())
}

/// Returns the URI of an absolute path.
pub(crate) fn format_file_uri(path: &Path) -> String {
    format!("file://{}", utf8_percent_encode(&path.to_string_lossy(), PATH_CHARACTERS))
}

/// Escapes the characters of a path that have another meaning in a link.
pub(crate) fn encode_path(path: &str) -> String {
    const LINK_CHARACTERS: &AsciiSet =
        &CONTROLS.add(b' ').add(b'%').add(b'#').add(b'?').add(b'(').add(b')').add(b'<').add(b'>');
    utf8_percent_encode(path, LINK_CHARACTERS).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_and_paths_correspond() {
        for (path, uri) in [
            ("/a/b.md", "file:///a/b.md"),
            ("/a b/#?%.md", "file:///a%20b/%23%3F%25.md"),
            ("/ü/日本.md", "file:///%C3%BC/%E6%97%A5%E6%9C%AC.md"),
        ] {
            assert_eq!(format_file_uri(Path::new(path)), uri);
            assert_eq!(parse_file_uri(uri), Some(PathBuf::from(path)));
        }
        assert_eq!(parse_file_uri("file://localhost/a//b/"), Some(PathBuf::from("/a/b")));
        assert_eq!(parse_file_uri("FILE:/a/b%3A.md"), Some(PathBuf::from("/a/b:.md")));
    }

    #[test]
    fn other_uris_are_no_files() {
        for uri in ["untitled:Untitled-1", "https://example.org/a", "file://server/a", "file:///a/../b", "file:a", "x"]
        {
            assert_eq!(parse_file_uri(uri), None, "{uri}");
        }
        assert_eq!(parse_file_uri("file:///a/%FF"), None, "a path that is not UTF-8");
    }
}
