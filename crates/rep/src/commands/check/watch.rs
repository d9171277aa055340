//! `--watch`: checks again whenever a file below the paths changes.

use rep_check::Options;
use rep_library::watch::{Watched, Watcher, Woken};

use super::{Args, once};
use crate::exit::{Exit, Failure};
use crate::output::Output;

/// Checks, waits for a change, and checks again, until interrupted.
pub(super) fn run(args: &Args, options: &Options, output: &mut Output) -> Result<Exit, Failure> {
    let watched = || args.paths.iter().map(|path| Watched { path: path.clone(), is_deep: true }).collect();
    let mut watcher = Watcher::new(watched())?;
    loop {
        match once(args, options, output) {
            Ok(_) => {}
            // A file may be gone for a moment while an editor saves it.
            Err(failure) => output.failure(&failure),
        }
        output.say("watching for changes; Ctrl-C ends");
        if watcher.wait(|_| true) == Woken::Stopped {
            return Ok(Exit::Fine);
        }
        watcher.set(watched())?;
    }
}
