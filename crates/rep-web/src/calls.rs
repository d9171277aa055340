//! Running a tool from the dashboard, and what came of it.

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
use rep_mcp::{BearerIdentity, DashboardAction, ToolResponse, plain_response, redirect, wants_page};
use rep_runtime::ToolDescriptor;
use serde_json::{Map, Value};

use super::fields::{Fields, encode};
use super::html::{code_block, truncate};
use super::layout::{self, Location};
use super::{
    Dashboard, PageRequest, PageResponse, UNRECORDED, document, error_response, foreign_form, parse_form, runs, skill,
};

/// How many calls are remembered.
const CALLS_MAX: usize = 64;

/// The calls that were made at the dashboard.
pub(crate) struct DashboardCalls {
    calls: Mutex<BTreeMap<u64, DashboardCall>>,
    next: AtomicU64,
}

/// A call that was made at the dashboard.
#[derive(Clone)]
struct DashboardCall {
    /// The tool, as clients call it.
    tool: String,
    skill: String,
    /// What came of it; `None` while it runs.
    response: Option<ToolResponse>,
}

impl Default for DashboardCalls {
    fn default() -> Self {
        Self { calls: Mutex::default(), next: AtomicU64::new(1) }
    }
}

impl DashboardCalls {
    /// Remembers a call that begins. The oldest that ended makes room for it, or else the oldest.
    fn begin(&self, skill: &str, tool: &str) -> u64 {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let mut calls = self.calls.lock();
        calls.insert(number, DashboardCall { tool: tool.to_owned(), skill: skill.to_owned(), response: None });
        while calls.len() > CALLS_MAX {
            let oldest = calls.iter().find(|(_, call)| call.response.is_some()).or_else(|| calls.iter().next());
            let Some(number) = oldest.map(|(number, _)| *number) else { break };
            calls.remove(&number);
        }
        number
    }

    fn end(&self, number: u64, response: ToolResponse) {
        if let Some(call) = self.calls.lock().get_mut(&number) {
            call.response = Some(response);
        }
    }

    fn get(&self, number: u64) -> Option<DashboardCall> {
        self.calls.lock().get(&number).cloned()
    }
}

/// Runs a tool that may be run. The run continues whether or not somebody watches it.
pub(super) async fn run(
    State(dashboard): State<Arc<Dashboard>>,
    bearer: Option<Extension<BearerIdentity>>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let Some(fields) = parse_form(&dashboard, &headers, &body) else { return foreign_form(&dashboard, &headers) };
    let view = dashboard.server.view();
    let name = fields.get("tool").to_owned();
    let found = tokio::task::spawn_blocking(move || view.tool(&name).cloned());
    let Ok(Some(tool)) = found.await else {
        let message = "There is no such tool that may run here; see `--allow-run`.";
        return error_response(&dashboard, &headers, StatusCode::NOT_FOUND, message);
    };
    let given = fields.get("input");
    let input: Map<String, Value> = match serde_json::from_str(if given.is_empty() { "{}" } else { given }) {
        Ok(Value::Object(input)) => input,
        Ok(_) => return invalid_input(&dashboard, &headers, &tool, given, "The arguments are no JSON object."),
        Err(error) => {
            let message = format!("The arguments are no JSON: {error}.");
            return invalid_input(&dashboard, &headers, &tool, given, &message);
        }
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
        return error_response(&dashboard, &headers, StatusCode::SERVICE_UNAVAILABLE, UNRECORDED);
    }
    let who = bearer.map_or_else(|| "the page".to_owned(), |bearer| format!("{}, on the page", bearer.0));
    let number = dashboard.calls.begin(&tool.skill, &tool.name);
    let own = Arc::clone(&dashboard);
    tokio::spawn(async move {
        let response = own.server.call_for_dashboard(number, tool, input, who).await;
        own.calls.end(number, response);
        own.server.confirmations().notify();
    });
    redirect(&format!("/call?number={number}"))
}

/// The form again, with what was entered and what is wrong with it.
fn invalid_input(
    dashboard: &Arc<Dashboard>,
    headers: &HeaderMap,
    tool: &ToolDescriptor,
    given: &str,
    message: &str,
) -> Response {
    if !wants_page(headers) {
        return plain_response(StatusCode::BAD_REQUEST, format!("{message}\n"));
    }
    let request = dashboard.request(headers, Fields::default());
    let body = html! {
        (breadcrumb(&tool.skill))
        div class="title" { h1 { bdi { (tool.name) } } }
        (layout::alert(message))
        section class="card tool" {
            h2 { "Once more" }
            (skill::run_form(&request, tool, given))
            (skill::schema("Takes", tool.definition.get("inputSchema")))
        }
    };
    document(StatusCode::BAD_REQUEST, layout::page(&request, Location::Elsewhere, &tool.name, &body))
}

fn breadcrumb(skill: &str) -> Markup {
    html! {
        nav class="trail" aria-label="Breadcrumb" {
            a href="/runs" { "Runs" } " / " a href={ "/skill?name=" (encode(skill)) } { bdi { (skill) } }
        }
    }
}

/// A call, and what came of it.
pub(super) fn render(request: &PageRequest) -> PageResponse {
    let number = request.fields.id("number").unwrap_or(0);
    let Some(call) = request.dashboard.calls.get(number) else {
        return PageResponse::Missing("This call is not remembered; the audit has it.".to_owned());
    };
    let mut confirmations = request.dashboard.server.confirmations().since(0);
    confirmations.retain(|confirmation| confirmation.call == Some(number));
    let is_waiting = confirmations.iter().any(|confirmation| confirmation.outcome.is_none());
    let back = html! { input type="hidden" name="call" value=(number); };
    let state = html! {
        @if !confirmations.is_empty() { (runs::confirmation_list(request, &confirmations, &back)) }
        @match &call.response {
            None if is_waiting => { p { (layout::pill("untrusted", "waiting")) " for your answer" } }
            None => { p { (layout::pill("running", "running")) } }
            Some(ToolResponse::Result(value)) => (result("active", "done", value)),
            Some(ToolResponse::Error(value)) => (result("invalid", "failed", value)),
        }
    };
    if request.is_part() {
        return PageResponse::Part(state);
    }
    let body = html! {
        (breadcrumb(&call.skill))
        div class="title" { h1 { bdi { (call.tool) } } }
        section class="card" {
            h2 { "What came of it" }
            div id="live" aria-live="polite" data-part={ "/call?number=" (number) "&part=1" } data-on="runs" { (state) }
        }
        p { a href={ "/call?number=" (number) } { "Load again" } }
    };
    PageResponse::Page(Location::Call, call.tool, body)
}

fn result(colour: &str, word: &str, value: &Value) -> Markup {
    html! {
        p { (layout::pill(colour, word)) }
        (code_block(&truncate(&format!("{value:#}"), 40_000)))
    }
}
