//! The library and the runtime for programs in other languages: JSON-RPC 2.0, one object on each line of stdin and stdout.
//!
//! The crate translates. A method has the name of a command, its parameters are the options of that command, and its
//! result is the JSON document that the command prints; `rep-library` and `rep-runtime` decide and build it. The
//! libraries that a client works with stay open, so that an answer costs no discovery. Answers come when they are ready,
//! in any order. The process ends when its input ends, or when the process that started it ends.
//!
//! ```no_run
//! # fn answer(options: rep_api::ApiOptions) {
//! rep_api::serve(std::io::stdin(), std::io::stdout(), options);
//! # }
//! ```

mod error;
mod libraries;
mod message;
mod methods;
mod outbox;
mod params;
mod prompter;
mod session;
mod workers;

use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use rep_library::process_end::{parent_id, wait_for_process_end};
use rep_library::request::{LibraryRequest, UserFolders};
use rep_runtime::{RuntimeOptions, RuntimePaths};

use crate::message::{IncomingLine, read_line};
use crate::outbox::Outbox;
use crate::session::Session;

/// The maximum length of a line, in both directions.
pub const LINE_BYTES_MAX: usize = 32 << 20;
/// The version of the protocol. It changes when a method or a field changes its meaning or disappears.
pub const PROTOCOL_VERSION: u32 = 1;
/// The maximum number of lines that are read ahead.
const LINES_AHEAD_MAX: usize = 256;

/// What the server needs to know about the machine and the user.
pub struct ApiOptions {
    /// The library of requests that do not name one.
    pub library: LibraryRequest,
    /// The user's places.
    pub user: UserFolders,
    /// The directory that relative paths of clients start from.
    pub working_folder: PathBuf,
    /// Where runs are recorded.
    pub paths: RuntimePaths,
    /// The options of every runtime; library and workspace are those of the request.
    pub runtime: RuntimeOptions,
    /// The version of the program.
    pub version: &'static str,
}

/// What the session has to react to.
enum ServerEvent {
    Line(IncomingLine),
    InputEnded,
    ParentEnded,
}

/// Serves a client until its input ends or the process that started this one ends.
pub fn serve(input: impl Read + Send + 'static, output: impl Write + Send + 'static, options: ApiOptions) {
    let (events, incoming) = sync_channel(LINES_AHEAD_MAX);
    let reader = events.clone();
    thread::spawn(move || read_lines(BufReader::new(input), &reader));
    watch_parent(events);
    let (outbox, writer) = Outbox::start(output);
    let session = Arc::new(Session::new(options, outbox));
    for event in incoming {
        match event {
            ServerEvent::Line(line) => Session::handle_line(&session, line),
            ServerEvent::InputEnded => break,
            ServerEvent::ParentEnded => return session.abandon(),
        }
    }
    session.finish(&writer);
}

/// Reads lines until the input ends.
fn read_lines(mut input: impl BufRead, events: &SyncSender<ServerEvent>) {
    while let Ok(Some(line)) = read_line(&mut input, LINE_BYTES_MAX) {
        if events.send(ServerEvent::Line(line)).is_err() {
            return;
        }
    }
    // If the session ended already, it needs no further reason.
    let _ = events.send(ServerEvent::InputEnded);
}

/// Sends an event when the parent ends. Its end of the input can stay open in another process that it started.
fn watch_parent(events: SyncSender<ServerEvent>) {
    let Some(parent) = parent_id() else { return };
    thread::spawn(move || {
        wait_for_process_end(parent);
        // A parent that cannot be watched has not ended, unless this process has another one by now.
        if parent_id() != Some(parent) {
            // If the session ended, nobody needs the event.
            let _ = events.send(ServerEvent::ParentEnded);
        }
    });
}
