//! Stores the content version of a UASP file in its text, without other changes.

use super::UaspView;
use crate::yaml::{YamlNode, YamlValue, parse};
use crate::{SourceText, Span, content_hash};

/// The number of SHA-256 digits that form the version.
pub const VERSION_DIGITS: usize = 8;

/// Stores the content version in the text of a UASP file: replaces the value, or inserts an entry at the start of
/// `meta`. `root` is the parsed text, and `sha256` the hash of its content. Returns `None` if the version cannot be
/// stored without changing the content.
pub fn store_version(source: &SourceText, root: &YamlNode, sha256: &str) -> Option<String> {
    let version = sha256.get(..VERSION_DIGITS)?;
    let text = replace_version(source, root, version);
    let again = parse(&text, 0).root?;
    let is_same = content_hash::hash_content(&again).is_ok_and(|other| other == sha256);
    let is_stored = UaspView(&again).version().is_some_and(|stored| stored.value == version);
    (is_same && is_stored).then_some(text)
}

fn replace_version(source: &SourceText, root: &YamlNode, version: &str) -> String {
    let text = source.text();
    let Some(meta) = root.find_entry("meta") else { return text.to_owned() };
    let quoted = format!("\"{version}\"");
    if let Some(entry) = meta.value.find_entry("version") {
        let (span, gap) = match entry.value.span {
            // For a key without a value, the version is inserted after the colon.
            span if span.start == span.end => {
                let key = entry.key.span.end;
                let colon = text[key..].find(':').map_or(key, |at| key + at + 1);
                (Span::empty_at(colon), " ")
            }
            span => (span, ""),
        };
        return format!("{}{gap}{quoted}{}", &text[..span.start], &text[span.end..]);
    }
    let YamlValue::Mapping { entries, is_flow } = &meta.value.value else { return text.to_owned() };
    let Some(first) = entries.first() else {
        let inside = meta.value.span.start + 1;
        return format!("{}version: {quoted}{}", &text[..inside], &text[inside..]);
    };
    let at = first.key.span.start;
    let between = if *is_flow {
        ", ".to_owned()
    } else {
        let (line, _) = source.line_at(at);
        format!("\n{}", " ".repeat(at - line))
    };
    format!("{}version: {quoted}{between}{}", &text[..at], &text[at..])
}
