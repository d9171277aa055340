//! Many clients over HTTP: `/mcp`, and the page for people beside it. Every request passes one guard.
//!
//! On a loopback address only pages and programs of this machine are answered: a `Host` or `Origin` from elsewhere is a
//! page of the web that was led here. On any other address a token is needed.

use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::get;
use axum::serve::{Listener, ListenerExt as _};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use sha2::{Digest, Sha256};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use crate::calls::Bearer;
use crate::confirm::random;
use crate::oauth::OAuth;
use crate::office::Office;
use crate::server::{Served, Talk};
use crate::stdio::{GRACE, THREADS_MAX, asked_to_end};
use crate::tls::{Tls, TlsListener};
use crate::visitors::{self, Visit, Visitors};
use crate::web::{self, Door, Web};

/// The header that names a request, in its answer and in the log.
pub(crate) const REQUEST_ID: &str = "x-request-id";
/// Where clients look for the authorization server.
const METADATA: &str = "/.well-known/oauth-protected-resource";
/// The largest request.
const REQUEST_BYTES_MAX: usize = 4 << 20;
/// How long the body of a request may take to come. Its head has as long, before.
const BODY_TIME: Duration = Duration::from_secs(30);
/// The most requests that are answered at once, and the most sessions of the old era.
const REQUESTS_MAX: usize = 256;
const SESSIONS_MAX: usize = 1024;

/// Where and for whom to serve.
#[derive(Clone, Debug)]
pub struct Http {
    /// The address; port 0 takes any that is free.
    pub address: SocketAddr,
    /// The tokens that are let in; with none, whoever reaches the address is.
    pub tokens: Vec<String>,
    /// Whether, without any token, other users of this machine are let in too.
    pub is_for_all: bool,
    /// The authorization server whose tokens are let in too.
    pub oauth: Option<OAuth>,
    /// Names this server is reached by, besides those of the loopback address.
    pub hosts: Vec<String>,
    /// Origins whose pages may ask, besides those of this machine.
    pub origins: Vec<String>,
    /// The most requests a second.
    pub rate: u32,
    /// The certificate to show, where TLS is spoken.
    pub tls: Option<Tls>,
}

/// What decides over every request.
struct Guard {
    tokens: Vec<[u8; 32]>,
    oauth: Option<OAuth>,
    hosts: Vec<String>,
    origins: Vec<String>,
    is_loopback: bool,
    is_secure: bool,
    slots: Semaphore,
    bucket: Mutex<Bucket>,
    rate: f64,
    sessions: Arc<LocalSessionManager>,
    web: Arc<Web>,
}

/// What a request must show before it is answered.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gate {
    /// Nothing: what looks whether this lives comes under any name.
    Probe,
    /// No token: metadata, style and script, and where one signs in.
    Open,
    /// A token, or being signed in.
    Page,
    /// Being signed in, where there is anything to sign in with: what only a person does.
    Person,
    /// A token.
    Protocol,
}

/// What is left of this second's requests.
struct Bucket {
    left: f64,
    at: Instant,
}

/// Serves clients over HTTP until somebody asks for the end. `tell` hears the address.
pub fn http(served: &Served, office: Arc<dyn Office>, options: &Http, tell: &Talk) -> Result<(), String> {
    if !options.address.ip().is_loopback() && options.tokens.is_empty() && options.oauth.is_none() {
        return Err(format!("`{}` is reached from other machines, and there is no token", options.address));
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().max_blocking_threads(THREADS_MAX).build();
    let runtime = runtime.map_err(|error| format!("no room to work in: {error}"))?;
    let result = runtime.block_on(listen(served, office, options, tell));
    served.stop();
    runtime.block_on(served.rest(GRACE));
    served.end();
    runtime.shutdown_background();
    result
}

async fn listen(served: &Served, office: Arc<dyn Office>, options: &Http, tell: &Talk) -> Result<(), String> {
    let listener = TcpListener::bind(options.address).await;
    let listener = listener.map_err(|error| format!("could not listen on `{}`: {error}", options.address))?;
    let address = listener.local_addr().map_err(|error| format!("no address: {error}"))?;
    let config = StreamableHttpServerConfig::default()
        // The guard below does both, for this and for every other route.
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_max_request_body_bytes(REQUEST_BYTES_MAX);
    let ended = config.cancellation_token.clone();
    let sessions = Arc::new(LocalSessionManager::default());
    let own = served.clone();
    let service = StreamableHttpService::new(move || Ok(own.server()), Arc::clone(&sessions), config);
    // Without a token the kernel still tells other users of this machine apart, unless everybody was asked in.
    let is_for_one = options.tokens.is_empty() && options.oauth.is_none() && !options.is_for_all;
    let is_guarded = !options.tokens.is_empty() || options.oauth.is_some();
    let door = Door::new(is_guarded, options.tls.is_some(), address.port());
    let web = Web::new(served, office, door);
    let pages = web.router();
    let guard = Arc::new(Guard::new(options, address, sessions, web));
    let (shown, taken) = (Arc::clone(&guard), Arc::clone(&guard));
    let sign_in = get(async move |headers: HeaderMap| web::sign_in_page(&shown.web, &headers, false))
        .post(async move |visit, headers: HeaderMap, body: Bytes| taken.sign_in(visit, &headers, &body).await);
    let mut router = Router::new().route_service("/mcp", service).merge(pages).route("/sign-in", sign_in);
    if let Some(oauth) = &options.oauth {
        let metadata = oauth.metadata().to_string();
        let told = get(move || std::future::ready(([(header::CONTENT_TYPE, "application/json")], metadata)));
        router = router.route(METADATA, told.clone()).route(&format!("{METADATA}/mcp"), told);
    }
    let router = router.layer(middleware::from_fn_with_state(guard, Guard::look));
    let scheme = if options.tls.is_some() { "https" } else { "http" };
    let ready = format!("listening on {scheme}://{address}/mcp");
    if let Some(tls) = &options.tls {
        let listener = TlsListener::new(listener, tls)?;
        tell(&ready);
        return serve(listener, router, served, is_for_one, move || ended.cancel()).await;
    }
    tell(&ready);
    // Answers are small, and must not wait for more.
    let prompt = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    serve(prompt, router, served, is_for_one, move || ended.cancel()).await
}

/// Answers until somebody asks for the end, and for the grace after it.
async fn serve<L>(
    listener: L,
    router: Router,
    served: &Served,
    is_for_one: bool,
    end: impl FnOnce() + Send + 'static,
) -> Result<(), String>
where
    L: Listener<Addr = SocketAddr>,
{
    let stopping = served.clone();
    let serving = axum::serve(Visitors::new(listener, is_for_one), visitors::hearing(router));
    let serving = serving.with_graceful_shutdown(async move {
        asked_to_end().await;
        stopping.stop();
        // Streams that stay open would keep the end waiting.
        end();
    });
    let grace = async {
        asked_to_end().await;
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        result = serving => result.map_err(|error| format!("the server failed: {error}")),
        () = grace => Ok(()),
    }
}

impl Guard {
    fn new(options: &Http, address: SocketAddr, sessions: Arc<LocalSessionManager>, web: Arc<Web>) -> Self {
        Self {
            tokens: options.tokens.iter().map(|token| Sha256::digest(token.as_bytes()).into()).collect(),
            oauth: options.oauth.clone(),
            hosts: options.hosts.iter().map(|host| host.to_ascii_lowercase()).collect(),
            origins: options.origins.iter().map(|origin| origin.trim_end_matches('/').to_ascii_lowercase()).collect(),
            is_loopback: address.ip().is_loopback(),
            is_secure: options.tls.is_some(),
            slots: Semaphore::new(REQUESTS_MAX),
            bucket: Mutex::new(Bucket { left: f64::from(options.rate), at: Instant::now() }),
            rate: f64::from(options.rate),
            sessions,
            web,
        }
    }

    /// Looks at a request, answers it itself where it may not pass, and tells of it.
    async fn look(State(guard): State<Arc<Guard>>, mut request: Request, next: Next) -> Response {
        let started = Instant::now();
        let id = request_id(request.headers());
        request.headers_mut().insert(REQUEST_ID, id.clone());
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        let mut response = guard.pass(request, next).await;
        response.headers_mut().insert(REQUEST_ID, id.clone());
        web::fence(response.headers_mut());
        let shared = &guard.web.shared;
        let (status, took) = (response.status().as_u16(), started.elapsed());
        shared.metrics.answered(web::route(&path), status, took);
        if let Some(log) = &shared.log {
            let ms = took.as_secs_f64() * 1000.0;
            let line = format!("{method} {} {status} in {ms:.1} ms", path.escape_default());
            let fields = [
                ("method", method.as_str().into()),
                ("path", path.as_str().into()),
                ("status", status.into()),
                ("ms", ((ms * 1000.0).round() / 1000.0).into()),
            ];
            log.tell(id.to_str().unwrap_or_default(), &line, &fields);
        }
        response
    }

    async fn pass(&self, request: Request, next: Next) -> Response {
        let gate = self.gate(request.uri().path());
        if gate == Gate::Probe {
            // Constant and cheap: whoever floods this with other requests must not make it look dead.
            return next.run(request).await;
        }
        let (is_person, visit) = (is_person(&request), request.extensions().get().cloned());
        let bearer = match self.let_in(request.headers(), gate, is_person, visit).await {
            Ok(bearer) => bearer,
            Err(refused) => return refused,
        };
        let mut request = match whole(request).await {
            Ok(request) => request,
            Err(refused) => return refused,
        };
        if let Some(bearer) = bearer {
            request.extensions_mut().insert(bearer);
        }
        // Held until the answer begins: a stream that stays open takes no place.
        let Ok(_slot) = self.slots.try_acquire() else {
            return plain(StatusCode::SERVICE_UNAVAILABLE, "too many requests at once; try again");
        };
        next.run(request).await
    }

    fn gate(&self, path: &str) -> Gate {
        match path {
            "/healthz" | "/readyz" => Gate::Probe,
            "/mcp" => Gate::Protocol,
            "/sign-in" => Gate::Open,
            "/answer" | "/run" | "/events" => Gate::Person,
            _ if path.starts_with("/assets/") => Gate::Open,
            _ if path.starts_with(METADATA) && self.oauth.is_some() => Gate::Open,
            _ => Gate::Page,
        }
    }

    /// By what a request is let in, where that can be told; or why it is not.
    async fn let_in(
        &self,
        headers: &HeaderMap,
        gate: Gate,
        is_person: bool,
        visit: Option<ConnectInfo<Visit>>,
    ) -> Result<Option<Bearer>, Response> {
        let owner = || visit.and_then(|ConnectInfo(visit)| visit.owner());
        if !self.is_host(headers) {
            return Err(plain(StatusCode::FORBIDDEN, "this `Host` is not served here"));
        }
        if !self.is_origin(headers, gate) {
            return Err(plain(StatusCode::FORBIDDEN, "pages of this `Origin` may not ask"));
        }
        // Before anything that costs: a token is guessed no faster either.
        if !self.is_within_rate() {
            return Err(plain(StatusCode::TOO_MANY_REQUESTS, "too many requests this second"));
        }
        let is_guarded = !self.tokens.is_empty() || self.oauth.is_some();
        let bearer = match gate {
            _ if !is_guarded => None,
            Gate::Probe | Gate::Open => None,
            Gate::Person => self.signed_in(headers, owner).await,
            Gate::Protocol => self.bearer(headers).await,
            Gate::Page => match self.bearer(headers).await {
                Some(bearer) => Some(bearer),
                None => self.signed_in(headers, owner).await,
            },
        };
        let is_let_in = !is_guarded || matches!(gate, Gate::Probe | Gate::Open) || bearer.is_some();
        if !is_let_in && matches!(gate, Gate::Page | Gate::Person) && is_person {
            return Err(web::onward("/sign-in"));
        }
        if !is_let_in {
            return Err(self.challenge(headers));
        }
        if gate != Gate::Protocol {
            return Ok(bearer);
        }
        let has_session = headers.contains_key("mcp-session-id");
        let is_new =
            headers.get("mcp-protocol-version").is_some_and(|version| version.as_bytes() >= &b"2026-07-28"[..]);
        let sessions = self.sessions.sessions.read().await.len();
        self.web.shared.sessions.store(sessions, Ordering::Relaxed);
        if !has_session && !is_new && sessions >= SESSIONS_MAX {
            return Err(plain(StatusCode::SERVICE_UNAVAILABLE, "too many sessions; end one, or try again later"));
        }
        Ok(bearer)
    }

    /// Whoever signed in, with a token that is still let in.
    async fn signed_in(&self, headers: &HeaderMap, owner: impl FnOnce() -> Option<u32>) -> Option<Bearer> {
        let token = self.web.door.token(headers, owner)?;
        self.bearer_of(&token).await
    }

    /// Takes a token from a form, and gives a cookie for it.
    async fn sign_in(&self, ConnectInfo(visit): ConnectInfo<Visit>, headers: &HeaderMap, body: &Bytes) -> Response {
        let Some(token) = web::token_shown(&self.web, headers, body) else { return web::not_ours(&self.web, headers) };
        if self.bearer_of(&token).await.is_none() {
            return web::sign_in_page(&self.web, headers, true);
        }
        let mut response = web::onward("/");
        response.headers_mut().insert(header::SET_COOKIE, self.web.door.sign_in(&token, visit.owner()));
        response
    }

    /// The answer to who bears no token that is let in, with where to get one.
    fn challenge(&self, headers: &HeaderMap) -> Response {
        let mut response = plain(StatusCode::UNAUTHORIZED, "a token is needed");
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        let scheme = if self.is_secure { "https" } else { "http" };
        let place = match self.oauth {
            Some(_) => format!(", resource_metadata=\"{scheme}://{host}{METADATA}/mcp\""),
            None => String::new(),
        };
        let challenge = format!("Bearer realm=\"repertoire\"{place}");
        if let Ok(value) = HeaderValue::from_str(&challenge) {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, value);
        }
        response
    }

    /// Whether a request was meant for this server. With tokens a page of the web has nothing to gain, and a server that
    /// is reached from elsewhere cannot know all its names.
    fn is_host(&self, headers: &HeaderMap) -> bool {
        let Some(host) = headers.get(header::HOST).and_then(|host| host.to_str().ok()) else { return false };
        let host = host.to_ascii_lowercase();
        let name = without_port(&host);
        let is_named = self.hosts.iter().any(|own| *own == host || own == name);
        match (self.is_loopback, self.hosts.is_empty()) {
            (true, _) => is_named || is_loopback_name(name),
            (false, true) => true,
            (false, false) => is_named,
        }
    }

    /// Whether a page may ask. What is no page has no origin; our own pages have this server's.
    fn is_origin(&self, headers: &HeaderMap, gate: Gate) -> bool {
        let Some(origin) = headers.get(header::ORIGIN) else { return true };
        let Ok(origin) = origin.to_str() else { return false };
        let origin = origin.to_ascii_lowercase();
        let own = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        if self.origins.contains(&origin) || gate != Gate::Protocol && web::is_own_origin(&origin, own) {
            return true;
        }
        let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        self.is_loopback && host.is_some_and(|host| !host.contains(['@', '/']) && is_loopback_name(without_port(host)))
    }

    /// Whoever bears a token in a request.
    async fn bearer(&self, headers: &HeaderMap) -> Option<Bearer> {
        let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
        let (scheme, token) = value.split_once(' ')?;
        if !scheme.eq_ignore_ascii_case("bearer") {
            return None;
        }
        self.bearer_of(token.trim()).await
    }

    /// Whose token it is, where it is let in. Takes the same time whichever of ours it is.
    async fn bearer_of(&self, token: &str) -> Option<Bearer> {
        let given: [u8; 32] = Sha256::digest(token.as_bytes()).into();
        let mut is_known = false;
        for own in &self.tokens {
            let difference = own.iter().zip(&given).fold(0, |all, (one, two)| all | (one ^ two));
            is_known |= difference == 0;
        }
        if is_known {
            // Enough to tell one's tokens apart, and nothing to find them by.
            return Some(Bearer(format!("token {:02x}{:02x}{:02x}{:02x}", given[0], given[1], given[2], given[3])));
        }
        let subject = self.oauth.as_ref()?.subject(token).await?;
        Some(Bearer(format!("subject {subject:?}")))
    }

    fn is_within_rate(&self) -> bool {
        let mut bucket = self.bucket.lock().unwrap_or_else(PoisonError::into_inner);
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

/// The id of a request: the one it came with, where that is a plain word, else one of our own.
fn request_id(headers: &HeaderMap) -> HeaderValue {
    let is_plain = |value: &&HeaderValue| {
        let bytes = value.as_bytes();
        (1..=64).contains(&bytes.len())
            && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
    };
    let own = || {
        let text = format!("{:016x}", u64::from_le_bytes(random()));
        HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static("-"))
    };
    headers.get(REQUEST_ID).filter(is_plain).cloned().unwrap_or_else(own)
}

/// Whether a request is somebody's who wants to see a page.
fn is_person(request: &Request) -> bool {
    request.method() == Method::GET && web::is_person(request.headers())
}

/// A host without its port.
fn without_port(host: &str) -> &str {
    match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or(rest),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    }
}

fn is_loopback_name(name: &str) -> bool {
    name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// A request with all of its body, which who sends it half keeps nobody waiting with.
async fn whole(request: Request) -> Result<Request, Response> {
    let (parts, body) = request.into_parts();
    match tokio::time::timeout(BODY_TIME, axum::body::to_bytes(body, REQUEST_BYTES_MAX)).await {
        Ok(Ok(bytes)) => Ok(Request::from_parts(parts, Body::from(bytes))),
        Ok(Err(_)) => Err(plain(StatusCode::PAYLOAD_TOO_LARGE, "the request is larger than 4 MiB, or broke off")),
        Err(_) => Err(plain(StatusCode::REQUEST_TIMEOUT, "the request did not come to its end")),
    }
}

/// A short answer.
fn plain(status: StatusCode, text: &'static str) -> Response {
    let mut response = web::plain(status, text);
    if matches!(status, StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS) {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_that_never_ends_is_not_waited_for() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        runtime.unwrap().block_on(async {
            let (sender, receiver) = tokio::sync::mpsc::channel::<Result<Bytes, std::io::Error>>(1);
            // A byte every second is never silence.
            tokio::spawn(async move {
                while sender.send(Ok(Bytes::from_static(b"a"))).await.is_ok() {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                }
            });
            let body = Body::from_stream(tokio_stream::wrappers::ReceiverStream::new(receiver));
            let refused = whole(Request::new(body)).await.unwrap_err();
            assert_eq!(refused.status(), StatusCode::REQUEST_TIMEOUT);
        });
    }

    #[test]
    fn names_of_this_machine_are_told_from_others() {
        for name in ["localhost", "localhost:80", "127.0.0.1:8080", "[::1]:80", "127.1.2.3"] {
            assert!(is_loopback_name(without_port(name)), "{name}");
        }
        for name in
            ["evil.example", "localhost.evil.example:80", "127.0.0.1.evil.example", "192.168.0.1", "", "0.0.0.0"]
        {
            assert!(!is_loopback_name(without_port(name)), "{name}");
        }
    }
}
