//! Decides which links of a text point to files of the skill.

/// Returns the path of a link to a file of the skill: no scheme, no fragment, not a placeholder.
pub fn parse_local_path(target: &str) -> Option<String> {
    let path = target.split(['#', '?']).next().unwrap_or("");
    let has_scheme = path.split_once(':').is_some_and(|(scheme, _)| {
        scheme.len() > 1 && scheme.chars().all(|letter| letter.is_ascii_alphanumeric() || "+-.".contains(letter))
    });
    let is_placeholder = path.contains(['<', '>', '{', '}', '$', '*', '|', ' ']) || path.contains("...");
    // Markdown turns `<me@example.com>` into a link without a scheme.
    let is_mail = path.contains('@') && !path.contains('/');
    if path.is_empty() || path.starts_with("//") || has_scheme || is_placeholder || is_mail {
        return None;
    }
    Some(decode_percent(path))
}

fn decode_percent(path: &str) -> String {
    // Almost no path has an escape.
    if !path.contains('%') {
        return path.to_owned();
    }
    let bytes = path.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let digits = if bytes[at] == b'%' { path.get(at + 1..at + 3) } else { None };
        if let Some(code) = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            out.push(code);
            at += 3;
        } else {
            out.push(bytes[at]);
            at += 1;
        }
    }
    String::from_utf8(out).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_decoded_and_incomplete_ones_stay() {
        for (target, path) in [
            ("a/b.md", "a/b.md"),
            ("field%20notes.md#x", "field notes.md"),
            ("%C3%A9.md", "é.md"),
            ("100%.md", "100%.md"),
            ("a%2", "a%2"),
            ("a%zz%41", "a%zzA"),
            ("%FF.md", "%FF.md"),
        ] {
            assert_eq!(parse_local_path(target).as_deref(), Some(path), "{target}");
        }
    }
}
