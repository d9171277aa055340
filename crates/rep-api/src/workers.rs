//! Threads that answer requests. They start when they are needed, up to a limit; what comes after that waits.

use std::collections::VecDeque;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

/// The maximum number of requests that wait.
const WAITING_MAX: usize = 10_000;

type Job = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct PoolState {
    waiting: VecDeque<Job>,
    threads: usize,
    idle: usize,
}

#[derive(Default)]
struct PoolShared {
    state: Mutex<PoolState>,
    work_added: Condvar,
    became_idle: Condvar,
}

/// A pool of threads.
pub(crate) struct WorkerPool {
    threads_max: usize,
    shared: Arc<PoolShared>,
}

impl WorkerPool {
    /// Creates a pool of at most this many threads.
    pub(crate) fn new(threads_max: usize) -> Self {
        Self { threads_max, shared: Arc::default() }
    }

    /// Runs a job on a thread. Returns whether there is room for it.
    pub(crate) fn run(&self, job: impl FnOnce() + Send + 'static) -> bool {
        let mut state = self.shared.state.lock();
        if state.waiting.len() >= WAITING_MAX {
            return false;
        }
        state.waiting.push_back(Box::new(job));
        if state.idle < state.waiting.len() && state.threads < self.threads_max {
            state.threads += 1;
            let shared = Arc::clone(&self.shared);
            thread::spawn(move || run_jobs(&shared));
        }
        self.shared.work_added.notify_one();
        true
    }

    /// Waits until every job is done, or until the deadline.
    pub(crate) fn wait_until_idle(&self, deadline: Instant) {
        let mut state = self.shared.state.lock();
        while state.idle < state.threads || !state.waiting.is_empty() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left == Duration::ZERO || self.shared.became_idle.wait_for(&mut state, left).timed_out() {
                return;
            }
        }
    }
}

fn run_jobs(shared: &PoolShared) {
    loop {
        let job = {
            let mut state = shared.state.lock();
            state.idle += 1;
            shared.became_idle.notify_all();
            while state.waiting.is_empty() {
                shared.work_added.wait(&mut state);
            }
            state.idle -= 1;
            state.waiting.pop_front()
        };
        if let Some(job) = job {
            job();
        }
    }
}
