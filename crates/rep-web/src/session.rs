//! Who is signed in, and which forms are the server's own.
//!
//! A browser cannot send a token by itself. A person who enters one once gets a cookie with a random value, which is valid for this
//! process and never for `/mcp`. Forms that change something carry a key that is derived from that value.
//!
//! Browsers send a cookie to every port of a host. So its name contains this server's port, and on one machine the session is valid
//! only for the user who signed in: another user's server that received the cookie cannot use it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::extract::{ConnectInfo, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use maud::html;
use parking_lot::Mutex;
use rep_mcp::{Connection, is_own_origin, random, redirect};
use sha2::{Digest, Sha256};

use super::fields::Fields;
use super::{Dashboard, document, foreign_form, layout, parse_form};

/// How long a session lasts, and how many there are.
const SESSION_LIFETIME: Duration = Duration::from_hours(12);
const SESSIONS_MAX: usize = 1024;

/// The sessions of browsers.
pub(crate) struct BrowserSessions {
    /// Whether one must sign in at all.
    pub(crate) is_required: bool,
    is_tls: bool,
    cookie_name: String,
    secret: [u8; 32],
    /// By the digest of the cookie's value.
    sessions: Mutex<BTreeMap<[u8; 32], BrowserSession>>,
}

struct BrowserSession {
    ends: Instant,
    /// The token that was shown, which must stay accepted.
    token: String,
    /// The user of this machine who signed in, if the kernel knows.
    owner: Option<u32>,
}

impl BrowserSessions {
    pub(crate) fn new(is_required: bool, is_tls: bool, port: u16) -> Self {
        // With this prefix, browsers accept the cookie over TLS only and from no other name of the domain.
        let prefix = if is_tls { "__Host-" } else { "" };
        let cookie_name = format!("{prefix}rep_session_{port}");
        Self { is_required, is_tls, cookie_name, secret: random(), sessions: Mutex::default() }
    }

    /// The key that forms for this browser carry.
    pub(crate) fn form_key(&self, headers: &HeaderMap) -> String {
        let value = self.cookie_value(headers).filter(|_| self.is_required).unwrap_or_default();
        let digest = Sha256::new().chain_update(self.secret).chain_update(value.as_bytes()).finalize();
        hex(&digest[..16])
    }

    /// Whether a form is from a page of this server: it carries the key, and the browser does not say otherwise.
    pub(crate) fn is_own_form(&self, headers: &HeaderMap, key: &str) -> bool {
        is_equal(key.as_bytes(), self.form_key(headers).as_bytes()) && is_from_own_page(headers)
    }

    /// The token that this browser signed in with. `owner` finds the user its connection belongs to.
    pub(crate) fn token(&self, headers: &HeaderMap, owner: impl FnOnce() -> Option<u32>) -> Option<String> {
        let name = digest(&self.cookie_value(headers)?);
        let mut sessions = self.sessions.lock();
        let now = Instant::now();
        sessions.retain(|_, session| session.ends > now);
        let session = sessions.get(&name)?;
        (session.owner.is_none() || session.owner == owner()).then(|| session.token.clone())
    }

    /// Begins a session for an accepted token: returns the cookie.
    fn begin(&self, token: &str, owner: Option<u32>) -> HeaderValue {
        let value = hex(&random::<32>());
        let mut sessions = self.sessions.lock();
        while sessions.len() >= SESSIONS_MAX {
            let Some(oldest) = sessions.iter().min_by_key(|(_, session)| session.ends).map(|(name, _)| *name) else {
                break;
            };
            sessions.remove(&oldest);
        }
        let session = BrowserSession { ends: Instant::now() + SESSION_LIFETIME, token: token.to_owned(), owner };
        sessions.insert(digest(&value), session);
        self.cookie(&value, SESSION_LIFETIME.as_secs())
    }

    /// Ends the session of a browser: returns the cookie that removes its own.
    fn end(&self, headers: &HeaderMap) -> HeaderValue {
        if let Some(value) = self.cookie_value(headers) {
            self.sessions.lock().remove(&digest(&value));
        }
        self.cookie("", 0)
    }

    fn cookie(&self, value: &str, seconds: u64) -> HeaderValue {
        let secure = if self.is_tls { "; Secure" } else { "" };
        let name = &self.cookie_name;
        let text = format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}{secure}");
        HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static(""))
    }

    /// The value of the cookie.
    fn cookie_value(&self, headers: &HeaderMap) -> Option<String> {
        let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs = all.flat_map(|text| text.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.find(|(name, value)| *name == self.cookie_name && value.len() == 64).map(|(_, value)| value.to_owned())
    }
}

/// Shows the page to sign in at.
pub(super) async fn show_sign_in(State(dashboard): State<Arc<Dashboard>>, headers: HeaderMap) -> Response {
    sign_in_page(&dashboard, &headers, false)
}

/// Takes a token from a form, and begins a session.
pub(super) async fn sign_in(
    State(dashboard): State<Arc<Dashboard>>,
    ConnectInfo(connection): ConnectInfo<Connection>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let Some(fields) = parse_form(&dashboard, &headers, &body) else { return foreign_form(&dashboard, &headers) };
    let token = fields.get("token");
    if dashboard.authenticator.identify(token).await.is_none() {
        return sign_in_page(&dashboard, &headers, true);
    }
    let mut response = redirect("/");
    response.headers_mut().insert(header::SET_COOKIE, dashboard.sessions.begin(token, connection.owner()));
    response
}

/// Ends a session.
pub(super) async fn sign_out(State(dashboard): State<Arc<Dashboard>>, headers: HeaderMap, body: Bytes) -> Response {
    if parse_form(&dashboard, &headers, &body).is_none() {
        return foreign_form(&dashboard, &headers);
    }
    let mut response = redirect("/sign-in");
    response.headers_mut().insert(header::SET_COOKIE, dashboard.sessions.end(&headers));
    response
}

fn sign_in_page(dashboard: &Arc<Dashboard>, headers: &HeaderMap, is_refused: bool) -> Response {
    let request = dashboard.request(headers, Fields::default());
    let status = if is_refused { StatusCode::UNAUTHORIZED } else { StatusCode::OK };
    let body = html! {
        section class="narrow card" {
            h1 { "Sign in" }
            p {
                "This server needs one of its tokens. You enter it once; the browser keeps a random value instead. "
                "The server printed at its start which file has the tokens."
            }
            @if is_refused { (layout::alert("This token is not accepted.")) }
            form method="post" action="/sign-in" {
                (layout::form_key(&request))
                label for="token" { "Token" }
                input id="token" name="token" type="password" autocomplete="current-password" required autofocus;
                button class="primary" { "Sign in" }
            }
        }
    };
    document(status, layout::bare_page(&request, "Sign in", &body))
}

/// Whether the browser says that a request is from a page of this very server. Programs say nothing.
fn is_from_own_page(headers: &HeaderMap) -> bool {
    let text = |name: header::HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let is_own_site = headers.get("sec-fetch-site").is_none_or(|site| site == "same-origin");
    let host = text(header::HOST).unwrap_or_default();
    is_own_site && text(header::ORIGIN).is_none_or(|origin| is_own_origin(origin, host))
}

fn digest(value: &str) -> [u8; 32] {
    Sha256::digest(value.as_bytes()).into()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether two texts are equal; takes the same time whatever they contain.
fn is_equal(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && one.iter().zip(other).fold(0, |all, (one, other)| all | (one ^ other)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_valid_until_it_ends_and_its_forms_are_its_own() {
        let sessions = BrowserSessions::new(true, true, 8300);
        let cookie = sessions.begin("a token", None).to_str().unwrap().to_owned();
        assert!(
            cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict") && cookie.contains("Secure"),
            "{cookie}"
        );
        assert!(cookie.starts_with("__Host-rep_session_8300=") && !cookie.contains("a token"), "{cookie}");
        let headers = with_cookie(&cookie);
        assert_eq!(sessions.token(&headers, || Some(7)).as_deref(), Some("a token"));
        assert_ne!(sessions.form_key(&headers), sessions.form_key(&HeaderMap::new()));
        assert!(sessions.is_own_form(&headers, &sessions.form_key(&headers)));
        assert!(!sessions.is_own_form(&headers, ""));
        let mut foreign = headers.clone();
        foreign.insert("sec-fetch-site", HeaderValue::from_static("cross-site"));
        assert!(!sessions.is_own_form(&foreign, &sessions.form_key(&foreign)));
        sessions.end(&headers);
        assert_eq!(sessions.token(&headers, || Some(7)), None);
    }

    #[test]
    fn a_session_is_valid_for_who_signed_in_and_at_one_port() {
        let (sessions, other) = (BrowserSessions::new(true, false, 8300), BrowserSessions::new(true, false, 8301));
        let headers = with_cookie(sessions.begin("a token", Some(1000)).to_str().unwrap());
        let token = |owner| sessions.token(&headers, || owner);
        assert_eq!((token(Some(1000)).as_deref(), token(Some(1001)), token(None)), (Some("a token"), None, None));
        assert_eq!(other.cookie_value(&headers), None);
    }

    fn with_cookie(cookie: &str) -> HeaderMap {
        let pair = HeaderValue::from_str(cookie.split(';').next().unwrap()).unwrap();
        HeaderMap::from_iter([(header::COOKIE, pair)])
    }
}
