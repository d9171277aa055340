//! What stands around every page, and what belongs to all of them: style and script, under names that change with what
//! they hold, so that browsers may keep them for good.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;

use super::fields::encoded;
use super::html::{Html, html, put, worded};
use super::{Asked, Web, plain, sent};
use crate::shelf::digest;
use rep_library::{Catalog, CatalogEntry, Status};

/// A file of ours that browsers load.
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

/// Answers for style and script.
pub(super) async fn asset(State(web): State<Arc<Web>>, Path(name): Path<String>) -> Response {
    const FOR_GOOD: &str = "public, max-age=31536000, immutable";
    if name == web.style.name {
        return sent("text/css; charset=utf-8", FOR_GOOD, web.style.text);
    }
    if name == web.script.name {
        return sent("text/javascript; charset=utf-8", FOR_GOOD, web.script.text);
    }
    plain(StatusCode::NOT_FOUND, "there is no such file")
}

/// Which page one is on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Here {
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

const PAGES: [(Here, &str, &str); 7] = [
    (Here::Library, "/", "Library"),
    (Here::Try, "/try", "Try it"),
    (Here::Costs, "/costs", "Costs"),
    (Here::Graph, "/graph", "Graph"),
    (Here::Runs, "/runs", "Runs"),
    (Here::Tasks, "/tasks", "Tasks"),
    (Here::Audit, "/audit", "Audit"),
];

/// The mark of the house, which needs no file.
const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect width='32' height='32' rx='8' fill='%234338ca'/%3E%3Cpath d='M9 8v16M14 10v14M19 8v16M23 11l2 13' stroke='%23fff' stroke-width='3' stroke-linecap='round'/%3E%3C/svg%3E";

fn head(asked: &Asked, title: &str) -> Html {
    html!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\"><title>{} · Repertoire</title>\
         <link rel=\"stylesheet\" href=\"/assets/{}\"><link rel=\"icon\" href=\"{}\">\
         <script src=\"/assets/{}\" defer></script></head>",
        title,
        asked.web.style.name,
        ICON,
        asked.web.script.name
    )
}

/// A whole page.
pub(super) fn page(asked: &Asked, here: Here, title: &str, body: &Html) -> Html {
    let mut links = Html::default();
    for (page, to, name) in PAGES {
        let current = if page == here || page == Here::Runs && here == Here::Call {
            html!(" aria-current=\"page\"")
        } else {
            Html::default()
        };
        put!(links, "<li><a href=\"{}\"{}>{}</a></li>", to, current, name);
    }
    let out = if asked.is_guarded {
        html!(
            "<form class=\"out\" method=\"post\" action=\"/sign-out\"><input type=\"hidden\" name=\"key\" value=\"{}\">\
             <button class=\"quiet\">Sign out</button></form>",
            asked.key
        )
    } else {
        Html::default()
    };
    let active = asked.shelf.active.len();
    // A page that shows questions need not say that they wait.
    let place = match here {
        Here::Runs => "&here=runs".to_owned(),
        Here::Call => format!("&here=call&number={}", asked.fields.number("number").unwrap_or(0)),
        _ => String::new(),
    };
    let mut page = head(asked, title);
    put!(
        page,
        "<body><a class=\"skip\" href=\"#main\">Skip to content</a><header class=\"top\"><div class=\"bar\">\
         <a class=\"brand\" href=\"/\"><svg viewBox=\"0 0 32 32\" aria-hidden=\"true\" width=\"22\" height=\"22\"><rect width=\"32\" \
         height=\"32\" rx=\"8\"/><path d=\"M9 8v16M14 10v14M19 8v16M23 11l2 13\"/></svg>Repertoire</a>\
         <nav aria-label=\"Pages\"><ul>{}</ul></nav>{}</div></header>\
         <main id=\"main\" tabindex=\"-1\">{}</main>\
         <div id=\"notices\"><div role=\"status\" aria-live=\"polite\" data-part=\"/questions?part=1{}\" data-on=\"questions\">{}</div></div>\
         <footer><p>Repertoire {} · {} active of {} skills · <a href=\"/metrics\">metrics</a> · \
         <a href=\"/.well-known/agent-skills/index.json\">index</a></p></footer></body></html>",
        links,
        out,
        body,
        place,
        super::runs::notice(asked, here),
        asked.web.shared.version,
        active,
        asked.shelf.catalog.entries.len()
    );
    page
}

/// A page for who is not let in yet.
pub(super) fn bare(asked: &Asked, title: &str, body: &Html) -> Html {
    let mut page = head(asked, title);
    put!(page, "<body class=\"bare\"><main id=\"main\" tabindex=\"-1\">{}</main></body></html>", body);
    page
}

/// A status as people see it.
pub(super) fn status(status: Status) -> Html {
    html!("<span class=\"pill {}\" title=\"{}\">{}</span>", status.name(), meaning(status), status.name())
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

/// Where the page of an entry is.
pub(super) fn address(catalog: &Catalog, index: usize) -> String {
    let entry = &catalog.entries[index];
    // Entries of one name stand beside each other.
    let copy =
        catalog.entries[..index].iter().rev().take_while(|other| other.qualified_name == entry.qualified_name).count();
    let copy = if copy == 0 { String::new() } else { format!("&copy={copy}") };
    format!("/skill?name={}{copy}", encoded(&entry.qualified_name))
}

/// The entry an address means.
pub(super) fn entry(asked: &Asked) -> Option<(usize, &CatalogEntry)> {
    let name = asked.fields.get("name");
    let entries = &asked.shelf.catalog.entries;
    let first = entries.partition_point(|entry| entry.qualified_name.as_str() < name);
    let index = first.checked_add(asked.fields.number("copy").unwrap_or(0))?;
    entries.get(index).filter(|entry| entry.qualified_name == name).map(|entry| (index, entry))
}

/// Whether what a skill says is kept back: nobody trusts it, or, where it is broken, the project it came with.
pub(super) fn is_withheld(asked: &Asked, entry: &CatalogEntry) -> bool {
    let entries = &asked.shelf.catalog.entries;
    let is_told = |other: &CatalogEntry| other.is_in_project && matches!(other.status, Status::Active | Status::Hidden);
    match entry.status {
        Status::Untrusted => true,
        Status::Invalid => entry.is_in_project && !entries.iter().any(is_told),
        _ => false,
    }
}

/// Why something could not be told.
pub(super) fn trouble(message: &str) -> Html {
    html!("<p class=\"alert bad\" role=\"alert\">{}</p>", worded(message))
}
