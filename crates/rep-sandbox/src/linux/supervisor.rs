//! Supervises a run from the runtime's side: starts the sandbox, handles its streams and limits, and commits changes.

use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{MemfdFlags, OFlags, SeekFrom};
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Signal, WaitId, WaitIdOptions};

use super::control::{self, ControlMessage};
use super::denials::{self, DenialLog};
use super::gateway::{self, Gateway, GatewayNeeds, GatewaySockets};
use super::guard::GuardReport;
use super::host_lookup::HostLookup;
use super::launch::{self, Pipes};
use super::launch_spec::{LaunchSpec, MountStep, ToolIdentity};
use super::run_registry::RunEntry;
use super::staging::{CommitBounds, CommitError, CommittedChanges, CopiedFiles, FileDigest};
use super::view::SandboxView;
use super::{
    Cancel, KillReason, ProcessExit, SandboxChannel, SandboxError, SandboxJob, SandboxLayer, SandboxOutcome, staging,
    view,
};
use rep_permissions::resolver::HostResolver;
use tracing::Span;
use tracing::span::EnteredSpan;

/// How often the time limit and cancellation are checked.
const POLL_INTERVAL_NS: i64 = 20_000_000;

/// How long output is awaited after the last process of a sandbox has ended. Its writers are gone, but another sandbox
/// that this process is just starting may still hold a copy of the pipe.
const OUTPUT_TIMEOUT: Duration = Duration::from_secs(2);

/// The time limit of a commit for jobs that practically have none.
const LONGEST_COMMIT: Duration = Duration::from_secs(1 << 20);

/// Runs a job, optionally without some layers. `when_launched` is called at least once if a sandbox was started.
pub(super) fn supervise_job(
    mut job: SandboxJob,
    cancel: &Cancel,
    without: &[&str],
    when_launched: &mut dyn FnMut(),
) -> Result<SandboxOutcome, SandboxError> {
    let mut channel = job.channel.take();
    let job = &job;
    let start = Instant::now();
    let mut view = tracing::debug_span!("compute the view").in_scope(|| view::compile_view(job))?;
    let mut note = view.run_entry.take();
    let mut identity = ToolIdentity::Own;
    if rustix::process::geteuid().is_root() && !without.contains(&"mapping") {
        identity = ToolIdentity::Mapped;
    }
    let mut reason = String::new();
    loop {
        let followed = SandboxRun::launch(job, &view, identity, without, start, channel.as_ref()).and_then(|run| {
            when_launched();
            run.wait_for_end(cancel, &mut channel, note.as_mut())
        });
        reason = match (followed, identity) {
            // The record of the run is removed after all checks.
            (Ok(WaitOutcome::Exited(over)), _) => {
                let _phase = tracing::debug_span!("take over results").entered();
                return over.conclude_run(job, &view, identity, &reason, without, cancel);
            }
            // Nothing ran. Running as the caller's user in a namespace may work where the ID mapping does not.
            (Ok(WaitOutcome::Unmappable(why)), ToolIdentity::Mapped) => why,
            (Err(SandboxError::Unavailable { feature, .. }), ToolIdentity::Mapped) => feature,
            (Ok(WaitOutcome::Unmappable(why)), ToolIdentity::Own) => {
                return Err(unavailable_error(&why, NAMESPACE_REMEDY));
            }
            (Err(error), _) => return Err(error),
        };
        identity = ToolIdentity::Own;
    }
}

const NAMESPACE_REMEDY: &str = "allow user namespaces (`sysctl user.max_user_namespaces`, `kernel.unprivileged_userns_clone`, \
     an AppArmor profile with `userns`, or a container without the default seccomp profile)";

fn unavailable_error(feature: &str, remedy: &str) -> SandboxError {
    SandboxError::Unavailable { feature: feature.to_owned(), remedy: remedy.to_owned() }
}

fn system_error(what: &str, error: impl std::fmt::Display) -> SandboxError {
    unavailable_error(&format!("{what}: {error}"), "see the system error")
}

fn build_launch_spec(job: &SandboxJob, view: &SandboxView, identity: ToolIdentity, without: &[&str]) -> LaunchSpec {
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
    let needs = if outbound.is_empty() { GatewayNeeds::default() } else { GatewayNeeds::from_rules(outbound) };
    LaunchSpec {
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
        disabled_layers: without.iter().map(|name| (*name).to_owned()).collect(),
    }
}

/// A sandbox that was started and has not ended.
struct SandboxRun<'a> {
    start: Instant,
    job: &'a SandboxJob,
    view: &'a SandboxView,
    pidfd: OwnedFd,
    is_reaped: bool,
    control: Option<OwnedFd>,
    stdin: Option<OwnedFd>,
    stdin_written: usize,
    streams: [OutputStream; 2],
    kill_request: Option<(KillReason, Instant)>,
    status: Option<i32>,
    stages: Vec<OwnedFd>,
    copied: Vec<Option<FileDigest>>,
    denials: DenialLog,
    layers: Vec<(String, String)>,
    gateway: Option<Gateway>,
    /// The phase that is being timed.
    phase: Option<EnteredSpan>,
}

/// An output stream of the tool.
struct OutputStream {
    pipe: Option<OwnedFd>,
    bytes: Vec<u8>,
    is_cut: bool,
}

enum WaitOutcome {
    Exited(ExitedRun),
    Unmappable(String),
}

/// A sandbox whose processes have all ended.
struct ExitedRun {
    start: Instant,
    exit: ProcessExit,
    kill_reason: Option<KillReason>,
    outputs: [Vec<u8>; 2],
    is_truncated: bool,
    stages: Vec<OwnedFd>,
    copied: Vec<Option<FileDigest>>,
    denials: DenialLog,
    layers: Vec<(String, String)>,
}

impl<'a> SandboxRun<'a> {
    fn launch(
        job: &'a SandboxJob,
        view: &'a SandboxView,
        identity: ToolIdentity,
        without: &[&str],
        start: Instant,
        channel: Option<&SandboxChannel>,
    ) -> Result<SandboxRun<'a>, SandboxError> {
        let phase = tracing::debug_span!("set up the sandbox").entered();
        let told = |error: rustix::io::Errno| system_error("could not create descriptors", error);
        let (stdin, feed) = pipe_with(PipeFlags::CLOEXEC).map_err(told)?;
        let (out, stdout) = pipe_with(PipeFlags::CLOEXEC).map_err(told)?;
        let (err, stderr) = pipe_with(PipeFlags::CLOEXEC).map_err(told)?;
        for end in [&feed, &out, &err] {
            rustix::fs::fcntl_setfl(end, OFlags::NONBLOCK).map_err(told)?;
        }
        let (control, theirs) =
            rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
                .map_err(told)?;
        let copy = |channel: &OwnedFd| rustix::io::fcntl_dupfd_cloexec(channel, 3).map_err(told);
        let (stdin, stdout, channel) = match channel {
            None => (stdin, stdout, None),
            Some(SandboxChannel::Descriptor(channel)) => (stdin, stdout, Some(copy(channel)?)),
            Some(SandboxChannel::Stdio(channel)) => (copy(channel)?, copy(channel)?, None),
        };
        let written = rustix::fs::memfd_create("order", MemfdFlags::CLOEXEC).map_err(told)?;
        let mut order = build_launch_spec(job, view, identity, without);
        order.has_channel = channel.is_some();
        let bytes = order.to_bytes();
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            let length = rustix::io::write(&written, rest).map_err(told)?;
            rest = &rest[length..];
        }
        rustix::fs::seek(&written, SeekFrom::Start(0)).map_err(told)?;
        let wires = Pipes { stdin, stdout, stderr, spec: written, control: theirs, channel };
        let launched = launch::launch_init(identity, !without.contains(&"network"), &wires)
            .map_err(|error| unavailable_error(&format!("user namespaces: clone3: {error}"), NAMESPACE_REMEDY))?;
        Ok(SandboxRun {
            start,
            job,
            view,
            pidfd: launched.pidfd,
            is_reaped: false,
            control: Some(control),
            stdin: Some(feed).filter(|_| !job.stdin.is_empty()),
            stdin_written: 0,
            streams: [out, err].map(|pipe| OutputStream { pipe: Some(pipe), bytes: Vec::new(), is_cut: false }),
            kill_request: None,
            status: None,
            stages: Vec::new(),
            copied: Vec::new(),
            denials: DenialLog::default(),
            layers: Vec::new(),
            gateway: None,
            phase: Some(phase),
        })
    }

    /// Supervises the sandbox until it ends.
    fn wait_for_end(
        mut self,
        cancel: &Cancel,
        channel: &mut Option<SandboxChannel>,
        mut note: Option<&mut RunEntry>,
    ) -> Result<WaitOutcome, SandboxError> {
        let mut refusal = None;
        let mut ended: Option<Instant> = None;
        loop {
            let ready = self.poll_events(ended.is_some());
            if let Some(note) = &mut note {
                note.touch();
            }
            if ready[0] {
                self.feed_stdin();
            }
            for at in 0..2 {
                if ready[1 + at] {
                    self.streams[at].read_chunk(self.job.limits.output_bytes);
                }
            }
            if ready[3] && refusal.is_none() {
                refusal = self.handle_message(cancel, channel);
                if refusal.is_some() {
                    // The init process usually refuses itself and has already ended.
                    let _ = rustix::process::pidfd_send_signal(&self.pidfd, Signal::KILL);
                }
            }
            if ready[4] && ended.is_none() {
                self.reap_init();
                ended = Some(Instant::now());
            }
            match ended {
                None => self.check_limits(cancel),
                Some(at) => {
                    let is_read = self.control.is_none() && self.streams.iter().all(|stream| stream.pipe.is_none());
                    // If nothing ran, no output is expected.
                    let is_quiet = is_read || refusal.is_some();
                    if is_quiet || at.elapsed() > OUTPUT_TIMEOUT {
                        break;
                    }
                }
            }
        }
        match refusal {
            Some(LaunchRefusal::Error(error)) => Err(error),
            Some(LaunchRefusal::Unmappable(reason)) => Ok(WaitOutcome::Unmappable(reason)),
            None => Ok(WaitOutcome::Exited(self.take_exited())),
        }
    }

    /// Returns which of stdin, stdout, stderr, control socket and pidfd are ready.
    fn poll_events(&self, has_ended: bool) -> [bool; 5] {
        let wires = [
            (self.stdin.as_ref(), PollFlags::OUT),
            (self.streams[0].pipe.as_ref(), PollFlags::IN),
            (self.streams[1].pipe.as_ref(), PollFlags::IN),
            (self.control.as_ref(), PollFlags::IN),
            (Some(&self.pidfd).filter(|_| !has_ended), PollFlags::IN),
        ];
        // Poll only open descriptors: a closed one would always be ready.
        let open: Vec<(usize, PollFlags, &OwnedFd)> =
            (0..).zip(wires).filter_map(|(at, (wire, events))| Some((at, events, wire?))).collect();
        let mut polled: Vec<PollFd<'_>> = open.iter().map(|(_, events, wire)| PollFd::new(*wire, *events)).collect();
        let look = Timespec { tv_sec: 0, tv_nsec: POLL_INTERVAL_NS };
        // An interrupted wait is only a shorter wait.
        let _ = poll(&mut polled, Some(&look));
        let mut ready = [false; 5];
        for ((at, _, _), one) in open.iter().zip(&polled) {
            ready[*at] = !one.revents().is_empty();
        }
        ready
    }

    fn feed_stdin(&mut self) {
        let Some(pipe) = &self.stdin else { return };
        match rustix::io::write(pipe, &self.job.stdin[self.stdin_written..]) {
            Ok(length) => self.stdin_written += length,
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => return,
            // The tool has closed its stdin.
            Err(_) => self.stdin_written = self.job.stdin.len(),
        }
        if self.stdin_written == self.job.stdin.len() {
            self.stdin = None;
        }
    }

    fn handle_message(&mut self, cancel: &Cancel, channel: &mut Option<SandboxChannel>) -> Option<LaunchRefusal> {
        let Some(message) = self.control.as_ref().and_then(control::receive_message) else {
            self.control = None;
            return None;
        };
        match message {
            ControlMessage::LaunchFailed(step, number) => {
                let step = launch::EARLY_STEPS.get(usize::from(step)).copied().unwrap_or("start");
                let error = std::io::Error::from_raw_os_error(number);
                let feature = format!("user namespaces: the init process could not {step}: {error}");
                return Some(LaunchRefusal::Error(unavailable_error(&feature, NAMESPACE_REMEDY)));
            }
            ControlMessage::Unavailable { feature, remedy } => {
                return Some(LaunchRefusal::Error(SandboxError::Unavailable { feature, remedy }));
            }
            ControlMessage::Unstartable(reason) => {
                let program = self.job.program.display().to_string();
                return Some(LaunchRefusal::Error(SandboxError::Unstartable { program, reason }));
            }
            ControlMessage::Unmappable(reason) => return Some(LaunchRefusal::Unmappable(reason)),
            ControlMessage::Descriptors(mut handed) => {
                // Read this before the tool runs.
                let copied =
                    handed.pop().ok_or(std::io::ErrorKind::UnexpectedEof.into()).and_then(control::read_copy_digests);
                match copied {
                    Ok(copied) => self.copied = copied,
                    Err(error) => {
                        return Some(LaunchRefusal::Error(system_error("could not read copied files", error)));
                    }
                }
                self.stages = handed;
            }
            ControlMessage::Layer(name, state) => self.layers.push((name, state)),
            ControlMessage::DeniedAccess(access) => {
                let lookup = HostLookup {
                    steps: &self.view.steps,
                    workspace: &self.view.workspace,
                    permissions: &self.job.permissions,
                    readable: &self.view.readable,
                };
                lookup.explain_access(&access).into_iter().for_each(|denial| self.denials.add_denial(denial));
            }
            ControlMessage::Denied { action, target } => {
                let target = self.name_target(target);
                self.denials.add_denial(denials::denial_from_report(&action, target));
            }
            ControlMessage::MemoryExceeded => {
                self.kill_request = self.kill_request.or(Some((KillReason::Memory, Instant::now())));
            }
            ControlMessage::Ended(status) => {
                self.status = Some(status);
                self.start_phase(tracing::debug_span!("end the sandbox"));
            }
            ControlMessage::Sockets(sockets) => {
                let rules = &self.job.permissions.outbound;
                let served = GatewaySockets::from_fds(sockets)
                    .and_then(|sockets| gateway::start_gateway(sockets, rules, cancel.clone(), HostResolver::system()));
                match served {
                    Ok(gateway) => self.gateway = Some(gateway),
                    Err(error) => return Some(LaunchRefusal::Error(system_error("network gateway", error))),
                }
            }
            // Only the tool may hold its end of the channel; otherwise the peer never sees it close.
            ControlMessage::Started => {
                *channel = None;
                self.start_phase(tracing::debug_span!("run the tool"));
            }
        }
        None
    }

    /// Ends the phase that is being timed and starts another one.
    fn start_phase(&mut self, next: Span) {
        self.phase = None;
        self.phase = Some(next.entered());
    }

    /// Replaces a synthetic address with the name that the tool looked up.
    fn name_target(&self, target: String) -> String {
        let named = target.parse::<std::net::SocketAddrV4>().ok().and_then(|address| {
            let name = self.gateway.as_ref()?.find_name(*address.ip())?;
            Some(format!("{name}:{}", address.port()))
        });
        named.unwrap_or(target)
    }

    fn check_limits(&mut self, cancel: &Cancel) {
        let limits = &self.job.limits;
        let wish = if cancel.is_cancelled() {
            Some(KillReason::Cancelled)
        } else if self.start.elapsed() > Duration::from_millis(limits.timeout_ms) {
            Some(KillReason::Timeout)
        } else if self.streams.iter().any(|stream| stream.is_cut) {
            Some(KillReason::Output)
        } else {
            None
        };
        match (self.kill_request, wish) {
            (None, Some(reason)) => {
                self.kill_request = Some((reason, Instant::now()));
                if let Some(control) = &self.control {
                    // If sending fails, the grace period still ends.
                    let _ = rustix::net::send(control, b"T", SendFlags::NOSIGNAL | SendFlags::DONTWAIT);
                }
            }
            (Some((_, since)), _) if since.elapsed() > Duration::from_millis(limits.grace_ms) => {
                // Killing the init process kills everything in its namespace. It may have ended already.
                let _ = rustix::process::pidfd_send_signal(&self.pidfd, Signal::KILL);
            }
            _ => {}
        }
    }

    fn reap_init(&mut self) {
        // Fails if the caller ignores SIGCHLD; then there is nothing to reap.
        let _ = rustix::io::retry_on_intr(|| {
            rustix::process::waitid(WaitId::PidFd(self.pidfd.as_fd()), WaitIdOptions::EXITED)
        });
        self.is_reaped = true;
    }

    fn take_exited(&mut self) -> ExitedRun {
        let exit = match self.status {
            Some(status) => match status & 0x7f {
                0 => ProcessExit::Code(status >> 8 & 0xff),
                signal => ProcessExit::Signal(signal),
            },
            // The init process was killed before it could report the exit status.
            None => ProcessExit::Signal(9),
        };
        if let Some(mut gateway) = self.gateway.take() {
            gateway.stop();
            gateway.denials().into_iter().for_each(|denial| self.denials.add_denial(denial));
        }
        let is_truncated = self.streams.iter().any(|stream| stream.is_cut);
        ExitedRun {
            start: self.start,
            exit,
            kill_reason: self.kill_request.map(|(reason, _)| reason),
            outputs: self.streams.each_mut().map(|stream| std::mem::take(&mut stream.bytes)),
            is_truncated,
            stages: std::mem::take(&mut self.stages),
            copied: std::mem::take(&mut self.copied),
            denials: std::mem::take(&mut self.denials),
            layers: std::mem::take(&mut self.layers),
        }
    }
}

impl Drop for SandboxRun<'_> {
    fn drop(&mut self) {
        // After any error, no process may be left.
        if !self.is_reaped {
            let _ = rustix::process::pidfd_send_signal(&self.pidfd, Signal::KILL);
            self.reap_init();
        }
    }
}

enum LaunchRefusal {
    Error(SandboxError),
    Unmappable(String),
}

impl OutputStream {
    fn read_chunk(&mut self, bytes_max: u64) {
        let Some(pipe) = &self.pipe else { return };
        let mut chunk = [0_u8; 16 << 10];
        match rustix::io::read(pipe, &mut chunk) {
            Ok(0) => self.pipe = None,
            Ok(length) => {
                let room = usize::try_from(bytes_max).unwrap_or(usize::MAX).saturating_sub(self.bytes.len());
                self.bytes.extend(&chunk[..length.min(room)]);
                // Keep reading beyond the limit, so that a tool that is asked to end does not block on a full pipe.
                self.is_cut |= length > room;
            }
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => {}
            Err(_) => self.pipe = None,
        }
    }
}

impl ExitedRun {
    fn conclude_run(
        self,
        job: &SandboxJob,
        view: &SandboxView,
        identity: ToolIdentity,
        reason: &str,
        without: &[&str],
        cancel: &Cancel,
    ) -> Result<SandboxOutcome, SandboxError> {
        let is_judged = !without.contains(&"judge");
        let mut told = GuardReport::default();
        if is_judged {
            view.guarded.iter().for_each(|watched| watched.restore_protected(&view.workspace, &mut told));
            if !told.violations.is_empty() {
                return Err(rejection_error(told.violations.join_messages(), view));
            }
        }
        let mut taken = CommittedChanges::default();
        let mut kill_reason = self.kill_reason;
        if kill_reason.is_none() && self.stages.len() == view.stages.len() {
            let stages: Vec<_> = view.stages.iter().cloned().zip(self.stages).collect();
            let trusted = is_judged.then_some(&view.protected);
            let copied = match_copied_files(view, &self.copied);
            let time_ms = job.limits.timeout_ms.saturating_add(job.limits.grace_ms);
            let end = self.start.checked_add(Duration::from_millis(time_ms));
            let bounds = CommitBounds {
                bytes_max: view::compute_pool_bytes(&view.steps, job.limits.temporary_bytes),
                deadline: end.unwrap_or_else(|| Instant::now() + LONGEST_COMMIT),
                cancel,
                journal_folder: job.protection.run_registry.as_deref(),
            };
            let patterns = &job.permissions.write;
            match staging::commit_stages(&view.workspace, &stages, &copied, patterns, trusted, bounds) {
                Ok(changes) => taken = changes,
                Err(CommitError::Rejected(reason)) => return Err(rejection_error(reason, view)),
                Err(CommitError::Stopped(reason)) => kill_reason = Some(reason),
            }
        }
        taken.conflicts.extend(told.conflicts);
        let [stdout, stderr] = self.outputs;
        let (denials, denials_omitted) = self.denials.into_parts();
        Ok(SandboxOutcome {
            exit: self.exit,
            kill_reason,
            stdout,
            stderr,
            is_truncated: self.is_truncated,
            denials,
            denials_omitted,
            layers: describe_layers(job, identity, reason, &self.layers, without),
            written: taken.written,
            conflicts: taken.conflicts,
            notes: view.leftovers.iter().cloned().chain(describe_weaker_user(reason)).collect(),
            duration_ms: u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX),
        })
    }
}

/// Reports that root's tool could not run as an unprivileged user, and why.
fn describe_weaker_user(reason: &str) -> Option<String> {
    (!reason.is_empty()).then(|| {
        format!(
            "the tool ran as root without capabilities, which is weaker than as an unprivileged user: {reason}; run \
             `rep` as an ordinary user, or use a file system with ID-mapped mounts"
        )
    })
}

/// Builds a rejection error that includes other findings, which have no other place to be reported.
fn rejection_error(reason: String, view: &SandboxView) -> SandboxError {
    let all: Vec<String> = std::iter::once(reason).chain(view.leftovers.iter().cloned()).collect();
    SandboxError::Rejected(all.join("; "))
}

/// Returns the copied files with their digests. Digests are in the order of the copy steps.
fn match_copied_files(view: &SandboxView, digests: &[Option<FileDigest>]) -> CopiedFiles {
    let sources = view.steps.iter().filter_map(|step| match step {
        MountStep::Copy { source, .. } => Some(source.strip_prefix(&view.workspace).unwrap_or(source).to_owned()),
        _ => None,
    });
    sources.zip(digests).filter_map(|(path, digest)| Some((path, (*digest)?))).collect()
}

fn describe_layers(
    job: &SandboxJob,
    identity: ToolIdentity,
    reason: &str,
    told: &[(String, String)],
    without: &[&str],
) -> Vec<SandboxLayer> {
    let state = |name: &str, state: &str| if without.contains(&name) { "off".to_owned() } else { state.to_owned() };
    let landlock = told.iter().find(|(name, _)| name == "landlock").map_or("off", |(_, state)| state);
    let who = match identity {
        ToolIdentity::Mapped => "enforced: an unprivileged user that granted files are mapped to".to_owned(),
        ToolIdentity::Own if reason.is_empty() => "enforced: the caller's user, without capabilities".to_owned(),
        ToolIdentity::Own => {
            format!("weaker: root without capabilities, processes counted per namespace only ({reason})")
        }
    };
    let network = if job.permissions.outbound.is_empty() { "enforced: none" } else { "enforced: declared hosts" };
    vec![
        SandboxLayer { name: "namespaces", state: "enforced".to_owned() },
        SandboxLayer { name: "view", state: state("view", "enforced") },
        SandboxLayer { name: "user", state: who },
        SandboxLayer { name: "landlock", state: landlock.to_owned() },
        SandboxLayer { name: "seccomp", state: state("seccomp", "enforced") },
        SandboxLayer { name: "network", state: state("network", network) },
        SandboxLayer { name: "limits", state: state("limits", "enforced") },
    ]
}
