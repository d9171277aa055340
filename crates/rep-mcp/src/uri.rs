//! The URIs of skills and their files: `skill://name/path`, or `skill://package/name/path` for a skill of a package.

use rep_hosts::hosts::percent_encode_path;
use rep_library::{Catalog, CatalogEntry, SkillStatus};

const SCHEME: &str = "skill://";
/// The maximum number of parts of a qualified name.
const NAME_PARTS_MAX: usize = 4;

/// Returns the URI of a skill's directory, without a trailing slash.
pub(crate) fn skill_uri(entry: &CatalogEntry) -> String {
    // The name itself may contain colons, which do not separate it from its package.
    let package = entry.package().map(|package| package.split(':')).into_iter().flatten();
    let parts = package.chain([entry.name.as_str()]);
    let parts = parts.map(|part| percent_encode_path(part).replace('/', "%2F").replace(':', "%3A"));
    format!("{SCHEME}{}", parts.collect::<Vec<_>>().join("/"))
}

/// Returns the URI of a file or directory of a skill.
pub(crate) fn file_uri(entry: &CatalogEntry, path: &str) -> String {
    if path.is_empty() { skill_uri(entry) } else { format!("{}/{}", skill_uri(entry), percent_encode_path(path)) }
}

/// Returns the URI of a skill's main file.
pub fn main_file_uri(entry: &CatalogEntry) -> String {
    let name = entry.location.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    file_uri(entry, &name)
}

/// Finds the skill of a URI and the path in it, which is empty for the skill's directory itself.
pub(crate) fn resolve_address<'a>(catalog: &'a Catalog, uri: &str) -> Option<(&'a CatalogEntry, String)> {
    let parts: Vec<String> = uri.strip_prefix(SCHEME)?.split('/').map(decode_segment).collect::<Option<_>>()?;
    // A skill of a package takes precedence over a file of a skill with the package's name.
    (1..=parts.len().min(NAME_PARTS_MAX)).rev().find_map(|count| {
        let entry = find_active_skill(catalog, &parts[..count].join(":"))?;
        Some((entry, parts[count..].join("/")))
    })
}

/// Finds the active skill with a qualified name.
pub(crate) fn find_active_skill<'a>(catalog: &'a Catalog, name: &str) -> Option<&'a CatalogEntry> {
    // Entries are sorted by qualified name.
    let first = catalog.entries.partition_point(|entry| entry.qualified_name.as_str() < name);
    let mut same = catalog.entries[first..].iter().take_while(|entry| entry.qualified_name == name);
    same.find(|entry| entry.status == SkillStatus::Active)
}

/// Decodes a segment of a URI. Rejects a segment that could leave the skill's directory.
fn decode_segment(segment: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
            let (high, low) = (digit(rest.next())?, digit(rest.next())?);
            bytes.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    let text = String::from_utf8(bytes).ok()?;
    let escapes = text.is_empty() || text == "." || text == ".." || text.contains(['/', '\\', '\0']);
    (!escapes).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_is_decoded_once_and_never_leaves_the_skill() {
        assert_eq!(decode_segment("a%20b%25").as_deref(), Some("a b%"));
        for segment in ["", ".", "..", "%2e%2e", "a%2Fb", "a%00", "a%5cb", "%zz", "%2", "%ff"] {
            assert_eq!(decode_segment(segment), None, "{segment}");
        }
    }
}
