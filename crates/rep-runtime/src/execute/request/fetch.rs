//! Fetches a file from an address somebody named: over TLS, from that server alone, bounded in size and time.
//!
//! The same door as requests of skills use: a name is resolved once, what it leads to is judged, proxies of the environment are
//! not asked. Without TLS only this machine is asked, and redirects stay at the same server.

use std::net::IpAddr;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use rep_uasp::request::{Method, Origin};

use super::Trouble;
use super::exchange::{Exchange, Sent};
use crate::plan::HostRule;
use crate::resolver::Resolver;

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
    let (origin, _) = Origin::split(url).map_err(failed)?;
    let is_here =
        origin.host == "localhost" || origin.host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    if !origin.is_encrypted && !is_here {
        return Err(failed("everybody on the way could change what comes; use `https`".to_owned()));
    }
    let rule = HostRule { host: origin.host.clone(), port: Some(origin.port) };
    let until = Instant::now() + TIMEOUT;
    let exchange = Exchange::new(&[rule], Resolver::system(), bytes_max, until);
    let agent = exchange.agent.clone();
    let sent = Sent {
        method: Method::Get,
        url: url.to_owned(),
        headers: Vec::new(),
        body: None,
        has_secret_body: false,
        is_idempotent: true,
    };
    let (say, hear) = channel();
    let (_stop, stopped) = channel();
    // Whoever asked may be gone, which is how an end is.
    let work = move || drop(say.send(exchange.run(sent, &stopped)));
    thread::Builder::new().name("rep-fetch".to_owned()).spawn(work).map_err(|error| failed(error.to_string()))?;
    let answer = match hear.recv_timeout(TIMEOUT) {
        Ok(Ok(answer)) => answer,
        Ok(Err(trouble)) => return Err(failed(told(trouble))),
        Err(RecvTimeoutError::Timeout) => {
            agent.shutdown();
            return Err(failed(format!("it took longer than {} seconds", TIMEOUT.as_secs())));
        }
        Err(RecvTimeoutError::Disconnected) => return Err(failed("the answer could not be read".to_owned())),
    };
    if answer.status == 200 { Ok(answer.body) } else { Err(failed(format!("the server answered {}", answer.status))) }
}

fn told(trouble: Trouble) -> String {
    trouble.error.message
}
