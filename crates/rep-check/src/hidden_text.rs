//! Characters that are invisible to people but read by agents, and characters that change the displayed order.

/// Whether a character is invisible and can carry instructions, or reorders the displayed text.
pub(crate) fn is_hidden_character(letter: char) -> bool {
    is_tag_character(letter) || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether a character is one of Unicode's invisible tag characters.
pub(crate) fn is_tag_character(letter: char) -> bool {
    matches!(letter, '\u{e0000}'..='\u{e007f}')
}
