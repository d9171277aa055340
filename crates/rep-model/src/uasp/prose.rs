//! The descriptive texts of commands, workflows and reference entries, for search.
//!
//! Authors use `description`, `notes`, `note` and `purpose` interchangeably; the specification defines each of them
//! somewhere.

use serde_json::{Map, Value};

use super::{ReferenceEntry, UaspCommand, UaspWorkflow};

fn get_text<'a>(fields: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    fields.get(key)?.as_str()
}

impl UaspCommand {
    /// Returns the texts that describe the command.
    pub fn describing_texts(&self) -> impl Iterator<Item = &str> {
        let texts = [
            self.description.as_deref(),
            get_text(&self.extra, "notes"),
            self.note.as_deref(),
            self.purpose.as_deref(),
        ];
        texts.into_iter().flatten()
    }
}

impl UaspWorkflow {
    /// Returns the texts that describe the workflow.
    pub fn describing_texts(&self) -> impl Iterator<Item = &str> {
        let more = ["notes", "note", "purpose"].into_iter().filter_map(|key| get_text(&self.extra, key));
        self.description.as_deref().into_iter().chain(more)
    }
}

impl ReferenceEntry {
    /// Returns the texts that describe the entry.
    pub fn describing_texts(&self) -> impl Iterator<Item = &str> {
        let feature = |key| get_text(&self.features, key);
        let texts = [feature("description"), self.notes.as_deref(), feature("note"), feature("purpose")];
        texts.into_iter().flatten()
    }
}
