//! `--watch`: checks again whenever a file below the paths changes.

use rep_library::check::CheckGroup;
use rep_library::watcher::{FileWatcher, WakeReason, WatchTarget};

use super::{Args, check_once};
use crate::exit::{Exit, Failure};
use crate::output::Output;

/// Checks, waits for a change, and checks again, until interrupted.
pub(super) fn watch_and_check(args: &Args, groups: &[CheckGroup], output: &mut Output) -> Result<Exit, Failure> {
    let watched = || args.paths.iter().map(|path| WatchTarget { path: path.clone(), is_deep: true }).collect();
    let mut watcher = FileWatcher::new(watched())?;
    loop {
        match check_once(args, groups, output) {
            Ok(_) => {}
            // A file may be missing briefly while an editor saves it.
            Err(failure) => output.print_failure(&failure),
        }
        output.print_message("watching for changes; press Ctrl-C to stop");
        if watcher.wait_for_change(|_| true) == WakeReason::Stopped {
            return Ok(Exit::Fine);
        }
        watcher.set_targets(watched())?;
    }
}
