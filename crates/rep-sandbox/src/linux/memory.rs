//! Measures the memory that a sandbox uses, including what the kernel holds for it and charges to no process.
//!
//! Counted are the private pages and page tables of its processes, the capacity of its sockets, and its mappings and
//! file locks. Pipes, open files and directory entries are bounded by other limits, and are not counted.
#![expect(clippy::disallowed_methods, reason = "reads `/proc` of its sandbox")]

use std::fs::{self, File};
use std::io::{Read, Seek};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// The number of sockets that are not counted as memory, and the number of bytes counted for each further socket: the
/// kernel's limit on unread data. The seccomp filter prevents changing that limit.
const SOCKETS_FREE: u64 = 64;
const SOCKET_BYTES: u64 = 256 << 10;

/// The limits on the data in a TCP socket, unread and unsent: the least, the usual and the largest size.
pub(super) const TCP_BUFFER_BYTES: &str = "4096 131072 262144";

/// What the kernel needs for a mapping: its description and its place in the tree of mappings.
const MAPPING_BYTES: u64 = 256;

/// The number of file locks that a tool can hold. No program needs as many.
const LOCKS_MAX: u64 = 20_000;

/// How often mappings and locks are counted. That takes longer than reading the memory of processes.
const COUNT_INTERVAL: Duration = Duration::from_millis(250);

const PAGE_BYTES: u64 = 4096;

/// Measures the memory of all processes in this sandbox except this one.
pub(super) struct MemoryMeter {
    /// The kernel's list of file locks, which the view hides.
    locks: Option<File>,
    /// The sockets that existed before the tool started.
    sockets_before: u64,
    last_count: Option<Instant>,
    mapping_bytes: u64,
}

impl MemoryMeter {
    /// Starts measuring, before the tool does.
    pub(super) fn new(locks: Option<OwnedFd>) -> MemoryMeter {
        MemoryMeter {
            locks: locks.map(File::from),
            sockets_before: count_sockets(),
            last_count: None,
            mapping_bytes: 0,
        }
    }

    /// Whether the sandbox uses more memory than this, or holds too many locks.
    pub(super) fn is_exceeded(&mut self, bytes_max: u64) -> bool {
        let pids = list_processes();
        let used: Vec<ProcessMemory> = pids.iter().map(|pid| ProcessMemory::read(*pid)).collect();
        let resident = used.iter().map(|process| process.resident_bytes).sum::<u64>();
        let sockets = count_sockets().saturating_sub(self.sockets_before + SOCKETS_FREE) * SOCKET_BYTES;
        if self.last_count.is_none_or(|last| last.elapsed() > COUNT_INTERVAL) {
            // A process has no more mappings than pages, so most processes need not be looked at.
            let most = used.iter().map(|process| process.mapped_bytes / PAGE_BYTES * MAPPING_BYTES).sum::<u64>();
            let is_worth_counting = resident + sockets + most > bytes_max;
            let counted = pids.iter().filter(|_| is_worth_counting).map(|pid| count_mappings(*pid));
            self.mapping_bytes = counted.sum::<u64>() * MAPPING_BYTES;
            if self.count_locks() > LOCKS_MAX {
                return true;
            }
            self.last_count = Some(Instant::now());
        }
        resident + sockets + self.mapping_bytes > bytes_max
    }

    /// Counts the locks that processes of this sandbox hold, up to one more than allowed.
    fn count_locks(&mut self) -> u64 {
        let Some(file) = &mut self.locks else { return 0 };
        if file.rewind().is_err() {
            return 0;
        }
        count_lines(file, LOCKS_MAX + 1)
    }
}

fn list_processes() -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let numbers = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    numbers.filter(|pid| *pid != 1).collect()
}

/// Counts the sockets of the sandbox. A TCP socket counts twice, because unsent data is limited separately.
fn count_sockets() -> u64 {
    let Ok(table) = fs::read_to_string("/proc/net/protocols") else { return 0 };
    let count = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let count = words.get(2)?.parse::<u64>().ok()?;
        Some(if words[0].starts_with("TCP") { 2 * count } else { count })
    };
    table.lines().filter_map(count).sum()
}

/// Counts the mappings of a process.
fn count_mappings(pid: u32) -> u64 {
    File::open(format!("/proc/{pid}/maps")).map_or(0, |mut file| count_lines(&mut file, u64::MAX))
}

/// Counts lines until there are at least `lines_max`.
fn count_lines(file: &mut File, lines_max: u64) -> u64 {
    let mut chunk = vec![0; 64 << 10];
    let mut lines = 0;
    while lines < lines_max {
        match file.read(&mut chunk) {
            Ok(length @ 1..) => lines += chunk[..length].split(|byte| *byte == b'\n').skip(1).count() as u64,
            Ok(0) | Err(_) => break,
        }
    }
    lines
}

#[derive(Default)]
struct ProcessMemory {
    /// The private memory of the process and its page tables: one page for every 512 mapped pages.
    resident_bytes: u64,
    /// The size of its address space.
    mapped_bytes: u64,
}

impl ProcessMemory {
    fn read(pid: u32) -> ProcessMemory {
        let mut found = ProcessMemory::default();
        let Ok(status) = fs::read_to_string(format!("/proc/{pid}/status")) else { return found };
        for line in status.lines() {
            let mut words = line.split_whitespace();
            let bytes = |mut words: std::str::SplitWhitespace<'_>| {
                words.next().and_then(|word| word.parse::<u64>().ok()).unwrap_or(0) * 1024
            };
            match words.next() {
                Some("RssAnon:" | "RssShmem:" | "VmPTE:" | "VmSwap:") => found.resident_bytes += bytes(words),
                Some("VmSize:") => found.mapped_bytes = bytes(words),
                _ => {}
            }
        }
        found
    }
}
