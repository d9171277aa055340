//! `--watch`: runs the tests again whenever a file of the skills changes.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use rep_library::watch::{Watched, Watcher, Woken};
use rep_sandbox::Cancel;

use super::{Args, find, once};
use crate::exit::{Exit, Failure};
use crate::library::here;
use crate::output::Output;

/// How often is looked whether somebody asked for the end.
const TICK: Duration = Duration::from_millis(50);

/// Runs, waits for a change, and runs again, until interrupted.
pub(super) fn run(args: &Args, cancel: &Cancel, output: &mut Output) -> Result<Exit, Failure> {
    let mut watcher = Watcher::new(Vec::new())?;
    let stopper = watcher.stopper();
    let (over, is_over) = channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            // Until the other end is dropped, or somebody asked for the end.
            while !cancel.is_cancelled() && is_over.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {}
            stopper.stop();
        });
        let ended = again(args, cancel, &mut watcher, output);
        drop(over);
        ended
    })
}

fn again(args: &Args, cancel: &Cancel, watcher: &mut Watcher, output: &mut Output) -> Result<Exit, Failure> {
    let found = find(args, output)?;
    let mut folders: Vec<PathBuf> = found.subjects.into_iter().map(|subject| subject.folder).collect();
    loop {
        // Before the tests are read, so that a change meanwhile is not missed.
        watcher.set(watched(&folders))?;
        match once(args, cancel, output) {
            Ok((_, found)) => folders = found,
            // A file may be gone for a moment while an editor saves it.
            Err(failure) => output.failure(&failure),
        }
        if cancel.is_cancelled() {
            return Ok(Exit::Interrupted);
        }
        output.say("watching for changes; Ctrl-C ends");
        let own = args.junit.as_ref().and_then(|file| Some(here().ok()?.join(file)));
        if watcher.wait(|path| !is_own(path, own.as_deref())) == Woken::Stopped {
            return Ok(Exit::Interrupted);
        }
    }
}

fn watched(folders: &[PathBuf]) -> Vec<Watched> {
    folders.iter().map(|path| Watched { path: path.clone(), is_deep: true }).collect()
}

/// Whether a file is what we write ourselves: the results, or what becomes them.
fn is_own(path: &Path, results: Option<&Path>) -> bool {
    let Some(results) = results else { return false };
    let is_beside = path.parent().is_some() && path.parent() == results.parent();
    path == results || is_beside && path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".tmp"))
}
