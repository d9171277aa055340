//! What reading found to be wrong, before anybody has judged how bad that is.

use crate::Span;

/// A change to one file that mends a fault without changing what the file means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The bytes to replace, in the file of the fault.
    pub span: Span,
    /// What takes their place.
    pub replacement: String,
}

/// Something the reader noticed. The name of the rule says what kind of fault it is; the
/// level is decided later, by the profile the skill is judged under.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The rule this is a case of.
    pub rule: &'static str,
    /// The file, relative to the skill's root; empty for the skill as a whole.
    pub file: String,
    /// Where in that file.
    pub span: Span,
    /// What is wrong: one lower-case phrase.
    pub message: String,
    /// What to do about it.
    pub help: String,
    /// A safe edit, where there is one.
    pub edit: Option<Edit>,
}

impl Fault {
    /// Makes a fault without an edit.
    pub fn new(rule: &'static str, file: &str, span: Span, message: String, help: &str) -> Self {
        Self { rule, file: file.to_owned(), span, message, help: help.to_owned(), edit: None }
    }

    /// Adds the edit that mends it.
    #[must_use]
    pub fn with_edit(mut self, span: Span, replacement: impl Into<String>) -> Self {
        self.edit = Some(Edit { span, replacement: replacement.into() });
        self
    }
}
