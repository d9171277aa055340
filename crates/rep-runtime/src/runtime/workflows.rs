//! Workflows: the steps of one, run as commands in a session, from where the last run stopped.
//!
//! Each step is run as `rep exec` runs its command. Steps that only people can do, slots that nobody filled and
//! optional steps are asked about; a step that fails stops the workflow, unless it is optional. How far it came is
//! stored by session.

use std::sync::Arc;

use rep_library::Catalog;
use rep_model::Document;
use rep_sandbox::Cancel;
use serde_json::{Map, Value, json};

use super::call::{CallResult, CallerConsent, CommandInvocation, FinishedCall, ToolCall, session_name};
use super::{Runtime, now};
use crate::error::{CallError, ErrorCode, ErrorKind};
use crate::executable_skill::ExecutableSkill;
use crate::outcome::{Outcome, ToolError, Verdict};
use crate::plan::Plan;
use crate::plan::command::PermissionOverride;
use crate::prompter::Prompter;
use crate::workflow::{self, Step, Workflow};

/// The most names of workflows that an error lists.
const NAMES_SHOWN_MAX: usize = 12;

/// A workflow somebody wants to run, and how.
#[derive(Clone, Debug)]
pub struct WorkflowCall {
    /// The skill, by its name or qualified name.
    pub skill: String,
    /// The workflow's name.
    pub workflow: String,
    /// Whose state its steps read and change; the default session if none is named.
    pub session: Option<String>,
    /// The step it begins with.
    pub start: WorkflowStart,
    /// What fills its slots, as far as it is known.
    pub values: Map<String, Value>,
    /// Whether optional steps are left out without a question.
    pub skip_optional: bool,
    /// Whether the caller's consent came with the call.
    pub consent: CallerConsent,
    /// Permissions for each step besides what the skill declares.
    pub permissions: PermissionOverride,
    /// When a step is ended, in seconds.
    pub timeout_s: Option<u64>,
}

/// The step a run of a workflow begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkflowStart {
    /// The first one, if no run of the session stopped on the way.
    Fresh,
    /// The one where the last run of the session stopped.
    Resume,
    /// The first one, whatever was done before.
    Restart,
    /// The one with this number, from 1.
    From(u32),
}

/// Why a workflow could not be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WorkflowError {
    /// A value was given for a slot that no step has.
    #[error("no step of `{workflow}` has a slot `{slot}`")]
    UnknownSlot {
        /// The workflow.
        workflow: String,
        /// The slot.
        slot: String,
    },
    /// The skill is not what the last run stopped in.
    #[error("`{skill}` changed since that run")]
    SkillChanged {
        /// The skill.
        skill: String,
    },
    /// The last run stopped on the way, and the call does not say whether to go on.
    #[error("`{workflow}` stopped after step {done} in the session `{session}`")]
    StoppedBefore {
        /// The workflow.
        workflow: String,
        /// The session.
        session: String,
        /// How many steps are done.
        done: u32,
    },
    /// It has fewer steps than were said to be done.
    #[error("`{workflow}` has {count} steps")]
    NoSuchStep {
        /// The workflow.
        workflow: String,
        /// How many steps it has.
        count: usize,
    },
    /// The skill, the workflow, the session or a step could not be used.
    #[error(transparent)]
    Call(#[from] CallError),
}

/// Whom a workflow is run for: asked what only people know, and told what happens.
pub struct WorkflowAttendant<'a> {
    /// Asked before a command that needs confirmation.
    pub prompter: &'a dyn Prompter,
    /// Told what happens.
    pub report: &'a dyn Fn(WorkflowEvent<'_>),
    /// Gives the value of a slot, if somebody knows it.
    pub slot_value: &'a dyn Fn(&str) -> Option<String>,
    /// Says whether an optional step is left out.
    pub is_skipped: &'a dyn Fn(&Step) -> bool,
    /// Says whether somebody has done a step that is for people to do. The text says why it is.
    pub is_done_by_hand: &'a dyn Fn(&Step, &str) -> bool,
}

/// What happens while a workflow runs. Steps are numbered from 1.
#[derive(Clone, Copy)]
pub enum WorkflowEvent<'a> {
    /// It begins.
    Begun(&'a Workflow),
    /// A step is next.
    StepReached {
        /// The number of the step.
        number: usize,
        /// How many steps there are.
        count: usize,
        /// The step.
        step: &'a Step,
    },
    /// The command of a step is planned, and about to be decided over.
    Planned(&'a Plan),
    /// A step does not fit its command, and was not begun.
    NotBegun(&'a Outcome),
    /// The command of a step is over, or was refused.
    Finished(&'a FinishedCall),
    /// An optional step failed, and the next one follows.
    FailureIgnored,
    /// A step waits for somebody to do it.
    LeftToPeople {
        /// The number of the step.
        number: usize,
    },
    /// It stopped at a step.
    Stopped {
        /// The number of the step.
        number: usize,
    },
}

/// What a run of a workflow came to.
#[derive(Clone, Debug)]
pub struct WorkflowReport {
    /// The workflow's name.
    pub workflow: String,
    /// The session.
    pub session: String,
    /// The steps that were reached.
    pub steps: Vec<StepReport>,
    /// [`Verdict::Fine`] if all steps are done; else why it stopped.
    pub verdict: Verdict,
}

/// What became of a step.
#[derive(Clone, Debug)]
pub struct StepReport {
    /// The number of the step, from 1.
    pub number: usize,
    /// The step as the author wrote it.
    pub text: String,
    /// What became of it.
    pub outcome: StepOutcome,
    /// The result document of its command, if it has one.
    pub result: Value,
}

/// What became of a step, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepOutcome {
    /// It is done.
    Done,
    /// It is optional and was left out.
    Skipped,
    /// It is for people to do, and nobody has.
    ByHand,
    /// It failed or was refused.
    Failed,
}

impl StepOutcome {
    /// The word in results.
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
    /// The report as JSON.
    pub fn value(&self) -> Value {
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
            "done": self.verdict == Verdict::Fine,
            "steps": self.steps.iter().map(step).collect::<Vec<Value>>(),
        })
    }
}

impl Runtime {
    /// A workflow of a skill as a checklist, in the state of a session.
    pub fn workflow(
        &self,
        document: &Document,
        skill: &str,
        name: &str,
        session: Option<&str>,
    ) -> Result<Workflow, CallError> {
        let state = self.state(document, skill, session_name(session)?)?;
        workflow::workflow(document, name, &state).ok_or_else(|| {
            let message = format!("Path 'workflows.{name}' not found in skill '{skill}'");
            let all = workflow::names(document);
            let remedy = if all.is_empty() {
                "it has no workflows".to_owned()
            } else {
                format!("its workflows: {}", all[..all.len().min(NAMES_SHOWN_MAX)].join(", "))
            };
            let error = CallError::unable(ErrorCode::PathNotFound, message).with_remedy(remedy);
            CallError { kind: ErrorKind::NotFound, ..error }
        })
    }

    /// Runs the steps of a workflow, until one fails or is left to people. All run from one private copy of the skill.
    pub fn run_workflow(
        &self,
        catalog: &Catalog,
        call: &WorkflowCall,
        attendant: &WorkflowAttendant<'_>,
        cancel: &Cancel,
    ) -> Result<WorkflowReport, WorkflowError> {
        let session = session_name(call.session.as_deref())?;
        let skill = self.load_skill(catalog, &call.skill)?;
        let workflow = self.workflow(skill.document()?, &skill.name, &call.workflow, Some(session))?;
        let is_slot = |name: &String| workflow.steps.iter().any(|step| step.slots.contains(name));
        if let Some(slot) = call.values.keys().find(|name| !is_slot(name)) {
            return Err(WorkflowError::UnknownSlot { workflow: workflow.name, slot: slot.clone() });
        }
        let stored = self.existing_sessions()?;
        let stored = stored.map(|sessions| sessions.progress(&skill.name, session, &workflow.name));
        let progress = stored.transpose().map_err(CallError::from)?.flatten();
        let done = steps_done(call.start, progress, &skill, &workflow, session)?;
        let values = call.values.clone();
        WorkflowRun { runtime: self, catalog, call, attendant, cancel, skill, session, values, steps: Vec::new() }
            .run(&workflow, done)
    }
}

/// How many steps count as done when a run begins. `progress` is how far the last run came, and the digest of its
/// skill.
fn steps_done(
    start: WorkflowStart,
    progress: Option<(u32, String)>,
    skill: &ExecutableSkill,
    workflow: &Workflow,
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

/// A workflow on its way.
struct WorkflowRun<'a> {
    runtime: &'a Runtime,
    catalog: &'a Catalog,
    call: &'a WorkflowCall,
    attendant: &'a WorkflowAttendant<'a>,
    cancel: &'a Cancel,
    skill: Arc<ExecutableSkill>,
    session: &'a str,
    /// What fills the slots.
    values: Map<String, Value>,
    /// The steps that were reached.
    steps: Vec<StepReport>,
}

/// Whether a workflow goes on after a step.
enum Next {
    GoOn,
    Stop(Verdict),
}

impl WorkflowRun<'_> {
    /// Runs the steps, as far as it goes.
    fn run(mut self, workflow: &Workflow, done: usize) -> Result<WorkflowReport, WorkflowError> {
        self.report(WorkflowEvent::Begun(workflow));
        let count = workflow.steps.len();
        let mut verdict = Verdict::Fine;
        for (step, number) in workflow.steps.iter().zip(1..).skip(done) {
            self.report(WorkflowEvent::StepReached { number, count, step });
            match self.run_step(number, step)? {
                Next::GoOn => self.store_progress(workflow, Some(number))?,
                Next::Stop(why) => {
                    self.store_progress(workflow, Some(number - 1))?;
                    self.report(WorkflowEvent::Stopped { number });
                    verdict = why;
                    break;
                }
            }
        }
        if verdict == Verdict::Fine {
            self.store_progress(workflow, None)?;
        }
        let (workflow, session) = (workflow.name.clone(), self.session.to_owned());
        Ok(WorkflowReport { workflow, session, steps: self.steps, verdict })
    }

    /// Stores how many steps are done; none if it is over.
    fn store_progress(&self, workflow: &Workflow, done: Option<usize>) -> Result<(), CallError> {
        let done = done.map(|done| (u32::try_from(done).unwrap_or(u32::MAX), self.skill.digest.as_str()));
        let sessions = self.runtime.sessions()?;
        Ok(sessions.set_progress(&self.skill.name, self.session, &workflow.name, done, now())?)
    }

    fn report(&self, event: WorkflowEvent<'_>) {
        (self.attendant.report)(event);
    }

    fn record(&mut self, number: usize, step: &Step, outcome: StepOutcome, result: Value) {
        self.steps.push(StepReport { number, text: step.text.clone(), outcome, result });
    }

    fn run_step(&mut self, number: usize, step: &Step) -> Result<Next, CallError> {
        if step.is_optional && (self.call.skip_optional || (self.attendant.is_skipped)(step)) {
            self.record(number, step, StepOutcome::Skipped, Value::Null);
            return Ok(Next::GoOn);
        }
        if let Some(reason) = &step.by_hand {
            return Ok(self.leave_to_people(number, step, reason));
        }
        for slot in &step.slots {
            if !self.values.contains_key(slot)
                && let Some(value) = (self.attendant.slot_value)(slot)
            {
                self.values.insert(slot.clone(), value.into());
            }
        }
        let (command, arguments) = match step.filled(self.skill.document()?, &self.values) {
            Ok(filled) => filled,
            Err(error) => {
                let error = ToolError::new(error.code, error.message).with("remedy", error.remedy);
                return Ok(self.refuse(number, step, error));
            }
        };
        match self.call_command(command, arguments) {
            Ok(CallResult::Finished(call)) => {
                self.report(WorkflowEvent::Finished(&call));
                Ok(self.end_step(number, step, call.outcome.verdict, call.value()))
            }
            // A workflow does not wait for an answer in a later request.
            Ok(CallResult::Deferred(_)) => Ok(Next::Stop(Verdict::Refused)),
            // A step that does not fit its command stops as one that fails.
            Err(error) if error.kind == ErrorKind::Refused => Ok(self.refuse(number, step, error.into())),
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
            ..ToolCall::command(&self.skill.name, invocation)
        };
        let prepared = self.runtime.plan_loaded(&self.skill, &call)?;
        self.report(WorkflowEvent::Planned(prepared.plan()));
        self.runtime.run(prepared, self.catalog, self.attendant.prompter, self.cancel)
    }

    /// A step that was not begun.
    fn refuse(&mut self, number: usize, step: &Step, error: ToolError) -> Next {
        let outcome = Outcome::refused(error);
        self.report(WorkflowEvent::NotBegun(&outcome));
        self.end_step(number, step, outcome.verdict, outcome.value())
    }

    fn end_step(&mut self, number: usize, step: &Step, verdict: Verdict, result: Value) -> Next {
        let outcome = if verdict == Verdict::Fine { StepOutcome::Done } else { StepOutcome::Failed };
        self.record(number, step, outcome, result);
        match verdict {
            Verdict::Fine => Next::GoOn,
            Verdict::Refused | Verdict::Failed if step.is_optional => {
                self.report(WorkflowEvent::FailureIgnored);
                Next::GoOn
            }
            Verdict::Refused | Verdict::Failed | Verdict::Interrupted => Next::Stop(verdict),
        }
    }

    /// A step that is for people to do.
    fn leave_to_people(&mut self, number: usize, step: &Step, reason: &str) -> Next {
        let is_done = (self.attendant.is_done_by_hand)(step, reason);
        let outcome = if is_done { StepOutcome::Done } else { StepOutcome::ByHand };
        self.record(number, step, outcome, Value::Null);
        if is_done || step.is_optional {
            return Next::GoOn;
        }
        self.report(WorkflowEvent::LeftToPeople { number });
        Next::Stop(Verdict::Refused)
    }
}

#[cfg(test)]
mod tests;
