//! The way back to the client. A thread writes, so that a slow client stops only those that have something to say.

use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::LINE_BYTES_MAX;
use crate::error::ApiError;
use crate::message::{MethodResult, render_notification, render_request, render_response};

/// The maximum number of lines that wait for a client that does not read.
const QUEUE_MAX: usize = 256;

enum OutgoingItem {
    Line(String),
    End,
}

/// Sends messages to the client.
#[derive(Debug)]
pub(crate) struct Outbox {
    queue: SyncSender<OutgoingItem>,
    next_question: AtomicU64,
}

impl std::fmt::Debug for OutgoingItem {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("OutgoingItem")
    }
}

/// Tells when everything was written.
pub(crate) struct WriterEnd(Receiver<()>);

impl WriterEnd {
    /// Waits until everything was written, or until the time is over.
    pub(crate) fn wait(&self, most: Duration) {
        // A client that does not read does not keep the server alive.
        let _ = self.0.recv_timeout(most);
    }
}

impl Outbox {
    /// Starts the thread that writes.
    pub(crate) fn start(mut output: impl Write + Send + 'static) -> (Self, WriterEnd) {
        let (queue, items) = sync_channel::<OutgoingItem>(QUEUE_MAX);
        let (done, written) = channel();
        thread::spawn(move || {
            write_items(&mut output, &items);
            // If nobody waits, the session ended without the client.
            let _ = done.send(());
        });
        (Self { queue, next_question: AtomicU64::new(1) }, WriterEnd(written))
    }

    fn send(&self, line: String) {
        // If the writer is gone, so is the client.
        let _ = self.queue.send(OutgoingItem::Line(line));
    }

    /// Answers a request.
    pub(crate) fn respond(&self, id: &Value, result: &Result<MethodResult, ApiError>) {
        let line = render_response(id, result);
        if line.len() > LINE_BYTES_MAX {
            return self.send(render_response(id, &Err(ApiError::too_large())));
        }
        self.send(line);
    }

    /// Sends a notification.
    pub(crate) fn notify(&self, method: &str, params: &Value) {
        self.send(render_notification(method, params));
    }

    /// Returns an id for a question, which no request of the client can have by accident.
    pub(crate) fn new_question_id(&self) -> String {
        format!("rep-{}", self.next_question.fetch_add(1, Ordering::Relaxed))
    }

    /// Asks the client.
    pub(crate) fn ask(&self, id: &str, method: &str, params: &Value) {
        self.send(render_request(id, method, params));
    }

    /// Lets the writer stop after the lines that were sent before.
    pub(crate) fn close(&self) {
        // If the queue is full, the client does not read.
        let _ = self.queue.try_send(OutgoingItem::End);
    }
}

fn write_items(output: &mut impl Write, items: &Receiver<OutgoingItem>) {
    for item in items {
        let OutgoingItem::Line(mut line) = item else { return };
        line.push('\n');
        if output.write_all(line.as_bytes()).and_then(|()| output.flush()).is_err() {
            return;
        }
    }
}
