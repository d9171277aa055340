//! Calls that wait for a client's answer between two requests.
//!
//! A call that needs confirmation is loaded and planned once. The answer arrives with the client's next request, which
//! takes the call out and resumes it. Only the bearer that called takes it out; the attempt of another leaves it there.
//! The table is bounded and its entries expire, because each holds a private copy of a skill on disk. A call that has
//! left the table is planned again.

use std::collections::BTreeMap;
use std::time::Instant;

use parking_lot::Mutex;
use rep_runtime::DeferredCall;

use crate::confirmation::ANSWER_TIMEOUT;
use crate::identity::Owner;

/// The maximum number of waiting calls.
const CALLS_MAX: usize = 64;

/// Waiting calls by the number of their question.
#[derive(Default)]
pub(crate) struct PendingCalls(Mutex<BTreeMap<u64, PendingCall>>);

struct PendingCall {
    deferred: Box<DeferredCall>,
    /// The bearer that called, and the client. Its name is in the record of the run, so only its own answer resumes the
    /// call.
    caller: (Owner, String),
    since: Instant,
}

impl PendingCalls {
    /// Stores a call until its answer arrives. Removes the oldest call if the table is full.
    pub(crate) fn insert(&self, question: u64, caller: (Owner, String), deferred: Box<DeferredCall>) {
        let expired = {
            let mut calls = self.0.lock();
            let mut removed = remove_expired(&mut calls);
            while calls.len() >= CALLS_MAX {
                removed.extend(calls.pop_first().map(|(_, call)| call));
            }
            calls.insert(question, PendingCall { deferred, caller, since: Instant::now() });
            removed
        };
        // Dropping a call removes files; other callers do not wait for that.
        drop(expired);
    }

    /// Takes the call that this caller's answer belongs to.
    pub(crate) fn take(&self, question: u64, caller: &(Owner, String)) -> Option<Box<DeferredCall>> {
        let mut calls = self.0.lock();
        let removed = remove_expired(&mut calls);
        let is_own = calls.get(&question).is_some_and(|call| call.caller == *caller);
        let call = if is_own { calls.remove(&question) } else { None };
        drop(calls);
        drop(removed);
        call.map(|call| call.deferred)
    }

    /// Drops the expired calls.
    pub(crate) fn drop_expired(&self) {
        let removed = remove_expired(&mut self.0.lock());
        drop(removed);
    }

    /// Drops the calls of an owner.
    pub(crate) fn drop_all_of(&self, owner: &Owner) {
        let own: Vec<_> = self.0.lock().extract_if(.., |_, call| call.caller.0 == *owner).collect();
        drop(own);
    }

    /// Drops all calls.
    pub(crate) fn clear(&self) {
        let all = std::mem::take(&mut *self.0.lock());
        drop(all);
    }
}

fn remove_expired(calls: &mut BTreeMap<u64, PendingCall>) -> Vec<PendingCall> {
    let expired = calls.iter().filter(|(_, call)| call.since.elapsed() > ANSWER_TIMEOUT).map(|(number, _)| *number);
    let expired: Vec<u64> = expired.collect();
    expired.into_iter().filter_map(|number| calls.remove(&number)).collect()
}
