//! Fetches a file from an address somebody named: over TLS, from that server alone, bounded in size and time.
//!
//! The same egress as requests of skills use: a name is resolved once, what it leads to is judged, proxies of the environment are
//! not asked. Without TLS only this machine is asked, and redirects stay at the same server.

use std::net::IpAddr;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::Origin;

use crate::answer::HttpAnswer;
use crate::exchange::Exchange;
use crate::{NetError, NetErrorCode, OutgoingRequest};
use rep_permissions::HostRule;
use rep_permissions::resolver::Resolver;

/// How long a file may take.
const TIMEOUT: Duration = Duration::from_mins(2);

/// Why a file could not be fetched.
#[derive(Debug, thiserror::Error)]
#[error("could not fetch `{url}`: {reason}")]
pub struct FetchError {
    url: String,
    reason: String,
}

/// Fetches a file of at most so many bytes.
pub fn fetch(url: &str, bytes_max: u64) -> Result<Vec<u8>, FetchError> {
    let failed = |reason: String| FetchError { url: url.to_owned(), reason };
    let origin = check_url(url).map_err(failed)?;
    let sent = OutgoingRequest::get(url);
    let run = move |exchange: &Exchange, stopped: &Receiver<()>| exchange.run(sent, stopped);
    let rule = HostRule { host: origin.host.clone(), port: Some(origin.port) };
    let answer = alone(&[rule], bytes_max, TIMEOUT, run).map_err(|failure| failed(failure.message))?;
    if answer.status == 200 { Ok(answer.body) } else { Err(failed(format!("the server answered {}", answer.status))) }
}

/// The server of an address, where it may be asked: without TLS only this machine.
pub(crate) fn check_url(url: &str) -> Result<Origin, String> {
    let (origin, _) = Origin::split(url)?;
    let is_here =
        origin.host == "localhost" || origin.host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    if origin.is_encrypted || is_here {
        Ok(origin)
    } else {
        Err("everybody on the way could read and change it; use `https`".to_owned())
    }
}

/// Speaks with the servers of some rules, in a thread of its own, until the time is over. Then every connection is shut.
pub(crate) fn alone(
    rules: &[HostRule],
    bytes_max: u64,
    timeout: Duration,
    speak: impl FnOnce(&Exchange, &Receiver<()>) -> Result<HttpAnswer, NetError> + Send + 'static,
) -> Result<HttpAnswer, NetError> {
    let exchange = Exchange::new(rules, Resolver::system(), bytes_max, Instant::now() + timeout);
    let agent = exchange.agent.clone();
    let (say, hear) = channel();
    let (_stop, stopped) = channel();
    // Whoever asked may be gone, which is how an end is.
    let work = move || drop(say.send(speak(&exchange, &stopped)));
    let thread = thread::Builder::new().name("rep-fetch".to_owned()).spawn(work);
    thread.map_err(|error| NetError::new(NetErrorCode::Unavailable, error.to_string()))?;
    match hear.recv_timeout(timeout) {
        Ok(ended) => ended,
        Err(RecvTimeoutError::Timeout) => {
            agent.shutdown();
            Err(NetError::new(NetErrorCode::Timeout, format!("it took longer than {} seconds", timeout.as_secs()))
                .retriable())
        }
        Err(RecvTimeoutError::Disconnected) => {
            Err(NetError::new(NetErrorCode::InvalidResponse, "the answer could not be read"))
        }
    }
}
