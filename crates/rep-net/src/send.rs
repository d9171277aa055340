//! Sends a request in a separate thread, and waits for the response, the deadline or cancellation.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use rep_permissions::{HostResolver, HostRule};

use crate::exchange::HttpExchange;
use crate::{HttpResponse, NetError, NetErrorCode, OutgoingRequest};

/// How often cancellation is checked.
const CANCEL_CHECK_INTERVAL: Duration = Duration::from_millis(20);
/// The default limits of a request.
const TIMEOUT: Duration = Duration::from_mins(1);
const BYTES_MAX: u64 = 8 << 20;

/// The allowed hosts of a request, and the limits of its response.
#[derive(Clone)]
pub struct SendOptions<'a> {
    /// The hosts that may be reached.
    pub rules: &'a [HostRule],
    /// The resolver for names.
    pub resolver: HostResolver,
    /// The maximum size of the response.
    pub bytes_max: u64,
    /// The time limit.
    pub timeout: Duration,
}

impl<'a> SendOptions<'a> {
    /// Returns the defaults for some hosts: the system's resolver, 8 MiB, one minute.
    pub fn new(rules: &'a [HostRule]) -> Self {
        Self { rules, resolver: HostResolver::system(), bytes_max: BYTES_MAX, timeout: TIMEOUT }
    }
}

/// How waiting for a response ended.
#[derive(Debug)]
pub enum SendOutcome {
    /// The server responded.
    Answered(HttpResponse),
    /// The request failed.
    Failed(NetError),
    /// The caller cancelled.
    Cancelled,
    /// The time limit was exceeded.
    TimedOut,
}

/// Sends a request and waits until the response, the timeout or cancellation. Then every connection is shut down. A
/// pending lookup of the system's resolver holds no data of the request, and ends when the resolver gives up.
pub fn send_request(
    request: OutgoingRequest,
    options: &SendOptions<'_>,
    is_cancelled: &dyn Fn() -> bool,
) -> SendOutcome {
    let until = Instant::now() + options.timeout;
    let exchange = HttpExchange::new(options.rules, options.resolver.clone(), options.bytes_max, until);
    let agent = exchange.agent.clone();
    let (sender, receiver) = channel();
    // Dropping this ends the wait before a retry.
    let (_stop, stopped) = channel();
    let thread = thread::Builder::new().name("rep-request".to_owned()).spawn(move || {
        // The caller may have stopped waiting.
        let _ = sender.send(exchange.send_and_follow(request, &stopped));
    });
    if let Err(error) = thread {
        return SendOutcome::Failed(NetError::new(NetErrorCode::Unavailable, error.to_string()));
    }
    loop {
        match receiver.recv_timeout(CANCEL_CHECK_INTERVAL) {
            Ok(Ok(answer)) => return SendOutcome::Answered(answer),
            Ok(Err(error)) => return SendOutcome::Failed(error),
            Err(RecvTimeoutError::Disconnected) => {
                let error = NetError::new(NetErrorCode::InvalidResponse, "the answer could not be read");
                return SendOutcome::Failed(error);
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        let ended = match () {
            () if is_cancelled() => SendOutcome::Cancelled,
            () if Instant::now() >= until => SendOutcome::TimedOut,
            () => continue,
        };
        agent.shutdown();
        return ended;
    }
}
