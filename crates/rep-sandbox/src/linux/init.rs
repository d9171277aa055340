//! The init process of a sandbox: builds the view, starts the tool, answers seccomp notifications, and ends everything.
#![expect(unsafe_code, reason = "descriptors are passed by number, and clone3 has no safe wrapper")]

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::Mode;
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use rustix::process::{DumpableBehavior, Pid, WaitOptions};
use rustix::thread::{CapabilitySet, CapabilitySets};

use super::connections::{ConnectionObserver, SocketAnswer};
use super::control::{self, ControlMessage, StartupError};
use super::kernel::{self, CloneResult, PendingSyscall};
use super::launch_spec::{LaunchSpec, ToolIdentity};
use super::memory::MemoryMeter;
use super::observer::{self, AccessObserver};
use super::{CHANNEL_FD, gateway, launch, mounts, tool};

/// How often the memory use of the tool is checked.
const MEMORY_CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// The file mode bits that new files of a tool do not get.
pub(super) const UMASK: u32 = 0o022;

/// The maximum number of reported denials.
const DENIALS_MAX: usize = 10_000;

/// Whether this process is the init process of a sandbox.
pub(super) fn is_init_process() -> bool {
    std::env::args_os().next().is_some_and(|name| name.as_bytes() == launch::INIT_NAME.to_bytes())
        && std::process::id() == 1
}

/// Runs the init process in a copy of a caller with a single thread. Never returns, not even by a panic: the code of the
/// caller would go on a second time.
pub(super) fn run_copied_init() -> ! {
    let _: std::thread::Result<()> = std::panic::catch_unwind(|| run_init());
    kernel::exit_now(101)
}

/// Runs the init process. Never returns.
pub(super) fn run_init() -> ! {
    // SAFETY: `launch` passed these descriptors, and nothing else runs in this process.
    let (order, control) = unsafe { (kernel::adopt_descriptor(3), kernel::adopt_descriptor(4)) };
    // The caller may ignore SIGCHLD or block signals, which this process depends on.
    kernel::reset_signals();
    // The tool's user must be able to enter the directories of the view, whatever the caller's umask is.
    rustix::process::umask(Mode::from_raw_mode(UMASK));
    // The tool must inherit only its own descriptors.
    if kernel::close_on_exec_from(3).is_err() {
        kernel::exit_now(126);
    }
    match prepare_sandbox(order, &control) {
        Ok((order, started)) => watch_tool(&order, &control, started),
        Err(trouble) => {
            // An error means that the runtime is gone.
            let _ = control::send_message(&control, &trouble.into_message());
            kernel::exit_now(126)
        }
    }
}

fn prepare_sandbox(order: OwnedFd, control: &OwnedFd) -> Result<(LaunchSpec, StartedTool), StartupError> {
    let kernel_error =
        |what: &str, error: std::io::Error| StartupError::unavailable(format!("{what}: {error}"), KERNEL_REMEDY);
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .map_err(|error| kernel_error("could not hide the init process", error.into()))?;
    let mut bytes = Vec::new();
    fs::File::from(order)
        .read_to_end(&mut bytes)
        .map_err(|error| kernel_error("could not read the launch spec", error))?;
    let order =
        LaunchSpec::from_bytes(&bytes).ok_or_else(|| StartupError::Unstartable("invalid launch spec".to_owned()))?;
    drop(bytes);
    let channel = order.has_channel.then(take_channel).transpose()?;
    let say = |message: &ControlMessage| {
        control::send_message(control, message).map_err(|error| kernel_error("control socket", error))
    };
    if !order.ports.is_empty() {
        let sockets = gateway::open_in_namespace(&order.ports, &order.literals)
            .map_err(|error| kernel_error("could not open the gateway sockets", error))?;
        control::send_sockets(control, &sockets.fds()).map_err(|error| kernel_error("control socket", error))?;
    }
    let mut locks = None;
    if order.has_layer("view") {
        let (mut handed, copied, opened) = mounts::build_view(&order)?;
        locks = opened;
        let noted = control::write_copy_digests(&copied)
            .map_err(|error| kernel_error("could not record copied files", error))?;
        handed.push(noted);
        say(&ControlMessage::Descriptors(handed))?;
    }
    rustix::system::sethostname(b"sandbox")
        .map_err(|error| kernel_error("could not set the host name", error.into()))?;
    if order.identity == ToolIdentity::Mapped {
        drop_to_unprivileged_user()?;
    }
    let started = start_tool(&order, channel, MemoryMeter::new(locks))?;
    reduce_capabilities(&order)?;
    Ok((order, started))
}

/// Moves the channel to its descriptor number in the tool, before another descriptor can take that number.
fn take_channel() -> Result<OwnedFd, StartupError> {
    // SAFETY: `launch` passed this descriptor if the launch spec says that there is a channel.
    let handed = unsafe { kernel::adopt_descriptor(5) };
    let channel = rustix::io::fcntl_dupfd_cloexec(&handed, CHANNEL_FD)
        .map_err(|error| StartupError::Unstartable(format!("could not set up its channel: {error}")))?;
    if channel.as_raw_fd() == CHANNEL_FD {
        Ok(channel)
    } else {
        Err(StartupError::Unstartable("the descriptor of its channel is in use".to_owned()))
    }
}

const KERNEL_REMEDY: &str = "use Linux 5.12 or newer with user namespaces";

/// Switches from root to the unprivileged user, which owns nothing.
fn drop_to_unprivileged_user() -> Result<(), StartupError> {
    let told = |error: rustix::io::Errno| {
        StartupError::Unmappable(format!("could not switch to user {}: {error}", mounts::UNPRIVILEGED_ID))
    };
    for number in 0..3 {
        // SAFETY: borrows one of the tool's standard descriptors for a single call.
        let descriptor = unsafe { std::os::fd::BorrowedFd::borrow_raw(number) };
        // Lets the tool open `/dev/stdout`. If this fails, writing to stdout still works.
        let _ = kernel::change_owner(descriptor, mounts::UNPRIVILEGED_ID);
    }
    let user = rustix::fs::Uid::from_raw(mounts::UNPRIVILEGED_ID);
    let group = rustix::fs::Gid::from_raw(mounts::UNPRIVILEGED_ID);
    rustix::thread::set_thread_groups(&[]).map_err(told)?;
    rustix::thread::set_thread_res_gid(group, group, group).map_err(told)?;
    rustix::thread::set_thread_res_uid(user, user, user).map_err(told)?;
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(told)
}

/// Drops all capabilities except those needed to kill the tool and to read its memory use.
fn reduce_capabilities(order: &LaunchSpec) -> Result<(), StartupError> {
    let kept = match order.identity {
        ToolIdentity::Own => CapabilitySet::KILL | CapabilitySet::SYS_PTRACE,
        // This process created the tool's user namespace, so it has all capabilities there.
        ToolIdentity::Mapped => CapabilitySet::empty(),
    };
    let sets = CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() };
    rustix::thread::clear_ambient_capability_set()
        .and_then(|()| rustix::thread::set_capabilities(None, sets))
        .and_then(|()| rustix::thread::set_no_new_privs(true))
        .map_err(|error| StartupError::unavailable(format!("could not drop capabilities: {error}"), KERNEL_REMEDY))
}

struct StartedTool {
    pid: i32,
    /// The tool's process reports failures here before it executes the tool.
    status_socket: OwnedFd,
    signals: OwnedFd,
    memory: MemoryMeter,
}

fn start_tool(order: &LaunchSpec, channel: Option<OwnedFd>, memory: MemoryMeter) -> Result<StartedTool, StartupError> {
    let told = |what: &str, error: std::io::Error| StartupError::unavailable(format!("{what}: {error}"), KERNEL_REMEDY);
    let signals = kernel::open_child_signals().map_err(|error| told("could not watch child processes", error))?;
    let (line, theirs) =
        rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
            .map_err(|error| told("could not create a socket pair", error.into()))?;
    let namespaces = match order.identity {
        ToolIdentity::Own => 0,
        ToolIdentity::Mapped => u64::from(libc::CLONE_NEWUSER.cast_unsigned()),
    };
    // SAFETY: this process has a single thread, so the child may do anything.
    match unsafe { kernel::clone3(namespaces) } {
        Ok(CloneResult::Child) => {
            drop(line);
            tool::run_tool(order, theirs, channel.as_ref())
        }
        Ok(CloneResult::Parent(pid, _)) => {
            drop(theirs);
            // Only the tool may hold its end of the channel; otherwise the peer never sees it close.
            drop(channel);
            for number in 0..3 {
                kernel::close_inherited(number);
            }
            Ok(StartedTool { pid, status_socket: line, signals, memory })
        }
        Err(error) if order.identity == ToolIdentity::Mapped => {
            Err(StartupError::Unmappable(format!("could not create a user namespace: {error}")))
        }
        Err(error) => Err(told("could not create a process in the sandbox", error)),
    }
}

/// Waits until the tool ends, the runtime is gone, or the memory limit is exceeded.
fn watch_tool(order: &LaunchSpec, control: &OwnedFd, started: StartedTool) -> ! {
    let mut desk = ControlChannel {
        spec: order,
        control,
        tool: started.pid,
        status_socket: Some(started.status_socket),
        listener: None,
        has_started: false,
        denied: BTreeSet::new(),
        observer: AccessObserver::for_view(if order.has_layer("view") { &order.steps } else { &[] }),
        connections: ConnectionObserver::default(),
        last_memory_check: Instant::now(),
        memory: started.memory,
    };
    loop {
        let absent = control.as_fd();
        let mut waiting = [
            PollFd::new(control, PollFlags::IN),
            PollFd::new(&started.signals, PollFlags::IN),
            PollFd::from_borrowed_fd(desk.status_socket.as_ref().map_or(absent, AsFd::as_fd), PollFlags::IN),
            PollFd::from_borrowed_fd(desk.listener.as_ref().map_or(absent, AsFd::as_fd), PollFlags::IN),
        ];
        let look = Timespec { tv_sec: 0, tv_nsec: i64::from(MEMORY_CHECK_INTERVAL.subsec_nanos()) };
        // An interrupted wait is only a shorter wait.
        let _ = poll(&mut waiting, Some(&look));
        let ready = waiting.map(|one| one.revents());
        if desk.status_socket.is_some() && !ready[2].is_empty() {
            desk.receive_status();
        }
        if desk.listener.is_some() && !ready[3].is_empty() {
            desk.answer_filter_request(ready[3]);
        }
        if !ready[0].is_empty() {
            desk.handle_command();
        }
        if !ready[1].is_empty() {
            kernel::drain_child_signals(&started.signals);
            desk.reap_children();
        }
        desk.check_memory();
    }
}

struct ControlChannel<'a> {
    spec: &'a LaunchSpec,
    control: &'a OwnedFd,
    tool: i32,
    /// Closed when the tool's process has executed the tool.
    status_socket: Option<OwnedFd>,
    listener: Option<OwnedFd>,
    has_started: bool,
    denied: BTreeSet<(String, String)>,
    observer: AccessObserver,
    connections: ConnectionObserver,
    last_memory_check: Instant,
    memory: MemoryMeter,
}

impl ControlChannel<'_> {
    fn report(&self, message: &ControlMessage) {
        // If the runtime is gone, the control socket reports it in the next round.
        let _ = control::send_message(self.control, message);
    }

    /// Receives the progress of the tool's process.
    fn receive_status(&mut self) {
        match self.status_socket.as_ref().and_then(control::receive_message) {
            Some(ControlMessage::Descriptors(mut descriptors)) => self.listener = descriptors.pop(),
            Some(message @ ControlMessage::Layer(..)) => self.report(&message),
            Some(message) => {
                self.report(&message);
                kernel::exit_now(126);
            }
            None => {
                self.status_socket = None;
                self.has_started = true;
                self.report(&ControlMessage::Started);
            }
        }
    }

    fn handle_command(&self) {
        let mut order = [0_u8; 1];
        match rustix::net::recv(self.control, &mut order, rustix::net::RecvFlags::DONTWAIT) {
            Ok((1.., _)) => kernel::signal_everything(libc::SIGTERM),
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => {}
            // The runtime is gone, so everything it started must end.
            Ok((0, _)) | Err(_) => {
                kernel::signal_everything(libc::SIGKILL);
                kernel::exit_now(137);
            }
        }
    }

    fn answer_filter_request(&mut self, ready: PollFlags) {
        let Some(listener) = &self.listener else { return };
        if !ready.contains(PollFlags::IN) {
            self.listener = None;
            return;
        }
        // The caller may have been killed in the meantime.
        let Ok(asked) = kernel::next_pending_syscall(listener) else { return };
        let is_own_start = asked.call == libc::SYS_execve && asked.pid == self.tool && !self.has_started;
        if is_own_start {
            kernel::answer_syscall(listener, asked, None);
            self.has_started = true;
            return;
        }
        let is_spawn = matches!(
            asked.call,
            libc::SYS_execve | libc::SYS_execveat | libc::SYS_fork | libc::SYS_vfork | libc::SYS_clone
        );
        if is_socket_call(asked.call) {
            self.answer_socket_call(asked);
            return;
        }
        if asked.call == libc::SYS_umask {
            // The mask stays as it is. Programs that only read it set it to 0 first.
            kernel::complete_syscall(listener, asked, i64::from(UMASK));
            return;
        }
        let (action, target, number) = match asked.call {
            libc::SYS_execve => ("spawn", read_program_name(&asked, 0), libc::EPERM),
            _ if is_spawn => ("spawn", "a child process".to_owned(), libc::EPERM),
            _ => {
                let found = self.observer.find_denied(&asked);
                kernel::answer_syscall(listener, asked, None);
                for access in found {
                    self.report(&ControlMessage::DeniedAccess(access));
                }
                return;
            }
        };
        kernel::answer_syscall(listener, asked, Some(number));
        self.report_denial(action, target);
    }

    fn answer_socket_call(&mut self, asked: PendingSyscall) {
        let Some(listener) = &self.listener else { return };
        let (answer, refused) = self.connections.judge_call(self.spec, &asked);
        match answer {
            SocketAnswer::Continue => kernel::answer_syscall(listener, asked, None),
            SocketAnswer::Refuse => kernel::answer_syscall(listener, asked, Some(libc::EACCES)),
            SocketAnswer::Pretend => kernel::complete_syscall(listener, asked, 0),
            SocketAnswer::HandOut { placeholder, is_closed_on_exec } => {
                if kernel::return_descriptor(listener, asked, placeholder, is_closed_on_exec).is_err() {
                    kernel::answer_syscall(listener, asked, Some(libc::EACCES));
                }
            }
        }
        for (action, target) in refused {
            self.report_denial(action, target);
        }
    }

    fn report_denial(&mut self, action: &str, target: String) {
        let denied = (action.to_owned(), target.clone());
        if self.denied.len() < DENIALS_MAX && self.denied.insert(denied) {
            self.report(&ControlMessage::Denied { action: action.to_owned(), target });
        }
    }

    fn reap_children(&mut self) {
        while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
            if pid == Pid::from_raw(self.tool).unwrap_or(Pid::INIT) {
                // Read the final messages, in case it never executed the tool.
                while self.status_socket.is_some() {
                    self.receive_status();
                }
                // Its children must not outlive it or keep its output open.
                kernel::signal_everything(libc::SIGKILL);
                self.report(&ControlMessage::Ended(status.as_raw()));
                kernel::exit_now(0);
            }
        }
    }

    fn check_memory(&mut self) {
        // Denials in a loop wake this process more often than memory needs to be checked.
        if self.last_memory_check.elapsed() < MEMORY_CHECK_INTERVAL {
            return;
        }
        self.last_memory_check = Instant::now();
        // Without a view, `/proc` shows the whole machine.
        if self.spec.has_layer("watchdog")
            && self.spec.has_layer("view")
            && self.memory.is_exceeded(self.spec.limits.memory_bytes)
        {
            self.report(&ControlMessage::MemoryExceeded);
            kernel::signal_everything(libc::SIGKILL);
        }
    }
}

fn is_socket_call(call: i64) -> bool {
    [libc::SYS_socket, libc::SYS_connect, libc::SYS_sendto, libc::SYS_sendmmsg].contains(&call)
}

/// Reads the name of a program that a waiting process wants to execute.
fn read_program_name(asked: &kernel::PendingSyscall, argument: usize) -> String {
    let name = asked.arguments.get(argument).and_then(|address| observer::read_string(asked.pid, *address));
    match name {
        Some(name) if !name.is_empty() => String::from_utf8_lossy(&name).into_owned(),
        _ => "a program".to_owned(),
    }
}
