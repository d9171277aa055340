//! Questions that wait for whoever sits at the page, and the calls that were made there.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::{oneshot, watch};

use crate::runs::Said;

/// The most questions that wait at once; who comes after them is refused.
const WAITING_MAX: usize = 32;
/// How many calls are remembered.
const CALLS_MAX: usize = 64;

/// Where questions lie until somebody answers.
pub(crate) struct Desk {
    waiting: Mutex<BTreeMap<u64, Waiting>>,
    calls: Mutex<BTreeMap<u64, Made>>,
    next: AtomicU64,
    listeners: AtomicUsize,
    changes: watch::Sender<u64>,
}

/// A question that waits.
struct Waiting {
    question: Question,
    answer: oneshot::Sender<bool>,
}

/// What is asked.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    /// Its number.
    pub(crate) number: u64,
    /// The tool, as it is called.
    pub(crate) tool: String,
    /// The question, in words.
    pub(crate) text: String,
    /// Since when it waits.
    pub(crate) since: Instant,
}

/// A call that was made at the page.
#[derive(Clone)]
pub(crate) struct Made {
    /// The tool, as it is called.
    pub(crate) tool: String,
    /// The skill.
    pub(crate) skill: String,
    /// What came of it; nothing while it goes on.
    pub(crate) said: Option<Said>,
}

impl Default for Desk {
    fn default() -> Self {
        Self {
            waiting: Mutex::default(),
            calls: Mutex::default(),
            next: AtomicU64::new(1),
            listeners: AtomicUsize::new(0),
            changes: watch::Sender::new(0),
        }
    }
}

impl Desk {
    /// Whether somebody has the page open, and so sees a question.
    pub(crate) fn is_watched(&self) -> bool {
        self.listeners() > 0
    }

    /// How many have the page open.
    pub(crate) fn listeners(&self) -> usize {
        self.listeners.load(Ordering::Relaxed)
    }

    /// Hears of changes, and counts as somebody for as long as it is held.
    pub(crate) fn listen(desk: &Arc<Desk>) -> Listening {
        desk.listeners.fetch_add(1, Ordering::Relaxed);
        Listening { desk: Arc::clone(desk), changes: desk.changes.subscribe() }
    }

    /// Puts a question, and waits. False where the answer is no, or nobody takes it.
    pub(crate) async fn ask(&self, tool: &str, text: String) -> bool {
        let (answer, heard) = oneshot::channel();
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        {
            let mut waiting = locked(&self.waiting);
            if waiting.len() >= WAITING_MAX {
                return false;
            }
            let question = Question { number, tool: tool.to_owned(), text, since: Instant::now() };
            waiting.insert(number, Waiting { question, answer });
        }
        let _gone = Gone { desk: self, number };
        self.changed();
        heard.await.unwrap_or(false)
    }

    /// Answers a question. False where it does not wait any more.
    pub(crate) fn answer(&self, number: u64, is_yes: bool) -> bool {
        let waiting = locked(&self.waiting).remove(&number);
        let is_taken = waiting.is_some_and(|waiting| waiting.answer.send(is_yes).is_ok());
        self.changed();
        is_taken
    }

    /// The questions that wait, the oldest first.
    pub(crate) fn questions(&self) -> Vec<Question> {
        locked(&self.waiting).values().map(|waiting| waiting.question.clone()).collect()
    }

    /// Remembers a call that begins.
    pub(crate) fn begin(&self, skill: &str, tool: &str) -> u64 {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let mut calls = locked(&self.calls);
        calls.insert(number, Made { tool: tool.to_owned(), skill: skill.to_owned(), said: None });
        while calls.len() > CALLS_MAX {
            // The oldest that ended, else the oldest.
            let oldest = calls.iter().find(|(_, call)| call.said.is_some()).or_else(|| calls.iter().next());
            let Some(number) = oldest.map(|(number, _)| *number) else { break };
            calls.remove(&number);
        }
        number
    }

    /// Remembers what came of a call.
    pub(crate) fn end(&self, number: u64, said: Said) {
        if let Some(call) = locked(&self.calls).get_mut(&number) {
            call.said = Some(said);
        }
        self.changed();
    }

    /// A call that was made.
    pub(crate) fn call(&self, number: u64) -> Option<Made> {
        locked(&self.calls).get(&number).cloned()
    }

    /// Tells who listens that something changed.
    pub(crate) fn changed(&self) {
        self.changes.send_modify(|count| *count += 1);
    }
}

/// Somebody who has the page open.
pub(crate) struct Listening {
    desk: Arc<Desk>,
    pub(crate) changes: watch::Receiver<u64>,
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.desk.listeners.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Takes a question back when nobody waits for its answer any more.
struct Gone<'a> {
    desk: &'a Desk,
    number: u64,
}

impl Drop for Gone<'_> {
    fn drop(&mut self) {
        if locked(&self.desk.waiting).remove(&self.number).is_some() {
            self.desk.changed();
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What lies here is whole or not there.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
