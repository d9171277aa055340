//! HTML and text helpers shared by several pages.
//!
//! `maud` escapes every value that is inserted into a template, except for another `Markup`. Hidden characters are made
//! visible in the finished document, so that no page can omit this step.

use maud::{Markup, html};
use rep_model::html_escape::is_hidden_character;
use rep_model::truncate::truncate_chars;

/// Replaces characters that are invisible, reorder text or control a terminal with their code, such as `\u{202e}`.
pub(crate) fn show_hidden_characters(markup: String) -> String {
    if !markup.chars().any(is_hidden_character) {
        return markup;
    }
    let mut out = String::with_capacity(markup.len());
    for letter in markup.chars() {
        if is_hidden_character(letter) {
            out.push_str(&format!("\\u{{{:x}}}", u32::from(letter)));
        } else {
            out.push(letter);
        }
    }
    out
}

/// Renders text in which words between backticks are code.
pub(crate) fn render_inline_code(text: &str) -> Markup {
    let parts: Vec<&str> = text.split('`').collect();
    // With an odd number of backticks, the last one is literal.
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

/// Formats a number with thousands separators.
pub(crate) fn group_thousands(number: usize) -> String {
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

/// Renders a time in UTC to the second. `page.js` shows it in the time zone of the browser; the `datetime` attribute has
/// the exact time.
pub(crate) fn render_time(at: &str) -> Markup {
    let short = at.split(['.', 'Z']).next().unwrap_or(at).replace('T', " ");
    html! { time datetime=(at) { (short) " UTC" } }
}

/// Formats a count with its noun.
pub(crate) fn format_count(count: usize, noun: &str) -> String {
    format!("{} {noun}{}", group_thousands(count), if count == 1 { "" } else { "s" })
}

/// Formats a size in bytes.
pub(crate) fn format_byte_size(size: u64) -> String {
    match size {
        0..1024 => format!("{size} B"),
        1024..1_048_576 => format!("{} KiB", size.div_ceil(1024)),
        _ => format!("{} MiB", size.div_ceil(1_048_576)),
    }
}

/// Truncates a text to at most `chars_max` characters, at the end of a word if one is near.
pub(crate) fn truncate_at_word(text: &str, chars_max: usize) -> String {
    let start = truncate_chars(text, chars_max);
    if start.len() == text.len() {
        return text.to_owned();
    }
    let end = start.rfind(char::is_whitespace).filter(|blank| start.len() - blank < 24).unwrap_or(start.len());
    format!("{}…", start[..end].trim_end())
}

/// Renders text in a fixed-width block that scrolls.
pub(crate) fn render_code_block(text: &str) -> Markup {
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
        assert_eq!(render_inline_code("a `<b>` c ` d").into_string(), "a <code>&lt;b&gt;</code> c ` d");
        assert_eq!(
            (group_thousands(1_234_567), truncate_at_word("abcd", 2)),
            ("1,234,567".to_owned(), "ab…".to_owned())
        );
    }
}
