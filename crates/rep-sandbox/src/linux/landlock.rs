//! Landlock rules as a second layer, for restrictions that the mount view cannot express.
//!
//! The view decides which files exist. The rules ensure that only the program is executed, that no links or pipes are
//! created in directories that others use, and that no signal leaves the sandbox. All rules that the kernel supports
//! are required.

use std::path::Path;

use ::landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, NetPort, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetStatus, Scope,
};

use super::control::StartupError;
use super::kernel;
use super::launch_spec::LaunchSpec;

/// The supported versions, newest first.
const VERSIONS: &[(u32, ABI)] =
    &[(7, ABI::V7), (6, ABI::V6), (5, ABI::V5), (4, ABI::V4), (3, ABI::V3), (2, ABI::V2), (1, ABI::V1)];

/// Restricts this process permanently, and returns what was enforced.
pub(super) fn restrict_process(order: &LaunchSpec) -> Result<String, StartupError> {
    let Some((number, abi)) = find_version() else {
        return Ok("absent: the kernel does not support Landlock".to_owned());
    };
    let told = |error: &dyn std::fmt::Display| {
        StartupError::unavailable(format!("landlock (abi {number}): {error}"), "check the kernel's security modules")
    };
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(abi))
        .map_err(|error| told(&error))?;
    if number >= 4 {
        rules = rules.handle_access(AccessNet::BindTcp | AccessNet::ConnectTcp).map_err(|error| told(&error))?;
    }
    if number >= 6 {
        rules = rules.scope(Scope::AbstractUnixSocket | Scope::Signal).map_err(|error| told(&error))?;
    }
    let mut rules = rules.create().map_err(|error| told(&error))?;
    for (path, access) in list_path_rules(order, abi) {
        rules = add_path_rule(rules, path, access, abi).map_err(|error| told(&error))?;
    }
    if number >= 4 && !order.ports.is_empty() {
        for port in order.ports.iter().copied().chain([53]) {
            rules = rules.add_rule(NetPort::new(port, AccessNet::ConnectTcp)).map_err(|error| told(&error))?;
        }
    }
    let status = rules.restrict_self().map_err(|error| told(&error))?;
    if status.ruleset != RulesetStatus::FullyEnforced {
        return Err(told(&format!("{:?}", status.ruleset)));
    }
    Ok(format!("enforced (abi {number})"))
}

/// Returns the newest version that both the kernel and this module support.
pub(super) fn find_version() -> Option<(u32, ABI)> {
    let known = kernel::landlock_version()?;
    VERSIONS.iter().copied().find(|(number, _)| *number <= known)
}

fn list_path_rules(order: &LaunchSpec, abi: ABI) -> Vec<(&Path, BitFlags<AccessFs>)> {
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    let write = AccessFs::from_write(abi);
    // Entries that another program might follow, wait on or open are not created in shared directories.
    let bait = AccessFs::MakeSym
        | AccessFs::MakeFifo
        | AccessFs::MakeSock
        | AccessFs::MakeChar
        | AccessFs::MakeBlock
        | AccessFs::IoctlDev;
    let private = write & !(AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev);
    let mut paths: Vec<(&Path, BitFlags<AccessFs>)> = vec![
        (Path::new("/"), AccessFs::ReadDir.into()),
        (Path::new("/etc"), read),
        (Path::new("/proc"), read),
        (Path::new("/dev/shm"), read | private),
        (&order.temporary, read | private),
        (&order.folder, read),
    ];
    for device in ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"] {
        paths.push((Path::new(device), AccessFs::ReadFile | AccessFs::WriteFile));
    }
    paths.extend(order.readable.iter().map(|path| (path.as_path(), read)));
    paths.extend(order.writable.iter().map(|path| (path.as_path(), read | (write & !bait))));
    paths.extend(order.runnable.iter().map(|path| (path.as_path(), read | AccessFs::Execute)));
    paths
}

/// Adds a rule. A missing path is an error, so that no rule is dropped silently.
fn add_path_rule(
    rules: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
    abi: ABI,
) -> Result<RulesetCreated, String> {
    let named = |error: &dyn std::fmt::Display| format!("`{}`: {error}", path.display());
    let opened = PathFd::new(path).map_err(|error| named(&error))?;
    let known = access & AccessFs::from_all(abi);
    let stat = rustix::fs::stat(path).map_err(|error| named(&error))?;
    let is_folder = rustix::fs::FileType::from_raw_mode(stat.st_mode).is_dir();
    let access = if is_folder { known } else { known & AccessFs::from_file(abi) };
    rules.add_rule(PathBeneath::new(opened, access)).map_err(|error| named(&error))
}
