//! Pieces of HTML and text that several pages use.
//!
//! `maud` escapes every value that is spliced into a template; only another `Markup` goes in as it is. Hidden characters are made
//! visible in the finished document, so no page can forget it.

use maud::{Markup, html};
use rep_model::markup::is_hidden;
use rep_model::truncate::truncate_chars;

/// Replaces characters that are invisible, reorder text or control a terminal by their code, such as `\u{202e}`.
pub(crate) fn show_hidden_characters(markup: String) -> String {
    if !markup.chars().any(is_hidden) {
        return markup;
    }
    let mut out = String::with_capacity(markup.len());
    for letter in markup.chars() {
        if is_hidden(letter) {
            out.push_str(&format!("\\u{{{:x}}}", u32::from(letter)));
        } else {
            out.push(letter);
        }
    }
    out
}

/// Text in which words between backticks are code.
pub(crate) fn with_code(text: &str) -> Markup {
    let parts: Vec<&str> = text.split('`').collect();
    // With an odd number of backticks, the last one is only itself.
    let pairs = (parts.len() - 1) / 2;
    html! {
        @for (index, part) in parts.iter().enumerate() {
            @match (index % 2, index < pairs * 2) {
                (1, true) => { code { (part) } }
                (1, false) => { "`" (part) }
                _ => { (part) }
            }
        }
    }
}

/// A number with separators between thousands.
pub(crate) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A time for people, to the second; the exact one is for programs.
pub(crate) fn moment(at: &str) -> Markup {
    let short = at.split(['.', 'Z']).next().unwrap_or(at).replace('T', " ");
    html! { time datetime=(at) { (short) } }
}

/// A count with its noun.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    format!("{} {noun}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// The start of a text, up to a number of characters; it ends at a word if one ends nearby.
pub(crate) fn truncate(text: &str, chars_max: usize) -> String {
    let start = truncate_chars(text, chars_max);
    if start.len() == text.len() {
        return text.to_owned();
    }
    let end = start.rfind(char::is_whitespace).filter(|blank| start.len() - blank < 24).unwrap_or(start.len());
    format!("{}…", start[..end].trim_end())
}

/// Text in a fixed-width block that scrolls.
pub(crate) fn code_block(text: &str) -> Markup {
    html! { pre tabindex="0" { code { (text) } } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_never_become_markup() {
        let page = html! { a href=("\"><script>") { ("<b>&'\u{202e}\0x</b>") } };
        assert_eq!(
            show_hidden_characters(page.into_string()),
            "<a href=\"&quot;&gt;&lt;script&gt;\">&lt;b&gt;&amp;'\\u{202e}\\u{0}x&lt;/b&gt;</a>"
        );
    }

    #[test]
    fn words_between_backticks_are_code() {
        assert_eq!(with_code("a `<b>` c ` d").into_string(), "a <code>&lt;b&gt;</code> c ` d");
        assert_eq!((grouped(1_234_567), truncate("abcd", 2)), ("1,234,567".to_owned(), "ab…".to_owned()));
    }
}
