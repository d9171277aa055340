//! The overview page for operators: who is connected, how fast and how well calls are answered, and what is not listed.

use std::time::Duration;

use maud::{Markup, html};
use rep_mcp::{ActiveClient, ServerOverview, UnservedSkill};

use super::html::{format_byte_size, format_count, group_thousands, render_inline_code, truncate_at_word};
use super::layout::{self, PageLocation};
use super::library_query::NOT_LISTED;
use super::{PageRequest, PageResponse};

/// The maximum number of shown clients and skills.
const CLIENTS_MAX: usize = 50;
const SKILLS_MAX: usize = 50;

pub(super) fn render_page(request: &PageRequest) -> PageResponse {
    if !request.visitor.is_operator() {
        let body = html! {
            div class="title" { h1 { "Overview" } }
            p class="card muted" { "The overview names all clients. It needs a token with the scope " code { "admin" } "." }
        };
        return PageResponse::Page(PageLocation::Overview, "Overview".to_owned(), body);
    }
    let state = render_state(request);
    if request.is_part() {
        return PageResponse::Part(state);
    }
    let body = html! {
        div class="title" {
            h1 { "Overview" }
            p class="lead" {
                "The state of this server. Monitoring systems read " a href="/metrics" { "the same numbers" } "."
            }
        }
        div id="live" data-part="/overview?part=1" data-on="alive" { (state) }
        p { a href="/overview" { "Reload" } }
    };
    PageResponse::Page(PageLocation::Overview, "Overview".to_owned(), body)
}

fn render_state(request: &PageRequest) -> Markup {
    let overview = request.dashboard.server.overview();
    html! {
        (render_numbers(&overview))
        (render_clients(&overview.clients))
        div class="columns halves" {
            (render_server(request, &overview))
            (render_refusals(&overview))
        }
        (render_unserved_skills(request, &overview.unserved_skills))
    }
}

/// Renders the numbers that change most.
fn render_numbers(overview: &ServerOverview) -> Markup {
    let latency = overview.latency.map(|latency| (format_duration(latency.median), format_duration(latency.p95)));
    let (median, p95) = latency.unwrap_or_else(|| ("–".to_owned(), "–".to_owned()));
    let is_failing = overview.error_share > 0.05;
    let tiles = [
        ("active", format!("{:.1}", overview.calls_per_second), "calls per second"),
        (if is_failing { "error" } else { "active" }, format!("{:.1} %", overview.error_share * 100.0), "failed calls"),
        ("hidden", median, "median latency"),
        ("hidden", p95, "95 % are faster"),
        ("", group_large(overview.calls), "calls since the start"),
        ("", group_large(overview.errors), "of them failed"),
    ];
    html! {
        ul class="tiles" aria-label="Calls, the first four of the last minute" {
            @for (colour, value, label) in tiles {
                li { div class={ "tile " (colour) } { b { (value) } span { (label) } } }
            }
        }
    }
}

fn render_clients(clients: &[ActiveClient]) -> Markup {
    let has_tokens = clients.iter().any(|client| client.bearer.is_some());
    html! {
        section class="card" {
            h2 { "Clients " span class="number" { (clients.len()) } }
            @if clients.is_empty() {
                p class="muted" { "No client has called yet. " a href="/connect" { "How to connect one" } }
            } @else {
                div class="scroll" tabindex="0" role="region" aria-label="Clients" {
                    table class="dense" {
                        thead {
                            tr {
                                th scope="col" { "Client" }
                                @if has_tokens { th scope="col" { "Token" } }
                                th scope="col" { "Revision" }
                                th scope="col" { "Calls" }
                                th scope="col" { "Failed" }
                                th scope="col" { "Last call" }
                            }
                        }
                        tbody {
                            @for client in clients.iter().take(CLIENTS_MAX) {
                                tr {
                                    td { bdi { (truncate_at_word(&client.name, 60)) } }
                                    @if has_tokens { td { @if let Some(bearer) = &client.bearer { code { (bearer) } } } }
                                    td { (client.revision) }
                                    td class="amount" { (group_large(client.calls)) }
                                    td class="amount" { (group_large(client.errors)) }
                                    td class="amount" { (format_age(client.last_seen)) }
                                }
                            }
                        }
                    }
                }
                p class="match" { "Names are those that clients report. They are not verified." }
            }
        }
    }
}

fn render_server(request: &PageRequest, overview: &ServerOverview) -> Markup {
    let server = &request.dashboard.server;
    let reloads = match overview.last_reload {
        Some(age) => format!("{}, the last {}", group_large(overview.reloads), format_age(age)),
        None => "none since the start".to_owned(),
    };
    let record = match &overview.record {
        None => "calls are not recorded".to_owned(),
        Some(record) if record.can_record => format_byte_size(record.bytes),
        Some(record) => {
            format!("{}, and calls are refused because nothing can be written", format_byte_size(record.bytes))
        }
    };
    let watching = if overview.is_watching { "yes" } else { "no: restart the server after changes" };
    let rows = [
        ("Started", format_age(overview.uptime)),
        ("Version", server.version().to_owned()),
        ("Skills", format!("{} active of {}", request.view.active.len(), request.view.catalog.entries.len())),
        ("Watching for changes", watching.to_owned()),
        ("Reloads", reloads),
        ("Record of calls", record),
        ("Sessions (2025-11-25)", overview.sessions.to_string()),
        ("Runs in progress", server.active_runs(&request.visitor).len().to_string()),
        ("Runs", if server.allows_runs() { "allowed" } else { "not allowed (--allow-run)" }.to_owned()),
    ];
    html! {
        section class="card" {
            h2 { "Server" }
            @if overview.is_ending { p class="alert" { "The server is shutting down." } }
            dl class="facts" { @for (name, value) in rows { dt { (name) } dd { (value) } } }
        }
    }
}

fn render_refusals(overview: &ServerOverview) -> Markup {
    html! {
        section class="card" {
            h2 { "Refused requests" }
            @if overview.refusals.is_empty() {
                p class="muted" { "None since the start." }
            } @else {
                dl class="facts" {
                    @for (status, count) in &overview.refusals {
                        dt { (status) " " (status_meaning(*status)) }
                        dd { (group_large(*count)) }
                    }
                }
            }
        }
    }
}

/// Renders the skills that clients cannot list, with the reason.
fn render_unserved_skills(request: &PageRequest, skills: &[UnservedSkill]) -> Markup {
    html! {
        @if !skills.is_empty() {
            section class="card" {
                h2 { "Skills that clients cannot list " span class="number" { (skills.len()) } }
                ul class="words" {
                    @for skill in skills.iter().take(SKILLS_MAX) {
                        li {
                            a href=(layout::skill_address(&request.view.catalog, skill.index)) {
                                bdi { (truncate_at_word(&skill.name, 80)) }
                            }
                            ": " (render_inline_code(&truncate_at_word(&skill.reason, 300)))
                            @if skill.is_loadable { span class="muted" { " (can still be loaded by name)" } }
                        }
                    }
                }
                @if skills.len() > SKILLS_MAX {
                    p { a href={ "/?status=" (NOT_LISTED.replace(' ', "+")) "&view=table" } { "All of them" } }
                }
            }
        }
    }
}

/// Returns what a status of a refused request means.
fn status_meaning(status: u16) -> &'static str {
    match status {
        400 => "malformed",
        401 => "no accepted token",
        403 => "foreign host or origin",
        405 => "wrong method",
        406 | 415 => "wrong content type",
        408 => "too slow",
        413 => "too large",
        429 => "too many requests",
        503 => "overloaded or ending",
        _ => "",
    }
}

fn group_large(number: u64) -> String {
    group_thousands(usize::try_from(number).unwrap_or(usize::MAX))
}

/// Formats a short duration.
fn format_duration(duration: Duration) -> String {
    let ms = duration.as_secs_f64() * 1000.0;
    match ms {
        ms if ms < 10.0 => format!("{ms:.1} ms"),
        ms if ms < 1000.0 => format!("{ms:.0} ms"),
        ms => format!("{:.1} s", ms / 1000.0),
    }
}

/// Formats how long ago something was.
fn format_age(age: Duration) -> String {
    let seconds = usize::try_from(age.as_secs()).unwrap_or(usize::MAX);
    let (count, unit) = match seconds {
        0..60 => (seconds, "second"),
        60..3600 => (seconds / 60, "minute"),
        3600..86_400 => (seconds / 3600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    format!("{} ago", format_count(count, unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_unit_that_fits() {
        let ages = [5, 61, 7200, 200_000].map(|seconds| format_age(Duration::from_secs(seconds)));
        assert_eq!(ages, ["5 seconds ago", "1 minute ago", "2 hours ago", "2 days ago"]);
        let durations = [250, 42_000, 3_100_000].map(|us| format_duration(Duration::from_micros(us)));
        assert_eq!(durations, ["0.2 ms", "42 ms", "3.1 s"]);
    }
}
