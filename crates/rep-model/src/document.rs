//! A skill in the twelve sections of UASP.

use serde_json::Value;

use crate::uasp::{SECTION_NAMES, UaspCommand, UaspSections, UaspTemplate, UaspView, UaspWorkflow, parse_sections};
use crate::yaml::{YamlNode, core};
use crate::{Skill, UaspFile};

/// The origin of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentOrigin {
    /// The author's own UASP file.
    Authored,
    /// Extracted from Markdown by rules.
    Extracted,
}

impl DocumentOrigin {
    /// Returns the name in output.
    pub const fn name(self) -> &'static str {
        match self {
            DocumentOrigin::Authored => "authored",
            DocumentOrigin::Extracted => "extracted",
        }
    }
}

/// An extracted value, and its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtractedFact {
    /// The path in the document: keys and item numbers.
    pub path: Vec<ValuePathStep>,
    /// The line of the SKILL.md that it was extracted from, starting at 1.
    pub line: usize,
    /// The reason why a person should review it, if there is one.
    pub doubt: Option<String>,
    /// The extraction rule that found it, if any.
    pub rule: Option<&'static str>,
}

/// A step of a path into a document.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ValuePathStep {
    /// Into a mapping.
    Key(String),
    /// Into a list.
    Item(usize),
}

/// A skill in the twelve sections of UASP.
#[derive(Clone, Debug, PartialEq)]
pub struct SkillDocument {
    /// The tree that `sections` was parsed from. It never changes.
    value: Value,
    /// The sections as typed values.
    pub sections: UaspSections,
    /// The origin of the sections.
    pub origin: DocumentOrigin,
    /// The sources of extracted values; empty for an authored document.
    pub facts: Vec<ExtractedFact>,
}

impl SkillDocument {
    /// Returns the authored document, if the skill has a readable UASP file.
    pub fn from_skill(skill: &Skill) -> Option<SkillDocument> {
        skill.uasp.iter().find_map(UaspFile::view).map(|UaspView(root)| SkillDocument::from_node(root))
    }

    /// Creates a document from a tree. Never fails: values that do not match the sections remain in the tree only.
    pub fn from_value(value: Value, origin: DocumentOrigin, facts: Vec<ExtractedFact>) -> SkillDocument {
        let sections = parse_sections(&value, None);
        SkillDocument { value, sections, origin, facts }
    }

    /// Creates the document of an authored file, with the span of every text.
    pub(crate) fn from_node(root: &YamlNode) -> SkillDocument {
        let value = core::to_json(root);
        let sections = parse_sections(&value, Some(root));
        SkillDocument { value, sections, origin: DocumentOrigin::Authored, facts: Vec::new() }
    }

    /// Returns the value at a path of the tree.
    pub fn find_value(&self, path: &[ValuePathStep]) -> Option<&Value> {
        path.iter().try_fold(&self.value, |value, step| match step {
            ValuePathStep::Key(key) => value.get(key),
            ValuePathStep::Item(number) => value.get(number),
        })
    }

    /// Returns the whole tree: in the specification's order if extracted, else in the author's. Unknown fields are
    /// preserved.
    pub fn raw_value(&self) -> &Value {
        &self.value
    }

    /// Returns the whole tree, consuming the document.
    pub fn into_raw_value(self) -> Value {
        self.value
    }

    /// Finds a command by its path, or else by an alias.
    pub fn get_command(&self, name: &str) -> Option<&UaspCommand> {
        self.sections.commands.get(name)
    }

    /// Finds a command by its path or alias, with dots or spaces between the parts.
    pub fn find_command(&self, name: &str) -> Option<&UaspCommand> {
        self.sections.commands.find_by_name(name)
    }

    /// Finds a template by its name.
    pub fn find_template(&self, name: &str) -> Option<&UaspTemplate> {
        self.sections.templates.iter().find(|template| *template.name == *name)
    }

    /// Finds a workflow by its name.
    pub fn find_workflow(&self, name: &str) -> Option<&UaspWorkflow> {
        self.sections.workflows.iter().find(|workflow| *workflow.name == *name)
    }

    /// Returns the paths of everything runnable: the commands, and the templates as `templates.NAME`.
    pub fn runnable_names(&self) -> Vec<String> {
        let commands = self.sections.commands.iter().map(|command| command.path.value.clone());
        let templates = self.sections.templates.iter().map(|template| format!("templates.{}", template.name));
        commands.chain(templates).collect()
    }

    /// Returns the sections that the specification does not define, in document order.
    pub fn unknown_sections(&self) -> impl Iterator<Item = (&str, &Value)> {
        let all = self.value.as_object().into_iter().flatten().map(|(name, value)| (name.as_str(), value));
        all.filter(|(name, _)| !SECTION_NAMES.contains(name))
    }
}
