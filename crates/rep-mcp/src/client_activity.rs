//! The clients that called recently, and how fast and how well they were answered. Bounded, and lost when the server
//! ends: the record of calls is the durable account.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// The maximum number of clients that are remembered; the one that was silent longest is forgotten.
const CLIENTS_MAX: usize = 256;
/// The number of recent calls from which rate and latency are computed, and their maximum age.
const RECENT_CALLS_MAX: usize = 4096;
const RECENT_AGE_MAX: Duration = Duration::from_mins(1);

/// A client that called recently.
#[derive(Clone, Debug)]
pub struct ActiveClient {
    /// The name and version that the client reports. They are not verified.
    pub name: String,
    /// The protocol revision of its last call, such as `2026-07-28`.
    pub revision: String,
    /// The identity that authenticated it, if tokens are required.
    pub bearer: Option<String>,
    /// The number of its calls.
    pub calls: u64,
    /// The number of its calls that failed.
    pub errors: u64,
    /// The time since its first and its last call.
    pub first_seen: Duration,
    /// The time since its last call.
    pub last_seen: Duration,
}

/// The clients and calls of a server.
#[derive(Default)]
pub(crate) struct ClientActivity(Mutex<ActivityTable>);

#[derive(Default)]
struct ActivityTable {
    clients: BTreeMap<ClientKey, ClientCounts>,
    /// The end and duration of recent calls, and whether they failed.
    recent: VecDeque<(Instant, Duration, bool)>,
    calls: u64,
    errors: u64,
}

/// What distinguishes clients: the name, and the identity.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ClientKey {
    pub(crate) name: String,
    pub(crate) bearer: Option<String>,
    pub(crate) revision: String,
}

struct ClientCounts {
    calls: u64,
    errors: u64,
    first: Instant,
    last: Instant,
}

/// The calls of the last minute.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecentCalls {
    pub(crate) count: usize,
    pub(crate) errors: usize,
    /// Their durations, shortest first.
    pub(crate) durations: Vec<Duration>,
    /// The time that they cover.
    pub(crate) span: Duration,
}

impl ClientActivity {
    /// Counts a call that ended.
    pub(crate) fn count_call(&self, client: ClientKey, took: Duration, is_error: bool) {
        let now = Instant::now();
        let mut table = self.0.lock();
        table.calls += 1;
        table.errors += u64::from(is_error);
        while table.recent.len() >= RECENT_CALLS_MAX
            || table.recent.front().is_some_and(|(at, ..)| now.duration_since(*at) > RECENT_AGE_MAX)
        {
            table.recent.pop_front();
        }
        table.recent.push_back((now, took, is_error));
        if table.clients.len() >= CLIENTS_MAX && !table.clients.contains_key(&client) {
            let oldest = table.clients.iter().min_by_key(|(_, counts)| counts.last).map(|(key, _)| key.clone());
            oldest.and_then(|key| table.clients.remove(&key));
        }
        let counts = table.clients.entry(client).or_insert(ClientCounts { calls: 0, errors: 0, first: now, last: now });
        counts.calls += 1;
        counts.errors += u64::from(is_error);
        counts.last = now;
    }

    /// Returns the clients, the one that called last first.
    pub(crate) fn list_clients(&self) -> Vec<ActiveClient> {
        let table = self.0.lock();
        let now = Instant::now();
        let describe = |(key, counts): (&ClientKey, &ClientCounts)| ActiveClient {
            name: key.name.clone(),
            revision: key.revision.clone(),
            bearer: key.bearer.clone(),
            calls: counts.calls,
            errors: counts.errors,
            first_seen: now.duration_since(counts.first),
            last_seen: now.duration_since(counts.last),
        };
        let mut clients: Vec<ActiveClient> = table.clients.iter().map(describe).collect();
        clients.sort_by_key(|client| client.last_seen);
        clients
    }

    /// Returns the calls of the last minute.
    pub(crate) fn recent_calls(&self) -> RecentCalls {
        let table = self.0.lock();
        let now = Instant::now();
        let recent: Vec<_> = table.recent.iter().filter(|(at, ..)| now.duration_since(*at) <= RECENT_AGE_MAX).collect();
        let mut durations: Vec<Duration> = recent.iter().map(|(_, took, _)| *took).collect();
        durations.sort_unstable();
        // If more calls came than are remembered, they cover less than a minute.
        let is_cut = table.recent.len() >= RECENT_CALLS_MAX;
        let span = recent.first().filter(|_| is_cut).map_or(RECENT_AGE_MAX, |(at, ..)| now.duration_since(*at));
        RecentCalls {
            count: recent.len(),
            errors: recent.iter().filter(|(_, _, is_error)| *is_error).count(),
            durations,
            span,
        }
    }

    /// Returns the number of calls since the start, and of those that failed.
    pub(crate) fn count_totals(&self) -> (u64, u64) {
        let table = self.0.lock();
        (table.calls, table.errors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> ClientKey {
        ClientKey { name: name.to_owned(), bearer: None, revision: "2026-07-28".to_owned() }
    }

    #[test]
    fn clients_are_counted_by_name_and_the_silent_ones_are_forgotten() {
        let activity = ClientActivity::default();
        for number in 0..CLIENTS_MAX {
            activity.count_call(key(&format!("c{number}")), Duration::from_millis(1), false);
        }
        activity.count_call(key("c0"), Duration::from_millis(3), true);
        activity.count_call(key("new"), Duration::from_millis(2), false);
        let clients = activity.list_clients();
        assert_eq!((clients.len(), clients[0].name.as_str()), (CLIENTS_MAX, "new"));
        assert!(!clients.iter().any(|client| client.name == "c1"));
        let first = clients.iter().find(|client| client.name == "c0").unwrap();
        assert_eq!((first.calls, first.errors), (2, 1));
        let recent = activity.recent_calls();
        assert_eq!((recent.count, recent.errors), (CLIENTS_MAX + 2, 1));
        assert_eq!(recent.durations.last(), Some(&Duration::from_millis(3)));
        assert_eq!(activity.count_totals(), (CLIENTS_MAX as u64 + 2, 1));
    }
}
