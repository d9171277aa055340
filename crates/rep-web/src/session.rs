//! Browser sessions, and the protection of forms against forgery.
//!
//! Browsers do not send tokens on their own. A user who enters a token once gets a cookie with a random value. It is
//! valid for this process and never for `/mcp`. Forms that change something contain a key derived from that value.
//!
//! Browsers send a cookie to every port of a host. Therefore the cookie's name contains this server's port, and on the
//! same machine a session is valid only for the user who signed in: another user's server that receives the cookie
//! cannot use it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::extract::{ConnectInfo, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use maud::html;
use parking_lot::Mutex;
use rep_mcp::{Connection, Visitor, is_own_origin, random_bytes, redirect_to};
use sha2::{Digest, Sha256};

use super::fields::FormFields;
use super::{Dashboard, foreign_form_response, html_response, layout, parse_form};

/// The lifetime and maximum number of sessions.
const SESSION_LIFETIME: Duration = Duration::from_hours(12);
const SESSIONS_MAX: usize = 1024;

/// The sessions of browsers.
pub(crate) struct BrowserSessions {
    /// Whether users must sign in.
    pub(crate) is_required: bool,
    is_tls: bool,
    cookie_name: String,
    secret: [u8; 32],
    /// The sessions by the digest of the cookie's value.
    sessions: Mutex<BTreeMap<[u8; 32], BrowserSession>>,
}

struct BrowserSession {
    ends_at: Instant,
    /// The token that was entered, which must remain accepted.
    token: String,
    /// The user of this machine who signed in, if the kernel knows.
    owner: Option<u32>,
}

impl BrowserSessions {
    pub(crate) fn new(is_required: bool, is_tls: bool, port: u16) -> Self {
        // With this prefix, browsers accept the cookie only over TLS, and only from this host name.
        let prefix = if is_tls { "__Host-" } else { "" };
        let cookie_name = format!("{prefix}rep_session_{port}");
        Self { is_required, is_tls, cookie_name, secret: random_bytes(), sessions: Mutex::default() }
    }

    /// Returns the key for forms of this browser.
    pub(crate) fn form_key(&self, headers: &HeaderMap) -> String {
        let value = self.cookie_value(headers).filter(|_| self.is_required).unwrap_or_default();
        let digest = Sha256::new().chain_update(self.secret).chain_update(value.as_bytes()).finalize();
        to_hex(&digest[..16])
    }

    /// Whether a form is from a page of this server: it contains the key, and the browser's headers do not contradict
    /// that.
    pub(crate) fn is_own_form(&self, headers: &HeaderMap, key: &str) -> bool {
        is_equal_in_constant_time(key.as_bytes(), self.form_key(headers).as_bytes()) && is_from_own_page(headers)
    }

    /// Returns the token that this browser signed in with. `owner` finds the user that owns the connection.
    pub(crate) fn session_token(&self, headers: &HeaderMap, owner: impl FnOnce() -> Option<u32>) -> Option<String> {
        let name = digest_value(&self.cookie_value(headers)?);
        let mut sessions = self.sessions.lock();
        let now = Instant::now();
        sessions.retain(|_, session| session.ends_at > now);
        let session = sessions.get(&name)?;
        (session.owner.is_none() || session.owner == owner()).then(|| session.token.clone())
    }

    /// Starts a session for an accepted token and returns the cookie.
    fn begin_session(&self, token: &str, owner: Option<u32>) -> HeaderValue {
        let value = to_hex(&random_bytes::<32>());
        let mut sessions = self.sessions.lock();
        while sessions.len() >= SESSIONS_MAX {
            let Some(oldest) = sessions.iter().min_by_key(|(_, session)| session.ends_at).map(|(name, _)| *name) else {
                break;
            };
            sessions.remove(&oldest);
        }
        let session = BrowserSession { ends_at: Instant::now() + SESSION_LIFETIME, token: token.to_owned(), owner };
        sessions.insert(digest_value(&value), session);
        self.build_cookie(&value, SESSION_LIFETIME.as_secs())
    }

    /// Ends the session of a browser and returns a cookie that removes the browser's cookie.
    fn end_session(&self, headers: &HeaderMap) -> HeaderValue {
        if let Some(value) = self.cookie_value(headers) {
            self.sessions.lock().remove(&digest_value(&value));
        }
        self.build_cookie("", 0)
    }

    fn build_cookie(&self, value: &str, seconds: u64) -> HeaderValue {
        let secure = if self.is_tls { "; Secure" } else { "" };
        let name = &self.cookie_name;
        let text = format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}{secure}");
        HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static(""))
    }

    /// Returns the value of the session cookie.
    fn cookie_value(&self, headers: &HeaderMap) -> Option<String> {
        let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs = all.flat_map(|text| text.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.find(|(name, value)| *name == self.cookie_name && value.len() == 64).map(|(_, value)| value.to_owned())
    }
}

/// Shows the sign-in page.
pub(super) async fn show_sign_in(State(dashboard): State<Arc<Dashboard>>, headers: HeaderMap) -> Response {
    render_sign_in_page(&dashboard, &headers, false)
}

/// Starts a session with the token in a form.
pub(super) async fn sign_in(
    State(dashboard): State<Arc<Dashboard>>,
    ConnectInfo(connection): ConnectInfo<Connection>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let Some(fields) = parse_form(&dashboard, &headers, &body) else {
        return foreign_form_response(&dashboard, &headers);
    };
    let token = fields.get("token");
    if dashboard.authenticator.identify_or_delay(token, Some(&connection), "/sign-in").await.is_none() {
        return render_sign_in_page(&dashboard, &headers, true);
    }
    let mut response = redirect_to("/");
    response.headers_mut().insert(header::SET_COOKIE, dashboard.sessions.begin_session(token, connection.owner()));
    response
}

/// Ends a session.
pub(super) async fn sign_out(State(dashboard): State<Arc<Dashboard>>, headers: HeaderMap, body: Bytes) -> Response {
    if parse_form(&dashboard, &headers, &body).is_none() {
        return foreign_form_response(&dashboard, &headers);
    }
    let mut response = redirect_to("/sign-in");
    response.headers_mut().insert(header::SET_COOKIE, dashboard.sessions.end_session(&headers));
    response
}

fn render_sign_in_page(dashboard: &Arc<Dashboard>, headers: &HeaderMap, is_refused: bool) -> Response {
    let request = dashboard.page_request(headers, Visitor::Stranger, FormFields::default());
    let status = if is_refused { StatusCode::UNAUTHORIZED } else { StatusCode::OK };
    let body = html! {
        section class="narrow card" {
            h1 { "Sign in" }
            p {
                "This server requires a token. You enter it once; the browser stores a random value instead. "
                "The server printed the path of its token file when it started."
            }
            @if is_refused { (layout::render_alert("This token is not accepted.")) }
            form method="post" action="/sign-in" {
                (layout::render_form_key(&request))
                label for="token" { "Token" }
                input id="token" name="token" type="password" autocomplete="current-password" required autofocus;
                button class="primary" { "Sign in" }
            }
        }
    };
    html_response(status, layout::render_bare_page(&request, "Sign in", &body))
}

/// Whether the browser reports that a request is from a page of this server. Programs report nothing.
fn is_from_own_page(headers: &HeaderMap) -> bool {
    let text = |name: header::HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let is_own_site = headers.get("sec-fetch-site").is_none_or(|site| site == "same-origin");
    let host = text(header::HOST).unwrap_or_default();
    is_own_site && text(header::ORIGIN).is_none_or(|origin| is_own_origin(origin, host))
}

fn digest_value(value: &str) -> [u8; 32] {
    Sha256::digest(value.as_bytes()).into()
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether two byte strings are equal, in time that does not depend on their contents.
fn is_equal_in_constant_time(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && one.iter().zip(other).fold(0, |all, (one, other)| all | (one ^ other)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_valid_until_it_ends_and_its_forms_are_its_own() {
        let sessions = BrowserSessions::new(true, true, 8300);
        let cookie = sessions.begin_session("a token", None).to_str().unwrap().to_owned();
        assert!(
            cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict") && cookie.contains("Secure"),
            "{cookie}"
        );
        assert!(cookie.starts_with("__Host-rep_session_8300=") && !cookie.contains("a token"), "{cookie}");
        let headers = headers_with_cookie(&cookie);
        assert_eq!(sessions.session_token(&headers, || Some(7)).as_deref(), Some("a token"));
        assert_ne!(sessions.form_key(&headers), sessions.form_key(&HeaderMap::new()));
        assert!(sessions.is_own_form(&headers, &sessions.form_key(&headers)));
        assert!(!sessions.is_own_form(&headers, ""));
        let mut foreign = headers.clone();
        foreign.insert("sec-fetch-site", HeaderValue::from_static("cross-site"));
        assert!(!sessions.is_own_form(&foreign, &sessions.form_key(&foreign)));
        sessions.end_session(&headers);
        assert_eq!(sessions.session_token(&headers, || Some(7)), None);
    }

    #[test]
    fn a_session_is_valid_for_who_signed_in_and_at_one_port() {
        let (sessions, other) = (BrowserSessions::new(true, false, 8300), BrowserSessions::new(true, false, 8301));
        let headers = headers_with_cookie(sessions.begin_session("a token", Some(1000)).to_str().unwrap());
        let token = |owner| sessions.session_token(&headers, || owner);
        assert_eq!((token(Some(1000)).as_deref(), token(Some(1001)), token(None)), (Some("a token"), None, None));
        assert_eq!(other.cookie_value(&headers), None);
    }

    fn headers_with_cookie(cookie: &str) -> HeaderMap {
        let pair = HeaderValue::from_str(cookie.split(';').next().unwrap()).unwrap();
        HeaderMap::from_iter([(header::COOKIE, pair)])
    }
}
