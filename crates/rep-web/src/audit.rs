//! The audit page: the records of runs and calls, with filters.

use maud::{Markup, html};
use rep_runtime::{CallError, RecordFilter};
use serde_json::Value;

use super::fields::{FormFields, encode_query_value};
use super::html::render_time;
use super::layout::{self, PageLocation};
use super::{PageRequest, PageResponse, runs};

/// The default and maximum number of records on a page.
const RECORDS_DEFAULT: usize = 100;
const RECORDS_MAX: usize = 1000;
const STATES: [&str; 5] = ["running", "ended", "refused", "cut short", "install"];

pub(super) fn render_page(request: &PageRequest) -> PageResponse {
    let fields = &request.fields;
    if fields.has("calls") {
        return render_calls_page(request);
    }
    let body = html! {
        div class="title" {
            h1 { "Audit" }
            p class="lead" {
                "All runs: who started them and how they ended. Arguments are recorded only as a digest. "
                code { "rep audit verify" } " checks that the records are unmodified."
            }
            (render_record_kinds(false))
        }
        form class="search" action="/audit" method="get" {
            (render_filter_fields(fields, "2h, 3d or a date"))
            div {
                label for="state" { "State" }
                select id="state" name="state" {
                    option value="" { "all" }
                    @for state in STATES { option selected[fields.get("state") == state] { (state) } }
                }
            }
            div class="check" {
                input id="denied" name="denied" type="checkbox" value="1" checked[fields.has("denied")];
                label for="denied" { "only with denials" }
            }
            button class="primary" { "Show" }
        }
        @match build_filter(fields).and_then(|filter| request.dashboard.server.runtime().list_runs(&filter)) {
            Err(error) => (layout::render_alert(&error.message)),
            Ok(page) if page.runs.is_empty() => {
                @let is_all = ["skill", "since", "state", "denied"].iter().all(|name| fields.get(name).is_empty());
                p class="card muted" { @if is_all { "No runs yet." } @else { "No matching runs." } }
            }
            Ok(page) => {
                section class="card" {
                    h2 { "Runs " span class="number" { (page.runs.len()) " of " (page.total) } }
                    (runs::render_runs_table(&page.runs))
                    (render_more_link(fields, page.total > page.runs.len(), ""))
                }
            }
        }
    };
    PageResponse::Page(PageLocation::Audit, "Audit".to_owned(), body)
}

/// Renders the page with the calls of clients.
fn render_calls_page(request: &PageRequest) -> PageResponse {
    let fields = &request.fields;
    let body = html! {
        div class="title" {
            h1 { "Audit" }
            p class="lead" {
                "The calls of clients to your servers, and their outcomes. Arguments are recorded only as a digest."
            }
            (render_record_kinds(true))
        }
        form class="search" action="/audit" method="get" {
            input type="hidden" name="calls" value="1";
            (render_filter_fields(fields, "2h, 3d, 2026-11-01"))
            button class="primary" { "Show" }
        }
        @match build_filter(fields).and_then(|filter| request.dashboard.server.runtime().list_calls(&filter)) {
            Err(error) => (layout::render_alert(&error.message)),
            Ok(page) if page.calls.is_empty() => { p class="card muted" { "No matching calls." } }
            Ok(page) => {
                section class="card" {
                    h2 { "Calls " span class="number" { (page.calls.len()) " of " (page.total) } }
                    div class="scroll" tabindex="0" {
                        table class="runs" {
                            thead {
                                tr {
                                    @for name in ["Call", "Outcome", "At", "Duration", "Client", "Token"] {
                                        th scope="col" { (name) }
                                    }
                                }
                            }
                            // Newest first.
                            tbody { @for call in page.calls.iter().rev() { (render_call_row(call)) } }
                        }
                    }
                }
                (render_more_link(fields, page.total > page.calls.len(), "calls=1&"))
            }
        }
    };
    PageResponse::Page(PageLocation::Audit, "Audit: calls".to_owned(), body)
}

/// Returns the requested number of records.
fn requested_limit(fields: &FormFields) -> usize {
    fields.parse_number("most").unwrap_or(RECORDS_DEFAULT).clamp(1, RECORDS_MAX)
}

/// Builds the filter of the requested records.
fn build_filter(fields: &FormFields) -> Result<RecordFilter, CallError> {
    let mut filter = RecordFilter::new(fields.non_empty("skill"), fields.non_empty("since"))?;
    filter.state = fields.non_empty("state").map(str::to_owned);
    filter.has_denials = fields.has("denied");
    filter.limit = Some(requested_limit(fields));
    Ok(filter)
}

/// Renders the links to the two kinds of records.
fn render_record_kinds(is_calls: bool) -> Markup {
    let link = |to: &str, name: &str, is_current: bool| {
        html! { a href=(to) aria-current=[is_current.then_some("page")] { (name) } }
    };
    html! {
        nav class="kinds" aria-label="Records" {
            (link("/audit", "Runs", !is_calls)) " " (link("/audit?calls=1", "Calls", is_calls))
        }
    }
}

/// Renders the fields that filter both kinds of records.
fn render_filter_fields(fields: &FormFields, example: &str) -> Markup {
    html! {
        div class="grow" { label for="skill" { "Skill" } input id="skill" name="skill" value=(fields.get("skill")); }
        div {
            label for="since" { "Since" }
            input id="since" name="since" value=(fields.get("since")) placeholder=(example);
        }
    }
}

/// Renders the link to more records with the same filter.
fn render_more_link(fields: &FormFields, has_more: bool, kind: &str) -> Markup {
    let value = |name: &str| encode_query_value(fields.get(name));
    let denied = if fields.has("denied") { "&denied=1" } else { "" };
    let (skill, since, state) = (value("skill"), value("since"), value("state"));
    let to = format!("/audit?{kind}skill={skill}&since={since}&state={state}{denied}&most={RECORDS_MAX}");
    html! { @if has_more && requested_limit(fields) < RECORDS_MAX { p { a href=(to) { "Show more" } } } }
}

fn render_call_row(call: &Value) -> Markup {
    let text = |field: &str| call.get(field).and_then(Value::as_str).unwrap_or_default();
    let outcome = text("outcome");
    let colour = match outcome {
        "ok" => "active",
        "asked" | "task" => "running",
        _ => "invalid",
    };
    html! {
        tr {
            td { (text("method")) " " b { bdi { (text("target")) } } }
            td { (layout::render_pill(colour, outcome)) }
            td { (render_time(text("at"))) }
            td class="amount" { (call.get("duration_ms").and_then(Value::as_u64).unwrap_or(0)) " ms" }
            td { bdi { (text("who")) } }
            td { @if !text("bearer").is_empty() { code { (text("bearer")) } } }
        }
    }
}
