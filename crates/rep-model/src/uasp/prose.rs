//! What commands, workflows and reference entries say about themselves, for search.
//!
//! Authors use `description`, `notes`, `note` and `purpose` wherever they like; the specification has each of them somewhere.

use serde_json::{Map, Value};

use super::{Command, ReferenceEntry, Workflow};

fn text<'a>(fields: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    fields.get(key)?.as_str()
}

impl Command {
    /// The texts that describe it.
    pub fn prose(&self) -> impl Iterator<Item = &str> {
        let texts =
            [self.description.as_deref(), text(&self.extra, "notes"), self.note.as_deref(), self.purpose.as_deref()];
        texts.into_iter().flatten()
    }
}

impl Workflow {
    /// The texts that describe it.
    pub fn prose(&self) -> impl Iterator<Item = &str> {
        let more = ["notes", "note", "purpose"].into_iter().filter_map(|key| text(&self.extra, key));
        self.description.as_deref().into_iter().chain(more)
    }
}

impl ReferenceEntry {
    /// The texts that describe it.
    pub fn prose(&self) -> impl Iterator<Item = &str> {
        let feature = |key| text(&self.features, key);
        let texts = [feature("description"), self.notes.as_deref(), feature("note"), feature("purpose")];
        texts.into_iter().flatten()
    }
}
