//! A skill in the twelve sections of UASP.

use serde_json::Value;

use crate::{Skill, yaml::core};

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
    /// The sections, in the specification's order where they were extracted, else in the author's.
    pub value: Value,
    /// Where they come from.
    pub origin: Origin,
    /// Where each extracted value was read; empty for an author's own.
    pub facts: Vec<Fact>,
}

impl Document {
    /// The structure the author wrote, if there is a UASP file that can be read.
    pub fn authored(skill: &Skill) -> Option<Document> {
        let root = skill.uasp.iter().find_map(|file| file.view().and(file.root.as_ref()))?;
        Some(Document { value: core::json(root), origin: Origin::Authored, facts: Vec::new() })
    }
}
