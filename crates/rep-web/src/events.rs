//! Server-sent events that say which part of a page to reload.
//!
//! Events have no content, so that nothing accumulates: a slow listener receives one event for all changes in the
//! meantime.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse as _, Response};
use rep_mcp::{BearerIdentity, PendingConfirmations, Visitor, plain_response};
use tokio::sync::{Semaphore, mpsc};
use tokio_stream::wrappers::ReceiverStream;

use super::Dashboard;

/// The maximum number of listeners, and of events that wait for a listener.
const LISTENERS_MAX: usize = 128;
const WAITING_MAX: usize = 8;
/// The interval between polls of the records, and the number of polls between heartbeats.
const POLL_INTERVAL: Duration = Duration::from_millis(250);
const POLLS_PER_HEARTBEAT: u32 = 60;

/// The free slots for listeners.
pub(super) struct ListenerSlots(Arc<Semaphore>);

impl Default for ListenerSlots {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(LISTENERS_MAX)))
    }
}

type EventSender = mpsc::Sender<Result<Event, Infallible>>;

/// Streams events to a listener until the listener or the server ends.
pub(super) async fn stream_events(
    State(dashboard): State<Arc<Dashboard>>,
    bearer: Option<Extension<BearerIdentity>>,
) -> Response {
    let visitor = dashboard.visitor(bearer);
    let Ok(slot) = Arc::clone(&dashboard.listeners.0).try_acquire_owned() else {
        let message = "too many pages are open; reload the page to see changes";
        return plain_response(StatusCode::SERVICE_UNAVAILABLE, message);
    };
    let (sender, receiver) = mpsc::channel(WAITING_MAX);
    tokio::spawn(async move {
        send_events(&dashboard, visitor, &sender).await;
        drop(slot);
    });
    let mut response = Sse::new(ReceiverStream::new(receiver)).into_response();
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

async fn send_events(dashboard: &Arc<Dashboard>, visitor: Visitor, sender: &EventSender) {
    let server = &dashboard.server;
    let mut confirmations = PendingConfirmations::add_viewer(server.confirmations(), visitor);
    let mut library = server.subscribe_lists();
    let mut shutdown = server.subscribe_shutdown();
    let mut fingerprint = activity_fingerprint(dashboard).await;
    let mut polls = 0;
    // The first event tells the listener that it is connected, and to reload parts that changed while the page loaded.
    let mut next = Some("hello");
    loop {
        if let Some(name) = next
            && sender.send(Ok(Event::default().event(name).data(name))).await.is_err()
        {
            return;
        }
        next = tokio::select! {
            () = sender.closed() => return,
            _ = shutdown.changed() => return,
            changed = confirmations.changes.changed() => match changed {
                Ok(()) => Some("questions"),
                Err(_) => return,
            },
            changed = library.changed() => match changed {
                Ok(()) => Some("library"),
                Err(_) => return,
            },
            () = tokio::time::sleep(POLL_INTERVAL) => {
                polls += 1;
                let now = activity_fingerprint(dashboard).await;
                match (now == fingerprint, polls % POLLS_PER_HEARTBEAT) {
                    (false, _) => { fingerprint = now; Some("runs") }
                    (true, 0) => Some("alive"),
                    (true, _) => None,
                }
            }
        };
    }
}

/// Returns a fingerprint that changes whenever a run or task of this user changes.
async fn activity_fingerprint(dashboard: &Arc<Dashboard>) -> u64 {
    let runtime = Arc::clone(dashboard.server.runtime());
    tokio::task::spawn_blocking(move || runtime.activity_fingerprint()).await.unwrap_or(0)
}
