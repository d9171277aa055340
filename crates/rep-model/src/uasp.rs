//! UASP: a file's fields as a cheap view over its nodes ([`Uasp`]), and a whole document as typed values ([`Sections`]).
//!
//! The view serves those who need a field or two of many files, and those who judge how a field is written. Everything else
//! reads a [`Document`](crate::Document), which is parsed once.

mod commands;
mod parse;
mod prose;
mod sections;
mod text;
mod version;

pub use commands::Commands;
pub(crate) use parse::parse_sections;
pub use sections::{
    ApiSettings, Argument, ArgumentLocation, Command, Constraints, Decision, EnvironmentVariable, Meta, Preference,
    ReferenceEntry, RequestFields, Sections, SourceEntry, StateEntity, StateModel, Template, Triggers, Variant,
    Workflow, WorkflowStep,
};
pub use text::SpannedText;
pub use version::{VERSION_DIGITS, with_version};

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
    /// The section `meta`.
    pub fn meta_fields(self) -> Option<&'a Node> {
        self.0.get("meta")
    }

    fn meta_text(self, key: &str) -> Option<Text<'a>> {
        self.meta_fields()?.get(key).and_then(text)
    }

    /// The skill's name.
    pub fn name(self) -> Option<Text<'a>> {
        self.meta_text("name")
    }

    /// The declared version.
    pub fn version(self) -> Option<Text<'a>> {
        self.meta_text("version")
    }

    /// The entry of `meta` that declares the version, null or not.
    pub fn version_entry(self) -> Option<&'a Entry> {
        self.meta_fields()?.entry("version")
    }

    /// `type`: what kind of skill it is.
    pub fn kind(self) -> Option<Text<'a>> {
        self.meta_text("type")
    }

    /// What the skill does.
    pub fn description(self) -> Option<Text<'a>> {
        self.meta_text("description")
    }

    /// The section `triggers`.
    pub fn triggers(self) -> Option<&'a Node> {
        self.0.get("triggers")
    }

    fn trigger_texts(self, key: &str) -> Vec<Text<'a>> {
        let items = self.triggers().and_then(|triggers| triggers.get(key)).and_then(Node::items).unwrap_or(&[]);
        items.iter().filter(|item| !item.is_null()).filter_map(text).collect()
    }

    /// The words that suggest the skill.
    pub fn keywords(self) -> Vec<Text<'a>> {
        self.trigger_texts("keywords")
    }

    /// What a user wants to do.
    pub fn intents(self) -> Vec<Text<'a>> {
        self.trigger_texts("intents")
    }

    /// The globs of files that suggest the skill.
    pub fn file_patterns(self) -> Vec<Text<'a>> {
        self.trigger_texts("file_patterns")
    }

    /// The entries of `reference`: name and definition.
    pub fn reference(self) -> &'a [Entry] {
        self.0.get("reference").and_then(Node::entries).unwrap_or(&[])
    }

    /// The entries of `templates`: name and definition.
    pub fn templates(self) -> &'a [Entry] {
        self.0.get("templates").and_then(Node::entries).unwrap_or(&[])
    }

    /// The items of `environment`.
    pub fn environment(self) -> &'a [Node] {
        self.0.get("environment").and_then(Node::items).unwrap_or(&[])
    }
}

#[cfg(test)]
mod tests;
