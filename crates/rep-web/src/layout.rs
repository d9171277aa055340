//! The frame of every page, and the style and script that all pages share. The names of both change with their content,
//! so that browsers can cache them forever.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use maud::{DOCTYPE, Markup, html};
use rep_library::{Catalog, CatalogEntry, SkillStatus};
use rep_mcp::{plain_response, sha256_digest};

use super::fields::encode_query_value;
use super::html::render_inline_code;
use super::{Dashboard, PageRequest, file_response, runs};

/// A file that browsers load.
pub(crate) struct PageAsset {
    name: String,
    text: &'static str,
}

impl PageAsset {
    pub(crate) fn new(name: &str, ending: &str, text: &'static str) -> Self {
        let digest = sha256_digest(text.as_bytes());
        Self { name: format!("{name}-{}.{ending}", &digest[7..19]), text }
    }
}

/// Serves the style and the script.
pub(super) async fn serve_asset(State(dashboard): State<Arc<Dashboard>>, Path(name): Path<String>) -> Response {
    const FOREVER: &str = "public, max-age=31536000, immutable";
    if name == dashboard.style.name {
        return file_response("text/css; charset=utf-8", FOREVER, dashboard.style.text);
    }
    if name == dashboard.script.name {
        return file_response("text/javascript; charset=utf-8", FOREVER, dashboard.script.text);
    }
    plain_response(StatusCode::NOT_FOUND, "this file does not exist")
}

/// The location of a page in the navigation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum PageLocation {
    Library,
    Try,
    Costs,
    Graph,
    Runs,
    Call,
    Tasks,
    Audit,
    Overview,
    Connect,
    Elsewhere,
}

const NAVIGATION: [(PageLocation, &str, &str); 9] = [
    (PageLocation::Library, "/", "Library"),
    (PageLocation::Try, "/try", "Try it"),
    (PageLocation::Runs, "/runs", "Runs"),
    (PageLocation::Tasks, "/tasks", "Tasks"),
    (PageLocation::Audit, "/audit", "Audit"),
    (PageLocation::Costs, "/costs", "Costs"),
    (PageLocation::Graph, "/graph", "Graph"),
    (PageLocation::Overview, "/overview", "Overview"),
    (PageLocation::Connect, "/connect", "Connect"),
];

/// The icon, as a data URL.
const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect width='32' height='32' rx='8' fill='%234338ca'/%3E%3Cpath d='M9 8v16M14 10v14M19 8v16M23 11l2 13' stroke='%23fff' stroke-width='3' stroke-linecap='round'/%3E%3C/svg%3E";

fn render_document(request: &PageRequest, title: &str, body: &Markup) -> Markup {
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

/// Renders a complete page.
pub(super) fn render_page(request: &PageRequest, location: PageLocation, title: &str, body: &Markup) -> Markup {
    let is_current =
        |page: PageLocation| page == location || page == PageLocation::Runs && location == PageLocation::Call;
    // A page that shows confirmations does not also need the notice that they wait.
    let place = match location {
        PageLocation::Runs => "&here=runs".to_owned(),
        PageLocation::Call => format!("&here=call&number={}", request.fields.parse_number("number").unwrap_or(0)),
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
                            (render_form_key(request))
                            button class="quiet" { "Sign out" }
                        }
                    }
                }
            }
            main id="main" tabindex="-1" { (body) }
            div id="notices" {
                div role="status" aria-live="polite" data-part={ "/questions?part=1" (place) } data-on="questions" {
                    (runs::render_waiting_notice(request, location))
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
    render_document(request, title, &frame)
}

/// Renders a page for a user who is not signed in.
pub(super) fn render_bare_page(request: &PageRequest, title: &str, body: &Markup) -> Markup {
    let frame = html! { body class="bare" { main id="main" tabindex="-1" { (body) } } };
    render_document(request, title, &frame)
}

/// Renders the hidden field that identifies the server's own forms.
pub(super) fn render_form_key(request: &PageRequest) -> Markup {
    html! { input type="hidden" name="key" value=(request.form_key); }
}

/// Renders a small colored label.
pub(super) fn render_pill(colour: &str, text: &str) -> Markup {
    html! { span class={ "pill " (colour) } { (text) } }
}

/// Renders the status of a skill.
pub(super) fn render_status(status: SkillStatus) -> Markup {
    html! { span class={ "pill " (status.name()) } title=(status_meaning(status)) { (status.name()) } }
}

/// Describes a status in a few words.
pub(super) fn status_meaning(status: SkillStatus) -> &'static str {
    match status {
        SkillStatus::Active => "models can use it",
        SkillStatus::Hidden => "users can invoke it, models cannot",
        SkillStatus::Shadowed => "another skill with the same name takes precedence",
        SkillStatus::Invalid => "it cannot be loaded",
        SkillStatus::Untrusted => "you have not trusted it yet",
        SkillStatus::Disabled => "it is disabled",
    }
}

/// Returns the path of an entry's page.
pub(super) fn skill_address(catalog: &Catalog, index: usize) -> String {
    let entry = &catalog.entries[index];
    // Entries with the same name are adjacent.
    let copy =
        catalog.entries[..index].iter().rev().take_while(|other| other.qualified_name == entry.qualified_name).count();
    let copy = if copy == 0 { String::new() } else { format!("&copy={copy}") };
    format!("/skill?name={}{copy}", encode_query_value(&entry.qualified_name))
}

/// Renders a link to an entry's page.
pub(super) fn render_skill_link(catalog: &Catalog, index: usize) -> Markup {
    html! { a href=(skill_address(catalog, index)) { bdi { (catalog.entries[index].qualified_name) } } }
}

/// Finds the entry that the request names.
pub(super) fn find_entry(request: &PageRequest) -> Option<(usize, &CatalogEntry)> {
    let name = request.fields.get("name");
    let entries = &request.view.catalog.entries;
    let first = entries.partition_point(|entry| entry.qualified_name.as_str() < name);
    let index = first.checked_add(request.fields.parse_number("copy").unwrap_or(0))?;
    entries.get(index).filter(|entry| entry.qualified_name == name).map(|entry| (index, entry))
}

/// Whether the text of a skill is withheld: the skill is untrusted, or it is invalid and its project is untrusted.
pub(super) fn is_withheld(request: &PageRequest, entry: &CatalogEntry) -> bool {
    let entries = &request.view.catalog.entries;
    let is_trusted =
        |other: &CatalogEntry| other.is_in_project && matches!(other.status, SkillStatus::Active | SkillStatus::Hidden);
    match entry.status {
        SkillStatus::Untrusted => true,
        SkillStatus::Invalid => entry.is_in_project && !entries.iter().any(is_trusted),
        _ => false,
    }
}

/// Renders text that is meant to be copied. `page.js` adds a button that copies it.
pub(super) fn render_copyable(text: &str) -> Markup {
    html! { div class="copyable" data-copy { pre tabindex="0" { code { (text) } } } }
}

/// Returns why clients cannot list a skill, or `None` if they can.
pub(super) fn unserved_reason(request: &PageRequest, index: usize) -> Option<&str> {
    // The list is sorted by index.
    let unserved = request.view.unserved_skills();
    let found = unserved.binary_search_by_key(&index, |skill| skill.index).ok()?;
    Some(&unserved[found].reason)
}

/// Renders an error message.
pub(super) fn render_alert(message: &str) -> Markup {
    html! { p class="alert bad" role="alert" { (render_inline_code(message)) } }
}
