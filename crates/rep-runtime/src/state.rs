//! State entities and what commands do to them: UASP §5.5 and §9.3.
//!
//! An entity is not there, valid, or invalid. A command needs what it `requires` to be valid; when it
//! has run, what it `creates` is valid if it succeeded, and what it `invalidates` is invalid whether
//! it did or not, in that order. Names are taken as commands write them, declared or not. A
//! requirement that names a command is met once that command has succeeded.

use std::collections::{BTreeMap, BTreeSet};

use rep_model::Document;
use rep_model::uasp::Command;

/// One entity.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entity {
    /// Whether it can be used.
    pub is_valid: bool,
    /// What the command that made it said.
    pub value: Option<String>,
    /// The command that made it last.
    pub made_by: Option<String>,
    /// When it was made, where somebody kept that.
    pub made_at: Option<String>,
    /// The command that ended it last.
    pub ended_by: Option<String>,
    /// When it was ended, where somebody kept that.
    pub ended_at: Option<String>,
}

/// The entities of a skill.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// By name: those declared and those commands speak of.
    pub entities: BTreeMap<String, Entity>,
}

/// Why a sequence of commands cannot be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Illegal {
    /// There is no such command.
    Unknown {
        /// Its name as given.
        command: String,
    },
    /// What it requires is not valid.
    Missing {
        /// The command.
        command: String,
        /// The entities, in the order it requires them.
        entities: Vec<String>,
    },
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Well, and what it said.
    Well(Option<String>),
    /// Badly.
    Badly,
}

impl State {
    /// The state before anything ran: nothing is valid.
    pub fn new(document: &Document) -> Self {
        let declared = document.sections.state.names();
        let commands = document.sections.commands.iter();
        let lists = commands.flat_map(|command| [&command.requires, &command.creates, &command.invalidates]);
        let names: BTreeSet<&str> = declared.chain(lists.flatten().map(|name| &**name)).collect();
        Self { entities: names.into_iter().map(|name| (name.to_owned(), Entity::default())).collect() }
    }

    /// What a command requires and is not valid.
    pub fn missing<'a>(&self, command: &'a Command) -> Vec<&'a str> {
        let is_valid = |name: &str| self.entities.get(name).is_some_and(|entity| entity.is_valid);
        command.requires.iter().map(|name| &**name).filter(|name| !is_valid(name)).collect()
    }

    /// Applies what a command does to the state; `at` is when.
    pub fn apply(&mut self, command: &Command, ended: &Ended, at: Option<&str>) {
        let name = &command.path;
        if let Ended::Well(value) = ended {
            // Its own name only where somebody requires it.
            let own = self.entities.contains_key(&**name).then_some(name);
            for entity in command.creates.iter().chain(own) {
                let entity = self.entities.entry(entity.to_string()).or_default();
                *entity = Entity {
                    is_valid: true,
                    value: value.clone(),
                    made_by: Some(name.to_string()),
                    made_at: at.map(str::to_owned),
                    ..Entity::default()
                };
            }
        }
        for entity in &command.invalidates {
            let entity = self.entities.entry(entity.to_string()).or_default();
            entity.is_valid = false;
            entity.ended_by = Some(name.to_string());
            entity.ended_at = at.map(str::to_owned);
        }
    }

    /// The commands whose requirements are met, in the skill's order.
    pub fn runnable<'a>(&self, document: &'a Document) -> Vec<&'a str> {
        let all = document.sections.commands.iter();
        all.filter(|command| self.missing(command).is_empty()).map(|command| &*command.path).collect()
    }

    /// The state after a sequence of commands that all end well, or the first that could not run.
    pub fn after(document: &Document, sequence: &[&str]) -> Result<Self, Illegal> {
        Self::new(document).then(document, sequence)
    }

    /// This state after a sequence of commands that all end well, or the first that could not run.
    pub fn then(mut self, document: &Document, sequence: &[&str]) -> Result<Self, Illegal> {
        for given in sequence {
            let unknown = || Illegal::Unknown { command: (*given).to_owned() };
            let command = document.command(given).ok_or_else(unknown)?;
            let missing = self.missing(command);
            if !missing.is_empty() {
                let entities = missing.into_iter().map(str::to_owned).collect();
                return Err(Illegal::Missing { command: command.path.to_string(), entities });
            }
            self.apply(command, &Ended::Well(None), None);
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use rep_model::Origin;
    use serde_json::{Value, json};

    use super::*;

    fn document(value: Value) -> Document {
        Document::from_value(value, Origin::Authored, Vec::new())
    }

    fn browser() -> Document {
        document(json!({
            "state": { "entities": [{ "name": "ref" }] },
            "commands": {
                "open": { "syntax": "b open <url>", "aliases": ["goto"], "invalidates": ["refs"] },
                "snapshot": { "syntax": "b snapshot", "creates": ["refs"] },
                "click": { "syntax": "b click <ref>", "requires": ["refs"], "invalidates": ["refs"] },
                "report": { "syntax": "b report", "requires": ["open"] },
            },
        }))
    }

    #[test]
    fn commands_make_and_end_entities() {
        let document = browser();
        let state = State::after(&document, &["goto", "snapshot"]).unwrap();
        assert!(state.entities["refs"].is_valid && !state.entities["ref"].is_valid);
        assert_eq!(state.entities["refs"].made_by.as_deref(), Some("snapshot"));
        assert_eq!(state.runnable(&document), ["open", "snapshot", "click", "report"]);
        let state = State::after(&document, &["snapshot", "click"]).unwrap();
        assert_eq!(state.runnable(&document), ["open", "snapshot"]);
        assert_eq!(state.entities["refs"].ended_by.as_deref(), Some("click"));
        let missing = Illegal::Missing { command: "click".to_owned(), entities: vec!["refs".to_owned()] };
        assert_eq!(State::after(&document, &["open", "click"]), Err(missing));
        assert_eq!(State::after(&document, &["fly"]), Err(Illegal::Unknown { command: "fly".to_owned() }));
    }

    #[test]
    fn a_failed_command_makes_nothing_and_still_ends_what_it_ends() {
        let document =
            document(json!({ "commands": { "x": { "syntax": "x", "creates": ["a"], "invalidates": ["b"] } } }));
        let command = document.command("x").unwrap();
        let mut state = State::new(&document);
        state.entities.get_mut("b").unwrap().is_valid = true;
        state.apply(command, &Ended::Badly, Some("then"));
        assert!(!state.entities["a"].is_valid && !state.entities["b"].is_valid);
        assert_eq!(state.entities["b"].ended_at.as_deref(), Some("then"));
        state.apply(command, &Ended::Well(Some("out".to_owned())), None);
        assert_eq!(state.entities["a"].value.as_deref(), Some("out"));
    }

    #[test]
    fn creating_comes_before_invalidating() {
        let document =
            document(json!({ "commands": { "x": { "syntax": "x", "creates": ["a"], "invalidates": ["a"] } } }));
        assert!(!State::after(&document, &["x"]).unwrap().entities["a"].is_valid);
    }
}
