//! One call, from what somebody asks for to what came of it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use rep_library::{Catalog, CatalogEntry};
use rep_sandbox::Cancel;
use serde_json::{Map, Value, json};

use super::commands::{DEFAULT_SESSION, state_json, touched_state};
use super::nested::{CallChain, CallTree};
use super::{Decided, RunAccess, Runtime, binding_of, skill_changed};
use crate::approval::Approvals;
use crate::error::{CallError, ErrorCode};
use crate::executable_skill::ExecutableSkill;
use crate::grant::{Granted, How, Question, Refusal, Trust};
use crate::outcome::{Outcome, Reply};
use crate::plan::command::PermissionOverride;
use crate::plan::{Plan, Work};
use crate::prompter::{Answer, Prompter};
use crate::secret::Secret;
use crate::session::is_name;
use crate::state::State;

/// What somebody wants to run, and how.
#[derive(Clone, Debug)]
pub struct ToolCall {
    /// The skill, by its name or qualified name.
    pub skill: String,
    /// The tool or command, with its arguments.
    pub target: CallTarget,
    /// Whether the caller's consent came with the call.
    pub consent: CallerConsent,
    /// When the run is ended, in seconds.
    pub timeout_s: Option<u64>,
    /// The client that is run for, if it is not the user himself.
    pub client: Option<String>,
}

impl ToolCall {
    /// A call of a tool that asks for confirmation where that is needed.
    pub fn tool(skill: impl Into<String>, tool: impl Into<String>, input: Value) -> Self {
        let target = CallTarget::Tool { tool: tool.into(), input };
        Self { skill: skill.into(), target, consent: CallerConsent::Ask, timeout_s: None, client: None }
    }

    /// An invocation of a command.
    pub fn command(skill: impl Into<String>, invocation: CommandInvocation) -> Self {
        let target = CallTarget::Command(invocation);
        Self { skill: skill.into(), target, consent: CallerConsent::Ask, timeout_s: None, client: None }
    }
}

/// What is called.
#[derive(Clone, Debug)]
pub enum CallTarget {
    /// A tool of the skill.
    Tool {
        /// Its name.
        tool: String,
        /// Its arguments.
        input: Value,
    },
    /// A command of a structured skill.
    Command(CommandInvocation),
}

/// A command somebody wants to run, and how.
#[derive(Clone, Debug, Default)]
pub struct CommandInvocation {
    /// The command's path or alias, or `templates.NAME`.
    pub command: String,
    /// Its arguments.
    pub arguments: Map<String, Value>,
    /// Whose state it reads and changes; the default session if none is named.
    pub session: Option<String>,
    /// Permissions for this call besides what the skill declares.
    pub permissions: PermissionOverride,
    /// Whether it runs whatever state it requires.
    pub ignore_state: bool,
}

impl CommandInvocation {
    /// The session, if the name can be one.
    pub fn session_name(&self) -> Result<&str, CallError> {
        session_name(self.session.as_deref())
    }
}

/// A session's name, if it can be one; the default one if none is given.
pub(super) fn session_name(name: Option<&str>) -> Result<&str, CallError> {
    let name = name.unwrap_or(DEFAULT_SESSION);
    if is_name(name) {
        Ok(name)
    } else {
        Err(CallError::unable(ErrorCode::Usage, "a session's name is printable text of 1 to 256 bytes"))
    }
}

/// What a confirmation is bound to: everything that says what would run and what it may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanBinding(String);

impl PlanBinding {
    /// The binding of a plan.
    pub fn of(plan: &Plan) -> Self {
        Self(binding_of(plan))
    }

    /// A binding as it was handed out.
    pub fn from_text(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text to hand out.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(super) fn fits(&self, plan: &Plan) -> bool {
        self.0 == binding_of(plan)
    }
}

/// Whether the caller's consent came with the call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallerConsent {
    /// It did not: the prompter is asked where that is needed.
    Ask,
    /// It did (`--yes`).
    Given,
    /// Somebody agreed to exactly this before, in another process or request.
    AgreedTo(PlanBinding),
}

/// A call whose skill was loaded and planned. It runs only through [`Runtime::run`].
pub struct PreparedCall {
    pub(super) skill: Arc<ExecutableSkill>,
    pub(super) plan: Plan,
    pub(super) command: Option<CommandInvocation>,
    pub(super) consent: CallerConsent,
    pub(super) client: Option<String>,
    /// State that the command requires and that is not valid.
    pub(super) missing_state: Vec<String>,
}

impl PreparedCall {
    /// What would run.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The skill's qualified name.
    pub fn skill_name(&self) -> &str {
        &self.skill.name
    }

    /// The loaded skill.
    pub fn skill(&self) -> &ExecutableSkill {
        &self.skill
    }

    /// State that the command requires and that is not valid.
    pub fn missing_state(&self) -> &[String] {
        &self.missing_state
    }
}

/// What became of a call.
pub enum CallResult {
    /// It is over, or was refused.
    Finished(Box<FinishedCall>),
    /// Somebody must answer first; [`Runtime::resume`] goes on.
    Deferred(Box<DeferredCall>),
}

/// A call that is over, or was refused.
pub struct FinishedCall {
    /// What was planned.
    pub plan: Plan,
    /// What came of it.
    pub outcome: Outcome,
    /// What the tools came to that it called, in the order they ended.
    pub nested: Vec<NestedCall>,
    /// The state after a command that ran.
    pub state: Option<State>,
    /// The same as JSON, with the commands that can run now.
    pub state_json: Option<Value>,
    /// The entities that the command creates or invalidates, by name.
    pub touched_state: Vec<String>,
}

impl FinishedCall {
    /// The result document: what the tool gave, or for a command what it gave and the state.
    pub fn value(&self) -> Value {
        let mut value = self.outcome.value();
        if matches!(self.plan.work, Work::Tool(_)) {
            return value;
        }
        match (&self.outcome.reply, &self.state_json) {
            (Reply::Error(_), Some(state)) => value["error"]["state"] = state.clone(),
            (Reply::Error(_), None) => {}
            (Reply::Result(_) | Reply::Task(_), state) => value["state"] = state.clone().unwrap_or_default(),
        }
        value
    }

    /// How the run went, with the runs below it, for programs.
    pub fn metadata(&self) -> Value {
        let mut metadata = self.outcome.metadata();
        let calls = self.nested.iter().map(|call| json!({ "tool": call.name, "run": call.outcome.metadata() }));
        metadata["calls"] = calls.collect();
        metadata
    }
}

/// A tool that was called by another one.
pub struct NestedCall {
    /// `skill:tool`.
    pub name: String,
    /// What came of it.
    pub outcome: Outcome,
}

/// A call that waits for an answer. It keeps the private copy of the skill, so that nothing is loaded or planned again.
pub struct DeferredCall {
    prepared: PreparedCall,
    question: Question,
}

impl DeferredCall {
    /// The question in words. The author's words in it are text by a stranger.
    pub fn question(&self) -> String {
        self.question.text()
    }

    /// What the answer is bound to.
    pub fn binding(&self) -> PlanBinding {
        PlanBinding::of(self.question.plan())
    }

    /// What would run.
    pub fn plan(&self) -> &Plan {
        self.question.plan()
    }
}

impl Runtime {
    /// Plans a call without loading a copy of the skill: what would run, for `--dry-run`. Nothing can be run with it.
    pub fn plan(&self, catalog: &Catalog, call: &ToolCall) -> Result<PreparedCall, CallError> {
        let entry = self.find(catalog, &call.skill)?;
        self.plan_loaded(&Arc::new(ExecutableSkill::inspect(entry)?), call)
    }

    /// Loads a private copy of the skill and plans a call of it.
    pub fn prepare(&self, catalog: &Catalog, call: &ToolCall) -> Result<PreparedCall, CallError> {
        let entry = self.find(catalog, &call.skill)?;
        self.plan_loaded(&Arc::new(self.load(entry)?), call)
    }

    /// Loads a private copy of a skill, below a directory that no tool sees: elsewhere one could change what another runs.
    pub(crate) fn load(&self, entry: &CatalogEntry) -> Result<ExecutableSkill, CallError> {
        ExecutableSkill::load(entry, &self.options.library, &self.copies_folder()?)
    }

    /// Where private copies of skills are made.
    fn copies_folder(&self) -> Result<PathBuf, CallError> {
        Ok(self.paths.data()?.join("copies"))
    }

    /// Loads a private copy of a skill once, so that several of its commands can run from it.
    pub fn load_skill(&self, catalog: &Catalog, skill: &str) -> Result<Arc<ExecutableSkill>, CallError> {
        Ok(Arc::new(self.load(self.find(catalog, skill)?)?))
    }

    /// Plans a call of a skill that was loaded.
    pub fn plan_loaded(&self, skill: &Arc<ExecutableSkill>, call: &ToolCall) -> Result<PreparedCall, CallError> {
        let (mut plan, command, missing_state) = match &call.target {
            CallTarget::Tool { tool, input } => {
                let index = skill.tool_index(tool)?;
                let plan = skill.plan_tool(index, &self.options.workspace, input.clone()).map_err(|error| {
                    let message = format!("`{}:{tool}`: {error}", skill.name);
                    CallError::unable(ErrorCode::InvalidTool, message).with_remedy(error.remedy)
                })?;
                (plan, None, Vec::new())
            }
            CallTarget::Command(invocation) => {
                let plan = self.plan_invocation(skill, invocation)?;
                let missing = self.missing_state(skill, invocation)?;
                (plan, Some(invocation.clone()), missing)
            }
        };
        // A request starts no process that could be confined, and is held to its hosts in any case.
        if !matches!(plan.work, Work::Request(_)) {
            plan.confinement = self.options.confinement;
        }
        if let Some(seconds) = call.timeout_s {
            plan.limits = plan.limits.with_timeout(seconds);
        }
        let (consent, client) = (call.consent.clone(), call.client.clone());
        Ok(PreparedCall { skill: Arc::clone(skill), plan, command, consent, client, missing_state })
    }

    /// Decides, asks `prompter` where the policy says so, records the start, runs confined, and records the end.
    pub fn call(
        &self,
        catalog: &Catalog,
        call: &ToolCall,
        prompter: &dyn Prompter,
        cancel: &Cancel,
    ) -> Result<CallResult, CallError> {
        self.run(self.prepare(catalog, call)?, catalog, prompter, cancel)
    }

    /// The same for a call that was prepared.
    pub fn run(
        &self,
        prepared: PreparedCall,
        catalog: &Catalog,
        prompter: &dyn Prompter,
        cancel: &Cancel,
    ) -> Result<CallResult, CallError> {
        if !prepared.missing_state.is_empty() {
            return Ok(finished_without_run(prepared));
        }
        let secrets = self.secrets(&prepared.plan)?;
        let decided =
            self.decide(prepared.plan.clone(), &prepared.skill.trust, &secrets, &prepared.consent, prompter)?;
        let decided = match decided {
            Decided::Granted(granted) => Ok(*granted),
            Decided::Refused(refusal) => Err(refusal),
            Decided::Deferred(question) => {
                return Ok(CallResult::Deferred(Box::new(DeferredCall { prepared, question: *question })));
            }
        };
        self.carry_out(&prepared, decided, &secrets, catalog, prompter, cancel)
    }

    /// Goes on with a call whose question was answered. The skill and its copy are verified again, and the policy and the trust
    /// are asked again: what changed or was denied meanwhile is refused.
    pub fn resume(
        &self,
        deferred: DeferredCall,
        answer: Answer,
        catalog: &Catalog,
        prompter: &dyn Prompter,
        cancel: &Cancel,
    ) -> Result<CallResult, CallError> {
        let DeferredCall { prepared, question } = deferred;
        let secrets = self.secrets(&prepared.plan)?;
        let entry = self.find(catalog, &prepared.skill.name)?;
        let trust = prepared.skill.current_trust(entry, &self.options.library)?;
        let decided = if prepared.skill.is_unchanged(&self.copies_folder()?) {
            match self.answered(question, answer)? {
                Decided::Granted(granted) => self.confirmed(*granted, &trust, &secrets)?,
                Decided::Refused(refusal) => Err(refusal),
                Decided::Deferred(question) => Err(question.decline()),
            }
        } else {
            Err(skill_changed(&prepared.plan))
        };
        self.carry_out(&prepared, decided, &secrets, catalog, prompter, cancel)
    }

    /// Whether the policy, the trust and the secrets still allow what was granted by an answer.
    fn confirmed(
        &self,
        granted: Granted,
        trust: &Trust,
        secrets: &BTreeMap<String, Secret>,
    ) -> Result<Result<Granted, Refusal>, CallError> {
        let names = secrets.keys().cloned().collect();
        Ok(match granted.still_permitted(&self.policy()?, trust, &names) {
            Ok(()) => Ok(granted),
            Err(refusal) => Err(refusal),
        })
    }

    /// Decides over a prepared call, asking where that is needed, and runs nothing: the binding lets another process run it. A
    /// refusal is recorded like that of a run.
    pub fn authorize(
        &self,
        prepared: &PreparedCall,
        prompter: &dyn Prompter,
    ) -> Result<Result<PlanBinding, Outcome>, CallError> {
        let refusal = match self.decide_prepared(prepared, prompter)? {
            Ok(granted) => return Ok(Ok(PlanBinding::of(granted.plan()))),
            Err(refusal) => refusal,
        };
        let client = prepared.client.as_deref();
        let access = RunAccess { secrets: &[], hidden: &[], caller: None, client };
        Ok(Err(self.run_decided(Err(refusal), &prepared.plan, &access, prompter, &Cancel::default())))
    }

    /// Decides over a prepared call and remembers the approval, so that it runs later where nobody can be asked. False if it runs
    /// without a question anyway.
    pub fn approve(&self, prepared: &PreparedCall, prompter: &dyn Prompter) -> Result<bool, CallError> {
        let granted = self.decide_prepared(prepared, prompter)??;
        if granted.how() == How::Unasked {
            return Ok(false);
        }
        Approvals::remember(&self.approvals_file()?, granted.plan(), super::now())?;
        Ok(true)
    }

    fn decide_prepared(
        &self,
        prepared: &PreparedCall,
        prompter: &dyn Prompter,
    ) -> Result<Result<Granted, Refusal>, CallError> {
        let secrets = self.secrets(&prepared.plan)?;
        let (plan, trust) = (prepared.plan.clone(), &prepared.skill.trust);
        Ok(match self.decide(plan, trust, &secrets, &prepared.consent, prompter)? {
            Decided::Granted(granted) => Ok(*granted),
            Decided::Refused(refusal) => Err(refusal),
            Decided::Deferred(question) => Err(question.decline()),
        })
    }

    /// Runs what was decided, with the tools it calls, and applies what a command does to its state.
    fn carry_out(
        &self,
        prepared: &PreparedCall,
        decided: Result<Granted, Refusal>,
        secrets: &BTreeMap<String, Secret>,
        catalog: &Catalog,
        prompter: &dyn Prompter,
        cancel: &Cancel,
    ) -> Result<CallResult, CallError> {
        let tree = CallTree::new(self, catalog, prepared.client.as_deref());
        let plan = prepared.plan.clone();
        let outcome = match &prepared.command {
            None => tree.run(decided, &plan, secrets, &prepared.skill.name, &CallChain::default(), prompter, cancel),
            Some(_) => tree.run_alone(decided, &plan, secrets, prompter, cancel),
        };
        let state = match &prepared.command {
            Some(invocation) if outcome.is_executed => {
                Some(self.apply_state(&prepared.skill, invocation, &plan, &outcome)?)
            }
            _ => None,
        };
        let state_json = match (&state, prepared.skill.document()) {
            (Some(state), Ok(document)) => Some(state_json(state, document)),
            _ => None,
        };
        let touched_state = match (&state, &prepared.command) {
            (Some(_), Some(invocation)) => touched_state(&prepared.skill, invocation),
            _ => Vec::new(),
        };
        let nested = tree.into_nested();
        Ok(CallResult::Finished(Box::new(FinishedCall { plan, outcome, nested, state, state_json, touched_state })))
    }
}

/// A command whose state is missing.
fn finished_without_run(prepared: PreparedCall) -> CallResult {
    let error = super::commands::invalid_state(&prepared.plan.tool, &prepared.missing_state);
    let outcome = Outcome::refused(error);
    CallResult::Finished(Box::new(FinishedCall {
        plan: prepared.plan,
        outcome,
        nested: Vec::new(),
        state: None,
        state_json: None,
        touched_state: Vec::new(),
    }))
}
