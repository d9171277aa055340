//! Which process owns a run or a task, so that others can tell whether it still lives.
#![expect(clippy::disallowed_methods, reason = "this room asks the kernel about processes")]

use std::fs;

/// A process: its number alone could be another's tomorrow, so when it started and under which boot is part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The number.
    pub pid: u32,
    /// When it started, in ticks since the boot, and the boot's id.
    pub started: String,
}

impl Owner {
    /// This process.
    pub fn this() -> Self {
        let pid = std::process::id();
        Self::of(pid).unwrap_or(Self { pid, started: String::new() })
    }

    /// The process that has this number; `None` where there is none.
    pub fn of(pid: u32) -> Option<Self> {
        Some(Self { pid, started: started(pid)? })
    }

    /// Whether it still runs.
    pub fn is_alive(&self) -> bool {
        started(self.pid).is_some_and(|started| started == self.started)
    }
}

/// When a process started; `None` where it is gone, or is only waiting to be collected.
fn started(pid: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name stands in parentheses and may hold any byte; the fields after it are numbers and one letter.
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
        assert!(Owner::this().is_alive());
        assert!(!Owner { started: "1@x".to_owned(), ..Owner::this() }.is_alive());
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let owner = Owner::of(child.id()).unwrap();
        assert!(owner.is_alive());
        drop(child.stdin.take());
        child.wait().unwrap();
        assert!(!owner.is_alive());
    }
}
