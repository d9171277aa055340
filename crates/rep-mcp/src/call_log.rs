//! Records clients' calls and their outcomes. A call that cannot be recorded is not answered.
#![expect(clippy::disallowed_methods, reason = "records contain the time of the call")]

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use axum::http::request::Parts;
use rep_audit::CallRecord;
use rep_model::truncate::truncate_chars;
use rmcp::model::{CallToolResponse, JsonObject};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};

use crate::catalog_view::sha256_digest;
use crate::claimed_client::ClaimedClient;
use crate::client_activity::ClientKey;
use crate::http::REQUEST_ID;
use crate::identity::{BearerIdentity, find_bearer};
use crate::server::{McpServer, ServerState};
use crate::session_handler::SessionHandler;
use crate::{convert_tool, library_tools, protocol_error, script_tool, skill_actions, uri};

/// The maximum number of characters of a client's text that are recorded.
const TEXT_CHARS_MAX: usize = 300;

/// The subject of a request: the method and its target.
pub(crate) struct CallSubject {
    method: String,
    target: String,
    reference: SkillReference,
    input_digest: Option<String>,
}

/// The part of a request that may name a skill.
enum SkillReference {
    None,
    /// A name or URI.
    Name(String),
    /// An argument that should be a name, URI or query. It is recorded only if it names a skill.
    Argument(String),
    /// The name of a skill's tool.
    Tool(String),
}

impl CallSubject {
    /// Creates the subject of a method with an optional target, a name or URI.
    pub(crate) fn new(method: &str, target: &str) -> Self {
        let reference = if target.is_empty() { SkillReference::None } else { SkillReference::Name(target.to_owned()) };
        Self { method: truncate_text(method), target: truncate_text(target), reference, input_digest: None }
    }

    /// Creates the subject of a tool call. Records the skill, and only a digest of the arguments.
    pub(crate) fn from_tool_call(name: &str, arguments: &JsonObject) -> Self {
        let text = |field: &str| arguments.get(field).and_then(Value::as_str);
        let argument = match name {
            "load_skill" => text("name"),
            "read_skill_file" => text("uri").or_else(|| text("skill")),
            "query_skill" => text("query"),
            "scan_skill" | convert_tool::TOOL_NAME | script_tool::TOOL_NAME => text("skill"),
            _ => None,
        };
        let is_own_tool = library_tools::is_library_tool(name)
            || [convert_tool::TOOL_NAME, skill_actions::SEARCH_TOOL_NAME].contains(&name);
        Self {
            method: "tools/call".to_owned(),
            target: truncate_text(name),
            reference: match argument {
                Some(argument) => SkillReference::Argument(argument.to_owned()),
                None if is_own_tool => SkillReference::None,
                None => {
                    let tool = if name == skill_actions::RUN_TOOL_NAME { text("tool").unwrap_or(name) } else { name };
                    SkillReference::Tool(tool.to_owned())
                }
            },
            input_digest: Some(sha256_digest(json!(arguments).to_string().as_bytes())),
        }
    }

    /// Creates the subject of a task request. The id alone grants access to a task, so only a part of its digest is
    /// recorded.
    pub(crate) fn from_task_request(method: &str, id: &str) -> Self {
        let hex = sha256_digest(id.as_bytes());
        let mark = hex.trim_start_matches("sha256:").chars().take(12).collect();
        Self { method: method.to_owned(), target: mark, reference: SkillReference::None, input_digest: None }
    }

    /// Adds a digest of the request's arguments.
    pub(crate) fn with_arguments(mut self, arguments: &Value) -> Self {
        self.input_digest = Some(sha256_digest(arguments.to_string().as_bytes()));
        self
    }

    /// Finds the skill of the request.
    fn find_skill(&self, state: &ServerState) -> Option<String> {
        if matches!(self.reference, SkillReference::None) {
            return None;
        }
        let view = state.view();
        let active = |name: &str| uri::find_active_skill(&view.catalog, name);
        match &self.reference {
            SkillReference::None => None,
            SkillReference::Name(name) | SkillReference::Argument(name) => {
                let by_address = || uri::resolve_address(&view.catalog, name).map(|(entry, _)| entry);
                // In a query, a path follows the name. Both may contain colons.
                let by_query = || name.rmatch_indices(':').find_map(|(at, _)| active(&name[..at]));
                let entry = by_address().or_else(|| active(name)).or_else(by_query)?;
                Some(entry.qualified_name.clone())
            }
            SkillReference::Tool(name) => view.find_tool(name).map(|tool| tool.skill.clone()),
        }
    }
}

/// An answer whose outcome can be recorded.
pub(crate) trait Recordable {
    /// Returns `ok`, or another outcome for the record.
    fn outcome_code(&self) -> String {
        "ok".to_owned()
    }
}

/// Implements [`Recordable`] for answers that are never errors.
macro_rules! recorded_as_ok {
    ($($kind:ty),* $(,)?) => { $(impl Recordable for $kind {})* };
}

impl Recordable for CallToolResponse {
    fn outcome_code(&self) -> String {
        let result = match self {
            CallToolResponse::Complete(result) => result,
            CallToolResponse::InputRequired(_) => return "asked".to_owned(),
            CallToolResponse::Task(_) => return "task".to_owned(),
            _ => return "ok".to_owned(),
        };
        if result.is_error != Some(true) {
            return "ok".to_owned();
        }
        // If the tool declares an output schema, the envelope is only in the text.
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

/// A call that is being answered. If it is dropped early, it is recorded as abandoned.
pub(crate) struct OpenCall {
    state: Arc<ServerState>,
    record: Option<CallRecord>,
    client: ClientKey,
    subject: CallSubject,
    started: Instant,
}

impl SessionHandler {
    /// Starts to answer a call: counts and logs it.
    pub(crate) fn open_call(&self, subject: CallSubject, context: &RequestContext<RoleServer>) -> OpenCall {
        let record = CallRecord {
            who: client_name(context),
            bearer: bearer_name(context),
            request: request_id(context),
            ..CallRecord::default()
        };
        self.state.metrics.count_method(&subject.method);
        let (method, id) = (subject.method.as_str(), context.id.to_string());
        let line = format!("{method} {}", subject.target);
        tracing::info!(target: "rep_mcp::request", request = record.request, mcp = method, id, "{}", line.trim_end());
        self.state.open_calls.send_modify(|count| *count += 1);
        let revision = context.protocol_version().map(|version| version.to_string()).unwrap_or_default();
        let client = ClientKey { name: record.who.clone(), bearer: record.bearer.clone(), revision };
        OpenCall { state: Arc::clone(&self.state), record: Some(record), client, subject, started: Instant::now() }
    }
}

impl OpenCall {
    /// Answers the call if it can be recorded.
    pub(crate) async fn answer_and_record<T: Recordable>(
        mut self,
        answer: impl Future<Output = Result<T, ErrorData>>,
    ) -> Result<T, ErrorData> {
        if self.state.recorder.as_ref().is_some_and(|recorder| !recorder.can_record()) {
            // A call that is not made is not recorded.
            self.record = None;
            return Err(protocol_error::unrecorded_call());
        }
        let answer = answer.await;
        let outcome = match &answer {
            Ok(answer) => answer.outcome_code(),
            Err(error) => error.code.0.to_string(),
        };
        if self.record_outcome(outcome) { answer } else { Err(protocol_error::unrecorded_call()) }
    }

    /// Records the call. Returns `false` if that is impossible.
    fn record_outcome(&mut self, outcome: String) -> bool {
        let Some(record) = self.record.take() else { return true };
        let is_error = !matches!(outcome.as_str(), "ok" | "asked" | "task");
        self.state.activity.count_call(self.client.clone(), self.started.elapsed(), is_error);
        let Some(recorder) = &self.state.recorder else { return true };
        let subject = &mut self.subject;
        let skill = subject.find_skill(&self.state);
        if let (false, "tools/call", Some(skill)) = (is_error, subject.method.as_str(), &skill) {
            self.state.count_use(skill);
        }
        if let (SkillReference::Argument(argument), Some(_)) = (&subject.reference, &skill) {
            subject.target = format!("{} {}", subject.target, truncate_text(argument));
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
        recorder.record_call(&record, SystemTime::now())
    }
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        self.record_outcome("abandoned".to_owned());
        self.state.open_calls.send_modify(|count| *count -= 1);
    }
}

/// An action of a dashboard user that a client could also have performed.
#[derive(Clone, Debug, Default)]
pub struct DashboardAction<'a> {
    /// The identity that the user signed in with, if sign-in is required.
    pub bearer: Option<&'a BearerIdentity>,
    /// `page/run` or `page/answer`.
    pub method: &'a str,
    /// The tool, as clients call it.
    pub tool: &'a str,
    /// The skill, if it is known.
    pub skill: Option<&'a str>,
    /// The outcome of the action.
    pub outcome: &'a str,
}

impl McpServer {
    /// Records an action of a dashboard user. Returns `false` if that is impossible; the action must then not be
    /// performed.
    pub fn record_dashboard_action(&self, action: &DashboardAction<'_>) -> bool {
        let Some(recorder) = &self.0.recorder else { return true };
        let record = CallRecord {
            who: "the page".to_owned(),
            bearer: action.bearer.map(ToString::to_string),
            method: action.method.to_owned(),
            target: truncate_text(action.tool),
            skill: action.skill.map(str::to_owned),
            outcome: action.outcome.to_owned(),
            ..CallRecord::default()
        };
        recorder.can_record() && recorder.record_call(&record, SystemTime::now())
    }
}

impl ServerState {
    /// Logs and records wrong tokens of an address.
    pub(crate) fn report_failed_tokens(&self, peer: IpAddr, place: &str, count: u64) {
        let tokens = if count == 1 { "a wrong token".to_owned() } else { format!("{count} wrong tokens") };
        tracing::warn!("{tokens} from {peer} for {}", truncate_text(place).escape_default());
        if let Some(recorder) = &self.recorder {
            let record = CallRecord {
                peer: Some(peer.to_string()),
                count: Some(count),
                method: "authenticate".to_owned(),
                target: truncate_text(place),
                outcome: "UNAUTHORIZED".to_owned(),
                ..CallRecord::default()
            };
            // The refusal does not depend on its record.
            let _ = recorder.record_call(&record, SystemTime::now());
        }
    }
}

/// Returns the id of a request: over HTTP, the id in the header of its response.
fn request_id(context: &RequestContext<RoleServer>) -> String {
    let parts = context.extensions.get::<Parts>();
    let given = parts.and_then(|parts| parts.headers.get(REQUEST_ID)?.to_str().ok()).map(str::to_owned);
    truncate_text(&given.unwrap_or_else(|| context.id.to_string()))
}

/// Returns the name and version that the client reports.
fn client_name(context: &RequestContext<RoleServer>) -> String {
    let client = context.client_info();
    let client = client.map_or_else(|| "a client".to_owned(), |client| format!("{} {}", client.name, client.version));
    truncate_text(client.trim())
}

/// Returns the identity that authenticated the client.
fn bearer_name(context: &RequestContext<RoleServer>) -> Option<String> {
    find_bearer(context).map(|bearer| bearer.to_string())
}

/// Describes the client for the record of a run: the verified identity first, then the name that the client reports.
pub(crate) fn describe_client(context: &RequestContext<RoleServer>) -> String {
    ClaimedClient::describe(bearer_name(context).as_deref(), &client_name(context))
}

fn truncate_text(text: &str) -> String {
    truncate_chars(text, TEXT_CHARS_MAX).to_owned()
}
