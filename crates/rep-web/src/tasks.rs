//! The tasks page: calls that continue after their answer, each with a button to cancel it.

use std::sync::Arc;

use axum::Extension;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use maud::{Markup, html};
use rep_mcp::{BearerIdentity, redirect_to};
use rep_runtime::task::{Task, TaskState};

use super::html::{render_code_block, render_time, truncate_at_word};
use super::layout::{self, PageLocation};
use super::{
    Dashboard, NEEDS_RUN_MESSAGE, PageRequest, PageResponse, error_response, foreign_form_response, parse_form,
};

/// The number of shown tasks.
const TASKS_MAX: usize = 100;

pub(super) fn render_page(request: &PageRequest) -> PageResponse {
    let list = render_list(request);
    if request.is_part() {
        return PageResponse::Part(list);
    }
    let body = html! {
        div class="title" {
            h1 { "Tasks" }
            p class="lead" {
                "Calls that continue in the background, of this server and of " code { "rep run --detach" } "."
            }
        }
        div id="live" data-part="/tasks?part=1" data-on="runs" { (list) }
        p { a href="/tasks" { "Reload" } }
    };
    PageResponse::Page(PageLocation::Tasks, "Tasks".to_owned(), body)
}

fn render_list(request: &PageRequest) -> Markup {
    // The tasks of `rep run --detach` belong to the user of this machine.
    let tasks = match request.visitor.is_operator().then(|| request.dashboard.server.runtime().list_tasks()) {
        Some(Ok(tasks)) => tasks,
        Some(Err(error)) => return layout::render_alert(&error.message),
        None => Vec::new(),
    };
    let active = request.dashboard.server.active_runs(&request.visitor);
    if active.is_empty() && tasks.is_empty() {
        return html! { p class="card muted" { "No tasks." } };
    }
    html! {
        section class="card" {
            h2 { "Latest" }
            ul class="plain going" {
                @for run in &active {
                    li id={ "run-" (run.number) } {
                        @let state = if run.is_waiting { "waiting" } else { "running" };
                        (layout::render_pill("running", state)) " " b { bdi { (run.tool) } } " "
                        span class="muted" { "called by a client, " (state) " for " (run.elapsed.as_secs()) " s" }
                        (render_cancel_form(request, "run", &run.number.to_string(), &run.tool))
                    }
                }
                // Newest first.
                @for task in tasks.iter().rev().take(TASKS_MAX) { (render_task(request, task)) }
            }
        }
    }
}

fn render_task(request: &PageRequest, task: &Task) -> Markup {
    let colour = match task.state {
        TaskState::Running => "running",
        TaskState::Done => "active",
        TaskState::Cancelled => "hidden",
        TaskState::Failed | TaskState::Lost => "invalid",
    };
    let name = format!("{}:{}", task.skill, task.tool);
    let is_running = task.state == TaskState::Running;
    let state =
        format!("{}{}", task.state.name(), if task.is_cancel_requested && is_running { ", cancelling" } else { "" });
    html! {
        li id=(task.id) {
            (layout::render_pill(colour, &state)) " " b { bdi { (name) } } " "
            span class="muted" {
                code { (task.id) }
                " started " (render_time(&task.created)) ", last updated " (render_time(&task.updated))
            }
            @if is_running && !task.is_cancel_requested { (render_cancel_form(request, "task", &task.id, &name)) }
            @if let Some(result) = &task.result {
                details { summary { "Result" } (render_code_block(&truncate_at_word(&format!("{result:#}"), 4000))) }
            }
        }
    }
}

/// Renders a form that cancels a run or task by its number or id.
fn render_cancel_form(request: &PageRequest, kind: &str, id: &str, name: &str) -> Markup {
    html! {
        form method="post" action="/cancel" {
            (layout::render_form_key(request))
            input type="hidden" name="back" value="/tasks";
            input type="hidden" name=(kind) value=(id);
            button aria-label={ "Cancel " (name) } { "Cancel" }
        }
    }
}

/// Cancels a task or a run of this server.
pub(super) async fn cancel_task_or_run(
    State(dashboard): State<Arc<Dashboard>>,
    bearer: Option<Extension<BearerIdentity>>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let visitor = dashboard.visitor(bearer);
    let Some(fields) = parse_form(&dashboard, &headers, &body) else {
        return foreign_form_response(&dashboard, &headers);
    };
    if !visitor.may_run() {
        return error_response(&dashboard, &headers, StatusCode::FORBIDDEN, NEEDS_RUN_MESSAGE);
    }
    let back = if fields.get("back") == "/tasks" { "/tasks" } else { "/runs" };
    if let Some(id) = fields.non_empty("task").map(str::to_owned) {
        let runtime = Arc::clone(dashboard.server.runtime());
        // A task that the visitor may not see is answered as one that does not exist.
        let is_visible = visitor.is_operator();
        let cancel = move || if is_visible { runtime.cancel_task(&id) } else { Ok(None) };
        let cancelled = tokio::task::spawn_blocking(cancel).await;
        let failed = |status, message: &str| error_response(&dashboard, &headers, status, message);
        return match cancelled {
            Ok(Ok(Some(_))) => redirect_to(back),
            Ok(Ok(None)) => failed(StatusCode::NOT_FOUND, "This task does not exist."),
            Ok(Err(error)) => failed(StatusCode::INTERNAL_SERVER_ERROR, &error.message),
            Err(_) => failed(StatusCode::INTERNAL_SERVER_ERROR, "Internal error: could not cancel the task."),
        };
    }
    if let Some(number) = fields.parse_id("run") {
        dashboard.server.cancel_run(number, &visitor);
    }
    redirect_to(back)
}
