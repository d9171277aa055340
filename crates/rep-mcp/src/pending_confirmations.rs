//! Confirmations that wait for somebody at the dashboard: for clients that cannot ask their own user, and for calls that were
//! started at the dashboard.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use parking_lot::Mutex;
use tokio::sync::{oneshot, watch};

use crate::confirmation::ANSWER_TIMEOUT;

/// The most confirmations that wait at once; further ones are refused.
const WAITING_MAX: usize = 32;
/// How many confirmations that have ended are remembered.
const ENDED_MAX: usize = 64;

/// The queue of confirmations, and who watches it.
pub struct PendingConfirmations {
    queue: Mutex<Queue>,
    next: AtomicU64,
    viewers: AtomicUsize,
    changes: watch::Sender<u64>,
}

#[derive(Default)]
struct Queue {
    waiting: BTreeMap<u64, Waiting>,
    ended: BTreeMap<u64, PendingConfirmation>,
}

struct Waiting {
    confirmation: PendingConfirmation,
    answer: oneshot::Sender<bool>,
}

/// A question about one call.
#[derive(Clone, Debug)]
pub struct PendingConfirmation {
    /// Its number.
    pub number: u64,
    /// The tool, as clients call it.
    pub tool: String,
    /// The question, in words.
    pub text: String,
    /// The number of the dashboard's call, if the dashboard started it.
    pub call: Option<u64>,
    /// How it ended; `None` while it waits.
    pub outcome: Option<ConfirmationOutcome>,
    since: Instant,
}

/// How a confirmation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfirmationOutcome {
    /// Somebody agreed.
    Agreed,
    /// Somebody declined.
    Declined,
    /// Nobody answered in time.
    Expired,
    /// The caller went away.
    Withdrawn,
}

impl Default for PendingConfirmations {
    fn default() -> Self {
        Self {
            queue: Mutex::default(),
            next: AtomicU64::new(1),
            viewers: AtomicUsize::new(0),
            changes: watch::Sender::new(0),
        }
    }
}

impl PendingConfirmations {
    /// Whether somebody has the dashboard open, and so sees a confirmation.
    pub fn has_viewer(&self) -> bool {
        self.viewers() > 0
    }

    /// How many have the dashboard open.
    pub(crate) fn viewers(&self) -> usize {
        self.viewers.load(Ordering::Relaxed)
    }

    /// Follows changes, and counts as a viewer until it is dropped.
    pub fn watch(confirmations: &Arc<PendingConfirmations>) -> ConfirmationViewer {
        confirmations.viewers.fetch_add(1, Ordering::Relaxed);
        ConfirmationViewer { confirmations: Arc::clone(confirmations), changes: confirmations.changes.subscribe() }
    }

    /// Asks, and waits for the answer. Returns false if the answer is no, or if too many wait already.
    pub(crate) async fn ask(&self, call: Option<u64>, tool: &str, text: String) -> bool {
        let (answer, answered) = oneshot::channel();
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        {
            let mut queue = self.queue.lock();
            if queue.waiting.len() >= WAITING_MAX {
                return false;
            }
            let (tool, since) = (tool.to_owned(), Instant::now());
            let confirmation = PendingConfirmation { number, tool, text, call, outcome: None, since };
            queue.waiting.insert(number, Waiting { confirmation, answer });
        }
        let _withdrawal = Withdrawal { confirmations: self, number };
        self.notify();
        answered.await.unwrap_or(false)
    }

    /// Answers a confirmation. Nothing happens if it does not wait any more.
    pub fn answer(&self, number: u64, is_yes: bool) {
        let outcome = if is_yes { ConfirmationOutcome::Agreed } else { ConfirmationOutcome::Declined };
        if let Some(answer) = self.end(number, |_| outcome) {
            // A caller that went away meanwhile needs no answer.
            let _ = answer.send(is_yes);
        }
        self.notify();
    }

    /// Ends a confirmation, and remembers the outcome.
    fn end(
        &self,
        number: u64,
        outcome: impl FnOnce(&PendingConfirmation) -> ConfirmationOutcome,
    ) -> Option<oneshot::Sender<bool>> {
        let mut queue = self.queue.lock();
        let Waiting { mut confirmation, answer } = queue.waiting.remove(&number)?;
        confirmation.outcome = Some(outcome(&confirmation));
        queue.ended.insert(number, confirmation);
        while queue.ended.len() > ENDED_MAX {
            queue.ended.pop_first();
        }
        Some(answer)
    }

    /// The confirmations that wait, the oldest first.
    pub fn waiting(&self) -> Vec<PendingConfirmation> {
        self.queue.lock().waiting.values().map(|waiting| waiting.confirmation.clone()).collect()
    }

    /// The confirmations from a number on, waiting and ended, the oldest first.
    pub fn since(&self, number: u64) -> Vec<PendingConfirmation> {
        let queue = self.queue.lock();
        let waiting = queue.waiting.range(number..).map(|(number, waiting)| (*number, waiting.confirmation.clone()));
        let mut all: BTreeMap<u64, PendingConfirmation> = waiting.collect();
        all.extend(queue.ended.range(number..).map(|(number, confirmation)| (*number, confirmation.clone())));
        all.into_values().collect()
    }

    /// The number of the oldest confirmation that waits, or else of the next one.
    pub fn first_waiting(&self) -> u64 {
        let oldest = self.queue.lock().waiting.keys().next().copied();
        oldest.unwrap_or_else(|| self.next.load(Ordering::Relaxed))
    }

    /// Tells viewers that something changed.
    pub fn notify(&self) {
        self.changes.send_modify(|count| *count += 1);
    }
}

/// Somebody who has the dashboard open.
pub struct ConfirmationViewer {
    confirmations: Arc<PendingConfirmations>,
    /// Changes whenever a confirmation, a run or a call changes.
    pub changes: watch::Receiver<u64>,
}

impl Drop for ConfirmationViewer {
    fn drop(&mut self) {
        self.confirmations.viewers.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Withdraws a confirmation when nobody waits for its answer any more.
struct Withdrawal<'a> {
    confirmations: &'a PendingConfirmations,
    number: u64,
}

impl Drop for Withdrawal<'_> {
    fn drop(&mut self) {
        let outcome = |confirmation: &PendingConfirmation| {
            let has_time_left = confirmation.since.elapsed() < ANSWER_TIMEOUT;
            if has_time_left { ConfirmationOutcome::Withdrawn } else { ConfirmationOutcome::Expired }
        };
        if self.confirmations.end(self.number, outcome).is_some() {
            self.confirmations.notify();
        }
    }
}
