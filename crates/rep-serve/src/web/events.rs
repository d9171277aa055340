//! What changes, told as it happens: a stream that says which part of a page to ask for again.
//!
//! It carries no content, so that nothing can pile up: who is slow is told once of all that happened meanwhile.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use super::{Web, plain, sent};
use crate::desk::Desk;

/// The most who listen at once, and the most that waits for one of them.
const LISTENERS_MAX: usize = 128;
const WAITING_MAX: usize = 8;
/// How often the records are looked at, and how often a sign of life is sent.
const LOOK: Duration = Duration::from_millis(250);
const LOOKS_A_SIGN: u32 = 60;

/// The stream for one listener. Ends with it, or with the server.
pub(super) async fn stream(State(web): State<Arc<Web>>) -> Response {
    static LISTENERS: AtomicUsize = AtomicUsize::new(0);
    if LISTENERS.fetch_add(1, Ordering::Relaxed) >= LISTENERS_MAX {
        LISTENERS.fetch_sub(1, Ordering::Relaxed);
        return plain(StatusCode::SERVICE_UNAVAILABLE, "too many listen; load the page again instead");
    }
    let (sender, receiver) = mpsc::channel::<Result<Bytes, std::convert::Infallible>>(WAITING_MAX);
    tokio::spawn(async move {
        tell(&web, &sender).await;
        LISTENERS.fetch_sub(1, Ordering::Relaxed);
    });
    sent("text/event-stream", "no-store", Body::from_stream(ReceiverStream::new(receiver)))
}

type Sender = mpsc::Sender<Result<Bytes, std::convert::Infallible>>;

async fn tell(web: &Arc<Web>, sender: &Sender) {
    let mut desk = Desk::listen(&web.shared.desk);
    let mut library = web.shared.changes.subscribe();
    let mut ended = web.shared.ending.subscribe();
    let mut pulse = look(web).await;
    let mut looks = 0;
    // Who begins to listen hears at once that it works, and looks again at what changed on the way.
    let mut word = "hello";
    loop {
        if !say(sender, word).await {
            return;
        }
        word = tokio::select! {
            () = sender.closed() => return,
            _ = ended.changed() => return,
            changed = desk.changes.changed() => match changed {
                Ok(()) => "questions",
                Err(_) => return,
            },
            changed = library.changed() => match changed {
                Ok(()) => "library",
                Err(_) => return,
            },
            () = tokio::time::sleep(LOOK) => {
                looks += 1;
                let now = look(web).await;
                match (now == pulse, looks % LOOKS_A_SIGN) {
                    (false, _) => { pulse = now; "runs" }
                    (true, 0) => "alive",
                    (true, _) => "",
                }
            }
        };
    }
}

/// Says a word; nothing for none. False where nobody hears it.
async fn say(sender: &Sender, word: &str) -> bool {
    if word.is_empty() {
        return true;
    }
    sender.send(Ok(Bytes::from(format!("event: {word}\ndata: {word}\n\n")))).await.is_ok()
}

async fn look(web: &Arc<Web>) -> u64 {
    let office = Arc::clone(&web.office);
    tokio::task::spawn_blocking(move || office.pulse()).await.unwrap_or(0)
}
