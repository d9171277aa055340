//! A UASP file as a typed view; fields beyond the schema are kept.

use crate::frontmatter::{Text, text};
use crate::yaml::{Entry, Node};

/// The twelve sections, in the order of the specification.
pub const SECTIONS: [&str; 12] = [
    "meta",
    "triggers",
    "constraints",
    "decisions",
    "state",
    "commands",
    "global_flags",
    "workflows",
    "reference",
    "templates",
    "environment",
    "sources",
];

/// The file name ending of UASP files.
pub const SUFFIX: &str = ".uasp.yaml";

/// A UASP file whose root is a mapping.
#[derive(Clone, Copy, Debug)]
pub struct Uasp<'a>(pub &'a Node);

impl<'a> Uasp<'a> {
    /// A field of `meta` as text.
    pub fn meta(self, key: &str) -> Option<Text<'a>> {
        self.0.get("meta")?.get(key).and_then(text)
    }

    /// The commands: path and definition.
    pub fn commands(self) -> &'a [Entry] {
        self.0.get("commands").and_then(Node::entries).unwrap_or(&[])
    }

    /// The state entities.
    pub fn entities(self) -> &'a [Node] {
        self.0.get("state").and_then(|state| state.get("entities")).and_then(Node::items).unwrap_or(&[])
    }

    /// The decisions.
    pub fn decisions(self) -> &'a [Node] {
        self.0.get("decisions").and_then(Node::items).unwrap_or(&[])
    }

    /// The sources.
    pub fn sources(self) -> &'a [Node] {
        self.0.get("sources").and_then(Node::items).unwrap_or(&[])
    }

    /// The templates: name and definition.
    pub fn templates(self) -> &'a [Entry] {
        self.0.get("templates").and_then(Node::entries).unwrap_or(&[])
    }

    /// The names of the declared state entities.
    pub fn entity_names(self) -> Vec<&'a str> {
        self.entities().iter().filter_map(|entity| entity.get("name")?.text()).collect()
    }
}
