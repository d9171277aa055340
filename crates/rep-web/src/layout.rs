//! The frame of every page, and what all pages share: style and script, whose names change with their content, so that browsers may
//! cache them forever.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use maud::{DOCTYPE, Markup, html};
use rep_library::{Catalog, CatalogEntry, Status};
use rep_mcp::{digest, plain_response};

use super::fields::encode;
use super::html::with_code;
use super::{Dashboard, PageRequest, file_response, runs};

/// A file that browsers load.
pub(crate) struct Asset {
    name: String,
    text: &'static str,
}

impl Asset {
    pub(crate) fn new(name: &str, ending: &str, text: &'static str) -> Self {
        let digest = digest(text.as_bytes());
        Self { name: format!("{name}-{}.{ending}", &digest[7..19]), text }
    }
}

/// Serves style and script.
pub(super) async fn asset(State(dashboard): State<Arc<Dashboard>>, Path(name): Path<String>) -> Response {
    const FOREVER: &str = "public, max-age=31536000, immutable";
    if name == dashboard.style.name {
        return file_response("text/css; charset=utf-8", FOREVER, dashboard.style.text);
    }
    if name == dashboard.script.name {
        return file_response("text/javascript; charset=utf-8", FOREVER, dashboard.script.text);
    }
    plain_response(StatusCode::NOT_FOUND, "there is no such file")
}

/// Which page it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Location {
    Library,
    Try,
    Costs,
    Graph,
    Runs,
    Call,
    Tasks,
    Audit,
    Elsewhere,
}

const NAVIGATION: [(Location, &str, &str); 7] = [
    (Location::Library, "/", "Library"),
    (Location::Try, "/try", "Try it"),
    (Location::Costs, "/costs", "Costs"),
    (Location::Graph, "/graph", "Graph"),
    (Location::Runs, "/runs", "Runs"),
    (Location::Tasks, "/tasks", "Tasks"),
    (Location::Audit, "/audit", "Audit"),
];

/// The icon, which needs no file.
const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect width='32' height='32' rx='8' fill='%234338ca'/%3E%3Cpath d='M9 8v16M14 10v14M19 8v16M23 11l2 13' stroke='%23fff' stroke-width='3' stroke-linecap='round'/%3E%3C/svg%3E";

fn document(request: &PageRequest, title: &str, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · Repertoire" }
                link rel="stylesheet" href={ "/assets/" (request.dashboard.style.name) };
                link rel="icon" href=(ICON);
                script src={ "/assets/" (request.dashboard.script.name) } defer {}
            }
            (body)
        }
    }
}

/// A whole page.
pub(super) fn page(request: &PageRequest, location: Location, title: &str, body: &Markup) -> Markup {
    let is_current = |page: Location| page == location || page == Location::Runs && location == Location::Call;
    // A page that shows confirmations need not say that they wait.
    let place = match location {
        Location::Runs => "&here=runs".to_owned(),
        Location::Call => format!("&here=call&number={}", request.fields.number("number").unwrap_or(0)),
        _ => String::new(),
    };
    let frame = html! {
        body {
            a class="skip" href="#main" { "Skip to content" }
            header class="top" {
                div class="bar" {
                    a class="brand" href="/" {
                        svg viewBox="0 0 32 32" aria-hidden="true" width="22" height="22" {
                            rect width="32" height="32" rx="8" {}
                            path d="M9 8v16M14 10v14M19 8v16M23 11l2 13" {}
                        }
                        "Repertoire"
                    }
                    nav aria-label="Pages" {
                        ul {
                            @for (page, path, name) in NAVIGATION {
                                li { a href=(path) aria-current=[is_current(page).then_some("page")] { (name) } }
                            }
                        }
                    }
                    @if request.dashboard.sessions.is_required {
                        form class="out" method="post" action="/sign-out" {
                            (form_key(request))
                            button class="quiet" { "Sign out" }
                        }
                    }
                }
            }
            main id="main" tabindex="-1" { (body) }
            div id="notices" {
                div role="status" aria-live="polite" data-part={ "/questions?part=1" (place) } data-on="questions" {
                    (runs::notice(request, location))
                }
            }
            footer {
                p {
                    "Repertoire " (request.dashboard.server.version()) " · "
                    (request.view.active.len()) " active of " (request.view.catalog.entries.len()) " skills · "
                    a href="/metrics" { "metrics" } " · "
                    a href="/.well-known/agent-skills/index.json" { "index" }
                }
            }
        }
    };
    document(request, title, &frame)
}

/// A page for somebody who is not signed in.
pub(super) fn bare_page(request: &PageRequest, title: &str, body: &Markup) -> Markup {
    let frame = html! { body class="bare" { main id="main" tabindex="-1" { (body) } } };
    document(request, title, &frame)
}

/// The hidden field by which the server recognizes its own forms.
pub(super) fn form_key(request: &PageRequest) -> Markup {
    html! { input type="hidden" name="key" value=(request.form_key); }
}

/// A small label with a colour.
pub(super) fn pill(colour: &str, text: &str) -> Markup {
    html! { span class={ "pill " (colour) } { (text) } }
}

/// The status of a skill.
pub(super) fn status(status: Status) -> Markup {
    html! { span class={ "pill " (status.name()) } title=(meaning(status)) { (status.name()) } }
}

/// What a status means, in a few words.
pub(super) fn meaning(status: Status) -> &'static str {
    match status {
        Status::Active => "models may choose it",
        Status::Hidden => "people call it, models do not",
        Status::Shadowed => "another skill of its name wins",
        Status::Invalid => "it cannot be loaded as it is",
        Status::Untrusted => "nobody trusts it yet",
        Status::Disabled => "it is switched off",
    }
}

/// The address of an entry's page.
pub(super) fn address(catalog: &Catalog, index: usize) -> String {
    let entry = &catalog.entries[index];
    // Entries with the same name are adjacent.
    let copy =
        catalog.entries[..index].iter().rev().take_while(|other| other.qualified_name == entry.qualified_name).count();
    let copy = if copy == 0 { String::new() } else { format!("&copy={copy}") };
    format!("/skill?name={}{copy}", encode(&entry.qualified_name))
}

/// A link to an entry's page.
pub(super) fn skill_link(catalog: &Catalog, index: usize) -> Markup {
    html! { a href=(address(catalog, index)) { bdi { (catalog.entries[index].qualified_name) } } }
}

/// The entry that an address names.
pub(super) fn find_entry(request: &PageRequest) -> Option<(usize, &CatalogEntry)> {
    let name = request.fields.get("name");
    let entries = &request.view.catalog.entries;
    let first = entries.partition_point(|entry| entry.qualified_name.as_str() < name);
    let index = first.checked_add(request.fields.number("copy").unwrap_or(0))?;
    entries.get(index).filter(|entry| entry.qualified_name == name).map(|entry| (index, entry))
}

/// Whether the text of a skill is withheld: the skill is not trusted or, if it is invalid, its project is not.
pub(super) fn is_withheld(request: &PageRequest, entry: &CatalogEntry) -> bool {
    let entries = &request.view.catalog.entries;
    let is_trusted =
        |other: &CatalogEntry| other.is_in_project && matches!(other.status, Status::Active | Status::Hidden);
    match entry.status {
        Status::Untrusted => true,
        Status::Invalid => entry.is_in_project && !entries.iter().any(is_trusted),
        _ => false,
    }
}

/// An error message.
pub(super) fn alert(message: &str) -> Markup {
    html! { p class="alert bad" role="alert" { (with_code(message)) } }
}
