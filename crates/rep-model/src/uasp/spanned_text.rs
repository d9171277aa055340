//! Text with its location.

use std::fmt;
use std::ops::Deref;

use crate::Span;

/// A scalar read as text, and its location.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpannedText {
    /// The text as written.
    pub value: String,
    /// The location, or `None` if the document was not read from an authored file.
    pub span: Option<Span>,
    /// Whether YAML 1.2 also reads it as a string, not as a number or a boolean.
    pub is_text: bool,
}

impl SpannedText {
    /// Creates a text without a location.
    pub fn new(value: impl Into<String>) -> Self {
        Self { value: value.into(), span: None, is_text: true }
    }

    /// Returns the location, or the start of the file if it is unknown.
    pub fn span_or_start(&self) -> Span {
        self.span.unwrap_or_default()
    }
}

impl Deref for SpannedText {
    type Target = str;

    fn deref(&self) -> &str {
        &self.value
    }
}

impl fmt::Display for SpannedText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.value)
    }
}
