//! A rough count of tokens, for advice about length.
//!
//! An estimate, and labelled so wherever it is shown: public skills average 4.15 characters a
//! token, 3.1 where the text is mostly Chinese, so letters beyond Latin weigh more.

/// Estimates the tokens of a text from its characters.
pub(crate) fn estimate(text: &str) -> usize {
    if text.is_ascii() {
        return text.len() * 100 / 415;
    }
    let (mut narrow, mut wide) = (0_usize, 0_usize);
    for letter in text.chars() {
        if u32::from(letter) < 0x2e80 {
            narrow += 1;
        } else {
            wide += 1;
        }
    }
    narrow * 100 / 415 + wide * 100 / 150
}
