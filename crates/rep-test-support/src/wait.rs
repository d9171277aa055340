//! Waits for events in another thread or process.
//!
//! Tests must poll only through this module, so that every wait backs off instead of spinning, and ends at a
//! deadline with a message instead of a hang.

use std::thread;
use std::time::{Duration, Instant};

/// A deadline that no test step reaches, even on a loaded machine.
pub const DEADLINE: Duration = Duration::from_mins(2);

const PAUSE_MIN: Duration = Duration::from_micros(200);
/// Short enough to observe states that last only tens of milliseconds.
const PAUSE_MAX: Duration = Duration::from_millis(10);

/// Waits until `condition` is true. Panics with `what` if it is not true within `deadline`.
#[track_caller]
pub fn wait_until(what: &str, deadline: Duration, mut condition: impl FnMut() -> bool) {
    wait_for(what, deadline, || condition().then_some(()));
}

/// Waits until `attempt` returns a value. Panics with `what` if it returns `None` until the `deadline`.
#[track_caller]
pub fn wait_for<T>(what: &str, deadline: Duration, attempt: impl FnMut() -> Option<T>) -> T {
    poll_until(deadline, attempt).unwrap_or_else(|| panic!("still not true after {deadline:?}: {what}"))
}

/// Calls `attempt` until it returns a value, with growing pauses. Returns `None` if it has none within `deadline`.
pub fn poll_until<T>(deadline: Duration, mut attempt: impl FnMut() -> Option<T>) -> Option<T> {
    let start = Instant::now();
    let mut pause = PAUSE_MIN;
    loop {
        if let Some(value) = attempt() {
            return Some(value);
        }
        if start.elapsed() >= deadline {
            return None;
        }
        thread::park_timeout(pause);
        pause = (pause * 2).min(PAUSE_MAX);
    }
}

/// Calls `attempt` with a timeout in milliseconds, and with longer timeouts while it returns `None`. Panics with
/// `what` if the longest timeout is not enough.
///
/// For tests of how a ready program reacts to a timeout. On a loaded machine, the timeout may occur before the
/// program is ready; `attempt` then returns `None`.
#[track_caller]
pub fn with_growing_timeout<T>(what: &str, first_ms: u64, attempt: impl FnMut(u64) -> Option<T>) -> T {
    let timeouts = [first_ms, first_ms * 4, first_ms * 16, first_ms * 64];
    timeouts
        .into_iter()
        .find_map(attempt)
        .unwrap_or_else(|| panic!("not even with a timeout of {timeouts:?} ms: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_returned_as_soon_as_there_is_one() {
        let mut attempts = 0;
        let value = wait_for("the third attempt", DEADLINE, || {
            attempts += 1;
            (attempts == 3).then_some(attempts)
        });
        assert_eq!(value, 3);
    }

    #[test]
    fn a_condition_is_checked_even_when_the_deadline_is_over() {
        wait_until("it is true", Duration::ZERO, || true);
        assert_eq!(poll_until::<()>(Duration::ZERO, || None), None);
    }

    #[test]
    fn a_timeout_grows_until_the_attempt_succeeds() {
        let mut timeouts = Vec::new();
        let value = with_growing_timeout("the third timeout", 10, |timeout_ms| {
            timeouts.push(timeout_ms);
            (timeouts.len() == 3).then_some("done")
        });
        assert_eq!((value, timeouts), ("done", vec![10, 40, 160]));
    }

    #[test]
    fn what_was_awaited_is_in_the_message() {
        let panic = thread::spawn(|| wait_until("the server answers", Duration::ZERO, || false)).join().unwrap_err();
        let message = panic.downcast_ref::<String>().expect("a message");
        assert!(message.contains("the server answers"), "{message}");
    }
}
