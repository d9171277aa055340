//! Shares of the runs of a server, so that one bearer cannot keep the others waiting.
//!
//! A bearer has at most [`RUNS_SHARE`] of the runs. A bearer without any run can also use one of the reserved places, so
//! its first run starts while others use all they may. Of the calls that wait, the one of the bearer with the fewest runs
//! is next; calls of the same bearer keep their order.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use parking_lot::Mutex;
use tokio::sync::{oneshot, watch};

use crate::identity::Owner;

/// The maximum number of concurrent runs, and of those of one bearer if tokens are required.
const RUNS_MAX: usize = 16;
const RUNS_SHARE: usize = 12;
/// Further places, each for a bearer that has no run.
const RUNS_RESERVED: usize = 16;
/// The maximum number of calls of one bearer that wait for a place.
const WAITING_MAX: usize = 64;

/// The places for runs.
pub(crate) struct RunSlots {
    table: Mutex<SlotTable>,
    /// The number of calls that run or wait.
    count: watch::Sender<usize>,
}

#[derive(Default)]
struct SlotTable {
    running: BTreeMap<Owner, usize>,
    total: usize,
    /// The waiting calls, in the order of their arrival.
    waiting: Vec<WaitingCall>,
    next_number: u64,
}

struct WaitingCall {
    number: u64,
    owner: Owner,
    /// Tells the call that it may run.
    ready: oneshot::Sender<()>,
}

/// A place for a run, or for a call that waits for one. It is free again when this is dropped.
pub(crate) struct RunSlot {
    slots: Arc<RunSlots>,
    owner: Owner,
    number: u64,
    /// Completed when a waiting call may run.
    ready: Option<oneshot::Receiver<()>>,
}

/// Too many calls of the bearer wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooManyWaiting;

impl RunSlots {
    pub(crate) fn new() -> Self {
        Self { table: Mutex::default(), count: watch::Sender::new(0) }
    }

    /// Takes a place, or queues for one.
    pub(crate) fn request(self: &Arc<Self>, owner: Owner) -> Result<RunSlot, TooManyWaiting> {
        let mut table = self.table.lock();
        let number = table.next_number;
        table.next_number += 1;
        let is_first = !table.waiting.iter().any(|call| call.owner == owner);
        let ready = if is_first && table.has_room_for(&owner) {
            table.start(&owner);
            None
        } else {
            if table.waiting.iter().filter(|call| call.owner == owner).count() >= WAITING_MAX {
                return Err(TooManyWaiting);
            }
            let (ready, receiver) = oneshot::channel();
            table.waiting.push(WaitingCall { number, owner: owner.clone(), ready });
            Some(receiver)
        };
        drop(table);
        self.count.send_modify(|count| *count += 1);
        Ok(RunSlot { slots: Arc::clone(self), owner, number, ready })
    }

    /// Waits until nothing runs or waits.
    pub(crate) async fn wait_until_idle(&self) {
        // The sender lives as long as this value.
        let _ = self.count.subscribe().wait_for(|count| *count == 0).await;
    }

    /// Returns the number of calls that wait.
    pub(crate) fn waiting_count(&self) -> usize {
        self.table.lock().waiting.len()
    }

    fn release(&self, slot: &RunSlot) {
        let mut table = self.table.lock();
        let queued = table.waiting.iter().position(|call| call.number == slot.number);
        if let Some(position) = queued {
            // The call gave up.
            table.waiting.remove(position);
        } else {
            table.end(&slot.owner);
        }
        while let Some(ready) = table.start_next() {
            // A receiver that is gone belongs to a slot that is being dropped, which releases its place.
            let _ = ready.send(());
        }
        drop(table);
        self.count.send_modify(|count| *count -= 1);
    }
}

impl SlotTable {
    fn running_of(&self, owner: &Owner) -> usize {
        self.running.get(owner).copied().unwrap_or_default()
    }

    fn has_room_for(&self, owner: &Owner) -> bool {
        let share = if owner.is_everyone() { RUNS_MAX } else { RUNS_SHARE };
        match self.running_of(owner) {
            0 => self.total < RUNS_MAX + RUNS_RESERVED,
            own => self.total < RUNS_MAX && own < share,
        }
    }

    fn start(&mut self, owner: &Owner) {
        *self.running.entry(owner.clone()).or_default() += 1;
        self.total += 1;
    }

    fn end(&mut self, owner: &Owner) {
        self.total = self.total.saturating_sub(1);
        if let Some(own) = self.running.get_mut(owner) {
            *own = own.saturating_sub(1);
            if *own == 0 {
                self.running.remove(owner);
            }
        }
    }

    /// Starts the next waiting call that has room.
    fn start_next(&mut self) -> Option<oneshot::Sender<()>> {
        let candidates = self.waiting.iter().enumerate().filter(|(_, call)| self.has_room_for(&call.owner));
        let next = candidates.min_by_key(|(_, call)| (self.running_of(&call.owner), call.number));
        let position = next.map(|(position, _)| position)?;
        let call = self.waiting.remove(position);
        self.start(&call.owner);
        Some(call.ready)
    }
}

impl RunSlot {
    /// Whether the call waits for other runs.
    pub(crate) fn is_waiting(&self) -> bool {
        self.ready.is_some()
    }
}

/// Completes when the call may run.
impl Future for RunSlot {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if let Some(ready) = self.ready.as_mut() {
            // The sender is only dropped after it was used.
            if Pin::new(ready).poll(context).is_pending() {
                return Poll::Pending;
            }
            self.ready = None;
        }
        Poll::Ready(())
    }
}

impl Drop for RunSlot {
    fn drop(&mut self) {
        let slots = Arc::clone(&self.slots);
        slots.release(self);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::BearerIdentity;

    fn owner(name: &str) -> Owner {
        BearerIdentity::for_test(name, false).owner()
    }

    fn take(slots: &Arc<RunSlots>, name: &str, count: usize) -> Vec<RunSlot> {
        (0..count).map(|_| slots.request(owner(name)).unwrap()).collect()
    }

    /// The number of slots that may run.
    fn count_started(slots: &mut [RunSlot]) -> usize {
        let mut context = Context::from_waker(std::task::Waker::noop());
        slots.iter_mut().filter_map(|slot| Pin::new(slot).poll(&mut context).is_ready().then_some(())).count()
    }

    #[test]
    fn a_bearer_with_many_calls_leaves_room_for_others() {
        let slots = Arc::new(RunSlots::new());
        let mut greedy = take(&slots, "greedy", 20);
        assert_eq!(count_started(&mut greedy), RUNS_SHARE);
        assert!(!greedy[11].is_waiting() && greedy[12].is_waiting());
        let mut modest = take(&slots, "modest", 4);
        assert_eq!(count_started(&mut modest), 4);
        // The next runs of both wait, but the first run of another bearer starts.
        assert_eq!(count_started(&mut take(&slots, "modest", 1)), 0);
        let mut third = take(&slots, "third", 2);
        assert_eq!(count_started(&mut third), 1);
        // The bearer with fewer runs is next, although it asked later.
        drop(modest.pop());
        drop(modest.pop());
        assert_eq!((count_started(&mut greedy), count_started(&mut third)), (RUNS_SHARE, 2));
    }

    #[test]
    fn a_call_that_gives_up_frees_its_place() {
        let slots = Arc::new(RunSlots::new());
        let all = take(&slots, "one", RUNS_SHARE + WAITING_MAX);
        assert!(slots.request(owner("one")).is_err());
        assert_eq!(slots.waiting_count(), WAITING_MAX);
        drop(all);
        assert_eq!((slots.waiting_count(), *slots.count.borrow()), (0, 0));
        let table = slots.table.lock();
        assert!(table.running.is_empty() && table.total == 0);
    }

    #[test]
    fn without_tokens_all_places_are_for_everyone() {
        let slots = Arc::new(RunSlots::new());
        let mut all: Vec<RunSlot> = (0..20).map(|_| slots.request(Owner::default()).unwrap()).collect();
        assert_eq!(count_started(&mut all), RUNS_MAX);
    }
}
