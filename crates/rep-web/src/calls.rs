//! Runs a tool from the dashboard, and shows the result.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Extension;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use maud::{Markup, html};
use parking_lot::Mutex;
use rep_mcp::{BearerIdentity, DashboardAction, Owner, ToolResponse, Visitor, plain_response, redirect_to, wants_page};
use rep_runtime::ToolDescriptor;
use serde_json::{Map, Value};

use super::fields::{FormFields, encode_query_value};
use super::html::{render_code_block, truncate_at_word};
use super::layout::{self, PageLocation};
use super::{
    Dashboard, PageRequest, PageResponse, UNRECORDED_MESSAGE, argument_form, error_response, foreign_form_response,
    html_response, parse_form, runs, skill,
};

/// The number of calls that are remembered.
const CALLS_MAX: usize = 64;

/// The calls started in the dashboard.
pub(crate) struct DashboardCalls {
    calls: Mutex<BTreeMap<u64, DashboardCall>>,
    next: AtomicU64,
}

/// A call started in the dashboard.
#[derive(Clone)]
struct DashboardCall {
    owner: Owner,
    /// The tool, as clients call it.
    tool: String,
    skill: String,
    /// The response, or `None` while the call runs.
    response: Option<ToolResponse>,
}

impl Default for DashboardCalls {
    fn default() -> Self {
        Self { calls: Mutex::default(), next: AtomicU64::new(1) }
    }
}

impl DashboardCalls {
    /// Stores a new call. If the table is full, removes the oldest call that ended, or else the oldest call.
    fn begin_call(&self, owner: Owner, skill: &str, tool: &str) -> u64 {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let mut calls = self.calls.lock();
        let (skill, tool) = (skill.to_owned(), tool.to_owned());
        calls.insert(number, DashboardCall { owner, tool, skill, response: None });
        while calls.len() > CALLS_MAX {
            let oldest = calls.iter().find(|(_, call)| call.response.is_some()).or_else(|| calls.iter().next());
            let Some(number) = oldest.map(|(number, _)| *number) else { break };
            calls.remove(&number);
        }
        number
    }

    fn end_call(&self, number: u64, response: ToolResponse) {
        if let Some(call) = self.calls.lock().get_mut(&number) {
            call.response = Some(response);
        }
    }

    fn get(&self, number: u64, visitor: &Visitor) -> Option<DashboardCall> {
        self.calls.lock().get(&number).filter(|call| visitor.may_see(&call.owner)).cloned()
    }
}

/// Runs a permitted tool. The run continues even if the page is closed.
pub(super) async fn run_tool(
    State(dashboard): State<Arc<Dashboard>>,
    bearer: Option<Extension<BearerIdentity>>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let Some(fields) = parse_form(&dashboard, &headers, &body) else {
        return foreign_form_response(&dashboard, &headers);
    };
    let view = dashboard.server.view_for(bearer.as_ref().map(|Extension(bearer)| bearer));
    let name = fields.get("tool").to_owned();
    let found = tokio::task::spawn_blocking(move || view.find_tool(&name).cloned());
    let Ok(Some(tool)) = found.await else {
        let message = "This tool does not exist, or may not run on this server or with your token; see `--allow-run`.";
        return error_response(&dashboard, &headers, StatusCode::NOT_FOUND, message);
    };
    let input = match parse_input(&tool, &fields) {
        Ok(input) => input,
        Err(message) => return invalid_input_response(&dashboard, &headers, &tool, &fields, &message),
    };
    let bearer = bearer.map(|Extension(bearer)| bearer);
    let action = DashboardAction {
        bearer: bearer.as_ref(),
        method: "page/run",
        tool: &tool.name,
        skill: Some(&tool.skill),
        outcome: "begun",
    };
    if !dashboard.server.record_dashboard_action(&action) {
        return error_response(&dashboard, &headers, StatusCode::SERVICE_UNAVAILABLE, UNRECORDED_MESSAGE);
    }
    let number = dashboard.calls.begin_call(Owner::from_bearer(bearer.as_ref()), &tool.skill, &tool.name);
    let own = Arc::clone(&dashboard);
    tokio::spawn(async move {
        let response = own.server.call_for_dashboard(number, tool, input, bearer.as_ref()).await;
        own.calls.end_call(number, response);
        own.server.confirmations().notify_viewers();
    });
    redirect_to(&format!("/call?number={number}"))
}

/// Reads the arguments of a call: from the fields of a form, or as one JSON object.
fn parse_input(tool: &ToolDescriptor, fields: &FormFields) -> Result<Map<String, Value>, String> {
    if fields.get("form") == "fields" {
        return argument_form::parse_arguments(&tool.definition["inputSchema"], fields);
    }
    let given = fields.get("input");
    match serde_json::from_str(if given.is_empty() { "{}" } else { given }) {
        Ok(Value::Object(input)) => Ok(input),
        Ok(_) => Err("The arguments must be a JSON object.".to_owned()),
        Err(error) => Err(format!("The arguments are not valid JSON: {error}.")),
    }
}

/// Renders the form again, with the entered arguments and the error.
fn invalid_input_response(
    dashboard: &Arc<Dashboard>,
    headers: &HeaderMap,
    tool: &ToolDescriptor,
    given: &FormFields,
    message: &str,
) -> Response {
    if !wants_page(headers) {
        return plain_response(StatusCode::BAD_REQUEST, format!("{message}\n"));
    }
    let request = dashboard.page_request(headers, Visitor::Stranger, FormFields::default());
    let body = html! {
        (render_breadcrumb(&tool.skill))
        div class="title" { h1 { bdi { (tool.name) } } }
        (layout::render_alert(message))
        section class="card tool" {
            h2 { "Try again" }
            (skill::render_run_form(&request, tool, "tool", Some(given)))
            (skill::render_schemas(tool.definition.get("inputSchema"), None))
        }
    };
    html_response(StatusCode::BAD_REQUEST, layout::render_page(&request, PageLocation::Elsewhere, &tool.name, &body))
}

fn render_breadcrumb(skill: &str) -> Markup {
    html! {
        nav class="trail" aria-label="Breadcrumb" {
            a href="/runs" { "Runs" } " / " a href={ "/skill?name=" (encode_query_value(skill)) } { bdi { (skill) } }
        }
    }
}

/// Renders a call and its result.
pub(super) fn render_page(request: &PageRequest) -> PageResponse {
    let number = request.fields.parse_id("number").unwrap_or(0);
    let Some(call) = request.dashboard.calls.get(number, &request.visitor) else {
        return PageResponse::Missing(
            "This call is no longer available here. Its record is on the Audit page.".to_owned(),
        );
    };
    let mut confirmations = request.dashboard.server.confirmations().list_from(0, &request.visitor);
    confirmations.retain(|confirmation| confirmation.call == Some(number));
    let is_waiting = confirmations.iter().any(|confirmation| confirmation.outcome.is_none());
    let back = html! { input type="hidden" name="call" value=(number); };
    let state = html! {
        @if !confirmations.is_empty() { (runs::render_confirmation_list(request, &confirmations, &back)) }
        @match &call.response {
            None if is_waiting => { p { (layout::render_pill("untrusted", "waiting")) " for your answer" } }
            None => { p { (layout::render_pill("running", "running")) } }
            Some(ToolResponse::Result(value)) => (render_result("active", "done", value)),
            Some(ToolResponse::Error(value)) => (render_result("invalid", "failed", value)),
        }
    };
    if request.is_part() {
        return PageResponse::Part(state);
    }
    let body = html! {
        (render_breadcrumb(&call.skill))
        div class="title" { h1 { bdi { (call.tool) } } }
        section class="card" {
            h2 { "Result" }
            div id="live" aria-live="polite" data-part={ "/call?number=" (number) "&part=1" } data-on="runs" { (state) }
        }
        p { a href={ "/call?number=" (number) } { "Reload" } }
    };
    PageResponse::Page(PageLocation::Call, call.tool, body)
}

fn render_result(colour: &str, word: &str, value: &Value) -> Markup {
    html! {
        p { (layout::render_pill(colour, word)) }
        (render_code_block(&truncate_at_word(&format!("{value:#}"), 40_000)))
    }
}
