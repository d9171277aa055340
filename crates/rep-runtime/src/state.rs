//! State entities and what commands do to them: UASP §5.5 and §9.3.
//!
//! An entity is not there, valid, or invalid. A command needs what it `requires` to be valid; when it
//! has run, what it `creates` is valid if it succeeded, and what it `invalidates` is invalid whether
//! it did or not, in that order. Names are taken as commands write them, declared or not. A
//! requirement that names a command is met once that command has succeeded.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

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

/// The commands of a document: path and definition.
pub fn commands(document: &Value) -> Option<&Map<String, Value>> {
    document.get("commands")?.as_object()
}

/// Finds a command by its path, else by an alias.
pub fn command<'a>(document: &'a Value, name: &str) -> Option<(&'a str, &'a Value)> {
    let commands = commands(document)?;
    let exact = commands.get_key_value(name);
    let aliased = || commands.iter().find(|(_, command)| texts(command, "aliases").any(|alias| alias == name));
    exact.or_else(aliased).map(|(name, command)| (name.as_str(), command))
}

/// The texts of a list in a command, such as `requires`.
pub fn texts<'a>(command: &'a Value, key: &str) -> impl Iterator<Item = &'a str> {
    command.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

impl State {
    /// The state before anything ran: nothing is valid.
    pub fn new(document: &Value) -> Self {
        let declared = document.get("state").and_then(|state| state.get("entities")).and_then(Value::as_array);
        let declared = declared.into_iter().flatten().filter_map(|entity| entity.get("name")?.as_str());
        let spoken = commands(document).into_iter().flatten().flat_map(|(_, command)| {
            ["requires", "creates", "invalidates"].into_iter().flat_map(|key| texts(command, key))
        });
        let names: BTreeSet<&str> = declared.chain(spoken).collect();
        Self { entities: names.into_iter().map(|name| (name.to_owned(), Entity::default())).collect() }
    }

    /// What a command requires and is not valid.
    pub fn missing<'a>(&self, command: &'a Value) -> Vec<&'a str> {
        let is_valid = |name: &str| self.entities.get(name).is_some_and(|entity| entity.is_valid);
        texts(command, "requires").filter(|name| !is_valid(name)).collect()
    }

    /// Applies what a command does to the state; `at` is when.
    pub fn apply(&mut self, name: &str, command: &Value, ended: &Ended, at: Option<&str>) {
        if let Ended::Well(value) = ended {
            let made: Vec<&str> = texts(command, "creates").collect();
            // Its own name only where somebody requires it.
            let own = self.entities.contains_key(name).then_some(name);
            for entity in made.into_iter().chain(own) {
                let entity = self.entities.entry(entity.to_owned()).or_default();
                *entity = Entity {
                    is_valid: true,
                    value: value.clone(),
                    made_by: Some(name.to_owned()),
                    made_at: at.map(str::to_owned),
                    ..Entity::default()
                };
            }
        }
        for entity in texts(command, "invalidates") {
            let entity = self.entities.entry(entity.to_owned()).or_default();
            entity.is_valid = false;
            entity.ended_by = Some(name.to_owned());
            entity.ended_at = at.map(str::to_owned);
        }
    }

    /// The commands whose requirements are met, in the skill's order.
    pub fn runnable<'a>(&self, document: &'a Value) -> Vec<&'a str> {
        let all = commands(document).into_iter().flatten();
        all.filter(|(_, command)| self.missing(command).is_empty()).map(|(name, _)| name.as_str()).collect()
    }

    /// The state after a sequence of commands that all end well, or the first that could not run.
    pub fn after(document: &Value, sequence: &[&str]) -> Result<Self, Illegal> {
        Self::new(document).then(document, sequence)
    }

    /// This state after a sequence of commands that all end well, or the first that could not run.
    pub fn then(mut self, document: &Value, sequence: &[&str]) -> Result<Self, Illegal> {
        for given in sequence {
            let unknown = || Illegal::Unknown { command: (*given).to_owned() };
            let (name, command) = self::command(document, given).ok_or_else(unknown)?;
            let missing = self.missing(command);
            if !missing.is_empty() {
                let entities = missing.into_iter().map(str::to_owned).collect();
                return Err(Illegal::Missing { command: name.to_owned(), entities });
            }
            self.apply(name, command, &Ended::Well(None), None);
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn browser() -> Value {
        json!({
            "state": { "entities": [{ "name": "ref" }] },
            "commands": {
                "open": { "syntax": "b open <url>", "aliases": ["goto"], "invalidates": ["refs"] },
                "snapshot": { "syntax": "b snapshot", "creates": ["refs"] },
                "click": { "syntax": "b click <ref>", "requires": ["refs"], "invalidates": ["refs"] },
                "report": { "syntax": "b report", "requires": ["open"] },
            },
        })
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
        let document = json!({ "commands": { "x": { "syntax": "x", "creates": ["a"], "invalidates": ["b"] } } });
        let command = &document["commands"]["x"];
        let mut state = State::new(&document);
        state.entities.get_mut("b").unwrap().is_valid = true;
        state.apply("x", command, &Ended::Badly, Some("then"));
        assert!(!state.entities["a"].is_valid && !state.entities["b"].is_valid);
        assert_eq!(state.entities["b"].ended_at.as_deref(), Some("then"));
        state.apply("x", command, &Ended::Well(Some("out".to_owned())), None);
        assert_eq!(state.entities["a"].value.as_deref(), Some("out"));
    }

    #[test]
    fn creating_comes_before_invalidating() {
        let document = json!({ "commands": { "x": { "syntax": "x", "creates": ["a"], "invalidates": ["a"] } } });
        assert!(!State::after(&document, &["x"]).unwrap().entities["a"].is_valid);
    }
}
