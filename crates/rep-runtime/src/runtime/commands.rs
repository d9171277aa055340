//! Commands of structured skills: planned, checked against the state of their session, and their effects stored.

use std::collections::BTreeSet;

use rep_model::Document;
use rep_model::uasp::{Command, SpannedText};
use serde_json::{Map, Value, json};

use super::call::{CommandInvocation, session_name};
use super::{Runtime, now};
use crate::error::{CallError, ErrorCode};
use crate::executable_skill::ExecutableSkill;
use crate::outcome::{Outcome, Reply, ToolError};
use crate::plan::Plan;
use crate::session::{Sessions, entity_json};
use crate::state::{Ended, State};

/// The session used when none is named.
pub const DEFAULT_SESSION: &str = "default";

impl Runtime {
    /// The store of session states.
    pub fn sessions(&self) -> Result<Sessions, CallError> {
        Ok(Sessions::open(self.paths.data()?)?)
    }

    /// The store of session states, if there is one already.
    pub fn existing_sessions(&self) -> Result<Option<Sessions>, CallError> {
        // Without a home nothing was stored.
        match self.paths.data() {
            Ok(folder) => Ok(Sessions::there(folder)?),
            Err(_) => Ok(None),
        }
    }

    /// The stored state of a session.
    pub fn state(&self, document: &Document, skill: &str, session: &str) -> Result<State, CallError> {
        match self.existing_sessions()? {
            Some(sessions) => Ok(sessions.state(document, skill, session)?),
            None => Ok(State::new(document)),
        }
    }

    /// A session's name, if it can be one; the default one if none is given.
    pub fn session_name<'a>(&self, name: Option<&'a str>) -> Result<&'a str, CallError> {
        session_name(name)
    }

    pub(super) fn plan_invocation(
        &self,
        skill: &ExecutableSkill,
        invocation: &CommandInvocation,
    ) -> Result<Plan, CallError> {
        let variable = |name: &str| self.variable(name);
        let (name, arguments) = (&invocation.command, &invocation.arguments);
        let mut plan = skill.plan_command(name, arguments, &self.options.workspace, &variable)??;
        plan.lend(&invocation.permissions)?;
        Ok(plan)
    }

    /// State that a command requires and that is not valid in its session.
    pub(super) fn missing_state(
        &self,
        skill: &ExecutableSkill,
        invocation: &CommandInvocation,
    ) -> Result<Vec<String>, CallError> {
        let session = invocation.session_name()?;
        if invocation.ignore_state {
            return Ok(Vec::new());
        }
        let document = skill.document()?;
        let Some(command) = document.find_command(&invocation.command) else { return Ok(Vec::new()) };
        let state = self.state(document, &skill.name, session)?;
        Ok(state.missing(command).into_iter().map(str::to_owned).collect())
    }

    /// Stores what a command did to the state of its session.
    pub(super) fn apply_state(
        &self,
        skill: &ExecutableSkill,
        invocation: &CommandInvocation,
        plan: &Plan,
        outcome: &Outcome,
    ) -> Result<State, CallError> {
        let ended = match &outcome.reply {
            Reply::Result(value) => Ended::Well(value.get("stdout").and_then(Value::as_str).map(str::to_owned)),
            Reply::Task(_) | Reply::Error(_) => Ended::Badly,
        };
        let document = skill.document()?;
        let template = Command { path: SpannedText::new(&plan.tool), ..Command::default() };
        let command = document.find_command(&invocation.command).unwrap_or(&template);
        let session = invocation.session_name()?;
        let stored = self
            .sessions()
            .and_then(|mut sessions| Ok(sessions.apply(document, &skill.name, session, command, &ended, now())?));
        stored.map_err(|error| {
            let message = format!("`{}` has run, and what it did to the state is lost: {}", plan.tool, error.message);
            CallError { message, ..error }
        })
    }
}

/// The error for state that is missing, in the specification's words.
pub(super) fn invalid_state(command: &str, missing: &[String]) -> ToolError {
    let first = missing.first().map_or("", String::as_str);
    ToolError::new(ErrorCode::InvalidState, format!("Required state '{first}' is invalid or missing"))
        .with("command", command)
        .with("missing", missing)
        .with("remedy", "run a command that creates it first; `rep state SKILL` shows what there is")
}

/// The entities that a command creates or invalidates, by name.
pub(super) fn touched_state(skill: &ExecutableSkill, invocation: &CommandInvocation) -> Vec<String> {
    let Ok(document) = skill.document() else { return Vec::new() };
    let Some(command) = document.command(&invocation.command) else { return Vec::new() };
    let names = command.creates.iter().chain(&command.invalidates);
    let touched: BTreeSet<String> = names.map(ToString::to_string).collect();
    touched.into_iter().collect()
}

/// A state as JSON: its entities, and the commands that can run now.
pub fn state_json(state: &State, document: &Document) -> Value {
    let entities: Map<String, Value> =
        state.entities.iter().map(|(name, entity)| (name.clone(), entity_json(entity))).collect();
    json!({ "entities": entities, "runnable": state.runnable(document) })
}
