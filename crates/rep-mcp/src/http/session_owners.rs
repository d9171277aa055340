//! Sessions of the revisions before 2026-07-28, and whom they belong to.
//!
//! The SDK knows a session by its id alone. A request for a session of another bearer is answered exactly as one for a
//! session that does not exist: calls, the end of the session, and the stream that a client resumes. If there are too
//! many sessions, the bearer with the most of them loses the one that was idle for longest.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use parking_lot::Mutex;
use rmcp::transport::streamable_http_server::session::SessionManager as _;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;

use crate::identity::Owner;

/// The maximum number of sessions.
const SESSIONS_MAX: usize = 1024;
/// The header with the id of a session.
const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
/// An id that no session has: the SDK's are random.
const NO_SESSION: HeaderValue = HeaderValue::from_static("unknown");

/// The owners of the sessions, by id.
pub(super) struct SessionOwners {
    sessions: Arc<LocalSessionManager>,
    owners: Mutex<BTreeMap<String, OwnedSession>>,
}

struct OwnedSession {
    owner: Owner,
    last_used: Instant,
}

impl SessionOwners {
    pub(super) fn new(sessions: Arc<LocalSessionManager>) -> Self {
        Self { sessions, owners: Mutex::default() }
    }

    /// Returns the number of sessions.
    pub(super) async fn count(&self) -> usize {
        self.sessions.sessions.read().await.len()
    }

    /// Replaces the session id of a request if the session does not belong to the request's bearer.
    pub(super) fn hide_foreign(&self, headers: &mut HeaderMap, owner: &Owner) {
        let Some(id) = headers.get(SESSION_ID) else { return };
        let mut owners = self.owners.lock();
        let session = id.to_str().ok().and_then(|id| owners.get_mut(id)).filter(|session| session.owner == *owner);
        match session {
            Some(session) => session.last_used = Instant::now(),
            None => drop(headers.insert(SESSION_ID, NO_SESSION)),
        }
    }

    /// Notes the owner of the session that a response starts, and ends sessions if there are too many.
    pub(super) async fn note_started(&self, response: &HeaderMap, owner: Owner) {
        let Some(id) = response.get(SESSION_ID).and_then(|id| id.to_str().ok()) else { return };
        if self.owners.lock().contains_key(id) {
            return;
        }
        let existing: Vec<String> = self.sessions.sessions.read().await.keys().map(ToString::to_string).collect();
        let surplus = {
            let mut owners = self.owners.lock();
            owners.retain(|id, _| existing.contains(id));
            if existing.iter().any(|known| known == id) {
                owners.insert(id.to_owned(), OwnedSession { owner, last_used: Instant::now() });
            }
            take_surplus(&mut owners, SESSIONS_MAX)
        };
        for id in surplus {
            // A session that has ended in the meantime needs no end.
            let _ = self.sessions.close_session(&id.into()).await;
        }
    }

    /// Ends all sessions of an owner, with their streams.
    pub(super) async fn end_all_of(&self, owner: &Owner) {
        let own: Vec<String> = {
            let mut owners = self.owners.lock();
            owners.extract_if(.., |_, session| session.owner == *owner).map(|(id, _)| id).collect()
        };
        for id in own {
            // A session that has ended in the meantime needs no end.
            let _ = self.sessions.close_session(&id.into()).await;
        }
    }
}

/// Removes the sessions above a maximum: each time the idlest one of the owner that has the most.
fn take_surplus(owners: &mut BTreeMap<String, OwnedSession>, max: usize) -> Vec<String> {
    let mut taken = Vec::new();
    while owners.len() > max {
        let mut counts: BTreeMap<&Owner, usize> = BTreeMap::new();
        for session in owners.values() {
            *counts.entry(&session.owner).or_default() += 1;
        }
        let Some(largest) = counts.into_iter().max_by_key(|(_, count)| *count).map(|(owner, _)| owner.clone()) else {
            break;
        };
        let own = owners.iter().filter(|(_, session)| session.owner == largest);
        let Some(id) = own.min_by_key(|(_, session)| session.last_used).map(|(id, _)| id.clone()) else { break };
        owners.remove(&id);
        taken.push(id);
    }
    taken
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::identity::BearerIdentity;

    #[test]
    fn the_owner_of_the_most_sessions_loses_its_idlest() {
        let owner = |name: &str| BearerIdentity::for_test(name, false).owner();
        let begun = Instant::now();
        let session = |name: &str, age: u64| OwnedSession {
            owner: owner(name),
            last_used: begun + Duration::from_secs(100 - age),
        };
        let all = [("a", "greedy", 3), ("b", "greedy", 9), ("c", "greedy", 5), ("d", "modest", 90)];
        let mut owners: BTreeMap<String, OwnedSession> =
            all.into_iter().map(|(id, name, age)| (id.to_owned(), session(name, age))).collect();
        assert_eq!(take_surplus(&mut owners, 2), ["b", "c"]);
        assert_eq!(owners.into_keys().collect::<Vec<_>>(), ["a", "d"]);
    }
}
