//! Runs the steps of a workflow as commands in a session, starting where the last run stopped.
//!
//! Each step runs like a command of `rep exec`. The callbacks decide on manual steps, unfilled slots and
//! optional steps. A failed step stops the workflow, unless it is optional. Progress is stored per session.

use std::sync::Arc;

use rep_library::Catalog;
use rep_model::SkillDocument;
use rep_sandbox::Cancel;
use serde_json::{Map, Value, json};

use super::call::{CallResult, CallerConsent, CommandInvocation, FinishedCall, ToolCall, resolve_session_name};
use super::{Runtime, current_time};
use crate::error::{CallError, ErrorCode, ErrorKind};
use crate::executable_skill::ExecutableSkill;
use crate::outcome::{Outcome, RunVerdict, ToolError};
use crate::plan::Plan;
use crate::plan::command::PermissionOverride;
use crate::prompter::Prompter;
use crate::workflow::{self, ChecklistStep, WorkflowChecklist};

/// The maximum number of workflow names listed in an error.
const NAMES_SHOWN_MAX: usize = 12;

/// A workflow to run, with its options.
#[derive(Clone, Debug)]
pub struct WorkflowCall {
    /// The skill, by its name or qualified name.
    pub skill: String,
    /// The workflow's name.
    pub workflow: String,
    /// The session whose state its steps read and change; the default session if `None`.
    pub session: Option<String>,
    /// The step to start with.
    pub start: WorkflowStart,
    /// Known values for its slots.
    pub values: Map<String, Value>,
    /// Whether to skip optional steps without asking.
    pub skip_optional: bool,
    /// Whether consent was given with the call.
    pub consent: CallerConsent,
    /// Permissions for each step in addition to those that the skill declares.
    pub permissions: PermissionOverride,
    /// The time limit of each step, in seconds.
    pub timeout_s: Option<u64>,
}

/// The step that a workflow run starts with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkflowStart {
    /// The first step, unless an earlier run of the session stopped midway.
    Fresh,
    /// The step where the last run of the session stopped.
    Resume,
    /// The first step, regardless of earlier runs.
    Restart,
    /// The step with this number, counted from 1.
    From(u32),
}

/// Why a workflow could not be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WorkflowError {
    /// A value was given for a slot that does not occur in any step.
    #[error("no step of `{workflow}` has a slot `{slot}`")]
    UnknownSlot {
        /// The workflow.
        workflow: String,
        /// The slot.
        slot: String,
    },
    /// The skill changed since the last run stopped.
    #[error("`{skill}` changed since that run")]
    SkillChanged {
        /// The skill.
        skill: String,
    },
    /// The last run stopped midway, and the call does not say whether to resume.
    #[error("`{workflow}` stopped after step {done} in the session `{session}`")]
    StoppedBefore {
        /// The workflow.
        workflow: String,
        /// The session.
        session: String,
        /// The number of completed steps.
        done: u32,
    },
    /// The workflow has fewer steps than the given start.
    #[error("`{workflow}` has {count} steps")]
    NoSuchStep {
        /// The workflow.
        workflow: String,
        /// The number of steps.
        count: usize,
    },
    /// The skill, the workflow, the session or a step could not be used.
    #[error(transparent)]
    Call(#[from] CallError),
}

/// The callbacks of a workflow run.
pub struct WorkflowCallbacks<'a> {
    /// Asks for confirmation of a command.
    pub prompter: &'a dyn Prompter,
    /// Receives progress events.
    pub report: &'a dyn Fn(WorkflowEvent<'_>),
    /// Returns the value of a slot, if it is known.
    pub slot_value: &'a dyn Fn(&str) -> Option<String>,
    /// Returns whether to skip an optional step.
    pub is_skipped: &'a dyn Fn(&ChecklistStep) -> bool,
    /// Returns whether a manual step is done. The text says why the step is manual.
    pub is_done_by_hand: &'a dyn Fn(&ChecklistStep, &str) -> bool,
}

/// An event of a workflow run. Steps are numbered from 1.
#[derive(Clone, Copy)]
pub enum WorkflowEvent<'a> {
    /// The workflow starts.
    Started(&'a WorkflowChecklist),
    /// A step is next.
    StepReached {
        /// The step number.
        number: usize,
        /// The number of steps.
        count: usize,
        /// The step.
        step: &'a ChecklistStep,
    },
    /// The command of a step is planned and about to be decided.
    Planned(&'a Plan),
    /// A step does not match its command and was not started.
    StepRefused(&'a Outcome),
    /// The command of a step finished or was refused.
    Finished(&'a FinishedCall),
    /// An optional step failed; the workflow continues.
    FailureIgnored,
    /// A manual step is not done yet.
    LeftToPeople {
        /// The step number.
        number: usize,
    },
    /// The workflow stopped at a step.
    Stopped {
        /// The step number.
        number: usize,
    },
}

/// The report of a workflow run.
#[derive(Clone, Debug)]
pub struct WorkflowReport {
    /// The workflow's name.
    pub workflow: String,
    /// The session.
    pub session: String,
    /// The steps that were reached.
    pub steps: Vec<StepReport>,
    /// [`RunVerdict::Succeeded`] if all steps are done; otherwise the reason it stopped.
    pub verdict: RunVerdict,
}

/// The report of a step.
#[derive(Clone, Debug)]
pub struct StepReport {
    /// The step number, counted from 1.
    pub number: usize,
    /// The step as the author wrote it.
    pub text: String,
    /// What happened to the step.
    pub outcome: StepOutcome,
    /// The result document of its command, if there is one.
    pub result: Value,
}

/// What happened to a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepOutcome {
    /// The step is done.
    Done,
    /// The step is optional and was skipped.
    Skipped,
    /// The step is manual and not done yet.
    ByHand,
    /// The step failed or was refused.
    Failed,
}

impl StepOutcome {
    /// Returns the word used in results.
    pub const fn name(self) -> &'static str {
        match self {
            StepOutcome::Done => "done",
            StepOutcome::Skipped => "skipped",
            StepOutcome::ByHand => "by_hand",
            StepOutcome::Failed => "failed",
        }
    }
}

impl WorkflowReport {
    /// Renders the report as JSON.
    pub fn to_json(&self) -> Value {
        let step = |step: &StepReport| {
            json!({
                "step": step.number,
                "cmd": step.text,
                "outcome": step.outcome.name(),
                "result": step.result,
            })
        };
        json!({
            "workflow": self.workflow,
            "session": self.session,
            "done": self.verdict == RunVerdict::Succeeded,
            "steps": self.steps.iter().map(step).collect::<Vec<Value>>(),
        })
    }
}

impl Runtime {
    /// Loads a workflow of a skill as a checklist, in the state of a session.
    pub fn load_workflow(
        &self,
        document: &SkillDocument,
        skill: &str,
        name: &str,
        session: Option<&str>,
    ) -> Result<WorkflowChecklist, CallError> {
        let state = self.load_state(document, skill, resolve_session_name(session)?)?;
        workflow::build_checklist(document, name, &state).ok_or_else(|| {
            let message = format!("Path 'workflows.{name}' not found in skill '{skill}'");
            let all = workflow::list_workflow_names(document);
            let remedy = if all.is_empty() {
                "it has no workflows".to_owned()
            } else {
                format!("its workflows: {}", all[..all.len().min(NAMES_SHOWN_MAX)].join(", "))
            };
            let error = CallError::unable(ErrorCode::PathNotFound, message).with_remedy(remedy);
            CallError { kind: ErrorKind::NotFound, ..error }
        })
    }

    /// Runs the steps of a workflow until one fails or needs manual work. All steps run from one private copy
    /// of the skill.
    pub fn run_workflow(
        &self,
        catalog: &Catalog,
        call: &WorkflowCall,
        attendant: &WorkflowCallbacks<'_>,
        cancel: &Cancel,
    ) -> Result<WorkflowReport, WorkflowError> {
        let session = resolve_session_name(call.session.as_deref())?;
        let skill = self.load_skill(catalog, &call.skill)?;
        let workflow = self.load_workflow(skill.require_document()?, &skill.name, &call.workflow, Some(session))?;
        let is_slot = |name: &String| workflow.steps.iter().any(|step| step.slots.contains(name));
        if let Some(slot) = call.values.keys().find(|name| !is_slot(name)) {
            return Err(WorkflowError::UnknownSlot { workflow: workflow.name, slot: slot.clone() });
        }
        let stored = self.open_existing_sessions()?;
        let stored = stored.map(|sessions| sessions.load_progress(&skill.name, session, &workflow.name));
        let progress = stored.transpose().map_err(CallError::from)?.flatten();
        let done = count_done_steps(call.start, progress, &skill, &workflow, session)?;
        let values = call.values.clone();
        WorkflowRun {
            runtime: self,
            catalog,
            call,
            callbacks: attendant,
            cancel,
            skill,
            session,
            values,
            steps: Vec::new(),
        }
        .run_steps(&workflow, done)
    }
}

/// Returns how many steps count as done when a run starts. `progress` is the progress of the last run and the
/// digest of its skill.
fn count_done_steps(
    start: WorkflowStart,
    progress: Option<(u32, String)>,
    skill: &ExecutableSkill,
    workflow: &WorkflowChecklist,
    session: &str,
) -> Result<usize, WorkflowError> {
    let done = match (start, progress) {
        (WorkflowStart::From(number), _) => number.saturating_sub(1),
        (WorkflowStart::Resume, Some((_, digest))) if digest != skill.digest => {
            return Err(WorkflowError::SkillChanged { skill: skill.name.clone() });
        }
        (WorkflowStart::Resume, Some((done, _))) => done,
        (WorkflowStart::Fresh, Some((done, _))) if done > 0 => {
            let (workflow, session) = (workflow.name.clone(), session.to_owned());
            return Err(WorkflowError::StoppedBefore { workflow, session, done });
        }
        (WorkflowStart::Fresh | WorkflowStart::Resume | WorkflowStart::Restart, _) => 0,
    };
    let done = done as usize;
    if done > workflow.steps.len() {
        return Err(WorkflowError::NoSuchStep { workflow: workflow.name.clone(), count: workflow.steps.len() });
    }
    Ok(done)
}

/// A running workflow.
struct WorkflowRun<'a> {
    runtime: &'a Runtime,
    catalog: &'a Catalog,
    call: &'a WorkflowCall,
    callbacks: &'a WorkflowCallbacks<'a>,
    cancel: &'a Cancel,
    skill: Arc<ExecutableSkill>,
    session: &'a str,
    /// The values of the slots.
    values: Map<String, Value>,
    /// The steps that were reached.
    steps: Vec<StepReport>,
}

/// Whether a workflow continues after a step.
enum StepContinuation {
    Continue,
    Stop(RunVerdict),
}

impl WorkflowRun<'_> {
    /// Runs the steps as far as possible.
    fn run_steps(mut self, workflow: &WorkflowChecklist, done: usize) -> Result<WorkflowReport, WorkflowError> {
        self.report_event(WorkflowEvent::Started(workflow));
        let count = workflow.steps.len();
        let mut verdict = RunVerdict::Succeeded;
        for (step, number) in workflow.steps.iter().zip(1..).skip(done) {
            self.report_event(WorkflowEvent::StepReached { number, count, step });
            match self.run_step(number, step)? {
                StepContinuation::Continue => self.store_progress(workflow, Some(number))?,
                StepContinuation::Stop(why) => {
                    self.store_progress(workflow, Some(number - 1))?;
                    self.report_event(WorkflowEvent::Stopped { number });
                    verdict = why;
                    break;
                }
            }
        }
        if verdict == RunVerdict::Succeeded {
            self.store_progress(workflow, None)?;
        }
        let (workflow, session) = (workflow.name.clone(), self.session.to_owned());
        Ok(WorkflowReport { workflow, session, steps: self.steps, verdict })
    }

    /// Stores how many steps are done, or clears the progress if the workflow is finished.
    fn store_progress(&self, workflow: &WorkflowChecklist, done: Option<usize>) -> Result<(), CallError> {
        let done = done.map(|done| (u32::try_from(done).unwrap_or(u32::MAX), self.skill.digest.as_str()));
        let sessions = self.runtime.open_sessions()?;
        Ok(sessions.set_progress(&self.skill.name, self.session, &workflow.name, done, current_time())?)
    }

    fn report_event(&self, event: WorkflowEvent<'_>) {
        (self.callbacks.report)(event);
    }

    fn record_step(&mut self, number: usize, step: &ChecklistStep, outcome: StepOutcome, result: Value) {
        self.steps.push(StepReport { number, text: step.text.clone(), outcome, result });
    }

    fn run_step(&mut self, number: usize, step: &ChecklistStep) -> Result<StepContinuation, CallError> {
        if step.is_optional && (self.call.skip_optional || (self.callbacks.is_skipped)(step)) {
            self.record_step(number, step, StepOutcome::Skipped, Value::Null);
            return Ok(StepContinuation::Continue);
        }
        if let Some(reason) = &step.by_hand {
            return Ok(self.leave_to_people(number, step, reason));
        }
        for slot in &step.slots {
            if !self.values.contains_key(slot)
                && let Some(value) = (self.callbacks.slot_value)(slot)
            {
                self.values.insert(slot.clone(), value.into());
            }
        }
        let (command, arguments) = match step.bind_arguments(self.skill.require_document()?, &self.values) {
            Ok(filled) => filled,
            Err(error) => {
                let error = ToolError::new(error.code, error.message).with_detail("remedy", error.remedy);
                return Ok(self.refuse_step(number, step, error));
            }
        };
        match self.call_command(command, arguments) {
            Ok(CallResult::Finished(call)) => {
                self.report_event(WorkflowEvent::Finished(&call));
                Ok(self.end_step(number, step, call.outcome.verdict, call.to_json()))
            }
            // A workflow does not wait for an answer in a later request.
            Ok(CallResult::Deferred(_)) => Ok(StepContinuation::Stop(RunVerdict::Refused)),
            // A step that does not match its command stops the workflow like a failed step.
            Err(error) if error.kind == ErrorKind::Refused => Ok(self.refuse_step(number, step, error.into())),
            Err(error) => Err(error),
        }
    }

    fn call_command(&self, command: String, arguments: Map<String, Value>) -> Result<CallResult, CallError> {
        let invocation = CommandInvocation {
            command,
            arguments,
            session: Some(self.session.to_owned()),
            permissions: self.call.permissions.clone(),
            ignore_state: false,
        };
        let call = ToolCall {
            consent: self.call.consent.clone(),
            timeout_s: self.call.timeout_s,
            ..ToolCall::for_command(&self.skill.name, invocation)
        };
        let prepared = self.runtime.plan_loaded(&self.skill, &call)?;
        self.report_event(WorkflowEvent::Planned(prepared.plan()));
        self.runtime.run_prepared(prepared, self.catalog, self.callbacks.prompter, self.cancel)
    }

    /// Reports a step that was not started.
    fn refuse_step(&mut self, number: usize, step: &ChecklistStep, error: ToolError) -> StepContinuation {
        let outcome = Outcome::not_started(error);
        self.report_event(WorkflowEvent::StepRefused(&outcome));
        self.end_step(number, step, outcome.verdict, outcome.to_json())
    }

    fn end_step(
        &mut self,
        number: usize,
        step: &ChecklistStep,
        verdict: RunVerdict,
        result: Value,
    ) -> StepContinuation {
        let outcome = if verdict == RunVerdict::Succeeded { StepOutcome::Done } else { StepOutcome::Failed };
        self.record_step(number, step, outcome, result);
        match verdict {
            RunVerdict::Succeeded => StepContinuation::Continue,
            RunVerdict::Refused | RunVerdict::Failed if step.is_optional => {
                self.report_event(WorkflowEvent::FailureIgnored);
                StepContinuation::Continue
            }
            RunVerdict::Refused | RunVerdict::Failed | RunVerdict::Interrupted => StepContinuation::Stop(verdict),
        }
    }

    /// Reports a manual step.
    fn leave_to_people(&mut self, number: usize, step: &ChecklistStep, reason: &str) -> StepContinuation {
        let is_done = (self.callbacks.is_done_by_hand)(step, reason);
        let outcome = if is_done { StepOutcome::Done } else { StepOutcome::ByHand };
        self.record_step(number, step, outcome, Value::Null);
        if is_done || step.is_optional {
            return StepContinuation::Continue;
        }
        self.report_event(WorkflowEvent::LeftToPeople { number });
        StepContinuation::Stop(RunVerdict::Refused)
    }
}

#[cfg(test)]
mod tests;
