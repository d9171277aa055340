//! Runs a skill's tool for a client, and asks the client's user first if the runtime needs confirmation.
//!
//! A call goes through [`Runtime::call`]. If it needs confirmation, the runtime returns the deferred call with the
//! skill already loaded and planned. [`Runtime::resume_call`] continues it after confirmation by the client's user or,
//! if the client cannot prompt its user, by a person who has the dashboard open.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rep_library::{Catalog, SkillStatus};
use rep_runtime::plan::server::SERVER_PREFIX;
use rep_runtime::{
    Audience, CallError, CallResult, CallTarget, CallerConsent, CommandInvocation, DeferredCall, ErrorCode, Prompter,
    PrompterAnswer, RunConfirmation, RunReply, Runtime, ToolCall, ToolDescriptor, ToolKind,
};
use rep_sandbox::Cancel;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CreateTaskResult, ProgressNotificationParam,
};
use rmcp::service::RequestContext;
use rmcp::task_manager::{TaskContext, TaskExit, TaskFuture, TaskOptions};
use rmcp::{ErrorData, RoleServer};
use serde_json::{Map, Value, json};
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;

use crate::claimed_client::ClaimedClient;
use crate::confirmation::{
    ANSWER_TIMEOUT, ConsentAnswer, ElicitationSupport, SealedConsent, build_elicitation, is_new_revision, is_yes,
};
use crate::identity::{BearerIdentity, Owner};
use crate::library_tools::LibraryToolError;
use crate::run_slots::RunSlot;
use crate::server::{McpServer, RunHandle, ServerState};
use crate::session_handler::SessionHandler;
use crate::{call_log, protocol_error, script_tool};

/// The interval between progress notifications of a long run.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(5);
/// When a run becomes a task, and how long a task is stored: while it runs, and for the same time after it ends.
const TASK_DELAY: Duration = Duration::from_secs(2);
const TASK_TTL_MS: u64 = 3_600_000;
const INTERNAL_MESSAGE: &str = "internal error: the server could not complete this call";

/// The response of a tool.
#[derive(Clone, Debug)]
pub enum ToolResponse {
    /// The result of the tool.
    Result(Value),
    /// The error envelope.
    Error(Value),
}

/// The result of a run.
enum RunResult {
    Finished(ToolResponse),
    /// The run needs confirmation first.
    NeedsConfirmation(Box<DeferredCall>),
}

/// The work of a run.
enum RunWork {
    /// Makes a call. `can_ask` says whether a person can be asked for confirmation.
    Call { call: Box<ToolCall>, can_ask: bool },
    /// Resumes a call that was confirmed.
    Resume(Box<DeferredCall>),
}

/// The state of a run when the client's wait ends.
enum RunProgress {
    Ended(RunResult),
    /// The run takes long, and the client supports tasks.
    Task(BackgroundRun),
}

/// Defers every question to the client or the dashboard, if either can be asked.
struct ClientPrompter {
    can_ask: bool,
}

impl Prompter for ClientPrompter {
    fn confirm(&self, _question: &RunConfirmation) -> PrompterAnswer {
        if self.can_ask {
            return PrompterAnswer::Deferred;
        }
        let remedy = "use a client that supports elicitation, or open the dashboard in a browser";
        PrompterAnswer::Unavailable { remedy: remedy.to_owned() }
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
        let support = ElicitationSupport::from_context(&context);
        let owner = Owner::from_context(&context);
        let asks_dashboard = support == ElicitationSupport::None && self.state.confirmations.has_viewer(&owner);
        let client = call_log::describe_client(&context);
        let call_digest = owner.digest_call(&tool.name, &input);
        let mut call =
            Box::new(build_tool_call(&tool, input, &client, (&owner, self.client_session(&context).as_deref())));
        let can_ask = support != ElicitationSupport::None || asks_dashboard;
        let caller = (owner, client);
        let work = match (&request.request_state, support) {
            (Some(sealed), ElicitationSupport::ByResponse) => {
                let responses = request.input_responses.as_ref();
                match self.state.seal.read_answer(sealed, &call_digest, responses)? {
                    ConsentAnswer::Declined => return Ok(declined_result().into()),
                    // The client did not answer: it is asked again.
                    ConsentAnswer::Missing => RunWork::Call { call, can_ask },
                    ConsentAnswer::Agreed(consent) => {
                        if let Some(deferred) = self.state.pending_calls.take(consent.question, &caller) {
                            RunWork::Resume(deferred)
                        } else {
                            // The deferred call expired or belongs to another process. Plan the call again; it must
                            // match the confirmed plan.
                            call.consent = CallerConsent::AgreedTo(consent.binding);
                            RunWork::Call { call, can_ask: false }
                        }
                    }
                }
            }
            _ => RunWork::Call { call, can_ask },
        };
        let deferred = match self.run_with_progress(&tool.name, work, &context).await? {
            RunProgress::Ended(RunResult::Finished(response)) => {
                return Ok(to_call_result(response, has_contract).into());
            }
            RunProgress::Ended(RunResult::NeedsConfirmation(deferred)) => deferred,
            RunProgress::Task(run) => return Ok(self.spawn_task(run, has_contract).into()),
        };
        if support == ElicitationSupport::ByResponse {
            return self.ask_by_response(deferred, &call_digest, caller);
        }
        let agreed = tokio::select! {
            agreed = self.ask_now(&tool.name, &deferred, asks_dashboard, &context) => agreed?,
            () = context.ct.cancelled() => false,
            () = self.state.wait_for_shutdown() => return Ok(unanswered_result().into()),
        };
        if !agreed {
            return Ok(declined_result().into());
        }
        match self.run_with_progress(&tool.name, RunWork::Resume(deferred), &context).await? {
            RunProgress::Ended(RunResult::Finished(response)) => Ok(to_call_result(response, has_contract).into()),
            // A call is confirmed at most once.
            RunProgress::Ended(RunResult::NeedsConfirmation(_)) => Ok(declined_result().into()),
            RunProgress::Task(run) => Ok(self.spawn_task(run, has_contract).into()),
        }
    }

    /// Answers the call with the question, and stores the call until the client answers.
    fn ask_by_response(
        &self,
        deferred: Box<DeferredCall>,
        call_digest: &str,
        caller: (Owner, String),
    ) -> Result<CallToolResponse, ErrorData> {
        let consent = SealedConsent { question: self.state.take_number(), binding: deferred.plan_binding() };
        let question = self.describe_question(&deferred);
        let response = self.state.seal.seal_question(&question, call_digest, &consent)?;
        self.state.pending_calls.insert(consent.question, caller, deferred);
        let state = Arc::downgrade(&self.state);
        // Removes the copy of the skill even if no other call arrives.
        tokio::spawn(async move {
            tokio::time::sleep(ANSWER_TIMEOUT + Duration::from_secs(1)).await;
            if let Some(state) = state.upgrade() {
                let expire = tokio::task::spawn_blocking(move || state.pending_calls.drop_expired());
                // If this fails, the next call drops the expired one.
                let _ = expire.await;
            }
        });
        Ok(response.into())
    }

    /// Asks in the dashboard or through the client while the call waits. Only an explicit yes counts as confirmation.
    async fn ask_now(
        &self,
        tool: &str,
        deferred: &DeferredCall,
        asks_dashboard: bool,
        context: &RequestContext<RoleServer>,
    ) -> Result<bool, ErrorData> {
        if asks_dashboard {
            let answer = self.state.confirmations.ask_viewers(
                Owner::from_context(context),
                None,
                tool,
                deferred.question_text(),
            );
            return Ok(tokio::time::timeout(ANSWER_TIMEOUT, answer).await == Ok(true));
        }
        let params = build_elicitation(&self.describe_question(deferred))?;
        let answer = context.peer.create_elicitation_with_timeout(params, Some(ANSWER_TIMEOUT)).await;
        Ok(answer
            .is_ok_and(|answer| is_yes(json!(answer.action).as_str().unwrap_or_default(), answer.content.as_ref())))
    }

    /// Returns the question to the client's user. Other machines do not learn the paths of this one.
    fn describe_question(&self, deferred: &DeferredCall) -> String {
        let text = deferred.question_text();
        if self.is_local {
            return text;
        }
        let workspace = self.state.runtime.options().workspace.display().to_string();
        if workspace.len() < 2 { text } else { text.replace(&workspace, "the workspace") }
    }

    /// Returns the session of a 2025-11-25 client. Later revisions have no sessions: a client that needs state passes a
    /// session in the arguments.
    fn client_session(&self, context: &RequestContext<RoleServer>) -> Option<String> {
        (!is_new_revision(context)).then(|| self.session.clone())
    }

    /// Runs the work and reports progress. The run is cancelled when the client cancels or disconnects. A long run
    /// becomes a task if the client supports tasks.
    async fn run_with_progress(
        &self,
        tool: &str,
        work: RunWork,
        context: &RequestContext<RoleServer>,
    ) -> Result<RunProgress, ErrorData> {
        let Ok(slot) = self.state.run_slots.request(Owner::from_context(context)) else {
            return Ok(RunProgress::Ended(RunResult::Finished(busy_response())));
        };
        let mut run = BackgroundRun::start(&self.state, (tool, Owner::from_context(context)), work, slot);
        let token = context.meta.get_progress_token();
        let supports_tasks = context.client_capabilities().is_some_and(|capabilities| capabilities.supports_tasks());
        let mut reports = 0.0;
        let mut is_cancelled = false;
        let started = tokio::time::Instant::now();
        // A call that has to wait says so at once.
        let mut next_report = started + if run.is_waiting() { Duration::ZERO } else { PROGRESS_INTERVAL };
        loop {
            tokio::select! {
                result = &mut run.work => return result.map(RunProgress::Ended).map_err(|_| protocol_error::internal_error()),
                () = context.ct.cancelled(), if !is_cancelled => {
                    is_cancelled = true;
                    run.stop.stop();
                }
                () = tokio::time::sleep_until(started + TASK_DELAY), if supports_tasks && !is_cancelled => {
                    return Ok(RunProgress::Task(run));
                }
                () = tokio::time::sleep_until(next_report) => {
                    next_report += PROGRESS_INTERVAL;
                    if let Some(token) = &token {
                        reports += 1.0;
                        let param = ProgressNotificationParam::new(token.clone(), reports).with_message(run.describe());
                        // A client that misses the notification still gets the result.
                        let _ = context.peer.notify_progress(param).await;
                    }
                }
            }
        }
    }

    /// Continues a run as a task.
    fn spawn_task(&self, mut run: BackgroundRun, has_contract: bool) -> CreateTaskResult {
        let options = TaskOptions::new().with_ttl_ms(TASK_TTL_MS).with_status_message(run.describe());
        let owner = run.owner.clone();
        let work = |task: TaskContext| -> TaskFuture {
            Box::pin(async move {
                let mut phase = run.phase.subscribe();
                let mut is_waiting = run.is_waiting();
                let result = loop {
                    tokio::select! {
                        result = &mut run.work => break result,
                        () = async { drop(phase.wait_for(|has_started| *has_started).await) }, if is_waiting => {
                            is_waiting = false;
                            task.set_status_message(run.describe());
                        }
                        () = task.cancelled() => {
                            run.stop.stop();
                            // Waits for the end of the run, so that it is recorded.
                            let _ = (&mut run.work).await;
                            task.set_status_message("cancelled");
                            return Err(TaskExit::Cancelled);
                        }
                    }
                };
                task.set_status_message(if result.is_ok() { "completed" } else { "failed" });
                match result {
                    Ok(RunResult::Finished(response)) => Ok(to_call_result(response, has_contract)),
                    Ok(RunResult::NeedsConfirmation(_)) => Ok(declined_result()),
                    Err(_) => Err(TaskExit::Error(protocol_error::internal_error())),
                }
            })
        };
        let lifetime = Duration::from_millis(TASK_TTL_MS);
        CreateTaskResult::new(self.state.tasks.start(owner, lifetime, |tasks| tasks.spawn(options, work)))
    }
}

impl McpServer {
    /// Calls a tool for a user of the dashboard, who confirms it there. `call` is the dashboard's number of the call.
    pub async fn call_for_dashboard(
        &self,
        call: u64,
        tool: ToolDescriptor,
        input: Map<String, Value>,
        bearer: Option<&BearerIdentity>,
    ) -> ToolResponse {
        let failed = || error_response("INTERNAL", INTERNAL_MESSAGE);
        let declined = || error_response("CONFIRMATION_DECLINED", "the run was not confirmed");
        let owner = Owner::from_bearer(bearer);
        let who = ClaimedClient::describe_page(bearer);
        let first = Box::new(build_tool_call(&tool, input, &who, (&owner, Some("page"))));
        let mut work = RunWork::Call { call: first, can_ask: true };
        loop {
            let is_resumed = matches!(work, RunWork::Resume(_));
            let Ok(slot) = self.0.run_slots.request(owner.clone()) else { return busy_response() };
            let mut run = BackgroundRun::start(&self.0, (&tool.name, owner.clone()), work, slot);
            let deferred = match (&mut run.work).await {
                Ok(RunResult::Finished(response)) => return response,
                Ok(RunResult::NeedsConfirmation(deferred)) if !is_resumed => deferred,
                // A call is confirmed at most once.
                Ok(RunResult::NeedsConfirmation(_)) => return declined(),
                Err(_) => return failed(),
            };
            drop(run);
            let text = deferred.question_text();
            let answer = self.0.confirmations.ask_viewers(owner.clone(), Some(call), &tool.name, text);
            if tokio::time::timeout(ANSWER_TIMEOUT, answer).await != Ok(true) {
                return declined();
            }
            work = RunWork::Resume(deferred);
        }
    }
}

/// Builds a call of a tool. `session` is the client's session, for commands whose arguments do not name one. All
/// sessions belong to the owner.
fn build_tool_call(
    tool: &ToolDescriptor,
    mut input: Map<String, Value>,
    client: &str,
    (owner, session): (&Owner, Option<&str>),
) -> ToolCall {
    let mut call = match tool.kind {
        ToolKind::Tool => ToolCall::for_tool(&tool.skill, &tool.tool, Value::Object(input)),
        ToolKind::ServerTool => {
            let server = tool.skill.strip_prefix(SERVER_PREFIX).unwrap_or(&tool.skill);
            ToolCall::for_server(server, &tool.tool, Value::Object(input))
        }
        ToolKind::Script => ToolCall::for_script(&tool.skill, script_tool::build_invocation(tool, &input)),
        ToolKind::Command => {
            let named = tool.session_argument.and_then(|argument| input.shift_remove(argument));
            let session = owner.scope_session(named.as_ref().and_then(Value::as_str).or(session));
            let command = tool.tool.clone();
            let invocation = CommandInvocation { command, arguments: input, session, ..CommandInvocation::default() };
            ToolCall::for_command(&tool.skill, invocation)
        }
    };
    call.client = Some(client.to_owned());
    call
}

/// Ends a run, or the wait for its place.
#[derive(Clone, Default)]
pub(crate) struct RunStop {
    cancel: Cancel,
    stopped: Arc<Notify>,
}

impl RunStop {
    pub(crate) fn stop(&self) {
        self.cancel.cancel();
        self.stopped.notify_one();
    }
}

/// A run on a blocking thread, or a call that waits for its place. Dropping it cancels the run, because nothing
/// needs its result any more.
struct BackgroundRun {
    work: JoinHandle<RunResult>,
    stop: RunStop,
    /// Whether the call has its place.
    phase: watch::Sender<bool>,
    number: u64,
    owner: Owner,
    state: Arc<ServerState>,
}

impl BackgroundRun {
    fn start(state: &Arc<ServerState>, (tool, owner): (&str, Owner), work: RunWork, mut slot: RunSlot) -> Self {
        let stop = RunStop::default();
        let phase = watch::Sender::new(!slot.is_waiting());
        let number = state.take_number();
        let handle = RunHandle {
            stop: stop.clone(),
            phase: phase.clone(),
            tool: tool.to_owned(),
            owner: owner.clone(),
            started: Instant::now(),
        };
        state.active_runs.lock().insert(number, handle);
        state.confirmations.notify_viewers();
        let (own, stopping, started) = (Arc::clone(state), stop.clone(), phase.clone());
        let work = tokio::spawn(async move {
            tokio::select! {
                biased;
                () = &mut slot => {}
                () = stopping.stopped.notified() => {
                    return RunResult::Finished(error_response("CANCELLED", "the call ended before it could run"));
                }
            }
            started.send_replace(true);
            let blocking = tokio::task::spawn_blocking(move || run_work(&own, work, &stopping.cancel, slot));
            let failed = |_| RunResult::Finished(error_response("INTERNAL", INTERNAL_MESSAGE));
            blocking.await.unwrap_or_else(failed)
        });
        Self { work, stop, phase, number, owner, state: Arc::clone(state) }
    }

    fn is_waiting(&self) -> bool {
        !*self.phase.borrow()
    }

    /// Describes the state of the run for its client.
    fn describe(&self) -> &'static str {
        if self.is_waiting() { "waiting for other runs to end" } else { "still running" }
    }
}

/// Does the work of a run on a blocking thread.
fn run_work(state: &Arc<ServerState>, work: RunWork, cancelled: &Cancel, slot: RunSlot) -> RunResult {
    let catalog = Arc::clone(&state.view().catalog);
    let result = match perform_work(&state.runtime, &catalog, work, cancelled) {
        Ok(CallResult::Deferred(deferred)) => RunResult::NeedsConfirmation(deferred),
        Ok(CallResult::Finished(call)) => RunResult::Finished(match &call.outcome.reply {
            RunReply::Result(_) | RunReply::Task(_) => ToolResponse::Result(call.to_json()),
            RunReply::Error(error) => ToolResponse::Error(match error.audience {
                Audience::Caller => call.to_json(),
                Audience::Operator => withheld_envelope(&error.code, &error.message),
            }),
        }),
        Err(error) => RunResult::Finished(ToolResponse::Error(error_envelope(&error))),
    };
    state.metrics.count_call(match &result {
        RunResult::Finished(ToolResponse::Result(_)) => CallOutcome::Result,
        RunResult::Finished(ToolResponse::Error(_)) => CallOutcome::Error,
        RunResult::NeedsConfirmation(_) => CallOutcome::Question,
    });
    // Frees the slot when the run ends, even if the client no longer waits.
    drop(slot);
    result
}

impl Drop for BackgroundRun {
    fn drop(&mut self) {
        self.stop.stop();
        self.state.active_runs.lock().remove(&self.number);
        // The end was recorded before this point; a viewer that looked then still saw an active run.
        self.state.confirmations.notify_viewers();
    }
}

/// The outcome of a call, for the metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallOutcome {
    Result,
    Error,
    Question,
}

/// Calls the runtime. Blocks until the run ends.
fn perform_work(runtime: &Runtime, catalog: &Catalog, work: RunWork, cancel: &Cancel) -> Result<CallResult, CallError> {
    match work {
        RunWork::Call { call, can_ask } => {
            // Only active skills are offered; the skill may have been shadowed or hidden since. A tool of a server has
            // no skill.
            let is_active = || catalog.get(&call.skill).is_some_and(|entry| entry.status == SkillStatus::Active);
            if !matches!(call.target, CallTarget::ServerTool { .. }) && !is_active() {
                let message = format!("skill `{}` does not exist", call.skill);
                return Err(CallError::unable(ErrorCode::SkillNotFound, message));
            }
            runtime.call(catalog, &call, &ClientPrompter { can_ask }, cancel)
        }
        RunWork::Resume(deferred) => {
            runtime.resume_call(*deferred, PrompterAnswer::Yes, catalog, &ClientPrompter { can_ask: false }, cancel)
        }
    }
}

/// Renders the error envelope for a client.
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

/// Renders the error envelope for a client that may not see the message. The message is logged for the operator.
fn withheld_envelope(code: &ErrorCode, message: &str) -> Value {
    tracing::warn!("{code}: {message}");
    let generic = "the server could not make the call; its log has the reason";
    json!({ "status": "error", "error": { "code": code.as_str(), "message": generic, "retriable": false } })
}

fn error_response(code: &'static str, message: &str) -> ToolResponse {
    ToolResponse::Error(LibraryToolError::new(code, message).to_envelope())
}

/// The answer to a call while too many calls of its bearer wait.
fn busy_response() -> ToolResponse {
    let message = "too many of your calls wait for a run; call again when some have ended";
    ToolResponse::Error(
        json!({ "status": "error", "error": { "code": "BUSY", "message": message, "retriable": true } }),
    )
}

fn declined_result() -> CallToolResult {
    to_call_result(error_response("CONFIRMATION_DECLINED", "the user did not confirm this run"), false)
}

fn unanswered_result() -> CallToolResult {
    to_call_result(error_response("CANCELLED", "the server shut down before the user answered"), false)
}

/// Converts the response to the protocol's form. An error is returned as text. It is also returned as structured
/// content, unless the tool declares an output schema, which the error envelope would violate.
fn to_call_result(response: ToolResponse, has_contract: bool) -> CallToolResult {
    match response {
        ToolResponse::Result(value) => {
            let mut result = CallToolResult::structured(value);
            // Revision 2025-11-25 accepts only objects.
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
