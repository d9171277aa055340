//! Renders a report as text, JSON, SARIF or GitHub annotations.

mod github;
mod json;
mod sarif;
mod text;

pub use github::render_github;
pub use json::{json_finding, render_json};
pub use sarif::render_sarif;
pub use text::{ColourMode, render_concise, render_errors, render_text};

/// Escapes control characters, and characters that reorder or hide text, so that the text cannot control a terminal or
/// forge a line.
pub fn escape_invisible(text: &str) -> std::borrow::Cow<'_, str> {
    let is_odd = |letter: char| letter.is_control() || crate::hidden_text::is_hidden_character(letter);
    if !text.chars().any(is_odd) {
        return text.into();
    }
    text.chars()
        .map(|letter| if is_odd(letter) { letter.escape_unicode().to_string() } else { letter.to_string() })
        .collect()
}
