//! Stores the content version of a UASP file in its text, and changes nothing else.

use super::Uasp;
use crate::yaml::{Node, Value, parse};
use crate::{Source, Span, hash};

/// How many digits of the SHA-256 are the version.
pub const VERSION_DIGITS: usize = 8;

/// The text of a UASP file with the version of its content stored: the value replaced, or an entry put first in `meta`. `root` is
/// what the text was parsed to, and `sha256` its content's. `None` if the version cannot be stored without changing the content.
pub fn with_version(source: &Source, root: &Node, sha256: &str) -> Option<String> {
    let version = sha256.get(..VERSION_DIGITS)?;
    let text = replaced(source, root, version);
    let again = parse(&text, 0).root?;
    let is_same = hash::sha256(&again).is_ok_and(|other| other == sha256);
    let is_stored = Uasp(&again).version().is_some_and(|stored| stored.value == version);
    (is_same && is_stored).then_some(text)
}

fn replaced(source: &Source, root: &Node, version: &str) -> String {
    let text = source.text();
    let Some(meta) = root.entry("meta") else { return text.to_owned() };
    let quoted = format!("\"{version}\"");
    if let Some(entry) = meta.value.entry("version") {
        let (span, gap) = match entry.value.span {
            // A key without a value has nothing to replace but the place behind its colon.
            span if span.start == span.end => {
                let key = entry.key.span.end;
                let colon = text[key..].find(':').map_or(key, |at| key + at + 1);
                (Span::at(colon), " ")
            }
            span => (span, ""),
        };
        return format!("{}{gap}{quoted}{}", &text[..span.start], &text[span.end..]);
    }
    let Value::Mapping { entries, is_flow } = &meta.value.value else { return text.to_owned() };
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
