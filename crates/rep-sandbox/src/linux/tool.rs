//! The last steps before a process becomes the tool: limits, no capabilities, Landlock, seccomp. Then no way back.
#![expect(clippy::disallowed_methods, reason = "maps of its own user namespace are files")]

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;

use rustix::fs::Mode;
use rustix::io::FdFlags;
use rustix::process::{DumpableBehavior, Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{CapabilitySet, CapabilitySets};

use super::control::{self, Message, Trouble};
use super::launch::c_string;
use super::order::{Identity, Order};
use super::{kernel, landlock, mounts, seccomp};

/// Becomes the tool, or says why not and ends.
pub(super) fn live(order: &Order, line: OwnedFd, channel: Option<&OwnedFd>) -> ! {
    let trouble = become_tool(order, &line, channel);
    // If nobody listens, the sandbox is already ending.
    let _ = control::send(&line, &trouble.into_message());
    drop(line);
    kernel::exit_now(127)
}

fn become_tool(order: &Order, line: &OwnedFd, channel: Option<&OwnedFd>) -> Trouble {
    let prepared = (|| {
        if order.identity == Identity::Mapped {
            map_users()?;
        }
        kernel::reset_signals();
        let calls = |what: &str, error: io::Error| Trouble::missing(format!("{what}: {error}"), NEWER);
        // A session of its own, so that no terminal of the caller can be reached.
        rustix::process::setsid().map_err(|error| calls("a session", error.into()))?;
        rustix::process::umask(Mode::from_raw_mode(0o022));
        rustix::process::chdir(&order.folder)
            .map_err(|error| Trouble::Unstartable(format!("`{}`: {error}", order.folder.display())))?;
        if order.has("limits") {
            limit(order).map_err(|error| calls("limits", error))?;
        }
        if order.has("capabilities") {
            drop_capabilities().map_err(|error| calls("dropping capabilities", error))?;
        }
        rustix::thread::set_no_new_privs(true).map_err(|error| calls("no_new_privs", error.into()))?;
        if order.has("landlock") {
            let state = landlock::restrict(order)?;
            say(line, &Message::Layer("landlock".to_owned(), state))?;
        }
        let program = text(order.program.as_os_str().as_bytes())?;
        let argv = order.argv.iter().map(|word| text(word)).collect::<Result<Vec<_>, _>>()?;
        let env = order.env.iter().map(|word| text(word)).collect::<Result<Vec<_>, _>>()?;
        if order.has("seccomp") {
            let filter = seccomp::filter(order.allow_subprocess, !order.ports.is_empty());
            let listener = kernel::install_filter(&filter).map_err(|error| {
                Trouble::missing(
                    format!("seccomp filters that ask: {error}"),
                    "use a kernel that is built with seccomp filters",
                )
            })?;
            say(line, &Message::Descriptors(vec![listener]))?;
        }
        kernel::close_on_exec_from(3).map_err(|error| calls("close_range", error))?;
        if let Some(channel) = channel {
            rustix::io::fcntl_setfd(channel, FdFlags::empty()).map_err(|error| calls("its channel", error.into()))?;
        }
        Ok((program, argv, env))
    })();
    match prepared {
        Ok((program, argv, env)) => Trouble::Unstartable(kernel::execute(&program, &argv, &env).to_string()),
        Err(trouble) => trouble,
    }
}

const NEWER: &str = "use a kernel of version 5.12 or newer, with user namespaces";

fn say(line: &OwnedFd, message: &Message) -> Result<(), Trouble> {
    control::send(line, message).map_err(|error| Trouble::missing(format!("the control line: {error}"), NEWER))
}

fn text(bytes: &[u8]) -> Result<std::ffi::CString, Trouble> {
    c_string(bytes).map_err(|error| Trouble::Unstartable(format!("an argument or variable: {error}")))
}

/// In a user namespace of its own, this user is 1000 and nobody else exists.
fn map_users() -> Result<(), Trouble> {
    let told = |error: io::Error| Trouble::Unmappable(format!("a user namespace for the tool: {error}"));
    // The files of a process that hides belong to root. The tool does not exist yet, so nobody can look.
    rustix::process::set_dumpable_behavior(DumpableBehavior::Dumpable).map_err(|error| told(error.into()))?;
    fs::write("/proc/self/setgroups", "deny").map_err(told)?;
    fs::write("/proc/self/uid_map", format!("1000 {} 1", mounts::NO_ONE)).map_err(told)?;
    fs::write("/proc/self/gid_map", format!("1000 {} 1", mounts::NO_ONE)).map_err(told)
}

fn limit(order: &Order) -> io::Result<()> {
    let limits = &order.limits;
    // The watchdog ends a tool that uses too much memory and says so; this is for one that is quicker.
    let data = limits.memory_bytes.saturating_mul(2);
    for (resource, soft, hard) in [
        (Resource::Nofile, limits.open_files, limits.open_files),
        (Resource::Nproc, limits.processes, limits.processes),
        (Resource::Fsize, limits.file_bytes, limits.file_bytes),
        // First a signal that can be handled, then the one that cannot.
        (Resource::Cpu, limits.cpu_s, limits.cpu_s.saturating_add(1)),
        (Resource::Data, data, data),
        // 1 and not 0: with 0 a program that collects cores would still be handed the memory, secrets and all.
        (Resource::Core, 1, 1),
        (Resource::Memlock, 64 << 10, 64 << 10),
        (Resource::Msgqueue, 0, 0),
        (Resource::Sigpending, 1024, 1024),
    ] {
        // Never raised: the caller may be limited himself.
        let ceiling = getrlimit(resource).maximum.unwrap_or(u64::MAX);
        let hard = hard.min(ceiling);
        setrlimit(resource, Rlimit { current: Some(soft.min(hard)), maximum: Some(hard) })?;
    }
    Ok(())
}

fn drop_capabilities() -> io::Result<()> {
    rustix::thread::clear_ambient_capability_set()?;
    for number in 0..64 {
        let Some(capability) = CapabilitySet::from_bits(1 << number) else { break };
        match rustix::thread::remove_capability_from_bounding_set(capability) {
            // The kernel does not know it.
            Ok(()) | Err(rustix::io::Errno::INVAL) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let none = CapabilitySet::empty();
    rustix::thread::set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?;
    Ok(())
}
