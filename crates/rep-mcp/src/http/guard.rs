//! The guard that every HTTP request passes.
//!
//! On a loopback address, only pages and programs of this machine are served: a foreign `Host` or `Origin` indicates a
//! web page that was pointed at this server. On any other address, a token is required.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use axum::body::Body;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use parking_lot::Mutex;
use rep_runtime::named_token::TokenScope;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;

use super::authenticator::bearer_token;
use super::open_access::{AccessLease, OpenAccess};
use super::request_slots::RequestSlots;
use super::session_owners::SessionOwners;
use super::{
    Authenticator, BODY_TIMEOUT, HttpContext, HttpOptions, METADATA_PATH, PageAccess, PageRoutes, REQUEST_BYTES_MAX,
    REQUEST_ID, harden_headers, plain_response, redirect_to, wants_page,
};
use crate::confirmation::random_bytes;
use crate::connections::Connection;
use crate::identity::{BearerIdentity, Owner};
use crate::server::McpServer;

/// Decides whether to admit each request.
pub(super) struct AccessGuard {
    authenticator: Arc<Authenticator>,
    hosts: Vec<String>,
    origins: Vec<String>,
    is_loopback: bool,
    is_tls: bool,
    /// Whether only the user of this process is served.
    is_private: bool,
    slots: Arc<RequestSlots>,
    bucket: Mutex<TokenBucket>,
    rate: f64,
    sessions: Arc<SessionOwners>,
    open_access: Arc<OpenAccess>,
    server: McpServer,
    pages: Option<PageRoutes>,
}

/// The access that a request requires.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RequiredAccess {
    /// None, under any host name: a health probe.
    Probe,
    /// None.
    Public,
    /// A token, or the session of a browser.
    TokenOrSession,
    /// The session of a browser, if tokens are required.
    Session,
    /// A token, for `/mcp`.
    Protocol,
}

/// The number of requests that remain in this second.
struct TokenBucket {
    left: f64,
    at: Instant,
}

impl AccessGuard {
    pub(super) fn new(
        options: &HttpOptions,
        context: &HttpContext,
        server: &McpServer,
        sessions: Arc<LocalSessionManager>,
        pages: Option<PageRoutes>,
        is_private: bool,
    ) -> Self {
        let sessions = Arc::new(SessionOwners::new(sessions));
        let open_access = OpenAccess::start(&context.authenticator, &sessions, server);
        Self {
            authenticator: Arc::clone(&context.authenticator),
            hosts: options.hosts.iter().map(|host| host.to_ascii_lowercase()).collect(),
            origins: options.origins.iter().map(|origin| origin.trim_end_matches('/').to_ascii_lowercase()).collect(),
            is_loopback: context.address.ip().is_loopback(),
            is_tls: context.is_tls,
            is_private,
            slots: Arc::default(),
            bucket: Mutex::new(TokenBucket { left: f64::from(options.rate), at: Instant::now() }),
            rate: f64::from(options.rate),
            sessions,
            open_access,
            server: server.clone(),
            pages,
        }
    }

    /// Admits or refuses a request, counts it and logs it.
    pub(super) async fn handle_request(
        State(guard): State<Arc<AccessGuard>>,
        mut request: Request,
        next: Next,
    ) -> Response {
        let started = Instant::now();
        let id = request_id(request.headers());
        request.headers_mut().insert(REQUEST_ID, id.clone());
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        let mut response = guard.admit_request(request, next).await;
        response.headers_mut().insert(REQUEST_ID, id.clone());
        harden_headers(response.headers_mut());
        let (status, elapsed) = (response.status().as_u16(), started.elapsed());
        guard.server.0.metrics.count_response(guard.route_name(&path), status, elapsed);
        let ms = elapsed.as_secs_f64() * 1000.0;
        tracing::info!(
            target: "rep_mcp::request",
            request = id.to_str().unwrap_or_default(),
            method = method.as_str(),
            path,
            status,
            ms = (ms * 1000.0).round() / 1000.0,
            "{method} {} {status} in {ms:.1} ms",
            path.escape_default(),
        );
        response
    }

    async fn admit_request(&self, request: Request, next: Next) -> Response {
        let path = request.uri().path().to_owned();
        let access = self.required_access(&path);
        if access == RequiredAccess::Probe {
            // Constant and cheap: a flood of other requests must not make the server look dead.
            return next.run(request).await;
        }
        let is_person = request.method() == Method::GET && wants_page(request.headers());
        let connection = request.extensions().get::<ConnectInfo<Connection>>().cloned();
        let connection = connection.as_ref().map(|ConnectInfo(connection)| connection);
        if self.is_private && connection.is_some_and(|connection| !connection.is_own()) {
            return refusal_response(StatusCode::FORBIDDEN, "this server answers only the user who started it");
        }
        if !has_one_host(&request) {
            return refusal_response(StatusCode::BAD_REQUEST, "the request must name exactly one host");
        }
        let bearer = match self.authorize_request((request.headers(), &path), access, is_person, connection).await {
            Ok(bearer) => bearer,
            Err(refusal) => return refusal,
        };
        let owner = Owner::from_bearer(bearer.as_ref());
        // A request that needs no access proves nothing about the client.
        let is_admitted = access == RequiredAccess::Public && self.authenticator.is_required()
            || connection.is_none_or(|connection| connection.admit(&owner));
        if !is_admitted {
            return refusal_response(StatusCode::SERVICE_UNAVAILABLE, "too many connections; close some of yours");
        }
        let mut request = match read_body(request).await {
            Ok(request) => request,
            Err(refusal) => return refusal,
        };
        let lease = match bearer {
            Some(bearer) => {
                let lease = self.open_access.lease(&bearer, &request);
                request.extensions_mut().insert(bearer);
                lease
            }
            None => AccessLease::unlimited(),
        };
        if access == RequiredAccess::Protocol {
            self.sessions.hide_foreign(request.headers_mut(), &owner);
            self.server.0.sessions.store(self.sessions.count().await, Ordering::Relaxed);
        }
        // The slot is held until the response starts, so a stream that stays open does not occupy it.
        let Some(_slot) = self.slots.try_acquire(&owner) else {
            return refusal_response(StatusCode::SERVICE_UNAVAILABLE, "too many concurrent requests; try again later");
        };
        let hosts: HeaderMap =
            request.headers().get(header::HOST).map(|host| (header::HOST, host.clone())).into_iter().collect();
        let answer = async {
            let response = next.run(request).await;
            if access == RequiredAccess::Protocol {
                self.sessions.note_started(response.headers(), owner).await;
            }
            response
        };
        match lease.answer(answer).await {
            Some(response) => lease.limit_stream(response),
            None => self.challenge_response(&hosts),
        }
    }

    fn required_access(&self, path: &str) -> RequiredAccess {
        match path {
            "/healthz" | "/readyz" => RequiredAccess::Probe,
            "/mcp" => RequiredAccess::Protocol,
            _ if path.starts_with(METADATA_PATH) && self.authenticator.has_oauth() => RequiredAccess::Public,
            _ => match self.pages.as_ref().map(|pages| (pages.access)(path)) {
                Some(PageAccess::Public) => RequiredAccess::Public,
                Some(PageAccess::Session) => RequiredAccess::Session,
                Some(PageAccess::TokenOrSession) | None => RequiredAccess::TokenOrSession,
            },
        }
    }

    /// Returns the name under which a path is counted.
    fn route_name(&self, path: &str) -> &'static str {
        const OWN: [&str; 4] = ["/healthz", "/mcp", "/metrics", "/readyz"];
        match OWN.into_iter().find(|own| *own == path) {
            Some(own) => own,
            None if path.starts_with("/.well-known/") => "/.well-known",
            None => self.pages.as_ref().and_then(|pages| (pages.route_name)(path)).unwrap_or("other"),
        }
    }

    /// Returns the identity that authenticated a request, if one is required, or the response that refuses the request.
    async fn authorize_request(
        &self,
        (headers, path): (&HeaderMap, &str),
        access: RequiredAccess,
        is_person: bool,
        connection: Option<&Connection>,
    ) -> Result<Option<BearerIdentity>, Response> {
        if !self.is_own_host(headers) {
            return Err(refusal_response(
                StatusCode::FORBIDDEN,
                "this `Host` is not allowed; add it with `--allow-host`",
            ));
        }
        if !self.is_allowed_origin(headers, access) {
            return Err(refusal_response(
                StatusCode::FORBIDDEN,
                "this `Origin` is not allowed; add it with `--allow-origin`",
            ));
        }
        // Checked before anything expensive; it also limits how fast tokens can be guessed.
        if !self.is_within_rate() {
            return Err(refusal_response(StatusCode::TOO_MANY_REQUESTS, "rate limit exceeded; try again later"));
        }
        let needs_token =
            self.authenticator.is_required() && !matches!(access, RequiredAccess::Probe | RequiredAccess::Public);
        let bearer = match access {
            _ if !needs_token => None,
            RequiredAccess::Probe | RequiredAccess::Public => None,
            RequiredAccess::Session => self.session_identity(headers, connection).await,
            RequiredAccess::Protocol => self.token_identity(headers, path, connection).await,
            RequiredAccess::TokenOrSession => match self.token_identity(headers, path, connection).await {
                Some(bearer) => Some(bearer),
                None => self.session_identity(headers, connection).await,
            },
        };
        if needs_token && bearer.is_none() {
            return Err(match &self.pages {
                Some(pages) if is_person && access != RequiredAccess::Protocol => redirect_to(pages.sign_in_path),
                _ => self.challenge_response(headers),
            });
        }
        if bearer.as_ref().is_some_and(|bearer| !bearer.allows(TokenScope::Read)) {
            return Err(self.insufficient_scope_response(headers));
        }
        Ok(bearer)
    }

    /// Returns the identity of a browser's session, if its token is still accepted.
    async fn session_identity(&self, headers: &HeaderMap, connection: Option<&Connection>) -> Option<BearerIdentity> {
        let token = (self.pages.as_ref()?.session_token)(headers, connection)?;
        self.authenticator.identify_bearer(&token).await
    }

    /// Returns the identity of the token in a request. A wrong token is refused late.
    async fn token_identity(
        &self,
        headers: &HeaderMap,
        path: &str,
        connection: Option<&Connection>,
    ) -> Option<BearerIdentity> {
        self.authenticator.identify_or_delay(bearer_token(headers)?, connection, path).await
    }

    /// Builds the response to a request without an accepted token, which says where to get one.
    fn challenge_response(&self, headers: &HeaderMap) -> Response {
        let message = "missing or invalid token; send it as `Authorization: Bearer <token>`";
        self.with_challenge(refusal_response(StatusCode::UNAUTHORIZED, message), headers, ", scope=\"read\"")
    }

    /// Builds the response to a request whose token allows nothing here.
    fn insufficient_scope_response(&self, headers: &HeaderMap) -> Response {
        let message = "this token has no scope of this server: read, run or admin";
        let response = refusal_response(StatusCode::FORBIDDEN, message);
        self.with_challenge(response, headers, ", error=\"insufficient_scope\", scope=\"read\"")
    }

    fn with_challenge(&self, mut response: Response, headers: &HeaderMap, details: &str) -> Response {
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        let scheme = if self.is_tls { "https" } else { "http" };
        let metadata = if self.authenticator.has_oauth() {
            format!(", resource_metadata=\"{scheme}://{host}{METADATA_PATH}/mcp\"{details}")
        } else {
            String::new()
        };
        let challenge = format!("Bearer realm=\"repertoire\"{metadata}");
        if let Ok(value) = HeaderValue::from_str(&challenge) {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, value);
        }
        response
    }

    /// Whether a request was meant for this server. If tokens are required, a foreign web page gains nothing, and a
    /// server that is reachable from other machines cannot know all of its names.
    fn is_own_host(&self, headers: &HeaderMap) -> bool {
        let Some(host) = headers.get(header::HOST).and_then(|host| host.to_str().ok()) else { return false };
        let host = host.to_ascii_lowercase();
        let name = strip_port(&host);
        let is_named = self.hosts.iter().any(|own| *own == host || own == name);
        match (self.is_loopback, self.hosts.is_empty()) {
            (true, _) => is_named || is_loopback_name(name),
            (false, true) => true,
            (false, false) => is_named,
        }
    }

    /// Whether the page that sent a request is allowed to. Programs send no origin; the server's own pages send its
    /// own.
    fn is_allowed_origin(&self, headers: &HeaderMap, access: RequiredAccess) -> bool {
        let Some(origin) = headers.get(header::ORIGIN) else { return true };
        let Ok(origin) = origin.to_str() else { return false };
        let origin = origin.to_ascii_lowercase();
        let own = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        if self.origins.contains(&origin) || access != RequiredAccess::Protocol && is_own_origin(&origin, own) {
            return true;
        }
        let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        self.is_loopback && host.is_some_and(|host| !host.contains(['@', '/']) && is_loopback_name(strip_port(host)))
    }

    fn is_within_rate(&self) -> bool {
        let mut bucket = self.bucket.lock();
        let now = Instant::now();
        let gained = now.duration_since(bucket.at).as_secs_f64() * self.rate;
        bucket.left = (bucket.left + gained).min(self.rate);
        bucket.at = now;
        if bucket.left < 1.0 {
            return false;
        }
        bucket.left -= 1.0;
        true
    }
}

/// Whether a request names one host: in one `Host` header, and in its URI no other one.
fn has_one_host(request: &Request) -> bool {
    let mut hosts = request.headers().get_all(header::HOST).iter();
    let (host, more) = (hosts.next(), hosts.next());
    let is_same = |named: &str| host.is_some_and(|host| host.as_bytes().eq_ignore_ascii_case(named.as_bytes()));
    more.is_none() && request.uri().authority().is_none_or(|authority| is_same(authority.as_str()))
}

/// Returns the id that the request contains if it is a plain word, or a random id.
fn request_id(headers: &HeaderMap) -> HeaderValue {
    let is_plain = |value: &&HeaderValue| {
        let bytes = value.as_bytes();
        (1..=64).contains(&bytes.len())
            && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
    };
    let new_id = || {
        let text = format!("{:016x}", u64::from_le_bytes(random_bytes()));
        HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static("-"))
    };
    headers.get(REQUEST_ID).filter(is_plain).cloned().unwrap_or_else(new_id)
}

/// Whether an origin is the host that a request was sent to.
pub fn is_own_origin(origin: &str, host: &str) -> bool {
    let named = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    !host.is_empty() && named.is_some_and(|named| named.eq_ignore_ascii_case(host))
}

/// Returns a host without its port.
fn strip_port(host: &str) -> &str {
    match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or(rest),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    }
}

fn is_loopback_name(name: &str) -> bool {
    name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Reads the complete body of a request, so that a slow client does not block later stages.
async fn read_body(request: Request) -> Result<Request, Response> {
    let (parts, body) = request.into_parts();
    let length = parts.headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    if length.is_some_and(|length: u64| length > REQUEST_BYTES_MAX as u64) {
        return Err(refusal_response(StatusCode::PAYLOAD_TOO_LARGE, "the request is larger than 4 MiB"));
    }
    match tokio::time::timeout(BODY_TIMEOUT, axum::body::to_bytes(body, REQUEST_BYTES_MAX)).await {
        Ok(Ok(bytes)) => Ok(Request::from_parts(parts, Body::from(bytes))),
        Ok(Err(_)) => {
            Err(refusal_response(StatusCode::PAYLOAD_TOO_LARGE, "the request is larger than 4 MiB or incomplete"))
        }
        Err(_) => Err(refusal_response(StatusCode::REQUEST_TIMEOUT, "the request body was not received in time")),
    }
}

/// Builds a refusal. If a later attempt may succeed, it says when to retry.
fn refusal_response(status: StatusCode, text: &'static str) -> Response {
    let mut response = plain_response(status, text);
    if matches!(status, StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS) {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use axum::body::Bytes;

    use super::*;

    #[test]
    fn a_body_that_never_ends_is_not_waited_for() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        runtime.unwrap().block_on(async {
            let (sender, receiver) = tokio::sync::mpsc::channel::<Result<Bytes, std::io::Error>>(1);
            // With one byte per second, the body is never idle.
            tokio::spawn(async move {
                while sender.send(Ok(Bytes::from_static(b"a"))).await.is_ok() {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                }
            });
            let body = Body::from_stream(tokio_stream::wrappers::ReceiverStream::new(receiver));
            let refusal = read_body(Request::new(body)).await.unwrap_err();
            assert_eq!(refusal.status(), StatusCode::REQUEST_TIMEOUT);
        });
    }

    #[test]
    fn names_of_this_machine_differ_from_others() {
        for name in ["localhost", "localhost:80", "127.0.0.1:8080", "[::1]:80", "127.1.2.3"] {
            assert!(is_loopback_name(strip_port(name)), "{name}");
        }
        for name in
            ["evil.example", "localhost.evil.example:80", "127.0.0.1.evil.example", "192.168.0.1", "", "0.0.0.0"]
        {
            assert!(!is_loopback_name(strip_port(name)), "{name}");
        }
    }

    #[test]
    fn only_this_very_server_is_its_own_origin() {
        assert!(is_own_origin("http://127.0.0.1:8300", "127.0.0.1:8300"));
        for origin in
            ["http://127.0.0.1:8301", "null", "", "http://127.0.0.1:8300.evil.example", "file://127.0.0.1:8300"]
        {
            assert!(!is_own_origin(origin, "127.0.0.1:8300"), "{origin}");
        }
        assert!(!is_own_origin("http://", ""));
    }
}
