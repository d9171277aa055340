//! Identifies the process that owns a run or a task, so that other processes can check whether it is alive.

use crate::platform::read_start_time;

/// A process. Process ids are reused, so it is also identified by its start time and boot id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessOwner {
    /// The process id.
    pub pid: u32,
    /// The start time in ticks since boot, and the boot id. Empty where the system does not tell: there, a process that
    /// has the same number is taken for this one.
    pub started: String,
}

impl ProcessOwner {
    /// Returns the current process.
    pub fn current() -> Self {
        let pid = std::process::id();
        Self::from_pid(pid).unwrap_or(Self { pid, started: String::new() })
    }

    /// Returns the process with this id, or `None` if it does not exist.
    pub fn from_pid(pid: u32) -> Option<Self> {
        Some(Self { pid, started: read_start_time(pid)? })
    }

    /// Returns whether the process is still running.
    pub fn is_alive(&self) -> bool {
        read_start_time(self.pid).is_some_and(|started| started == self.started)
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test starts a process that ends")]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_process_lives_until_it_ends_and_its_number_alone_is_not_enough() {
        assert!(ProcessOwner::current().is_alive());
        assert!(!ProcessOwner { started: "1@x".to_owned(), ..ProcessOwner::current() }.is_alive());
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let owner = ProcessOwner::from_pid(child.id()).unwrap();
        assert!(owner.is_alive());
        drop(child.stdin.take());
        child.wait().unwrap();
        assert!(!owner.is_alive());
    }
}
