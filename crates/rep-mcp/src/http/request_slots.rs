//! Shares of the concurrent requests of a server.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::identity::Owner;

/// The maximum number of concurrent requests, and of those of one bearer if tokens are required.
const REQUESTS_MAX: usize = 256;
const REQUESTS_SHARE: usize = 192;

/// The requests that are being answered, by bearer.
#[derive(Default)]
pub(super) struct RequestSlots(Mutex<BTreeMap<Owner, usize>>);

/// The place of a request, which is free again when this is dropped.
pub(super) struct RequestSlot {
    slots: Arc<RequestSlots>,
    owner: Owner,
}

impl RequestSlots {
    /// Takes a place for a request of a bearer. Returns `None` if all places or the bearer's share are taken.
    pub(super) fn try_acquire(self: &Arc<Self>, owner: &Owner) -> Option<RequestSlot> {
        let mut open = self.0.lock();
        let share = if owner.is_everyone() { REQUESTS_MAX } else { REQUESTS_SHARE };
        let own = open.get(owner).copied().unwrap_or_default();
        if own >= share || open.values().sum::<usize>() >= REQUESTS_MAX {
            return None;
        }
        open.insert(owner.clone(), own + 1);
        drop(open);
        Some(RequestSlot { slots: Arc::clone(self), owner: owner.clone() })
    }
}

impl Drop for RequestSlot {
    fn drop(&mut self) {
        let mut open = self.slots.0.lock();
        if let Some(own) = open.get_mut(&self.owner) {
            *own -= 1;
            if *own == 0 {
                open.remove(&self.owner);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::BearerIdentity;

    #[test]
    fn a_bearer_cannot_take_the_requests_of_others() {
        let slots = Arc::new(RequestSlots::default());
        let owner = |name: &str| BearerIdentity::for_test(name, false).owner();
        let take = |name: &str| std::iter::from_fn(|| slots.try_acquire(&owner(name))).take(300).collect::<Vec<_>>();
        let (greedy, modest) = (take("greedy"), take("modest"));
        assert_eq!((greedy.len(), modest.len()), (REQUESTS_SHARE, REQUESTS_MAX - REQUESTS_SHARE));
        drop((greedy, modest));
        assert!(slots.0.lock().is_empty());
        let all: Vec<_> = std::iter::from_fn(|| slots.try_acquire(&Owner::default())).take(300).collect();
        assert_eq!(all.len(), REQUESTS_MAX);
    }
}
