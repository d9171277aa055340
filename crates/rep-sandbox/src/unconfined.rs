//! Runs a program without a sandbox, if the user explicitly asks for it. The outcome reports the missing sandbox.
//!
//! The run still has a separate session and process group, non-blocking input, bounded outputs, a time limit and
//! cancellation. Nothing is isolated: a process that leaves the process group also leaves the run.
#![expect(clippy::disallowed_methods, reason = "this module starts processes")]
#![expect(unsafe_code, reason = "the session and an inherited descriptor are set up between fork and exec")]

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

use super::{
    CHANNEL_FD, Cancel, INJECTED_FILES_FOLDER, KillReason, ProcessExit, SandboxChannel, SandboxError, SandboxJob,
    SandboxLayer, SandboxOutcome,
};

/// How often cancellation is checked.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// How long outputs are read after the program ended, if a process that left the group still holds a pipe.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(250);

/// Runs a program as the caller, without restrictions. `HOME` and `TMPDIR` are a temporary directory that is removed
/// afterwards, unless the job sets them.
pub fn run_unconfined(job: SandboxJob, cancel: &Cancel) -> Result<SandboxOutcome, SandboxError> {
    let program = job.program.display().to_string();
    let unstartable =
        |error: io::Error| SandboxError::Unstartable { program: program.clone(), reason: error.to_string() };
    let begun = Instant::now();
    // Other users must not read what a tool writes there.
    let private = fs::Permissions::from_mode(0o700);
    let scratch = tempfile::Builder::new().prefix("rep-run-").permissions(private).tempdir().map_err(unstartable)?;
    let mut child = spawn_program(&job, scratch.path()).map_err(unstartable)?;
    // Only the program may hold its end of the channel; otherwise the peer never sees it close.
    drop(job.channel);
    let mut watch = ChildWatcher::new(&mut child, job.stdin, job.limits.output_bytes).map_err(unstartable)?;
    let deadline = begun.checked_add(Duration::from_millis(job.limits.timeout_ms));
    let status = watch.wait_until_exit(&mut child, deadline, Duration::from_millis(job.limits.grace_ms), cancel);
    let status = status.map_err(unstartable)?;
    watch.drain_outputs(Instant::now() + DRAIN_TIMEOUT);
    Ok(SandboxOutcome {
        exit: convert_exit_status(status),
        kill_reason: watch.kill_reason,
        is_truncated: watch.stdout.is_truncated || watch.stderr.is_truncated,
        stdout: watch.stdout.bytes,
        stderr: watch.stderr.bytes,
        denials: Vec::new(),
        denials_omitted: 0,
        layers: vec![SandboxLayer { name: "none", state: "nothing was enforced".to_owned() }],
        written: Vec::new(),
        conflicts: Vec::new(),
        notes: Vec::new(),
        duration_ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
    })
}

/// Starts the program in a new session, with the injected files in the scratch directory.
fn spawn_program(job: &SandboxJob, scratch: &Path) -> io::Result<Child> {
    let given = scratch.join("given");
    for folder in [&given, &scratch.join("home"), &scratch.join("tmp")] {
        fs::create_dir_all(folder)?;
    }
    for (name, bytes) in &job.injected_files {
        fs::write(given.join(name), bytes)?;
    }
    let mut words = job.argv.iter().map(|word| translate_injected_path(word, &given));
    let mut command = Command::new(&job.program);
    command.arg0(words.next().unwrap_or_else(|| job.program.clone().into_os_string()));
    command.args(words).current_dir(&job.workspace).env_clear();
    command.env("HOME", scratch.join("home")).env("TMPDIR", scratch.join("tmp"));
    command.envs(job.env.iter().map(|(name, value)| (name, translate_injected_path(value, &given))));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let held = match &job.channel {
        None => None,
        // This copy reserves the channel's descriptor number, so that no pipe of the standard library gets it.
        Some(SandboxChannel::Descriptor(channel)) => Some(rustix::io::fcntl_dupfd_cloexec(channel, CHANNEL_FD)?),
        Some(SandboxChannel::Stdio(channel)) => {
            command.stdin(Stdio::from(channel.try_clone()?)).stdout(Stdio::from(channel.try_clone()?));
            None
        }
    };
    let channel = held.as_ref().map(AsRawFd::as_raw_fd);
    // SAFETY: the closure makes only async-signal-safe system calls; it takes no lock and does not allocate.
    unsafe {
        command.pre_exec(move || prepare_session(channel));
    }
    let child = command.spawn();
    drop(held);
    child
}

/// Creates a session, moves the channel to its fixed descriptor, and marks all other descriptors close-on-exec.
fn prepare_session(channel: Option<RawFd>) -> io::Result<()> {
    let sure = |result: libc::c_int| if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) };
    // SAFETY: plain system calls on integers; none of them accesses memory of this process.
    unsafe {
        sure(libc::setsid())?;
        match channel {
            // `dup2` onto itself would leave close-on-exec set.
            Some(CHANNEL_FD) => sure(libc::fcntl(CHANNEL_FD, libc::F_SETFD, 0))?,
            Some(channel) => sure(libc::dup2(channel, CHANNEL_FD))?,
            None => {}
        }
        let first = if channel.is_some() { CHANNEL_FD + 1 } else { CHANNEL_FD };
        // Without this system call, descriptors that the caller inherited are passed on; all descriptors opened here
        // are close-on-exec already.
        let _ = libc::syscall(libc::SYS_close_range, first, libc::c_int::MAX, libc::CLOSE_RANGE_CLOEXEC);
    }
    Ok(())
}

/// Replaces the `/rep` prefix of an argument with the real directory, because `/rep` exists only in a sandbox.
fn translate_injected_path(word: &OsStr, given: &Path) -> OsString {
    let Some(rest) = word.as_bytes().strip_prefix(INJECTED_FILES_FOLDER.as_bytes()) else { return word.to_owned() };
    match rest.first() {
        None | Some(b'/') => {
            let mut bytes = given.as_os_str().as_bytes().to_vec();
            bytes.extend_from_slice(rest);
            OsString::from_vec(bytes)
        }
        Some(_) => word.to_owned(),
    }
}

fn convert_exit_status(status: ExitStatus) -> ProcessExit {
    match (status.code(), status.signal()) {
        (Some(code), _) => ProcessExit::Code(code),
        (None, signal) => ProcessExit::Signal(signal.unwrap_or(0)),
    }
}

/// An output stream and the bytes captured from it.
struct OutputReader {
    pipe: Option<OwnedFd>,
    bytes: Vec<u8>,
    bytes_max: usize,
    is_truncated: bool,
}

impl OutputReader {
    fn new(pipe: Option<OwnedFd>, bytes_max: u64) -> io::Result<Self> {
        if let Some(pipe) = &pipe {
            rustix::io::ioctl_fionbio(pipe, true)?;
        }
        Ok(Self {
            pipe,
            bytes: Vec::new(),
            bytes_max: usize::try_from(bytes_max).unwrap_or(usize::MAX),
            is_truncated: false,
        })
    }

    /// Reads the available bytes. Bytes beyond the limit are read and dropped, so that the writer never blocks.
    fn read_available(&mut self) {
        let mut block = vec![0; 64 * 1024];
        while let Some(pipe) = &self.pipe {
            match rustix::io::read(pipe, &mut block) {
                Ok(0) => self.pipe = None,
                Ok(count) => {
                    let room = self.bytes_max - self.bytes.len();
                    self.is_truncated |= count > room;
                    self.bytes.extend_from_slice(&block[..count.min(room)]);
                    // Read one block per turn, so that an endless writer cannot delay the time limit.
                    return;
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::AGAIN) => return,
                Err(_) => self.pipe = None,
            }
        }
    }
}

/// Supervises a running program.
struct ChildWatcher {
    pidfd: OwnedFd,
    group: Pid,
    stdin: Option<OwnedFd>,
    input: Vec<u8>,
    written: usize,
    stdout: OutputReader,
    stderr: OutputReader,
    kill_reason: Option<KillReason>,
}

impl ChildWatcher {
    fn new(child: &mut Child, input: Vec<u8>, output_bytes: u64) -> io::Result<Self> {
        let group = Pid::from_child(child);
        let made = Self::watch_child(child, group, input, output_bytes);
        if made.is_err() {
            // Never leave processes unsupervised. An error means that the group has already ended.
            let _ = kill_process_group(group, Signal::KILL);
            let _ = child.wait();
        }
        made
    }

    fn watch_child(child: &mut Child, group: Pid, input: Vec<u8>, output_bytes: u64) -> io::Result<Self> {
        let stdin = child.stdin.take().map(OwnedFd::from);
        if let Some(stdin) = &stdin {
            rustix::io::ioctl_fionbio(stdin, true)?;
        }
        Ok(Self {
            pidfd: pidfd_open(group, PidfdFlags::empty())?,
            group,
            stdin,
            input,
            written: 0,
            stdout: OutputReader::new(child.stdout.take().map(OwnedFd::from), output_bytes)?,
            stderr: OutputReader::new(child.stderr.take().map(OwnedFd::from), output_bytes)?,
            kill_reason: None,
        })
    }

    /// Feeds stdin and reads outputs until the program ends, then kills the rest of its group.
    fn wait_until_exit(
        &mut self,
        child: &mut Child,
        deadline: Option<Instant>,
        grace: Duration,
        cancel: &Cancel,
    ) -> io::Result<ExitStatus> {
        let mut kill_at = None;
        while !self.poll_once(true) {
            let now = Instant::now();
            let reason = self.kill_reason.is_none().then(|| self.find_kill_reason(now, deadline, cancel)).flatten();
            if let Some(reason) = reason {
                self.kill_reason = Some(reason);
                kill_at = Some(now + grace);
                self.signal_group(Signal::TERM);
            }
            if kill_at.is_some_and(|at| now >= at) {
                self.signal_group(Signal::KILL);
            }
        }
        // The program has not been reaped, so its process ID still identifies its own group.
        self.signal_group(Signal::KILL);
        child.wait()
    }

    fn find_kill_reason(&self, now: Instant, deadline: Option<Instant>, cancel: &Cancel) -> Option<KillReason> {
        if cancel.is_cancelled() {
            return Some(KillReason::Cancelled);
        }
        if deadline.is_some_and(|deadline| now >= deadline) {
            return Some(KillReason::Timeout);
        }
        // Truncated stdout makes the result unreadable. Truncated stderr is acceptable.
        self.stdout.is_truncated.then_some(KillReason::Output)
    }

    fn signal_group(&self, signal: Signal) {
        // An error means that the group has already ended.
        let _ = kill_process_group(self.group, signal);
    }

    /// Reads the remaining output until every writer has closed it or the time is over.
    fn drain_outputs(&mut self, until: Instant) {
        self.stdin = None;
        while (self.stdout.pipe.is_some() || self.stderr.pipe.is_some()) && Instant::now() < until {
            self.poll_once(false);
        }
    }

    /// Waits for an event and handles it. Returns whether the program has ended.
    fn poll_once(&mut self, is_running: bool) -> bool {
        fn wanted(pipe: Option<&OwnedFd>, flags: PollFlags) -> Option<PollFd<'_>> {
            pipe.map(|pipe| PollFd::from_borrowed_fd(pipe.as_fd(), flags))
        }
        let pidfd: BorrowedFd<'_> = self.pidfd.as_fd();
        let streams = [
            wanted(self.stdin.as_ref(), PollFlags::OUT),
            wanted(self.stdout.pipe.as_ref(), PollFlags::IN),
            wanted(self.stderr.pipe.as_ref(), PollFlags::IN),
        ];
        let mut waited: Vec<PollFd<'_>> = streams.into_iter().flatten().collect();
        if is_running {
            waited.push(PollFd::from_borrowed_fd(pidfd, PollFlags::IN));
        }
        let tick = Timespec { tv_sec: 0, tv_nsec: POLL_INTERVAL.subsec_nanos().into() };
        // An interrupted wait is only a shorter wait.
        let _ = poll(&mut waited, Some(&tick));
        let is_over = is_running && waited.last().is_some_and(|last| !last.revents().is_empty());
        drop(waited);
        self.feed_stdin();
        self.stdout.read_available();
        self.stderr.read_available();
        is_over
    }

    fn feed_stdin(&mut self) {
        while let Some(stdin) = &self.stdin {
            if self.written == self.input.len() {
                self.stdin = None;
                return;
            }
            match rustix::io::write(stdin, &self.input[self.written..]) {
                Ok(count) => self.written += count,
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::AGAIN) => return,
                // A program does not have to read its input.
                Err(_) => self.stdin = None,
            }
        }
    }
}
