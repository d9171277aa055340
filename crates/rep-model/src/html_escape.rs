//! Escapes text for HTML, and shows hidden characters by their code point.

use std::fmt::Write as _;

/// Appends a character escaped for text and quoted attributes.
pub fn push_escaped(letter: char, out: &mut String) {
    match letter {
        '&' => out.push_str("&amp;"),
        '<' => out.push_str("&lt;"),
        '>' => out.push_str("&gt;"),
        '"' => out.push_str("&quot;"),
        '\'' => out.push_str("&#39;"),
        _ if is_hidden_character(letter) => {
            // Writing to a string never fails.
            let _ = write!(out, "\\u{{{:x}}}", u32::from(letter));
        }
        _ => out.push(letter),
    }
}

/// Whether a character is a control character other than a tab or line feed, reorders text, breaks lines, or is
/// invisible. The zero-width joiner of emoji is not counted.
pub fn is_hidden_character(letter: char) -> bool {
    letter.is_control() && !matches!(letter, '\n' | '\t') || is_format_character(letter)
}

fn is_format_character(letter: char) -> bool {
    matches!(letter,
        '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}'
        | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::push_escaped;

    #[test]
    fn marks_and_what_is_not_seen_are_written_out() {
        let written = |text: &str| {
            let mut out = String::new();
            text.chars().for_each(|letter| push_escaped(letter, &mut out));
            out
        };
        assert_eq!(written("<a b='\"'>&\n\tä"), "&lt;a b=&#39;&quot;&#39;&gt;&amp;\n\tä");
        assert_eq!(
            written("x\0\u{202e}\u{200b}\u{feff}\u{e0041}\r"),
            "x\\u{0}\\u{202e}\\u{200b}\\u{feff}\\u{e0041}\\u{d}"
        );
        assert_eq!(written("👩\u{200d}🔬"), "👩\u{200d}🔬");
    }
}
