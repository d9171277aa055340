//! Calls that go on after their answer, each with a way to end it.

use std::sync::{Arc, PoisonError};

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;

use super::html::{Html, cut, html, moment, put};
use super::layout::{self, Here};
use super::{Asked, Shown, Web};
use crate::office::Task;

/// How many tasks are shown.
const TASKS_SHOWN: usize = 100;

pub(super) fn show(asked: &Asked) -> Shown {
    let list = list(asked);
    if asked.is_part() {
        return Shown::Part(list);
    }
    let body = html!(
        "<div class=\"title\"><h1>Tasks</h1><p class=\"lead\">Calls that go on after their answer: of this server, and of <code>rep run --detach</code>.</p></div>\
         <div id=\"live\" data-part=\"/tasks?part=1\" data-on=\"runs\">{}</div><p><a href=\"/tasks\">Load again</a></p>",
        list
    );
    Shown::Page(Here::Tasks, "Tasks".to_owned(), body)
}

fn list(asked: &Asked) -> Html {
    let tasks = match asked.web.office.tasks() {
        Ok(tasks) => tasks,
        Err(reason) => return layout::trouble(&reason),
    };
    let mut rows = Html::default();
    {
        let running = asked.web.shared.running.lock().unwrap_or_else(PoisonError::into_inner);
        for (number, going) in running.iter() {
            put!(
                rows,
                "<li id=\"run-{}\"><span class=\"pill running\">running</span> <b><bdi>{}</bdi></b> <span class=\"muted\">for a client of this server, for {} s</span>{}</li>",
                *number,
                going.tool,
                going.since.elapsed().as_secs(),
                cancel_form(asked, &html!("<input type=\"hidden\" name=\"run\" value=\"{}\">", *number), &going.tool)
            );
        }
    }
    tasks.iter().take(TASKS_SHOWN).for_each(|task| put!(rows, "{}", row(asked, task)));
    if rows.is_empty() {
        return html!("<p class=\"card muted\">There are no tasks.</p>");
    }
    html!("<section class=\"card\"><h2>Latest</h2><ul class=\"plain going\">{}</ul></section>", rows)
}

fn row(asked: &Asked, task: &Task) -> Html {
    let colour = match task.state {
        "running" => "running",
        "done" => "active",
        "cancelled" => "hidden",
        _ => "invalid",
    };
    let name = format!("{}:{}", task.skill, task.tool);
    let wanted = if task.is_cancel_wanted && task.is_running { ", asked to end" } else { "" };
    let form = if task.is_running && !task.is_cancel_wanted {
        cancel_form(asked, &html!("<input type=\"hidden\" name=\"task\" value=\"{}\">", task.id), &name)
    } else {
        Html::default()
    };
    let result = task.result.as_ref().map(|result| {
        html!(
            "<details><summary>Result</summary><pre tabindex=\"0\"><code>{}</code></pre></details>",
            cut(&format!("{result:#}"), 4000)
        )
    });
    html!(
        "<li id=\"{}\"><span class=\"pill {}\">{}{}</span> <b><bdi>{}</bdi></b> <span class=\"muted\"><code>{}</code> since {} UTC, last change {} UTC</span>{}{}</li>",
        task.id,
        colour,
        task.state,
        wanted,
        name,
        task.id,
        moment(&task.created),
        moment(&task.updated),
        form,
        result
    )
}

fn cancel_form(asked: &Asked, what: &Html, name: &str) -> Html {
    html!(
        "<form method=\"post\" action=\"/cancel\"><input type=\"hidden\" name=\"key\" value=\"{}\"><input type=\"hidden\" name=\"back\" value=\"/tasks\">{}\
         <button aria-label=\"Cancel {}\">Cancel</button></form>",
        asked.key,
        *what,
        name
    )
}

/// Asks for the end of a task, or of a run of this server.
pub(super) async fn cancel(State(web): State<Arc<Web>>, headers: HeaderMap, body: Bytes) -> Response {
    let Some(fields) = super::form(&web, &headers, &body) else { return super::not_ours(&web, &headers) };
    let back = if fields.get("back") == "/tasks" { "/tasks" } else { "/runs" };
    if let Some(id) = fields.some("task") {
        let office = Arc::clone(&web.office);
        let done = tokio::task::spawn_blocking(move || office.cancel(&id)).await;
        let sorry = |status, words: &str| super::sorry(&web, &headers, status, words);
        return match done {
            Ok(Ok(Some(_))) => super::onward(back),
            Ok(Ok(None)) => sorry(StatusCode::NOT_FOUND, "There is no such task."),
            Ok(Err(reason)) => sorry(StatusCode::INTERNAL_SERVER_ERROR, &reason),
            Err(_) => sorry(StatusCode::INTERNAL_SERVER_ERROR, "The server failed at this."),
        };
    }
    let number = fields.number("run").unwrap_or(usize::MAX) as u64;
    let stop = {
        let running = web.shared.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.get(&number).map(|going| going.stop.clone())
    };
    // One that has ended by now needs no end.
    if let Some(stop) = stop {
        stop.stop();
    }
    web.shared.desk.changed();
    super::onward(back)
}
