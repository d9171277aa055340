//! Serving many clients over HTTP: `/mcp`, the operator's endpoints, and pages for people if some are handed in.
//!
//! Every request passes one guard (`guard.rs`). The dashboard is not known here: it comes as a [`Pages`] value, a router with what
//! the guard must know about its paths.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware;
use axum::response::Response;
use axum::routing::get;
use axum::serve::{Listener, ListenerExt as _};
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;

use crate::connections::{self, Connection, LimitedListener};
use crate::oauth::OAuth;
use crate::server::McpServer;
use crate::stdio::{GRACE, THREADS_MAX, termination};
use crate::tls::{TlsIdentity, TlsListener};
use crate::{ServeError, runtime_error};

mod authenticator;
mod guard;
mod operator;

pub use authenticator::{Authenticator, BearerIdentity};
use guard::AccessGuard;
pub use guard::is_own_origin;

/// The header with the id of a request, in its response and in the log.
pub(crate) const REQUEST_ID: &str = "x-request-id";
/// Where clients find the authorization server.
const METADATA_PATH: &str = "/.well-known/oauth-protected-resource";
/// The largest request.
const REQUEST_BYTES_MAX: usize = 4 << 20;
/// How long the body of a request may take. The head has its own limit.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// What a browser may do on pages of this server: show and run what this server sends, and nothing else.
const CONTENT_POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// Where and for whom to serve.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// The address; port 0 picks a free one.
    pub address: SocketAddr,
    /// The tokens that are accepted. Without any, everybody who can connect is served.
    pub tokens: Vec<String>,
    /// Whether, without tokens, other users of this machine are served too.
    pub allow_other_users: bool,
    /// The authorization server whose tokens are accepted too.
    pub oauth: Option<OAuth>,
    /// Host names of this server, besides those of the loopback address.
    pub hosts: Vec<String>,
    /// Origins whose pages may send requests, besides those of this machine.
    pub origins: Vec<String>,
    /// The most requests per second.
    pub rate: u32,
    /// The certificate, to serve over TLS.
    pub tls: Option<TlsIdentity>,
}

/// What is known once the server listens.
pub struct HttpContext {
    /// The address it listens on.
    pub address: SocketAddr,
    /// Whether it serves over TLS.
    pub is_tls: bool,
    /// Says which tokens are accepted.
    pub authenticator: Arc<Authenticator>,
}

/// Who may use a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageAccess {
    /// Everybody.
    Public,
    /// A client with a token, or a person who is signed in.
    TokenOrSession,
    /// Only a person who is signed in, if the server needs tokens: it is for people to decide.
    Session,
}

/// Pages that are served beside `/mcp`.
pub struct Pages {
    /// The routes.
    pub router: Router,
    /// Who may use a path.
    pub access: fn(&str) -> PageAccess,
    /// The name a path is counted under in the metrics; `None` for a path that is not served.
    pub route_name: fn(&str) -> Option<&'static str>,
    /// The token that the browser which sent these headers signed in with.
    pub session_token: SessionToken,
    /// Where people sign in.
    pub sign_in_path: &'static str,
}

/// Finds the token of a browser's session from the headers of a request and the connection it came on.
pub type SessionToken = Box<dyn Fn(&HeaderMap, Option<&Connection>) -> Option<String> + Send + Sync>;

/// Builds the pages once the address is known.
pub type PagesBuilder<'a> = Box<dyn FnOnce(&HttpContext) -> Pages + 'a>;

/// Serves clients over HTTP until the process is asked to end. `on_listening` gets the URL of the MCP endpoint.
pub fn serve_http(
    server: &McpServer,
    options: &HttpOptions,
    pages: Option<PagesBuilder<'_>>,
    on_listening: impl FnOnce(&str),
) -> Result<(), ServeError> {
    let own = server.clone();
    serve_http_with(server, options, pages, on_listening, move || own.handler())
}

/// The same with another handler of the protocol, for servers that offer more than the library.
pub fn serve_http_with<H: ServerHandler>(
    server: &McpServer,
    options: &HttpOptions,
    pages: Option<PagesBuilder<'_>>,
    on_listening: impl FnOnce(&str),
    handler: impl Fn() -> H + Send + Sync + 'static,
) -> Result<(), ServeError> {
    if !options.address.ip().is_loopback() && options.tokens.is_empty() && options.oauth.is_none() {
        return Err(ServeError(format!("`{}` is reached from other machines, and there is no token", options.address)));
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().max_blocking_threads(THREADS_MAX).build();
    let runtime = runtime.map_err(|error| runtime_error(&error))?;
    let result = runtime.block_on(listen(server, options, pages, on_listening, handler));
    server.stop();
    runtime.block_on(server.drain(GRACE));
    server.stop_watching();
    runtime.shutdown_background();
    result
}

async fn listen<H: ServerHandler>(
    server: &McpServer,
    options: &HttpOptions,
    pages: Option<PagesBuilder<'_>>,
    on_listening: impl FnOnce(&str),
    handler: impl Fn() -> H + Send + Sync + 'static,
) -> Result<(), ServeError> {
    let failed = |what: &str, error: &dyn std::fmt::Display| ServeError(format!("{what}: {error}"));
    let listener = TcpListener::bind(options.address).await;
    let listener = listener.map_err(|error| failed(&format!("could not listen on `{}`", options.address), &error))?;
    let address = listener.local_addr().map_err(|error| failed("the server has no address", &error))?;
    let config = StreamableHttpServerConfig::default()
        // The guard does both, for this and for every other route.
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_max_request_body_bytes(REQUEST_BYTES_MAX);
    let end_streams = config.cancellation_token.clone();
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(handler()), Arc::clone(&sessions), config);
    let authenticator = Arc::new(Authenticator::new(&options.tokens, options.oauth.clone()));
    // Without a token the kernel still tells other users of this machine apart, unless all of them are allowed.
    let is_private = !authenticator.is_required() && !options.allow_other_users;
    let context = HttpContext { address, is_tls: options.tls.is_some(), authenticator };
    let pages = pages.map(|build| build(&context));
    let mut router = Router::new().route_service("/mcp", service).merge(operator::router(server));
    if let Some(oauth) = &options.oauth {
        let metadata = oauth.metadata().to_string();
        let answer = get(move || std::future::ready(([(header::CONTENT_TYPE, "application/json")], metadata)));
        router = router.route(METADATA_PATH, answer.clone()).route(&format!("{METADATA_PATH}/mcp"), answer);
    }
    if let Some(pages) = &pages {
        router = router.merge(pages.router.clone());
    }
    let guard = Arc::new(AccessGuard::new(options, &context, server, sessions, pages));
    let router = router.layer(middleware::from_fn_with_state(guard, AccessGuard::handle));
    let scheme = if context.is_tls { "https" } else { "http" };
    let url = format!("{scheme}://{address}/mcp");
    if let Some(tls) = &options.tls {
        let listener = TlsListener::new(listener, tls).map_err(ServeError)?;
        on_listening(&url);
        return serve(listener, router, server, is_private, move || end_streams.cancel()).await;
    }
    on_listening(&url);
    // Responses are small, and must not wait for more.
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    serve(listener, router, server, is_private, move || end_streams.cancel()).await
}

/// Serves until the process is asked to end, and during the grace period after that.
async fn serve<L>(
    listener: L,
    router: Router,
    server: &McpServer,
    is_private: bool,
    end_streams: impl FnOnce() + Send + 'static,
) -> Result<(), ServeError>
where
    L: Listener<Addr = SocketAddr>,
{
    let stopping = server.clone();
    let serving = axum::serve(LimitedListener::new(listener, is_private), connections::track_requests(router));
    let serving = serving.with_graceful_shutdown(async move {
        termination().await;
        stopping.stop();
        // Streams that stay open would delay the end.
        end_streams();
    });
    let grace = async {
        termination().await;
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        result = serving => result.map_err(|error| ServeError(format!("the server failed: {error}"))),
        () = grace => Ok(()),
    }
}

/// Whether a person looks at the response: the request accepts HTML.
pub fn wants_page(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    accept.is_some_and(|accept| accept.contains("text/html"))
}

/// A short response in plain text.
pub fn plain_response(status: StatusCode, text: impl Into<Body>) -> Response {
    let mut response = Response::new(text.into());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Redirects to another page of this server, after something was done.
pub fn redirect(to: &str) -> Response {
    let mut response = plain_response(StatusCode::SEE_OTHER, "");
    let to = HeaderValue::from_str(to).unwrap_or(HeaderValue::from_static("/"));
    response.headers_mut().insert(header::LOCATION, to);
    response
}

/// Restricts what browsers may do with a response, whatever it is.
fn harden(headers: &mut HeaderMap) {
    const RULES: [(HeaderName, &str); 6] = [
        (header::CONTENT_SECURITY_POLICY, CONTENT_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        // With `no-referrer`, browsers would not send the origin of a form.
        (header::REFERRER_POLICY, "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    for (name, rule) in RULES {
        headers.insert(name, HeaderValue::from_static(rule));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}
