//! Text with the place it is written at.

use std::fmt;
use std::ops::Deref;

use crate::Span;

/// A scalar read as text, and where it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpannedText {
    /// The text as written.
    pub value: String,
    /// The bytes it is written in; `None` if the document was not read from an author's file.
    pub span: Option<Span>,
    /// Whether YAML 1.2 reads it as text too, and not as a number or a boolean.
    pub is_text: bool,
}

impl SpannedText {
    /// A text without a place.
    pub fn new(value: impl Into<String>) -> Self {
        Self { value: value.into(), span: None, is_text: true }
    }

    /// Where it is written; the beginning of the file if that is not known.
    pub fn place(&self) -> Span {
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
