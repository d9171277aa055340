//! Works on many skills with as many threads as there are cores.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

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
        let next = receiver.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(found) = next else { return results };
        results.push(work(&found));
        progress(Progress::Done);
    }
}

fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}
