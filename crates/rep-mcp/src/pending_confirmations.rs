//! Confirmations that wait for a user of the dashboard: for clients that cannot prompt their own user, and for calls
//! that were started in the dashboard.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use parking_lot::Mutex;
use tokio::sync::{oneshot, watch};

use crate::confirmation::ANSWER_TIMEOUT;
use crate::identity::{Owner, Visitor};

/// The maximum number of waiting confirmations; further ones are refused.
const WAITING_MAX: usize = 32;
/// The number of finished confirmations that are remembered.
const ENDED_MAX: usize = 64;

/// The queue of confirmations, and its viewers.
pub struct PendingConfirmations {
    queue: Mutex<ConfirmationQueue>,
    next: AtomicU64,
    viewers: Mutex<BTreeMap<u64, Visitor>>,
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
    /// The bearer whose call it confirms.
    pub owner: Owner,
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
            viewers: Mutex::default(),
            changes: watch::Sender::new(0),
        }
    }
}

impl PendingConfirmations {
    /// Whether the dashboard is open in a browser of someone who may see a confirmation of this owner.
    pub fn has_viewer(&self, owner: &Owner) -> bool {
        self.viewers.lock().values().any(|visitor| visitor.may_see(owner))
    }

    /// Returns the number of open dashboards.
    pub(crate) fn viewer_count(&self) -> usize {
        self.viewers.lock().len()
    }

    /// Subscribes to changes. The result counts as a viewer until it is dropped.
    pub fn add_viewer(confirmations: &Arc<PendingConfirmations>, visitor: Visitor) -> ConfirmationViewer {
        let number = confirmations.next.fetch_add(1, Ordering::Relaxed);
        confirmations.viewers.lock().insert(number, visitor);
        let changes = confirmations.changes.subscribe();
        ConfirmationViewer { confirmations: Arc::clone(confirmations), number, changes }
    }

    /// Asks the viewers and waits for the answer. Returns `false` if declined or if too many confirmations wait
    /// already.
    pub(crate) async fn ask_viewers(&self, owner: Owner, call: Option<u64>, tool: &str, text: String) -> bool {
        let (answer, answered) = oneshot::channel();
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        {
            let mut queue = self.queue.lock();
            if queue.waiting.len() >= WAITING_MAX {
                return false;
            }
            let (tool, since) = (tool.to_owned(), Instant::now());
            let confirmation = PendingConfirmation { number, owner, tool, text, call, outcome: None, since };
            queue.waiting.insert(number, WaitingConfirmation { confirmation, answer });
        }
        let _withdrawal = WithdrawalGuard { confirmations: self, number };
        self.notify_viewers();
        answered.await.unwrap_or(false)
    }

    /// Answers a confirmation for a visitor. Does nothing if it no longer waits, or belongs to another bearer.
    pub fn answer(&self, number: u64, is_yes: bool, visitor: &Visitor) {
        let owner = self.queue.lock().waiting.get(&number).map(|waiting| waiting.confirmation.owner.clone());
        if !owner.is_some_and(|owner| visitor.may_see(&owner)) {
            return;
        }
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

    /// Returns the number of waiting confirmations.
    pub(crate) fn waiting_count(&self) -> usize {
        self.queue.lock().waiting.len()
    }

    /// Returns the waiting confirmations that a visitor may see, oldest first.
    pub fn list_waiting(&self, visitor: &Visitor) -> Vec<PendingConfirmation> {
        let queue = self.queue.lock();
        let waiting = queue.waiting.values().map(|waiting| &waiting.confirmation);
        waiting.filter(|confirmation| visitor.may_see(&confirmation.owner)).cloned().collect()
    }

    /// Returns the waiting and finished confirmations from `number` on that a visitor may see, oldest first.
    pub fn list_from(&self, number: u64, visitor: &Visitor) -> Vec<PendingConfirmation> {
        let queue = self.queue.lock();
        let waiting = queue.waiting.range(number..).map(|(number, waiting)| (*number, waiting.confirmation.clone()));
        let mut all: BTreeMap<u64, PendingConfirmation> = waiting.collect();
        all.extend(queue.ended.range(number..).map(|(number, confirmation)| (*number, confirmation.clone())));
        all.into_values().filter(|confirmation| visitor.may_see(&confirmation.owner)).collect()
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
    number: u64,
    /// Changes whenever a confirmation, a run or a call changes.
    pub changes: watch::Receiver<u64>,
}

impl Drop for ConfirmationViewer {
    fn drop(&mut self) {
        self.confirmations.viewers.lock().remove(&self.number);
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
