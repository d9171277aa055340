//! Tools that call tools. Every call is loaded, planned and decided on its own.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use rep_library::{Catalog, Status};
use rep_sandbox::Cancel;
use serde_json::Value;

use super::call::{CallerConsent, NestedCall, ToolCall};
use super::{Decided, RunAccess, Runtime, exposed};
use crate::error::{CallError, ErrorCode};
use crate::grant::{Granted, Refusal};
use crate::outcome::{Outcome, Reply, ToolError};
use crate::plan::Plan;
use crate::prompter::{NobodyToAsk, Prompter};
use crate::secret::Secret;

/// How deep tools may call tools.
const DEPTH_MAX: usize = 8;
/// How often tools may call tools in one run.
const CALLS_MAX: usize = 1000;
/// How much of what a called tool wrote is kept, and how many of its files and denials.
const SAID_BYTES_MAX: usize = 64 << 10;
const ITEMS_MAX: usize = 100;

/// One call from outside, and the calls that its tools make.
pub(super) struct CallTree<'a> {
    runtime: &'a Runtime,
    catalog: &'a Catalog,
    client: Option<&'a str>,
    /// How often tools called tools.
    calls: AtomicUsize,
    /// What the called tools came to, in the order they ended.
    nested: Mutex<Vec<NestedCall>>,
}

/// Who called a tool, from the outermost on.
#[derive(Default)]
pub(super) struct CallChain {
    names: Vec<String>,
    /// The secrets of all of them: a tool may hand its own on, and they must not leave below it either.
    hidden: Vec<(String, String)>,
}

impl CallChain {
    fn with(&self, plan: &Plan, secrets: &[(String, String)]) -> Self {
        let own = if plan.redaction.secrets { secrets } else { &[] };
        Self { names: [&self.names[..], &[name_of(plan)]].concat(), hidden: [&self.hidden[..], own].concat() }
    }
}

impl<'a> CallTree<'a> {
    pub(super) fn new(runtime: &'a Runtime, catalog: &'a Catalog, client: Option<&'a str>) -> Self {
        Self { runtime, catalog, client, calls: AtomicUsize::new(0), nested: Mutex::default() }
    }

    /// What the called tools came to.
    pub(super) fn into_nested(self) -> Vec<NestedCall> {
        self.nested.into_inner()
    }

    /// Runs what was decided, without answering calls of tools.
    pub(super) fn run_alone(
        &self,
        decided: Result<Granted, Refusal>,
        plan: &Plan,
        secrets: &BTreeMap<String, Secret>,
        prompter: &dyn Prompter,
        cancel: &Cancel,
    ) -> Outcome {
        let values = exposed(secrets);
        let access = RunAccess { secrets: &values, hidden: &[], caller: None, client: self.client };
        self.runtime.run_decided(decided, plan, &access, prompter, cancel)
    }

    /// Runs a tool that was decided over, and what it calls. `chain` is who called it, `skill` whose tool it is.
    #[expect(clippy::too_many_arguments, reason = "one run, and the chain of calls it is part of")]
    pub(super) fn run(
        &self,
        decided: Result<Granted, Refusal>,
        plan: &Plan,
        secrets: &BTreeMap<String, Secret>,
        skill: &str,
        chain: &CallChain,
        prompter: &dyn Prompter,
        cancel: &Cancel,
    ) -> Outcome {
        let values = exposed(secrets);
        let within = chain.with(plan, &values);
        let caller = |tool: &str, input: Value, cancel: &Cancel| self.call(skill, tool, input, cancel, &within);
        let access = RunAccess { secrets: &values, hidden: &chain.hidden, caller: Some(&caller), client: self.client };
        self.runtime.run_decided(decided, plan, &access, prompter, cancel)
    }

    /// A call from inside a tool: of its own skill by the tool's name alone, of others by `skill:tool`. Nothing of the caller's
    /// grant is passed on, and `--yes` was said to the caller alone.
    fn call(
        &self,
        caller: &str,
        target: &str,
        input: Value,
        cancel: &Cancel,
        chain: &CallChain,
    ) -> Result<Value, ToolError> {
        if self.calls.fetch_add(1, Ordering::Relaxed) >= CALLS_MAX {
            let message = format!("tools called tools more than {CALLS_MAX} times");
            return Err(ToolError::new(ErrorCode::CallsTooMany, message));
        }
        let (skill, tool) = match target.rsplit_once(':') {
            None => (caller, target),
            Some((skill, tool)) => {
                let is_callable = self
                    .catalog
                    .get(skill)
                    .is_some_and(|entry| matches!(entry.status, Status::Active | Status::Hidden));
                if !is_callable {
                    let message = format!("there is no skill `{skill}` to call");
                    return Err(ToolError::new(ErrorCode::ToolNotFound, message));
                }
                (skill, tool)
            }
        };
        let prepared =
            self.runtime.prepare(self.catalog, &ToolCall::tool(skill, tool, input)).map_err(without_remedy)?;
        let name = name_of(&prepared.plan);
        if chain.names.contains(&name) {
            let message = format!("tools call each other in a circle: {} → {name}", chain.names.join(" → "));
            return Err(ToolError::new(ErrorCode::CallCycle, message));
        }
        if chain.names.len() >= DEPTH_MAX {
            let message = format!("tools call tools more than {DEPTH_MAX} deep");
            return Err(ToolError::new(ErrorCode::CallTooDeep, message));
        }
        let secrets = self.runtime.secrets(&prepared.plan).map_err(without_remedy)?;
        let nobody =
            NobodyToAsk { remedy: format!("`rep policy {name} --approve` approves it for calls by other tools") };
        let (plan, trust) = (prepared.plan.clone(), &prepared.skill.trust);
        let decided = self.runtime.decide(plan, trust, &secrets, &CallerConsent::Ask, &nobody);
        let decided = match decided.map_err(without_remedy)? {
            Decided::Granted(granted) => Ok(*granted),
            Decided::Refused(refusal) => Err(refusal),
            Decided::Deferred(question) => Err(question.decline()),
        };
        let outcome = self.run(decided, &prepared.plan, &secrets, &prepared.skill.name, chain, &nobody, cancel);
        let (reply, outcome) = shortened(outcome);
        self.nested.lock().push(NestedCall { name, outcome });
        match reply {
            Reply::Result(value) | Reply::Task(value) => Ok(value),
            // What the called tool was denied is for the user to know: it shows which files exist.
            Reply::Error(mut error) => {
                error.more.remove("denied");
                Err(error)
            }
        }
    }
}

/// The reply of a called tool, and the part of its outcome that is kept.
fn shortened(mut outcome: Outcome) -> (Reply, Outcome) {
    let start = outcome.said.ceil_char_boundary(outcome.said.len().saturating_sub(SAID_BYTES_MAX));
    outcome.said.drain(..start);
    outcome.denials.truncate(ITEMS_MAX);
    outcome.written.truncate(ITEMS_MAX);
    let reply = std::mem::replace(&mut outcome.reply, Reply::Result(Value::Null));
    (reply, outcome)
}

/// An error as the calling tool sees it.
fn without_remedy(error: CallError) -> ToolError {
    ToolError::new(error.code, error.message)
}

/// `skill:tool`.
fn name_of(plan: &Plan) -> String {
    format!("{}:{}", plan.skill, plan.tool)
}
