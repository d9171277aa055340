//! The dashboard: the library, every skill, what it costs, what runs and ran, tasks and records, as pages beside `/mcp`.
//!
//! It shows what [`rep_library`] and [`rep_runtime`] answer, and decides nothing itself. The server guards its paths; [`pages`] tells
//! the server how. Every page is rendered completely here and works without scripts; `page.js` requests parts of the same pages
//! again when something changes. What skills say is only ever text: `maud` escapes every value, `html.rs` makes hidden characters
//! visible, and the content policy of the server lets no foreign script run.
//!
//! ```no_run
//! # fn serve(server: &rep_mcp::McpServer, options: &rep_mcp::HttpOptions) -> Result<(), rep_mcp::ServeError> {
//! rep_mcp::serve_http(server, options, Some(rep_web::pages(server)), |url| println!("listening on {url}"))
//! # }
//! ```

mod audit;
mod calls;
mod chart;
mod costs;
mod discovery;
mod events;
mod fields;
mod findings;
mod graph;
mod html;
mod layout;
mod library;
mod markdown;
mod panels;
mod runs;
mod session;
mod skill;
mod tasks;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use axum::routing::{MethodRouter, get, post};
use maud::{Markup, html};
use rep_mcp::{
    Authenticator, CatalogView, HttpContext, McpServer, PageAccess, Pages, PagesBuilder, plain_response, wants_page,
};

use fields::Fields;
use layout::{Asset, Location};
use session::BrowserSessions;

/// The message for people when nothing can be recorded.
const UNRECORDED: &str = "Nothing can be recorded on this server now, so nothing is done; its operator can see why.";

/// What every page is rendered from.
struct Dashboard {
    server: McpServer,
    authenticator: Arc<Authenticator>,
    sessions: BrowserSessions,
    style: Asset,
    script: Asset,
    calls: calls::DashboardCalls,
    listeners: events::Listeners,
    archives: discovery::ArchiveDigests,
    costs: costs::CostCache,
    /// The snapshot whose search index is built, or being built.
    indexed: AtomicU64,
}

/// One request for a page.
struct PageRequest {
    dashboard: Arc<Dashboard>,
    view: Arc<CatalogView>,
    fields: Fields,
    /// The key that forms of this response carry, so that the server recognizes them.
    form_key: String,
}

impl PageRequest {
    /// Whether only the part that changes is requested.
    fn is_part(&self) -> bool {
        self.fields.has("part")
    }
}

/// What a request is answered with.
enum PageResponse {
    /// A whole page.
    Page(Location, String, Markup),
    /// A part of a page.
    Part(Markup),
    /// It does not exist.
    Missing(String),
}

type RenderPage = fn(&PageRequest) -> PageResponse;

/// The pages of the dashboard, for [`rep_mcp::serve_http`].
pub fn pages(server: &McpServer) -> PagesBuilder<'static> {
    let server = server.clone();
    Box::new(move |context: &HttpContext| {
        let dashboard = Arc::new(Dashboard::new(server, context));
        let sessions = Arc::clone(&dashboard);
        Pages {
            router: dashboard.router(),
            access: page_access,
            route_name,
            session_token: Box::new(move |headers, connection| {
                sessions.sessions.token(headers, || connection.and_then(rep_mcp::Connection::owner))
            }),
            sign_in_path: "/sign-in",
        }
    })
}

/// Who may use a path.
fn page_access(path: &str) -> PageAccess {
    match path {
        "/sign-in" => PageAccess::Public,
        _ if path.starts_with("/assets/") => PageAccess::Public,
        "/answer" | "/run" | "/events" => PageAccess::Session,
        _ => PageAccess::TokenOrSession,
    }
}

/// The name that a path is counted under.
fn route_name(path: &str) -> Option<&'static str> {
    const ROUTES: [&str; 16] = [
        "/",
        "/answer",
        "/audit",
        "/call",
        "/cancel",
        "/costs",
        "/events",
        "/graph",
        "/questions",
        "/run",
        "/runs",
        "/sign-in",
        "/sign-out",
        "/skill",
        "/tasks",
        "/try",
    ];
    let known = ROUTES.into_iter().find(|route| *route == path);
    known.or_else(|| path.starts_with("/assets/").then_some("/assets"))
}

impl Dashboard {
    fn new(server: McpServer, context: &HttpContext) -> Self {
        let is_guarded = context.authenticator.is_required();
        Self {
            server,
            authenticator: Arc::clone(&context.authenticator),
            sessions: BrowserSessions::new(is_guarded, context.is_tls, context.address.port()),
            style: Asset::new("style", "css", include_str!("style.css")),
            script: Asset::new("page", "js", include_str!("page.js")),
            calls: calls::DashboardCalls::default(),
            listeners: events::Listeners::default(),
            archives: discovery::ArchiveDigests::default(),
            costs: costs::CostCache::default(),
            indexed: AtomicU64::new(u64::MAX),
        }
    }

    fn router(self: &Arc<Self>) -> Router {
        Router::new()
            .route("/", page(library::render))
            .route("/skill", page(skill::render))
            .route("/try", page(panels::render))
            .route("/costs", page(costs::render))
            .route("/graph", page(graph::render))
            .route("/runs", page(runs::render))
            .route("/call", page(calls::render))
            .route("/tasks", page(tasks::render))
            .route("/audit", page(audit::render))
            .route("/questions", page(runs::render_notice))
            .route("/run", post(calls::run))
            .route("/answer", post(runs::answer))
            .route("/cancel", post(tasks::cancel))
            .route("/sign-in", get(session::show_sign_in).post(session::sign_in))
            .route("/sign-out", post(session::sign_out))
            .route("/events", get(events::stream))
            .route("/.well-known/agent-skills/{*path}", get(discovery::answer))
            .route("/assets/{name}", get(layout::asset))
            .method_not_allowed_fallback(async |State(dashboard): State<Arc<Dashboard>>, headers: HeaderMap| {
                let message = "Only a form leads here, and it is on another page.";
                error_response(&dashboard, &headers, StatusCode::METHOD_NOT_ALLOWED, message)
            })
            .fallback(async |State(dashboard): State<Arc<Dashboard>>, headers: HeaderMap| {
                error_response(&dashboard, &headers, StatusCode::NOT_FOUND, "There is no such page.")
            })
            .with_state(Arc::clone(self))
    }

    /// Builds the search index before the first search, which need not wait for it then.
    fn prepare_search(&self, view: &Arc<CatalogView>) {
        if self.indexed.swap(view.generation, Ordering::Relaxed) != view.generation {
            let catalog = Arc::clone(&view.catalog);
            std::thread::spawn(move || catalog.index().len());
        }
    }

    /// A request over the newest snapshot.
    fn request(self: &Arc<Self>, headers: &HeaderMap, fields: Fields) -> PageRequest {
        PageRequest {
            view: self.server.view(),
            fields,
            form_key: self.sessions.form_key(headers),
            dashboard: Arc::clone(self),
        }
    }
}

/// Renders a page on a blocking thread.
fn page(render: RenderPage) -> MethodRouter<Arc<Dashboard>> {
    get(move |State(dashboard): State<Arc<Dashboard>>, headers: HeaderMap, RawQuery(query): RawQuery| async move {
        let request = dashboard.request(&headers, Fields::parse(query.as_deref().unwrap_or_default()));
        let response = tokio::task::spawn_blocking(move || respond(&request, render)).await;
        response.unwrap_or_else(|_| plain_response(StatusCode::INTERNAL_SERVER_ERROR, "the server failed at this page"))
    })
}

fn respond(request: &PageRequest, render: RenderPage) -> Response {
    match render(request) {
        PageResponse::Page(location, title, body) => {
            document(StatusCode::OK, layout::page(request, location, &title, &body))
        }
        PageResponse::Part(part) => document(StatusCode::OK, part),
        PageResponse::Missing(message) => {
            let body = html! { h1 { "Not here" } p { (message) } p { a href="/" { "All skills" } } };
            document(StatusCode::NOT_FOUND, layout::page(request, Location::Elsewhere, "Not here", &body))
        }
    }
}

/// A page or a part of one. All HTML leaves through this function.
fn document(status: StatusCode, markup: Markup) -> Response {
    let text = html::show_hidden_characters(markup.into_string());
    let mut response = file_response("text/html; charset=utf-8", "no-store", text);
    *response.status_mut() = status;
    response
}

/// A file of some content type.
fn file_response(content_type: &'static str, caching: &'static str, bytes: impl Into<Body>) -> Response {
    let mut response = Response::new(bytes.into());
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(caching));
    response
}

/// The fields of a form that changes something; `None` if the form is not from a page of this server.
fn parse_form(dashboard: &Dashboard, headers: &HeaderMap, body: &Bytes) -> Option<Fields> {
    let fields = Fields::parse(&String::from_utf8_lossy(body));
    dashboard.sessions.is_own_form(headers, fields.get("key")).then_some(fields)
}

/// An error: text for a program, a page with a way back for a person.
fn error_response(dashboard: &Arc<Dashboard>, headers: &HeaderMap, status: StatusCode, message: &str) -> Response {
    if !wants_page(headers) {
        return plain_response(status, format!("{message}\n"));
    }
    let request = dashboard.request(headers, Fields::default());
    let body = html! {
        div class="title" { h1 { "That did not work" } }
        (layout::alert(message))
        p { a href="/" { "All skills" } }
    };
    document(status, layout::page(&request, Location::Elsewhere, "That did not work", &body))
}

/// The response to a foreign form. The sender may be a stranger, and learns nothing else.
fn foreign_form(dashboard: &Arc<Dashboard>, headers: &HeaderMap) -> Response {
    let message = "This form is not one of this server's, or older than it. Load the page again.";
    if !wants_page(headers) {
        return plain_response(StatusCode::FORBIDDEN, format!("{message}\n"));
    }
    let request = dashboard.request(headers, Fields::default());
    let body = html! {
        section class="narrow card" {
            h1 { "That did not work" }
            p { (message) }
            p { a href="/" { "All skills" } }
        }
    };
    document(StatusCode::FORBIDDEN, layout::bare_page(&request, "That did not work", &body))
}
