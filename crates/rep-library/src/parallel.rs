//! Works on many skills with as many threads as there are cores.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use parking_lot::Mutex;

use crate::LibraryError;
use crate::find::{self, Found};

/// How far the work on many skills has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// One more skill was found.
    Found,
    /// One more skill was dealt with.
    Done,
}

/// Walks the paths while the workers handle what is found. Returns their results in no order, and what the search left out.
pub(crate) fn for_each_skill<T: Send>(
    paths: &[PathBuf],
    progress: &(dyn Fn(Progress) + Sync),
    work: impl Fn(&Found) -> T + Sync,
) -> Result<(Vec<T>, Vec<String>), LibraryError> {
    let (sender, receiver) = channel::<Found>();
    let receiver = Mutex::new(receiver);
    let mut outcome: Result<Vec<String>, LibraryError> = Ok(Vec::new());
    let results = thread::scope(|scope| {
        let handles: Vec<_> = (0..cores()).map(|_| scope.spawn(|| drain(&receiver, progress, &work))).collect();
        let mut seen = BTreeSet::new();
        for path in paths {
            let walked = find::skills(path, |found| {
                // The same folder may be named twice, in two ways.
                let real = || fs::canonicalize(&found.path).unwrap_or_else(|_| found.path.clone());
                if paths.len() > 1 && !seen.insert(real()) {
                    return;
                }
                progress(Progress::Found);
                // The workers outlive this loop, so that there is always a receiver.
                let _ = sender.send(found);
            });
            match (walked, &mut outcome) {
                (Ok(left_out), Ok(all)) => all.extend(left_out),
                (Err(error), _) => {
                    outcome = Err(error);
                    break;
                }
                (Ok(_), Err(_)) => {}
            }
        }
        drop(sender);
        let mut results = Vec::new();
        for handle in handles {
            match handle.join() {
                Ok(part) => results.extend(part),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        results
    });
    Ok((results, outcome?))
}

fn drain<T>(
    receiver: &Mutex<Receiver<Found>>,
    progress: &(dyn Fn(Progress) + Sync),
    work: &impl Fn(&Found) -> T,
) -> Vec<T> {
    let mut results = Vec::new();
    loop {
        let next = receiver.lock().recv();
        let Ok(found) = next else { return results };
        results.push(work(&found));
        progress(Progress::Done);
    }
}

/// Works on all items; the results are in the order of the items.
pub(crate) fn map_all<T: Sync, R: Send>(
    items: &[T],
    progress: &(dyn Fn(Progress) + Sync),
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(items.len()));
    thread::scope(|scope| {
        for _ in 0..cores().min(items.len()) {
            scope.spawn(|| {
                while let Some((number, item)) = {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    items.get(number).map(|item| (number, item))
                } {
                    let result = work(item);
                    progress(Progress::Done);
                    done.lock().push((number, result));
                }
            });
        }
    });
    let mut done = done.into_inner();
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}

fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}
