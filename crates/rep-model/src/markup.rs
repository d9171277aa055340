//! Text in HTML: it stays text, and what cannot be seen is shown by its number.

use std::fmt::Write as _;

/// Writes a letter so that it is nothing but that letter, in text and in quoted attributes.
pub fn put(letter: char, out: &mut String) {
    match letter {
        '&' => out.push_str("&amp;"),
        '<' => out.push_str("&lt;"),
        '>' => out.push_str("&gt;"),
        '"' => out.push_str("&quot;"),
        '\'' => out.push_str("&#39;"),
        _ if is_hidden(letter) => {
            // A string takes whatever is written.
            let _ = write!(out, "\\u{{{:x}}}", u32::from(letter));
        }
        _ => out.push(letter),
    }
}

/// Whether a letter is a control character other than a tab or line feed, reorders text, breaks lines, or is invisible. The one that
/// joins emoji is not.
pub fn is_hidden(letter: char) -> bool {
    letter.is_control() && !matches!(letter, '\n' | '\t') || is_format_character(letter)
}

fn is_format_character(letter: char) -> bool {
    matches!(letter,
        '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}'
        | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::put;

    #[test]
    fn marks_and_what_is_not_seen_are_written_out() {
        let written = |text: &str| {
            let mut out = String::new();
            text.chars().for_each(|letter| put(letter, &mut out));
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
