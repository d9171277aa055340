//! The first process of a sandbox: makes the view, starts the tool, answers what the filter asks, and ends everything.
#![expect(unsafe_code, reason = "descriptors handed over by number, and a clone")]
#![expect(clippy::disallowed_methods, reason = "reads its own name, and /proc of its sandbox")]

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use rustix::process::{DumpableBehavior, Pid, WaitOptions};
use rustix::thread::{CapabilitySet, CapabilitySets};

use super::control::{self, Message, Trouble};
use super::kernel::{self, Cloned};
use super::order::{Identity, Order};
use super::{CHANNEL_FD, gateway, launch, mounts, tool};

/// How often the memory of the tool is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Sockets that are not counted, and what each beyond them is counted as: what can be sent to one and not read, as the
/// kernel has it. The filter lets nobody change that.
const SOCKETS_FREE: u64 = 64;
const SOCKET_BYTES: u64 = 256 << 10;

/// More refusals than this say nothing new.
const DENIALS_MAX: usize = 64;

/// The longest path the kernel takes.
const PATH_BYTES_MAX: usize = 4096;

/// Whether this process was started as the first one of a sandbox.
pub(super) fn is_this() -> bool {
    std::env::args_os().next().is_some_and(|name| name.as_bytes() == launch::NAME.to_bytes()) && std::process::id() == 1
}

/// Does all of it. Never returns.
pub(super) fn live() -> ! {
    // SAFETY: these numbers were handed over by `launch`, and nothing else runs in this process.
    let (order, control) = unsafe { (kernel::adopt(3), kernel::adopt(4)) };
    // The caller may ignore the ends of children, or block signals; this process lives by them.
    kernel::reset_signals();
    // Only the tool's own descriptors may reach the tool.
    if kernel::close_on_exec_from(3).is_err() {
        kernel::exit_now(126);
    }
    match prepare(order, &control) {
        Ok((order, started)) => watch(&order, &control, started),
        Err(trouble) => {
            // If nobody listens, nobody needs to know.
            let _ = control::send(&control, &trouble.into_message());
            kernel::exit_now(126)
        }
    }
}

fn prepare(order: OwnedFd, control: &OwnedFd) -> Result<(Order, Started), Trouble> {
    let kernel_error = |what: &str, error: std::io::Error| Trouble::missing(format!("{what}: {error}"), NEWER);
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .map_err(|error| kernel_error("hiding from the tool", error.into()))?;
    let mut bytes = Vec::new();
    fs::File::from(order)
        .read_to_end(&mut bytes)
        .map_err(|error| kernel_error("the order could not be read", error))?;
    let order = Order::from_bytes(&bytes).ok_or_else(|| Trouble::Unstartable("its order is broken".to_owned()))?;
    drop(bytes);
    let channel = order.has_channel.then(take_channel).transpose()?;
    let say =
        |message: &Message| control::send(control, message).map_err(|error| kernel_error("the control line", error));
    if !order.ports.is_empty() {
        let sockets = gateway::open_in_namespace(&order.ports, &order.literals)
            .map_err(|error| kernel_error("a gateway in the network namespace", error))?;
        control::send_sockets(control, &sockets.fds()).map_err(|error| kernel_error("the control line", error))?;
    }
    if order.has("view") {
        let (mut handed, copied) = mounts::furnish(&order)?;
        let noted = control::noted(&copied).map_err(|error| kernel_error("noting what was copied", error))?;
        handed.push(noted);
        say(&Message::Descriptors(handed))?;
    }
    rustix::system::sethostname(b"sandbox").map_err(|error| kernel_error("naming the host", error.into()))?;
    if order.identity == Identity::Mapped {
        become_no_one()?;
    }
    let started = start(&order, channel)?;
    weaken(&order)?;
    Ok((order, started))
}

/// Puts the channel under the number it has in the tool, before anything else can take that.
fn take_channel() -> Result<OwnedFd, Trouble> {
    // SAFETY: this number was handed over by `launch`, where the order says that there is a channel.
    let handed = unsafe { kernel::adopt(5) };
    let channel = rustix::io::fcntl_dupfd_cloexec(&handed, CHANNEL_FD)
        .map_err(|error| Trouble::Unstartable(format!("its channel: {error}")))?;
    if channel.as_raw_fd() == CHANNEL_FD {
        Ok(channel)
    } else {
        Err(Trouble::Unstartable("the number of its channel is taken".to_owned()))
    }
}

const NEWER: &str = "use a kernel of version 5.12 or newer, with user namespaces";

/// From root to the user who owns nothing. From here on this process could be anybody's.
fn become_no_one() -> Result<(), Trouble> {
    let told = |error: rustix::io::Errno| Trouble::Unmappable(format!("becoming user {}: {error}", mounts::NO_ONE));
    for number in 0..3 {
        // SAFETY: the tool's standard descriptors, borrowed for one call.
        let descriptor = unsafe { std::os::fd::BorrowedFd::borrow_raw(number) };
        // So that `/dev/stdout` can be opened. Where it cannot be given, writing to it still works.
        let _ = kernel::give(descriptor, mounts::NO_ONE);
    }
    let user = rustix::fs::Uid::from_raw(mounts::NO_ONE);
    let group = rustix::fs::Gid::from_raw(mounts::NO_ONE);
    rustix::thread::set_thread_groups(&[]).map_err(told)?;
    rustix::thread::set_thread_res_gid(group, group, group).map_err(told)?;
    rustix::thread::set_thread_res_uid(user, user, user).map_err(told)?;
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(told)
}

/// Keeps what is needed to end the tool and to see how much memory it uses, and nothing else.
fn weaken(order: &Order) -> Result<(), Trouble> {
    let kept = match order.identity {
        Identity::Own => CapabilitySet::KILL | CapabilitySet::SYS_PTRACE,
        // It made the tool's namespace, and is almighty there.
        Identity::Mapped => CapabilitySet::empty(),
    };
    let sets = CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() };
    rustix::thread::clear_ambient_capability_set()
        .and_then(|()| rustix::thread::set_capabilities(None, sets))
        .and_then(|()| rustix::thread::set_no_new_privs(true))
        .map_err(|error| Trouble::missing(format!("dropping capabilities: {error}"), NEWER))
}

struct Started {
    pid: i32,
    /// Where the tool's process says what went wrong before it became the tool.
    line: OwnedFd,
    signals: OwnedFd,
}

fn start(order: &Order, channel: Option<OwnedFd>) -> Result<Started, Trouble> {
    let told = |what: &str, error: std::io::Error| Trouble::missing(format!("{what}: {error}"), NEWER);
    let signals = kernel::child_signals().map_err(|error| told("waiting for children", error))?;
    let (line, theirs) =
        rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
            .map_err(|error| told("a pair of sockets", error.into()))?;
    let namespaces = match order.identity {
        Identity::Own => 0,
        Identity::Mapped => u64::from(libc::CLONE_NEWUSER.cast_unsigned()),
    };
    // SAFETY: this process has one thread, so its copy may do anything.
    match unsafe { kernel::clone3(namespaces) } {
        Ok(Cloned::Child) => {
            drop(line);
            tool::live(order, theirs, channel.as_ref())
        }
        Ok(Cloned::Parent(pid, _)) => {
            drop(theirs);
            // The tool alone holds its end of the channel, or its end would never be seen.
            drop(channel);
            for number in 0..3 {
                kernel::close_inherited(number);
            }
            Ok(Started { pid, line, signals })
        }
        Err(error) if order.identity == Identity::Mapped => {
            Err(Trouble::Unmappable(format!("a user namespace: {error}")))
        }
        Err(error) => Err(told("a process in the sandbox", error)),
    }
}

/// Waits for the end of the tool, of the runtime, or of the memory it may use.
fn watch(order: &Order, control: &OwnedFd, started: Started) -> ! {
    let mut desk = Desk {
        order,
        control,
        tool: started.pid,
        line: Some(started.line),
        listener: None,
        has_started: false,
        denied: BTreeSet::new(),
        weighed: Instant::now(),
    };
    loop {
        let absent = control.as_fd();
        let mut waiting = [
            PollFd::new(control, PollFlags::IN),
            PollFd::new(&started.signals, PollFlags::IN),
            PollFd::from_borrowed_fd(desk.line.as_ref().map_or(absent, AsFd::as_fd), PollFlags::IN),
            PollFd::from_borrowed_fd(desk.listener.as_ref().map_or(absent, AsFd::as_fd), PollFlags::IN),
        ];
        let look = Timespec { tv_sec: 0, tv_nsec: i64::from(LOOK_EVERY.subsec_nanos()) };
        // An interruption is as good as a look.
        let _ = poll(&mut waiting, Some(&look));
        let ready = waiting.map(|one| one.revents());
        if desk.line.is_some() && !ready[2].is_empty() {
            desk.hear();
        }
        if desk.listener.is_some() && !ready[3].is_empty() {
            desk.judge(ready[3]);
        }
        if !ready[0].is_empty() {
            desk.obey();
        }
        desk.reap();
        desk.weigh();
    }
}

struct Desk<'a> {
    order: &'a Order,
    control: &'a OwnedFd,
    tool: i32,
    /// Closed when the tool's process has become the tool.
    line: Option<OwnedFd>,
    listener: Option<OwnedFd>,
    has_started: bool,
    denied: BTreeSet<(String, String)>,
    weighed: Instant,
}

impl Desk<'_> {
    fn say(&self, message: &Message) {
        // If the runtime is gone, the control line says so in the next round.
        let _ = control::send(self.control, message);
    }

    /// The tool's process tells how far it is.
    fn hear(&mut self) {
        match self.line.as_ref().and_then(control::receive) {
            Some(Message::Descriptors(mut descriptors)) => self.listener = descriptors.pop(),
            Some(message @ Message::Layer(..)) => self.say(&message),
            Some(message) => {
                self.say(&message);
                kernel::exit_now(126);
            }
            None => {
                self.line = None;
                self.has_started = true;
                self.say(&Message::Started);
            }
        }
    }

    fn obey(&self) {
        let mut order = [0_u8; 1];
        match rustix::net::recv(self.control, &mut order, rustix::net::RecvFlags::DONTWAIT) {
            Ok((1.., _)) => kernel::signal_everything(libc::SIGTERM),
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => {}
            // The runtime is gone: so is everything it started.
            Ok((0, _)) | Err(_) => {
                kernel::signal_everything(libc::SIGKILL);
                kernel::exit_now(137);
            }
        }
    }

    fn judge(&mut self, ready: PollFlags) {
        let Some(listener) = &self.listener else { return };
        if !ready.contains(PollFlags::IN) {
            self.listener = None;
            return;
        }
        // It may have been killed while it asked.
        let Ok(asked) = kernel::next_asked(listener) else { return };
        let is_own_start = asked.call == libc::SYS_execve && asked.pid == self.tool && !self.has_started;
        if is_own_start {
            kernel::answer(listener, asked, None);
            self.has_started = true;
            return;
        }
        let (action, target, number) = match asked.call {
            libc::SYS_execve => ("spawn", path_at(asked.pid, asked.arguments[0]), libc::EPERM),
            libc::SYS_execveat => ("spawn", path_at(asked.pid, asked.arguments[1]), libc::EPERM),
            libc::SYS_socket => ("connect", "the network".to_owned(), libc::EACCES),
            _ => ("spawn", "a child process".to_owned(), libc::EPERM),
        };
        kernel::answer(listener, asked, Some(number));
        let denied = (action.to_owned(), target.clone());
        if self.denied.len() < DENIALS_MAX && self.denied.insert(denied) {
            self.say(&Message::Denied { action: action.to_owned(), target });
        }
    }

    fn reap(&mut self) {
        while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
            if pid == Pid::from_raw(self.tool).unwrap_or(Pid::INIT) {
                // Its last words, if it never became the tool.
                while self.line.is_some() {
                    self.hear();
                }
                // What it left running must not outlive it, and must not hold its output open.
                kernel::signal_everything(libc::SIGKILL);
                self.say(&Message::Ended(status.as_raw()));
                kernel::exit_now(0);
            }
        }
    }

    fn weigh(&mut self) {
        // A tool that is refused something in a loop wakes this process more often than it needs to look.
        if self.weighed.elapsed() < LOOK_EVERY {
            return;
        }
        self.weighed = Instant::now();
        // Without a view, `/proc` is about the whole machine.
        if self.order.has("watchdog") && self.order.has("view") && memory_bytes() > self.order.limits.memory_bytes {
            self.say(&Message::Memory);
            kernel::signal_everything(libc::SIGKILL);
        }
    }
}

/// What the processes of this sandbox hold in memory that is theirs: all but this one.
fn memory_bytes() -> u64 {
    let Ok(entries) = fs::read_dir("/proc") else { return 0 };
    let numbers = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    numbers.filter(|pid| *pid != 1).map(resident_bytes).sum::<u64>() + socket_bytes()
}

/// What sockets of the sandbox can hold, beyond the few any program has. Their content is memory of nobody, so that it
/// is counted by how much fits.
fn socket_bytes() -> u64 {
    let Ok(table) = fs::read_to_string("/proc/net/protocols") else { return 0 };
    let lines = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let sockets = lines.filter(|words| words.first().is_some_and(|name| name.starts_with("UNIX")));
    let sockets = sockets.filter_map(|words| words.get(2)?.parse::<u64>().ok()).sum::<u64>();
    sockets.saturating_sub(SOCKETS_FREE) * SOCKET_BYTES
}

fn resident_bytes(pid: u32) -> u64 {
    let Ok(status) = fs::read_to_string(format!("/proc/{pid}/status")) else { return 0 };
    // The tables that say where memory is are memory, too: one page of them for every 512 that are only looked at.
    let counted = ["RssAnon:", "RssShmem:", "VmPTE:", "VmSwap:"];
    let lines = status.lines().filter(|line| counted.iter().any(|name| line.starts_with(name)));
    let kilobytes = lines.filter_map(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    kilobytes.sum::<u64>() * 1024
}

/// The path a waiting process names. For telling only: it can change it while we read.
fn path_at(pid: i32, address: u64) -> String {
    let Ok(memory) = fs::File::open(format!("/proc/{pid}/mem")) else { return "a program".to_owned() };
    let mut bytes = Vec::new();
    let mut page = [0_u8; 256];
    while bytes.len() < PATH_BYTES_MAX {
        // A page may end earlier than the text does; then less is read.
        let Ok(length @ 1..) = memory.read_at(&mut page, address + bytes.len() as u64) else { break };
        let end = page[..length].iter().position(|byte| *byte == 0);
        bytes.extend(&page[..end.unwrap_or(length)]);
        if end.is_some() {
            break;
        }
    }
    if bytes.is_empty() { "a program".to_owned() } else { String::from_utf8_lossy(&bytes).into_owned() }
}
