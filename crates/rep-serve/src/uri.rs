//! The addresses of skills and their files: `skill://name/path`, and with a package `skill://package/name/path`.

use rep_hosts::hosts::encoded;
use rep_library::{Catalog, CatalogEntry, Status};

/// The scheme.
const SCHEME: &str = "skill://";
/// The most parts of a qualified name.
const NAME_PARTS_MAX: usize = 4;

/// The address of a skill's folder, without a slash at its end.
pub(crate) fn of_skill(entry: &CatalogEntry) -> String {
    let parts = entry.qualified_name.split(':').map(|part| encoded(part).replace('/', "%2F"));
    format!("{SCHEME}{}", parts.collect::<Vec<_>>().join("/"))
}

/// The address of a file or folder of a skill.
pub(crate) fn of_file(entry: &CatalogEntry, path: &str) -> String {
    if path.is_empty() { of_skill(entry) } else { format!("{}/{}", of_skill(entry), encoded(path)) }
}

/// The address of a skill's main file.
pub(crate) fn of_main(entry: &CatalogEntry) -> String {
    let name = entry.location.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    of_file(entry, &name)
}

/// The skill an address leads to, and the path inside it; empty for the skill's own folder.
pub(crate) fn find<'a>(catalog: &'a Catalog, uri: &str) -> Option<(&'a CatalogEntry, String)> {
    let parts: Vec<String> = uri.strip_prefix(SCHEME)?.split('/').map(decoded).collect::<Option<_>>()?;
    // A skill of a package wins over a file of the skill that is called like the package.
    (1..=parts.len().min(NAME_PARTS_MAX)).rev().find_map(|count| {
        let entry = named(catalog, &parts[..count].join(":"))?;
        Some((entry, parts[count..].join("/")))
    })
}

/// The skill of a qualified name that models are told of.
pub(crate) fn named<'a>(catalog: &'a Catalog, name: &str) -> Option<&'a CatalogEntry> {
    // Entries are in order of their qualified names.
    let first = catalog.entries.partition_point(|entry| entry.qualified_name.as_str() < name);
    let mut same = catalog.entries[first..].iter().take_while(|entry| entry.qualified_name == name);
    same.find(|entry| entry.status == Status::Active)
}

/// A part of an address as it was before it was encoded. What would lead elsewhere is none.
fn decoded(part: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.bytes();
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
    let is_astray = text.is_empty() || text == "." || text == ".." || text.contains(['/', '\\', '\0']);
    (!is_astray).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_decoded_once_and_leads_nowhere_else() {
        assert_eq!(decoded("a%20b%25").as_deref(), Some("a b%"));
        for astray in ["", ".", "..", "%2e%2e", "a%2Fb", "a%00", "a%5cb", "%zz", "%2", "%ff"] {
            assert_eq!(decoded(astray), None, "{astray}");
        }
    }
}
