//! Observes the paths that a tool uses, in the init process, to find the accesses that the sandbox denies.
//!
//! The kernel's view and Landlock rules decide; this module only reports. It sees the same view as the tool. An
//! announced call always continues, and its path is looked up here to predict whether it fails. Only paths that will
//! fail are passed to the runtime, which knows whether they exist on the host.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::hash::{BuildHasher, RandomState};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, Mode, OFlags, ResolveFlags, StatVfsMountFlags, StatxAttributes, StatxFlags};
use rustix::io::Errno;

use super::kernel::{self, PendingSyscall};
use super::launch_spec::MountStep;

/// The maximum number of different denied accesses passed on, so that a tool cannot keep the runtime busy.
const ACCESSES_MAX: usize = 10_000;

/// The maximum number of directories in which a missing path is known to be missing on the host.
const WHOLE_FOLDERS_MAX: usize = 16;

/// The maximum path length in the kernel.
const PATH_BYTES_MAX: usize = 4096;

/// What a call needs on the host to count as denied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum AccessKind {
    /// Reading a path that the view hides.
    Read,
    /// Changing or removing a visible path.
    Change,
    /// Changing or removing a path that the view hides.
    ChangeHidden,
    /// Creating or replacing a file in a directory that exists.
    Create,
    /// Creating a directory in a directory that exists.
    CreateFolder,
}

impl AccessKind {
    const ALL: [AccessKind; 5] =
        [AccessKind::Read, AccessKind::Change, AccessKind::ChangeHidden, AccessKind::Create, AccessKind::CreateFolder];

    pub(super) fn to_byte(self) -> u8 {
        Self::ALL.iter().zip(b'0'..).find(|(kind, _)| **kind == self).map_or(b'0', |(_, byte)| byte)
    }

    pub(super) fn from_byte(byte: u8) -> Option<AccessKind> {
        Self::ALL.get(usize::from(byte.checked_sub(b'0')?)).copied()
    }
}

/// An access that the view denies.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct DeniedAccess {
    pub(super) kind: AccessKind,
    /// The absolute path. It may contain `..` and links.
    pub(super) path: PathBuf,
}

/// How a call uses a path.
#[derive(Clone, Copy, Debug)]
enum PathUse {
    /// Reads it, following a link at its end or not.
    Read { follows_link: bool },
    /// Opens it for writing, and may create it.
    Write { may_create: bool },
    /// Creates an entry that does not exist yet.
    Create,
    /// Creates a directory that does not exist yet.
    CreateFolder,
    /// Removes the entry.
    Remove,
    /// Creates the entry or replaces it.
    Replace,
    /// Changes attributes or the length.
    Change,
}

/// Finds the denied accesses of a tool, each once.
#[derive(Default)]
pub(super) struct AccessObserver {
    /// Hashes of the accesses that were passed on.
    seen: HashSet<u64>,
    hashes: RandomState,
    whole_folders: Vec<WholeFolder>,
}

/// A directory that the view shows as it is on the host, with nothing else in it.
struct WholeFolder {
    path: PathBuf,
    opened: OwnedFd,
}

impl WholeFolder {
    /// Whether a path below this directory is missing on the host as well. Programs try many such paths when they start,
    /// and the runtime need not look at them. Behind a link, the view and the host may differ.
    fn lacks_path(&self, path: &Path) -> bool {
        let Ok(below) = path.strip_prefix(&self.path) else { return false };
        let (Some(parent), Some(name)) = (below.parent(), below.file_name()) else { return false };
        let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        let how = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        match rustix::fs::openat2(&self.opened, parent, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), how) {
            Ok(folder) => matches!(
                rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW),
                Err(Errno::NOENT | Errno::NOTDIR)
            ),
            Err(error) => error == Errno::NOENT,
        }
    }
}

impl AccessObserver {
    /// Prepares to observe a tool in a view, which must be in place.
    pub(super) fn for_view(steps: &[MountStep]) -> Self {
        let is_whole = |step: &&MountStep| {
            let MountStep::Folder { source, target, is_writable: false, .. } = step else { return false };
            let is_below = |other: &MountStep| other.target() != target && other.target().starts_with(target);
            source == target && !steps.iter().any(is_below)
        };
        let open = |step: &MountStep| {
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let opened = rustix::fs::open(step.target(), flags, Mode::empty()).ok()?;
            Some(WholeFolder { path: step.target().to_path_buf(), opened })
        };
        let whole_folders = steps.iter().filter(is_whole).filter_map(open).take(WHOLE_FOLDERS_MAX).collect();
        Self { whole_folders, ..Self::default() }
    }

    /// Returns the accesses of an announced call that will be denied and were not seen before.
    pub(super) fn find_denied(&mut self, asked: &PendingSyscall) -> Vec<DeniedAccess> {
        let mut found = Vec::new();
        for (folder, address, path_use) in list_path_arguments(asked) {
            if self.seen.len() >= ACCESSES_MAX {
                break;
            }
            let Some(path) = read_absolute_path(asked.pid, folder, address) else { continue };
            // These have their own versions in every sandbox, and links to the reading process.
            if ["/proc", "/dev"].iter().any(|own| path.starts_with(own)) {
                continue;
            }
            let Some(kind) = predict_denial(&path, path_use) else { continue };
            if kind == AccessKind::Read && self.whole_folders.iter().any(|folder| folder.lacks_path(&path)) {
                continue;
            }
            let access = DeniedAccess { kind, path };
            if self.seen.insert(self.hashes.hash_one(&access)) {
                found.push(access);
            }
        }
        found
    }
}

/// A directory descriptor or the working directory, the address of a path, and its use.
type PathArgument = (Option<i32>, u64, PathUse);

/// Returns the paths of a call. Every call in `PATH_CALLS` and the path rules of the filter is listed.
fn list_path_arguments(asked: &PendingSyscall) -> Vec<PathArgument> {
    let [first, second, third, fourth, ..] = asked.arguments;
    #[expect(clippy::cast_possible_truncation, reason = "the kernel uses the low half of descriptors and flags")]
    let low = |argument: u64| argument as u32;
    let folder = |argument: u64| Some(low(argument).cast_signed()).filter(|number| *number != libc::AT_FDCWD);
    let has = |argument: u64, flag: i32| low(argument) & flag.cast_unsigned() != 0;
    let here = |address: u64, path_use: PathUse| vec![(None, address, path_use)];
    let at = |path_use: PathUse| vec![(folder(first), second, path_use)];
    let open = |flags: u64| {
        let creates = has(flags, libc::O_CREAT) || has(flags, libc::O_TMPFILE & !libc::O_DIRECTORY);
        if has(flags, libc::O_WRONLY | libc::O_RDWR | libc::O_TRUNC | libc::O_CREAT) {
            PathUse::Write { may_create: creates }
        } else {
            PathUse::Read { follows_link: !has(flags, libc::O_NOFOLLOW) }
        }
    };
    let stat = |flags: u64| PathUse::Read { follows_link: !has(flags, libc::AT_SYMLINK_NOFOLLOW) };
    let follow = PathUse::Read { follows_link: true };
    match asked.call {
        libc::SYS_open => here(first, open(second)),
        libc::SYS_openat => at(open(third)),
        libc::SYS_creat => here(first, PathUse::Write { may_create: true }),
        libc::SYS_stat | libc::SYS_access | libc::SYS_chdir => here(first, follow),
        libc::SYS_lstat => here(first, PathUse::Read { follows_link: false }),
        libc::SYS_newfstatat | libc::SYS_faccessat2 => at(stat(fourth)),
        libc::SYS_statx => at(stat(third)),
        libc::SYS_faccessat => at(follow),
        libc::SYS_mkdir => here(first, PathUse::CreateFolder),
        libc::SYS_mkdirat => at(PathUse::CreateFolder),
        libc::SYS_mknod => here(first, PathUse::Create),
        libc::SYS_mknodat => at(PathUse::Create),
        libc::SYS_symlink => here(second, PathUse::Create),
        libc::SYS_symlinkat => vec![(folder(second), third, PathUse::Create)],
        libc::SYS_link => vec![(None, first, follow), (None, second, PathUse::Create)],
        libc::SYS_linkat => vec![(folder(first), second, follow), (folder(third), fourth, PathUse::Create)],
        libc::SYS_unlink | libc::SYS_rmdir => here(first, PathUse::Remove),
        libc::SYS_unlinkat => at(PathUse::Remove),
        libc::SYS_rename => vec![(None, first, PathUse::Remove), (None, second, PathUse::Replace)],
        libc::SYS_renameat | libc::SYS_renameat2 => {
            vec![(folder(first), second, PathUse::Remove), (folder(third), fourth, PathUse::Replace)]
        }
        libc::SYS_fchmodat | libc::SYS_fchownat | libc::SYS_utimensat | libc::SYS_futimesat => at(PathUse::Change),
        call if call == super::seccomp::SYS_FCHMODAT2 => at(PathUse::Change),
        // The remaining calls change the file that their first argument names.
        _ => here(first, PathUse::Change),
    }
}

/// Returns the kind of denial that a use of a path will cause in this view.
fn predict_denial(path: &Path, path_use: PathUse) -> Option<AccessKind> {
    match path_use {
        PathUse::Read { follows_link } => {
            let flags = if follows_link { AtFlags::empty() } else { AtFlags::SYMLINK_NOFOLLOW };
            is_missing(path, flags).then_some(AccessKind::Read)
        }
        PathUse::Write { may_create } => match rustix::fs::accessat(CWD, path, Access::WRITE_OK, AtFlags::empty()) {
            Ok(()) => None,
            Err(Errno::NOENT | Errno::NOTDIR) if !may_create => Some(AccessKind::ChangeHidden),
            Err(Errno::NOENT | Errno::NOTDIR) => (!can_change_parent(path)).then_some(AccessKind::Create),
            Err(_) => is_read_only(path).then_some(AccessKind::Create),
        },
        // An entry that exists is an error for everybody.
        PathUse::Create | PathUse::CreateFolder if !is_missing(path, AtFlags::SYMLINK_NOFOLLOW) => None,
        PathUse::Create => (!can_change_parent(path)).then_some(AccessKind::Create),
        PathUse::CreateFolder => (!can_change_parent(path)).then_some(AccessKind::CreateFolder),
        PathUse::Remove if is_missing(path, AtFlags::SYMLINK_NOFOLLOW) => Some(AccessKind::ChangeHidden),
        PathUse::Remove => (!can_change_parent(path) || is_mount_point(path)).then_some(AccessKind::Change),
        PathUse::Replace => (!can_change_parent(path) || is_mount_point(path)).then_some(AccessKind::Create),
        PathUse::Change if is_missing(path, AtFlags::empty()) => Some(AccessKind::ChangeHidden),
        PathUse::Change => is_read_only(path).then_some(AccessKind::Change),
    }
}

/// Whether a path does not exist in this view. Other errors are not caused by the view.
fn is_missing(path: &Path, flags: AtFlags) -> bool {
    matches!(rustix::fs::statat(CWD, path, flags), Err(Errno::NOENT | Errno::NOTDIR))
}

/// Whether the view allows changing the directory that contains a path. Modes of files count as allowed, because no
/// declaration changes them.
fn can_change_parent(path: &Path) -> bool {
    let Some(parent) = path.parent() else { return false };
    match rustix::fs::accessat(CWD, parent, Access::WRITE_OK, AtFlags::empty()) {
        Ok(()) => true,
        Err(Errno::NOENT | Errno::NOTDIR) => false,
        Err(_) => !is_read_only(parent),
    }
}

fn is_read_only(path: &Path) -> bool {
    rustix::fs::statvfs(path).is_ok_and(|stat| stat.f_flag.contains(StatVfsMountFlags::RDONLY))
}

/// Whether a path is mounted by itself. Such a path cannot be removed or replaced.
fn is_mount_point(path: &Path) -> bool {
    let flags = AtFlags::SYMLINK_NOFOLLOW;
    rustix::fs::statx(CWD, path, flags, StatxFlags::TYPE)
        .is_ok_and(|stat| stat.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
}

/// Reads a path argument of a waiting process and makes it absolute. Use it only for reports: the process can change
/// the path at any time.
fn read_absolute_path(pid: i32, folder: Option<i32>, address: u64) -> Option<PathBuf> {
    let bytes = read_string(pid, address)?;
    let path = Path::new(OsStr::from_bytes(&bytes));
    if path.is_absolute() {
        return Some(path.to_path_buf());
    }
    if bytes.is_empty() {
        return None;
    }
    let base = match folder {
        None => format!("/proc/{pid}/cwd"),
        Some(number) => format!("/proc/{pid}/fd/{number}"),
    };
    let base = PathBuf::from(std::ffi::OsString::from_vec(rustix::fs::readlink(base, Vec::new()).ok()?.into_bytes()));
    base.is_absolute().then(|| base.join(path))
}

/// Reads a string of a waiting process. Returns `None` if it has no end or is not readable.
pub(super) fn read_string(pid: i32, address: u64) -> Option<Vec<u8>> {
    const PAGE: u64 = 4096;
    let mut bytes = Vec::new();
    let mut chunk = [0_u8; 256];
    while address != 0 && bytes.len() < PATH_BYTES_MAX {
        let at = address.checked_add(bytes.len() as u64)?;
        // The next page may not be readable.
        let length = usize::try_from(PAGE - at % PAGE).map_or(chunk.len(), |rest| rest.min(chunk.len()));
        let length = kernel::read_process_memory(pid, at, &mut chunk[..length]).ok().filter(|length| *length > 0)?;
        match chunk[..length].iter().position(|byte| *byte == 0) {
            Some(end) => {
                bytes.extend(&chunk[..end]);
                return Some(bytes);
            }
            None => bytes.extend(&chunk[..length]),
        }
    }
    None
}
