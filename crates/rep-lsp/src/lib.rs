//! A language server for skills (LSP 3.17, and parts of 3.18 for clients that know them).
//!
//! The server shows the findings of `rep check` while an author types, and helps to write and navigate skills. It is a
//! translation of `rep-check` and `rep-library`: the same library calls check open files and files on disk. The crate
//! cannot reach the runtime. It starts no process, opens no connection and writes no file; the client applies edits.
//!
//! ```no_run
//! use rep_lsp::{LanguageServerOptions, SessionEnd};
//!
//! let options = LanguageServerOptions { library: rep_library::LibraryOptions::default() };
//! let end = rep_lsp::serve(std::io::stdin(), std::io::stdout(), options);
//! assert_eq!(end, SessionEnd::Orderly);
//! ```

mod bundle;
mod capabilities;
mod checkers;
mod client;
mod client_process;
mod code_actions;
mod completion;
mod configuration;
mod diagnostics;
mod document;
mod edits;
mod field_completion;
mod file_uri;
mod formatting;
mod hover;
mod index;
mod judging;
mod mentions;
mod message;
mod navigation;
mod outbox;
mod position;
mod references;
mod rename;
mod scan;
mod semantic_tokens;
mod session;
mod settings;
mod status;
mod structure;
mod symbols;
mod sync;
mod token_cost;
pub mod transport;
mod view;
mod watching;
mod workspace_pull;
mod yaml_cursor;

use std::io::{BufReader, Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::outbox::{Outbox, OutgoingItem};
pub use crate::session::{LanguageServerOptions, SessionEnd};
use crate::session::{ServerEvent, Session};
use crate::transport::{IncomingFrame, read_frame, write_frame};

/// The maximum number of events that wait, among them messages that were read ahead.
const EVENTS_MAX: usize = 4096;

/// How long the server waits for a client to read the last messages.
const LAST_WORDS_MAX: Duration = Duration::from_secs(1);

/// Serves a client until it ends the session, closes the input, or its process ends.
pub fn serve(
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    options: LanguageServerOptions,
) -> SessionEnd {
    let (outbox, outgoing) = Outbox::new();
    let (events, incoming) = sync_channel(EVENTS_MAX);
    let (done, written) = channel();
    let (reader_outbox, reader_events) = (outbox.clone(), events.clone());
    thread::spawn(move || read_messages(input, &reader_events, &reader_outbox));
    thread::spawn(move || {
        write_messages(output, &outgoing);
        // If nobody waits, the session ended without the client.
        let _ = done.send(());
    });
    let mut session = Session::new(outbox.clone(), events, options);
    let end = run_session(&mut session, &incoming);
    outbox.close();
    // A client that does not read must not keep the server alive.
    let _ = written.recv_timeout(LAST_WORDS_MAX);
    end
}

/// Handles events until the session ends.
fn run_session(session: &mut Session, incoming: &Receiver<ServerEvent>) -> SessionEnd {
    loop {
        if let Some(end) = session.end() {
            return end;
        }
        let received = match session.next_deadline() {
            Some(due) => incoming.recv_timeout(due.saturating_duration_since(Instant::now())),
            None => incoming.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match received {
            Ok(event) => session.handle_event(event),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => session.handle_event(ServerEvent::InputEnded),
        }
        session.run_due(Instant::now());
    }
}

/// Reads messages until the input ends. Cancelled requests are noted at once, so that running work can stop.
fn read_messages(input: impl Read, events: &SyncSender<ServerEvent>, outbox: &Outbox) {
    let mut input = BufReader::new(input);
    while let Ok(Some(frame)) = read_frame(&mut input) {
        if let IncomingFrame::Json(message) = &frame
            && message.get("method").and_then(Value::as_str) == Some("$/cancelRequest")
            && let Some(id) = message.pointer("/params/id")
        {
            outbox.mark_cancelled(id);
        }
        if events.send(ServerEvent::Frame(frame, Instant::now())).is_err() {
            return;
        }
    }
    // If the session ended already, it needs no further reason.
    let _ = events.send(ServerEvent::InputEnded);
}

/// Writes messages until the session ends or the client is gone.
fn write_messages(mut output: impl Write, outgoing: &Receiver<OutgoingItem>) {
    for item in outgoing {
        match item {
            OutgoingItem::Message(message) if write_frame(&mut output, &message).is_ok() => {}
            OutgoingItem::Message(_) | OutgoingItem::End => return,
        }
    }
}
