//! Running a tool of a skill for a client, and asking its user first if the runtime needs a confirmation.
//!
//! A call goes through [`Runtime::call`]. If it needs confirmation, the runtime hands out the call with the skill loaded and
//! planned, and [`Runtime::resume`] continues it when somebody agreed: the client's user, or, if the client cannot ask, a
//! person who has the dashboard open.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rep_library::{Catalog, Status};
use rep_runtime::{
    Answer, Audience, CallError, CallResult, CallerConsent, CommandInvocation, DeferredCall, ErrorCode, Prompter,
    Question, Reply, Runtime, ToolCall, ToolDescriptor, ToolKind,
};
use rep_sandbox::Cancel;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CreateTaskResult, ProgressNotificationParam,
};
use rmcp::service::RequestContext;
use rmcp::task_manager::{TaskContext, TaskExit, TaskOptions};
use rmcp::{ErrorData, RoleServer};
use serde_json::{Map, Value, json};
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::JoinHandle;

use crate::catalog_view::digest;
use crate::confirmation::{ANSWER_TIMEOUT, ElicitationSupport, SealedConsent, elicitation, is_new_revision, is_yes};
use crate::library_tools::LibraryToolError;
use crate::server::{McpServer, RunHandle, ServerState};
use crate::session_handler::SessionHandler;
use crate::{call_log, protocol_error};

/// How often a long run reports progress.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(5);
/// When a run continues as a task, and how long a task is kept: while it runs, and as long again after its end.
const TASK_AFTER: Duration = Duration::from_secs(2);
const TASK_TTL_MS: u64 = 3_600_000;

/// What a tool answered.
#[derive(Clone, Debug)]
pub enum ToolResponse {
    /// Its result.
    Result(Value),
    /// The error envelope.
    Error(Value),
}

/// What became of a run.
enum RunResult {
    Finished(ToolResponse),
    /// Somebody must agree first.
    NeedsConfirmation(Box<DeferredCall>),
}

/// What a run does.
enum Work {
    /// Makes a call. `can_ask` says whether somebody can be asked.
    Call { call: Box<ToolCall>, can_ask: bool },
    /// Resumes a call that somebody agreed to.
    Resume(Box<DeferredCall>),
}

/// What became of a run while its client waited.
enum Progress {
    Ended(RunResult),
    /// It takes long, and the client supports tasks.
    BecomesTask(Run),
}

/// Defers every question to the client or the dashboard, if one of them can be asked.
struct ClientPrompter {
    can_ask: bool,
}

impl Prompter for ClientPrompter {
    fn confirm(&self, _question: &Question) -> Answer {
        if self.can_ask {
            return Answer::Deferred;
        }
        let remedy = "use a client that can ask its user (elicitation), or have the server's page open in a browser";
        Answer::Unavailable { remedy: remedy.to_owned() }
    }
}

impl SessionHandler {
    /// Calls a tool of a skill.
    pub(crate) async fn call_skill_tool(
        &self,
        tool: ToolDescriptor,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let has_contract = tool.has_output_schema();
        let input = request.arguments.clone().unwrap_or_default();
        let support = ElicitationSupport::of(&context);
        let asks_dashboard = support == ElicitationSupport::None && self.state.confirmations.has_viewer();
        let client = call_log::describe_client(&context);
        let call_digest = digest(json!([tool.name, input]).to_string().as_bytes());
        let mut call = Box::new(tool_call(&tool, input, &client, self.session_of(&context).as_deref()));
        let can_ask = support != ElicitationSupport::None || asks_dashboard;
        let work = match (&request.request_state, support) {
            (Some(sealed), ElicitationSupport::ByResponse) => {
                let responses = request.input_responses.as_ref();
                let Some(consent) = self.state.seal.read_answer(sealed, &call_digest, responses)? else {
                    return Ok(declined().into());
                };
                if let Some(deferred) = self.state.pending_calls.take(consent.question, &client) {
                    Work::Resume(deferred)
                } else {
                    // It expired, or another process asked: it is prepared again, and must be what was agreed to.
                    call.consent = CallerConsent::AgreedTo(consent.binding);
                    Work::Call { call, can_ask: false }
                }
            }
            _ => Work::Call { call, can_ask },
        };
        let deferred = match self.run(&tool.name, work, &context).await? {
            Progress::Ended(RunResult::Finished(response)) => return Ok(call_result(response, has_contract).into()),
            Progress::Ended(RunResult::NeedsConfirmation(deferred)) => deferred,
            Progress::BecomesTask(run) => return Ok(self.spawn_task(run, has_contract).into()),
        };
        if support == ElicitationSupport::ByResponse {
            return self.ask_by_response(deferred, &call_digest, client);
        }
        let agreed = tokio::select! {
            agreed = self.ask_now(&tool.name, &deferred, asks_dashboard, &context) => agreed?,
            () = context.ct.cancelled() => false,
            () = self.state.wait_for_shutdown() => return Ok(unanswered().into()),
        };
        if !agreed {
            return Ok(declined().into());
        }
        match self.run(&tool.name, Work::Resume(deferred), &context).await? {
            Progress::Ended(RunResult::Finished(response)) => Ok(call_result(response, has_contract).into()),
            // Nobody is asked twice about one call.
            Progress::Ended(RunResult::NeedsConfirmation(_)) => Ok(declined().into()),
            Progress::BecomesTask(run) => Ok(self.spawn_task(run, has_contract).into()),
        }
    }

    /// Answers the call with the question, and keeps the call until the client answers.
    fn ask_by_response(
        &self,
        deferred: Box<DeferredCall>,
        call_digest: &str,
        client: String,
    ) -> Result<CallToolResponse, ErrorData> {
        let consent = SealedConsent { question: self.state.take_number(), binding: deferred.binding() };
        let response = self.state.seal.ask(&deferred.question(), call_digest, &consent)?;
        self.state.pending_calls.insert(consent.question, client, deferred);
        let state = Arc::downgrade(&self.state);
        // The copy of the skill is removed even if no other call comes.
        tokio::spawn(async move {
            tokio::time::sleep(ANSWER_TIMEOUT + Duration::from_secs(1)).await;
            if let Some(state) = state.upgrade() {
                let expire = tokio::task::spawn_blocking(move || state.pending_calls.expire());
                // A failure leaves the call to the next one that comes.
                let _ = expire.await;
            }
        });
        Ok(response.into())
    }

    /// Asks at the dashboard or through the client, while the call waits. Only a clear yes is a yes.
    async fn ask_now(
        &self,
        tool: &str,
        deferred: &DeferredCall,
        asks_dashboard: bool,
        context: &RequestContext<RoleServer>,
    ) -> Result<bool, ErrorData> {
        if asks_dashboard {
            let answer = self.state.confirmations.ask(None, tool, deferred.question());
            return Ok(tokio::time::timeout(ANSWER_TIMEOUT, answer).await == Ok(true));
        }
        let params = elicitation(&deferred.question())?;
        let answer = context.peer.create_elicitation_with_timeout(params, Some(ANSWER_TIMEOUT)).await;
        Ok(answer
            .is_ok_and(|answer| is_yes(json!(answer.action).as_str().unwrap_or_default(), answer.content.as_ref())))
    }

    /// The session of a client of 2025-11-25. Later revisions have none; a client that needs state names a session in the
    /// arguments.
    fn session_of(&self, context: &RequestContext<RoleServer>) -> Option<String> {
        (!is_new_revision(context)).then(|| self.session.clone())
    }

    /// Runs something and reports progress. The run is cancelled when the client cancels or goes away. A long run becomes a
    /// task if the client supports tasks.
    async fn run(&self, tool: &str, work: Work, context: &RequestContext<RoleServer>) -> Result<Progress, ErrorData> {
        let permit = tokio::select! {
            permit = Arc::clone(&self.state.run_slots).acquire_owned() => permit.map_err(|_| protocol_error::internal())?,
            () = context.ct.cancelled() => return Err(protocol_error::invalid("cancelled")),
        };
        let mut run = Run::start(&self.state, tool, work, permit);
        let token = context.meta.get_progress_token();
        let supports_tasks = context.client_capabilities().is_some_and(|capabilities| capabilities.supports_tasks());
        let mut reports = 0.0;
        let mut is_cancelled = false;
        let started = tokio::time::Instant::now();
        loop {
            tokio::select! {
                result = &mut run.work => return result.map(Progress::Ended).map_err(|_| protocol_error::internal()),
                () = context.ct.cancelled(), if !is_cancelled => {
                    is_cancelled = true;
                    run.cancel.cancel();
                }
                () = tokio::time::sleep_until(started + TASK_AFTER), if supports_tasks && !is_cancelled => {
                    return Ok(Progress::BecomesTask(run));
                }
                () = tokio::time::sleep(PROGRESS_INTERVAL) => {
                    if let Some(token) = &token {
                        reports += 1.0;
                        let param = ProgressNotificationParam::new(token.clone(), reports).with_message("still running");
                        // A client that misses it still gets the result.
                        let _ = context.peer.notify_progress(param).await;
                    }
                }
            }
        }
    }

    /// Lets a run continue as a task.
    fn spawn_task(&self, mut run: Run, has_contract: bool) -> CreateTaskResult {
        let options = TaskOptions::new().with_ttl_ms(TASK_TTL_MS).with_status_message("running");
        let task = self.state.tasks.spawn(options, |task: TaskContext| {
            Box::pin(async move {
                let result = tokio::select! {
                    result = &mut run.work => result,
                    () = task.cancelled() => {
                        run.cancel.cancel();
                        // Waits for the end, so that it is recorded.
                        let _ = (&mut run.work).await;
                        return Err(TaskExit::Cancelled);
                    }
                };
                match result {
                    Ok(RunResult::Finished(response)) => Ok(call_result(response, has_contract)),
                    Ok(RunResult::NeedsConfirmation(_)) => Ok(declined()),
                    Err(_) => Err(TaskExit::Error(protocol_error::internal())),
                }
            })
        });
        CreateTaskResult::new(task)
    }
}

impl McpServer {
    /// Calls a tool for somebody at the dashboard, who is asked there. `call` is the dashboard's number of the call.
    pub async fn call_for_dashboard(
        &self,
        call: u64,
        tool: ToolDescriptor,
        input: Map<String, Value>,
        who: String,
    ) -> ToolResponse {
        let failed = || error_response("INTERNAL", "the server failed at this call");
        let declined = || error_response("CONFIRMATION_DECLINED", "nobody agreed to this run");
        let first = Box::new(tool_call(&tool, input, &who, Some("page")));
        let mut work = Work::Call { call: first, can_ask: true };
        loop {
            let is_resumed = matches!(work, Work::Resume(_));
            let Ok(permit) = Arc::clone(&self.0.run_slots).acquire_owned().await else { return failed() };
            let mut run = Run::start(&self.0, &tool.name, work, permit);
            let deferred = match (&mut run.work).await {
                Ok(RunResult::Finished(response)) => return response,
                Ok(RunResult::NeedsConfirmation(deferred)) if !is_resumed => deferred,
                // Nobody is asked twice about one call.
                Ok(RunResult::NeedsConfirmation(_)) => return declined(),
                Err(_) => return failed(),
            };
            drop(run);
            let answer = self.0.confirmations.ask(Some(call), &tool.name, deferred.question());
            if tokio::time::timeout(ANSWER_TIMEOUT, answer).await != Ok(true) {
                return declined();
            }
            work = Work::Resume(deferred);
        }
    }
}

/// The call of a tool with some arguments. `session` is the client's own, for a command whose arguments name none.
fn tool_call(tool: &ToolDescriptor, mut input: Map<String, Value>, client: &str, session: Option<&str>) -> ToolCall {
    let mut call = match tool.kind {
        ToolKind::Tool => ToolCall::tool(&tool.skill, &tool.tool, Value::Object(input)),
        ToolKind::Command => {
            let named = tool.session_argument.and_then(|argument| input.shift_remove(argument));
            let session = named.as_ref().and_then(Value::as_str).or(session).map(str::to_owned);
            let command = tool.tool.clone();
            let invocation = CommandInvocation { command, arguments: input, session, ..CommandInvocation::default() };
            ToolCall::command(&tool.skill, invocation)
        }
    };
    call.client = Some(client.to_owned());
    call
}

/// A run on a blocking thread. Dropping it cancels the run, because nobody waits for it any more.
struct Run {
    work: JoinHandle<RunResult>,
    cancel: Cancel,
    number: u64,
    state: Arc<ServerState>,
}

impl Run {
    fn start(state: &Arc<ServerState>, tool: &str, work: Work, permit: OwnedSemaphorePermit) -> Self {
        let cancel = Cancel::default();
        let number = state.take_number();
        let handle = RunHandle { cancel: cancel.clone(), tool: tool.to_owned(), started: Instant::now() };
        state.active_runs.lock().insert(number, handle);
        state.confirmations.notify();
        let (own, cancelled) = (Arc::clone(state), cancel.clone());
        let work = tokio::task::spawn_blocking(move || {
            let catalog = Arc::clone(&own.view().catalog);
            let result = match perform(&own.runtime, &catalog, work, &cancelled) {
                Ok(CallResult::Deferred(deferred)) => RunResult::NeedsConfirmation(deferred),
                Ok(CallResult::Finished(call)) => RunResult::Finished(match &call.outcome.reply {
                    Reply::Result(_) | Reply::Task(_) => ToolResponse::Result(call.value()),
                    Reply::Error(error) => ToolResponse::Error(match error.audience {
                        Audience::Caller => call.value(),
                        Audience::Operator => withheld_envelope(&error.code, &error.message),
                    }),
                }),
                Err(error) => RunResult::Finished(ToolResponse::Error(error_envelope(&error))),
            };
            own.metrics.count_call(match &result {
                RunResult::Finished(ToolResponse::Result(_)) => CallOutcome::Result,
                RunResult::Finished(ToolResponse::Error(_)) => CallOutcome::Error,
                RunResult::NeedsConfirmation(_) => CallOutcome::Question,
            });
            // The slot is free when the run is over, whether or not somebody waits for it.
            drop(permit);
            result
        });
        Self { work, cancel, number, state: Arc::clone(state) }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.cancel.cancel();
        self.state.active_runs.lock().remove(&self.number);
        // The end was recorded before this; a viewer that looked then still saw the run as active.
        self.state.confirmations.notify();
    }
}

/// What a call came to, for the metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallOutcome {
    Result,
    Error,
    Question,
}

/// Calls the runtime. Blocks until the run ends.
fn perform(runtime: &Runtime, catalog: &Catalog, work: Work, cancel: &Cancel) -> Result<CallResult, CallError> {
    match work {
        Work::Call { call, can_ask } => {
            // Only an active skill was offered; a copy that is shadowed or hidden by now is not.
            if catalog.get(&call.skill).is_none_or(|entry| entry.status != Status::Active) {
                let message = format!("there is no skill `{}`", call.skill);
                return Err(CallError::unable(ErrorCode::SkillNotFound, message));
            }
            runtime.call(catalog, &call, &ClientPrompter { can_ask }, cancel)
        }
        Work::Resume(deferred) => {
            runtime.resume(*deferred, Answer::Yes, catalog, &ClientPrompter { can_ask: false }, cancel)
        }
    }
}

/// The error envelope for a client.
fn error_envelope(error: &CallError) -> Value {
    if error.audience == Audience::Operator {
        return withheld_envelope(&error.code, &error.message);
    }
    let mut envelope = json!({ "code": error.code.as_str(), "message": error.message, "retriable": false });
    if let Some(remedy) = &error.remedy {
        envelope["remedy"] = remedy.clone().into();
    }
    json!({ "status": "error", "error": envelope })
}

/// The error envelope for a client that may not see the message. The operator finds it in the log.
fn withheld_envelope(code: &ErrorCode, message: &str) -> Value {
    tracing::warn!("{code}: {message}");
    let generic = "the call could not be made on this server; its operator can see why";
    json!({ "status": "error", "error": { "code": code.as_str(), "message": generic, "retriable": false } })
}

fn error_response(code: &'static str, message: &str) -> ToolResponse {
    ToolResponse::Error(LibraryToolError::new(code, message).envelope())
}

fn declined() -> CallToolResult {
    call_result(error_response("CONFIRMATION_DECLINED", "the user did not agree to this run"), false)
}

fn unanswered() -> CallToolResult {
    call_result(error_response("CANCELLED", "the server ended before the user answered"), false)
}

/// The response in the form of the protocol. An error is text, and also structured unless the tool declares a contract for its
/// result, which the error envelope would break.
fn call_result(response: ToolResponse, has_contract: bool) -> CallToolResult {
    match response {
        ToolResponse::Result(value) => {
            let mut result = CallToolResult::structured(value);
            // The revision 2025-11-25 accepts objects only.
            if !result.structured_content.as_ref().is_some_and(Value::is_object) {
                result.structured_content = None;
            }
            result
        }
        ToolResponse::Error(envelope) => {
            let mut result = CallToolResult::structured_error(envelope);
            if has_contract {
                result.structured_content = None;
            }
            result
        }
    }
}
