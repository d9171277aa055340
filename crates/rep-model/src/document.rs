//! A skill in the twelve sections of UASP.

use serde_json::Value;

use crate::uasp::{Command, SECTIONS, Sections, Template, Uasp, Workflow, parse_sections};
use crate::yaml::{Node, core};
use crate::{Skill, UaspFile};

/// Where the structure comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The author's own UASP file.
    Authored,
    /// Extracted from Markdown by rule.
    Extracted,
}

impl Origin {
    /// The word in answers.
    pub const fn name(self) -> &'static str {
        match self {
            Origin::Authored => "authored",
            Origin::Extracted => "extracted",
        }
    }
}

/// One extracted value, and where it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// Where it stands in the document: keys, and numbers of items.
    pub path: Vec<Step>,
    /// The line of the SKILL.md it was read from, from 1.
    pub line: usize,
    /// Why a person should look at it, where one should.
    pub doubt: Option<String>,
}

/// A step of a path into a document.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// Into a mapping.
    Key(String),
    /// Into a list.
    Item(usize),
}

/// A skill in the twelve sections of UASP.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// The tree that `sections` was parsed from. It does not change.
    value: Value,
    /// The sections as typed values.
    pub sections: Sections,
    /// Where they come from.
    pub origin: Origin,
    /// Where each extracted value was read; empty for an author's own.
    pub facts: Vec<Fact>,
}

impl Document {
    /// The structure the author wrote, if there is a UASP file that can be read.
    pub fn authored(skill: &Skill) -> Option<Document> {
        skill.uasp.iter().find_map(UaspFile::view).map(|Uasp(root)| Document::from_node(root))
    }

    /// A document made of a tree. Never fails: what does not fit the sections is in the tree only.
    pub fn from_value(value: Value, origin: Origin, facts: Vec<Fact>) -> Document {
        let sections = parse_sections(&value, None);
        Document { value, sections, origin, facts }
    }

    /// The document of an author's file, with the span of every text.
    pub(crate) fn from_node(root: &Node) -> Document {
        let value = core::json(root);
        let sections = parse_sections(&value, Some(root));
        Document { value, sections, origin: Origin::Authored, facts: Vec::new() }
    }

    /// The whole tree: in the specification's order if it was extracted, else in the author's. Unknown fields are preserved.
    pub fn raw(&self) -> &Value {
        &self.value
    }

    /// The whole tree by itself.
    pub fn into_raw(self) -> Value {
        self.value
    }

    /// Finds a command by its path, else by an alias.
    pub fn command(&self, name: &str) -> Option<&Command> {
        self.sections.commands.get(name)
    }

    /// Finds a command by its path or alias, with dots or blanks between the parts.
    pub fn find_command(&self, name: &str) -> Option<&Command> {
        self.sections.commands.find(name)
    }

    /// Finds a template by its name.
    pub fn template(&self, name: &str) -> Option<&Template> {
        self.sections.templates.iter().find(|template| *template.name == *name)
    }

    /// Finds a workflow by its name.
    pub fn workflow(&self, name: &str) -> Option<&Workflow> {
        self.sections.workflows.iter().find(|workflow| *workflow.name == *name)
    }

    /// What can be run, by path: the commands, and the templates as `templates.NAME`.
    pub fn runnable_names(&self) -> Vec<String> {
        let commands = self.sections.commands.iter().map(|command| command.path.value.clone());
        let templates = self.sections.templates.iter().map(|template| format!("templates.{}", template.name));
        commands.chain(templates).collect()
    }

    /// The sections the specification does not know, in the order of the document.
    pub fn unknown_sections(&self) -> impl Iterator<Item = (&str, &Value)> {
        let all = self.value.as_object().into_iter().flatten().map(|(name, value)| (name.as_str(), value));
        all.filter(|(name, _)| !SECTIONS.contains(name))
    }
}
