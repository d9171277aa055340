//! The files a tool sees: an empty root, and in it what was granted. What is not mounted does not exist.
//!
//! Runs in the first process of a sandbox. Sources are opened below the old root and targets below the new one, both
//! part by part without following links, so that no link anywhere leads a mount astray.

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

use super::control::Trouble;
use super::kernel::{self, NO_DEVICES, NO_EXEC, NO_SUID, READ_ONLY};
use super::launch::c_string;
use super::order::{Identity, Order, Step};
use super::staging::Digest;
use super::{owners, staging};
use rep_storage::files;

/// The user who owns nothing. `nobody` is one higher, and owns things on some systems.
pub(super) const NO_ONE: u32 = 65_533;

/// The entries of `/proc` that say something programs ask for and nothing about anybody else.
const PROC_KEPT: &[&str] = &[
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

/// A cover holds places to mount on, and no bytes.
const COVER_BYTES: u64 = 1 << 20;

/// The most names that are tried for what is put beside a file.
const BESIDE_MAX: usize = 100;

const DEVICES: &[&str] = &["null", "zero", "full", "random", "urandom"];

const DEVICE_LINKS: &[(&str, &str)] = &[
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
];

/// Where the host's files are while the view is made.
const OLD: &str = ".old";

/// Where temporary files and stages lie, while the view is made.
const POOL: &str = "/.pool";

const LINKLESS: ResolveFlags =
    ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS).union(ResolveFlags::NO_MAGICLINKS);

/// Makes the view, moves into it, and gives back the stages in the order of their steps, with what was copied into them.
pub(super) fn furnish(order: &Order) -> Result<(Vec<OwnedFd>, Vec<Option<Digest>>), Trouble> {
    let mut rooms = enter_empty_root(order).map_err(|error| {
        Trouble::missing(
            format!("an empty root cannot be mounted: {error}"),
            "allow mounts in user namespaces (an AppArmor or seccomp profile may forbid them)",
        )
    })?;
    mount_proc(&rooms)?;
    cap_processes(order.limits.processes);
    let (mut stages, mut copied) = (Vec::new(), Vec::new());
    rooms.fill_pool(order).map_err(|error| unmountable("temporary files", &error))?;
    rooms.temporary(&order.temporary).map_err(|error| unmountable("/tmp", &error))?;
    for step in &order.steps {
        rooms.take(step, &mut stages, &mut copied)?;
    }
    for step in &order.steps {
        if let Step::Cover { target } = step {
            rooms.freeze(target).map_err(|error| unmountable("a cover", &error))?;
        }
    }
    rooms.devices().map_err(|error| unmountable("/dev", &error))?;
    if order.has("masks") {
        rooms.mask_proc().map_err(|error| unmountable("/proc", &error))?;
    }
    leave_old_root(rooms).map_err(|error| unmountable("/", &error))?;
    Ok((stages, copied))
}

fn unmountable(what: &str, error: &io::Error) -> Trouble {
    Trouble::missing(format!("`{what}` cannot be mounted: {error}"), "allow mounts in user namespaces")
}

struct Rooms {
    root: OwnedFd,
    old: OwnedFd,
    identity: Identity,
    /// How many folders of the pool are in use.
    used: usize,
    workspace: PathBuf,
    /// User namespaces that show files of one owner as those of nobody.
    owners: BTreeMap<(u32, u32), OwnedFd>,
}

fn enter_empty_root(order: &Order) -> io::Result<Rooms> {
    mount_change("/", MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC)?;
    let place = ["/tmp", "/run", "/mnt"]
        .into_iter()
        .find(|place| rustix::fs::stat(*place).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode).is_dir()))
        .ok_or(io::ErrorKind::NotFound)?;
    mount("rep", place, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, c"mode=755,size=64m,nr_inodes=400k")?;
    rustix::process::chdir(place)?;
    rustix::fs::mkdir(OLD, Mode::RWXU)?;
    rustix::process::pivot_root(".", OLD)?;
    rustix::process::chdir("/")?;
    let root = rustix::fs::open("/", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let old = open_below(&root, Path::new(OLD), OFlags::DIRECTORY)?;
    Ok(Rooms { root, old, identity: order.identity, used: 0, workspace: order.folder.clone(), owners: BTreeMap::new() })
}

fn leave_old_root(rooms: Rooms) -> io::Result<()> {
    drop(rooms);
    unmount(POOL, UnmountFlags::DETACH)?;
    rustix::fs::rmdir(POOL)?;
    unmount(format!("/{OLD}"), UnmountFlags::DETACH)?;
    rustix::fs::rmdir(format!("/{OLD}"))?;
    let frozen = MountFlags::BIND | MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV;
    rustix::mount::mount_remount("/", frozen, c"")?;
    Ok(())
}

fn mount_proc(rooms: &Rooms) -> Result<(), Trouble> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    let mounted =
        folder(&rooms.root, Path::new("/proc")).and_then(|_| Ok(mount("proc", "/proc", "proc", flags, c"hidepid=4")?));
    mounted.map_err(|error| {
        Trouble::missing(
            format!("/proc cannot be mounted afresh: {error}"),
            "run outside of a container, or in one that does not mask /proc (`--security-opt systempaths=unconfined`)",
        )
    })
}

/// A second bound on the number of processes, which holds for root as well. Since 6.14 it is one of the namespace;
/// before that it would be the machine's, so it is left alone.
#[expect(clippy::disallowed_methods, reason = "a setting of the kernel is a file")]
fn cap_processes(processes: u64) {
    /// The kernel takes no less.
    const LEAST: u64 = 301;
    let release = rustix::system::uname().release().to_string_lossy().into_owned();
    let mut numbers =
        release.split(|letter: char| !letter.is_ascii_digit()).map(|part| part.parse::<u32>().unwrap_or(0));
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if version >= (6, 14) {
        // Without it the limit of the tool's user remains.
        let _ = std::fs::write("/proc/sys/kernel/pid_max", processes.saturating_mul(2).max(LEAST).to_string());
    }
}

impl Rooms {
    fn take(
        &mut self,
        step: &Step,
        stages: &mut Vec<OwnedFd>,
        copied: &mut Vec<Option<Digest>>,
    ) -> Result<(), Trouble> {
        let told = |target: &Path, error: io::Error| {
            Trouble::Unstartable(format!("`{}` cannot be shown to it: {error}", target.display()))
        };
        match step {
            Step::Folder { source, target, is_writable, may_run } => {
                let attributes = if *is_writable { 0 } else { READ_ONLY } | if *may_run { 0 } else { NO_EXEC };
                let place = folder(&self.root, target).map_err(|error| told(target, error))?;
                self.bind(source, &place, attributes | NO_SUID | NO_DEVICES, target)
            }
            Step::File { source, target, may_run } => {
                let attributes = READ_ONLY | NO_SUID | NO_DEVICES | if *may_run { 0 } else { NO_EXEC };
                // It may be gone since it was found; then it is not there for the tool either.
                if is_gone(&self.old, source) {
                    return Ok(());
                }
                let place = file(&self.root, target).map_err(|error| told(target, error))?;
                self.bind(source, &place, attributes, target)
            }
            Step::Link { target, to } => self.link(target, to).map_err(|error| told(target, error)),
            Step::Text { target, bytes } => self.text(target, bytes).map_err(|error| told(target, error)),
            Step::Empty { target } => folder(&self.root, target).map(drop).map_err(|error| told(target, error)),
            Step::Cover { target } => folder(&self.root, target)
                .and_then(|_| self.tmpfs(target, COVER_BYTES, "755"))
                .map_err(|error| told(target, error)),
            Step::Stage { target, .. } => {
                stages.push(self.stage(target).map_err(|error| told(target, error))?);
                Ok(())
            }
            Step::Copy { source, .. } if is_gone(&self.old, source) => {
                copied.push(None);
                Ok(())
            }
            Step::Copy { source, target } => {
                copied.push(Some(self.copy(source, target).map_err(|error| told(target, error))?));
                Ok(())
            }
        }
    }

    fn bind(&mut self, source: &Path, place: &OwnedFd, attributes: u64, target: &Path) -> Result<(), Trouble> {
        let told =
            |error: io::Error| Trouble::Unstartable(format!("`{}` cannot be shown to it: {error}", source.display()));
        let opened = open_below(&self.old, source, OFlags::NOFOLLOW).map_err(told)?;
        let stat = rustix::fs::fstat(&opened).map_err(|error| told(error.into()))?;
        let kind = FileType::from_raw_mode(stat.st_mode);
        if !kind.is_dir() && !kind.is_file() {
            return Err(Trouble::Unstartable(format!("`{}` is no regular file any more", source.display())));
        }
        let tree = clone_tree(&opened, kind.is_dir()).map_err(told)?;
        let owners = if self.identity == Identity::Mapped && (target.starts_with(&self.workspace) || !is_system(target))
        {
            Some(self.owners_of(stat.st_uid, stat.st_gid)?)
        } else {
            None
        };
        kernel::set_mount_attributes(&tree, attributes, owners).map_err(|error| match owners {
            Some(_) => Trouble::Unmappable(format!("the file system of `{}`: {error}", source.display())),
            None => told(error),
        })?;
        attach(&tree, place).map_err(told)
    }

    fn owners_of(&mut self, user: u32, group: u32) -> Result<BorrowedFd<'_>, Trouble> {
        let namespace: &OwnedFd = match self.owners.entry((user, group)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(vacant) => {
                let namespace = owners::namespace(user, group, NO_ONE)
                    .map_err(|error| Trouble::Unmappable(format!("user namespaces: {error}")))?;
                vacant.insert(namespace)
            }
        };
        Ok(namespace.as_fd())
    }

    fn link(&self, target: &Path, to: &Path) -> io::Result<()> {
        let (parent, name) = split(&self.root, target)?;
        match rustix::fs::symlinkat(to, &parent, name) {
            // Something of the same name is already shown there; the link would be for convenience only.
            Ok(()) | Err(rustix::io::Errno::EXIST | rustix::io::Errno::ROFS) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn text(&self, target: &Path, bytes: &[u8]) -> io::Result<()> {
        let (parent, name) = split(&self.root, target)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(rustix::fs::openat(&parent, name, flags, Mode::from_raw_mode(0o644))?);
        file.write_all(bytes)
    }

    /// All that is kept in memory lies in one file system, so that its bound holds for all of it together.
    fn fill_pool(&self, order: &Order) -> io::Result<()> {
        let own = order.limits.temporary_bytes;
        let copied = order.steps.iter().map(|step| match step {
            Step::Stage { bytes_max, .. } => bytes_max.saturating_sub(own),
            _ => 0,
        });
        let bytes_max = copied.fold(own, u64::saturating_add);
        folder(&self.root, Path::new(POOL))?;
        self.tmpfs(Path::new(POOL), bytes_max, "700")
    }

    /// Shows a new folder of the pool.
    fn pooled(&mut self, target: &Path, mode: u32) -> io::Result<()> {
        let place = folder(&self.root, target)?;
        let pool = open_below(&self.root, Path::new(POOL), OFlags::DIRECTORY)?;
        let name = self.used.to_string();
        self.used += 1;
        rustix::fs::mkdirat(&pool, &name, Mode::RWXU)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let made = rustix::fs::openat(&pool, &name, flags, Mode::empty())?;
        rustix::fs::fchmod(&made, Mode::from_raw_mode(mode))?;
        if self.identity == Identity::Mapped {
            kernel::give(&made, NO_ONE)?;
        }
        attach(&clone_tree(&made, false)?, &place)
    }

    fn stage(&mut self, target: &Path) -> io::Result<OwnedFd> {
        self.pooled(target, 0o755)?;
        let place = open_below(&self.root, target, OFlags::DIRECTORY)?;
        // A clone of its own, so that what is mounted into the stage later is not seen through it.
        clone_tree(&place, false)
    }

    /// What was put into a cover stays; nothing is added.
    fn freeze(&self, target: &Path) -> io::Result<()> {
        let place = open_below(&self.root, target, OFlags::DIRECTORY)?;
        let frozen =
            MountFlags::BIND | MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
        Ok(rustix::mount::mount_remount(format!("/proc/self/fd/{}", place.as_raw_fd()), frozen, c"")?)
    }

    fn copy(&self, source: &Path, target: &Path) -> io::Result<Digest> {
        let opened = open_below(&self.old, source, OFlags::NOFOLLOW)?;
        let stat = rustix::fs::fstat(&opened)?;
        if !FileType::from_raw_mode(stat.st_mode).is_file() {
            return Err(io::Error::other("no regular file any more"));
        }
        let how = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        let relative = source.strip_prefix("/").unwrap_or(source);
        let mut from: File =
            rustix::fs::openat2(&self.old, relative, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty(), how)?.into();
        let (parent, name) = split(&self.root, target)?;
        self.own_below(target)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut to = File::from(rustix::fs::openat(&parent, name, flags, Mode::from_raw_mode(0o600))?);
        let digest = staging::copy(&mut from, &mut to, stat.st_size.cast_unsigned())?;
        rustix::fs::fchmod(&to, Mode::from_raw_mode(stat.st_mode & 0o777 | 0o600))?;
        if self.identity == Identity::Mapped {
            kernel::give(&to, NO_ONE)?;
        }
        Ok(digest)
    }

    /// Gives the folders of a stage that hold a copy to the tool's user.
    fn own_below(&self, target: &Path) -> io::Result<()> {
        if self.identity == Identity::Own {
            return Ok(());
        }
        for folder in target.ancestors().skip(1) {
            let opened = open_below(&self.root, folder, OFlags::DIRECTORY)?;
            let is_stage = rustix::fs::fstat(&opened)?.st_uid == NO_ONE;
            if is_stage {
                break;
            }
            let readable = rustix::fs::openat(&opened, ".", OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())?;
            kernel::give(&readable, NO_ONE)?;
        }
        Ok(())
    }

    fn temporary(&mut self, target: &Path) -> io::Result<()> {
        self.pooled(target, 0o700)?;
        let home = folder(&self.root, &target.join("home"))?;
        if self.identity == Identity::Mapped {
            rustix::fs::chownat(
                &home,
                "",
                Some(Uid::from_raw(NO_ONE)),
                Some(Gid::from_raw(NO_ONE)),
                AtFlags::EMPTY_PATH,
            )?;
        }
        Ok(())
    }

    fn tmpfs(&self, target: &Path, bytes_max: u64, mode: &str) -> io::Result<()> {
        let owner = match self.identity {
            Identity::Own => String::new(),
            Identity::Mapped => format!(",uid={NO_ONE},gid={NO_ONE}"),
        };
        let options: CString = c_string(format!("mode={mode},size={},nr_inodes=400k{owner}", bytes_max.max(4096)))?;
        let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
        Ok(mount("rep", target, "tmpfs", flags, options.as_c_str())?)
    }

    fn devices(&mut self) -> io::Result<()> {
        for name in DEVICES {
            let path = Path::new("/dev").join(name);
            let place = file(&self.root, &path)?;
            let source = open_below(&self.old, &path, OFlags::NOFOLLOW)?;
            let tree = clone_tree(&source, false)?;
            kernel::set_mount_attributes(&tree, NO_SUID | NO_EXEC, None)?;
            attach(&tree, &place)?;
        }
        for (name, to) in DEVICE_LINKS {
            self.link(&Path::new("/dev").join(name), Path::new(to))?;
        }
        self.pooled(Path::new("/dev/shm"), 0o700)
    }

    /// Covers all of `/proc` that is neither about processes of the sandbox nor in the list.
    fn mask_proc(&self) -> io::Result<()> {
        let (empty_file, empty_folder) = (Path::new("/.file"), Path::new("/.folder"));
        let sources = [file(&self.root, empty_file)?, folder(&self.root, empty_folder)?];
        // The first cover of each kind is made and frozen; the others are copies of it, in one call each.
        let mut covers: [Option<String>; 2] = [None, None];
        let proc = rustix::fs::open("/proc", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        for entry in rustix::fs::Dir::read_from(&proc)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy();
            let is_kept = name.starts_with('.')
                || name.bytes().all(|byte| byte.is_ascii_digit())
                || PROC_KEPT.contains(&&*name)
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
            attach(&tree, &open_below(&proc, Path::new(&*name), OFlags::NOFOLLOW)?)?;
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

/// What every user of the machine may read anyway.
fn is_system(target: &Path) -> bool {
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc"].iter().any(|root| target.starts_with(root))
}

fn clone_tree(source: &OwnedFd, is_folder: bool) -> io::Result<OwnedFd> {
    let mut flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_EMPTY_PATH;
    if is_folder {
        flags |= OpenTreeFlags::AT_RECURSIVE;
    }
    Ok(open_tree(source, "", flags)?)
}

fn attach(tree: &OwnedFd, place: &OwnedFd) -> io::Result<()> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    Ok(move_mount(tree, "", place, "", flags)?)
}

fn open_below(root: impl AsFd, path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    let relative = path.strip_prefix("/").unwrap_or(path);
    let relative = if relative.as_os_str().is_empty() { Path::new(".") } else { relative };
    Ok(rustix::fs::openat2(root, relative, OFlags::PATH | OFlags::CLOEXEC | flags, Mode::empty(), LINKLESS)?)
}

/// The folder at a path below the root, made part by part where it is missing.
fn folder(root: &OwnedFd, path: &Path) -> io::Result<OwnedFd> {
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

/// The file at a path below the root, made empty where it is missing.
fn file(root: &OwnedFd, path: &Path) -> io::Result<OwnedFd> {
    let (parent, name) = split(root, path)?;
    match open_below(&parent, Path::new(name), OFlags::NOFOLLOW) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            rustix::fs::openat(&parent, name, flags, Mode::from_raw_mode(0o644))?;
            open_below(&parent, Path::new(name), OFlags::NOFOLLOW)
        }
        other => other,
    }
}

fn split<'a>(root: &OwnedFd, path: &'a Path) -> io::Result<(OwnedFd, &'a std::ffi::OsStr)> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    Ok((folder(root, path.parent().unwrap_or(Path::new("/")))?, name))
}

/// Renames to a name nobody has.
pub(super) fn rename_to_new(folder: &OwnedFd, from: &OsStr, to: &OsStr) -> io::Result<()> {
    move_to_new(folder, from, folder, to)
}

/// Moves to a folder, under a name nobody has there.
fn move_to_new(folder: &OwnedFd, from: &OsStr, other: &OwnedFd, to: &OsStr) -> io::Result<()> {
    match rustix::fs::renameat_with(folder, from, other, to, RenameFlags::NOREPLACE) {
        // Some file systems cannot do both at once.
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

/// Renames to a name that says why, in the same folder: the first that is free, or one nobody can foresee where many are
/// taken or the name would be too long.
pub(super) fn rename_beside(folder: &OwnedFd, from: &OsStr, name: &OsStr, why: &str) -> io::Result<OsString> {
    rename_into(folder, from, folder, name, why)
}

/// Moves to another folder, to a name that says why, by the same rule.
pub(super) fn rename_into(
    folder: &OwnedFd,
    from: &OsStr,
    other: &OwnedFd,
    name: impl AsRef<OsStr>,
    why: &str,
) -> io::Result<OsString> {
    for number in 1..=BESIDE_MAX {
        let mut to = name.as_ref().to_owned();
        to.push(if number == 1 { format!(".{why}") } else { format!(".{why}-{number}") });
        match move_to_new(folder, from, other, &to) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) if error.raw_os_error() == Some(libc::ENAMETOOLONG) => break,
            other => return other.map(|()| to),
        }
    }
    let to = OsString::from(format!("{why}-{}", hex::encode(files::random::<8>())));
    move_to_new(folder, from, other, &to).map(|()| to)
}

/// The folder a path of the host leads to, part by part, made where it is missing and never through a link.
pub(super) fn make_folder(workspace: &Path, relative: impl AsRef<Path>) -> io::Result<OwnedFd> {
    let root = rustix::fs::openat(CWD, workspace, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    folder(&root, relative.as_ref())
}
