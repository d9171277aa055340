//! One report, several forms: for people, for programs, for code hosts.

mod github;
mod json;
mod sarif;
mod text;

pub use github::github;
pub use json::{finding as json_finding, json};
pub use sarif::sarif;
pub use text::{Paint, concise, text};

/// Text that cannot steer a terminal or forge a line: control characters and those that reorder or hide text are
/// written as escapes.
pub fn visible(text: &str) -> std::borrow::Cow<'_, str> {
    let is_odd = |letter: char| letter.is_control() || crate::hidden_text::is_hidden(letter);
    if !text.chars().any(is_odd) {
        return text.into();
    }
    text.chars()
        .map(|letter| if is_odd(letter) { letter.escape_unicode().to_string() } else { letter.to_string() })
        .collect()
}
