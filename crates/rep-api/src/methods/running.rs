//! Methods that run something, or read what ran and what may run.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rep_audit::AuditedRun;
use rep_library::SkillStatus;
use rep_library::request::resolve_workspace;
use rep_runtime::access::AccessRequest;
use rep_runtime::{
    CallResult, CallerConsent, ExecutableSkill, FinishedCall, RecordFilter, RunReply, RunVerdict, Runtime,
    RuntimeOptions, ScriptInvocation, ToolCall,
};
use serde_json::{Map, Value, json};

use super::PendingResult;
use super::library::open;
use crate::error::{ApiError, ExitClass};
use crate::libraries::WarmLibrary;
use crate::message::MethodResult;
use crate::params::Params;
use crate::prompter::{ApprovalMode, ClientPrompter};
use crate::session::RequestContext;

/// The maximum time limit of a run, in seconds.
const TIMEOUT_S_MAX: usize = 86_400;
/// The maximum length of one part of a caller's description in the audit log.
const CALLER_CHARS_MAX: usize = 100;

/// What every run takes.
struct RunRequest {
    library: Arc<WarmLibrary>,
    workspace: PathBuf,
    timeout_s: Option<u64>,
    approval: ApprovalMode,
    is_dry: bool,
    wants_progress: bool,
    caller: Option<String>,
}

impl RunRequest {
    fn parse(context: &RequestContext<'_>, params: &mut Params) -> Result<Self, ApiError> {
        let library = open(context, params)?;
        let workspace = parse_workspace(context, &library, params)?;
        let timeout_s = params.count("timeout")?;
        if timeout_s.is_some_and(|seconds| !(1..=TIMEOUT_S_MAX).contains(&seconds)) {
            return Err(ApiError::invalid_params(format!("`timeout` must be 1 to {TIMEOUT_S_MAX} seconds")));
        }
        let approval = match params.value("approve") {
            None | Some(Value::Bool(false)) => ApprovalMode::Withheld,
            Some(Value::Bool(true)) => ApprovalMode::Given,
            Some(Value::String(text)) if text == "ask" => ApprovalMode::Asked,
            Some(_) => return Err(ApiError::invalid_params("`approve` must be true, false or \"ask\"")),
        };
        let caller = match params.object("caller")? {
            Some(caller) => Some(parse_caller(caller)?),
            None => context.session.client().map(|client| clean_part(&client)),
        };
        Ok(Self {
            library,
            workspace,
            timeout_s: timeout_s.map(|seconds| seconds as u64),
            approval,
            is_dry: params.flag("dry_run")?,
            wants_progress: params.flag("progress")?,
            caller,
        })
    }

    /// Runs a call, or plans it.
    fn run(&self, context: &RequestContext<'_>, call: ToolCall) -> Result<MethodResult, ApiError> {
        let catalog = self.library.catalog()?;
        let entry = &catalog.entries[catalog.find_any(&call.skill)?];
        if matches!(entry.status, SkillStatus::Shadowed | SkillStatus::Invalid) {
            return Err(entry.lookup_error(entry.qualified_name.clone()).into());
        }
        let runtime = open_runtime(context, &self.library, &self.workspace);
        let call = ToolCall {
            skill: entry.qualified_name.clone(),
            consent: match self.approval {
                ApprovalMode::Given => CallerConsent::Given,
                ApprovalMode::Asked | ApprovalMode::Withheld => CallerConsent::Ask,
            },
            timeout_s: self.timeout_s,
            client: self.caller.clone(),
            ..call
        };
        if self.is_dry {
            return Ok(json!({ "plan": runtime.plan_call(&catalog, &call)?.plan().to_json() }).into());
        }
        let prompter = ClientPrompter {
            session: context.session,
            request: context.id,
            mode: self.approval,
            cancel: context.cancel,
            wants_progress: self.wants_progress,
        };
        match runtime.call(&catalog, &call, &prompter, context.cancel)? {
            CallResult::Finished(call) => render_call(&call),
            // The prompter answers at once, so no call is deferred.
            CallResult::Deferred(_) => Err(ApiError::internal()),
        }
    }
}

/// Returns the result document of a call with the details of the run, or its error.
fn render_call(call: &FinishedCall) -> Result<MethodResult, ApiError> {
    let exit = match call.outcome.verdict {
        RunVerdict::Succeeded => ExitClass::Fine,
        RunVerdict::Refused => ExitClass::Refused,
        RunVerdict::Failed => ExitClass::Failed,
        RunVerdict::Interrupted => ExitClass::Interrupted,
    };
    let (document, meta) = (call.to_json(), call.metadata_json());
    // A script that ends with a failure has a result like any other.
    if matches!(call.outcome.reply, RunReply::Error(_)) && document["status"] == "error" {
        return Err(ApiError::failed_run(exit, &document["error"], meta));
    }
    Ok(json!({ "result": document, "exit": exit.code(), "meta": meta }).into())
}

fn open_runtime(context: &RequestContext<'_>, library: &WarmLibrary, workspace: &Path) -> Runtime {
    let options = context.session.options();
    let runtime =
        RuntimeOptions { library: library.options.clone(), workspace: workspace.to_owned(), ..options.runtime.clone() };
    Runtime::open(options.paths.clone(), runtime)
}

fn parse_workspace(
    context: &RequestContext<'_>,
    library: &WarmLibrary,
    params: &mut Params,
) -> Result<PathBuf, ApiError> {
    let given = params.text("workspace")?.map(|path| context.session.libraries().absolute(&path));
    Ok(resolve_workspace(&given.unwrap_or_else(|| library.request.project.clone()))?)
}

/// Describes the caller for the audit log: the framework, the agent and the call.
fn parse_caller(mut params: Params) -> Result<String, ApiError> {
    let framework = clean_part(&params.required_text("framework")?);
    let agent = params.text("agent")?.map(|agent| format!("agent {}", clean_part(&agent)));
    let call = params.text("call")?.map(|call| format!("call {}", clean_part(&call)));
    params.finish()?;
    let parts: Vec<String> = agent.into_iter().chain(call).collect();
    Ok(if parts.is_empty() { framework } else { format!("{framework} ({})", parts.join(", ")) })
}

/// Returns a text that cannot imitate another part of a record.
fn clean_part(text: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.' | ':' | '/' | '@' | ' ');
    text.chars().take(CALLER_CHARS_MAX).map(|letter| if is_plain(letter) { letter } else { '_' }).collect()
}

pub(super) fn run_tool(context: &RequestContext<'_>, params: &mut Params) -> Result<PendingResult, ApiError> {
    let request = RunRequest::parse(context, params)?;
    let (skill, tool) = (params.required_text("skill")?, params.required_text("tool")?);
    let input = params.value("input").unwrap_or_else(|| Value::Object(Map::new()));
    Ok(Box::new(move |context| request.run(context, ToolCall::for_tool(skill, tool, input))))
}

pub(super) fn run_script(context: &RequestContext<'_>, params: &mut Params) -> Result<PendingResult, ApiError> {
    let request = RunRequest::parse(context, params)?;
    let (skill, path) = (params.required_text("skill")?, params.required_text("script")?);
    let invocation = ScriptInvocation { path, arguments: params.texts("args")? };
    Ok(Box::new(move |context| request.run(context, ToolCall::for_script(skill, invocation))))
}

pub(super) fn policy(context: &RequestContext<'_>, params: &mut Params) -> Result<PendingResult, ApiError> {
    let library = open(context, params)?;
    let workspace = parse_workspace(context, &library, params)?;
    let (skill, tool) = (params.required_text("skill")?, params.text("tool")?);
    let read = params.text("read")?.map(AccessRequest::Read);
    let write = params.text("write")?.map(AccessRequest::Write);
    let connect = params.text("connect")?.map(AccessRequest::Connect);
    let spawn = params.flag("spawn")?.then_some(AccessRequest::Spawn);
    let mut questions = read.into_iter().chain(write).chain(connect).chain(spawn);
    let question = questions.next();
    if questions.next().is_some() {
        return Err(ApiError::invalid_params("ask one of `read`, `write`, `connect` and `spawn` at a time"));
    }
    Ok(Box::new(move |context| {
        let catalog = library.catalog()?;
        let executable = ExecutableSkill::inspect(&catalog.entries[catalog.find_any(&skill)?])?;
        executable.require_tools()?;
        let runtime = open_runtime(context, &library, &workspace);
        if let Some(question) = question {
            return Ok(runtime.check_access(&executable, &question)?.to_json().into());
        }
        let tool = tool.map(|tool| executable.tool_index(&tool)).transpose()?;
        Ok(runtime.report_policy(&executable, tool)?.to_json().into())
    }))
}

pub(super) fn audit(_: &RequestContext<'_>, params: &mut Params) -> Result<PendingResult, ApiError> {
    let (skill, since) = (params.text("skill")?, params.text("since")?);
    let limit = params.count("limit")?;
    Ok(Box::new(move |context| {
        let options = context.session.options();
        let runtime = Runtime::open(options.paths.clone(), options.runtime.clone());
        let filter = RecordFilter { limit, ..RecordFilter::new(skill.as_deref(), since.as_deref())? };
        let runs = runtime.list_runs(&filter)?.runs;
        Ok(json!({ "runs": runs.iter().map(AuditedRun::to_json).collect::<Vec<Value>>() }).into())
    }))
}
