//! Fetches a file from a URL: over TLS, from that server only, with limits on size and time.
//!
//! Uses the same connector as requests of skills: a name is resolved once, its address is checked, and proxy settings
//! of the environment are ignored. Without TLS, only this machine is allowed. Redirects must stay on the same server.

use std::net::IpAddr;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::HttpOrigin;

use crate::exchange::HttpExchange;
use crate::progress::DownloadObserver;
use crate::proxy::HttpProxy;
use crate::response::HttpResponse;
use crate::{NetError, NetErrorCode, OutgoingRequest};
use rep_permissions::HostRule;
use rep_permissions::resolver::HostResolver;

/// The time limit for fetching a file.
const FETCH_TIMEOUT: Duration = Duration::from_mins(2);

/// Why a file could not be fetched.
#[derive(Debug, thiserror::Error)]
#[error("could not fetch `{url}`: {reason}")]
pub struct FetchError {
    url: String,
    reason: String,
}

/// Fetches a file of at most `bytes_max` bytes.
pub fn fetch_file(url: &str, bytes_max: u64) -> Result<Vec<u8>, FetchError> {
    fetch_file_with(&FetchOptions::default(), url, bytes_max)
}

/// How a file is fetched.
#[derive(Clone, Debug, Default)]
pub struct FetchOptions {
    /// The proxy for other machines.
    pub proxy: Option<HttpProxy>,
    /// Receives reports of how much has arrived.
    pub observer: Option<DownloadObserver>,
}

/// Fetches a file of at most `bytes_max` bytes with these options.
pub fn fetch_file_with(options: &FetchOptions, url: &str, bytes_max: u64) -> Result<Vec<u8>, FetchError> {
    let failed = |reason: String| FetchError { url: url.to_owned(), reason };
    let origin = check_server_url(url).map_err(failed)?;
    let sent = OutgoingRequest::get(url);
    let run = move |exchange: &HttpExchange, stopped: &Receiver<()>| exchange.send_and_follow(sent, stopped);
    let rule = HostRule { host: origin.host.clone(), port: Some(origin.port) };
    let until = Instant::now() + FETCH_TIMEOUT;
    let exchange = HttpExchange::new(&[rule], HostResolver::system(), bytes_max, until)
        .through_proxy(options.proxy.clone())
        .observed_by(options.observer.clone());
    let answer = run_on_exchange(exchange, FETCH_TIMEOUT, run).map_err(|failure| failed(failure.message))?;
    if answer.status == 200 {
        Ok(answer.body)
    } else {
        Err(failed(format!("the server responded with status {}", answer.status)))
    }
}

/// Returns the server of a URL, if it may be contacted. Without TLS, only this machine is allowed.
pub(crate) fn check_server_url(url: &str) -> Result<HttpOrigin, String> {
    let (origin, _) = HttpOrigin::split_url(url)?;
    let is_here =
        origin.host == "localhost" || origin.host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    if origin.is_encrypted || is_here {
        Ok(origin)
    } else {
        Err("the connection is not encrypted; use `https`".to_owned())
    }
}

/// Talks to the servers of some rules in a separate thread, until the timeout. Then every connection is shut down.
pub(crate) fn run_exchange(
    rules: &[HostRule],
    bytes_max: u64,
    timeout: Duration,
    speak: impl FnOnce(&HttpExchange, &Receiver<()>) -> Result<HttpResponse, NetError> + Send + 'static,
) -> Result<HttpResponse, NetError> {
    let exchange = HttpExchange::new(rules, HostResolver::system(), bytes_max, Instant::now() + timeout);
    run_on_exchange(exchange, timeout, speak)
}

/// Does the same with the settings of an exchange.
pub(crate) fn run_on_exchange(
    exchange: HttpExchange,
    timeout: Duration,
    speak: impl FnOnce(&HttpExchange, &Receiver<()>) -> Result<HttpResponse, NetError> + Send + 'static,
) -> Result<HttpResponse, NetError> {
    let agent = exchange.agent.clone();
    let (say, hear) = channel();
    let (_stop, stopped) = channel();
    // The caller may have stopped waiting.
    let work = move || drop(say.send(speak(&exchange, &stopped)));
    let thread = thread::Builder::new().name("rep-fetch".to_owned()).spawn(work);
    thread.map_err(|error| NetError::new(NetErrorCode::Unavailable, error.to_string()))?;
    match hear.recv_timeout(timeout) {
        Ok(ended) => ended,
        Err(RecvTimeoutError::Timeout) => {
            agent.shutdown();
            Err(NetError::new(NetErrorCode::Timeout, format!("timed out after {} seconds", timeout.as_secs()))
                .retriable())
        }
        Err(RecvTimeoutError::Disconnected) => {
            Err(NetError::new(NetErrorCode::InvalidResponse, "the answer could not be read"))
        }
    }
}
