//! `--watch`: runs the tests again whenever a file of the skills changes.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use rep_library::watcher::{FileWatcher, WakeReason, WatchTarget};
use rep_sandbox::Cancel;

use super::{Args, find_test_subjects, test_once};
use crate::exit::{Exit, Failure};
use crate::library::working_folder;
use crate::output::Output;

/// How often to check for an interrupt.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Runs, waits for a change, and runs again, until interrupted.
pub(super) fn watch_and_test(args: &Args, cancel: &Cancel, output: &mut Output) -> Result<Exit, Failure> {
    let mut watcher = FileWatcher::new(Vec::new())?;
    let stopper = watcher.stopper();
    let (over, is_over) = channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            // Until the sender is dropped, or the user interrupts.
            while !cancel.is_cancelled() && is_over.recv_timeout(POLL_INTERVAL) == Err(RecvTimeoutError::Timeout) {}
            stopper.stop();
        });
        let ended = test_on_changes(args, cancel, &mut watcher, output);
        drop(over);
        ended
    })
}

fn test_on_changes(
    args: &Args,
    cancel: &Cancel,
    watcher: &mut FileWatcher,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let found = find_test_subjects(args, output)?;
    let mut folders: Vec<PathBuf> = found.subjects.into_iter().map(|subject| subject.folder).collect();
    loop {
        // Starts before the tests are read, so that no change is missed.
        watcher.set_targets(watch_targets(&folders))?;
        match test_once(args, cancel, output) {
            Ok((_, found)) => folders = found,
            // A file may be missing briefly while an editor saves it.
            Err(failure) => output.print_failure(&failure),
        }
        if cancel.is_cancelled() {
            return Ok(Exit::Interrupted);
        }
        output.print_message("watching for changes; press Ctrl-C to stop");
        let own = args.junit.as_ref().and_then(|file| Some(working_folder().ok()?.join(file)));
        if watcher.wait_for_change(|path| !is_own_output(path, own.as_deref())) == WakeReason::Stopped {
            return Ok(Exit::Interrupted);
        }
    }
}

fn watch_targets(folders: &[PathBuf]) -> Vec<WatchTarget> {
    folders.iter().map(|path| WatchTarget { path: path.clone(), is_deep: true }).collect()
}

/// Whether `rep` wrote the file: the results, or their temporary file.
fn is_own_output(path: &Path, results: Option<&Path>) -> bool {
    let Some(results) = results else { return false };
    let is_beside = path.parent().is_some() && path.parent() == results.parent();
    path == results || is_beside && path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".tmp"))
}
