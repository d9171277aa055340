//! The records of runs and of calls, with filters.

use maud::{Markup, html};
use rep_runtime::{CallError, RecordFilter};
use serde_json::Value;

use super::fields::{Fields, encode};
use super::html::moment;
use super::layout::{self, Location};
use super::{PageRequest, PageResponse, runs};

/// How many records a page shows, and the most that can be requested.
const RECORDS_SHOWN: usize = 100;
const RECORDS_MAX: usize = 1000;
const STATES: [&str; 5] = ["running", "ended", "refused", "cut short", "install"];

pub(super) fn render(request: &PageRequest) -> PageResponse {
    let fields = &request.fields;
    if fields.has("calls") {
        return render_calls(request);
    }
    let body = html! {
        div class="title" {
            h1 { "Audit" }
            p class="lead" {
                "What ran, for whom, and how it ended. Arguments are kept as a digest only; "
                code { "rep audit verify" } " proves that nobody changed it."
            }
            (record_kinds(false))
        }
        form class="search" action="/audit" method="get" {
            (filter_fields(fields, "2h, 3d or a date"))
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
        @match filter(fields).and_then(|filter| request.dashboard.server.runtime().runs(&filter)) {
            Err(error) => (layout::alert(&error.message)),
            Ok(page) if page.runs.is_empty() => {
                @let is_all = ["skill", "since", "state", "denied"].iter().all(|name| fields.get(name).is_empty());
                p class="card muted" { @if is_all { "Nothing ran yet." } @else { "No run is like that." } }
            }
            Ok(page) => {
                section class="card" {
                    h2 { "Runs " span class="number" { (page.runs.len()) " of " (page.total) } }
                    (runs::table(&page.runs, true))
                    (more_link(fields, page.total > page.runs.len(), ""))
                }
            }
        }
    };
    PageResponse::Page(Location::Audit, "Audit".to_owned(), body)
}

/// The page of what clients asked.
fn render_calls(request: &PageRequest) -> PageResponse {
    let fields = &request.fields;
    let body = html! {
        div class="title" {
            h1 { "Audit" }
            p class="lead" {
                "What clients asked this user's servers, and what came of it. Arguments are kept as a digest only."
            }
            (record_kinds(true))
        }
        form class="search" action="/audit" method="get" {
            input type="hidden" name="calls" value="1";
            (filter_fields(fields, "2h, 3d, 2026-11-01"))
            button class="primary" { "Show" }
        }
        @match filter(fields).and_then(|filter| request.dashboard.server.runtime().calls(&filter)) {
            Err(error) => (layout::alert(&error.message)),
            Ok(page) if page.calls.is_empty() => { p class="card muted" { "No call is like that." } }
            Ok(page) => {
                section class="card" {
                    h2 { "Calls " span class="number" { (page.calls.len()) " of " (page.total) } }
                    div class="scroll" tabindex="0" {
                        table class="runs" {
                            thead {
                                tr {
                                    @for name in ["Call", "Outcome", "At (UTC)", "Took", "Who"] {
                                        th scope="col" { (name) }
                                    }
                                }
                            }
                            // The newest first.
                            tbody { @for call in page.calls.iter().rev() { (call_row(call)) } }
                        }
                    }
                }
                (more_link(fields, page.total > page.calls.len(), "calls=1&"))
            }
        }
    };
    PageResponse::Page(Location::Audit, "Audit: calls".to_owned(), body)
}

/// The number of records that are requested.
fn limit(fields: &Fields) -> usize {
    fields.number("most").unwrap_or(RECORDS_SHOWN).clamp(1, RECORDS_MAX)
}

/// Which records are requested.
fn filter(fields: &Fields) -> Result<RecordFilter, CallError> {
    let mut filter = RecordFilter::new(fields.non_empty("skill"), fields.non_empty("since"))?;
    filter.state = fields.non_empty("state").map(str::to_owned);
    filter.has_denials = fields.has("denied");
    filter.limit = Some(limit(fields));
    Ok(filter)
}

/// The two kinds of records, and which is shown.
fn record_kinds(is_calls: bool) -> Markup {
    let link = |to: &str, name: &str, is_current: bool| {
        html! { a href=(to) aria-current=[is_current.then_some("page")] { (name) } }
    };
    html! {
        nav class="kinds" aria-label="Records" {
            (link("/audit", "Runs", !is_calls)) " " (link("/audit?calls=1", "Calls", is_calls))
        }
    }
}

/// The fields that both kinds of records are filtered by.
fn filter_fields(fields: &Fields, example: &str) -> Markup {
    html! {
        div class="grow" { label for="skill" { "Skill" } input id="skill" name="skill" value=(fields.get("skill")); }
        div {
            label for="since" { "Since" }
            input id="since" name="since" value=(fields.get("since")) placeholder=(example);
        }
    }
}

/// The way to more records of the same filter.
fn more_link(fields: &Fields, has_more: bool, kind: &str) -> Markup {
    let value = |name: &str| encode(fields.get(name));
    let denied = if fields.has("denied") { "&denied=1" } else { "" };
    let (skill, since, state) = (value("skill"), value("since"), value("state"));
    let to = format!("/audit?{kind}skill={skill}&since={since}&state={state}{denied}&most={RECORDS_MAX}");
    html! { @if has_more && limit(fields) < RECORDS_MAX { p { a href=(to) { "Show more" } } } }
}

fn call_row(call: &Value) -> Markup {
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
            td { (layout::pill(colour, outcome)) }
            td { (moment(text("at"))) }
            td class="amount" { (call.get("duration_ms").and_then(Value::as_u64).unwrap_or(0)) " ms" }
            // What is proven comes first.
            td { @if !text("bearer").is_empty() { b { (text("bearer")) } " " } (text("who")) }
        }
    }
}
