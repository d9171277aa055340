//! Builds the file system that a tool sees: an empty root with the granted paths. Paths that are not mounted do not
//! exist.
//!
//! Runs in the init process. Sources are opened below the old root and targets below the new one, both component by
//! component without following links, so that no link can redirect a mount.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Gid, Mode, OFlags, RenameFlags, ResolveFlags, Uid};
use rustix::mount::{
    MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags, mount, mount_bind, mount_change,
    move_mount, open_tree, unmount,
};

use super::control::StartupError;
use super::kernel::{self, NO_DEVICES, NO_EXEC, NO_SUID, READ_ONLY};
use super::launch::to_c_string;
use super::launch_spec::{LaunchSpec, MountStep, ToolIdentity};
use super::staging::FileDigest;
use super::{id_mapping, memory, staging, view};
use rep_storage::files;

/// The unprivileged user, which owns nothing. `nobody` is one higher, and owns files on some systems.
pub(super) const UNPRIVILEGED_ID: u32 = 65_533;

/// The entries of `/proc` that programs need and that reveal nothing about other users.
const PROC_VISIBLE: &[&str] = &[
    "cpuinfo",
    "filesystems",
    "loadavg",
    "meminfo",
    "mounts",
    "net",
    "self",
    "stat",
    "thread-self",
    "uptime",
    "version",
];

/// The size of a cover, which contains mount points and no data.
const COVER_BYTES: u64 = 1 << 20;

/// The maximum number of names tried for a renamed entry.
const RENAME_TRIES_MAX: usize = 100;

const DEVICES: &[&str] = &["null", "zero", "full", "random", "urandom"];

const DEVICE_LINKS: &[(&str, &str)] = &[
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
];

/// Where the host's files are while the view is built.
const OLD_ROOT: &str = ".old";

/// Where temporary files and stages are while the view is built.
const POOL_FOLDER: &str = "/.pool";

const NO_LINKS: ResolveFlags =
    ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS).union(ResolveFlags::NO_MAGICLINKS);

/// The stages in the order of their steps, the digests of the copied files, and the kernel's list of file locks.
type BuiltView = (Vec<OwnedFd>, Vec<Option<FileDigest>>, Option<OwnedFd>);

/// Builds the view and enters it.
pub(super) fn build_view(order: &LaunchSpec) -> Result<BuiltView, StartupError> {
    let mut rooms = enter_empty_root(order).map_err(|error| {
        StartupError::unavailable(
            format!("could not mount an empty root: {error}"),
            "allow mounts in user namespaces (an AppArmor or seccomp profile may forbid them)",
        )
    })?;
    mount_proc(&rooms)?;
    limit_process_count(order.limits.processes);
    limit_tcp_buffers();
    // If the list cannot be opened, locks are not counted.
    let locks = rustix::fs::open("/proc/locks", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok();
    let (mut stages, mut copied) = (Vec::new(), Vec::new());
    rooms.mount_pool(order).map_err(|error| mount_error("temporary files", &error))?;
    rooms.mount_temporary(&order.temporary).map_err(|error| mount_error("/tmp", &error))?;
    for step in &order.steps {
        rooms.apply_step(step, &mut stages, &mut copied)?;
    }
    for step in &order.steps {
        if let MountStep::Cover { target } = step {
            rooms.make_read_only(target).map_err(|error| mount_error("cover", &error))?;
        }
    }
    rooms.mount_devices().map_err(|error| mount_error("/dev", &error))?;
    if order.has_layer("masks") {
        rooms.mask_proc().map_err(|error| mount_error("/proc", &error))?;
    }
    leave_old_root(rooms).map_err(|error| mount_error("/", &error))?;
    Ok((stages, copied, locks))
}

fn mount_error(what: &str, error: &io::Error) -> StartupError {
    StartupError::unavailable(format!("could not mount `{what}`: {error}"), "allow mounts in user namespaces")
}

struct RootBuilder {
    root: OwnedFd,
    old_root: OwnedFd,
    identity: ToolIdentity,
    /// The number of pool directories in use.
    pool_folders_used: usize,
    workspace: PathBuf,
    /// User namespaces that map files of an owner to the unprivileged user.
    owners: BTreeMap<(u32, u32), OwnedFd>,
}

fn enter_empty_root(order: &LaunchSpec) -> io::Result<RootBuilder> {
    mount_change("/", MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC)?;
    let place = ["/tmp", "/run", "/mnt"]
        .into_iter()
        .find(|place| rustix::fs::stat(*place).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode).is_dir()))
        .ok_or(io::ErrorKind::NotFound)?;
    mount("rep", place, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, c"mode=755,size=64m,nr_inodes=400k")?;
    rustix::process::chdir(place)?;
    rustix::fs::mkdir(OLD_ROOT, Mode::RWXU)?;
    rustix::process::pivot_root(".", OLD_ROOT)?;
    rustix::process::chdir("/")?;
    let root = rustix::fs::open("/", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let old = open_below(&root, Path::new(OLD_ROOT), OFlags::DIRECTORY)?;
    Ok(RootBuilder {
        root,
        old_root: old,
        identity: order.identity,
        pool_folders_used: 0,
        workspace: order.folder.clone(),
        owners: BTreeMap::new(),
    })
}

fn leave_old_root(rooms: RootBuilder) -> io::Result<()> {
    drop(rooms);
    unmount(POOL_FOLDER, UnmountFlags::DETACH)?;
    rustix::fs::rmdir(POOL_FOLDER)?;
    unmount(format!("/{OLD_ROOT}"), UnmountFlags::DETACH)?;
    rustix::fs::rmdir(format!("/{OLD_ROOT}"))?;
    let frozen = MountFlags::BIND | MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV;
    rustix::mount::mount_remount("/", frozen, c"")?;
    Ok(())
}

fn mount_proc(rooms: &RootBuilder) -> Result<(), StartupError> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    let mounted = ensure_folder(&rooms.root, Path::new("/proc"))
        .and_then(|_| Ok(mount("proc", "/proc", "proc", flags, c"hidepid=4")?));
    mounted.map_err(|error| {
        StartupError::unavailable(
            format!("could not mount a new `/proc`: {error}"),
            "run outside a container, or in one that does not mask /proc (`--security-opt systempaths=unconfined`)",
        )
    })
}

/// Sets a second limit on the number of processes, which also applies to root. Since Linux 6.14 the setting is per PID
/// namespace. Before that it is global, so it is not changed.
#[expect(clippy::disallowed_methods, reason = "kernel settings are files")]
fn limit_process_count(processes: u64) {
    /// The minimum that the kernel accepts.
    const LEAST: u64 = 301;
    let release = rustix::system::uname().release().to_string_lossy().into_owned();
    let mut numbers =
        release.split(|letter: char| !letter.is_ascii_digit()).map(|part| part.parse::<u32>().unwrap_or(0));
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if version >= (6, 14) {
        // Without it, the limit of the tool's user still applies.
        let _ = std::fs::write("/proc/sys/kernel/pid_max", processes.saturating_mul(2).max(LEAST).to_string());
    }
}

/// Limits the data that a TCP socket of this network namespace holds, because the kernel charges it to no process.
#[expect(clippy::disallowed_methods, reason = "kernel settings are files")]
fn limit_tcp_buffers() {
    for name in ["tcp_rmem", "tcp_wmem"] {
        // Without it, the limits of the machine apply.
        let _ = std::fs::write(format!("/proc/sys/net/ipv4/{name}"), memory::TCP_BUFFER_BYTES);
    }
}

impl RootBuilder {
    fn apply_step(
        &mut self,
        step: &MountStep,
        stages: &mut Vec<OwnedFd>,
        copied: &mut Vec<Option<FileDigest>>,
    ) -> Result<(), StartupError> {
        let told = |target: &Path, error: io::Error| {
            StartupError::Unstartable(format!("could not mount `{}`: {error}", target.display()))
        };
        match step {
            MountStep::Folder { source, target, is_writable, may_run } => {
                let attributes = if *is_writable { 0 } else { READ_ONLY } | if *may_run { 0 } else { NO_EXEC };
                let place = ensure_folder(&self.root, target).map_err(|error| told(target, error))?;
                self.bind_path(source, &place, attributes | NO_SUID | NO_DEVICES, target)
            }
            MountStep::File { source, target, may_run } => {
                let attributes = READ_ONLY | NO_SUID | NO_DEVICES | if *may_run { 0 } else { NO_EXEC };
                // It may have been removed since it was found; then the tool does not see it either.
                if is_gone(&self.old_root, source) {
                    return Ok(());
                }
                let place = ensure_file(&self.root, target).map_err(|error| told(target, error))?;
                self.bind_path(source, &place, attributes, target)
            }
            MountStep::Link { target, to } => self.create_link(target, to).map_err(|error| told(target, error)),
            MountStep::Text { target, bytes } => {
                self.write_text_file(target, bytes).map_err(|error| told(target, error))
            }
            MountStep::Empty { target } => {
                ensure_folder(&self.root, target).map(drop).map_err(|error| told(target, error))
            }
            MountStep::Cover { target } => ensure_folder(&self.root, target)
                .and_then(|_| self.mount_tmpfs(target, COVER_BYTES, "755"))
                .map_err(|error| told(target, error)),
            MountStep::Stage { target, .. } => {
                stages.push(self.mount_stage(target).map_err(|error| told(target, error))?);
                Ok(())
            }
            MountStep::Copy { source, .. } if is_gone(&self.old_root, source) => {
                copied.push(None);
                Ok(())
            }
            MountStep::Copy { source, target } => {
                copied.push(Some(self.copy_file(source, target).map_err(|error| told(target, error))?));
                Ok(())
            }
        }
    }

    fn bind_path(
        &mut self,
        source: &Path,
        place: &OwnedFd,
        attributes: u64,
        target: &Path,
    ) -> Result<(), StartupError> {
        let told =
            |error: io::Error| StartupError::Unstartable(format!("could not mount `{}`: {error}", source.display()));
        let opened = open_below(&self.old_root, source, OFlags::NOFOLLOW).map_err(told)?;
        let stat = rustix::fs::fstat(&opened).map_err(|error| told(error.into()))?;
        let kind = FileType::from_raw_mode(stat.st_mode);
        if !kind.is_dir() && !kind.is_file() {
            return Err(StartupError::Unstartable(format!("`{}` is no longer a regular file", source.display())));
        }
        let tree = clone_tree(&opened, kind.is_dir()).map_err(told)?;
        let owners = if self.identity == ToolIdentity::Mapped
            && (target.starts_with(&self.workspace) || !is_system_path(target))
        {
            Some(self.open_owner_namespace(stat.st_uid, stat.st_gid)?)
        } else {
            None
        };
        kernel::set_mount_attributes(&tree, attributes, owners).map_err(|error| match owners {
            Some(_) => StartupError::Unmappable(format!("could not map owners in `{}`: {error}", source.display())),
            None => told(error),
        })?;
        attach_tree(&tree, place).map_err(told)
    }

    fn open_owner_namespace(&mut self, user: u32, group: u32) -> Result<BorrowedFd<'_>, StartupError> {
        let namespace: &OwnedFd = match self.owners.entry((user, group)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(vacant) => {
                let namespace = id_mapping::create_user_namespace(user, group, UNPRIVILEGED_ID)
                    .map_err(|error| StartupError::Unmappable(format!("could not create a user namespace: {error}")))?;
                vacant.insert(namespace)
            }
        };
        Ok(namespace.as_fd())
    }

    fn create_link(&self, target: &Path, to: &Path) -> io::Result<()> {
        let (parent, name) = split_parent(&self.root, target)?;
        match rustix::fs::symlinkat(to, &parent, name) {
            // An entry with this name is already visible there, and the link is only a convenience.
            Ok(()) | Err(rustix::io::Errno::EXIST | rustix::io::Errno::ROFS) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn write_text_file(&self, target: &Path, bytes: &[u8]) -> io::Result<()> {
        let (parent, name) = split_parent(&self.root, target)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(rustix::fs::openat(&parent, name, flags, Mode::from_raw_mode(0o644))?);
        file.write_all(bytes)
    }

    /// Mounts one file system for everything kept in memory, so that a single size limit applies.
    fn mount_pool(&self, order: &LaunchSpec) -> io::Result<()> {
        let bytes_max = view::compute_pool_bytes(&order.steps, order.limits.temporary_bytes);
        ensure_folder(&self.root, Path::new(POOL_FOLDER))?;
        self.mount_tmpfs(Path::new(POOL_FOLDER), bytes_max, "700")
    }

    /// Mounts a new directory of the pool.
    fn mount_pool_folder(&mut self, target: &Path, mode: u32) -> io::Result<()> {
        let place = ensure_folder(&self.root, target)?;
        let pool = open_below(&self.root, Path::new(POOL_FOLDER), OFlags::DIRECTORY)?;
        let name = self.pool_folders_used.to_string();
        self.pool_folders_used += 1;
        rustix::fs::mkdirat(&pool, &name, Mode::RWXU)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let made = rustix::fs::openat(&pool, &name, flags, Mode::empty())?;
        rustix::fs::fchmod(&made, Mode::from_raw_mode(mode))?;
        if self.identity == ToolIdentity::Mapped {
            kernel::change_owner(&made, UNPRIVILEGED_ID)?;
        }
        attach_tree(&clone_tree(&made, false)?, &place)
    }

    fn mount_stage(&mut self, target: &Path) -> io::Result<OwnedFd> {
        self.mount_pool_folder(target, 0o755)?;
        let place = open_below(&self.root, target, OFlags::DIRECTORY)?;
        // A separate clone, so that later mounts in the stage are not visible through it.
        clone_tree(&place, false)
    }

    /// Makes a cover read-only. Its content remains.
    fn make_read_only(&self, target: &Path) -> io::Result<()> {
        let place = open_below(&self.root, target, OFlags::DIRECTORY)?;
        let frozen =
            MountFlags::BIND | MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
        Ok(rustix::mount::mount_remount(format!("/proc/self/fd/{}", place.as_raw_fd()), frozen, c"")?)
    }

    fn copy_file(&self, source: &Path, target: &Path) -> io::Result<FileDigest> {
        let opened = open_below(&self.old_root, source, OFlags::NOFOLLOW)?;
        let stat = rustix::fs::fstat(&opened)?;
        if !FileType::from_raw_mode(stat.st_mode).is_file() {
            return Err(io::Error::other("no longer a regular file"));
        }
        let how = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        let relative = source.strip_prefix("/").unwrap_or(source);
        let mut from: File =
            rustix::fs::openat2(&self.old_root, relative, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty(), how)?.into();
        let (parent, name) = split_parent(&self.root, target)?;
        self.give_parents_to_tool(target)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut to = File::from(rustix::fs::openat(&parent, name, flags, Mode::from_raw_mode(0o600))?);
        let digest = staging::copy_and_hash(&mut from, &mut to, stat.st_size.cast_unsigned())?;
        rustix::fs::fchmod(&to, Mode::from_raw_mode(stat.st_mode & 0o777 | 0o600))?;
        if self.identity == ToolIdentity::Mapped {
            kernel::change_owner(&to, UNPRIVILEGED_ID)?;
        }
        Ok(digest)
    }

    /// Gives the parent directories of a copy in a stage to the tool's user.
    fn give_parents_to_tool(&self, target: &Path) -> io::Result<()> {
        if self.identity == ToolIdentity::Own {
            return Ok(());
        }
        for folder in target.ancestors().skip(1) {
            let opened = open_below(&self.root, folder, OFlags::DIRECTORY)?;
            let is_stage = rustix::fs::fstat(&opened)?.st_uid == UNPRIVILEGED_ID;
            if is_stage {
                break;
            }
            let readable = rustix::fs::openat(&opened, ".", OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())?;
            kernel::change_owner(&readable, UNPRIVILEGED_ID)?;
        }
        Ok(())
    }

    fn mount_temporary(&mut self, target: &Path) -> io::Result<()> {
        self.mount_pool_folder(target, 0o700)?;
        let home = ensure_folder(&self.root, &target.join("home"))?;
        if self.identity == ToolIdentity::Mapped {
            rustix::fs::chownat(
                &home,
                "",
                Some(Uid::from_raw(UNPRIVILEGED_ID)),
                Some(Gid::from_raw(UNPRIVILEGED_ID)),
                AtFlags::EMPTY_PATH,
            )?;
        }
        Ok(())
    }

    fn mount_tmpfs(&self, target: &Path, bytes_max: u64, mode: &str) -> io::Result<()> {
        let owner = match self.identity {
            ToolIdentity::Own => String::new(),
            ToolIdentity::Mapped => format!(",uid={UNPRIVILEGED_ID},gid={UNPRIVILEGED_ID}"),
        };
        let options: CString = to_c_string(format!("mode={mode},size={},nr_inodes=400k{owner}", bytes_max.max(4096)))?;
        let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
        Ok(mount("rep", target, "tmpfs", flags, options.as_c_str())?)
    }

    fn mount_devices(&mut self) -> io::Result<()> {
        for name in DEVICES {
            let path = Path::new("/dev").join(name);
            let place = ensure_file(&self.root, &path)?;
            let source = open_below(&self.old_root, &path, OFlags::NOFOLLOW)?;
            let tree = clone_tree(&source, false)?;
            kernel::set_mount_attributes(&tree, NO_SUID | NO_EXEC, None)?;
            attach_tree(&tree, &place)?;
        }
        for (name, to) in DEVICE_LINKS {
            self.create_link(&Path::new("/dev").join(name), Path::new(to))?;
        }
        self.mount_pool_folder(Path::new("/dev/shm"), 0o700)
    }

    /// Hides all of `/proc` except for the sandbox's processes and the visible entries.
    fn mask_proc(&self) -> io::Result<()> {
        let (empty_file, empty_folder) = (Path::new("/.file"), Path::new("/.folder"));
        let sources = [ensure_file(&self.root, empty_file)?, ensure_folder(&self.root, empty_folder)?];
        // The first cover of each kind is created and made read-only; the others are clones of it.
        let mut covers: [Option<String>; 2] = [None, None];
        let proc = rustix::fs::open("/proc", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        for entry in rustix::fs::Dir::read_from(&proc)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy();
            let is_kept = name.starts_with('.')
                || name.bytes().all(|byte| byte.is_ascii_digit())
                || PROC_VISIBLE.contains(&&*name)
                || entry.file_type().is_symlink();
            if is_kept {
                continue;
            }
            let kind = usize::from(entry.file_type().is_dir());
            let path = format!("/proc/{name}");
            if let Some(cover) = &covers[kind] {
                mount_bind(cover, path)?;
                continue;
            }
            let tree = clone_tree(&sources[kind], false)?;
            kernel::set_mount_attributes(&tree, READ_ONLY | NO_SUID | NO_DEVICES | NO_EXEC, None)?;
            attach_tree(&tree, &open_below(&proc, Path::new(&*name), OFlags::NOFOLLOW)?)?;
            covers[kind] = Some(path);
        }
        rustix::fs::unlink("/.file")?;
        rustix::fs::rmdir("/.folder")?;
        Ok(())
    }
}

fn is_gone(old: &OwnedFd, source: &Path) -> bool {
    open_below(old, source, OFlags::NOFOLLOW).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

/// Whether every user of the machine may read a path anyway.
pub(super) fn is_system_path(target: &Path) -> bool {
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc"].iter().any(|root| target.starts_with(root))
}

fn clone_tree(source: &OwnedFd, is_folder: bool) -> io::Result<OwnedFd> {
    let mut flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_EMPTY_PATH;
    if is_folder {
        flags |= OpenTreeFlags::AT_RECURSIVE;
    }
    Ok(open_tree(source, "", flags)?)
}

fn attach_tree(tree: &OwnedFd, place: &OwnedFd) -> io::Result<()> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    Ok(move_mount(tree, "", place, "", flags)?)
}

fn open_below(root: impl AsFd, path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    let relative = path.strip_prefix("/").unwrap_or(path);
    let relative = if relative.as_os_str().is_empty() { Path::new(".") } else { relative };
    Ok(rustix::fs::openat2(root, relative, OFlags::PATH | OFlags::CLOEXEC | flags, Mode::empty(), NO_LINKS)?)
}

/// Opens a directory below the root, and creates its missing components.
fn ensure_folder(root: &OwnedFd, path: &Path) -> io::Result<OwnedFd> {
    let mut at = rustix::fs::openat(root, ".", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    for part in path.components() {
        let Component::Normal(name) = part else { continue };
        let next = match open_below(&at, Path::new(name), OFlags::DIRECTORY) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                rustix::fs::mkdirat(&at, name, Mode::from_raw_mode(0o755))?;
                open_below(&at, Path::new(name), OFlags::DIRECTORY)?
            }
            other => other?,
        };
        at = next;
    }
    Ok(at)
}

/// Opens a file below the root, and creates it empty if it is missing.
fn ensure_file(root: &OwnedFd, path: &Path) -> io::Result<OwnedFd> {
    let (parent, name) = split_parent(root, path)?;
    match open_below(&parent, Path::new(name), OFlags::NOFOLLOW) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            rustix::fs::openat(&parent, name, flags, Mode::from_raw_mode(0o644))?;
            open_below(&parent, Path::new(name), OFlags::NOFOLLOW)
        }
        other => other,
    }
}

fn split_parent<'a>(root: &OwnedFd, path: &'a Path) -> io::Result<(OwnedFd, &'a std::ffi::OsStr)> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    Ok((ensure_folder(root, path.parent().unwrap_or(Path::new("/")))?, name))
}

/// Renames an entry without replacing an existing one.
pub(super) fn rename_to_new(folder: &OwnedFd, from: &OsStr, to: &OsStr) -> io::Result<()> {
    move_to_new(folder, from, folder, to)
}

/// Moves an entry to another directory without replacing an existing one.
fn move_to_new(folder: &OwnedFd, from: &OsStr, other: &OwnedFd, to: &OsStr) -> io::Result<()> {
    match rustix::fs::renameat_with(folder, from, other, to, RenameFlags::NOREPLACE) {
        // Some file systems do not support `RENAME_NOREPLACE`.
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => {
            match rustix::fs::statat(other, to, AtFlags::SYMLINK_NOFOLLOW) {
                Err(rustix::io::Errno::NOENT) => Ok(rustix::fs::renameat(folder, from, other, to)?),
                Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
                Err(error) => Err(error.into()),
            }
        }
        other => Ok(other?),
    }
}

/// Renames an entry in its directory to a name with the suffix `why`. Uses the first free name, or a random one if many
/// are taken or the name would be too long.
pub(super) fn rename_beside(folder: &OwnedFd, from: &OsStr, name: &OsStr, why: &str) -> io::Result<OsString> {
    rename_into(folder, from, folder, name, why)
}

/// Moves an entry to another directory, with a name chosen in the same way.
pub(super) fn rename_into(
    folder: &OwnedFd,
    from: &OsStr,
    other: &OwnedFd,
    name: impl AsRef<OsStr>,
    why: &str,
) -> io::Result<OsString> {
    for number in 1..=RENAME_TRIES_MAX {
        let mut to = name.as_ref().to_owned();
        to.push(if number == 1 { format!(".{why}") } else { format!(".{why}-{number}") });
        match move_to_new(folder, from, other, &to) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) if error.raw_os_error() == Some(libc::ENAMETOOLONG) => break,
            other => return other.map(|()| to),
        }
    }
    let to = OsString::from(format!("{why}-{}", hex::encode(files::random_bytes::<8>())));
    move_to_new(folder, from, other, &to).map(|()| to)
}

/// Opens a directory of the host component by component, creating missing ones and never following links.
pub(super) fn make_folder(workspace: &Path, relative: impl AsRef<Path>) -> io::Result<OwnedFd> {
    let root = rustix::fs::openat(CWD, workspace, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    ensure_folder(&root, relative.as_ref())
}
