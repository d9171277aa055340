//! Judges denied accesses on the host: whether the path exists there, and which declaration would allow the access.
//!
//! The tool chooses the paths, so looking them up must have no effect. The lookup opens no file for reading, and enters
//! neither automount points nor network file systems outside the workspace.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags};

use super::Denial;
use super::launch_spec::MountStep;
use super::observer::{AccessKind, DeniedAccess};
use rep_permissions::RunPermissions;

/// File systems whose lookups leave this machine or have effects: autofs, NFS, SMB, FUSE, 9P, AFS, Ceph and Coda.
const REMOTE_FILE_SYSTEMS: &[u32] = &[
    0x0187,
    0x6969,
    0x517b,
    0xff53_4d42,
    0xfe53_4d42,
    0x6573_5546,
    0x0102_1997,
    0x5346_414f,
    0x6b41_4653,
    0x00c3_6400,
    0x7375_7245,
];

/// Where the C library and interpreters look for settings of the machine, whatever the tool does.
const PROBED_PLACES: &[&str] = &[
    "/etc/bash.bashrc",
    "/etc/gai.conf",
    "/etc/host.conf",
    "/etc/inputrc",
    "/etc/ld.so.preload",
    "/etc/locale.alias",
    "/etc/profile",
    "/etc/services",
    "/etc/terminfo",
    "/sys/devices/system",
    "/sys/fs/cgroup",
    "/sys/kernel/mm",
];

/// What interpreters look for in every directory above a script.
const PROBED_NAMES: &[&str] =
    &["deno.json", "deno.jsonc", "node_modules", "package.json", "package-lock.json", "pyvenv.cfg", "tsconfig.json"];

/// The maximum number of links followed in one path, as in the kernel.
const LINKS_MAX: usize = 40;

/// The permissions of a run, and the directories it sees.
pub(super) struct HostLookup<'a> {
    /// The steps that built the view, sorted by target.
    pub(super) steps: &'a [MountStep],
    pub(super) workspace: &'a Path,
    pub(super) permissions: &'a RunPermissions,
    /// The directories of the skill and the interpreter.
    pub(super) readable: &'a [PathBuf],
}

impl HostLookup<'_> {
    /// Returns the denial to report for an access, or `None` if it would fail on the host as well.
    pub(super) fn explain_access(&self, access: &DeniedAccess) -> Option<Denial> {
        let (path, kind) = match access.kind {
            AccessKind::Read => self.resolve_path(&access.path, true)?,
            AccessKind::Change | AccessKind::ChangeHidden => self.resolve_path(&access.path, false)?,
            AccessKind::Create | AccessKind::CreateFolder => {
                let (parent, kind) = self.resolve_path(access.path.parent()?, true)?;
                if kind != FileType::Directory {
                    return None;
                }
                (parent.join(access.path.file_name()?), kind)
            }
        };
        let was_missing = matches!(access.kind, AccessKind::Read | AccessKind::ChangeHidden);
        if was_missing && self.is_shown_as_it_is(&path) {
            return None;
        }
        if access.kind == AccessKind::Read && self.is_probe(&access.path, &path) {
            return None;
        }
        let is_folder = match access.kind {
            AccessKind::Create => false,
            AccessKind::CreateFolder => true,
            AccessKind::Read | AccessKind::Change | AccessKind::ChangeHidden => kind == FileType::Directory,
        };
        let action = if access.kind == AccessKind::Read { "read" } else { "write" };
        let suggestion = self.suggest_declaration(action, &path, is_folder);
        let target = path.strip_prefix(self.workspace).unwrap_or(&path).to_string_lossy().into_owned();
        let target = if target.is_empty() { ".".to_owned() } else { target };
        Some(Denial { action, target, suggestion })
    }

    /// Whether the view shows the directory of a path as it is on the host. A path that was missing in the view was
    /// missing there too, even if the tool has created it since.
    fn is_shown_as_it_is(&self, path: &Path) -> bool {
        let find_step = |folder: &Path| {
            self.steps.binary_search_by(|step| step.target().cmp(folder)).ok().map(|at| &self.steps[at])
        };
        matches!(path.ancestors().skip(1).find_map(find_step), Some(MountStep::Folder { .. }))
    }

    /// Whether an interpreter or a library looks for this path by itself.
    fn is_probe(&self, named: &Path, path: &Path) -> bool {
        // A link in a system directory, such as the settings of an interpreter.
        let is_system = ["/usr", "/lib", "/lib64", "/bin", "/sbin"].iter().any(|system| named.starts_with(system));
        let is_above = |folder: &Path| self.readable.iter().any(|own| own.starts_with(folder));
        let is_setting = path.file_name().and_then(OsStr::to_str).is_some_and(|name| PROBED_NAMES.contains(&name));
        PROBED_PLACES.iter().any(|place| named.starts_with(place) || path.starts_with(place))
            || is_system
            || is_setting && path.parent().is_some_and(is_above)
    }

    /// Returns the declaration that would allow an access. Nothing allows access to protected paths, to the skill's own
    /// directory or to the root directory.
    fn suggest_declaration(&self, action: &str, path: &Path, is_folder: bool) -> Option<String> {
        let permissions = self.permissions;
        let inside = path.strip_prefix(self.workspace).ok();
        let (folder, relative) = match inside {
            Some(relative) => (None, relative.to_str()?),
            None => {
                (Some(path.parent().filter(|parent| parent.components().count() > 1)?), path.file_name()?.to_str()?)
            }
        };
        let is_covered = |globs: &[rep_permissions::glob::Glob]| globs.iter().any(|glob| glob.matches(relative));
        let is_declared = match action {
            "read" => is_covered(&permissions.read) || is_covered(&permissions.write),
            _ => is_covered(&permissions.write),
        };
        let is_in_skill = action != "read" && self.readable.iter().any(|own| path.starts_with(own));
        if inside.is_some() && is_declared || is_in_skill || relative.is_empty() {
            return None;
        }
        let pattern = if is_folder { format!("{relative}/**") } else { relative.to_owned() };
        let declaration = format!("permissions.filesystem.{action}: [{}]", serde_json::Value::from(pattern));
        Some(match folder {
            None => declaration,
            Some(folder) => format!("{declaration} in a run whose workspace is {}", folder.display()),
        })
    }

    /// Resolves an absolute path on the host, component by component. Returns the path without links and its file type.
    fn resolve_path(&self, path: &Path, follows_last_link: bool) -> Option<(PathBuf, FileType)> {
        let mut rest: VecDeque<OsString> = list_names(path).collect();
        let mut real = PathBuf::from("/");
        let mut at = open_path(rustix::fs::CWD, OsStr::new("/"))?;
        let mut device = rustix::fs::fstat(&at).ok()?.st_dev;
        let mut kind = FileType::Directory;
        let mut links = 0;
        while let Some(name) = rest.pop_front() {
            if kind != FileType::Directory {
                return None;
            }
            let next = open_path(&at, &name)?;
            let stat = rustix::fs::fstat(&next).ok()?;
            let next_kind = FileType::from_raw_mode(stat.st_mode);
            if next_kind == FileType::Symlink && (follows_last_link || !rest.is_empty()) {
                links += 1;
                if links > LINKS_MAX {
                    return None;
                }
                let target = rustix::fs::readlinkat(&next, "", Vec::new()).ok()?;
                let target = PathBuf::from(OsString::from_vec(target.into_bytes()));
                if target.is_absolute() {
                    at = open_path(rustix::fs::CWD, OsStr::new("/"))?;
                    device = rustix::fs::fstat(&at).ok()?.st_dev;
                    real = PathBuf::from("/");
                }
                list_names(&target).collect::<Vec<_>>().into_iter().rev().for_each(|name| rest.push_front(name));
                continue;
            }
            if name == ".." {
                real.pop();
            } else {
                real.push(&name);
            }
            if stat.st_dev != device && !self.may_enter(&real, &next) {
                return None;
            }
            (at, device, kind) = (next, stat.st_dev, next_kind);
        }
        Some((real, kind))
    }

    /// Whether the lookup may continue in another file system.
    fn may_enter(&self, path: &Path, opened: &OwnedFd) -> bool {
        if self.workspace.starts_with(path) || path.starts_with(self.workspace) {
            return true;
        }
        let is_remote = |kind: i64| REMOTE_FILE_SYSTEMS.iter().any(|remote| i64::from(*remote) == kind);
        rustix::fs::fstatfs(opened).is_ok_and(|stat| !is_remote(stat.f_type))
    }
}

/// Returns the names in a path, including `..`.
fn list_names(path: &Path) -> impl Iterator<Item = OsString> {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        _ => None,
    })
}

/// Opens an entry only to inspect it. This triggers no automount and does not wait for a pipe.
fn open_path(folder: impl std::os::fd::AsFd, name: &OsStr) -> Option<OwnedFd> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(folder, name, flags, Mode::empty()).ok()
}
