//! Resource limits of a run.

/// The maximum timeout of a tool, in seconds: one day.
pub const TIMEOUT_S_MAX: u64 = 86_400;

/// The resource limits of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunLimits {
    /// Wall-clock time in milliseconds.
    pub timeout_ms: u64,
    /// Time between the request to end and the kill, in milliseconds.
    pub grace_ms: u64,
    /// Processor time of a process in seconds.
    pub cpu_s: u64,
    /// Memory of the whole process tree.
    pub memory_bytes: u64,
    /// Number of processes and threads.
    pub processes: u64,
    /// Number of open files per process.
    pub open_files: u64,
    /// Maximum file size.
    pub file_bytes: u64,
    /// Space for temporary files.
    pub temporary_bytes: u64,
    /// Maximum captured size of stdout, and of stderr.
    pub output_bytes: u64,
}

impl Default for RunLimits {
    fn default() -> Self {
        Self {
            timeout_ms: 60_000,
            grace_ms: 2_000,
            cpu_s: 60,
            memory_bytes: 1 << 30,
            processes: 128,
            open_files: 1024,
            file_bytes: 1 << 30,
            temporary_bytes: 256 << 20,
            output_bytes: 8 << 20,
        }
    }
}

impl RunLimits {
    /// Returns these limits with another wall-clock time, in seconds. Sets processor time so that it never ends a run
    /// first.
    #[must_use]
    pub fn with_timeout(self, seconds: u64) -> Self {
        let seconds = seconds.clamp(1, TIMEOUT_S_MAX);
        Self { timeout_ms: seconds * 1000, cpu_s: seconds.max(Self::default().cpu_s), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_time_is_bounded_and_leaves_the_rest_alone() {
        let limits = RunLimits { processes: 7, ..RunLimits::default() };
        for (seconds, timeout_ms, cpu_s) in
            [(0, 1_000, 60), (5, 5_000, 60), (90, 90_000, 90), (u64::MAX, TIMEOUT_S_MAX * 1000, TIMEOUT_S_MAX)]
        {
            assert_eq!(limits.with_timeout(seconds), RunLimits { timeout_ms, cpu_s, ..limits }, "{seconds}");
        }
    }
}
