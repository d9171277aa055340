//! A request and its response, with redirects and retries.

use std::io::Read;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::{HttpMethod, HttpOrigin};
use ureq::Agent;
use ureq::http;

use crate::connector::{EgressConnector, WrappedError};
use crate::progress::{DownloadObserver, ObservedStream};
use crate::proxy::HttpProxy;
use crate::response::HttpResponse;
use crate::{NetError, NetErrorCode};
use rep_permissions::HostRule;
use rep_permissions::resolver::HostResolver;

/// The maximum number of redirects.
const REDIRECTS_MAX: usize = 5;
/// The maximum number of retries.
const RETRIES_MAX: u32 = 2;
/// The wait before the first retry. It doubles each time.
const RETRY_WAIT: Duration = Duration::from_millis(200);
/// The maximum wait that a server may ask for.
const RETRY_WAIT_MAX: Duration = Duration::from_secs(20);
/// The maximum size of the response headers.
const HEAD_BYTES_MAX: usize = 64 << 10;

/// A header to send.
#[derive(Clone)]
pub struct HttpHeader {
    /// The name.
    pub name: String,
    /// The value.
    pub value: String,
    /// Whether it contains a secret.
    pub is_secret: bool,
}

/// A request to send. It may contain secrets, so it cannot be printed.
#[derive(Clone)]
pub struct OutgoingRequest {
    /// The method.
    pub method: HttpMethod,
    /// The absolute URL.
    pub url: String,
    /// The headers.
    pub headers: Vec<HttpHeader>,
    /// The body.
    pub body: Option<Vec<u8>>,
    /// Whether the body contains a secret, which must not follow a redirect to another server.
    pub has_secret_body: bool,
    /// Whether it may be sent again.
    pub is_idempotent: bool,
}

impl OutgoingRequest {
    /// Creates a plain GET request.
    pub fn get(url: impl Into<String>) -> Self {
        Self {
            method: HttpMethod::Get,
            url: url.into(),
            headers: Vec::new(),
            body: None,
            has_secret_body: false,
            is_idempotent: true,
        }
    }
}

/// Sends requests with these settings.
pub(crate) struct HttpExchange {
    pub(crate) agent: Agent,
    egress: EgressConnector,
    bytes_max: u64,
    until: Instant,
    observer: Option<DownloadObserver>,
}

impl HttpExchange {
    pub(crate) fn new(rules: &[HostRule], resolver: HostResolver, bytes_max: u64, until: Instant) -> Self {
        let egress = EgressConnector { rules: rules.into(), resolver, until, allows_private: false, proxy: None };
        Self::with_connector(egress, bytes_max, until)
    }

    /// Also connects to hosts whose addresses are not public. Only for hosts that the user named.
    pub(crate) fn allowing_private_addresses(self) -> Self {
        let egress = EgressConnector { allows_private: true, ..self.egress };
        Self::with_connector(egress, self.bytes_max, self.until)
    }

    /// Connects to other machines through a proxy.
    pub(crate) fn through_proxy(self, proxy: Option<HttpProxy>) -> Self {
        let egress = EgressConnector { proxy, ..self.egress };
        Self::with_connector(egress, self.bytes_max, self.until)
    }

    /// Reports how much of a response has arrived. Called last, because the other settings make a new exchange.
    pub(crate) fn observed_by(self, observer: Option<DownloadObserver>) -> Self {
        Self { observer, ..self }
    }

    fn with_connector(egress: EgressConnector, bytes_max: u64, until: Instant) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .proxy(None)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .max_idle_connections(0)
            .max_response_header_size(HEAD_BYTES_MAX)
            .user_agent(concat!("repertoire/", env!("CARGO_PKG_VERSION")))
            .build();
        let agent = Agent::with_parts(config, egress.clone(), egress.clone());
        Self { agent, egress, bytes_max, until, observer: None }
    }

    /// Sends a request, follows redirects and retries, within the limits. Ends early when `stopped` is dropped.
    pub(crate) fn send_and_follow(
        &self,
        mut sent: OutgoingRequest,
        stopped: &Receiver<()>,
    ) -> Result<HttpResponse, NetError> {
        let mut redirects = 0;
        loop {
            let answer = self.send_without_redirects(&sent, stopped)?;
            let Some(location) = answer.redirect_location() else { return Ok(answer) };
            redirects += 1;
            if redirects > REDIRECTS_MAX {
                let message = format!("more than {REDIRECTS_MAX} redirects, the last one to `{location}`");
                return Err(NetError::new(NetErrorCode::TooManyRedirects, message));
            }
            sent = self.follow_redirect(sent, answer.status, location)?;
        }
    }

    /// Sends a request and retries, within the limits. A redirect is an answer like any other.
    pub(crate) fn send_without_redirects(
        &self,
        sent: &OutgoingRequest,
        stopped: &Receiver<()>,
    ) -> Result<HttpResponse, NetError> {
        let mut retries = 0;
        loop {
            let ended = self.send_once(sent);
            let Some(wait) = self.compute_retry_wait(sent, &ended, retries) else { return ended };
            retries += 1;
            match stopped.recv_timeout(wait) {
                Err(RecvTimeoutError::Timeout) => {}
                Ok(()) | Err(RecvTimeoutError::Disconnected) => return ended,
            }
        }
    }

    /// Returns the wait before a retry, or `None` if there is none. Only idempotent requests are retried, and only if
    /// they were not processed or the server asks for it.
    fn compute_retry_wait(
        &self,
        sent: &OutgoingRequest,
        ended: &Result<HttpResponse, NetError>,
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

    /// Sends once and reads the response.
    fn send_once(&self, sent: &OutgoingRequest) -> Result<HttpResponse, NetError> {
        let mut builder = http::Request::builder().method(sent.method.name()).uri(&sent.url);
        for header in &sent.headers {
            builder = builder.header(&header.name, header.value.as_bytes());
        }
        let unfit = |error: http::Error| {
            NetError::new(NetErrorCode::InvalidArgument, format!("could not send the request: {error}")).unsent()
        };
        // Without a length, a server would wait for a body that never arrives.
        let has_length = matches!(sent.method, HttpMethod::Post | HttpMethod::Put | HttpMethod::Patch);
        let body = sent.body.clone().or_else(|| has_length.then(Vec::new));
        let response = match body {
            Some(body) => self.agent.run(builder.body(body).map_err(unfit)?),
            None => self.agent.run(builder.body(()).map_err(unfit)?),
        };
        let (head, body) = response.map_err(convert_client_error)?.into_parts();
        let is_success = head.status.is_success();
        let total = body.content_length();
        let observer = self.observer.as_ref().filter(|_| is_success);
        let mut stream = ObservedStream::new(body.into_reader().take(self.bytes_max + 1), observer, total);
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).map_err(|error| {
            let message = format!("the response ended early: {error}");
            NetError::new(NetErrorCode::InvalidResponse, message).retriable()
        })?;
        if bytes.len() as u64 > self.bytes_max {
            let message = format!("the server sent more than {} bytes", self.bytes_max);
            return Err(NetError::new(NetErrorCode::OutputTooLarge, message));
        }
        Ok(HttpResponse::new(head.status.as_u16(), &head.headers, bytes))
    }

    /// Returns the request that a redirect asks for.
    fn follow_redirect(&self, sent: OutgoingRequest, status: u16, location: &str) -> Result<OutgoingRequest, NetError> {
        let broken = |reason: String| {
            NetError::new(NetErrorCode::InvalidResponse, format!("the server redirected to an invalid URL: {reason}"))
        };
        let (from, _) = HttpOrigin::split_url(&sent.url).map_err(broken)?;
        let url = resolve_redirect(&sent.url, location).ok_or_else(|| broken("it cannot be parsed".to_owned()))?;
        let (to, _) = HttpOrigin::split_url(&url).map_err(broken)?;
        let refused = |why: &str| {
            let message = format!("the server redirected to `{to}`, {why}");
            let failure = NetError::permission_denied(message, &to.host, to.port, &to.host);
            NetError { is_unsent: false, ..failure }
        };
        if !self.egress.is_declared(&to.host, to.port) {
            return Err(refused("which is not declared"));
        }
        if from.is_encrypted && !to.is_encrypted {
            return Err(refused("which is not encrypted"));
        }
        let is_read = matches!(sent.method, HttpMethod::Get | HttpMethod::Head);
        let becomes_read = status == 303 || (matches!(status, 301 | 302) && sent.method == HttpMethod::Post);
        let mut next = OutgoingRequest { url, ..sent };
        if becomes_read && !is_read {
            next.method = HttpMethod::Get;
            next.body = None;
            next.has_secret_body = false;
            next.is_idempotent = true;
            next.headers.retain(|header| !header.name.eq_ignore_ascii_case("content-type"));
        }
        if from != to {
            if next.has_secret_body {
                return Err(refused("but the body contains a secret for another server"));
            }
            next.headers.retain(|header| !header.is_secret && !is_credential_header(&header.name));
        }
        Ok(next)
    }
}

fn is_credential_header(name: &str) -> bool {
    ["authorization", "cookie"].iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// Converts an error of the HTTP client.
fn convert_client_error(error: ureq::Error) -> NetError {
    match error {
        ureq::Error::Other(inside) => match inside.downcast::<WrappedError>() {
            Ok(wrapped) => {
                let failure = wrapped.0.lock().take();
                failure.unwrap_or_else(|| NetError::new(NetErrorCode::ConnectionFailed, wrapped.to_string()))
            }
            Err(other) => NetError::new(NetErrorCode::ConnectionFailed, other.to_string()),
        },
        ureq::Error::Io(error) => {
            NetError::new(NetErrorCode::ConnectionFailed, format!("the connection was interrupted: {error}"))
                .retriable()
        }
        ureq::Error::LargeResponseHeader(..) => NetError::new(
            NetErrorCode::InvalidResponse,
            format!("the response headers are larger than {} KiB", HEAD_BYTES_MAX >> 10),
        ),
        ureq::Error::Http(error) => {
            NetError::new(NetErrorCode::InvalidArgument, format!("could not send the request: {error}")).unsent()
        }
        ureq::Error::BadUri(reason) => {
            NetError::new(NetErrorCode::InvalidArgument, format!("invalid URL: {reason}")).unsent()
        }
        other => NetError::new(NetErrorCode::InvalidResponse, format!("the response is not valid HTTP: {other}")),
    }
}

/// Resolves a redirect location: RFC 3986 §5.2, as far as servers use it.
pub(crate) fn resolve_redirect(url: &str, location: &str) -> Option<String> {
    let location = location.split('#').next().unwrap_or_default().trim();
    if location.is_empty() || !location.bytes().all(|byte| byte.is_ascii_graphic()) {
        return None;
    }
    let (origin, rest) = HttpOrigin::split_url(url).ok()?;
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
    let (origin, rest) = HttpOrigin::split_url(&whole).ok()?;
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
            assert_eq!(resolve_redirect(from, location).as_deref(), to, "{location}");
        }
    }

    proptest! {
        #[test]
        fn whatever_a_server_says_is_an_address_or_none(location in "[a-z:/?#@\\[\\].%\\\\ \u{e9}0-9]{0,20}") {
            if let Some(url) = resolve_redirect("https://a.example/x/y?z", &location) {
                prop_assert!(url.bytes().all(|byte| byte.is_ascii_graphic()), "{}", url);
                let (origin, rest) = HttpOrigin::split_url(&url).unwrap();
                prop_assert!(rest.starts_with('/') && url.starts_with(&origin.to_string()), "{}", url);
                let uri: http::Uri = url.parse().unwrap();
                prop_assert_eq!(uri.host().map(|host| host.trim_matches(['[', ']'])), Some(origin.host.as_str()));
                prop_assert_eq!(uri.authority().map(|authority| authority.as_str().contains('@')), Some(false));
            }
        }
    }
}
