//! Notices when the process of the client ends without closing the input.

use std::sync::mpsc::SyncSender;
use std::thread;

use rep_library::process_end::wait_for_process_end;
use serde_json::Value;

use crate::session::ServerEvent;

/// Sends an event when the process named by `processId` ends. A client can be silent about its process.
pub(crate) fn watch_client_process(params: &Value, events: &SyncSender<ServerEvent>) {
    let id = params.get("processId").and_then(Value::as_i64).and_then(|id| u32::try_from(id).ok());
    let Some(id) = id.filter(|id| *id > 0) else { return };
    let events = events.clone();
    thread::spawn(move || {
        wait_for_process_end(id);
        // If the session ended, nobody needs the event.
        let _ = events.send(ServerEvent::ClientGone);
    });
}
