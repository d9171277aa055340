//! The open connections of a server, and which of them gives way to a new one.
//!
//! A connection is anonymous until a request on it is admitted. If there are too many connections, an anonymous one of
//! the address with the most of them is closed, the oldest first: clients that were admitted before, and new ones from
//! other addresses, keep theirs. A bearer with more than its share of connections loses the one that is idle for longest.

use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use parking_lot::Mutex;
use tokio::sync::{Notify, oneshot};

use crate::identity::Owner;

/// The maximum number of connections.
const CONNECTIONS_MAX: usize = 4096;
/// The maximum number of connections of one bearer, if tokens are required.
const BEARER_CONNECTIONS_MAX: usize = 1024;
/// The number of open files that the server needs for other purposes.
const OTHER_FILES: u64 = 256;

/// The open connections.
pub(crate) struct ConnectionTable {
    state: Mutex<TableState>,
    max: usize,
    /// Notified when a connection was closed.
    freed: Notify,
}

impl fmt::Debug for ConnectionTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectionTable").field("max", &self.max).finish_non_exhaustive()
    }
}

#[derive(Default)]
struct TableState {
    /// The connections by number, the oldest first.
    open: BTreeMap<u64, OpenConnection>,
    next_number: u64,
}

struct OpenConnection {
    peer: IpAddr,
    /// The bearer of the last request that was admitted.
    owner: Option<Owner>,
    last_used: Instant,
    transitions: Arc<AtomicU64>,
    /// Dropped to close the connection.
    _close: oneshot::Sender<()>,
}

/// The entry of a connection in the table, which is removed when this is dropped.
pub(crate) struct ConnectionEntry {
    table: Arc<ConnectionTable>,
    number: u64,
}

impl Drop for ConnectionEntry {
    fn drop(&mut self) {
        self.table.state.lock().open.remove(&self.number);
        self.table.freed.notify_one();
    }
}

impl ConnectionEntry {
    pub(crate) fn number(&self) -> u64 {
        self.number
    }
}

impl ConnectionTable {
    /// Creates a table for as many connections as the process may open.
    pub(crate) fn new() -> Self {
        Self::with_maximum(raise_file_limit())
    }

    fn with_maximum(max: usize) -> Self {
        Self { state: Mutex::default(), max, freed: Notify::new() }
    }

    /// Waits until another connection may be accepted. Closes one if there are too many.
    pub(crate) async fn make_room(&self) {
        loop {
            // Registered before the count is read, so that no notification is missed.
            let freed = self.freed.notified();
            {
                let mut state = self.state.lock();
                if state.open.len() < self.max || state.close_one() {
                    return;
                }
            }
            freed.await;
        }
    }

    /// Adds a connection. The receiver completes when the connection must be closed.
    pub(crate) fn insert(
        self: &Arc<Self>,
        peer: IpAddr,
        transitions: Arc<AtomicU64>,
    ) -> (ConnectionEntry, oneshot::Receiver<()>) {
        let (close, closing) = oneshot::channel();
        let mut state = self.state.lock();
        let number = state.next_number;
        state.next_number += 1;
        let last_used = Instant::now();
        state.open.insert(number, OpenConnection { peer, owner: None, last_used, transitions, _close: close });
        (ConnectionEntry { table: Arc::clone(self), number }, closing)
    }

    /// Notes that a request of a bearer was admitted on a connection. Returns `false` if the bearer has too many
    /// connections that are in use.
    pub(crate) fn admit(&self, number: u64, owner: &Owner) -> bool {
        let mut state = self.state.lock();
        let Some(connection) = state.open.get_mut(&number) else { return false };
        connection.last_used = Instant::now();
        if connection.owner.as_ref() == Some(owner) {
            return true;
        }
        connection.owner = Some(owner.clone());
        let is_over_share = !owner.is_everyone()
            && state.open.values().filter(|open| open.owner.as_ref() == Some(owner)).count() > BEARER_CONNECTIONS_MAX;
        if is_over_share && !state.close_idlest_of(owner) {
            if let Some(connection) = state.open.get_mut(&number) {
                connection.owner = None;
            }
            return false;
        }
        true
    }
}

impl TableState {
    /// Closes the connection that gives way to a new one. Returns `false` if all of them are in use.
    fn close_one(&mut self) -> bool {
        let mut anonymous: BTreeMap<IpAddr, (usize, u64)> = BTreeMap::new();
        for (number, _) in self.open.iter().filter(|(_, open)| open.owner.is_none()) {
            let peer = self.open[number].peer;
            anonymous.entry(peer).or_insert((0, *number)).0 += 1;
        }
        if let Some((_, oldest)) = anonymous.into_values().max_by_key(|(count, _)| *count) {
            self.open.remove(&oldest);
            return true;
        }
        let mut counts: BTreeMap<&Owner, usize> = BTreeMap::new();
        for owner in self.open.values().filter_map(|open| open.owner.as_ref()) {
            *counts.entry(owner).or_default() += 1;
        }
        let largest = counts.into_iter().max_by_key(|(_, count)| *count).map(|(owner, _)| owner.clone());
        largest.is_some_and(|owner| self.close_idlest_of(&owner))
    }

    /// Closes the connection of a bearer that was used longest ago and has no request. Returns `false` if there is none.
    fn close_idlest_of(&mut self, owner: &Owner) -> bool {
        let is_idle = |open: &OpenConnection| open.transitions.load(Ordering::Relaxed).is_multiple_of(2);
        let own = self.open.iter().filter(|(_, open)| open.owner.as_ref() == Some(owner) && is_idle(open));
        let Some(idlest) = own.min_by_key(|(_, open)| open.last_used).map(|(number, _)| *number) else { return false };
        self.open.remove(&idlest).is_some()
    }
}

/// Raises the limit of open files as far as the connections need, and returns the number of connections that fit. Tools
/// have a limit of their own.
fn raise_file_limit() -> usize {
    let current = rep_storage::platform::raise_file_limit(CONNECTIONS_MAX as u64 + OTHER_FILES);
    let room = current.saturating_sub(OTHER_FILES).max(current / 2).max(1);
    usize::try_from(room).unwrap_or(CONNECTIONS_MAX).min(CONNECTIONS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::BearerIdentity;

    const ATTACKER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1));
    const CLIENT: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 2));

    fn owner(name: &str) -> Owner {
        BearerIdentity::for_test(name, false).owner()
    }

    fn is_open(closing: &mut oneshot::Receiver<()>) -> bool {
        closing.try_recv() == Err(oneshot::error::TryRecvError::Empty)
    }

    fn block_on<T>(work: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(work)
    }

    #[test]
    fn anonymous_connections_give_way_and_admitted_ones_stay() {
        let table = Arc::new(ConnectionTable::with_maximum(4));
        let (admitted, mut admitted_open) = table.insert(ATTACKER, Arc::default());
        assert!(table.admit(admitted.number(), &owner("ann")));
        let (_new, mut new_open) = table.insert(CLIENT, Arc::default());
        let mut flood = Vec::new();
        for _ in 0..50 {
            block_on(table.make_room());
            flood.push(table.insert(ATTACKER, Arc::default()));
        }
        assert!(is_open(&mut admitted_open) && is_open(&mut new_open));
        let open: Vec<usize> = (0..50).filter(|at| is_open(&mut flood[*at].1)).collect();
        assert_eq!(open, [48, 49]);
    }

    #[test]
    fn with_admitted_connections_only_the_idlest_of_the_largest_bearer_gives_way() {
        let table = Arc::new(ConnectionTable::with_maximum(3));
        let busy = Arc::new(AtomicU64::new(1));
        let mut all = [
            table.insert(CLIENT, Arc::clone(&busy)),
            table.insert(CLIENT, Arc::default()),
            table.insert(CLIENT, Arc::default()),
        ];
        for ((entry, _), name) in all.iter().zip(["ann", "ann", "bob"]) {
            assert!(table.admit(entry.number(), &owner(name)));
        }
        block_on(table.make_room());
        let open: Vec<bool> = all.iter_mut().map(|(_, closing)| is_open(closing)).collect();
        assert_eq!(open, [true, false, true]);
    }

    #[test]
    fn a_bearer_has_a_share_of_the_connections() {
        let table = Arc::new(ConnectionTable::with_maximum(2 * BEARER_CONNECTIONS_MAX));
        let mut all: Vec<_> = (0..=BEARER_CONNECTIONS_MAX).map(|_| table.insert(CLIENT, Arc::default())).collect();
        for (entry, _) in &all {
            assert!(table.admit(entry.number(), &owner("ann")));
        }
        let open = all.iter_mut().filter_map(|(_, closing)| is_open(closing).then_some(())).count();
        assert_eq!(open, BEARER_CONNECTIONS_MAX);
        let busy = Arc::new(AtomicU64::new(1));
        let busy: Vec<_> = (0..=BEARER_CONNECTIONS_MAX).map(|_| table.insert(CLIENT, Arc::clone(&busy))).collect();
        let admitted = busy.iter().filter(|(entry, _)| table.admit(entry.number(), &owner("bob"))).count();
        assert_eq!(admitted, BEARER_CONNECTIONS_MAX);
    }
}
