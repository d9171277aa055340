//! UASP: a lightweight view of a file's fields ([`UaspView`]), and a whole document as typed values ([`UaspSections`]).
//!
//! The view is for code that needs few fields of many files, and for code that checks how a field is written.
//! Everything else uses a [`SkillDocument`](crate::SkillDocument), which is parsed once.

mod commands;
mod effects;
mod parse;
mod prose;
mod sections;
mod spanned_text;
mod version;

pub use commands::UaspCommands;
pub use effects::{CommandEffects, StateEffects};
pub(crate) use parse::parse_sections;
pub use sections::{
    ApiSettings, ArgumentLocation, CommandVariant, EnvironmentVariable, ReferenceEntry, RequestFields, SourceEntry,
    StateEntity, StateModel, UaspArgument, UaspCommand, UaspConstraints, UaspDecision, UaspMeta, UaspPreference,
    UaspSections, UaspTemplate, UaspTriggers, UaspWorkflow, WorkflowStep,
};
pub use spanned_text::SpannedText;
pub use version::{VERSION_DIGITS, store_version};

use crate::frontmatter::{ScalarText, read_text};
use crate::yaml::{YamlEntry, YamlNode};

/// The twelve sections, in the order of the specification.
pub const SECTION_NAMES: [&str; 12] = [
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

/// The file name suffix of UASP files.
pub const FILE_SUFFIX: &str = ".uasp.yaml";

/// A UASP file whose root is a mapping.
#[derive(Clone, Copy, Debug)]
pub struct UaspView<'a>(pub &'a YamlNode);

impl<'a> UaspView<'a> {
    /// Returns the section `meta`.
    pub fn meta_fields(self) -> Option<&'a YamlNode> {
        self.0.get("meta")
    }

    fn meta_text(self, key: &str) -> Option<ScalarText<'a>> {
        self.meta_fields()?.get(key).and_then(read_text)
    }

    /// Returns the skill's name.
    pub fn name(self) -> Option<ScalarText<'a>> {
        self.meta_text("name")
    }

    /// Returns the declared version.
    pub fn version(self) -> Option<ScalarText<'a>> {
        self.meta_text("version")
    }

    /// Returns the entry of `meta` that declares the version, even if its value is null.
    pub fn version_entry(self) -> Option<&'a YamlEntry> {
        self.meta_fields()?.find_entry("version")
    }

    /// Returns `type`, the kind of the skill.
    pub fn kind(self) -> Option<ScalarText<'a>> {
        self.meta_text("type")
    }

    /// Returns the description of the skill.
    pub fn description(self) -> Option<ScalarText<'a>> {
        self.meta_text("description")
    }

    /// Returns the section `triggers`.
    pub fn triggers(self) -> Option<&'a YamlNode> {
        self.0.get("triggers")
    }

    fn trigger_texts(self, key: &str) -> Vec<ScalarText<'a>> {
        let items = self.triggers().and_then(|triggers| triggers.get(key)).and_then(YamlNode::items).unwrap_or(&[]);
        items.iter().filter(|item| !item.is_null()).filter_map(read_text).collect()
    }

    /// Returns the keywords that suggest the skill.
    pub fn keywords(self) -> Vec<ScalarText<'a>> {
        self.trigger_texts("keywords")
    }

    /// Returns the user intents that suggest the skill.
    pub fn intents(self) -> Vec<ScalarText<'a>> {
        self.trigger_texts("intents")
    }

    /// Returns the globs of files that suggest the skill.
    pub fn file_patterns(self) -> Vec<ScalarText<'a>> {
        self.trigger_texts("file_patterns")
    }

    /// Returns the entries of `reference`: name and definition.
    pub fn reference_entries(self) -> &'a [YamlEntry] {
        self.0.get("reference").and_then(YamlNode::entries).unwrap_or(&[])
    }

    /// Returns the entries of `templates`: name and definition.
    pub fn template_entries(self) -> &'a [YamlEntry] {
        self.0.get("templates").and_then(YamlNode::entries).unwrap_or(&[])
    }

    /// Returns the items of `environment`.
    pub fn environment_items(self) -> &'a [YamlNode] {
        self.0.get("environment").and_then(YamlNode::items).unwrap_or(&[])
    }
}

#[cfg(test)]
mod tests;
