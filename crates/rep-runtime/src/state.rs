//! State entities and how commands change them: UASP §5.5 and §9.3.
//!
//! An entity is absent, valid or invalid. The entities that a command `requires` must be valid. After the
//! command ran, the entities it `creates` are valid if it succeeded, and then the entities it `invalidates`
//! are invalid in any case. Names are used as commands write them, declared or not. A requirement that names
//! a command is met once that command has succeeded.

use std::collections::{BTreeMap, BTreeSet};

use rep_model::SkillDocument;
use rep_model::uasp::UaspCommand;

/// The status of one entity.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntityStatus {
    /// Whether it can be used.
    pub is_valid: bool,
    /// The output of the command that created it.
    pub value: Option<String>,
    /// The command that created it last.
    pub made_by: Option<String>,
    /// When it was created, if that was stored.
    pub made_at: Option<String>,
    /// The command that invalidated it last.
    pub ended_by: Option<String>,
    /// When it was invalidated, if that was stored.
    pub ended_at: Option<String>,
}

/// The entities of a skill.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandState {
    /// The entities by name: declared ones and those that commands mention.
    pub entities: BTreeMap<String, EntityStatus>,
}

/// Why a sequence of commands cannot run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandSequenceError {
    /// The command does not exist.
    UnknownCommand {
        /// The name as given.
        command: String,
    },
    /// Required entities are not valid.
    MissingEntities {
        /// The command.
        command: String,
        /// The entities, in the order in which they are required.
        entities: Vec<String>,
    },
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandEnding {
    /// The command succeeded, with its output.
    Succeeded(Option<String>),
    /// The command failed.
    Failed,
}

impl CommandState {
    /// Creates the initial state, in which nothing is valid.
    pub fn new(document: &SkillDocument) -> Self {
        let declared = document.sections.state.entity_names();
        let commands = document.sections.commands.iter();
        let lists = commands.flat_map(|command| [&command.requires, &command.creates, &command.invalidates]);
        let names: BTreeSet<&str> = declared.chain(lists.flatten().map(|name| &**name)).collect();
        Self { entities: names.into_iter().map(|name| (name.to_owned(), EntityStatus::default())).collect() }
    }

    /// Returns the required entities that are not valid.
    pub fn missing_entities<'a>(&self, command: &'a UaspCommand) -> Vec<&'a str> {
        let is_valid = |name: &str| self.entities.get(name).is_some_and(|entity| entity.is_valid);
        command.requires.iter().map(|name| &**name).filter(|name| !is_valid(name)).collect()
    }

    /// Applies the effects of a command to the state, at the time `at`.
    pub fn apply_command(&mut self, command: &UaspCommand, ended: &CommandEnding, at: Option<&str>) {
        let name = &command.path;
        if let CommandEnding::Succeeded(value) = ended {
            // A command's own name is an entity only if another command requires it.
            let own = self.entities.contains_key(&**name).then_some(name);
            for entity in command.creates.iter().chain(own) {
                let entity = self.entities.entry(entity.to_string()).or_default();
                *entity = EntityStatus {
                    is_valid: true,
                    value: value.clone(),
                    made_by: Some(name.to_string()),
                    made_at: at.map(str::to_owned),
                    ..EntityStatus::default()
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

    /// Returns the commands whose requirements are met, in the skill's order.
    pub fn runnable_commands<'a>(&self, document: &'a SkillDocument) -> Vec<&'a str> {
        let all = document.sections.commands.iter();
        all.filter(|command| self.missing_entities(command).is_empty()).map(|command| &*command.path).collect()
    }

    /// Computes the state after a sequence of successful commands, or the first command that could not run.
    pub fn after_commands(document: &SkillDocument, sequence: &[&str]) -> Result<Self, CommandSequenceError> {
        Self::new(document).advance_through(document, sequence)
    }

    /// Advances this state through a sequence of successful commands, or returns the first one that could not
    /// run.
    pub fn advance_through(
        mut self,
        document: &SkillDocument,
        sequence: &[&str],
    ) -> Result<Self, CommandSequenceError> {
        for given in sequence {
            let unknown = || CommandSequenceError::UnknownCommand { command: (*given).to_owned() };
            let command = document.get_command(given).ok_or_else(unknown)?;
            let missing = self.missing_entities(command);
            if !missing.is_empty() {
                let entities = missing.into_iter().map(str::to_owned).collect();
                return Err(CommandSequenceError::MissingEntities { command: command.path.to_string(), entities });
            }
            self.apply_command(command, &CommandEnding::Succeeded(None), None);
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use rep_model::DocumentOrigin;
    use serde_json::{Value, json};

    use super::*;

    fn document(value: Value) -> SkillDocument {
        SkillDocument::from_value(value, DocumentOrigin::Authored, Vec::new())
    }

    fn browser() -> SkillDocument {
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
        let state = CommandState::after_commands(&document, &["goto", "snapshot"]).unwrap();
        assert!(state.entities["refs"].is_valid && !state.entities["ref"].is_valid);
        assert_eq!(state.entities["refs"].made_by.as_deref(), Some("snapshot"));
        assert_eq!(state.runnable_commands(&document), ["open", "snapshot", "click", "report"]);
        let state = CommandState::after_commands(&document, &["snapshot", "click"]).unwrap();
        assert_eq!(state.runnable_commands(&document), ["open", "snapshot"]);
        assert_eq!(state.entities["refs"].ended_by.as_deref(), Some("click"));
        let missing =
            CommandSequenceError::MissingEntities { command: "click".to_owned(), entities: vec!["refs".to_owned()] };
        assert_eq!(CommandState::after_commands(&document, &["open", "click"]), Err(missing));
        assert_eq!(
            CommandState::after_commands(&document, &["fly"]),
            Err(CommandSequenceError::UnknownCommand { command: "fly".to_owned() })
        );
    }

    #[test]
    fn a_failed_command_makes_nothing_and_still_ends_what_it_ends() {
        let document =
            document(json!({ "commands": { "x": { "syntax": "x", "creates": ["a"], "invalidates": ["b"] } } }));
        let command = document.get_command("x").unwrap();
        let mut state = CommandState::new(&document);
        state.entities.get_mut("b").unwrap().is_valid = true;
        state.apply_command(command, &CommandEnding::Failed, Some("then"));
        assert!(!state.entities["a"].is_valid && !state.entities["b"].is_valid);
        assert_eq!(state.entities["b"].ended_at.as_deref(), Some("then"));
        state.apply_command(command, &CommandEnding::Succeeded(Some("out".to_owned())), None);
        assert_eq!(state.entities["a"].value.as_deref(), Some("out"));
    }

    #[test]
    fn creating_comes_before_invalidating() {
        let document =
            document(json!({ "commands": { "x": { "syntax": "x", "creates": ["a"], "invalidates": ["a"] } } }));
        assert!(!CommandState::after_commands(&document, &["x"]).unwrap().entities["a"].is_valid);
    }
}
