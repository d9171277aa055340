//! Many clients over HTTP: `/mcp`, and room for more beside it. Every request passes one guard.
//!
//! On a loopback address only pages and programs of this machine are answered: a `Host` or `Origin` from elsewhere is a
//! page of the web that was led here. On any other address a token is needed.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::get;
use axum::serve::{Listener, ListenerExt as _};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use sha2::{Digest, Sha256};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use crate::oauth::OAuth;
use crate::server::{Served, Talk};
use crate::stdio::{GRACE, THREADS_MAX, asked_to_end};
use crate::tls::{Tls, TlsListener};

/// Where clients look for the authorization server.
const METADATA: &str = "/.well-known/oauth-protected-resource";
/// The largest request.
const REQUEST_BYTES_MAX: usize = 4 << 20;
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
}

/// What is left of this second's requests.
struct Bucket {
    left: f64,
    at: Instant,
}

/// Serves clients over HTTP until somebody asks for the end. `tell` hears the address.
pub fn http(served: &Served, options: &Http, tell: &Talk) -> Result<(), String> {
    if !options.address.ip().is_loopback() && options.tokens.is_empty() && options.oauth.is_none() {
        return Err(format!("`{}` is reached from other machines, and there is no token", options.address));
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().max_blocking_threads(THREADS_MAX).build();
    let runtime = runtime.map_err(|error| format!("no room to work in: {error}"))?;
    let result = runtime.block_on(listen(served, options, tell));
    served.stop();
    runtime.block_on(served.rest(GRACE));
    served.end();
    runtime.shutdown_background();
    result
}

async fn listen(served: &Served, options: &Http, tell: &Talk) -> Result<(), String> {
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
    let guard = Arc::new(Guard::new(options, address, sessions));
    let mut router = Router::new().route_service("/mcp", service);
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
        return serve(listener, router, served, move || ended.cancel()).await;
    }
    tell(&ready);
    // Answers are small, and must not wait for more.
    let prompt = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    serve(prompt, router, served, move || ended.cancel()).await
}

/// Answers until somebody asks for the end, and for the grace after it.
async fn serve<L>(
    listener: L,
    router: Router,
    served: &Served,
    end: impl FnOnce() + Send + 'static,
) -> Result<(), String>
where
    L: Listener,
    L::Addr: std::fmt::Debug,
{
    let stopping = served.clone();
    let serving = axum::serve(listener, router).with_graceful_shutdown(async move {
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
    fn new(options: &Http, address: SocketAddr, sessions: Arc<LocalSessionManager>) -> Self {
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
        }
    }

    /// Looks at a request, and answers it itself where it may not pass.
    async fn look(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
        let is_open = request.uri().path().starts_with(METADATA) && guard.oauth.is_some();
        if let Some(refused) = guard.refused(request.headers(), is_open).await {
            return refused;
        }
        // Held until the answer begins: a stream that stays open takes no place.
        let Ok(_slot) = guard.slots.try_acquire() else {
            return plain(StatusCode::SERVICE_UNAVAILABLE, "too many requests at once; try again");
        };
        next.run(request).await
    }

    async fn refused(&self, headers: &HeaderMap, is_open: bool) -> Option<Response> {
        if !self.is_host(headers) {
            return Some(plain(StatusCode::FORBIDDEN, "this `Host` is not served here"));
        }
        if !self.is_origin(headers) {
            return Some(plain(StatusCode::FORBIDDEN, "pages of this `Origin` may not ask"));
        }
        if !is_open && !self.is_let_in(headers).await {
            return Some(self.challenge(headers));
        }
        if !self.is_within_rate() {
            return Some(plain(StatusCode::TOO_MANY_REQUESTS, "too many requests this second"));
        }
        let has_session = headers.contains_key("mcp-session-id");
        let is_new =
            headers.get("mcp-protocol-version").is_some_and(|version| version.as_bytes() >= &b"2026-07-28"[..]);
        if !has_session && !is_new && self.sessions.sessions.read().await.len() >= SESSIONS_MAX {
            return Some(plain(StatusCode::SERVICE_UNAVAILABLE, "too many sessions; end one, or try again later"));
        }
        None
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
        if let Ok(value) = header::HeaderValue::from_str(&challenge) {
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

    /// Whether a page may ask. What is no page has no origin.
    fn is_origin(&self, headers: &HeaderMap) -> bool {
        let Some(origin) = headers.get(header::ORIGIN) else { return true };
        let Ok(origin) = origin.to_str() else { return false };
        let origin = origin.to_ascii_lowercase();
        if self.origins.contains(&origin) {
            return true;
        }
        let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        self.is_loopback && host.is_some_and(|host| is_loopback_name(without_port(host)))
    }

    /// Whether a request bears a token. Takes the same time whichever token it is.
    async fn is_let_in(&self, headers: &HeaderMap) -> bool {
        if self.tokens.is_empty() && self.oauth.is_none() {
            return true;
        }
        let value = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let Some((scheme, token)) = value.split_once(' ') else { return false };
        let given: [u8; 32] = Sha256::digest(token.trim().as_bytes()).into();
        let mut is_known = false;
        for own in &self.tokens {
            let difference = own.iter().zip(&given).fold(0, |all, (one, two)| all | (one ^ two));
            is_known |= difference == 0;
        }
        if !scheme.eq_ignore_ascii_case("bearer") {
            return false;
        }
        match &self.oauth {
            Some(oauth) if !is_known => oauth.is_good(token.trim()).await,
            _ => is_known,
        }
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

/// A short answer.
fn plain(status: StatusCode, text: &'static str) -> Response {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    if matches!(status, StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS) {
        response.headers_mut().insert(header::RETRY_AFTER, header::HeaderValue::from_static("1"));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

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
