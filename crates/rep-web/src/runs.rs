//! What runs and what ran, as it happens, and the confirmations that wait for an answer.

use std::sync::Arc;

use axum::Extension;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use maud::{Markup, html};
use rep_audit::{Entry, State as RunState};
use rep_mcp::{BearerIdentity, ConfirmationOutcome, DashboardAction, PendingConfirmation, redirect};
use rep_runtime::RecordFilter;

use super::html::{code_block, counted, moment, truncate, with_code};
use super::layout::{self, Location};
use super::{Dashboard, PageRequest, PageResponse, UNRECORDED, error_response, foreign_form, parse_form};

/// How many runs are shown.
const RUNS_SHOWN: usize = 40;

pub(super) fn render(request: &PageRequest) -> PageResponse {
    // Confirmations that were there when the page was loaded keep their place, answered or not: nothing below moves under
    // somebody who is about to answer it.
    let from = request.fields.id("from").unwrap_or_else(|| request.dashboard.server.confirmations().first_waiting());
    if request.fields.get("part") == "questions" {
        return PageResponse::Part(confirmations(request, from));
    }
    let list = list(request);
    if request.is_part() {
        return PageResponse::Part(list);
    }
    let body = html! {
        div class="title" {
            h1 { "Runs" }
            p class="lead" {
                @if request.dashboard.server.allows_runs() {
                    "What runs, here and by " code { "rep run" } ", as it happens. To run a tool, open its skill."
                } @else {
                    "What ran, by " code { "rep run" } " and others. This server runs nothing; "
                    code { "--allow-run" } " lets it."
                }
            }
        }
        div id="asking" data-part={ "/runs?part=questions&from=" (from) } data-on="questions" {
            (confirmations(request, from))
        }
        div id="live" data-part="/runs?part=1" data-on="runs" { (list) }
        p { a href="/runs" { "Load again" } " · " a href="/audit" { "the whole record" } }
    };
    PageResponse::Page(Location::Runs, "Runs".to_owned(), body)
}

fn list(request: &PageRequest) -> Markup {
    let filter = RecordFilter { limit: Some(RUNS_SHOWN), ..RecordFilter::default() };
    html! {
        (active_runs(request))
        @match request.dashboard.server.runtime().runs(&filter) {
            Err(error) => (layout::alert(&error.message)),
            Ok(page) if page.runs.is_empty() => { p class="card muted" { "Nothing ran yet." } }
            Ok(page) => {
                section class="card" {
                    h2 { "Latest " span class="number" { (page.runs.len()) " of " (page.total) } }
                    (table(&page.runs, false))
                }
            }
        }
    }
}

/// The runs of this server that have not ended, each with a way to cancel it.
fn active_runs(request: &PageRequest) -> Markup {
    let active = request.dashboard.server.active_runs();
    html! {
        @if !active.is_empty() {
            section class="card" {
                h2 { "Going on here" }
                ul class="plain going" data-keep {
                    @for run in &active {
                        li id={ "run-" (run.number) } {
                            (layout::pill("running", "running"))
                            " " b { bdi { (run.tool) } } " "
                            span class="muted" { "for " (run.elapsed.as_secs()) " s" }
                            form method="post" action="/cancel" {
                                (layout::form_key(request))
                                input type="hidden" name="run" value=(run.number);
                                button id={ "end-" (run.number) } aria-label={ "Cancel " (run.tool) } { "Cancel" }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Runs as a table, the newest first, with all that is recorded if wanted. On a small screen every row is a card; the roles keep
/// what browsers forget of a table that is displayed as something else.
pub(super) fn table(runs: &[Entry], has_records: bool) -> Markup {
    let column = |name: &str| html! { th role="columnheader" scope="col" { (name) } };
    html! {
        div class="scroll" {
            table class="runs" role="table" {
                thead role="rowgroup" {
                    tr role="row" {
                        @for name in ["Tool", "State", "Started (UTC)", "Took", "For"] { (column(name)) }
                    }
                }
                tbody role="rowgroup" {
                    @for run in runs.iter().rev() { (row(run, has_records)) }
                }
            }
        }
    }
}

fn row(run: &Entry, has_records: bool) -> Markup {
    let denials = run.denials();
    let outcome = run.text("outcome");
    let colour = match (run.state, outcome) {
        (RunState::Running, _) => "running",
        (RunState::Ended, "ok" | "success" | "result") => "active",
        (RunState::Refused | RunState::CutShort, _) => "untrusted",
        (RunState::Install, _) => "hidden",
        (RunState::Ended, _) => "invalid",
    };
    let state = match outcome {
        "" => run.state.name().to_owned(),
        outcome => format!("{} {outcome}", run.state.name()),
    };
    html! {
        tr role="row" {
            td role="cell" {
                b { bdi { (run.text("skill")) ":" (run.text("tool")) } }
                @if !denials.is_empty() {
                    ul class="denials" {
                        @for (action, target) in denials.iter().take(20) {
                            li { b { "denied" } " " (action) " " code { (target) } }
                        }
                    }
                }
                @if has_records {
                    details {
                        summary { "Record" }
                        (code_block(&truncate(&format!("{:#}", run.to_json()), 6000)))
                    }
                }
            }
            td role="cell" { (layout::pill(colour, &state)) }
            td role="cell" { (moment(run.at())) }
            td role="cell" class="amount" {
                @if let Some(duration) = run.field("duration_ms").and_then(serde_json::Value::as_u64) { (duration) " ms" }
            }
            td role="cell" data-word="for" { (run.text("who")) }
        }
    }
}

/// The confirmations from a number on, the newest last.
fn confirmations(request: &PageRequest, from: u64) -> Markup {
    let all = request.dashboard.server.confirmations().since(from);
    let is_waiting = all.iter().any(|confirmation| confirmation.outcome.is_none());
    html! {
        @if !all.is_empty() {
            section class="card asking" {
                h2 { @if is_waiting { "Waiting for your answer" } @else { "Answered" } }
                p class="muted" { "A run waits ten minutes, and then does not happen." }
                (confirmation_list(request, &all, &html! { input type="hidden" name="from" value=(from); }))
            }
        }
    }
}

/// Confirmations, each with its answers or its outcome. `back` says where the answer leads back to.
pub(super) fn confirmation_list(request: &PageRequest, all: &[PendingConfirmation], back: &Markup) -> Markup {
    html! {
        ul class="plain questions" data-keep {
            @for confirmation in all { (confirmation_item(request, confirmation, back)) }
        }
    }
}

/// One confirmation. It is as high when it has ended as when it waits.
fn confirmation_item(request: &PageRequest, confirmation: &PendingConfirmation, back: &Markup) -> Markup {
    let PendingConfirmation { number, tool, text, outcome, .. } = confirmation;
    html! {
        li class={ "question" @if outcome.is_some() { " ended" } } id={ "question-" (number) } tabindex="-1" {
            h3 { bdi { (tool) } }
            (question(text))
            div class="reply" {
                form method="post" action="/answer" data-stay inert[outcome.is_some()] {
                    (layout::form_key(request))
                    input type="hidden" name="question" value=(number);
                    (back)
                    button class="primary" name="answer" value="yes" id={ "yes-" (number) }
                        aria-label={ "Run " (tool) " this once" } { "Run it this once" }
                    " "
                    button name="answer" value="no" id={ "no-" (number) }
                        aria-label={ "Do not run " (tool) } { "Do not run it" }
                }
                @if let Some(outcome) = outcome { p class="said" { (outcome_text(*outcome)) } }
            }
        }
    }
}

/// The question: a line, and below it what the run may do.
fn question(text: &str) -> Markup {
    let (details, lines): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with("  "));
    html! {
        @for line in lines { p { (with_code(line)) } }
        ul class="words" { @for detail in details { li { (with_code(detail.trim())) } } }
    }
}

/// How a confirmation ended, in words.
fn outcome_text(outcome: ConfirmationOutcome) -> &'static str {
    match outcome {
        ConfirmationOutcome::Agreed => "Answered: run it this once.",
        ConfirmationOutcome::Declined => "Answered: do not run it.",
        ConfirmationOutcome::Expired => "Nobody answered in time: not run.",
        ConfirmationOutcome::Withdrawn => "Taken back by the client: not run.",
    }
}

/// The notice of every page while confirmations wait.
pub(super) fn notice(request: &PageRequest, location: Location) -> Markup {
    let shown = request.fields.id("number").filter(|_| location == Location::Call);
    let is_elsewhere = |confirmation: &&PendingConfirmation| {
        location != Location::Runs && (shown.is_none() || confirmation.call != shown)
    };
    let count = request.dashboard.server.confirmations().waiting().iter().filter(is_elsewhere).count();
    let waits = if count == 1 { "A run waits".to_owned() } else { format!("{} wait", counted(count, "run")) };
    html! {
        @if count > 0 { p class="notice" { a href="/runs" { (waits) " for your answer" } } }
    }
}

/// The notice alone.
pub(super) fn render_notice(request: &PageRequest) -> PageResponse {
    let location = match request.fields.get("here") {
        "runs" => Location::Runs,
        "call" => Location::Call,
        _ => Location::Elsewhere,
    };
    PageResponse::Part(notice(request, location))
}

/// Answers a confirmation.
pub(super) async fn answer(
    State(dashboard): State<Arc<Dashboard>>,
    bearer: Option<Extension<BearerIdentity>>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let Some(fields) = parse_form(&dashboard, &headers, &body) else { return foreign_form(&dashboard, &headers) };
    let number = fields.id("question").unwrap_or(0);
    let is_yes = fields.get("answer") == "yes";
    let confirmations = dashboard.server.confirmations();
    if let Some(waiting) = confirmations.waiting().iter().find(|waiting| waiting.number == number) {
        let action = DashboardAction {
            bearer: bearer.as_ref().map(|Extension(bearer)| bearer),
            method: "page/answer",
            tool: &waiting.tool,
            skill: None,
            outcome: if is_yes { "yes" } else { "no" },
        };
        if !dashboard.server.record_dashboard_action(&action) {
            return error_response(&dashboard, &headers, StatusCode::SERVICE_UNAVAILABLE, UNRECORDED);
        }
    }
    confirmations.answer(number, is_yes);
    match (fields.id("call"), fields.id("from")) {
        (Some(call), _) => redirect(&format!("/call?number={call}")),
        (None, Some(from)) => redirect(&format!("/runs?from={from}#question-{number}")),
        (None, None) => redirect("/runs"),
    }
}
