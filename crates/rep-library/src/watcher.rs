//! Waits for files to change. A burst of events counts as one change.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use notify::event::ModifyKind;
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use parking_lot::Mutex;

use crate::LibraryError;

/// How long files must be unchanged before they are read.
const QUIET_PERIOD: Duration = Duration::from_millis(80);
/// The maximum delay caused by a file that keeps changing.
const QUIET_PERIOD_MAX: Duration = Duration::from_secs(2);

/// A watched path: a directory with everything below it, or only its direct contents.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WatchTarget {
    /// The directory or file.
    pub path: PathBuf,
    /// Whether deeper changes count too.
    pub is_deep: bool,
}

/// The reason [`FileWatcher::wait_for_change`] returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WakeReason {
    /// A file changed, and changes have stopped.
    Changed,
    /// A [`WatchStopper`] was used.
    Stopped,
}

enum WatchSignal {
    Change(Vec<PathBuf>),
    Stop,
}

/// Waits for changes below a set of paths.
pub struct FileWatcher {
    notify: RecommendedWatcher,
    targets: Vec<WatchTarget>,
    sender: Sender<WatchSignal>,
    receiver: Receiver<WatchSignal>,
}

/// Stops a wait from another thread.
#[derive(Clone)]
pub struct WatchStopper(Sender<WatchSignal>);

impl WatchStopper {
    /// Stops the wait.
    pub fn stop(&self) {
        // If the watcher is gone, there is nothing to stop.
        let _ = self.0.send(WatchSignal::Stop);
    }
}

impl FileWatcher {
    /// Starts watching. Later changes are not missed.
    pub fn new(watched: Vec<WatchTarget>) -> Result<Self, LibraryError> {
        let (sender, receiver) = channel();
        let events = sender.clone();
        let notify = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            // An error also counts as a change: if the event queue overflowed, anything may have changed.
            let paths = match event {
                Ok(event) if matches!(event.kind, EventKind::Access(_)) => return,
                Ok(event) => event.paths,
                Err(error) => error.paths,
            };
            // The receiver lives as long as the watcher.
            let _ = events.send(WatchSignal::Change(paths));
        });
        let first = watched.first().map_or_else(PathBuf::new, |watched| watched.path.clone());
        let notify = notify.map_err(|error| watch_error(&first, error))?;
        let mut watcher = Self { notify, targets: Vec::new(), sender, receiver };
        watcher.set_targets(watched)?;
        Ok(watcher)
    }

    /// Replaces the watched paths. Missing paths are skipped until the next call.
    pub fn set_targets(&mut self, watched: Vec<WatchTarget>) -> Result<(), LibraryError> {
        for old in self.targets.iter().filter(|old| !watched.contains(old)) {
            // The path may be gone, and its watch with it.
            let _ = self.notify.unwatch(&old.path);
        }
        for new in &watched {
            let mode = if new.is_deep { RecursiveMode::Recursive } else { RecursiveMode::NonRecursive };
            // A directory that was removed and created again is a different one, so all are watched again.
            match self.notify.watch(&new.path, mode) {
                Err(error) if !is_path_gone(&error) => return Err(watch_error(&new.path, error)),
                Ok(()) | Err(_) => {}
            }
        }
        self.targets = watched;
        Ok(())
    }

    /// Returns a handle that stops a wait from another thread.
    pub fn stopper(&self) -> WatchStopper {
        WatchStopper(self.sender.clone())
    }

    /// Waits until a path that `matters` changes, and then until changes stop.
    pub fn wait_for_change(&self, matters: impl Fn(&Path) -> bool) -> WakeReason {
        let mut deadline: Option<Instant> = None;
        loop {
            let signal = match deadline {
                None => self.receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(end) => {
                    self.receiver.recv_timeout(QUIET_PERIOD.min(end.saturating_duration_since(Instant::now())))
                }
            };
            match signal {
                Ok(WatchSignal::Stop) | Err(RecvTimeoutError::Disconnected) => return WakeReason::Stopped,
                Err(RecvTimeoutError::Timeout) => return WakeReason::Changed,
                Ok(WatchSignal::Change(paths)) => {
                    // Without a path, it is unknown what changed.
                    let counts = paths.is_empty() || paths.iter().any(|path| matters(path));
                    if counts && deadline.is_none() {
                        deadline = Some(Instant::now() + QUIET_PERIOD_MAX);
                    }
                    if deadline.is_some_and(|end| Instant::now() >= end) {
                        return WakeReason::Changed;
                    }
                }
            }
        }
    }
}

/// Reports changed paths as they change. Clones share the same watches.
#[derive(Clone)]
pub struct PathWatcher {
    notify: Arc<Mutex<RecommendedWatcher>>,
    /// The watched paths, and whether everything below them is watched.
    known: Arc<Mutex<BTreeMap<PathBuf, bool>>>,
}

impl PathWatcher {
    /// Creates a watcher that passes changed paths to `report`. An empty list means that anything may have changed.
    pub fn new(report: impl Fn(Vec<PathBuf>) + Send + 'static) -> Result<Self, LibraryError> {
        let known = Arc::<Mutex<BTreeMap<PathBuf, bool>>>::default();
        let watched = Arc::clone(&known);
        let notify = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            let (paths, is_move) = match event {
                Ok(event) if matches!(event.kind, EventKind::Access(_)) => return,
                Ok(event) => {
                    let is_move = matches!(event.kind, EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_)));
                    (event.paths, is_move)
                }
                Err(error) => (error.paths, false),
            };
            if is_move {
                // The kernel drops the watch of a removed directory. One that is created again needs a new one.
                watched.lock().retain(|known, _| !paths.iter().any(|path| known.starts_with(path)));
            }
            report(paths);
        });
        let notify = notify.map_err(|error| watch_error(Path::new(""), error))?;
        Ok(Self { notify: Arc::new(Mutex::new(notify)), known })
    }

    /// Returns whether a path is watched already.
    pub fn is_watched(&self, target: &WatchTarget) -> bool {
        self.known.lock().get(&target.path).is_some_and(|is_deep| *is_deep || !target.is_deep)
    }

    /// Watches more paths. Paths that do not exist are skipped.
    pub fn add_targets(&self, targets: Vec<WatchTarget>) -> Result<(), LibraryError> {
        for target in targets {
            if self.is_watched(&target) {
                continue;
            }
            let mode = if target.is_deep { RecursiveMode::Recursive } else { RecursiveMode::NonRecursive };
            match self.notify.lock().watch(&target.path, mode) {
                Err(error) if !is_path_gone(&error) => return Err(watch_error(&target.path, error)),
                Err(_) => {}
                Ok(()) => {
                    self.known.lock().insert(target.path, target.is_deep);
                }
            }
        }
        Ok(())
    }
}

fn is_path_gone(error: &notify::Error) -> bool {
    match &error.kind {
        notify::ErrorKind::PathNotFound => true,
        notify::ErrorKind::Io(error) => error.kind() == std::io::ErrorKind::NotFound,
        _ => false,
    }
}

fn watch_error(path: &Path, error: notify::Error) -> LibraryError {
    let hint = "raise the system's limit on watched files, or watch fewer directories";
    let is_limit = matches!(error.kind, notify::ErrorKind::MaxFilesWatch);
    let source = match error.kind {
        notify::ErrorKind::Io(error) => error,
        _ => std::io::Error::other(error.to_string()),
    };
    let failure = LibraryError::new("watch", path, source);
    if is_limit { failure.with_hint(hint) } else { failure }
}
