//! The page for people, and the operator's endpoints, beside `/mcp` on the same port.
//!
//! Every page is made here from the newest snapshot, whole, and works without scripts; `page.js` asks for parts of the
//! same pages again where something changes. What skills say is shown and never believed: `html.rs` lets no text become
//! markup, and the policy in [`CONTENT_POLICY`] lets nothing run that did.

mod audit;
mod calls;
mod chart;
mod costs;
mod discovery;
mod door;
mod events;
mod fields;
mod graph;
mod html;
mod layout;
mod library;
mod markdown;
mod operator;
mod panels;
mod runs;
mod skill;
mod tasks;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use axum::routing::{MethodRouter, get, post};

use crate::office::Office;
use crate::server::{Served, Shared};
use crate::shelf::Shelf;
use fields::Fields;
use html::{Html, html};
use layout::{Asset, Here};

/// What a browser may do on our pages: show and run what this server sends, and nothing else.
const CONTENT_POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// What every page is made from.
pub(crate) struct Web {
    pub(crate) shared: Arc<Shared>,
    pub(crate) office: Arc<dyn Office>,
    pub(crate) door: Door,
    style: Asset,
    script: Asset,
    archives: discovery::Archives,
    weights: costs::Weights,
    /// The snapshot whose words are read, or being read.
    warmed: AtomicU64,
}

/// One request for a page.
pub(crate) struct Asked {
    web: Arc<Web>,
    shelf: Arc<Shelf>,
    fields: Fields,
    /// What forms of this answer bear, so that they are known to be ours.
    key: String,
    is_guarded: bool,
}

impl Asked {
    /// Whether only the part that changes is wanted.
    fn is_part(&self) -> bool {
        self.fields.has("part")
    }
}

/// What is shown for a request.
enum Shown {
    /// A whole page.
    Page(Here, String, Html),
    /// A part of a page, without what stands around it.
    Part(Html),
    /// There is no such thing.
    Missing(String),
}

type Show = fn(&Asked) -> Shown;

impl Web {
    pub(crate) fn new(served: &Served, office: Arc<dyn Office>, door: Door) -> Arc<Self> {
        Arc::new(Self {
            shared: Arc::clone(&served.0),
            office,
            door,
            style: Asset::new("style", "css", include_str!("web/style.css")),
            script: Asset::new("page", "js", include_str!("web/page.js")),
            archives: discovery::Archives::default(),
            weights: costs::Weights::default(),
            warmed: AtomicU64::new(u64::MAX),
        })
    }

    /// Every address but `/mcp`, and the sign-in, which the guard answers.
    pub(crate) fn router(self: &Arc<Self>) -> Router {
        Router::new()
            .route("/", page(library::show))
            .route("/skill", page(skill::show))
            .route("/try", page(panels::show))
            .route("/costs", page(costs::show))
            .route("/graph", page(graph::show))
            .route("/runs", page(runs::show))
            .route("/call", page(calls::show))
            .route("/tasks", page(tasks::show))
            .route("/audit", page(audit::show))
            .route("/questions", page(runs::questions))
            .route("/run", post(calls::run))
            .route("/answer", post(runs::answer))
            .route("/cancel", post(tasks::cancel))
            .route("/sign-out", post(door::sign_out))
            .route("/events", get(events::stream))
            .route("/healthz", get(operator::healthy))
            .route("/readyz", get(operator::ready))
            .route("/metrics", get(operator::metrics))
            .route("/.well-known/agent-skills/{*path}", get(discovery::answer))
            .route("/assets/{name}", get(layout::asset))
            .method_not_allowed_fallback(async |State(web): State<Arc<Web>>, headers: HeaderMap| {
                let words = "Only a form leads here, and it is on another page.";
                sorry(&web, &headers, StatusCode::METHOD_NOT_ALLOWED, words)
            })
            .fallback(async |State(web): State<Arc<Web>>, headers: HeaderMap| {
                sorry(&web, &headers, StatusCode::NOT_FOUND, "There is no such page.")
            })
            .with_state(Arc::clone(self))
    }

    /// Reads the words of all skills ahead of the first search, which need not wait for it then.
    fn warm(&self, shelf: &Arc<Shelf>) {
        if self.warmed.swap(shelf.mark, Ordering::Relaxed) != shelf.mark {
            let catalog = Arc::clone(&shelf.catalog);
            std::thread::spawn(move || catalog.index().len());
        }
    }

    /// The newest snapshot, and what a request asks of it.
    pub(crate) fn asked(self: &Arc<Self>, headers: &HeaderMap, fields: Fields) -> Asked {
        Asked {
            shelf: self.shared.shelf(),
            fields,
            key: self.door.key(headers),
            is_guarded: self.door.is_guarded,
            web: Arc::clone(self),
        }
    }
}

/// Shows a page, away from the threads that answer.
fn page(show: Show) -> MethodRouter<Arc<Web>> {
    get(move |State(web): State<Arc<Web>>, headers: HeaderMap, RawQuery(query): RawQuery| async move {
        let asked = web.asked(&headers, Fields::read(query.as_deref().unwrap_or_default()));
        let done = tokio::task::spawn_blocking(move || answer(&asked, show)).await;
        done.unwrap_or_else(|_| plain(StatusCode::INTERNAL_SERVER_ERROR, "the server failed at this page"))
    })
}

fn answer(asked: &Asked, show: Show) -> Response {
    match show(asked) {
        Shown::Page(here, title, body) => document(StatusCode::OK, layout::page(asked, here, &title, &body)),
        Shown::Part(part) => document(StatusCode::OK, part),
        Shown::Missing(what) => {
            let body = html!("<h1>Not here</h1><p>{}</p><p><a href=\"/\">All skills</a></p>", what);
            document(StatusCode::NOT_FOUND, layout::page(asked, Here::Elsewhere, "Not here", &body))
        }
    }
}

/// A page or a part of one, as it is sent.
pub(crate) fn document(status: StatusCode, markup: Html) -> Response {
    let mut response = sent("text/html; charset=utf-8", "no-store", markup.into_string());
    *response.status_mut() = status;
    response
}

/// Tells browsers of every answer, whoever made it, how little they may do with it.
pub(crate) fn fence(headers: &mut HeaderMap) {
    const RULES: [(HeaderName, &str); 6] = [
        (header::CONTENT_SECURITY_POLICY, CONTENT_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        // With none at all, browsers would not say where a form comes from.
        (header::REFERRER_POLICY, "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    for (name, rule) in RULES {
        headers.insert(name, HeaderValue::from_static(rule));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}

/// Bytes of some kind.
fn sent(kind: &'static str, caching: &'static str, bytes: impl Into<Body>) -> Response {
    let mut response = Response::new(bytes.into());
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(caching));
    response
}

/// A short answer in words.
pub(crate) fn plain(status: StatusCode, text: impl Into<Body>) -> Response {
    let mut response = sent("text/plain; charset=utf-8", "no-store", text);
    *response.status_mut() = status;
    response
}

/// Leads on to another page of ours, after something was done.
pub(crate) fn onward(to: &str) -> Response {
    let mut response = plain(StatusCode::SEE_OTHER, "");
    let to = HeaderValue::from_str(to).unwrap_or(HeaderValue::from_static("/"));
    response.headers_mut().insert(header::LOCATION, to);
    response
}

/// The fields of a form that was sent to change something; nothing where it is none of ours.
fn form(web: &Web, headers: &HeaderMap, body: &Bytes) -> Option<Fields> {
    let fields = Fields::read(&String::from_utf8_lossy(body));
    web.door.is_ours(headers, fields.get("key")).then_some(fields)
}

/// What is answered where something cannot be: words to a program, a page with the way back to a person.
fn sorry(web: &Arc<Web>, headers: &HeaderMap, status: StatusCode, message: &str) -> Response {
    if !is_person(headers) {
        return plain(status, format!("{message}\n"));
    }
    let asked = web.asked(headers, Fields::default());
    let body = html!(
        "<div class=\"title\"><h1>That did not work</h1></div><p class=\"alert bad\" role=\"alert\">{}</p><p><a href=\"/\">All skills</a></p>",
        html::worded(message)
    );
    document(status, layout::page(&asked, Here::Elsewhere, "That did not work", &body))
}

/// The answer to a form that is none of ours. Whoever sent it may be nobody we know, and is told nothing else.
pub(crate) fn not_ours(web: &Arc<Web>, headers: &HeaderMap) -> Response {
    let words = "This form is not one of this server's, or older than it. Load the page again.";
    if !is_person(headers) {
        return plain(StatusCode::FORBIDDEN, format!("{words}\n"));
    }
    let asked = web.asked(headers, Fields::default());
    let body = html!(
        "<section class=\"narrow card\"><h1>That did not work</h1><p>{}</p><p><a href=\"/\">All skills</a></p></section>",
        words
    );
    document(StatusCode::FORBIDDEN, layout::bare(&asked, "That did not work", &body))
}

/// Whether somebody looks at the answer.
pub(crate) fn is_person(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    accept.is_some_and(|accept| accept.contains("text/html"))
}

pub(crate) use door::{Door, is_own_origin};

/// The page to sign in at.
pub(crate) fn sign_in_page(web: &Arc<Web>, headers: &HeaderMap, is_refused: bool) -> Response {
    door::page(&web.asked(headers, Fields::default()), is_refused)
}

/// The token in the form of that page.
pub(crate) fn token_shown(web: &Web, headers: &HeaderMap, body: &Bytes) -> Option<String> {
    form(web, headers, body).map(|fields| fields.get("token").to_owned())
}

/// The route of a path, as it is counted.
pub(crate) fn route(path: &str) -> &'static str {
    const ROUTES: [&str; 20] = [
        "/",
        "/answer",
        "/audit",
        "/call",
        "/cancel",
        "/costs",
        "/events",
        "/graph",
        "/healthz",
        "/mcp",
        "/metrics",
        "/questions",
        "/readyz",
        "/run",
        "/runs",
        "/sign-in",
        "/sign-out",
        "/skill",
        "/tasks",
        "/try",
    ];
    let known = ROUTES.into_iter().find(|route| *route == path);
    known.unwrap_or(match path {
        _ if path.starts_with("/assets/") => "/assets",
        _ if path.starts_with("/.well-known/") => "/.well-known",
        _ => "other",
    })
}
