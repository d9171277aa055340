//! The last steps before a process executes the tool: limits, capabilities, Landlock, seccomp. They cannot be undone.
#![expect(clippy::disallowed_methods, reason = "ID maps of its user namespace are files")]

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;

use rustix::fs::Mode;
use rustix::io::FdFlags;
use rustix::process::{DumpableBehavior, Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{CapabilitySet, CapabilitySets};

use super::control::{self, ControlMessage, StartupError};
use super::launch::to_c_string;
use super::launch_spec::{LaunchSpec, ToolIdentity};
use super::seccomp::{self, FilterOptions};
use super::{init, kernel, landlock, mounts};

/// Executes the tool, or reports why that failed and exits.
pub(super) fn run_tool(order: &LaunchSpec, line: OwnedFd, channel: Option<&OwnedFd>) -> ! {
    let trouble = become_tool(order, &line, channel);
    // If sending fails, the sandbox is already ending.
    let _ = control::send_message(&line, &trouble.into_message());
    drop(line);
    kernel::exit_now(127)
}

fn become_tool(order: &LaunchSpec, line: &OwnedFd, channel: Option<&OwnedFd>) -> StartupError {
    let prepared = (|| {
        if order.identity == ToolIdentity::Mapped {
            map_users()?;
        }
        kernel::reset_signals();
        let calls = |what: &str, error: io::Error| StartupError::unavailable(format!("{what}: {error}"), KERNEL_REMEDY);
        // A new session, so that the tool cannot reach the caller's terminal.
        rustix::process::setsid().map_err(|error| calls("could not create a session", error.into()))?;
        rustix::process::umask(Mode::from_raw_mode(init::UMASK));
        rustix::process::chdir(&order.folder)
            .map_err(|error| StartupError::Unstartable(format!("`{}`: {error}", order.folder.display())))?;
        if order.has_layer("limits") {
            apply_limits(order).map_err(|error| calls("could not set limits", error))?;
        }
        if order.has_layer("capabilities") {
            drop_capabilities().map_err(|error| calls("could not drop capabilities", error))?;
        }
        rustix::thread::set_no_new_privs(true).map_err(|error| calls("no_new_privs", error.into()))?;
        if order.has_layer("landlock") {
            let state = landlock::restrict_process(order)?;
            report_message(line, &ControlMessage::Layer("landlock".to_owned(), state))?;
        }
        let program = encode_c_string(order.program.as_os_str().as_bytes())?;
        let argv = order.argv.iter().map(|word| encode_c_string(word)).collect::<Result<Vec<_>, _>>()?;
        let env = order.env.iter().map(|word| encode_c_string(word)).collect::<Result<Vec<_>, _>>()?;
        if order.has_layer("seccomp") {
            let filter = seccomp::build_filter(FilterOptions {
                allow_subprocess: order.allow_subprocess,
                has_network: !order.ports.is_empty(),
                observes_paths: order.has_layer("observer"),
            });
            let listener = kernel::install_filter(&filter).map_err(|error| {
                StartupError::unavailable(
                    format!("could not install the seccomp filter: {error}"),
                    "use a kernel built with seccomp filters and user notification",
                )
            })?;
            report_message(line, &ControlMessage::Descriptors(vec![listener]))?;
        }
        kernel::close_on_exec_from(3).map_err(|error| calls("close_range", error))?;
        if let Some(channel) = channel {
            rustix::io::fcntl_setfd(channel, FdFlags::empty()).map_err(|error| calls("channel", error.into()))?;
        }
        Ok((program, argv, env))
    })();
    match prepared {
        Ok((program, argv, env)) => {
            StartupError::Unstartable(kernel::execute_program(&program, &argv, &env).to_string())
        }
        Err(trouble) => trouble,
    }
}

const KERNEL_REMEDY: &str = "use Linux 5.12 or newer with user namespaces";

fn report_message(line: &OwnedFd, message: &ControlMessage) -> Result<(), StartupError> {
    control::send_message(line, message)
        .map_err(|error| StartupError::unavailable(format!("control socket: {error}"), KERNEL_REMEDY))
}

fn encode_c_string(bytes: &[u8]) -> Result<std::ffi::CString, StartupError> {
    to_c_string(bytes).map_err(|error| StartupError::Unstartable(format!("invalid argument or variable: {error}")))
}

/// Maps only this user, as 1000, in the tool's user namespace.
fn map_users() -> Result<(), StartupError> {
    let told = |error: io::Error| StartupError::Unmappable(format!("could not map the tool's user namespace: {error}"));
    // The `/proc` files of a non-dumpable process belong to root. The tool is not running yet, so this is safe.
    rustix::process::set_dumpable_behavior(DumpableBehavior::Dumpable).map_err(|error| told(error.into()))?;
    fs::write("/proc/self/setgroups", "deny").map_err(told)?;
    fs::write("/proc/self/uid_map", format!("1000 {} 1", mounts::UNPRIVILEGED_ID)).map_err(told)?;
    fs::write("/proc/self/gid_map", format!("1000 {} 1", mounts::UNPRIVILEGED_ID)).map_err(told)
}

fn apply_limits(order: &LaunchSpec) -> io::Result<()> {
    let limits = &order.limits;
    // The watchdog kills and reports a tool that uses too much memory. This limit stops faster allocations.
    let data = limits.memory_bytes.saturating_mul(2);
    for (resource, soft, hard) in [
        (Resource::Nofile, limits.open_files, limits.open_files),
        (Resource::Nproc, limits.processes, limits.processes),
        (Resource::Fsize, limits.file_bytes, limits.file_bytes),
        // First a signal that can be handled, then SIGKILL.
        (Resource::Cpu, limits.cpu_s, limits.cpu_s.saturating_add(1)),
        (Resource::Data, data, data),
        // Not 0: with 0, a program that collects core dumps would still get the memory, including secrets.
        (Resource::Core, 1, 1),
        (Resource::Memlock, 64 << 10, 64 << 10),
        (Resource::Msgqueue, 0, 0),
        (Resource::Sigpending, 1024, 1024),
    ] {
        // Limits are never raised: the caller may have lower ones.
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
            // The kernel does not know this capability.
            Ok(()) | Err(rustix::io::Errno::INVAL) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let none = CapabilitySet::empty();
    rustix::thread::set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?;
    Ok(())
}
