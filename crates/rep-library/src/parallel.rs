//! Processes many skills with one thread per core.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use parking_lot::Mutex;

use crate::LibraryError;
use crate::discovery::{self, SkillLocation};

/// The progress of processing many skills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkillProgress {
    /// A skill was found.
    Found,
    /// A skill was processed.
    Done,
}

/// Searches the paths while workers process what is found. Returns the results in arbitrary order, with notes about
/// what the search skipped.
pub(crate) fn for_each_skill<T: Send>(
    paths: &[PathBuf],
    progress: &(dyn Fn(SkillProgress) + Sync),
    work: impl Fn(&SkillLocation) -> T + Sync,
) -> Result<(Vec<T>, Vec<String>), LibraryError> {
    let (sender, receiver) = channel::<SkillLocation>();
    let receiver = Mutex::new(receiver);
    let mut outcome: Result<Vec<String>, LibraryError> = Ok(Vec::new());
    let results = thread::scope(|scope| {
        let handles: Vec<_> =
            (0..count_cores()).map(|_| scope.spawn(|| drain_queue(&receiver, progress, &work))).collect();
        let mut seen = BTreeSet::new();
        for path in paths {
            let walked = discovery::find_skills(path, |found| {
                // The same directory may be given twice, by different paths.
                let real = || fs::canonicalize(&found.path).unwrap_or_else(|_| found.path.clone());
                if paths.len() > 1 && !seen.insert(real()) {
                    return;
                }
                progress(SkillProgress::Found);
                // The workers outlive this loop, so there is always a receiver.
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

fn drain_queue<T>(
    receiver: &Mutex<Receiver<SkillLocation>>,
    progress: &(dyn Fn(SkillProgress) + Sync),
    work: &impl Fn(&SkillLocation) -> T,
) -> Vec<T> {
    let mut results = Vec::new();
    loop {
        let next = receiver.lock().recv();
        let Ok(found) = next else { return results };
        results.push(work(&found));
        progress(SkillProgress::Done);
    }
}

/// Processes all items. The results are in the order of the items.
pub(crate) fn map_all<T: Sync, R: Send>(
    items: &[T],
    progress: &(dyn Fn(SkillProgress) + Sync),
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(items.len()));
    thread::scope(|scope| {
        for _ in 0..count_cores().min(items.len()) {
            scope.spawn(|| {
                while let Some((number, item)) = {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    items.get(number).map(|item| (number, item))
                } {
                    let result = work(item);
                    progress(SkillProgress::Done);
                    done.lock().push((number, result));
                }
            });
        }
    });
    let mut done = done.into_inner();
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}

fn count_cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}
