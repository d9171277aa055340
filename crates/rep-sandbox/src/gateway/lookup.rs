//! Resolves names on the host without blocking the event loop.
//!
//! The system's resolver cannot be interrupted, so each lookup runs in a separate thread. The number of concurrent
//! lookups is small, and requests for the same name share a lookup. Results are not cached.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::waker;
use rep_permissions::resolver::HostResolver;

/// The maximum number of concurrent lookups.
const LOOKUPS_MAX: usize = 8;

/// How long shutdown waits for pending lookups.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(500);

type LookupKey = (String, u16);
type LookupResult = io::Result<Vec<SocketAddr>>;

/// The pending lookups.
pub(super) struct PendingLookups {
    resolver: HostResolver,
    waker: Arc<OwnedFd>,
    sender: Sender<(LookupKey, LookupResult)>,
    receiver: Receiver<(LookupKey, LookupResult)>,
    waiting: BTreeMap<LookupKey, Vec<u64>>,
    queue: VecDeque<LookupKey>,
    threads: BTreeMap<LookupKey, JoinHandle<()>>,
}

impl PendingLookups {
    pub(super) fn new(resolver: HostResolver, waker: Arc<OwnedFd>) -> PendingLookups {
        let (sender, receiver) = channel();
        let (waiting, queue, threads) = (BTreeMap::new(), VecDeque::new(), BTreeMap::new());
        PendingLookups { resolver, waker, sender, receiver, waiting, queue, threads }
    }

    /// Requests a lookup for a waiting flow.
    pub(super) fn request_lookup(&mut self, name: &str, port: u16, waiter: u64) {
        let key = (name.to_owned(), port);
        let waiters = self.waiting.entry(key.clone()).or_default();
        waiters.push(waiter);
        if waiters.len() == 1 {
            self.queue.push_back(key);
            self.start_queued();
        }
    }

    fn start_queued(&mut self) {
        while self.threads.len() < LOOKUPS_MAX {
            let Some(key) = self.queue.pop_front() else { return };
            let (resolver, sender, wake) = (self.resolver.clone(), self.sender.clone(), self.waker.clone());
            let asked = key.clone();
            let thread = std::thread::Builder::new().name("rep-gateway-name".to_owned()).spawn(move || {
                let resolve = AssertUnwindSafe(|| resolver.resolve(&asked.0, asked.1));
                let found = catch_unwind(resolve).unwrap_or_else(|_| Err(io::Error::other("the resolver panicked")));
                // The receiver is gone if the run has ended.
                let _ = sender.send((asked, found));
                waker::wake_loop(&wake);
            });
            match thread {
                Ok(thread) => {
                    self.threads.insert(key, thread);
                }
                // The loop holds the receiver, so this cannot fail.
                Err(error) => drop(self.sender.send((key, Err(error)))),
            }
        }
    }

    /// Returns the finished lookups with the flows that wait for them.
    pub(super) fn take_finished(&mut self) -> Vec<(Vec<u64>, LookupResult)> {
        let done: Vec<(LookupKey, LookupResult)> = self.receiver.try_iter().collect();
        let found = done.into_iter().map(|(key, found)| {
            join_thread(self.threads.remove(&key));
            (self.waiting.remove(&key).unwrap_or_default(), found)
        });
        let found = found.collect();
        self.start_queued();
        found
    }

    /// Stops all lookups that can be stopped. A thread that is blocked in the system's resolver holds no data of the
    /// run and ends when the resolver gives up.
    pub(super) fn shut_down(mut self) {
        let until = Instant::now() + SHUTDOWN_TIMEOUT;
        while !self.threads.is_empty() {
            let left = until.saturating_duration_since(Instant::now());
            let Ok((key, _)) = self.receiver.recv_timeout(left) else { return };
            join_thread(self.threads.remove(&key));
        }
    }
}

fn join_thread(thread: Option<JoinHandle<()>>) {
    // The thread catches panics itself; any other panic has no receiver.
    drop(thread.map(JoinHandle::join));
}
