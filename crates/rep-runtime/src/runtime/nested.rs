//! Nested tool calls. Every call is loaded, planned and decided separately.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use rep_library::{Catalog, SkillStatus};
use rep_sandbox::Cancel;
use serde_json::Value;

use super::call::{CallerConsent, NestedCall, PreparedCall, ToolCall};
use super::servers::parse_server_target;
use super::{RunAccess, RunDecision, Runtime, expose_secrets};
use crate::error::{CallError, ErrorCode};
use crate::executable_skill::ExecutableSkill;
use crate::grant::{Granted, RunRefusal};
use crate::outcome::{Outcome, RunReply, ToolError};
use crate::plan::Plan;
use crate::prompter::{NobodyToAsk, Prompter};
use crate::secret::SecretValue;

/// The maximum depth of nested tool calls.
const DEPTH_MAX: usize = 8;
/// The maximum number of nested tool calls in one run.
const CALLS_MAX: usize = 1000;
/// How much of a nested tool's log, files and denials is retained.
const LOG_BYTES_MAX: usize = 64 << 10;
const ITEMS_MAX: usize = 100;

/// An external call and the nested calls that its tools make.
pub(super) struct CallTree<'a> {
    runtime: &'a Runtime,
    catalog: &'a Catalog,
    client: Option<&'a str>,
    /// The number of nested calls so far.
    calls: AtomicUsize,
    /// The outcomes of nested calls, in the order in which they finished.
    nested: Mutex<Vec<NestedCall>>,
}

/// The chain of callers of a tool, outermost first.
#[derive(Default)]
pub(super) struct CallChain {
    names: Vec<String>,
    /// The secrets of all callers: a tool may pass its secrets on, so they are redacted in nested calls too.
    redacted_values: Vec<(String, String)>,
}

impl CallChain {
    fn with_call(&self, plan: &Plan, secrets: &[(String, String)]) -> Self {
        let own = if plan.redaction.secrets { secrets } else { &[] };
        Self {
            names: [&self.names[..], &[qualified_tool_name(plan)]].concat(),
            redacted_values: [&self.redacted_values[..], own].concat(),
        }
    }
}

impl<'a> CallTree<'a> {
    pub(super) fn new(runtime: &'a Runtime, catalog: &'a Catalog, client: Option<&'a str>) -> Self {
        Self { runtime, catalog, client, calls: AtomicUsize::new(0), nested: Mutex::default() }
    }

    /// Returns the outcomes of nested calls.
    pub(super) fn into_nested(self) -> Vec<NestedCall> {
        self.nested.into_inner()
    }

    /// Runs a decided call without answering nested calls. `chain` lists its callers.
    pub(super) fn run_alone(
        &self,
        decided: Result<Granted, RunRefusal>,
        plan: &Plan,
        secrets: &BTreeMap<String, SecretValue>,
        chain: &CallChain,
        prompter: &dyn Prompter,
        cancel: &Cancel,
    ) -> Outcome {
        let values = expose_secrets(secrets);
        let redacted_values = &chain.redacted_values[..];
        let access = RunAccess { secrets: &values, redacted_values, caller: None, client: self.client };
        self.runtime.run_decided(decided, plan, &access, prompter, cancel)
    }

    /// Runs a decided tool and its nested calls. `chain` lists its callers, `skill` is the skill of the tool.
    #[expect(clippy::too_many_arguments, reason = "one run, and the chain of calls it is part of")]
    pub(super) fn run_tool(
        &self,
        decided: Result<Granted, RunRefusal>,
        plan: &Plan,
        secrets: &BTreeMap<String, SecretValue>,
        skill: &Arc<ExecutableSkill>,
        chain: &CallChain,
        prompter: &dyn Prompter,
        cancel: &Cancel,
    ) -> Outcome {
        let values = expose_secrets(secrets);
        let within = chain.with_call(plan, &values);
        let caller = |tool: &str, input: Value, cancel: &Cancel| self.call_nested(skill, tool, input, cancel, &within);
        let access = RunAccess {
            secrets: &values,
            redacted_values: &chain.redacted_values,
            caller: Some(&caller),
            client: self.client,
        };
        self.runtime.run_decided(decided, plan, &access, prompter, cancel)
    }

    /// Makes a call from inside a tool: by the tool's name alone within the same skill, otherwise by
    /// `skill:tool`. Nothing of the caller's grant is passed on, and `--yes` applies to the outermost call
    /// only.
    fn call_nested(
        &self,
        caller: &Arc<ExecutableSkill>,
        target: &str,
        input: Value,
        cancel: &Cancel,
        chain: &CallChain,
    ) -> Result<Value, ToolError> {
        if self.calls.fetch_add(1, Ordering::Relaxed) >= CALLS_MAX {
            let message = format!("the run made more than {CALLS_MAX} nested tool calls");
            return Err(ToolError::new(ErrorCode::CallsTooMany, message));
        }
        let mut prepared = self.prepare_nested_call(caller, target, input)?;
        self.runtime.classify_server_call(&mut prepared, cancel).map_err(drop_remedy)?;
        let name = qualified_tool_name(&prepared.plan);
        if chain.names.contains(&name) {
            let message = format!("tools call each other in a cycle: {} → {name}", chain.names.join(" → "));
            return Err(ToolError::new(ErrorCode::CallCycle, message));
        }
        if chain.names.len() >= DEPTH_MAX {
            let message = format!("tool calls are nested more than {DEPTH_MAX} deep");
            return Err(ToolError::new(ErrorCode::CallTooDeep, message));
        }
        let secrets = self.runtime.gather_secrets(&prepared.plan).map_err(drop_remedy)?;
        let remedy = match prepared.plan.name_own_server_tool() {
            Some(tool) => format!("run `rep run {tool}` in a terminal, and answer `always`"),
            None => format!("approve it for calls by other tools with `rep policy {name} --approve`"),
        };
        let nobody = NobodyToAsk { remedy };
        let (plan, trust) = (prepared.plan.clone(), &prepared.trust);
        let decided = self.runtime.decide_plan(plan, trust, &secrets, &CallerConsent::Ask, &nobody);
        let decided = match decided.map_err(drop_remedy)? {
            RunDecision::Granted(granted) => Ok(*granted),
            RunDecision::Refused(refusal) => Err(refusal),
            RunDecision::Deferred(question) => Err(question.into_declined()),
        };
        let outcome = match &prepared.skill {
            Some(skill) if prepared.plan.server_call().is_none() => {
                self.run_tool(decided, &prepared.plan, &secrets, skill, chain, &nobody, cancel)
            }
            _ => self.run_alone(decided, &prepared.plan, &secrets, chain, &nobody, cancel),
        };
        let (reply, outcome) = shorten_outcome(outcome);
        self.nested.lock().push(NestedCall { name, outcome });
        match reply {
            RunReply::Result(value) | RunReply::Task(value) => Ok(value),
            // The denials of a nested tool are for the user only: they reveal which files exist.
            RunReply::Error(mut error) => {
                error.more.remove("denied");
                Err(error)
            }
        }
    }
}

impl CallTree<'_> {
    /// Prepares the call that a tool means: one of a server that its skill requires, one of its own skill, or one of
    /// another skill.
    fn prepare_nested_call(
        &self,
        caller: &Arc<ExecutableSkill>,
        target: &str,
        input: Value,
    ) -> Result<PreparedCall, ToolError> {
        if let Some((server, tool)) = parse_server_target(self.catalog, target) {
            let required = caller.required_servers().map_err(drop_remedy)?;
            if required.iter().any(|one| one.covers(server, tool)) {
                return self.runtime.plan_skill_server_call(caller, server, tool, input).map_err(drop_remedy);
            }
            let message = format!(
                "`{}` may not call `{target}`: its `extensions.requires_mcp` does not list `{server}`",
                caller.name
            );
            return Err(ToolError::new(ErrorCode::PermissionDenied, message));
        }
        let Some((skill, tool)) = target.rsplit_once(':') else {
            return self.prepare_tool(&caller.name, target, input);
        };
        if self.catalog.get(skill).is_some_and(|entry| is_callable_status(entry.status)) {
            self.prepare_tool(skill, tool, input)
        } else {
            Err(ToolError::new(ErrorCode::ToolNotFound, format!("skill `{skill}` not found")))
        }
    }

    fn prepare_tool(&self, skill: &str, tool: &str, input: Value) -> Result<PreparedCall, ToolError> {
        self.runtime.prepare_call(self.catalog, &ToolCall::for_tool(skill, tool, input)).map_err(drop_remedy)
    }
}

/// Whether tools may call the tools of a skill with this status.
pub(super) fn is_callable_status(status: SkillStatus) -> bool {
    matches!(status, SkillStatus::Active | SkillStatus::Hidden)
}

/// Returns the reply of a nested tool, and the part of its outcome that is retained.
fn shorten_outcome(mut outcome: Outcome) -> (RunReply, Outcome) {
    let start = outcome.log_text.ceil_char_boundary(outcome.log_text.len().saturating_sub(LOG_BYTES_MAX));
    outcome.log_text.drain(..start);
    outcome.denials.truncate(ITEMS_MAX);
    outcome.written.truncate(ITEMS_MAX);
    let reply = std::mem::replace(&mut outcome.reply, RunReply::Result(Value::Null));
    (reply, outcome)
}

/// Removes the remedy from an error for the calling tool.
fn drop_remedy(error: CallError) -> ToolError {
    ToolError::new(error.code, error.message)
}

/// Returns `skill:tool`.
fn qualified_tool_name(plan: &Plan) -> String {
    format!("{}:{}", plan.skill, plan.tool)
}
