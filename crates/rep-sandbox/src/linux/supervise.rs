//! The runtime's side of a run: starts the sandbox, feeds it, reads it, watches the clock, and takes over what is left.

use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{MemfdFlags, OFlags, SeekFrom};
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Signal, WaitId, WaitIdOptions};

use super::control::{self, Message};
use super::gateway::{self, Gateway, Needs, Sockets};
use super::guard::Told;
use super::launch::{self, Wires};
use super::order::{Identity, Order, Step};
use super::register::Note;
use super::staging::{Copied, Digest, Taken};
use super::view::View;
use super::{Cancel, Denial, Ended, Exit, Job, Killed, Layer, SandboxError, denials, seccomp, staging, view};
use rep_permissions::resolver::Resolver;

/// How often the clock and the wish to cancel are looked at.
const LOOK_EVERY_NS: i64 = 20_000_000;

/// How long output is awaited after the last process of a sandbox has ended. Its writers are gone; what may still hold
/// a copy is another sandbox of this process that has not yet become itself.
const LAST_OUTPUT: Duration = Duration::from_secs(2);

/// Runs a job, perhaps without some layers.
pub(super) fn run(mut job: Job, cancel: &Cancel, without: &[&str]) -> Result<Ended, SandboxError> {
    let mut channel = job.channel.take();
    let job = &job;
    let start = Instant::now();
    if !seccomp::IS_KNOWN_MACHINE {
        return Err(missing("a list of system calls for this machine", "run on x86-64"));
    }
    let mut view = view::compile(job)?;
    let mut note = view.note.take();
    let mut identity = Identity::Own;
    if rustix::process::geteuid().is_root() && !without.contains(&"mapping") {
        identity = Identity::Mapped;
    }
    let mut reason = String::new();
    loop {
        let followed = Run::launch(job, &view, identity, without, start, channel.as_ref())
            .and_then(|run| run.follow(cancel, &mut channel, note.as_mut()));
        reason = match (followed, identity) {
            // The note is taken away when all is judged.
            (Ok(Followed::Over(over)), _) => return over.conclude(job, &view, identity, &reason, without),
            // Nothing ran; what root lacks here, the caller's own user in a namespace may have.
            (Ok(Followed::Unmappable(why)), Identity::Mapped) => why,
            (Err(SandboxError::Unavailable { feature, .. }), Identity::Mapped) => feature,
            (Ok(Followed::Unmappable(why)), Identity::Own) => return Err(missing(&why, NAMESPACES)),
            (Err(error), _) => return Err(error),
        };
        identity = Identity::Own;
    }
}

const NAMESPACES: &str = "allow user namespaces (`sysctl user.max_user_namespaces`, `kernel.unprivileged_userns_clone`, \
     an AppArmor profile with `userns`, or a container without the default seccomp profile)";

fn missing(feature: &str, remedy: &str) -> SandboxError {
    SandboxError::Unavailable { feature: feature.to_owned(), remedy: remedy.to_owned() }
}

fn system(what: &str, error: impl std::fmt::Display) -> SandboxError {
    missing(&format!("{what}: {error}"), "see the error of the system")
}

fn order(job: &Job, view: &View, identity: Identity, without: &[&str]) -> Order {
    use std::os::unix::ffi::OsStrExt;
    let mut env: Vec<Vec<u8>> = Vec::new();
    for (name, value) in &job.env {
        env.push([name.as_bytes(), b"=", value.as_bytes()].concat());
    }
    for (name, path) in [("TMPDIR", view.temporary.clone()), ("HOME", view.temporary.join("home"))] {
        if !job.env.iter().any(|(known, _)| known == name) {
            env.push([name.as_bytes(), b"=", path.as_os_str().as_bytes()].concat());
        }
    }
    let outbound = &job.permissions.outbound;
    let needs = if outbound.is_empty() { Needs::default() } else { Needs::of(outbound) };
    Order {
        identity,
        steps: view.steps.clone(),
        temporary: view.temporary.clone(),
        folder: view.workspace.clone(),
        program: view.program.clone(),
        argv: job.argv.iter().map(|word| word.as_bytes().to_vec()).collect(),
        env,
        allow_subprocess: job.permissions.allow_subprocess,
        has_channel: false,
        ports: needs.ports,
        literals: needs.literals,
        runnable: view.runnable.clone(),
        readable: view.readable.clone(),
        writable: view.writable.clone(),
        limits: job.limits,
        without: without.iter().map(|name| (*name).to_owned()).collect(),
    }
}

/// A sandbox that was started and is not over.
struct Run<'a> {
    start: Instant,
    job: &'a Job,
    pidfd: OwnedFd,
    is_reaped: bool,
    control: Option<OwnedFd>,
    stdin: Option<OwnedFd>,
    fed: usize,
    streams: [Stream; 2],
    killed: Option<(Killed, Instant)>,
    status: Option<i32>,
    stages: Vec<OwnedFd>,
    copied: Vec<Option<Digest>>,
    denials: Vec<Denial>,
    layers: Vec<(String, String)>,
    gateway: Option<Gateway>,
}

/// One of the tool's outputs.
struct Stream {
    pipe: Option<OwnedFd>,
    bytes: Vec<u8>,
    is_cut: bool,
}

enum Followed {
    Over(Over),
    Unmappable(String),
}

/// A sandbox of which no process is left.
struct Over {
    start: Instant,
    exit: Exit,
    killed: Option<Killed>,
    outputs: [Vec<u8>; 2],
    is_truncated: bool,
    stages: Vec<OwnedFd>,
    copied: Vec<Option<Digest>>,
    denials: Vec<Denial>,
    layers: Vec<(String, String)>,
}

impl<'a> Run<'a> {
    fn launch(
        job: &'a Job,
        view: &View,
        identity: Identity,
        without: &[&str],
        start: Instant,
        channel: Option<&OwnedFd>,
    ) -> Result<Run<'a>, SandboxError> {
        let told = |error: rustix::io::Errno| system("descriptors", error);
        let (stdin, feed) = pipe_with(PipeFlags::CLOEXEC).map_err(told)?;
        let (out, stdout) = pipe_with(PipeFlags::CLOEXEC).map_err(told)?;
        let (err, stderr) = pipe_with(PipeFlags::CLOEXEC).map_err(told)?;
        for end in [&feed, &out, &err] {
            rustix::fs::fcntl_setfl(end, OFlags::NONBLOCK).map_err(told)?;
        }
        let (control, theirs) =
            rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
                .map_err(told)?;
        let copy = channel.map(|channel| rustix::io::fcntl_dupfd_cloexec(channel, 3)).transpose().map_err(told)?;
        let written = rustix::fs::memfd_create("order", MemfdFlags::CLOEXEC).map_err(told)?;
        let mut order = order(job, view, identity, without);
        order.has_channel = channel.is_some();
        let bytes = order.to_bytes();
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            let length = rustix::io::write(&written, rest).map_err(told)?;
            rest = &rest[length..];
        }
        rustix::fs::seek(&written, SeekFrom::Start(0)).map_err(told)?;
        let wires = Wires { stdin, stdout, stderr, order: written, control: theirs, channel: copy };
        let launched = launch::launch(identity, !without.contains(&"network"), &wires)
            .map_err(|error| missing(&format!("user namespaces: clone3: {error}"), NAMESPACES))?;
        Ok(Run {
            start,
            job,
            pidfd: launched.pidfd,
            is_reaped: false,
            control: Some(control),
            stdin: Some(feed).filter(|_| !job.stdin.is_empty()),
            fed: 0,
            streams: [out, err].map(|pipe| Stream { pipe: Some(pipe), bytes: Vec::new(), is_cut: false }),
            killed: None,
            status: None,
            stages: Vec::new(),
            copied: Vec::new(),
            denials: Vec::new(),
            layers: Vec::new(),
            gateway: None,
        })
    }

    /// Goes with the sandbox to its end.
    fn follow(
        mut self,
        cancel: &Cancel,
        channel: &mut Option<OwnedFd>,
        mut note: Option<&mut Note>,
    ) -> Result<Followed, SandboxError> {
        let mut refusal = None;
        let mut ended: Option<Instant> = None;
        loop {
            let ready = self.wait(ended.is_some());
            if let Some(note) = &mut note {
                note.touch();
            }
            if ready[0] {
                self.feed();
            }
            for at in 0..2 {
                if ready[1 + at] {
                    self.streams[at].read(self.job.limits.output_bytes);
                }
            }
            if ready[3] && refusal.is_none() {
                refusal = self.hear(cancel, channel);
                if refusal.is_some() {
                    // Most refusals are its own, and it has ended.
                    let _ = rustix::process::pidfd_send_signal(&self.pidfd, Signal::KILL);
                }
            }
            if ready[4] && ended.is_none() {
                self.reap();
                ended = Some(Instant::now());
            }
            match ended {
                None => self.check_time(cancel),
                Some(at) => {
                    let is_read = self.control.is_none() && self.streams.iter().all(|stream| stream.pipe.is_none());
                    // Where nothing ran, there is no output to wait for.
                    let is_quiet = is_read || refusal.is_some();
                    if is_quiet || at.elapsed() > LAST_OUTPUT {
                        break;
                    }
                }
            }
        }
        match refusal {
            Some(Refusal::Error(error)) => Err(error),
            Some(Refusal::Unmappable(reason)) => Ok(Followed::Unmappable(reason)),
            None => Ok(Followed::Over(self.over())),
        }
    }

    /// What there is to do: feed, stdout, stderr, control, the end.
    fn wait(&self, has_ended: bool) -> [bool; 5] {
        let wires = [
            (self.stdin.as_ref(), PollFlags::OUT),
            (self.streams[0].pipe.as_ref(), PollFlags::IN),
            (self.streams[1].pipe.as_ref(), PollFlags::IN),
            (self.control.as_ref(), PollFlags::IN),
            (Some(&self.pidfd).filter(|_| !has_ended), PollFlags::IN),
        ];
        // Only what is open is waited for: a closed end would be ready at once, for ever.
        let open: Vec<(usize, PollFlags, &OwnedFd)> =
            (0..).zip(wires).filter_map(|(at, (wire, events))| Some((at, events, wire?))).collect();
        let mut polled: Vec<PollFd<'_>> = open.iter().map(|(_, events, wire)| PollFd::new(*wire, *events)).collect();
        let look = Timespec { tv_sec: 0, tv_nsec: LOOK_EVERY_NS };
        // An interruption is as good as a look.
        let _ = poll(&mut polled, Some(&look));
        let mut ready = [false; 5];
        for ((at, _, _), one) in open.iter().zip(&polled) {
            ready[*at] = !one.revents().is_empty();
        }
        ready
    }

    fn feed(&mut self) {
        let Some(pipe) = &self.stdin else { return };
        match rustix::io::write(pipe, &self.job.stdin[self.fed..]) {
            Ok(length) => self.fed += length,
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => return,
            // It does not want to read any more.
            Err(_) => self.fed = self.job.stdin.len(),
        }
        if self.fed == self.job.stdin.len() {
            self.stdin = None;
        }
    }

    fn hear(&mut self, cancel: &Cancel, channel: &mut Option<OwnedFd>) -> Option<Refusal> {
        let Some(message) = self.control.as_ref().and_then(control::receive) else {
            self.control = None;
            return None;
        };
        match message {
            Message::Early(step, number) => {
                let step = launch::EARLY_STEPS.get(usize::from(step)).copied().unwrap_or("start");
                let error = std::io::Error::from_raw_os_error(number);
                let feature = format!("user namespaces: the first process could not {step}: {error}");
                return Some(Refusal::Error(missing(&feature, NAMESPACES)));
            }
            Message::Unavailable { feature, remedy } => {
                return Some(Refusal::Error(SandboxError::Unavailable { feature, remedy }));
            }
            Message::Unstartable(reason) => {
                let program = self.job.program.display().to_string();
                return Some(Refusal::Error(SandboxError::Unstartable { program, reason }));
            }
            Message::Unmappable(reason) => return Some(Refusal::Unmappable(reason)),
            Message::Descriptors(mut handed) => {
                // Read before the tool runs.
                let copied = handed.pop().ok_or(std::io::ErrorKind::UnexpectedEof.into()).and_then(control::copied);
                match copied {
                    Ok(copied) => self.copied = copied,
                    Err(error) => return Some(Refusal::Error(system("what was copied", error))),
                }
                self.stages = handed;
            }
            Message::Layer(name, state) => self.layers.push((name, state)),
            Message::Denied { action, target } => self.denials.push(denials::told(&action, target)),
            Message::Memory => self.killed = self.killed.or(Some((Killed::Memory, Instant::now()))),
            Message::Ended(status) => self.status = Some(status),
            Message::Sockets(sockets) => {
                let rules = &self.job.permissions.outbound;
                let served = Sockets::from_fds(sockets)
                    .and_then(|sockets| gateway::serve(sockets, rules, cancel.clone(), Resolver::system()));
                match served {
                    Ok(gateway) => self.gateway = Some(gateway),
                    Err(error) => return Some(Refusal::Error(system("the network gateway", error))),
                }
            }
            // The tool alone holds its end of the channel, or its end would never be seen.
            Message::Started => *channel = None,
        }
        None
    }

    fn check_time(&mut self, cancel: &Cancel) {
        let limits = &self.job.limits;
        let wish = if cancel.is_cancelled() {
            Some(Killed::Cancelled)
        } else if self.start.elapsed() > Duration::from_millis(limits.timeout_ms) {
            Some(Killed::Timeout)
        } else if self.streams.iter().any(|stream| stream.is_cut) {
            Some(Killed::Output)
        } else {
            None
        };
        match (self.killed, wish) {
            (None, Some(reason)) => {
                self.killed = Some((reason, Instant::now()));
                if let Some(control) = &self.control {
                    // If nobody hears it, the time of grace ends as well.
                    let _ = rustix::net::send(control, b"T", SendFlags::NOSIGNAL | SendFlags::DONTWAIT);
                }
            }
            (Some((_, since)), _) if since.elapsed() > Duration::from_millis(limits.grace_ms) => {
                // The end of the first process is the end of all in its namespace. It may have ended by itself.
                let _ = rustix::process::pidfd_send_signal(&self.pidfd, Signal::KILL);
            }
            _ => {}
        }
    }

    fn reap(&mut self) {
        // It fails where the caller ignores the ends of children; then there is nothing to reap either.
        let _ = rustix::io::retry_on_intr(|| {
            rustix::process::waitid(WaitId::PidFd(self.pidfd.as_fd()), WaitIdOptions::EXITED)
        });
        self.is_reaped = true;
    }

    fn over(&mut self) -> Over {
        let exit = match self.status {
            Some(status) => match status & 0x7f {
                0 => Exit::Code(status >> 8 & 0xff),
                signal => Exit::Signal(signal),
            },
            // The first process was killed before it could tell.
            None => Exit::Signal(9),
        };
        if let Some(mut gateway) = self.gateway.take() {
            gateway.stop();
            self.denials.extend(gateway.denials());
        }
        let is_truncated = self.streams.iter().any(|stream| stream.is_cut);
        Over {
            start: self.start,
            exit,
            killed: self.killed.map(|(reason, _)| reason),
            outputs: self.streams.each_mut().map(|stream| std::mem::take(&mut stream.bytes)),
            is_truncated,
            stages: std::mem::take(&mut self.stages),
            copied: std::mem::take(&mut self.copied),
            denials: std::mem::take(&mut self.denials),
            layers: std::mem::take(&mut self.layers),
        }
    }
}

impl Drop for Run<'_> {
    fn drop(&mut self) {
        // Whatever went wrong here, nothing is left there.
        if !self.is_reaped {
            let _ = rustix::process::pidfd_send_signal(&self.pidfd, Signal::KILL);
            self.reap();
        }
    }
}

enum Refusal {
    Error(SandboxError),
    Unmappable(String),
}

impl Stream {
    fn read(&mut self, bytes_max: u64) {
        let Some(pipe) = &self.pipe else { return };
        let mut chunk = [0_u8; 16 << 10];
        match rustix::io::read(pipe, &mut chunk) {
            Ok(0) => self.pipe = None,
            Ok(length) => {
                let room = usize::try_from(bytes_max).unwrap_or(usize::MAX).saturating_sub(self.bytes.len());
                self.bytes.extend(&chunk[..length.min(room)]);
                // Read on after that, so that a tool which is told to end is not stuck in a full pipe.
                self.is_cut |= length > room;
            }
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => {}
            Err(_) => self.pipe = None,
        }
    }
}

impl Over {
    fn conclude(
        self,
        job: &Job,
        view: &View,
        identity: Identity,
        reason: &str,
        without: &[&str],
    ) -> Result<Ended, SandboxError> {
        let is_judged = !without.contains(&"judge");
        let mut told = Told::default();
        if is_judged {
            view.watched.iter().for_each(|watched| watched.restore(&view.workspace, &mut told));
            if !told.wrong.is_empty() {
                return Err(rejected(told.wrong.text(), view));
            }
        }
        let mut taken = Taken::default();
        if self.killed.is_none() && self.stages.len() == view.stages.len() {
            let stages: Vec<_> = view.stages.iter().cloned().zip(self.stages).collect();
            let trusted = is_judged.then_some(&view.trusted);
            let copied = copied(view, &self.copied);
            taken = staging::commit(&view.workspace, &stages, &copied, &job.permissions.write, trusted)
                .map_err(|reason| rejected(reason, view))?;
        }
        taken.conflicts.extend(told.conflicts);
        let [stdout, stderr] = self.outputs;
        let mut denials = self.denials;
        if self.exit != Exit::Code(0) {
            denials.extend(denials::guessed(&stderr, &view.workspace, &job.permissions));
        }
        for denial in &mut denials {
            denial.target = denials::shown(&denial.target);
        }
        Ok(Ended {
            exit: self.exit,
            killed: self.killed,
            stdout,
            stderr,
            is_truncated: self.is_truncated,
            denials,
            layers: layers(job, identity, reason, &self.layers, without),
            written: taken.written,
            conflicts: taken.conflicts,
            notes: view.found.clone(),
            duration_ms: u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX),
        })
    }
}

/// A rejection, with what else was found: it has no other place to be told.
fn rejected(reason: String, view: &View) -> SandboxError {
    let all: Vec<String> = std::iter::once(reason).chain(view.found.iter().cloned()).collect();
    SandboxError::Rejected(all.join("; "))
}

/// The files that were copied in, with what they were then: one for every step that copies, in the same order.
fn copied(view: &View, digests: &[Option<Digest>]) -> Copied {
    let sources = view.steps.iter().filter_map(|step| match step {
        Step::Copy { source, .. } => Some(source.strip_prefix(&view.workspace).unwrap_or(source).to_owned()),
        _ => None,
    });
    sources.zip(digests).filter_map(|(path, digest)| Some((path, (*digest)?))).collect()
}

fn layers(job: &Job, identity: Identity, reason: &str, told: &[(String, String)], without: &[&str]) -> Vec<Layer> {
    let state = |name: &str, state: &str| if without.contains(&name) { "off".to_owned() } else { state.to_owned() };
    let landlock = told.iter().find(|(name, _)| name == "landlock").map_or("off", |(_, state)| state);
    let who = match identity {
        Identity::Mapped => "enforced: a user who owns nothing, granted files are shown as his".to_owned(),
        Identity::Own if reason.is_empty() => "enforced: the caller's user, without capabilities".to_owned(),
        Identity::Own => {
            format!("weaker: root without capabilities, processes counted by the namespace only, because of {reason}")
        }
    };
    let network = if job.permissions.outbound.is_empty() { "enforced: none" } else { "enforced: declared hosts" };
    vec![
        Layer { name: "namespaces", state: "enforced".to_owned() },
        Layer { name: "view", state: state("view", "enforced") },
        Layer { name: "user", state: who },
        Layer { name: "landlock", state: landlock.to_owned() },
        Layer { name: "seccomp", state: state("seccomp", "enforced") },
        Layer { name: "network", state: state("network", network) },
        Layer { name: "limits", state: state("limits", "enforced") },
    ]
}
