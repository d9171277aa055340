//! Serves many clients over HTTP: `/mcp`, the operator's endpoints, and optional pages for users.
//!
//! Every request passes one guard (`guard.rs`). This module does not know the dashboard: it receives a [`PageRoutes`]
//! value, a router together with the access rules of its paths.

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
use rep_runtime::named_token::NamedTokenStore;
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;

use crate::connections::{self, Connection, LimitedListener};
use crate::oauth::OAuthVerifier;
use crate::server::McpServer;
use crate::stdio::{GRACE_PERIOD, THREADS_MAX, wait_for_termination};
use crate::tls::{TlsIdentity, TlsListener};
use crate::{ServeError, runtime_error};

mod authenticator;
mod endpoint;
mod failed_tokens;
mod guard;
mod open_access;
mod operator;
mod request_slots;
mod session_owners;

pub use authenticator::Authenticator;
use guard::AccessGuard;
pub use guard::is_own_origin;

/// The header that contains the id of a request, in its response and in the log.
pub(crate) const REQUEST_ID: &str = "x-request-id";
/// The path of the metadata that points clients to the authorization server.
const METADATA_PATH: &str = "/.well-known/oauth-protected-resource";
/// The maximum size of a request.
const REQUEST_BYTES_MAX: usize = 4 << 20;
/// The maximum time to receive the body of a request. The head has a separate limit.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// How long connections may take to close after all calls are answered.
const CLOSE_PERIOD: Duration = Duration::from_secs(1);
/// The content security policy: pages may only load and contact resources of this server.
const CONTENT_POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// The listen address and the access rules.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// The listen address; port 0 selects a free port.
    pub address: SocketAddr,
    /// The accepted tokens. If empty, everyone who can connect is served.
    pub tokens: Vec<String>,
    /// The named tokens, which are accepted too. A token is required even if there is none at the moment.
    pub named_tokens: Option<NamedTokenStore>,
    /// Whether other users of this machine are also served if no token is required.
    pub allow_other_users: bool,
    /// The authorization server whose tokens are also accepted.
    pub oauth: Option<OAuthVerifier>,
    /// The host names of this server, in addition to the loopback names.
    pub hosts: Vec<String>,
    /// The origins whose pages may send requests, in addition to those of this machine.
    pub origins: Vec<String>,
    /// The maximum number of requests per second.
    pub rate: u32,
    /// The certificate and key, to serve over TLS.
    pub tls: Option<TlsIdentity>,
}

/// The properties of a listening server.
pub struct HttpContext {
    /// The listen address.
    pub address: SocketAddr,
    /// Whether the server uses TLS.
    pub is_tls: bool,
    /// The authenticator of tokens.
    pub authenticator: Arc<Authenticator>,
}

/// The access that a page requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageAccess {
    /// None: everyone may use the page.
    Public,
    /// A token or the session of a signed-in user.
    TokenOrSession,
    /// The session of a signed-in user, if the server requires tokens. For pages on which a person decides.
    Session,
}

/// The pages that are served in addition to `/mcp`.
pub struct PageRoutes {
    /// The routes.
    pub router: Router,
    /// Returns the access that a path requires.
    pub access: fn(&str) -> PageAccess,
    /// Returns the name of a path in the metrics, or `None` if the path is not served.
    pub route_name: fn(&str) -> Option<&'static str>,
    /// Finds the token that a browser signed in with.
    pub session_token: SessionTokenLookup,
    /// The path of the sign-in page.
    pub sign_in_path: &'static str,
}

/// Finds the token of a browser's session from the headers of a request and its connection.
pub type SessionTokenLookup = Box<dyn Fn(&HeaderMap, Option<&Connection>) -> Option<String> + Send + Sync>;

/// Builds the pages once the listen address is known.
pub type PageRoutesBuilder<'a> = Box<dyn FnOnce(&HttpContext) -> PageRoutes + 'a>;

/// Serves clients over HTTP until the process is terminated. `on_listening` receives the URL of the MCP endpoint.
pub fn serve_http(
    server: &McpServer,
    options: &HttpOptions,
    pages: Option<PageRoutesBuilder<'_>>,
    on_listening: impl FnOnce(&str),
) -> Result<(), ServeError> {
    let own = server.clone();
    serve_http_with(server, options, pages, on_listening, move || own.new_handler())
}

/// Serves clients with another protocol handler, for servers that offer more than the library.
pub fn serve_http_with<H: ServerHandler>(
    server: &McpServer,
    options: &HttpOptions,
    pages: Option<PageRoutesBuilder<'_>>,
    on_listening: impl FnOnce(&str),
    handler: impl Fn() -> H + Send + Sync + 'static,
) -> Result<(), ServeError> {
    let has_tokens = !options.tokens.is_empty() || options.named_tokens.is_some() || options.oauth.is_some();
    if !options.address.ip().is_loopback() && !has_tokens {
        return Err(ServeError(format!(
            "`{}` is reachable from other machines and requires a token; \
             make one with `rep token new`, or pass `--token-file` or `--oauth-issuer`",
            options.address
        )));
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().max_blocking_threads(THREADS_MAX).build();
    let runtime = runtime.map_err(|error| runtime_error(&error))?;
    let result = runtime.block_on(listen_and_serve(server, options, pages, on_listening, handler));
    server.begin_shutdown();
    runtime.block_on(server.drain_calls(GRACE_PERIOD));
    server.stop_watching();
    runtime.shutdown_background();
    result
}

async fn listen_and_serve<H: ServerHandler>(
    server: &McpServer,
    options: &HttpOptions,
    pages: Option<PageRoutesBuilder<'_>>,
    on_listening: impl FnOnce(&str),
    handler: impl Fn() -> H + Send + Sync + 'static,
) -> Result<(), ServeError> {
    let failed = |what: &str, error: &dyn std::fmt::Display| ServeError(format!("{what}: {error}"));
    let listener = TcpListener::bind(options.address).await;
    let listener = listener.map_err(|error| failed(&format!("could not listen on `{}`", options.address), &error))?;
    let address = listener.local_addr().map_err(|error| failed("could not determine the listen address", &error))?;
    let config = StreamableHttpServerConfig::default()
        // The guard checks hosts and origins, for this and every other route.
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_json_response(true)
        .with_max_request_body_bytes(REQUEST_BYTES_MAX);
    let end_streams = config.cancellation_token.clone();
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(handler()), Arc::clone(&sessions), config);
    let named = options.named_tokens.clone();
    let authenticator = Arc::new(Authenticator::new(&options.tokens, named, options.oauth.clone(), server));
    // Without tokens, the kernel still identifies other users of this machine, unless all of them are allowed.
    let is_private = !authenticator.is_required() && !options.allow_other_users;
    let context = HttpContext { address, is_tls: options.tls.is_some(), authenticator };
    let pages = pages.map(|build| build(&context));
    let endpoint = Router::new().route_service("/mcp", service);
    let endpoint = endpoint.layer(middleware::from_fn_with_state(server.clone(), endpoint::handle_message));
    let mut router = endpoint.merge(operator::operator_router(server, &context.authenticator));
    if let Some(oauth) = &options.oauth {
        let metadata = oauth.resource_metadata().to_string();
        let answer = get(move || std::future::ready(([(header::CONTENT_TYPE, "application/json")], metadata)));
        router = router.route(METADATA_PATH, answer.clone()).route(&format!("{METADATA_PATH}/mcp"), answer);
    }
    if let Some(pages) = &pages {
        router = router.merge(pages.router.clone());
    }
    let guard = Arc::new(AccessGuard::new(options, &context, server, sessions, pages, is_private));
    let router = router.layer(middleware::from_fn_with_state(guard, AccessGuard::handle_request));
    let scheme = if context.is_tls { "https" } else { "http" };
    let url = format!("{scheme}://{address}/mcp");
    if let Some(tls) = &options.tls {
        let listener = TlsListener::new(listener, tls).map_err(ServeError)?;
        on_listening(&url);
        return serve_until_terminated(listener, router, server, move || end_streams.cancel()).await;
    }
    on_listening(&url);
    // Responses are small and must not be delayed.
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    serve_until_terminated(listener, router, server, move || end_streams.cancel()).await
}

/// Serves until the process is terminated, and then for the grace period.
async fn serve_until_terminated<L>(
    listener: L,
    router: Router,
    server: &McpServer,
    end_streams: impl FnOnce() + Send + 'static,
) -> Result<(), ServeError>
where
    L: Listener<Addr = SocketAddr>,
{
    let stopping = server.clone();
    let serving = axum::serve(LimitedListener::new(listener), connections::track_requests(router));
    let (drained, is_drained) = tokio::sync::oneshot::channel();
    let serving = serving.with_graceful_shutdown(async move {
        // Probes and running calls are answered until nothing runs.
        stopping.drain_until_done(wait_for_termination).await;
        // Open streams would delay the shutdown.
        end_streams();
        // The receiver is dropped if the server failed.
        let _ = drained.send(());
    });
    let grace = async {
        if is_drained.await.is_ok() {
            tokio::time::sleep(CLOSE_PERIOD).await;
        } else {
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        result = serving => result.map_err(|error| ServeError(format!("the HTTP server failed: {error}"))),
        () = grace => Ok(()),
    }
}

/// Whether the response is for a browser: the request accepts HTML.
pub fn wants_page(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    accept.is_some_and(|accept| accept.contains("text/html"))
}

/// Builds a short plain-text response.
pub fn plain_response(status: StatusCode, text: impl Into<Body>) -> Response {
    let mut response = Response::new(text.into());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Redirects to another page of this server, after an action.
pub fn redirect_to(to: &str) -> Response {
    let mut response = plain_response(StatusCode::SEE_OTHER, "");
    let to = HeaderValue::from_str(to).unwrap_or(HeaderValue::from_static("/"));
    response.headers_mut().insert(header::LOCATION, to);
    response
}

/// Restricts what browsers may do with a response.
fn harden_headers(headers: &mut HeaderMap) {
    const RULES: [(HeaderName, &str); 6] = [
        (header::CONTENT_SECURITY_POLICY, CONTENT_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        // With `no-referrer`, browsers do not send the origin of a form.
        (header::REFERRER_POLICY, "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    for (name, rule) in RULES {
        headers.insert(name, HeaderValue::from_static(rule));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}
