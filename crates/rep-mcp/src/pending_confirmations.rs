//! Confirmations that wait for a user of the dashboard: for clients that cannot prompt their own user, and for calls
//! that were started in the dashboard.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use parking_lot::Mutex;
use tokio::sync::{oneshot, watch};

use crate::confirmation::ANSWER_TIMEOUT;

/// The maximum number of waiting confirmations; further ones are refused.
const WAITING_MAX: usize = 32;
/// The number of finished confirmations that are remembered.
const ENDED_MAX: usize = 64;

/// The queue of confirmations, and its viewers.
pub struct PendingConfirmations {
    queue: Mutex<ConfirmationQueue>,
    next: AtomicU64,
    viewers: AtomicUsize,
    changes: watch::Sender<u64>,
}

#[derive(Default)]
struct ConfirmationQueue {
    waiting: BTreeMap<u64, WaitingConfirmation>,
    ended: BTreeMap<u64, PendingConfirmation>,
}

struct WaitingConfirmation {
    confirmation: PendingConfirmation,
    answer: oneshot::Sender<bool>,
}

/// A confirmation of one call.
#[derive(Clone, Debug)]
pub struct PendingConfirmation {
    /// The number of the confirmation.
    pub number: u64,
    /// The tool, as clients call it.
    pub tool: String,
    /// The question.
    pub text: String,
    /// The number of the dashboard's call, if it was started in the dashboard.
    pub call: Option<u64>,
    /// The outcome, or `None` while it waits.
    pub outcome: Option<ConfirmationOutcome>,
    since: Instant,
}

/// The outcome of a confirmation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfirmationOutcome {
    /// A user confirmed.
    Agreed,
    /// A user declined.
    Declined,
    /// The time to answer ran out.
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
    /// Whether the dashboard is open in a browser, so that a confirmation can be seen.
    pub fn has_viewer(&self) -> bool {
        self.viewer_count() > 0
    }

    /// Returns the number of open dashboards.
    pub(crate) fn viewer_count(&self) -> usize {
        self.viewers.load(Ordering::Relaxed)
    }

    /// Subscribes to changes. The result counts as a viewer until it is dropped.
    pub fn add_viewer(confirmations: &Arc<PendingConfirmations>) -> ConfirmationViewer {
        confirmations.viewers.fetch_add(1, Ordering::Relaxed);
        ConfirmationViewer { confirmations: Arc::clone(confirmations), changes: confirmations.changes.subscribe() }
    }

    /// Asks the viewers and waits for the answer. Returns `false` if declined or if too many confirmations wait
    /// already.
    pub(crate) async fn ask_viewers(&self, call: Option<u64>, tool: &str, text: String) -> bool {
        let (answer, answered) = oneshot::channel();
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        {
            let mut queue = self.queue.lock();
            if queue.waiting.len() >= WAITING_MAX {
                return false;
            }
            let (tool, since) = (tool.to_owned(), Instant::now());
            let confirmation = PendingConfirmation { number, tool, text, call, outcome: None, since };
            queue.waiting.insert(number, WaitingConfirmation { confirmation, answer });
        }
        let _withdrawal = WithdrawalGuard { confirmations: self, number };
        self.notify_viewers();
        answered.await.unwrap_or(false)
    }

    /// Answers a confirmation. Does nothing if it no longer waits.
    pub fn answer(&self, number: u64, is_yes: bool) {
        let outcome = if is_yes { ConfirmationOutcome::Agreed } else { ConfirmationOutcome::Declined };
        if let Some(answer) = self.finish_waiting(number, |_| outcome) {
            // A caller that has gone away needs no answer.
            let _ = answer.send(is_yes);
        }
        self.notify_viewers();
    }

    /// Ends a confirmation and remembers its outcome.
    fn finish_waiting(
        &self,
        number: u64,
        outcome: impl FnOnce(&PendingConfirmation) -> ConfirmationOutcome,
    ) -> Option<oneshot::Sender<bool>> {
        let mut queue = self.queue.lock();
        let WaitingConfirmation { mut confirmation, answer } = queue.waiting.remove(&number)?;
        confirmation.outcome = Some(outcome(&confirmation));
        queue.ended.insert(number, confirmation);
        while queue.ended.len() > ENDED_MAX {
            queue.ended.pop_first();
        }
        Some(answer)
    }

    /// Returns the waiting confirmations, oldest first.
    pub fn list_waiting(&self) -> Vec<PendingConfirmation> {
        self.queue.lock().waiting.values().map(|waiting| waiting.confirmation.clone()).collect()
    }

    /// Returns the waiting and finished confirmations from `number` on, oldest first.
    pub fn list_from(&self, number: u64) -> Vec<PendingConfirmation> {
        let queue = self.queue.lock();
        let waiting = queue.waiting.range(number..).map(|(number, waiting)| (*number, waiting.confirmation.clone()));
        let mut all: BTreeMap<u64, PendingConfirmation> = waiting.collect();
        all.extend(queue.ended.range(number..).map(|(number, confirmation)| (*number, confirmation.clone())));
        all.into_values().collect()
    }

    /// Returns the number of the oldest waiting confirmation, or the next number if none waits.
    pub fn first_waiting_number(&self) -> u64 {
        let oldest = self.queue.lock().waiting.keys().next().copied();
        oldest.unwrap_or_else(|| self.next.load(Ordering::Relaxed))
    }

    /// Notifies viewers of a change.
    pub fn notify_viewers(&self) {
        self.changes.send_modify(|count| *count += 1);
    }
}

/// A user who has the dashboard open.
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

/// Withdraws a confirmation when its caller stops waiting.
struct WithdrawalGuard<'a> {
    confirmations: &'a PendingConfirmations,
    number: u64,
}

impl Drop for WithdrawalGuard<'_> {
    fn drop(&mut self) {
        let outcome = |confirmation: &PendingConfirmation| {
            let has_time_left = confirmation.since.elapsed() < ANSWER_TIMEOUT;
            if has_time_left { ConfirmationOutcome::Withdrawn } else { ConfirmationOutcome::Expired }
        };
        if self.confirmations.finish_waiting(self.number, outcome).is_some() {
            self.confirmations.notify_viewers();
        }
    }
}
