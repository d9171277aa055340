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

    /// The workflows: name and definition.
    pub fn workflows(self) -> &'a [Entry] {
        self.0.get("workflows").and_then(Node::entries).unwrap_or(&[])
    }

    /// The command a workflow's step starts: the one whose path, or alias, is the longest beginning of the step's words.
    /// The program's own name may stand before it.
    pub fn command_of_step(self, step: &str) -> Option<&'a Entry> {
        let words: Vec<&str> = step.split_whitespace().collect();
        let begins = |path: &str, words: &[&str]| {
            let parts: Vec<&str> = path.split('.').collect();
            words.starts_with(&parts).then_some(parts.len())
        };
        let length = |command: &Entry, words: &[&str]| {
            let aliases = command.value.get("aliases").and_then(Node::items).unwrap_or(&[]).iter();
            let names = aliases.filter_map(Node::text).chain(command.key.text());
            names.filter_map(|name| begins(name, words)).max()
        };
        let best = |words: &[&str]| {
            let scored = self.commands().iter().filter_map(|command| Some((length(command, words)?, command)));
            scored.max_by_key(|(length, _)| *length).map(|(_, command)| command)
        };
        let is_program = |word: &&&str| {
            let syntax = |command: &'a Entry| command.value.get("syntax")?.text()?.split_whitespace().next();
            self.commands().iter().filter_map(syntax).any(|program| program == **word)
        };
        best(&words).or_else(|| words.first().filter(is_program).and_then(|_| best(&words[1..])))
    }

    /// The names of the declared state entities.
    pub fn entity_names(self) -> Vec<&'a str> {
        self.entities().iter().filter_map(|entity| entity.get("name")?.text()).collect()
    }
}
