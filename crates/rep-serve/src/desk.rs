//! Questions that wait for whoever sits at the page, and the calls that were made there.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::{oneshot, watch};

use crate::confirm::THINKING;
use crate::runs::Said;

/// The most questions that wait at once; who comes after them is refused.
const WAITING_MAX: usize = 32;
/// How many questions that wait no more are remembered, and how many calls.
const ENDED_MAX: usize = 64;
const CALLS_MAX: usize = 64;

/// Where questions lie until somebody answers.
pub(crate) struct Desk {
    waiting: Mutex<BTreeMap<u64, Waiting>>,
    ended: Mutex<BTreeMap<u64, Question>>,
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
    /// The call at the page that it is about, where it is about one.
    pub(crate) call: Option<u64>,
    /// How it ended; nothing while it waits.
    pub(crate) end: Option<End>,
    since: Instant,
}

/// How a question ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Somebody said yes.
    Agreed,
    /// Somebody said no.
    Declined,
    /// Nobody said anything in time.
    Expired,
    /// Whoever wanted the run wants it no more.
    TakenBack,
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
            ended: Mutex::default(),
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
    pub(crate) async fn ask(&self, call: Option<u64>, tool: &str, text: String) -> bool {
        let (answer, heard) = oneshot::channel();
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        {
            let mut waiting = locked(&self.waiting);
            if waiting.len() >= WAITING_MAX {
                return false;
            }
            let question = Question { number, tool: tool.to_owned(), text, call, end: None, since: Instant::now() };
            waiting.insert(number, Waiting { question, answer });
        }
        let _gone = Gone { desk: self, number };
        self.changed();
        heard.await.unwrap_or(false)
    }

    /// Answers a question. False where it does not wait any more.
    pub(crate) fn answer(&self, number: u64, is_yes: bool) -> bool {
        let end = if is_yes { End::Agreed } else { End::Declined };
        let answer = self.close(number, |_| end);
        let is_taken = answer.is_some_and(|answer| answer.send(is_yes).is_ok());
        self.changed();
        is_taken
    }

    /// Lets a question wait no more, and remembers how it ended.
    fn close(&self, number: u64, end: impl FnOnce(&Question) -> End) -> Option<oneshot::Sender<bool>> {
        // Both are held, so that nobody sees it in neither.
        let mut waiting = locked(&self.waiting);
        let Waiting { mut question, answer } = waiting.remove(&number)?;
        question.end = Some(end(&question));
        let mut ended = locked(&self.ended);
        ended.insert(number, question);
        while ended.len() > ENDED_MAX {
            ended.pop_first();
        }
        Some(answer)
    }

    /// The questions that wait, the oldest first.
    pub(crate) fn questions(&self) -> Vec<Question> {
        locked(&self.waiting).values().map(|waiting| waiting.question.clone()).collect()
    }

    /// The questions from a number on, the oldest first, with those that wait no more.
    pub(crate) fn questions_from(&self, number: u64) -> Vec<Question> {
        let (waiting, ended) = (locked(&self.waiting), locked(&self.ended));
        let waiting = waiting.range(number..).map(|(number, waiting)| (*number, waiting.question.clone()));
        let mut all: BTreeMap<u64, Question> = waiting.collect();
        all.extend(ended.range(number..).map(|(number, question)| (*number, question.clone())));
        all.into_values().collect()
    }

    /// The number of the oldest question that waits, else of the next one.
    pub(crate) fn first(&self) -> u64 {
        let oldest = locked(&self.waiting).keys().next().copied();
        oldest.unwrap_or_else(|| self.next.load(Ordering::Relaxed))
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
        let end = |question: &Question| {
            if question.since.elapsed() < THINKING { End::TakenBack } else { End::Expired }
        };
        if self.desk.close(self.number, end).is_some() {
            self.desk.changed();
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What lies here is whole or not there.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
