//! Waiting for files to change: a burst of events is one change.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

use crate::LibraryError;

/// How long the files must be at rest before they are looked at.
const REST: Duration = Duration::from_millis(80);
/// How long a file that never rests can hold everybody up.
const REST_MAX: Duration = Duration::from_secs(2);

/// What is watched: a folder with everything below it, or only what lies directly in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Watched {
    /// The folder or file.
    pub path: PathBuf,
    /// Whether what lies deeper counts too.
    pub is_deep: bool,
}

/// Why [`Watcher::wait`] came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Woken {
    /// Something changed, and is at rest.
    Changed,
    /// A [`Stopper`] was used.
    Stopped,
}

enum Signal {
    Change(Vec<PathBuf>),
    Stop,
}

/// Waits for changes below a set of paths.
pub struct Watcher {
    notify: RecommendedWatcher,
    watched: Vec<Watched>,
    sender: Sender<Signal>,
    receiver: Receiver<Signal>,
}

/// Ends a wait from another thread.
#[derive(Clone)]
pub struct Stopper(Sender<Signal>);

impl Stopper {
    /// Ends the wait.
    pub fn stop(&self) {
        // Where nobody waits any more there is nothing to end.
        let _ = self.0.send(Signal::Stop);
    }
}

impl Watcher {
    /// Begins to watch. What happens from here on is not missed.
    pub fn new(watched: Vec<Watched>) -> Result<Self, LibraryError> {
        let (sender, receiver) = channel();
        let events = sender.clone();
        let notify = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            // An error is news too: the queue may have run over, and then anything may have changed.
            let paths = match event {
                Ok(event) if matches!(event.kind, EventKind::Access(_)) => return,
                Ok(event) => event.paths,
                Err(error) => error.paths,
            };
            // The receiver lives as long as the watcher.
            let _ = events.send(Signal::Change(paths));
        });
        let first = watched.first().map_or_else(PathBuf::new, |watched| watched.path.clone());
        let notify = notify.map_err(|error| failed(&first, error))?;
        let mut watcher = Self { notify, watched: Vec::new(), sender, receiver };
        watcher.set(watched)?;
        Ok(watcher)
    }

    /// Watches other paths from here on. Paths that are gone are left out until they are set again.
    pub fn set(&mut self, watched: Vec<Watched>) -> Result<(), LibraryError> {
        for old in self.watched.iter().filter(|old| !watched.contains(old)) {
            // It may be gone, and its watch with it.
            let _ = self.notify.unwatch(&old.path);
        }
        for new in &watched {
            let mode = if new.is_deep { RecursiveMode::Recursive } else { RecursiveMode::NonRecursive };
            // A folder that was removed and made again is another folder, so all are watched anew.
            match self.notify.watch(&new.path, mode) {
                Err(error) if !is_gone(&error) => return Err(failed(&new.path, error)),
                Ok(()) | Err(_) => {}
            }
        }
        self.watched = watched;
        Ok(())
    }

    /// What ends a wait from elsewhere.
    pub fn stopper(&self) -> Stopper {
        Stopper(self.sender.clone())
    }

    /// Waits until a path that `matters` changed, and then until all is at rest.
    pub fn wait(&self, matters: impl Fn(&Path) -> bool) -> Woken {
        let mut deadline: Option<Instant> = None;
        loop {
            let signal = match deadline {
                None => self.receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(end) => self.receiver.recv_timeout(REST.min(end.saturating_duration_since(Instant::now()))),
            };
            match signal {
                Ok(Signal::Stop) | Err(RecvTimeoutError::Disconnected) => return Woken::Stopped,
                Err(RecvTimeoutError::Timeout) => return Woken::Changed,
                Ok(Signal::Change(paths)) => {
                    // Without a path it is not known what changed.
                    let counts = paths.is_empty() || paths.iter().any(|path| matters(path));
                    if counts && deadline.is_none() {
                        deadline = Some(Instant::now() + REST_MAX);
                    }
                    if deadline.is_some_and(|end| Instant::now() >= end) {
                        return Woken::Changed;
                    }
                }
            }
        }
    }
}

fn is_gone(error: &notify::Error) -> bool {
    match &error.kind {
        notify::ErrorKind::PathNotFound => true,
        notify::ErrorKind::Io(error) => error.kind() == std::io::ErrorKind::NotFound,
        _ => false,
    }
}

fn failed(path: &Path, error: notify::Error) -> LibraryError {
    let hint = "raise the system's limit of watched files, or watch fewer folders";
    let is_limit = matches!(error.kind, notify::ErrorKind::MaxFilesWatch);
    let source = match error.kind {
        notify::ErrorKind::Io(error) => error,
        _ => std::io::Error::other(error.to_string()),
    };
    let failure = LibraryError::new("watch", path, source);
    if is_limit { failure.hinting(hint) } else { failure }
}
