//! `--watch`: checks again whenever a file below the paths changes.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use notify::{EventKind, RecursiveMode, Watcher};
use rep_check::Options;

use super::{Args, once};
use crate::exit::{Exit, Failure};
use crate::output::Output;

/// How long the files must be at rest before they are looked at.
const REST: Duration = Duration::from_millis(80);

/// Checks, waits for a change, and checks again, until interrupted.
pub(super) fn run(args: &Args, options: &Options, output: &mut Output) -> Result<Exit, Failure> {
    let (sender, receiver) = channel();
    let failed = |error: notify::Error| Failure::unable("UNWATCHABLE", format!("could not watch: {error}"));
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        let is_change = event.as_ref().is_ok_and(|event| !matches!(event.kind, EventKind::Access(_)));
        if is_change {
            // The receiver lives as long as the process; a send cannot fail before it ends.
            let _ = sender.send(());
        }
    })
    .map_err(failed)?;
    for path in &args.paths {
        watcher.watch(path, RecursiveMode::Recursive).map_err(failed)?;
    }
    loop {
        match once(args, options, output) {
            Ok(_) => {}
            // A file may be gone for a moment while an editor saves it.
            Err(failure) => output.failure(&failure),
        }
        output.say("watching for changes; Ctrl-C ends");
        if receiver.recv().is_err() {
            return Ok(Exit::Fine);
        }
        // A burst of events is one change.
        while !matches!(receiver.recv_timeout(REST), Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected)) {}
    }
}
