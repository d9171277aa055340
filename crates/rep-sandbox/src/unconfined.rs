//! Running without a sandbox: only for who types that they want it, and told in the outcome.
//!
//! What a run needs to be a run is here all the same: its own session and process group, an input that cannot
//! deadlock, outputs that are bounded, time that ends, and a request to end that is followed by the end. What is
//! not here is any wall: a program that leaves its process group leaves this run.
#![expect(clippy::disallowed_methods, reason = "this room starts processes")]
#![expect(unsafe_code, reason = "a session and an inherited descriptor are made between fork and exec")]

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

use super::{CHANNEL_FD, Cancel, Ended, Exit, GIVEN_FOLDER, Job, Killed, Layer, SandboxError};

/// How often a request to end is looked for.
const TICK: Duration = Duration::from_millis(20);
/// How long is read on after the end, where somebody who left the group still holds a pipe.
const LINGER: Duration = Duration::from_millis(250);

/// Runs a program as the caller, with nothing in its way. `HOME` and `TMPDIR` are a folder that is gone afterwards,
/// unless the job names others.
pub fn run(job: Job, cancel: &Cancel) -> Result<Ended, SandboxError> {
    let program = job.program.display().to_string();
    let unstartable =
        |error: io::Error| SandboxError::Unstartable { program: program.clone(), reason: error.to_string() };
    let begun = Instant::now();
    // What a tool puts there is nobody else's to read.
    let private = fs::Permissions::from_mode(0o700);
    let scratch = tempfile::Builder::new().prefix("rep-run-").permissions(private).tempdir().map_err(unstartable)?;
    let mut child = start(&job, scratch.path()).map_err(unstartable)?;
    // The program alone holds its end of the channel, or its end would never be seen.
    drop(job.channel);
    let mut watch = Watch::new(&mut child, job.stdin, job.limits.output_bytes).map_err(unstartable)?;
    let deadline = begun.checked_add(Duration::from_millis(job.limits.timeout_ms));
    let status = watch.until_end(&mut child, deadline, Duration::from_millis(job.limits.grace_ms), cancel);
    let status = status.map_err(unstartable)?;
    watch.drain(Instant::now() + LINGER);
    Ok(Ended {
        exit: exit(status),
        killed: watch.killed,
        is_truncated: watch.stdout.is_over || watch.stderr.is_over,
        stdout: watch.stdout.kept,
        stderr: watch.stderr.kept,
        denials: Vec::new(),
        layers: vec![Layer { name: "none", state: "nothing was enforced".to_owned() }],
        written: Vec::new(),
        conflicts: Vec::new(),
        notes: Vec::new(),
        duration_ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
    })
}

/// Starts the program in its own session, with the given files in the scratch folder.
fn start(job: &Job, scratch: &Path) -> io::Result<Child> {
    let given = scratch.join("given");
    for folder in [&given, &scratch.join("home"), &scratch.join("tmp")] {
        fs::create_dir_all(folder)?;
    }
    for (name, bytes) in &job.given {
        fs::write(given.join(name), bytes)?;
    }
    let mut words = job.argv.iter().map(|word| seen(word, &given));
    let mut command = Command::new(&job.program);
    command.arg0(words.next().unwrap_or_else(|| job.program.clone().into_os_string()));
    command.args(words).current_dir(&job.workspace).env_clear();
    command.env("HOME", scratch.join("home")).env("TMPDIR", scratch.join("tmp"));
    command.envs(job.env.iter().map(|(name, value)| (name, seen(value, &given))));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // While this copy is held, the number the channel gets is taken, and no pipe of the standard library lies on it.
    let held = job.channel.as_ref().map(|channel| rustix::io::fcntl_dupfd_cloexec(channel, CHANNEL_FD)).transpose()?;
    let channel = held.as_ref().map(AsRawFd::as_raw_fd);
    // SAFETY: the closure makes system calls that are safe after fork, touches no lock and allocates nothing.
    unsafe {
        command.pre_exec(move || own_session(channel));
    }
    let child = command.spawn();
    drop(held);
    child
}

/// Makes a session, puts the channel where the program looks for it, and closes everything else on exec.
fn own_session(channel: Option<RawFd>) -> io::Result<()> {
    let sure = |result: libc::c_int| if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) };
    // SAFETY: plain system calls on numbers; none of them touches memory of this process.
    unsafe {
        sure(libc::setsid())?;
        match channel {
            // Onto itself, `dup2` would leave the mark that closes it on exec.
            Some(CHANNEL_FD) => sure(libc::fcntl(CHANNEL_FD, libc::F_SETFD, 0))?,
            Some(channel) => sure(libc::dup2(channel, CHANNEL_FD))?,
            None => {}
        }
        let first = if channel.is_some() { CHANNEL_FD + 1 } else { CHANNEL_FD };
        // A kernel without the call passes on what the caller inherited; whatever we opened is closed on exec anyway.
        let _ = libc::syscall(libc::SYS_close_range, first, libc::c_int::MAX, libc::CLOSE_RANGE_CLOEXEC);
    }
    Ok(())
}

/// A word as this program must see it: there is no `/rep` outside of a sandbox.
fn seen(word: &OsStr, given: &Path) -> OsString {
    let Some(rest) = word.as_bytes().strip_prefix(GIVEN_FOLDER.as_bytes()) else { return word.to_owned() };
    match rest.first() {
        None | Some(b'/') => {
            let mut bytes = given.as_os_str().as_bytes().to_vec();
            bytes.extend_from_slice(rest);
            OsString::from_vec(bytes)
        }
        Some(_) => word.to_owned(),
    }
}

fn exit(status: ExitStatus) -> Exit {
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, signal) => Exit::Signal(signal.unwrap_or(0)),
    }
}

/// One output, as far as it is read.
struct Reading {
    pipe: Option<OwnedFd>,
    kept: Vec<u8>,
    bytes_max: usize,
    is_over: bool,
}

impl Reading {
    fn new(pipe: Option<OwnedFd>, bytes_max: u64) -> io::Result<Self> {
        if let Some(pipe) = &pipe {
            rustix::io::ioctl_fionbio(pipe, true)?;
        }
        Ok(Self { pipe, kept: Vec::new(), bytes_max: usize::try_from(bytes_max).unwrap_or(usize::MAX), is_over: false })
    }

    /// Reads what is there. What is too much is read and dropped, so that the writer never blocks on us.
    fn read(&mut self) {
        let mut block = vec![0; 64 * 1024];
        while let Some(pipe) = &self.pipe {
            match rustix::io::read(pipe, &mut block) {
                Ok(0) => self.pipe = None,
                Ok(count) => {
                    let room = self.bytes_max - self.kept.len();
                    self.is_over |= count > room;
                    self.kept.extend_from_slice(&block[..count.min(room)]);
                    // One block a turn: an endless writer must not keep us from looking at the clock.
                    return;
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::AGAIN) => return,
                Err(_) => self.pipe = None,
            }
        }
    }
}

/// A running program, looked after.
struct Watch {
    pidfd: OwnedFd,
    group: Pid,
    stdin: Option<OwnedFd>,
    input: Vec<u8>,
    written: usize,
    stdout: Reading,
    stderr: Reading,
    killed: Option<Killed>,
}

impl Watch {
    fn new(child: &mut Child, input: Vec<u8>, output_bytes: u64) -> io::Result<Self> {
        let group = Pid::from_child(child);
        let made = Self::made(child, group, input, output_bytes);
        if made.is_err() {
            // Whatever failed, nothing may run on unwatched; a program that is gone already cannot be ended.
            let _ = kill_process_group(group, Signal::KILL);
            let _ = child.wait();
        }
        made
    }

    fn made(child: &mut Child, group: Pid, input: Vec<u8>, output_bytes: u64) -> io::Result<Self> {
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
            stdout: Reading::new(child.stdout.take().map(OwnedFd::from), output_bytes)?,
            stderr: Reading::new(child.stderr.take().map(OwnedFd::from), output_bytes)?,
            killed: None,
        })
    }

    /// Feeds and reads until the program is over; then ends what is left of its group.
    fn until_end(
        &mut self,
        child: &mut Child,
        deadline: Option<Instant>,
        grace: Duration,
        cancel: &Cancel,
    ) -> io::Result<ExitStatus> {
        let mut kill_at = None;
        while !self.turn(true) {
            let now = Instant::now();
            let reason = self.killed.is_none().then(|| self.reason(now, deadline, cancel)).flatten();
            if let Some(reason) = reason {
                self.killed = Some(reason);
                kill_at = Some(now + grace);
                self.signal(Signal::TERM);
            }
            if kill_at.is_some_and(|at| now >= at) {
                self.signal(Signal::KILL);
            }
        }
        // The program is not waited for yet, so its number still names its own group and nobody else's.
        self.signal(Signal::KILL);
        child.wait()
    }

    fn reason(&self, now: Instant, deadline: Option<Instant>, cancel: &Cancel) -> Option<Killed> {
        if cancel.is_cancelled() {
            return Some(Killed::Cancelled);
        }
        if deadline.is_some_and(|deadline| now >= deadline) {
            return Some(Killed::Timeout);
        }
        // Without its end no result can be read; what is said on stderr may be cut.
        self.stdout.is_over.then_some(Killed::Output)
    }

    fn signal(&self, signal: Signal) {
        // A group that is gone already is what was wanted.
        let _ = kill_process_group(self.group, signal);
    }

    /// Reads what is left, until every writer is gone or the time is over.
    fn drain(&mut self, until: Instant) {
        self.stdin = None;
        while (self.stdout.pipe.is_some() || self.stderr.pipe.is_some()) && Instant::now() < until {
            self.turn(false);
        }
    }

    /// Waits for something to do and does it. Answers whether the program is over.
    fn turn(&mut self, is_running: bool) -> bool {
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
        let tick = Timespec { tv_sec: 0, tv_nsec: TICK.subsec_nanos().into() };
        // An interrupted wait is a short wait.
        let _ = poll(&mut waited, Some(&tick));
        let is_over = is_running && waited.last().is_some_and(|last| !last.revents().is_empty());
        drop(waited);
        self.feed();
        self.stdout.read();
        self.stderr.read();
        is_over
    }

    fn feed(&mut self) {
        while let Some(stdin) = &self.stdin {
            if self.written == self.input.len() {
                self.stdin = None;
                return;
            }
            match rustix::io::write(stdin, &self.input[self.written..]) {
                Ok(count) => self.written += count,
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::AGAIN) => return,
                // A program that does not read its input is none the worse for it.
                Err(_) => self.stdin = None,
            }
        }
    }
}
