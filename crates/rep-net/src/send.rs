//! Sends a request in a thread of its own and waits for the answer, the deadline or a cancellation.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use rep_permissions::{HostRule, Resolver};

use crate::exchange::Exchange;
use crate::{HttpAnswer, NetError, NetErrorCode, OutgoingRequest};

/// How often a cancellation is looked for.
const TICK: Duration = Duration::from_millis(20);
/// The defaults of a request.
const TIMEOUT: Duration = Duration::from_mins(1);
const BYTES_MAX: u64 = 8 << 20;

/// Where a request may go, and how much its answer may take.
#[derive(Clone)]
pub struct SendOptions<'a> {
    /// The hosts that may be reached.
    pub rules: &'a [HostRule],
    /// How names are resolved.
    pub resolver: Resolver,
    /// The largest answer.
    pub bytes_max: u64,
    /// The longest wait.
    pub timeout: Duration,
}

impl<'a> SendOptions<'a> {
    /// The defaults for some hosts: the system's resolver, 8 MiB, one minute.
    pub fn new(rules: &'a [HostRule]) -> Self {
        Self { rules, resolver: Resolver::system(), bytes_max: BYTES_MAX, timeout: TIMEOUT }
    }
}

/// How the wait for an answer ended.
#[derive(Debug)]
pub enum SendOutcome {
    /// The server answered.
    Answered(HttpAnswer),
    /// There is no answer.
    Failed(NetError),
    /// The caller cancelled.
    Cancelled,
    /// The time was over.
    TimedOut,
}

/// Sends a request and waits, as long as it may take and nobody cancels. Then every connection is shut down. A lookup that the
/// system's resolver still works on knows nothing of the request, and ends when the resolver gives up.
pub fn send(request: OutgoingRequest, options: &SendOptions<'_>, is_cancelled: &dyn Fn() -> bool) -> SendOutcome {
    let until = Instant::now() + options.timeout;
    let exchange = Exchange::new(options.rules, options.resolver.clone(), options.bytes_max, until);
    let agent = exchange.agent.clone();
    let (sender, receiver) = channel();
    // Dropped when the wait is over, which ends a wait for another try.
    let (_stop, stopped) = channel();
    let thread = thread::Builder::new().name("rep-request".to_owned()).spawn(move || {
        // The caller may have stopped waiting.
        let _ = sender.send(exchange.run(request, &stopped));
    });
    if let Err(error) = thread {
        return SendOutcome::Failed(NetError::new(NetErrorCode::Unavailable, error.to_string()));
    }
    loop {
        match receiver.recv_timeout(TICK) {
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
