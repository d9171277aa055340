//! A single call, from the request to its result.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use rep_library::validation::SkillViolation;
use rep_library::{Catalog, CatalogEntry};
use rep_sandbox::Cancel;
use serde_json::{Map, Value, json};

use super::commands::{DEFAULT_SESSION, state_json, touched_state};
use super::nested::{CallChain, CallTree};
use super::{RunAccess, RunDecision, Runtime, compute_plan_binding, skill_changed_refusal};
use crate::error::{CallError, ErrorCode};
use crate::executable_skill::ExecutableSkill;
use crate::grant::{ExecutionTrust, GrantDecision, GrantOrigin, Granted, RunConfirmation, RunRefusal};
use crate::outcome::{Outcome, RunReply};
use crate::plan::command::PermissionOverride;
use crate::plan::server::{SERVER_PREFIX, ServerAction};
use crate::plan::{Plan, PlannedWork};
use crate::prompter::{Prompter, PrompterAnswer};
use crate::secret::SecretValue;
use crate::session::is_session_name;
use crate::state::CommandState;

/// A call of a tool or command, with its options.
#[derive(Clone, Debug)]
pub struct ToolCall {
    /// The skill, by its name or qualified name.
    pub skill: String,
    /// The tool or command, with its arguments.
    pub target: CallTarget,
    /// Whether consent was given with the call.
    pub consent: CallerConsent,
    /// The time limit of the run, in seconds.
    pub timeout_s: Option<u64>,
    /// The client that made the call, if it is not the user.
    pub client: Option<String>,
}

impl ToolCall {
    /// Creates a call of a tool that asks for confirmation if needed.
    pub fn for_tool(skill: impl Into<String>, tool: impl Into<String>, input: Value) -> Self {
        let target = CallTarget::Tool { tool: tool.into(), input };
        Self { skill: skill.into(), target, consent: CallerConsent::Ask, timeout_s: None, client: None }
    }

    /// Creates a call of a tool of an MCP server.
    pub fn for_server(server: impl Into<String>, tool: impl Into<String>, input: Value) -> Self {
        let server = server.into();
        let skill = format!("{SERVER_PREFIX}{server}");
        let target = CallTarget::ServerTool { server, tool: tool.into(), input };
        Self { skill, target, consent: CallerConsent::Ask, timeout_s: None, client: None }
    }

    /// Creates a call of a script that the skill bundles.
    pub fn for_script(skill: impl Into<String>, invocation: ScriptInvocation) -> Self {
        let target = CallTarget::Script(invocation);
        Self { skill: skill.into(), target, consent: CallerConsent::Ask, timeout_s: None, client: None }
    }

    /// Creates a call of a command.
    pub fn for_command(skill: impl Into<String>, invocation: CommandInvocation) -> Self {
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
    /// A script that the skill bundles.
    Script(ScriptInvocation),
    /// A tool of an MCP server that the user or the project declares.
    ServerTool {
        /// The server.
        server: String,
        /// The tool.
        tool: String,
        /// Its arguments.
        input: Value,
    },
}

/// A bundled script to run, with its arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScriptInvocation {
    /// The file, relative to the skill.
    pub path: String,
    /// Its arguments. Each is one word, whatever it contains; no shell is involved.
    pub arguments: Vec<String>,
}

/// A command to run, with its options.
#[derive(Clone, Debug, Default)]
pub struct CommandInvocation {
    /// The command's path or alias, or `templates.NAME`.
    pub command: String,
    /// Its arguments.
    pub arguments: Map<String, Value>,
    /// The session whose state it reads and changes; the default session if `None`.
    pub session: Option<String>,
    /// Permissions for this call in addition to those that the skill declares.
    pub permissions: PermissionOverride,
    /// Whether to run even if required state is missing.
    pub ignore_state: bool,
}

impl CommandInvocation {
    /// Returns the session name if it is valid.
    pub fn session_name(&self) -> Result<&str, CallError> {
        resolve_session_name(self.session.as_deref())
    }
}

/// Validates a session name; `None` means the default session.
pub(super) fn resolve_session_name(name: Option<&str>) -> Result<&str, CallError> {
    let name = name.unwrap_or(DEFAULT_SESSION);
    if is_session_name(name) {
        Ok(name)
    } else {
        Err(CallError::unable(ErrorCode::Usage, "a session name must be printable text of 1 to 256 bytes"))
    }
}

/// The digest that a confirmation is bound to: everything that determines what would run and what it may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanBinding(String);

impl PlanBinding {
    /// Computes the binding of a plan.
    pub fn from_plan(plan: &Plan) -> Self {
        Self(compute_plan_binding(plan))
    }

    /// Restores a binding from its text.
    pub fn from_text(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text of the binding.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(super) fn matches_plan(&self, plan: &Plan) -> bool {
        self.0 == compute_plan_binding(plan)
    }
}

/// Whether consent was given with the call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallerConsent {
    /// No: the prompter asks if needed.
    Ask,
    /// Yes (`--yes`).
    Given,
    /// The user agreed to exactly this plan earlier, in another process or request.
    AgreedTo(PlanBinding),
}

/// A call whose skill is loaded and planned. It runs only through [`Runtime::run_prepared`].
pub struct PreparedCall {
    /// The skill; `None` for a server that no skill declares.
    pub(super) skill: Option<Arc<ExecutableSkill>>,
    /// Whether the skill or the server is trusted.
    pub(super) trust: ExecutionTrust,
    pub(super) plan: Plan,
    pub(super) command: Option<CommandInvocation>,
    pub(super) consent: CallerConsent,
    pub(super) client: Option<String>,
    /// Required state that is not valid.
    pub(super) missing_state: Vec<String>,
}

impl PreparedCall {
    /// Returns the plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns the skill's qualified name, or that of the server.
    pub fn skill_name(&self) -> &str {
        &self.plan.skill
    }

    /// Returns the declared UASP versions that are not the hash of the content.
    pub fn version_warnings(&self) -> &[SkillViolation] {
        self.skill.as_ref().map_or(&[], |skill| &skill.version_warnings)
    }

    /// Returns the loaded skill, unless the call is one of a server.
    pub fn skill(&self) -> Option<&ExecutableSkill> {
        self.skill.as_deref()
    }

    /// Returns the required state that is not valid.
    pub fn missing_state(&self) -> &[String] {
        &self.missing_state
    }
}

/// The result of a call.
pub enum CallResult {
    /// The call finished or was refused.
    Finished(Box<FinishedCall>),
    /// The call waits for confirmation; [`Runtime::resume_call`] continues it.
    Deferred(Box<DeferredCall>),
}

/// A call that finished or was refused.
pub struct FinishedCall {
    /// The plan.
    pub plan: Plan,
    /// The outcome.
    pub outcome: Outcome,
    /// The outcomes of the tools that it called, in the order in which they finished.
    pub nested: Vec<NestedCall>,
    /// The state after a command ran.
    pub state: Option<CommandState>,
    /// The state as JSON, with the commands that can run.
    pub state_json: Option<Value>,
    /// The entities that the command creates or invalidates, by name.
    pub touched_state: Vec<String>,
}

impl FinishedCall {
    /// Returns the result document: the reply of the tool, and the state for a command.
    pub fn to_json(&self) -> Value {
        let mut value = self.outcome.to_json();
        if let (PlannedWork::Script(_), RunReply::Error(error)) = (&self.plan.work, &self.outcome.reply)
            && error.code == ErrorCode::CommandFailed
        {
            // A script that ends with a failure has a result like any other; its code says so.
            return Value::Object((*error.more).clone());
        }
        if matches!(self.plan.work, PlannedWork::Tool(_) | PlannedWork::Script(_) | PlannedWork::Server(_)) {
            return value;
        }
        match (&self.outcome.reply, &self.state_json) {
            (RunReply::Error(_), Some(state)) => value["error"]["state"] = state.clone(),
            (RunReply::Error(_), None) => {}
            (RunReply::Result(_) | RunReply::Task(_), state) => value["state"] = state.clone().unwrap_or_default(),
        }
        value
    }

    /// Returns the metadata of the run and of its nested runs.
    pub fn metadata_json(&self) -> Value {
        let mut metadata = self.outcome.metadata_json();
        let calls = self.nested.iter().map(|call| json!({ "tool": call.name, "run": call.outcome.metadata_json() }));
        metadata["calls"] = calls.collect();
        metadata
    }
}

/// A tool that was called by another tool.
pub struct NestedCall {
    /// `skill:tool`.
    pub name: String,
    /// The outcome.
    pub outcome: Outcome,
}

/// A call that waits for confirmation. It keeps the private copy of the skill, so nothing is loaded or
/// planned again.
pub struct DeferredCall {
    prepared: PreparedCall,
    question: RunConfirmation,
}

impl DeferredCall {
    /// Renders the confirmation. The author's text in it is untrusted.
    pub fn question_text(&self) -> String {
        self.question.render_text()
    }

    /// Returns the digest that the answer is bound to.
    pub fn plan_binding(&self) -> PlanBinding {
        PlanBinding::from_plan(self.question.plan())
    }

    /// Returns the plan.
    pub fn plan(&self) -> &Plan {
        self.question.plan()
    }
}

impl Runtime {
    /// Plans a call without copying the skill, for `--dry-run`. The result cannot be run.
    pub fn plan_call(&self, catalog: &Catalog, call: &ToolCall) -> Result<PreparedCall, CallError> {
        if let CallTarget::ServerTool { server, tool, input } = &call.target {
            return self.plan_server_call(server, tool, input, call);
        }
        let entry = self.find_skill(catalog, &call.skill)?;
        self.plan_with_callees(catalog, &Arc::new(ExecutableSkill::inspect(entry)?), call)
    }

    /// Loads a private copy of the skill and plans a call of it.
    pub fn prepare_call(&self, catalog: &Catalog, call: &ToolCall) -> Result<PreparedCall, CallError> {
        if let CallTarget::ServerTool { server, tool, input } = &call.target {
            return self.plan_server_call(server, tool, input, call);
        }
        let entry = self.find_skill(catalog, &call.skill)?;
        let skill = tracing::debug_span!("copy the skill").in_scope(|| self.load_entry(entry))?;
        tracing::debug_span!("plan").in_scope(|| self.plan_with_callees(catalog, &Arc::new(skill), call))
    }

    fn plan_with_callees(
        &self,
        catalog: &Catalog,
        skill: &Arc<ExecutableSkill>,
        call: &ToolCall,
    ) -> Result<PreparedCall, CallError> {
        let mut prepared = self.plan_loaded(skill, call)?;
        self.describe_callees(catalog, skill, &mut prepared.plan);
        Ok(prepared)
    }

    /// Loads a private copy of a skill into a directory that no tool can see. Elsewhere one tool could change
    /// what another one runs.
    pub(crate) fn load_entry(&self, entry: &CatalogEntry) -> Result<ExecutableSkill, CallError> {
        ExecutableSkill::load(entry, &self.options.library, &self.copies_folder()?)
    }

    /// Returns the directory of private copies of skills.
    fn copies_folder(&self) -> Result<PathBuf, CallError> {
        Ok(self.paths.data_folder()?.join("copies"))
    }

    /// Loads a private copy of a skill, from which several commands can run.
    pub fn load_skill(&self, catalog: &Catalog, skill: &str) -> Result<Arc<ExecutableSkill>, CallError> {
        Ok(Arc::new(self.load_entry(self.find_skill(catalog, skill)?)?))
    }

    /// Plans a call of a loaded skill.
    pub fn plan_loaded(&self, skill: &Arc<ExecutableSkill>, call: &ToolCall) -> Result<PreparedCall, CallError> {
        let (mut plan, command, missing_state) = match &call.target {
            CallTarget::ServerTool { server, tool, input } => return self.plan_server_call(server, tool, input, call),
            CallTarget::Tool { tool, input } => {
                let index = match skill.tool_index(tool) {
                    Ok(index) => index,
                    Err(missing) => return self.plan_required_tool(skill, tool, input, call, missing),
                };
                let plan = skill.plan_tool(index, &self.options.workspace, input.clone()).map_err(|error| {
                    let message = format!("`{}:{tool}`: {error}", skill.name);
                    CallError::unable(ErrorCode::InvalidTool, message).with_remedy(error.remedy)
                })?;
                (plan, None, Vec::new())
            }
            CallTarget::Script(script) => (skill.plan_script(script, &self.options.workspace)?, None, Vec::new()),
            CallTarget::Command(invocation) => {
                let plan = self.plan_invocation(skill, invocation)?;
                let missing = self.find_missing_state(skill, invocation)?;
                (plan, Some(invocation.clone()), missing)
            }
        };
        if let Some(grant) = self.find_permission_grant(skill)? {
            grant.apply(&mut plan);
        }
        // A request starts no process that could be confined; its hosts are enforced in any case.
        if !matches!(plan.work, PlannedWork::Request(_)) {
            plan.confinement = self.options.confinement;
        }
        if let Some(seconds) = call.timeout_s {
            plan.limits = plan.limits.with_timeout(seconds);
        }
        let (consent, client) = (call.consent.clone(), call.client.clone());
        let (trust, skill) = (skill.trust.clone(), Some(Arc::clone(skill)));
        Ok(PreparedCall { skill, trust, plan, command, consent, client, missing_state })
    }

    /// Plans a call of a tool that the skill does not have, but a server that it requires may have.
    fn plan_required_tool(
        &self,
        skill: &Arc<ExecutableSkill>,
        tool: &str,
        input: &Value,
        call: &ToolCall,
        missing: CallError,
    ) -> Result<PreparedCall, CallError> {
        if missing.code != ErrorCode::ToolNotFound {
            return Err(missing);
        }
        let server = self.find_required_server(skill, tool)?.ok_or(missing)?;
        let action = ServerAction::CallTool { tool: tool.to_owned(), must_be_read_only: false };
        self.plan_conversation(&server, Some(skill), action, input.clone(), call)
    }

    /// Decides, asks `prompter` if needed, records the start, runs confined, and records the end.
    pub fn call(
        &self,
        catalog: &Catalog,
        call: &ToolCall,
        prompter: &dyn Prompter,
        cancel: &Cancel,
    ) -> Result<CallResult, CallError> {
        self.run_prepared(self.prepare_call(catalog, call)?, catalog, prompter, cancel)
    }

    /// Runs a prepared call in the same way.
    pub fn run_prepared(
        &self,
        mut prepared: PreparedCall,
        catalog: &Catalog,
        prompter: &dyn Prompter,
        cancel: &Cancel,
    ) -> Result<CallResult, CallError> {
        self.classify_server_call(&mut prepared, cancel)?;
        if !prepared.missing_state.is_empty() {
            return Ok(refuse_missing_state(prepared));
        }
        let secrets = self.gather_secrets(&prepared.plan)?;
        let decided =
            self.decide_plan(prepared.plan.clone(), &prepared.trust, &secrets, &prepared.consent, prompter)?;
        let decided = match decided {
            RunDecision::Granted(granted) => Ok(*granted),
            RunDecision::Refused(refusal) => Err(refusal),
            RunDecision::Deferred(question) => {
                return Ok(CallResult::Deferred(Box::new(DeferredCall { prepared, question: *question })));
            }
        };
        self.run_and_apply_state(&prepared, decided, &secrets, catalog, prompter, cancel)
    }

    /// Continues a call whose confirmation was answered. The skill, its copy, the policy and the trust are
    /// checked again; a change or denial in the meantime is refused.
    pub fn resume_call(
        &self,
        deferred: DeferredCall,
        answer: PrompterAnswer,
        catalog: &Catalog,
        prompter: &dyn Prompter,
        cancel: &Cancel,
    ) -> Result<CallResult, CallError> {
        let DeferredCall { prepared, question } = deferred;
        let secrets = self.gather_secrets(&prepared.plan)?;
        let (trust, is_unchanged) = match (&prepared.skill, prepared.plan.server_call()) {
            (Some(skill), _) => {
                let entry = self.find_skill(catalog, &skill.name)?;
                let trust = skill.current_trust(entry, &self.options.library)?;
                (trust, skill.is_unchanged(&self.copies_folder()?))
            }
            (None, Some(call)) => {
                let server = self.find_server(&call.server.name)?;
                let again = self.plan_conversation(
                    &server,
                    None,
                    call.action.clone(),
                    prepared.plan.input.clone(),
                    &ToolCall::for_server(&server.name, &prepared.plan.tool, Value::Null),
                )?;
                (again.trust, again.plan.digest == prepared.plan.digest)
            }
            (None, None) => (prepared.trust.clone(), true),
        };
        let decided = if is_unchanged {
            match self.apply_answer(question, answer, &trust)? {
                RunDecision::Granted(granted) => self.recheck_grant(*granted, &trust, &secrets)?,
                RunDecision::Refused(refusal) => Err(refusal),
                RunDecision::Deferred(question) => Err(question.into_declined()),
            }
        } else {
            Err(skill_changed_refusal(&prepared.plan))
        };
        self.run_and_apply_state(&prepared, decided, &secrets, catalog, prompter, cancel)
    }

    /// Checks whether the policy, the trust and the secrets still allow a confirmed grant.
    fn recheck_grant(
        &self,
        granted: Granted,
        trust: &ExecutionTrust,
        secrets: &BTreeMap<String, SecretValue>,
    ) -> Result<Result<Granted, RunRefusal>, CallError> {
        let names = secrets.keys().cloned().collect();
        Ok(match granted.check_still_permitted(&self.load_policy()?, trust, &names) {
            Ok(()) => Ok(granted),
            Err(refusal) => Err(refusal),
        })
    }

    /// Decides on a prepared call, asks if needed, and runs nothing: with the binding, another process can
    /// run it. A refusal is recorded like that of a run.
    pub fn authorize_call(
        &self,
        prepared: &PreparedCall,
        prompter: &dyn Prompter,
    ) -> Result<Result<PlanBinding, Outcome>, CallError> {
        let refusal = match self.decide_prepared(prepared, prompter)? {
            Ok(granted) => return Ok(Ok(PlanBinding::from_plan(granted.plan()))),
            Err(refusal) => refusal,
        };
        let client = prepared.client.as_deref();
        let access = RunAccess { secrets: &[], redacted_values: &[], caller: None, client };
        Ok(Err(self.run_decided(Err(refusal), &prepared.plan, &access, prompter, &Cancel::default())))
    }

    /// Decides on a prepared call and stores the approval, so that it can run later without a prompt. Returns
    /// false if it needs no confirmation anyway.
    pub fn approve_call(&self, prepared: &PreparedCall, prompter: &dyn Prompter) -> Result<bool, CallError> {
        let secrets = self.gather_secrets(&prepared.plan)?;
        // An approval is for every call of the tool, so the arguments of this one are not validated.
        let decision = self.decide_by_policy(prepared.plan.clone(), &prepared.trust, &secrets, &prepared.consent)?;
        let granted = match decision {
            GrantDecision::Granted(granted) => granted,
            GrantDecision::Refused(refusal) => return Err(refusal.into()),
            GrantDecision::Ask(question) => self.ask_to_confirm(question, &prepared.trust, prompter)?.into_granted()?,
        };
        // The definition of a server's tool is not replaced without an answer.
        let is_kept = granted.origin() == GrantOrigin::PriorApproval && granted.plan().is_server_tool_call();
        if granted.origin() == GrantOrigin::NoConsentNeeded || is_kept {
            return Ok(false);
        }
        self.store_approval(granted.plan(), &prepared.trust)?;
        Ok(true)
    }

    fn decide_prepared(
        &self,
        prepared: &PreparedCall,
        prompter: &dyn Prompter,
    ) -> Result<Result<Granted, RunRefusal>, CallError> {
        let secrets = self.gather_secrets(&prepared.plan)?;
        let (plan, trust) = (prepared.plan.clone(), &prepared.trust);
        Ok(self.decide_plan(plan, trust, &secrets, &prepared.consent, prompter)?.into_granted())
    }

    /// Runs a decided call and its nested calls, and applies the effects of a command to its state.
    fn run_and_apply_state(
        &self,
        prepared: &PreparedCall,
        decided: Result<Granted, RunRefusal>,
        secrets: &BTreeMap<String, SecretValue>,
        catalog: &Catalog,
        prompter: &dyn Prompter,
        cancel: &Cancel,
    ) -> Result<CallResult, CallError> {
        let tree = CallTree::new(self, catalog, prepared.client.as_deref());
        let plan = prepared.plan.clone();
        let outcome = match (&prepared.command, &prepared.skill) {
            (None, Some(skill)) if matches!(plan.work, PlannedWork::Tool(_)) => {
                tree.run_tool(decided, &plan, secrets, skill, &CallChain::default(), prompter, cancel)
            }
            _ => tree.run_alone(decided, &plan, secrets, &CallChain::default(), prompter, cancel),
        };
        let command = prepared.command.as_ref().zip(prepared.skill.as_deref()).filter(|_| outcome.is_executed);
        let state = match command {
            Some((invocation, skill)) => Some(self.apply_state(skill, invocation, &plan, &outcome)?),
            None => None,
        };
        let state_json = match (&state, command.map(|(_, skill)| skill.require_document())) {
            (Some(state), Some(Ok(document))) => Some(state_json(state, document)),
            _ => None,
        };
        let touched_state = command.map(|(invocation, skill)| touched_state(skill, invocation)).unwrap_or_default();
        let nested = tree.into_nested();
        Ok(CallResult::Finished(Box::new(FinishedCall { plan, outcome, nested, state, state_json, touched_state })))
    }
}

/// Refuses a command whose required state is missing.
fn refuse_missing_state(prepared: PreparedCall) -> CallResult {
    let error = super::commands::invalid_state_error(&prepared.plan.tool, &prepared.missing_state);
    let outcome = Outcome::not_started(error);
    CallResult::Finished(Box::new(FinishedCall {
        plan: prepared.plan,
        outcome,
        nested: Vec::new(),
        state: None,
        state_json: None,
        touched_state: Vec::new(),
    }))
}
