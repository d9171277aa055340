//! Identifies the process that owns a run or a task, so that other processes can check whether it is alive.
#![expect(clippy::disallowed_methods, reason = "this module reads process information from the kernel")]

use std::fs;

/// A process. Process ids are reused, so it is also identified by its start time and boot id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessOwner {
    /// The process id.
    pub pid: u32,
    /// The start time in ticks since boot, and the boot id.
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

/// Returns the start time of a process, or `None` if it has exited or is a zombie.
fn read_start_time(pid: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name is in parentheses and may contain any byte. The fields after it are numbers and one letter.
    let mut fields = stat[stat.rfind(')')? + 1..].split_ascii_whitespace();
    let state = fields.next()?;
    let ticks = fields.nth(18)?;
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    (state != "Z" && state != "X").then(|| format!("{ticks}@{}", boot.trim()))
}

#[cfg(test)]
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
