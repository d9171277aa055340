//! State entities and how commands change them: UASP §5.5 and §9.3.
//!
//! An entity is absent, valid or invalid. The entities that a command requires must be valid. After the command
//! succeeded, the entities it creates or restores are valid, and the values of the entities it persists are
//! kept for a command that restores them. Then the entities it invalidates are invalid, even if it failed.
//! What a command requires and changes comes from [`StateEffects`], for commands and entities alike.

use std::collections::BTreeMap;

use rep_model::SkillDocument;
use rep_model::uasp::{CommandEffects, StateEffects};

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
    /// The value that a command persisted last.
    pub persisted: Option<PersistedValue>,
}

/// The value of an entity that a command persisted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PersistedValue {
    /// The value.
    pub value: Option<String>,
    /// The command that persisted it.
    pub by: String,
    /// When it was persisted, if that was stored.
    pub at: Option<String>,
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
        let effects = StateEffects::from_sections(&document.sections);
        Self { entities: effects.entity_names().map(|name| (name.to_owned(), EntityStatus::default())).collect() }
    }

    /// Returns the required entities that are not valid.
    pub fn missing_entities<'a>(&self, effects: &CommandEffects<'a>) -> Vec<&'a str> {
        effects.requires.iter().copied().filter(|name| !self.is_valid(name)).collect()
    }

    fn is_valid(&self, name: &str) -> bool {
        self.entities.get(name).is_some_and(|entity| entity.is_valid)
    }

    /// Applies the effects of a command to the state, at the time `at`.
    pub fn apply_command(&mut self, effects: &CommandEffects<'_>, ended: &CommandEnding, at: Option<&str>) {
        let command = effects.command;
        if let CommandEnding::Succeeded(value) = ended {
            for name in effects.creates.iter().chain(&effects.completes) {
                self.entities.entry((*name).to_owned()).or_default().make_valid(command, value.clone(), at);
            }
            for name in &effects.restores {
                let entity = self.entities.entry((*name).to_owned()).or_default();
                // It may have been persisted elsewhere.
                let value = entity.persisted.as_ref().map_or_else(|| value.clone(), |kept| kept.value.clone());
                entity.make_valid(command, value, at);
            }
            for name in &effects.persists {
                let entity = self.entities.entry((*name).to_owned()).or_default();
                if entity.is_valid {
                    let (value, by) = (entity.value.clone(), command.to_owned());
                    entity.persisted = Some(PersistedValue { value, by, at: at.map(str::to_owned) });
                }
            }
        }
        for name in &effects.invalidates {
            let entity = self.entities.entry((*name).to_owned()).or_default();
            entity.is_valid = false;
            entity.ended_by = Some(command.to_owned());
            entity.ended_at = at.map(str::to_owned);
        }
    }

    /// Returns the commands whose requirements are met, in the skill's order.
    pub fn runnable_commands<'a>(&self, document: &'a SkillDocument) -> Vec<&'a str> {
        let effects = StateEffects::from_sections(&document.sections);
        let is_runnable =
            |path: &str| effects.get(path).is_some_and(|one| one.requires.iter().all(|name| self.is_valid(name)));
        document.sections.commands.iter().map(|command| &*command.path).filter(|path| is_runnable(path)).collect()
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
        let all_effects = StateEffects::from_sections(&document.sections);
        for given in sequence {
            let unknown = || CommandSequenceError::UnknownCommand { command: (*given).to_owned() };
            let command = document.get_command(given).ok_or_else(unknown)?;
            let effects = all_effects.get_or_named(&command.path);
            let missing = self.missing_entities(&effects);
            if !missing.is_empty() {
                let entities = missing.into_iter().map(str::to_owned).collect();
                return Err(CommandSequenceError::MissingEntities { command: command.path.to_string(), entities });
            }
            self.apply_command(&effects, &CommandEnding::Succeeded(None), None);
        }
        Ok(self)
    }
}

impl EntityStatus {
    /// Makes the entity valid. The persisted value stays for later.
    fn make_valid(&mut self, command: &str, value: Option<String>, at: Option<&str>) {
        *self = Self {
            is_valid: true,
            value,
            made_by: Some(command.to_owned()),
            made_at: at.map(str::to_owned),
            persisted: self.persisted.take(),
            ..Self::default()
        };
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
        assert!(state.entities["refs"].is_valid && state.entities["ref"].is_valid);
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
        let all_effects = StateEffects::from_sections(&document.sections);
        let effects = all_effects.get("x").unwrap();
        let mut state = CommandState::new(&document);
        state.entities.get_mut("b").unwrap().is_valid = true;
        state.apply_command(effects, &CommandEnding::Failed, Some("then"));
        assert!(!state.entities["a"].is_valid && !state.entities["b"].is_valid);
        assert_eq!(state.entities["b"].ended_at.as_deref(), Some("then"));
        state.apply_command(effects, &CommandEnding::Succeeded(Some("out".to_owned())), None);
        assert_eq!(state.entities["a"].value.as_deref(), Some("out"));
    }

    #[test]
    fn creating_comes_before_invalidating() {
        let document =
            document(json!({ "commands": { "x": { "syntax": "x", "creates": ["a"], "invalidates": ["a"] } } }));
        assert!(!CommandState::after_commands(&document, &["x"]).unwrap().entities["a"].is_valid);
    }

    #[test]
    fn a_restored_entity_has_the_value_that_was_persisted() {
        let document = document(json!({
            "state": { "entities": [
                { "name": "session", "created_by": ["login"], "consumed_by": ["list"], "invalidated_by": ["logout"],
                  "persisted_by": ["state save"], "restored_by": ["state load"] },
            ] },
            "commands": {
                "login": { "syntax": "b" }, "logout": { "syntax": "b" }, "list": { "syntax": "b" },
                "state.save": { "syntax": "b" }, "state.load": { "syntax": "b" },
            },
        }));
        let all_effects = StateEffects::from_sections(&document.sections);
        let mut state = CommandState::new(&document);
        let mut run = |path: &str, ended: &CommandEnding| {
            state.apply_command(all_effects.get(path).unwrap(), ended, None);
            let session = &state.entities["session"];
            (session.is_valid, session.value.clone(), state.runnable_commands(&document).contains(&"list"))
        };
        let output = |text: &str| CommandEnding::Succeeded(Some(text.to_owned()));
        // Nothing is persisted as long as nothing is valid, and what was persisted elsewhere can be restored.
        assert_eq!(run("state.save", &output("saved")), (false, None, false));
        assert_eq!(run("state.load", &output("loaded")), (true, Some("loaded".to_owned()), true));
        assert_eq!(run("login", &output("token")), (true, Some("token".to_owned()), true));
        assert_eq!(run("state.save", &CommandEnding::Failed), (true, Some("token".to_owned()), true));
        assert_eq!(run("state.save", &output("saved")), (true, Some("token".to_owned()), true));
        assert_eq!(run("logout", &CommandEnding::Failed), (false, Some("token".to_owned()), false));
        assert_eq!(run("login", &output("other")), (true, Some("other".to_owned()), true));
        assert_eq!(run("logout", &output("")), (false, Some("other".to_owned()), false));
        assert_eq!(run("state.load", &CommandEnding::Failed), (false, Some("other".to_owned()), false));
        assert_eq!(run("state.load", &output("loaded")), (true, Some("token".to_owned()), true));
    }
}
