//! One request and its answer, with the redirects and tries between.

use std::io::Read;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::{Method, Origin};
use ureq::Agent;
use ureq::http;

use crate::answer::HttpAnswer;
use crate::connector::{Egress, WrappedError};
use crate::{NetError, NetErrorCode};
use rep_permissions::HostRule;
use rep_permissions::resolver::Resolver;

/// The most redirects that are followed.
const REDIRECTS_MAX: usize = 5;
/// How often a request is sent again.
const RETRIES_MAX: u32 = 2;
/// The wait before the first other try; it doubles.
const RETRY_WAIT: Duration = Duration::from_millis(200);
/// The longest wait a server may ask for.
const RETRY_WAIT_MAX: Duration = Duration::from_secs(20);
/// The largest head of an answer.
const HEAD_BYTES_MAX: usize = 64 << 10;

/// A header as it is sent.
#[derive(Clone)]
pub struct Header {
    /// The name.
    pub name: String,
    /// The value.
    pub value: String,
    /// Whether a secret is in it.
    pub is_secret: bool,
}

/// A request as it is sent. It may hold secrets, so it cannot be printed.
#[derive(Clone)]
pub struct OutgoingRequest {
    /// What it does.
    pub method: Method,
    /// The absolute address.
    pub url: String,
    /// The headers.
    pub headers: Vec<Header>,
    /// The body.
    pub body: Option<String>,
    /// Whether the body holds a secret, which must not follow a redirect to another server.
    pub has_secret_body: bool,
    /// Whether it may be sent again.
    pub is_idempotent: bool,
}

impl OutgoingRequest {
    /// A plain GET.
    pub fn get(url: impl Into<String>) -> Self {
        Self {
            method: Method::Get,
            url: url.into(),
            headers: Vec::new(),
            body: None,
            has_secret_body: false,
            is_idempotent: true,
        }
    }
}

/// What a request is sent with.
pub(crate) struct Exchange {
    pub(crate) agent: Agent,
    egress: Egress,
    bytes_max: u64,
    until: Instant,
}

impl Exchange {
    pub(crate) fn new(rules: &[HostRule], resolver: Resolver, bytes_max: u64, until: Instant) -> Self {
        let egress = Egress { rules: rules.into(), resolver, until };
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .proxy(None)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .max_idle_connections(0)
            .max_response_header_size(HEAD_BYTES_MAX)
            .user_agent(concat!("repertoire/", env!("CARGO_PKG_VERSION")))
            .build();
        Self { agent: Agent::with_parts(config, egress.clone(), egress.clone()), egress, bytes_max, until }
    }

    /// Sends, follows and tries again, as far as it may. Ends early when `stopped` is dropped.
    pub(crate) fn run(&self, mut sent: OutgoingRequest, stopped: &Receiver<()>) -> Result<HttpAnswer, NetError> {
        let mut retries = 0;
        let mut redirects = 0;
        loop {
            let ended = self.once(&sent);
            if let Some(wait) = self.another_try(&sent, &ended, retries) {
                retries += 1;
                match stopped.recv_timeout(wait) {
                    Err(RecvTimeoutError::Timeout) => continue,
                    Ok(()) | Err(RecvTimeoutError::Disconnected) => return ended,
                }
            }
            let answer = ended?;
            let Some(location) = answer.location() else { return Ok(answer) };
            redirects += 1;
            if redirects > REDIRECTS_MAX {
                let message = format!("the server sent on more than {REDIRECTS_MAX} times, last to `{location}`");
                return Err(NetError::new(NetErrorCode::TooManyRedirects, message));
            }
            sent = self.follow(sent, answer.status, location)?;
        }
    }

    /// How long to wait for another try; `None` where there is none. Only what can be done twice is, and only where it was not
    /// done or the server asks for it.
    fn another_try(
        &self,
        sent: &OutgoingRequest,
        ended: &Result<HttpAnswer, NetError>,
        retries: u32,
    ) -> Option<Duration> {
        if !sent.is_idempotent || retries >= RETRIES_MAX {
            return None;
        }
        let wait = match ended {
            Err(failure) if failure.is_unsent && failure.is_retriable => RETRY_WAIT * 2_u32.pow(retries),
            Ok(answer) if matches!(answer.status, 429 | 503) => match answer.header("retry-after") {
                Some(text) => Duration::from_secs(text.trim().parse().ok()?),
                None => RETRY_WAIT * 2_u32.pow(retries),
            },
            Ok(_) | Err(_) => return None,
        };
        let left = self.until.saturating_duration_since(Instant::now());
        (wait <= RETRY_WAIT_MAX && wait < left).then_some(wait)
    }

    /// Sends once, and reads the answer.
    fn once(&self, sent: &OutgoingRequest) -> Result<HttpAnswer, NetError> {
        let mut builder = http::Request::builder().method(sent.method.name()).uri(&sent.url);
        for header in &sent.headers {
            builder = builder.header(&header.name, header.value.as_bytes());
        }
        let unfit = |error: http::Error| {
            NetError::new(NetErrorCode::InvalidArgument, format!("the request cannot be sent: {error}")).unsent()
        };
        // Without a length a server would have to wait for what does not come.
        let has_length = matches!(sent.method, Method::Post | Method::Put | Method::Patch);
        let body = sent.body.clone().or_else(|| has_length.then(String::new));
        let response = match body {
            Some(body) => self.agent.run(builder.body(body.into_bytes()).map_err(unfit)?),
            None => self.agent.run(builder.body(()).map_err(unfit)?),
        };
        let (head, body) = response.map_err(net_error)?.into_parts();
        let mut bytes = Vec::new();
        body.into_reader().take(self.bytes_max + 1).read_to_end(&mut bytes).map_err(|error| {
            let message = format!("the answer of the server broke off: {error}");
            NetError::new(NetErrorCode::InvalidResponse, message).retriable()
        })?;
        if bytes.len() as u64 > self.bytes_max {
            let message = format!("the server sent more than {} bytes", self.bytes_max);
            return Err(NetError::new(NetErrorCode::OutputTooLarge, message));
        }
        Ok(HttpAnswer::new(head.status.as_u16(), &head.headers, bytes))
    }

    /// The request a redirect asks for.
    fn follow(&self, sent: OutgoingRequest, status: u16, location: &str) -> Result<OutgoingRequest, NetError> {
        let broken = |reason: String| {
            NetError::new(
                NetErrorCode::InvalidResponse,
                format!("the server sent on to an address that is none: {reason}"),
            )
        };
        let (from, _) = Origin::split(&sent.url).map_err(broken)?;
        let url = resolved(&sent.url, location).ok_or_else(|| broken("it cannot be read".to_owned()))?;
        let (to, _) = Origin::split(&url).map_err(broken)?;
        let refused = |why: &str| {
            let message = format!("the server sent on to `{to}`, {why}");
            let failure = NetError::denied(message, &to.host, to.port, &to.host);
            NetError { is_unsent: false, ..failure }
        };
        if !self.egress.is_declared(&to.host, to.port) {
            return Err(refused("which may not be reached"));
        }
        if from.is_encrypted && !to.is_encrypted {
            return Err(refused("where everybody on the way could read it"));
        }
        let is_read = matches!(sent.method, Method::Get | Method::Head);
        let becomes_read = status == 303 || (matches!(status, 301 | 302) && sent.method == Method::Post);
        let mut next = OutgoingRequest { url, ..sent };
        if becomes_read && !is_read {
            next.method = Method::Get;
            next.body = None;
            next.has_secret_body = false;
            next.is_idempotent = true;
            next.headers.retain(|header| !header.name.eq_ignore_ascii_case("content-type"));
        }
        if from != to {
            if next.has_secret_body {
                return Err(refused("and the body holds a secret that is for another server"));
            }
            next.headers.retain(|header| !header.is_secret && !is_credential(&header.name));
        }
        Ok(next)
    }
}

fn is_credential(name: &str) -> bool {
    ["authorization", "cookie"].iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// What a client's error means.
fn net_error(error: ureq::Error) -> NetError {
    match error {
        ureq::Error::Other(inside) => match inside.downcast::<WrappedError>() {
            Ok(wrapped) => {
                let failure = wrapped.0.lock().take();
                failure.unwrap_or_else(|| NetError::new(NetErrorCode::ConnectionFailed, wrapped.to_string()))
            }
            Err(other) => NetError::new(NetErrorCode::ConnectionFailed, other.to_string()),
        },
        ureq::Error::Io(error) => {
            NetError::new(NetErrorCode::ConnectionFailed, format!("the connection broke off: {error}")).retriable()
        }
        ureq::Error::LargeResponseHeader(..) => NetError::new(
            NetErrorCode::InvalidResponse,
            format!("the head of the answer is larger than {} KiB", HEAD_BYTES_MAX >> 10),
        ),
        ureq::Error::Http(error) => {
            NetError::new(NetErrorCode::InvalidArgument, format!("the request cannot be sent: {error}")).unsent()
        }
        ureq::Error::BadUri(reason) => {
            NetError::new(NetErrorCode::InvalidArgument, format!("the address cannot be used: {reason}")).unsent()
        }
        other => NetError::new(NetErrorCode::InvalidResponse, format!("the answer is no HTTP: {other}")),
    }
}

/// Where a redirect leads: RFC 3986 §5.2, as far as servers use it.
fn resolved(url: &str, location: &str) -> Option<String> {
    let location = location.split('#').next().unwrap_or_default().trim();
    if location.is_empty() || !location.bytes().all(|byte| byte.is_ascii_graphic()) {
        return None;
    }
    let (origin, rest) = Origin::split(url).ok()?;
    let path = rest.split('?').next().unwrap_or_default();
    let before_path = location.split(['/', '?']).next().unwrap_or_default();
    let whole = if before_path.contains(':') {
        location.to_owned()
    } else if location.starts_with("//") {
        format!("{}:{location}", if origin.is_encrypted { "https" } else { "http" })
    } else if location.starts_with('/') {
        format!("{origin}{location}")
    } else if location.starts_with('?') {
        format!("{origin}{path}{location}")
    } else {
        let folder = path.rfind('/').map_or("/", |at| &path[..=at]);
        format!("{origin}{folder}{location}")
    };
    let (origin, rest) = Origin::split(&whole).ok()?;
    let slash = if rest.starts_with('/') { "" } else { "/" };
    Some(format!("{origin}{slash}{rest}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn redirects_are_resolved() {
        let from = "https://a.example/x/y?z";
        for (location, to) in [
            ("/b", Some("https://a.example/b")),
            ("b?c#d", Some("https://a.example/x/b?c")),
            ("?c", Some("https://a.example/x/y?c")),
            ("//b.example/c", Some("https://b.example/c")),
            ("http://b.example:81", Some("http://b.example:81/")),
            ("https://b.example?x", Some("https://b.example/?x")),
            ("https://user@b.example/", None),
            ("file:///etc/passwd", None),
            ("javascript:1", None),
            ("", None),
            ("/a b", None),
            ("/a\r\nX: y", None),
        ] {
            assert_eq!(resolved(from, location).as_deref(), to, "{location}");
        }
    }

    proptest! {
        #[test]
        fn whatever_a_server_says_is_an_address_or_none(location in "[a-z:/?#@\\[\\].%\\\\ \u{e9}0-9]{0,20}") {
            if let Some(url) = resolved("https://a.example/x/y?z", &location) {
                prop_assert!(url.bytes().all(|byte| byte.is_ascii_graphic()), "{}", url);
                let (origin, rest) = Origin::split(&url).unwrap();
                prop_assert!(rest.starts_with('/') && url.starts_with(&origin.to_string()), "{}", url);
                let uri: http::Uri = url.parse().unwrap();
                prop_assert_eq!(uri.host().map(|host| host.trim_matches(['[', ']'])), Some(origin.host.as_str()));
                prop_assert_eq!(uri.authority().map(|authority| authority.as_str().contains('@')), Some(false));
            }
        }
    }
}
