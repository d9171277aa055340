//! The way back to the client. A thread writes, so that a slow client does not stop the server.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use parking_lot::Mutex;
use rep_check::redact_secrets;
use serde_json::Value;

use crate::message::{RpcError, build_notification, build_request, build_response};

/// The maximum number of messages that wait for a client that does not read.
const QUEUE_MAX: usize = 10_000;

/// The maximum number of cancelled requests that are remembered.
const CANCELLED_MAX: usize = 10_000;

/// What the writer does next.
#[derive(Debug)]
pub(crate) enum OutgoingItem {
    /// Writes a message.
    Message(Value),
    /// Stops, because everything was written.
    End,
}

/// Sends messages to the client, and knows which requests the client cancelled.
#[derive(Clone)]
pub(crate) struct Outbox {
    queue: SyncSender<OutgoingItem>,
    /// The requests that the client cancelled.
    cancelled: Arc<Mutex<BTreeSet<String>>>,
    /// The requests that are answered in the background.
    active: Arc<Mutex<BTreeSet<String>>>,
    next_id: Arc<AtomicI64>,
}

impl Outbox {
    /// Creates an outbox, and the receiver of its messages.
    pub(crate) fn new() -> (Self, Receiver<OutgoingItem>) {
        let (queue, receiver) = sync_channel(QUEUE_MAX);
        let next_id = Arc::new(AtomicI64::new(1));
        (Self { queue, cancelled: Arc::default(), active: Arc::default(), next_id }, receiver)
    }

    fn send(&self, mut message: Value) {
        redact_strings(&mut message);
        // If the writer is gone, so is the client.
        let _ = self.queue.send(OutgoingItem::Message(message));
    }

    /// Lets the writer stop after the messages that were sent before.
    pub(crate) fn close(&self) {
        // If the writer is gone, so is the client.
        let _ = self.queue.send(OutgoingItem::End);
    }

    /// Answers a request.
    pub(crate) fn respond(&self, id: &Value, result: Result<Value, RpcError>) {
        let key = id.to_string();
        self.cancelled.lock().remove(&key);
        self.active.lock().remove(&key);
        self.send(build_response(id, result));
    }

    /// Sends a notification.
    pub(crate) fn notify(&self, method: &str, params: Value) {
        self.send(build_notification(method, params));
    }

    /// Sends a request and returns its id.
    pub(crate) fn request(&self, method: &str, params: Value) -> i64 {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        self.send(build_request(id, method, params));
        id
    }

    /// Remembers that the client cancelled a request.
    pub(crate) fn mark_cancelled(&self, id: &Value) {
        let mut cancelled = self.cancelled.lock();
        if cancelled.len() < CANCELLED_MAX {
            cancelled.insert(id.to_string());
        }
    }

    /// Notes that a request is answered in the background.
    pub(crate) fn mark_active(&self, id: &Value) {
        self.active.lock().insert(id.to_string());
    }

    /// Forgets that a request was cancelled, unless it is still being answered.
    pub(crate) fn forget_cancelled(&self, id: &Value) {
        let key = id.to_string();
        if !self.active.lock().contains(&key) {
            self.cancelled.lock().remove(&key);
        }
    }

    /// Returns whether the client cancelled a request.
    pub(crate) fn is_cancelled(&self, id: &Value) -> bool {
        self.cancelled.lock().contains(&id.to_string())
    }
}

/// Replaces the secrets in all strings of a message. Edits keep the user's text as it is, and URIs must stay valid.
fn redact_strings(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(redacted) = redact_secrets(text) {
                *text = redacted;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(redact_strings),
        Value::Object(fields) => {
            let is_shown = |key: &str| !matches!(key, "newText" | "uri" | "oldUri" | "newUri" | "target");
            fields.iter_mut().filter(|(key, _)| is_shown(key)).for_each(|(_, field)| redact_strings(field));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn no_message_contains_a_secret() {
        let (outbox, queue) = Outbox::new();
        let secret = ["ghp_", "Q7M2ZK4VX9B3WD6RJ5HP8TNQ7M2ZK4VX9B3W"].concat();
        outbox.respond(&json!(1), Ok(json!({ "contents": [{ "value": format!("key {secret}") }] })));
        outbox.notify("x", json!({ "message": secret }));
        for item in queue.try_iter() {
            let OutgoingItem::Message(message) = item else { panic!("only messages were sent") };
            assert!(!message.to_string().contains(&secret), "{message}");
            assert!(message.to_string().contains("ghp_…"), "{message}");
        }
    }

    #[test]
    fn a_cancelled_request_is_known_until_it_is_answered() {
        let (outbox, _queue) = Outbox::new();
        outbox.mark_cancelled(&json!("a"));
        assert!(outbox.is_cancelled(&json!("a")) && !outbox.is_cancelled(&json!(1)));
        outbox.respond(&json!("a"), Ok(Value::Null));
        assert!(!outbox.is_cancelled(&json!("a")));
        outbox.mark_active(&json!(2));
        outbox.mark_cancelled(&json!(2));
        outbox.mark_cancelled(&json!(3));
        outbox.forget_cancelled(&json!(2));
        outbox.forget_cancelled(&json!(3));
        assert!(outbox.is_cancelled(&json!(2)) && !outbox.is_cancelled(&json!(3)));
    }
}
