//! Who is signed in, and which forms are ours.
//!
//! A browser cannot bear a token by itself: whoever shows one once gets a cookie with a random word, which is good here,
//! for this process, and for `/mcp` never. Forms that change something bear a key that is derived from that word.
//!
//! Browsers send a cookie to every port of a host. So its name has this server's port in it, and on one machine the word
//! is good for the user who signed in alone: another one's server that was sent it can do nothing with it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use sha2::{Digest, Sha256};

use super::html::{Html, html};
use super::{Asked, Web, layout};
use crate::confirm::random;

/// How long somebody stays signed in, and how many are.
const SIGNED_IN: Duration = Duration::from_hours(12);
const SIGNED_IN_MAX: usize = 1024;

/// Who is signed in.
pub(crate) struct Door {
    pub(crate) is_guarded: bool,
    is_secure: bool,
    /// The name of the cookie.
    name: String,
    secret: [u8; 32],
    sessions: Mutex<BTreeMap<[u8; 32], Session>>,
}

struct Session {
    ends: Instant,
    /// What was shown, which must stay good.
    token: String,
    /// The user of this machine who signed in, where the kernel says so.
    owner: Option<u32>,
}

impl Door {
    pub(crate) fn new(is_guarded: bool, is_secure: bool, port: u16) -> Self {
        // With this prefix browsers take it over TLS alone, and from no other name of the same domain.
        let prefix = if is_secure { "__Host-" } else { "" };
        let name = format!("{prefix}rep_session_{port}");
        Self { is_guarded, is_secure, name, secret: random(), sessions: Mutex::default() }
    }

    /// The key of forms for who sent this.
    pub(crate) fn key(&self, headers: &HeaderMap) -> String {
        let word = self.word(headers).filter(|_| self.is_guarded).unwrap_or_default();
        let digest = Sha256::new().chain_update(self.secret).chain_update(word.as_bytes()).finalize();
        hex(&digest[..16])
    }

    /// Whether a form comes from a page of ours: it bears the key, and the browser does not say otherwise.
    pub(crate) fn is_ours(&self, headers: &HeaderMap, given: &str) -> bool {
        is_same(given.as_bytes(), self.key(headers).as_bytes()) && is_own_page(headers)
    }

    /// The token that whoever sent this signed in with. `owner` tells whose connection it came on.
    pub(crate) fn token(&self, headers: &HeaderMap, owner: impl FnOnce() -> Option<u32>) -> Option<String> {
        let name = digest(&self.word(headers)?);
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        sessions.retain(|_, session| session.ends > now);
        let session = sessions.get(&name)?;
        (session.owner.is_none() || session.owner == owner()).then(|| session.token.clone())
    }

    /// Signs in who showed a token that is let in: the cookie.
    pub(crate) fn sign_in(&self, token: &str, owner: Option<u32>) -> HeaderValue {
        let word = hex(&random::<32>());
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        while sessions.len() >= SIGNED_IN_MAX {
            let Some(oldest) = sessions.iter().min_by_key(|(_, session)| session.ends).map(|(name, _)| *name) else {
                break;
            };
            sessions.remove(&oldest);
        }
        let session = Session { ends: Instant::now() + SIGNED_IN, token: token.to_owned(), owner };
        sessions.insert(digest(&word), session);
        self.cookie(&word, SIGNED_IN.as_secs())
    }

    fn cookie(&self, word: &str, seconds: u64) -> HeaderValue {
        let secure = if self.is_secure { "; Secure" } else { "" };
        let name = &self.name;
        let text = format!("{name}={word}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}{secure}");
        HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static(""))
    }

    /// The word in the cookie.
    fn word(&self, headers: &HeaderMap) -> Option<String> {
        let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs = all.flat_map(|text| text.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.find(|(name, word)| *name == self.name && word.len() == 64).map(|(_, word)| word.to_owned())
    }
}

/// Ends being signed in.
pub(super) async fn sign_out(State(web): State<Arc<Web>>, headers: HeaderMap, body: Bytes) -> Response {
    if super::form(&web, &headers, &body).is_none() {
        return super::not_ours(&web, &headers);
    }
    if let Some(word) = web.door.word(&headers) {
        web.door.sessions.lock().unwrap_or_else(PoisonError::into_inner).remove(&digest(&word));
    }
    let mut response = super::onward("/sign-in");
    response.headers_mut().insert(header::SET_COOKIE, web.door.cookie("", 0));
    response
}

/// The page to sign in at.
pub(crate) fn page(asked: &Asked, is_refused: bool) -> Response {
    let status = if is_refused { StatusCode::UNAUTHORIZED } else { StatusCode::OK };
    let wrong = if is_refused {
        html!("<p class=\"alert bad\" role=\"alert\">This token is not let in.</p>")
    } else {
        Html::default()
    };
    let body = html!(
        "<section class=\"narrow card\"><h1>Sign in</h1><p>This server lets in who bears one of its tokens. It is asked \
         for once; the browser keeps a random word instead. Whoever started it was told in which file they lie.</p>{}<form method=\"post\" action=\"/sign-in\">\
         <input type=\"hidden\" name=\"key\" value=\"{}\">\
         <label for=\"token\">Token</label><input id=\"token\" name=\"token\" type=\"password\" \
         autocomplete=\"current-password\" required autofocus><button class=\"primary\">Sign in</button></form></section>",
        wrong,
        asked.key
    );
    super::document(status, layout::bare(asked, "Sign in", &body))
}

/// Whether a browser says that a request comes from a page of this very server. What is no browser says nothing.
fn is_own_page(headers: &HeaderMap) -> bool {
    let text = |name: header::HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let is_site = headers.get("sec-fetch-site").is_none_or(|site| site == "same-origin");
    is_site && text(header::ORIGIN).is_none_or(|origin| is_own_origin(origin, text(header::HOST).unwrap_or_default()))
}

/// Whether an origin is the host a request was sent to.
pub(crate) fn is_own_origin(origin: &str, host: &str) -> bool {
    let named = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    !host.is_empty() && named.is_some_and(|named| named.eq_ignore_ascii_case(host))
}

fn digest(word: &str) -> [u8; 32] {
    Sha256::digest(word.as_bytes()).into()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether two texts are the same; takes the same time whatever they hold.
fn is_same(one: &[u8], two: &[u8]) -> bool {
    one.len() == two.len() && one.iter().zip(two).fold(0, |all, (one, two)| all | (one ^ two)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn a_session_is_good_until_it_is_ended_and_its_forms_are_its_own() {
        let door = Door::new(true, true, 8300);
        let given = door.sign_in("a token", None).to_str().unwrap().to_owned();
        assert!(given.contains("HttpOnly") && given.contains("SameSite=Strict") && given.contains("Secure"), "{given}");
        assert!(given.starts_with("__Host-rep_session_8300=") && !given.contains("a token"), "{given}");
        let headers = bearing(&given);
        assert_eq!(door.token(&headers, || Some(7)).as_deref(), Some("a token"));
        assert_ne!(door.key(&headers), door.key(&HeaderMap::new()));
        assert!(door.is_ours(&headers, &door.key(&headers)));
        assert!(!door.is_ours(&headers, ""));
        let mut headers = headers;
        headers.insert("sec-fetch-site", HeaderValue::from_static("cross-site"));
        assert!(!door.is_ours(&headers, &door.key(&headers)));
    }

    #[test]
    fn a_word_is_good_for_who_signed_in_and_at_one_port() {
        let (door, other) = (Door::new(true, false, 8300), Door::new(true, false, 8301));
        let headers = bearing(door.sign_in("a token", Some(1000)).to_str().unwrap());
        let token = |owner| door.token(&headers, || owner);
        assert_eq!((token(Some(1000)).as_deref(), token(Some(1001)), token(None)), (Some("a token"), None, None));
        assert_eq!(other.word(&headers), None);
    }

    fn bearing(cookie: &str) -> HeaderMap {
        let pair = HeaderValue::from_str(cookie.split(';').next().unwrap()).unwrap();
        HeaderMap::from_iter([(header::COOKIE, pair)])
    }
}
