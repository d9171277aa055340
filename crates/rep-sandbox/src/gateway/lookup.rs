//! Resolving names on the host, beside the loop that must not wait.
//!
//! The system's resolver cannot be interrupted, so each lookup has a thread of its own; there are few at a time, and
//! who asks for a name that is already being looked up waits for the same answer. Nothing is kept afterwards.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::wake;
use rep_permissions::resolver::Resolver;

/// The most lookups at a time.
const LOOKUPS_MAX: usize = 8;

/// How long the end of a run waits for lookups that are under way.
const FAREWELL: Duration = Duration::from_millis(500);

type Key = (String, u16);
type Found = io::Result<Vec<SocketAddr>>;

/// The lookups that are under way.
pub(super) struct Lookups {
    resolver: Resolver,
    wake: Arc<OwnedFd>,
    sender: Sender<(Key, Found)>,
    receiver: Receiver<(Key, Found)>,
    waiting: BTreeMap<Key, Vec<u64>>,
    queue: VecDeque<Key>,
    threads: BTreeMap<Key, JoinHandle<()>>,
}

impl Lookups {
    pub(super) fn new(resolver: Resolver, wake: Arc<OwnedFd>) -> Lookups {
        let (sender, receiver) = channel();
        let (waiting, queue, threads) = (BTreeMap::new(), VecDeque::new(), BTreeMap::new());
        Lookups { resolver, wake, sender, receiver, waiting, queue, threads }
    }

    /// Looks a name up for one who waits.
    pub(super) fn ask(&mut self, name: &str, port: u16, waiter: u64) {
        let key = (name.to_owned(), port);
        let waiters = self.waiting.entry(key.clone()).or_default();
        waiters.push(waiter);
        if waiters.len() == 1 {
            self.queue.push_back(key);
            self.start();
        }
    }

    fn start(&mut self) {
        while self.threads.len() < LOOKUPS_MAX {
            let Some(key) = self.queue.pop_front() else { return };
            let (resolver, sender, wake) = (self.resolver.clone(), self.sender.clone(), self.wake.clone());
            let asked = key.clone();
            let thread = std::thread::Builder::new().name("rep-gateway-name".to_owned()).spawn(move || {
                let resolve = AssertUnwindSafe(|| resolver.addresses(&asked.0, asked.1));
                let found = catch_unwind(resolve).unwrap_or_else(|_| Err(io::Error::other("the resolver panicked")));
                // Whoever asked may be gone, which is how runs end.
                let _ = sender.send((asked, found));
                wake::ring(&wake);
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

    /// The lookups that are done, with those who wait for them.
    pub(super) fn finished(&mut self) -> Vec<(Vec<u64>, Found)> {
        let done: Vec<(Key, Found)> = self.receiver.try_iter().collect();
        let found = done.into_iter().map(|(key, found)| {
            join(self.threads.remove(&key));
            (self.waiting.remove(&key).unwrap_or_default(), found)
        });
        let found = found.collect();
        self.start();
        found
    }

    /// Ends all that can be ended. A thread the system's resolver holds on to has nothing of the run, and ends when
    /// the resolver gives up.
    pub(super) fn end(mut self) {
        let until = Instant::now() + FAREWELL;
        while !self.threads.is_empty() {
            let left = until.saturating_duration_since(Instant::now());
            let Ok((key, _)) = self.receiver.recv_timeout(left) else { return };
            join(self.threads.remove(&key));
        }
    }
}

fn join(thread: Option<JoinHandle<()>>) {
    // Panics are caught inside, and there is nobody to tell of others.
    drop(thread.map(JoinHandle::join));
}
