//! Calls that continue after their answer, each with a way to cancel it.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use maud::{Markup, html};
use rep_mcp::redirect;
use rep_runtime::task::{State as TaskState, Task};

use super::html::{code_block, moment, truncate};
use super::layout::{self, Location};
use super::{Dashboard, PageRequest, PageResponse, error_response, foreign_form, parse_form};

/// How many tasks are shown.
const TASKS_SHOWN: usize = 100;

pub(super) fn render(request: &PageRequest) -> PageResponse {
    let list = list(request);
    if request.is_part() {
        return PageResponse::Part(list);
    }
    let body = html! {
        div class="title" {
            h1 { "Tasks" }
            p class="lead" {
                "Calls that go on after their answer: of this server, and of " code { "rep run --detach" } "."
            }
        }
        div id="live" data-part="/tasks?part=1" data-on="runs" { (list) }
        p { a href="/tasks" { "Load again" } }
    };
    PageResponse::Page(Location::Tasks, "Tasks".to_owned(), body)
}

fn list(request: &PageRequest) -> Markup {
    let tasks = match request.dashboard.server.runtime().tasks() {
        Ok(tasks) => tasks,
        Err(error) => return layout::alert(&error.message),
    };
    let active = request.dashboard.server.active_runs();
    if active.is_empty() && tasks.is_empty() {
        return html! { p class="card muted" { "There are no tasks." } };
    }
    html! {
        section class="card" {
            h2 { "Latest" }
            ul class="plain going" {
                @for run in &active {
                    li id={ "run-" (run.number) } {
                        (layout::pill("running", "running")) " " b { bdi { (run.tool) } } " "
                        span class="muted" { "for a client of this server, for " (run.elapsed.as_secs()) " s" }
                        (cancel_form(request, "run", &run.number.to_string(), &run.tool))
                    }
                }
                // The newest first.
                @for task in tasks.iter().rev().take(TASKS_SHOWN) { (task_item(request, task)) }
            }
        }
    }
}

fn task_item(request: &PageRequest, task: &Task) -> Markup {
    let colour = match task.state {
        TaskState::Running => "running",
        TaskState::Done => "active",
        TaskState::Cancelled => "hidden",
        TaskState::Failed | TaskState::Lost => "invalid",
    };
    let name = format!("{}:{}", task.skill, task.tool);
    let is_running = task.state == TaskState::Running;
    let state =
        format!("{}{}", task.state.name(), if task.is_cancel_wanted && is_running { ", asked to end" } else { "" });
    html! {
        li id=(task.id) {
            (layout::pill(colour, &state)) " " b { bdi { (name) } } " "
            span class="muted" {
                code { (task.id) } " since " (moment(&task.created)) " UTC, last change " (moment(&task.updated)) " UTC"
            }
            @if is_running && !task.is_cancel_wanted { (cancel_form(request, "task", &task.id, &name)) }
            @if let Some(result) = &task.result {
                details { summary { "Result" } (code_block(&truncate(&format!("{result:#}"), 4000))) }
            }
        }
    }
}

/// A form that cancels a run or a task, by its number or id.
fn cancel_form(request: &PageRequest, kind: &str, id: &str, name: &str) -> Markup {
    html! {
        form method="post" action="/cancel" {
            (layout::form_key(request))
            input type="hidden" name="back" value="/tasks";
            input type="hidden" name=(kind) value=(id);
            button aria-label={ "Cancel " (name) } { "Cancel" }
        }
    }
}

/// Cancels a task, or a run of this server.
pub(super) async fn cancel(State(dashboard): State<Arc<Dashboard>>, headers: HeaderMap, body: Bytes) -> Response {
    let Some(fields) = parse_form(&dashboard, &headers, &body) else { return foreign_form(&dashboard, &headers) };
    let back = if fields.get("back") == "/tasks" { "/tasks" } else { "/runs" };
    if let Some(id) = fields.non_empty("task").map(str::to_owned) {
        let runtime = Arc::clone(dashboard.server.runtime());
        let cancelled = tokio::task::spawn_blocking(move || runtime.cancel_task(&id)).await;
        let failed = |status, message: &str| error_response(&dashboard, &headers, status, message);
        return match cancelled {
            Ok(Ok(Some(_))) => redirect(back),
            Ok(Ok(None)) => failed(StatusCode::NOT_FOUND, "There is no such task."),
            Ok(Err(error)) => failed(StatusCode::INTERNAL_SERVER_ERROR, &error.message),
            Err(_) => failed(StatusCode::INTERNAL_SERVER_ERROR, "The server failed at this."),
        };
    }
    if let Some(number) = fields.id("run") {
        dashboard.server.cancel_run(number);
    }
    redirect(back)
}
