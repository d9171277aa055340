//! Recording what clients ask, and what came of it. A call that cannot be recorded is not answered.
#![expect(clippy::disallowed_methods, reason = "records carry the time they were made")]

use std::sync::Arc;
use std::time::{Instant, SystemTime};

use axum::http::request::Parts;
use rep_audit::CallRecord;
use rep_model::truncate::truncate_chars;
use rmcp::model::{CallToolResponse, JsonObject};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};

use crate::catalog_view::digest;
use crate::http::{BearerIdentity, REQUEST_ID};
use crate::server::{McpServer, ServerState};
use crate::session_handler::SessionHandler;
use crate::{convert, library_tools, protocol_error, uri};

/// The most characters of a client's text that are recorded.
const TEXT_CHARS_MAX: usize = 300;

/// What a request is about: the method, and what it names.
pub(crate) struct CallSubject {
    method: String,
    target: String,
    reference: SkillReference,
    input_digest: Option<String>,
}

/// What in a request may name a skill.
enum SkillReference {
    None,
    /// A name or an address.
    Name(String),
    /// An argument that should be a name, an address or a query: recorded only if it names a skill.
    Argument(String),
    /// The name of a skill's tool.
    Tool(String),
}

impl CallSubject {
    /// A method, and the name or address it is about, if any.
    pub(crate) fn new(method: &str, target: &str) -> Self {
        let reference = if target.is_empty() { SkillReference::None } else { SkillReference::Name(target.to_owned()) };
        Self { method: truncate(method), target: truncate(target), reference, input_digest: None }
    }

    /// A call of a tool. The skill it is about is recorded, and of the arguments only a digest.
    pub(crate) fn tool(name: &str, arguments: &JsonObject) -> Self {
        let text = |field: &str| arguments.get(field).and_then(Value::as_str);
        let argument = match name {
            "load_skill" => text("name"),
            "read_skill_file" => text("uri").or_else(|| text("skill")),
            "query_skill" => text("query"),
            convert::NAME => text("skill"),
            _ => None,
        };
        let is_own_tool = library_tools::contains(name) || name == convert::NAME;
        Self {
            method: "tools/call".to_owned(),
            target: truncate(name),
            reference: match argument {
                Some(argument) => SkillReference::Argument(argument.to_owned()),
                None if is_own_tool => SkillReference::None,
                None => SkillReference::Tool(name.to_owned()),
            },
            input_digest: Some(digest(json!(arguments).to_string().as_bytes())),
        }
    }

    /// A request about a task. The id alone gives access to a task, so only a part of its digest is recorded.
    pub(crate) fn task(method: &str, id: &str) -> Self {
        let hex = digest(id.as_bytes());
        let mark = hex.trim_start_matches("sha256:").chars().take(12).collect();
        Self { method: method.to_owned(), target: mark, reference: SkillReference::None, input_digest: None }
    }

    /// Adds a digest of the request's arguments.
    pub(crate) fn with_arguments(mut self, arguments: &Value) -> Self {
        self.input_digest = Some(digest(arguments.to_string().as_bytes()));
        self
    }

    /// The skill it is about.
    fn skill(&self, state: &ServerState) -> Option<String> {
        let view = state.view();
        let active = |name: &str| uri::active_skill(&view.catalog, name);
        match &self.reference {
            SkillReference::None => None,
            SkillReference::Name(name) | SkillReference::Argument(name) => {
                let by_address = || uri::resolve(&view.catalog, name).map(|(entry, _)| entry);
                // A query has a path behind the name, which may contain colons itself.
                let by_query = || name.rmatch_indices(':').find_map(|(at, _)| active(&name[..at]));
                let entry = by_address().or_else(|| active(name)).or_else(by_query)?;
                Some(entry.qualified_name.clone())
            }
            SkillReference::Tool(name) => view.tool(name).map(|tool| tool.skill.clone()),
        }
    }
}

/// An answer whose outcome can be recorded.
pub(crate) trait Recordable {
    /// `ok`, or what else the record says of it.
    fn outcome(&self) -> String {
        "ok".to_owned()
    }
}

/// Answers that are never errors themselves.
macro_rules! recorded_as_ok {
    ($($kind:ty),* $(,)?) => { $(impl Recordable for $kind {})* };
}

impl Recordable for CallToolResponse {
    fn outcome(&self) -> String {
        let result = match self {
            CallToolResponse::Complete(result) => result,
            CallToolResponse::InputRequired(_) => return "asked".to_owned(),
            CallToolResponse::Task(_) => return "task".to_owned(),
            _ => return "ok".to_owned(),
        };
        if result.is_error != Some(true) {
            return "ok".to_owned();
        }
        // If the tool declares a contract for its result, the envelope is in the text only.
        let from_text = || serde_json::from_str(&result.content.first()?.as_text()?.text).ok();
        let envelope = result.structured_content.clone().or_else(from_text).unwrap_or_default();
        envelope.pointer("/error/code").and_then(Value::as_str).unwrap_or("TOOL_ERROR").to_owned()
    }
}

recorded_as_ok!(
    rmcp::model::InitializeResult,
    rmcp::model::ListToolsResult,
    rmcp::model::ListPromptsResult,
    rmcp::model::GetPromptResponse,
    rmcp::model::CompleteResult,
    rmcp::model::ListResourcesResult,
    rmcp::model::ListResourceTemplatesResult,
    rmcp::model::ReadResourceResponse,
    rmcp::model::CustomResult,
    rmcp::model::GetTaskResult,
    (),
);

/// A call that is being answered. If it is dropped before, it is recorded as abandoned.
pub(crate) struct OpenCall {
    state: Arc<ServerState>,
    record: Option<CallRecord>,
    subject: CallSubject,
    started: Instant,
}

impl SessionHandler {
    /// Begins to answer a call: counts and logs it.
    pub(crate) fn open_call(&self, subject: CallSubject, context: &RequestContext<RoleServer>) -> OpenCall {
        let record = CallRecord {
            who: client_name(context),
            bearer: bearer(context),
            request: request_id(context),
            ..CallRecord::default()
        };
        self.state.metrics.count_method(&subject.method);
        let (method, id) = (subject.method.as_str(), context.id.to_string());
        let line = format!("{method} {}", subject.target);
        tracing::info!(target: "rep_mcp::request", request = record.request, mcp = method, id, "{}", line.trim_end());
        self.state.open_calls.send_modify(|count| *count += 1);
        OpenCall { state: Arc::clone(&self.state), record: Some(record), subject, started: Instant::now() }
    }
}

impl OpenCall {
    /// Answers, if the call can be recorded.
    pub(crate) async fn answer<T: Recordable>(
        mut self,
        answer: impl Future<Output = Result<T, ErrorData>>,
    ) -> Result<T, ErrorData> {
        if self.state.recorder.as_ref().is_some_and(|recorder| !recorder.is_open()) {
            // What is not done is not a call.
            self.record = None;
            return Err(protocol_error::unrecorded());
        }
        let answer = answer.await;
        let outcome = match &answer {
            Ok(answer) => answer.outcome(),
            Err(error) => error.code.0.to_string(),
        };
        if self.record(outcome) { answer } else { Err(protocol_error::unrecorded()) }
    }

    /// Records the call. Returns false if that is impossible.
    fn record(&mut self, outcome: String) -> bool {
        let (Some(record), Some(recorder)) = (self.record.take(), &self.state.recorder) else { return true };
        let subject = &mut self.subject;
        let skill = subject.skill(&self.state);
        if let (SkillReference::Argument(argument), Some(_)) = (&subject.reference, &skill) {
            subject.target = format!("{} {}", subject.target, truncate(argument));
        }
        let record = CallRecord {
            skill,
            method: std::mem::take(&mut subject.method),
            target: std::mem::take(&mut subject.target),
            input_digest: subject.input_digest.take(),
            outcome,
            duration_ms: u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX),
            ..record
        };
        recorder.record(&record, SystemTime::now())
    }
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        self.record("abandoned".to_owned());
        self.state.open_calls.send_modify(|count| *count -= 1);
    }
}

/// What somebody did at the dashboard that a client could have done.
#[derive(Clone, Debug, Default)]
pub struct DashboardAction<'a> {
    /// By what the person signed in, if anything is needed.
    pub bearer: Option<&'a BearerIdentity>,
    /// `page/run` or `page/answer`.
    pub method: &'a str,
    /// The tool, as clients call it.
    pub tool: &'a str,
    /// The skill, if it is known.
    pub skill: Option<&'a str>,
    /// What came of it.
    pub outcome: &'a str,
}

impl McpServer {
    /// Records what somebody did at the dashboard. Returns false if that is impossible; then it must not be done.
    pub fn record_dashboard_action(&self, action: &DashboardAction<'_>) -> bool {
        let Some(recorder) = &self.0.recorder else { return true };
        let record = CallRecord {
            who: "the page".to_owned(),
            bearer: action.bearer.map(|bearer| bearer.0.clone()),
            method: action.method.to_owned(),
            target: truncate(action.tool),
            skill: action.skill.map(str::to_owned),
            outcome: action.outcome.to_owned(),
            ..CallRecord::default()
        };
        recorder.is_open() && recorder.record(&record, SystemTime::now())
    }
}

/// The id of a request: over HTTP, the one in the header of its response.
fn request_id(context: &RequestContext<RoleServer>) -> String {
    let parts = context.extensions.get::<Parts>();
    let given = parts.and_then(|parts| parts.headers.get(REQUEST_ID)?.to_str().ok()).map(str::to_owned);
    truncate(&given.unwrap_or_else(|| context.id.to_string()))
}

/// The name and version that the client gives itself.
fn client_name(context: &RequestContext<RoleServer>) -> String {
    let client = context.client_info();
    let client = client.map_or_else(|| "a client".to_owned(), |client| format!("{} {}", client.name, client.version));
    truncate(client.trim())
}

/// What authenticated the client.
fn bearer(context: &RequestContext<RoleServer>) -> Option<String> {
    let parts = context.extensions.get::<Parts>()?;
    parts.extensions.get::<BearerIdentity>().map(|bearer| bearer.0.clone())
}

/// Describes the client in the record of a run: first what is proven, then what the client says of itself.
pub(crate) fn describe_client(context: &RequestContext<RoleServer>) -> String {
    let claim = format!("a client that calls itself {:?}", client_name(context));
    bearer(context).map_or_else(|| claim.clone(), |bearer| format!("{bearer}, {claim}"))
}

fn truncate(text: &str) -> String {
    truncate_chars(text, TEXT_CHARS_MAX).to_owned()
}
