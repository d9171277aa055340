//! Makes foreign text safe to show: no control characters, no terminal escapes, bounded length.

/// The maximum length of what a report shows of foreign text.
const SHOWN_CHARS_MAX: usize = 200;

/// The text with control and invisible characters written as escapes, cut to 200 characters.
pub(crate) fn show_visibly(text: &str) -> String {
    let mut shown = String::new();
    for letter in text.chars().take(SHOWN_CHARS_MAX) {
        let is_hidden = letter.is_control()
            || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0000}'..='\u{e01ef}');
        if is_hidden {
            shown.push_str(&format!("\\u{{{:x}}}", u32::from(letter)));
        } else {
            shown.push(letter);
        }
    }
    if text.chars().nth(SHOWN_CHARS_MAX).is_some() {
        shown.push('…');
    }
    shown
}
