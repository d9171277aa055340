//! Commands of structured skills: planned, checked against the state of their session, with their effects
//! stored.

use std::collections::BTreeSet;

use rep_model::SkillDocument;
use rep_model::uasp::StateEffects;
use serde_json::{Map, Value, json};

use super::call::{CommandInvocation, resolve_session_name};
use super::{Runtime, current_time};
use crate::error::{CallError, ErrorCode};
use crate::executable_skill::ExecutableSkill;
use crate::outcome::{Outcome, RunReply, ToolError};
use crate::plan::Plan;
use crate::session::{SessionStore, entity_json};
use crate::state::{CommandEnding, CommandState};

/// The session used when none is named.
pub const DEFAULT_SESSION: &str = "default";

impl Runtime {
    /// Opens the store of session states.
    pub fn open_sessions(&self) -> Result<SessionStore, CallError> {
        Ok(SessionStore::open(self.paths.data_folder()?)?)
    }

    /// Opens the store of session states if it already exists.
    pub fn open_existing_sessions(&self) -> Result<Option<SessionStore>, CallError> {
        // Without a home directory nothing was stored.
        match self.paths.data_folder() {
            Ok(folder) => Ok(SessionStore::open_existing(folder)?),
            Err(_) => Ok(None),
        }
    }

    /// Loads the stored state of a session.
    pub fn load_state(&self, document: &SkillDocument, skill: &str, session: &str) -> Result<CommandState, CallError> {
        match self.open_existing_sessions()? {
            Some(sessions) => Ok(sessions.load_state(document, skill, session)?),
            None => Ok(CommandState::new(document)),
        }
    }

    /// Validates a session name; `None` means the default session.
    pub fn session_name<'a>(&self, name: Option<&'a str>) -> Result<&'a str, CallError> {
        resolve_session_name(name)
    }

    pub(super) fn plan_invocation(
        &self,
        skill: &ExecutableSkill,
        invocation: &CommandInvocation,
    ) -> Result<Plan, CallError> {
        let variable = |name: &str| self.find_variable(name);
        let (name, arguments) = (&invocation.command, &invocation.arguments);
        let mut plan = skill.plan_command(name, arguments, &self.options.workspace, &variable)??;
        plan.apply_overrides(&invocation.permissions)?;
        Ok(plan)
    }

    /// Returns the required state that is not valid in the command's session.
    pub(super) fn find_missing_state(
        &self,
        skill: &ExecutableSkill,
        invocation: &CommandInvocation,
    ) -> Result<Vec<String>, CallError> {
        let session = invocation.session_name()?;
        if invocation.ignore_state {
            return Ok(Vec::new());
        }
        let document = skill.require_document()?;
        let Some(command) = document.find_command(&invocation.command) else { return Ok(Vec::new()) };
        let state = self.load_state(document, &skill.name, session)?;
        let all_effects = StateEffects::from_sections(&document.sections);
        let effects = all_effects.get_or_named(&command.path);
        Ok(state.missing_entities(&effects).into_iter().map(str::to_owned).collect())
    }

    /// Stores the effects of a command on the state of its session.
    pub(super) fn apply_state(
        &self,
        skill: &ExecutableSkill,
        invocation: &CommandInvocation,
        plan: &Plan,
        outcome: &Outcome,
    ) -> Result<CommandState, CallError> {
        let ended = match &outcome.reply {
            RunReply::Result(value) => {
                CommandEnding::Succeeded(value.get("stdout").and_then(Value::as_str).map(str::to_owned))
            }
            RunReply::Task(_) | RunReply::Error(_) => CommandEnding::Failed,
        };
        let document = skill.require_document()?;
        let command = document.find_command(&invocation.command).map_or(plan.tool.as_str(), |command| &command.path);
        let session = invocation.session_name()?;
        let stored = self.open_sessions().and_then(|mut sessions| {
            Ok(sessions.apply_command(document, &skill.name, session, command, &ended, current_time())?)
        });
        stored.map_err(|error| {
            let message = format!("`{}` ran, but its state changes could not be saved: {}", plan.tool, error.message);
            CallError { message, ..error }
        })
    }
}

/// The error for missing state, with the wording of the specification.
pub(super) fn invalid_state_error(command: &str, missing: &[String]) -> ToolError {
    let first = missing.first().map_or("", String::as_str);
    ToolError::new(ErrorCode::InvalidState, format!("Required state '{first}' is invalid or missing"))
        .with_detail("command", command)
        .with_detail("missing", missing)
        .with_detail("remedy", "run a command that creates it first; `rep state SKILL` shows the current state")
}

/// Returns the entities that a command creates, restores or invalidates, by name.
pub(super) fn touched_state(skill: &ExecutableSkill, invocation: &CommandInvocation) -> Vec<String> {
    let Ok(document) = skill.require_document() else { return Vec::new() };
    let Some(command) = document.find_command(&invocation.command) else { return Vec::new() };
    let all_effects = StateEffects::from_sections(&document.sections);
    let effects = all_effects.get_or_named(&command.path);
    let touched: BTreeSet<String> =
        effects.made_names().chain(effects.invalidates.iter().copied()).map(str::to_owned).collect();
    touched.into_iter().collect()
}

/// Renders a state as JSON: its entities, and the commands that can run.
pub fn state_json(state: &CommandState, document: &SkillDocument) -> Value {
    let entities: Map<String, Value> =
        state.entities.iter().map(|(name, entity)| (name.clone(), entity_json(entity))).collect();
    json!({ "entities": entities, "runnable": state.runnable_commands(document) })
}
