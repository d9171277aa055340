//! The dashboard: pages next to `/mcp` that show the library, every skill and its costs, runs, tasks and records.
//!
//! The dashboard shows the results of [`rep_library`] and [`rep_runtime`], and makes no decisions of its own. The
//! server guards its paths as [`build_pages`] specifies. Every page is rendered completely on the server and works
//! without scripts; `page.js` reloads parts of the pages when something changes. Text of skills is never interpreted:
//! `maud` escapes every value, `html.rs` makes hidden characters visible, and the server's content security policy
//! blocks foreign scripts.
//!
//! ```no_run
//! # fn serve(server: &rep_mcp::McpServer, options: &rep_mcp::HttpOptions) -> Result<(), rep_mcp::ServeError> {
//! let pages = rep_web::build_pages(server, rep_web::DashboardOptions::default());
//! rep_mcp::serve_http(server, options, Some(pages), |url| println!("listening on {url}"))
//! # }
//! ```

mod argument_form;
mod audit;
mod calls;
mod chart;
mod connect;
mod costs;
mod discovery;
mod events;
mod fields;
mod findings;
mod graph;
mod graph_picture;
mod html;
mod inspection;
mod layout;
mod library;
mod library_query;
mod library_table;
mod markdown;
mod overview;
mod panels;
mod runs;
mod session;
mod skill;
mod tasks;
mod usage;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::body::{Body, Bytes};
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use axum::routing::{MethodRouter, get, post};
use axum::{Extension, Router};
use maud::{Markup, html};
use rep_mcp::{
    Authenticator, BearerIdentity, CatalogView, HttpContext, McpServer, PageAccess, PageRoutes, PageRoutesBuilder,
    Visitor, plain_response, wants_page,
};

pub use connect::DashboardOptions;
use fields::FormFields;
use layout::{PageAsset, PageLocation};
use session::BrowserSessions;

/// The message when an action cannot be recorded.
const UNRECORDED_MESSAGE: &str = "The server refuses this action because it cannot record it; its log has the reason.";

/// The message when a visitor may only read.
const NEEDS_RUN_MESSAGE: &str = "Your token allows only to read. This needs a token with the scope `run`.";

/// The state that every page is rendered from.
struct Dashboard {
    server: McpServer,
    options: DashboardOptions,
    address: SocketAddr,
    is_tls: bool,
    authenticator: Arc<Authenticator>,
    sessions: BrowserSessions,
    style: PageAsset,
    script: PageAsset,
    calls: calls::DashboardCalls,
    listeners: events::ListenerSlots,
    archives: discovery::ArchiveDigests,
    costs: costs::CostCache,
    inspections: inspection::SkillInspections,
    usage: usage::UsageIndex,
    /// The snapshot whose search index is built or being built.
    indexed_generation: AtomicU64,
}

/// A request for a page.
struct PageRequest {
    dashboard: Arc<Dashboard>,
    view: Arc<CatalogView>,
    fields: FormFields,
    /// Who asks, and whose questions, runs and tasks the page shows.
    visitor: Visitor,
    /// The key that identifies forms in this response as the server's own.
    form_key: String,
    /// The URL of the MCP endpoint.
    server_url: String,
}

impl PageRequest {
    /// Returns the URL of the MCP endpoint as the visitor reaches it.
    fn server_url(&self) -> &str {
        &self.server_url
    }

    /// Whether only the changing part of the page is requested.
    fn is_part(&self) -> bool {
        self.fields.has("part")
    }
}

/// The response to a request.
enum PageResponse {
    /// A complete page.
    Page(PageLocation, String, Markup),
    /// A part of a page.
    Part(Markup),
    /// The requested item does not exist.
    Missing(String),
}

type PageRenderer = fn(&PageRequest) -> PageResponse;

/// Builds the pages of the dashboard, for [`rep_mcp::serve_http`].
pub fn build_pages(server: &McpServer, options: DashboardOptions) -> PageRoutesBuilder<'static> {
    let server = server.clone();
    Box::new(move |context: &HttpContext| {
        let dashboard = Arc::new(Dashboard::new(server, options, context));
        let sessions = Arc::clone(&dashboard);
        PageRoutes {
            router: dashboard.build_router(),
            access: page_access,
            route_name,
            session_token: Box::new(move |headers, connection| {
                sessions.sessions.session_token(headers, || connection.and_then(rep_mcp::Connection::owner))
            }),
            sign_in_path: "/sign-in",
        }
    })
}

/// Returns the access that a path requires.
fn page_access(path: &str) -> PageAccess {
    match path {
        "/sign-in" => PageAccess::Public,
        _ if path.starts_with("/assets/") => PageAccess::Public,
        "/answer" | "/run" | "/events" => PageAccess::Session,
        _ => PageAccess::TokenOrSession,
    }
}

/// Returns the name under which a path is counted.
fn route_name(path: &str) -> Option<&'static str> {
    const ROUTES: [&str; 18] = [
        "/",
        "/answer",
        "/audit",
        "/call",
        "/cancel",
        "/connect",
        "/costs",
        "/events",
        "/graph",
        "/overview",
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
    fn new(server: McpServer, options: DashboardOptions, context: &HttpContext) -> Self {
        let is_guarded = context.authenticator.is_required();
        Self {
            server,
            options,
            address: context.address,
            is_tls: context.is_tls,
            authenticator: Arc::clone(&context.authenticator),
            sessions: BrowserSessions::new(is_guarded, context.is_tls, context.address.port()),
            style: PageAsset::new("style", "css", include_str!("style.css")),
            script: PageAsset::new("page", "js", include_str!("page.js")),
            calls: calls::DashboardCalls::default(),
            listeners: events::ListenerSlots::default(),
            archives: discovery::ArchiveDigests::default(),
            costs: costs::CostCache::default(),
            inspections: inspection::SkillInspections::default(),
            usage: usage::UsageIndex::default(),
            indexed_generation: AtomicU64::new(u64::MAX),
        }
    }

    fn build_router(self: &Arc<Self>) -> Router {
        Router::new()
            .route("/", page_route(library::render_page))
            .route("/skill", page_route(skill::render_page))
            .route("/try", page_route(panels::render_page))
            .route("/connect", page_route(connect::render_page))
            .route("/costs", page_route(costs::render_page))
            .route("/graph", page_route(graph::render_page))
            .route("/overview", page_route(overview::render_page))
            .route("/runs", page_route(runs::render_page))
            .route("/call", page_route(calls::render_page))
            .route("/tasks", page_route(tasks::render_page))
            .route("/audit", page_route(audit::render_page))
            .route("/questions", page_route(runs::render_notice_part))
            .route("/run", post(calls::run_tool))
            .route("/answer", post(runs::answer_confirmation))
            .route("/cancel", post(tasks::cancel_task_or_run))
            .route("/sign-in", get(session::show_sign_in).post(session::sign_in))
            .route("/sign-out", post(session::sign_out))
            .route("/events", get(events::stream_events))
            .route("/.well-known/agent-skills/{*path}", get(discovery::serve_discovery))
            .route("/assets/{name}", get(layout::serve_asset))
            .method_not_allowed_fallback(async |State(dashboard): State<Arc<Dashboard>>, headers: HeaderMap| {
                let message = "This URL only accepts submitted forms.";
                error_response(&dashboard, &headers, StatusCode::METHOD_NOT_ALLOWED, message)
            })
            .fallback(async |State(dashboard): State<Arc<Dashboard>>, headers: HeaderMap| {
                error_response(&dashboard, &headers, StatusCode::NOT_FOUND, "This page does not exist.")
            })
            .with_state(Arc::clone(self))
    }

    /// Builds the search index in the background, so that the first search does not wait for it.
    fn prepare_search(&self, view: &Arc<CatalogView>) {
        if self.indexed_generation.swap(view.generation, Ordering::Relaxed) != view.generation {
            let catalog = Arc::clone(&view.catalog);
            std::thread::spawn(move || catalog.search_index().len());
        }
    }

    /// Returns who sent a request.
    fn visitor(&self, bearer: Option<Extension<BearerIdentity>>) -> Visitor {
        Visitor::from_request(self.authenticator.is_required(), bearer.map(|Extension(bearer)| bearer))
    }

    /// Returns the part of the newest snapshot that exists for a visitor. Operators see skills as their token does.
    fn view_for(&self, visitor: &Visitor) -> Arc<CatalogView> {
        self.server.view_for(visitor.bearer())
    }

    /// Creates a request on the newest snapshot.
    fn page_request(self: &Arc<Self>, headers: &HeaderMap, visitor: Visitor, fields: FormFields) -> PageRequest {
        PageRequest {
            view: self.view_for(&visitor),
            fields,
            visitor,
            form_key: self.sessions.form_key(headers),
            server_url: self.server_url(headers),
            dashboard: Arc::clone(self),
        }
    }
}

/// Renders a page on a blocking thread.
fn page_route(render: PageRenderer) -> MethodRouter<Arc<Dashboard>> {
    let answer = async move |State(dashboard): State<Arc<Dashboard>>,
                             bearer: Option<Extension<BearerIdentity>>,
                             headers: HeaderMap,
                             RawQuery(query): RawQuery| {
        let fields = FormFields::parse(query.as_deref().unwrap_or_default());
        let request = dashboard.page_request(&headers, dashboard.visitor(bearer), fields);
        let response = tokio::task::spawn_blocking(move || page_response(&request, render)).await;
        response.unwrap_or_else(|_| {
            plain_response(StatusCode::INTERNAL_SERVER_ERROR, "internal error: the server could not render this page")
        })
    };
    get(answer)
}

fn page_response(request: &PageRequest, render: PageRenderer) -> Response {
    match render(request) {
        PageResponse::Page(location, title, body) => {
            html_response(StatusCode::OK, layout::render_page(request, location, &title, &body))
        }
        PageResponse::Part(part) => html_response(StatusCode::OK, part),
        PageResponse::Missing(message) => {
            let body = html! { h1 { "Not found" } p { (message) } p { a href="/" { "All skills" } } };
            html_response(
                StatusCode::NOT_FOUND,
                layout::render_page(request, PageLocation::Elsewhere, "Not found", &body),
            )
        }
    }
}

/// Builds a response with a page or a part of one. All HTML is sent through this function.
fn html_response(status: StatusCode, markup: Markup) -> Response {
    let text = html::show_hidden_characters(markup.into_string());
    let mut response = file_response("text/html; charset=utf-8", "no-store", text);
    *response.status_mut() = status;
    response
}

/// Builds a response with a file of the given content type.
fn file_response(content_type: &'static str, caching: &'static str, bytes: impl Into<Body>) -> Response {
    let mut response = Response::new(bytes.into());
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(caching));
    response
}

/// Parses a form that changes something. Returns `None` if the form is not from a page of this server.
fn parse_form(dashboard: &Dashboard, headers: &HeaderMap, body: &Bytes) -> Option<FormFields> {
    let fields = FormFields::parse(&String::from_utf8_lossy(body));
    dashboard.sessions.is_own_form(headers, fields.get("key")).then_some(fields)
}

/// Builds an error response: text for a program, a page with a link back for a browser.
fn error_response(dashboard: &Arc<Dashboard>, headers: &HeaderMap, status: StatusCode, message: &str) -> Response {
    if !wants_page(headers) {
        return plain_response(status, format!("{message}\n"));
    }
    let request = dashboard.page_request(headers, Visitor::Stranger, FormFields::default());
    let body = html! {
        div class="title" { h1 { "Error" } }
        (layout::render_alert(message))
        p { a href="/" { "All skills" } }
    };
    html_response(status, layout::render_page(&request, PageLocation::Elsewhere, "Error", &body))
}

/// Builds the response to a foreign form. The sender may be an attacker, so the response reveals nothing else.
fn foreign_form_response(dashboard: &Arc<Dashboard>, headers: &HeaderMap) -> Response {
    let message = "This form is expired or does not belong to this server. Reload the page and try again.";
    if !wants_page(headers) {
        return plain_response(StatusCode::FORBIDDEN, format!("{message}\n"));
    }
    let request = dashboard.page_request(headers, Visitor::Stranger, FormFields::default());
    let body = html! {
        section class="narrow card" {
            h1 { "Error" }
            p { (message) }
            p { a href="/" { "All skills" } }
        }
    };
    html_response(StatusCode::FORBIDDEN, layout::render_bare_page(&request, "Error", &body))
}
