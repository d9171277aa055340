//! The runs page: current and past runs with live updates, and the confirmations that wait for an answer.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::Extension;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use maud::{Markup, html};
use rep_audit::{AuditRunState as RunState, AuditedRun};
use rep_mcp::{BearerIdentity, ClaimedClient, ConfirmationOutcome, DashboardAction, PendingConfirmation, redirect_to};
use rep_runtime::{RecordFilter, RunPage};
use serde_json::Value;

use super::fields::encode_query_value;
use super::html::{format_count, render_code_block, render_inline_code, render_time, truncate_at_word};
use super::layout::{self, PageLocation};
use super::{
    Dashboard, NEEDS_RUN_MESSAGE, PageRequest, PageResponse, UNRECORDED_MESSAGE, error_response, foreign_form_response,
    parse_form,
};

/// The number of denials shown for a run.
const DENIALS_SHOWN: usize = 20;

/// The number of shown items of a list in a run's details.
const DETAILS_SHOWN: usize = 50;
/// The number of runs among which those of a client are looked for.
const SEARCHED_MAX: usize = 2000;
/// The number of clients that runs can be filtered by.
const CLIENTS_SHOWN: usize = 12;

/// The number of shown runs.
const RUNS_MAX: usize = 40;

pub(super) fn render_page(request: &PageRequest) -> PageResponse {
    // Confirmations that were on the page when it was loaded stay there, answered or not, so that nothing moves while
    // the user is about to answer.
    let from = request
        .fields
        .parse_id("from")
        .unwrap_or_else(|| request.dashboard.server.confirmations().first_waiting_number());
    if request.fields.get("part") == "questions" {
        return PageResponse::Part(render_confirmations(request, from));
    }
    let list = render_list(request);
    if request.is_part() {
        return PageResponse::Part(list);
    }
    let body = html! {
        div class="title" {
            h1 { "Runs" }
            p class="lead" {
                @if request.dashboard.server.allows_runs() {
                    "Runs of this server and of " code { "rep run" } ", updated live. To run a tool, open its skill."
                } @else {
                    "Past runs of " code { "rep run" } " and other servers. This server runs no tools; start it with "
                    code { "--allow-run" } " to allow that."
                }
            }
        }
        div id="asking" data-part={ "/runs?part=questions&from=" (from) } data-on="questions" {
            (render_confirmations(request, from))
        }
        @let client = encode_query_value(request.fields.get("client"));
        div id="live" data-part={ "/runs?part=1&client=" (client) } data-on="runs" { (list) }
        p { a href={ "/runs?client=" (client) } { "Reload" } " · " a href="/audit" { "all records" } }
    };
    PageResponse::Page(PageLocation::Runs, "Runs".to_owned(), body)
}

fn render_list(request: &PageRequest) -> Markup {
    let wanted = request.fields.get("client");
    let is_filtered = !wanted.is_empty() || !request.visitor.is_operator();
    let limit = if is_filtered { SEARCHED_MAX } else { RUNS_MAX };
    let filter = RecordFilter { limit: Some(limit), ..RecordFilter::default() };
    html! {
        (render_active_runs(request))
        @match list_visible_runs(request, &filter) {
            Err(error) => (layout::render_alert(&error)),
            Ok(page) if page.runs.is_empty() => { p class="card muted" { "No runs yet." } }
            Ok(mut page) => {
                @let clients = list_clients(&page.runs);
                @let is_client = |run: &AuditedRun| wanted.is_empty() || client_name(run) == wanted;
                @let () = page.runs.retain(is_client);
                @let () = drop(page.runs.drain(..page.runs.len().saturating_sub(RUNS_MAX)));
                section class="card" {
                    h2 { "Latest " span class="number" { (page.runs.len()) " of " (page.total) } }
                    @if clients.len() > 1 || !wanted.is_empty() { (render_client_filter(wanted, &clients)) }
                    @if page.runs.is_empty() { p class="muted" { "No runs of this client." } }
                    @else { (render_runs_table(&page.runs)) }
                }
            }
        }
    }
}

/// Lists the recorded runs that the visitor may see.
fn list_visible_runs(request: &PageRequest, filter: &RecordFilter) -> Result<RunPage, String> {
    let mut page = request.dashboard.server.runtime().list_runs(filter).map_err(|error| error.message)?;
    if !request.visitor.is_operator() {
        page.runs.retain(|run| {
            let who = ClaimedClient::parse_run_record(run.text_field("who"));
            request.visitor.may_see_record(who.bearer.as_deref())
        });
        page.total = page.runs.len();
    }
    Ok(page)
}

/// Returns the name of the client that a run was made for, or of the user.
fn client_name(run: &AuditedRun) -> String {
    let who = ClaimedClient::parse_run_record(run.text_field("who"));
    who.client.or(who.user).unwrap_or_default()
}

/// Lists the clients of runs by name.
fn list_clients(runs: &[AuditedRun]) -> BTreeSet<String> {
    runs.iter().map(client_name).filter(|name| !name.is_empty()).take(SEARCHED_MAX).collect()
}

/// Renders links that show the runs of a single client.
fn render_client_filter(wanted: &str, clients: &BTreeSet<String>) -> Markup {
    html! {
        nav class="kinds" aria-label="Runs by client" {
            a href="/runs" aria-current=[wanted.is_empty().then_some("true")] { "all clients" }
            @for client in clients.iter().take(CLIENTS_SHOWN) {
                " "
                a href={ "/runs?client=" (encode_query_value(client)) } aria-current=[(client == wanted).then_some("true")] {
                    bdi { (truncate_at_word(client, 40)) }
                }
            }
        }
    }
}

/// Renders the runs in progress on this server, each with a button to cancel it.
fn render_active_runs(request: &PageRequest) -> Markup {
    let active = request.dashboard.server.active_runs(&request.visitor);
    html! {
        @if !active.is_empty() {
            section class="card" {
                h2 { "In progress" }
                ul class="plain going" data-keep {
                    @for run in &active {
                        li id={ "run-" (run.number) } {
                            (layout::render_pill("running", if run.is_waiting { "waiting" } else { "running" }))
                            " " b { bdi { (run.tool) } } " "
                            span class="muted" { "for " (run.elapsed.as_secs()) " s" }
                            form method="post" action="/cancel" {
                                (layout::render_form_key(request))
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

/// Renders runs as a table, newest first. Every row opens to the details of the run. On a small screen, every row is a
/// card; the roles preserve the table semantics that browsers drop for tables with another display style.
pub(super) fn render_runs_table(runs: &[AuditedRun]) -> Markup {
    let column = |name: &str| html! { th role="columnheader" scope="col" { (name) } };
    html! {
        div class="scroll" {
            table class="runs" role="table" {
                thead role="rowgroup" {
                    tr role="row" {
                        @for name in ["Tool", "State", "Started", "Duration", "Client", "Token"] { (column(name)) }
                    }
                }
                tbody role="rowgroup" {
                    @for run in runs.iter().rev() { (render_run_row(run)) }
                }
            }
        }
    }
}

fn render_run_row(run: &AuditedRun) -> Markup {
    let who = ClaimedClient::parse_run_record(run.text_field("who"));
    let denials = run.denials();
    let outcome = run.text_field("outcome");
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
                b { bdi { (run.text_field("skill")) ":" (run.text_field("tool")) } }
                @if !denials.is_empty() {
                    ul class="denials" {
                        @for (action, target) in denials.iter().take(DENIALS_SHOWN) {
                            li { b { "denied" } " " (action) " " code { (target) } }
                        }
                        @let more = run.denials_omitted() + denials.len().saturating_sub(DENIALS_SHOWN) as u64;
                        @if more > 0 { li { "and " (more) " more" } }
                    }
                }
                (render_run_details(run))
            }
            td role="cell" { (layout::render_pill(colour, &state)) }
            td role="cell" { (render_time(run.started_at())) }
            td role="cell" class="amount" {
                @if let Some(duration) = run.find_field("duration_ms").and_then(Value::as_u64) { (duration) " ms" }
            }
            td role="cell" data-word="for" { (render_client(&who)) }
            td role="cell" { @if let Some(bearer) = &who.bearer { code { (bearer) } } }
        }
    }
}

/// Renders the program that made a call, or the user of this machine who did.
pub(super) fn render_client(who: &ClaimedClient) -> Markup {
    html! {
        @match (&who.client, &who.user) {
            (Some(client), _) => { bdi { (truncate_at_word(client, 80)) } }
            (None, Some(user)) => { bdi { (truncate_at_word(user, 80)) } }
            (None, None) => { "unknown" }
        }
    }
}

/// Renders what the record of a run says: the error, the exit code, the written files and the sandbox.
fn render_run_details(run: &AuditedRun) -> Markup {
    let text = |name: &str| Some(run.text_field(name)).filter(|text| !text.is_empty()).map(str::to_owned);
    let list = |name: &str| {
        let items = run.find_field(name).and_then(Value::as_array)?;
        let items: Vec<&str> = items.iter().filter_map(Value::as_str).take(DETAILS_SHOWN).collect();
        Some(items.join(", ")).filter(|text| !text.is_empty())
    };
    let layers = run.find_field("layers").and_then(Value::as_object).map(|layers| {
        let layers = layers.iter().map(|(name, state)| format!("{name} {}", state.as_str().unwrap_or("?")));
        layers.collect::<Vec<_>>().join(", ")
    });
    let rows = [
        ("Message", text("message")),
        ("Exit", text("exit")),
        ("Consent", text("consent")),
        ("Written", list("written")),
        ("Sandbox", layers.filter(|layers| !layers.is_empty())),
        ("Workspace", text("workspace")),
        ("Recorded as", text("who")),
    ];
    html! {
        details {
            summary { "Details" }
            dl class="facts" {
                @for (name, value) in rows {
                    @if let Some(value) = value { dt { (name) } dd { bdi { (truncate_at_word(&value, 600)) } } }
                }
            }
            details {
                summary { "Record" }
                (render_code_block(&truncate_at_word(&format!("{:#}", run.to_json()), 6000)))
            }
        }
    }
}

/// Renders the confirmations from a number on, newest last.
fn render_confirmations(request: &PageRequest, from: u64) -> Markup {
    let all = request.dashboard.server.confirmations().list_from(from, &request.visitor);
    let is_waiting = all.iter().any(|confirmation| confirmation.outcome.is_none());
    html! {
        @if !all.is_empty() {
            section class="card asking" {
                h2 { @if is_waiting { "Waiting for your answer" } @else { "Answered" } }
                p class="muted" { "Runs that are not confirmed within ten minutes are refused." }
                (render_confirmation_list(request, &all, &html! { input type="hidden" name="from" value=(from); }))
            }
        }
    }
}

/// Renders confirmations, each with its buttons or outcome. `back` determines the page shown after the answer.
pub(super) fn render_confirmation_list(request: &PageRequest, all: &[PendingConfirmation], back: &Markup) -> Markup {
    html! {
        ul class="plain questions" data-keep {
            @for confirmation in all { (render_confirmation(request, confirmation, back)) }
        }
    }
}

/// Renders a confirmation. Its height is the same while it waits and after it ended.
fn render_confirmation(request: &PageRequest, confirmation: &PendingConfirmation, back: &Markup) -> Markup {
    let PendingConfirmation { number, tool, text, outcome, .. } = confirmation;
    html! {
        li class={ "question" @if outcome.is_some() { " ended" } } id={ "question-" (number) } tabindex="-1" {
            h3 { bdi { (tool) } }
            (render_question(text))
            div class="reply" {
                form method="post" action="/answer" data-stay inert[outcome.is_some()] {
                    (layout::render_form_key(request))
                    input type="hidden" name="question" value=(number);
                    (back)
                    button class="primary" name="answer" value="yes" id={ "yes-" (number) }
                        aria-label={ "Run once: " (tool) } { "Run once" }
                    " "
                    button name="answer" value="no" id={ "no-" (number) }
                        aria-label={ "Do not run " (tool) } { "Do not run" }
                }
                @if let Some(outcome) = outcome { p class="said" { (describe_outcome(*outcome)) } }
            }
        }
    }
}

/// Renders the question: a line, followed by the permissions of the run.
fn render_question(text: &str) -> Markup {
    let (details, lines): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with("  "));
    html! {
        @for line in lines { p { (render_inline_code(line)) } }
        ul class="words" { @for detail in details { li { (render_inline_code(detail.trim())) } } }
    }
}

/// Describes the outcome of a confirmation.
fn describe_outcome(outcome: ConfirmationOutcome) -> &'static str {
    match outcome {
        ConfirmationOutcome::Agreed => "Answered: run once.",
        ConfirmationOutcome::Declined => "Answered: do not run.",
        ConfirmationOutcome::Expired => "Not answered in time: not run.",
        ConfirmationOutcome::Withdrawn => "Cancelled by the client: not run.",
    }
}

/// Renders the notice that is on every page while confirmations wait.
pub(super) fn render_waiting_notice(request: &PageRequest, location: PageLocation) -> Markup {
    let shown = request.fields.parse_id("number").filter(|_| location == PageLocation::Call);
    let is_elsewhere = |confirmation: &&PendingConfirmation| {
        location != PageLocation::Runs && (shown.is_none() || confirmation.call != shown)
    };
    let waiting = request.dashboard.server.confirmations().list_waiting(&request.visitor);
    let count = waiting.iter().filter(is_elsewhere).count();
    let waits = if count == 1 { "A run waits".to_owned() } else { format!("{} wait", format_count(count, "run")) };
    html! {
        @if count > 0 { p class="notice" { a href="/runs" { (waits) " for your answer" } } }
    }
}

/// Renders the notice alone.
pub(super) fn render_notice_part(request: &PageRequest) -> PageResponse {
    let location = match request.fields.get("here") {
        "runs" => PageLocation::Runs,
        "call" => PageLocation::Call,
        _ => PageLocation::Elsewhere,
    };
    PageResponse::Part(render_waiting_notice(request, location))
}

/// Answers a confirmation.
pub(super) async fn answer_confirmation(
    State(dashboard): State<Arc<Dashboard>>,
    bearer: Option<Extension<BearerIdentity>>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let visitor = dashboard.visitor(bearer.clone());
    let Some(fields) = parse_form(&dashboard, &headers, &body) else {
        return foreign_form_response(&dashboard, &headers);
    };
    if !visitor.may_run() {
        return error_response(&dashboard, &headers, StatusCode::FORBIDDEN, NEEDS_RUN_MESSAGE);
    }
    let number = fields.parse_id("question").unwrap_or(0);
    let is_yes = fields.get("answer") == "yes";
    let confirmations = dashboard.server.confirmations();
    if let Some(waiting) = confirmations.list_waiting(&visitor).iter().find(|waiting| waiting.number == number) {
        let action = DashboardAction {
            bearer: bearer.as_ref().map(|Extension(bearer)| bearer),
            method: "page/answer",
            tool: &waiting.tool,
            skill: None,
            outcome: if is_yes { "yes" } else { "no" },
        };
        if !dashboard.server.record_dashboard_action(&action) {
            return error_response(&dashboard, &headers, StatusCode::SERVICE_UNAVAILABLE, UNRECORDED_MESSAGE);
        }
    }
    confirmations.answer(number, is_yes, &visitor);
    match (fields.parse_id("call"), fields.parse_id("from")) {
        (Some(call), _) => redirect_to(&format!("/call?number={call}")),
        (None, Some(from)) => redirect_to(&format!("/runs?from={from}#question-{number}")),
        (None, None) => redirect_to("/runs"),
    }
}
