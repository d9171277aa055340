//! Names others trust in folders a tool writes to directly: noted before a run, compared after it, and put back.
//!
//! While the tool runs, what exists is bound read-only and every folder on the way to it is a mount, which nobody can
//! rename. This is the second wall: what cannot be bound (a link), what has another name (a hard link), what is new.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CString, OsStr};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Gid, Mode, OFlags, RenameFlags, ResolveFlags, Stat, Uid};

use super::{trusted, walk};

/// The most entries below one grant before a run.
const ENTRIES_BEFORE_MAX: usize = 2_000_000;

/// The most entries after a run: so many that a tool cannot make them in its time.
const ENTRIES_AFTER_MAX: usize = 50_000_000;

/// The most names that are bound one by one.
const NAMES_MAX: usize = 20_000;

/// The deepest folder. Each holds two descriptors open.
const DEPTH_MAX: usize = 128;

/// Files whose bytes are kept: each, and all together.
const KEPT_BYTES_MAX: u64 = 1 << 20;
const KEPT_BYTES_SUM_MAX: u64 = 64 << 20;

/// What a refused repository's first file is called afterwards: without it, it is no repository.
const REFUSED_HEAD: &str = "HEAD.refused";

/// A folder a tool writes to directly, and what is trusted in it.
#[derive(Clone, Debug)]
pub(super) struct Watched {
    /// Relative to the workspace.
    folder: String,
    before: BTreeMap<PathBuf, Kept>,
    look: Look,
}

/// A trusted name as it was.
#[derive(Clone, Debug)]
struct Kept {
    kind: FileType,
    stat: Id,
    mode: u32,
    owner: (u32, u32),
    /// Whether the file has other names, which are not bound.
    is_linked: bool,
    /// The bytes of a small file, or where a link leads.
    bytes: Option<Vec<u8>>,
}

/// What is the same as long as nobody touched it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Id {
    device: u64,
    inode: u64,
    size: i64,
    changed: (i64, u64),
}

impl Id {
    fn of(stat: &Stat) -> Id {
        Id { device: stat.st_dev, inode: stat.st_ino, size: stat.st_size, changed: (stat.st_ctime, stat.st_ctime_nsec) }
    }

    fn is_place(self, other: Id) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }
}

/// What a walk saw.
#[derive(Clone, Debug, Default)]
struct Look {
    entries: usize,
    entries_max: usize,
    /// Whether folders that cannot be listed are opened up.
    opens_up: bool,
    /// All that is no folder and bears such a name.
    names: BTreeSet<PathBuf>,
    /// Folders of which all is trusted; only the outermost.
    whole: BTreeSet<PathBuf>,
    /// Repositories that are not called `.git`.
    repositories: BTreeSet<PathBuf>,
    /// Folders nobody could list.
    closed: BTreeMap<PathBuf, Id>,
    /// What was not looked at, and why.
    unseen: Vec<String>,
}

impl Watched {
    /// Notes what is trusted below a folder; or says why that cannot be known.
    pub(super) fn new(workspace: &Path, folder: &str) -> Result<Watched, String> {
        let look = Look::below(workspace, folder, ENTRIES_BEFORE_MAX, false);
        if let Some(unseen) = look.unseen.first() {
            return Err(format!("names that others trust cannot be told below `{folder}`: {unseen}; grant less"));
        }
        if look.names.len() > NAMES_MAX {
            return Err(format!("more than {NAMES_MAX} files below `{folder}` are trusted by others; grant less"));
        }
        let mut room = KEPT_BYTES_SUM_MAX;
        let mut before = BTreeMap::new();
        for name in &look.names {
            // What is gone since is as good as never there.
            if let Ok(Some(kept)) = Kept::at(workspace, name, &mut room) {
                before.insert(name.clone(), kept);
            }
        }
        Ok(Watched { folder: folder.to_owned(), before, look })
    }

    /// The folder itself, relative to the workspace.
    pub(super) fn folder(&self) -> &str {
        &self.folder
    }

    /// Folders that are shown read-only as a whole.
    pub(super) fn folders(&self) -> impl Iterator<Item = &PathBuf> {
        self.look.whole.iter().chain(self.look.closed.keys())
    }

    /// All names, and which of them are files that can be shown read-only.
    pub(super) fn names(&self) -> impl Iterator<Item = (&PathBuf, bool)> {
        self.before.iter().map(|(path, kept)| (path, kept.kind.is_file()))
    }

    /// Compares with what is there now. Removes what is new, puts back what is not as it was, and says so.
    pub(super) fn restore(&self, workspace: &Path, told: &mut BTreeSet<String>) {
        let after = Look::below(workspace, &self.folder, ENTRIES_AFTER_MAX, true);
        for path in after.names.iter().filter(|path| !self.before.contains_key(*path)) {
            // In a repository that was none before, what is called so may be somebody's ordinary file.
            let is_by_place = !trusted::is(&path.to_string_lossy());
            if is_by_place && after.repositories.difference(&self.look.repositories).any(|root| path.starts_with(root))
            {
                continue;
            }
            told.insert(match remove(workspace, path) {
                Ok(()) => format!("`{}` is trusted by others, and was removed", path.display()),
                Err(error) => format!("`{}` is trusted by others, and could not be removed: {error}", path.display()),
            });
        }
        for path in after.repositories.difference(&self.look.repositories) {
            told.insert(match behead(workspace, path) {
                Ok(()) => format!("`{}` became a repository; its HEAD is now `{REFUSED_HEAD}`", path.display()),
                Err(error) => format!("`{}` became a repository, and stays one: {error}", path.display()),
            });
        }
        for (path, kept) in &self.before {
            told.extend(kept.verdict(workspace, path));
        }
        let is_known = |path: &PathBuf, id: Id| self.look.closed.get(path).is_some_and(|known| known.is_place(id));
        for (path, _) in after.closed.iter().filter(|(path, id)| !is_known(path, **id)) {
            told.insert(format!("`{}` cannot be looked into", path.display()));
        }
        told.extend(after.unseen);
    }
}

impl Look {
    fn below(workspace: &Path, folder: &str, entries_max: usize, opens_up: bool) -> Look {
        let mut look = Look { entries_max, opens_up, ..Look::default() };
        match walk::open(workspace, Path::new(folder)) {
            Ok(start) => look.folder(&start, Path::new(folder), false),
            Err(error) => look.unseen.push(format!("`{folder}`: {error}")),
        }
        look
    }

    fn folder(&mut self, folder: &OwnedFd, path: &Path, is_trusted: bool) {
        if path.components().count() >= DEPTH_MAX {
            self.unseen.push(format!("`{}` is too deep", cut(path)));
            return;
        }
        let Ok(entries) = self.list(folder) else {
            match rustix::fs::fstat(folder) {
                Ok(stat) => {
                    self.closed.insert(path.to_path_buf(), Id::of(&stat));
                }
                Err(error) => self.unseen.push(format!("`{}`: {error}", cut(path))),
            }
            return;
        };
        let is_repository = trusted::is_repository(entries.iter().map(|(name, _)| name.to_bytes()));
        if is_repository && path.file_name() != Some(OsStr::new(".git")) {
            self.repositories.insert(path.to_path_buf());
        }
        for (name, kind) in entries {
            self.entries += 1;
            if self.entries > self.entries_max {
                if self.entries == self.entries_max + 1 {
                    self.unseen.push(format!("more than {} files lie below", self.entries_max));
                }
                return;
            }
            let inner = path.join(OsStr::from_bytes(name.to_bytes()));
            let text = inner.to_string_lossy();
            let is_named = is_trusted
                || trusted::is(&text)
                || is_repository && trusted::is_of_repository(&String::from_utf8_lossy(name.to_bytes()));
            if kind != FileType::Directory && kind != FileType::Unknown {
                if is_named {
                    self.names.insert(inner);
                }
                continue;
            }
            let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let opened = rustix::fs::openat(folder, &name, flags, Mode::empty())
                .and_then(|opened| Ok((FileType::from_raw_mode(rustix::fs::fstat(&opened)?.st_mode), opened)));
            match opened {
                Ok((FileType::Directory, opened)) => {
                    let is_whole = is_trusted
                        || trusted::is(&format!("{text}/x"))
                        || is_repository && is_named && !trusted::is(&text);
                    if is_whole && !is_trusted {
                        self.whole.insert(inner.clone());
                    }
                    self.folder(&opened, &inner, is_whole);
                }
                Ok(_) if is_named => drop(self.names.insert(inner)),
                // It may be gone since it was listed.
                Ok(_) | Err(rustix::io::Errno::NOENT) => {}
                Err(error) => self.unseen.push(format!("`{}`: {error}", cut(&inner))),
            }
        }
    }

    /// All of a folder at once, so that what it is can be told from its names.
    fn list(&self, folder: &OwnedFd) -> io::Result<Vec<(CString, FileType)>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        if self.opens_up {
            // Names in a folder one cannot enter can be listed, and no more.
            open_up(folder, 0o500)?;
        }
        let listed = rustix::fs::openat(folder, ".", flags, Mode::empty())?;
        let mut entries = Vec::new();
        for entry in Dir::new(listed)? {
            let entry = entry?;
            if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
                entries.push((entry.file_name().to_owned(), entry.file_type()));
            }
        }
        Ok(entries)
    }
}

/// Lets its owner do what is needed in a folder. Somebody else's folder stays as it is.
fn open_up(folder: &OwnedFd, needed: u32) -> io::Result<()> {
    let stat = rustix::fs::fstat(folder)?;
    let is_own = stat.st_uid == rustix::process::geteuid().as_raw();
    if is_own && stat.st_mode & needed != needed {
        // A descriptor for looking only cannot be changed by number, but by its name in `/proc`.
        let name = format!("/proc/self/fd/{}", folder.as_raw_fd());
        rustix::fs::chmod(name, Mode::from_raw_mode(stat.st_mode & 0o7777 | needed))?;
    }
    Ok(())
}

fn cut(path: &Path) -> String {
    path.to_string_lossy().chars().take(200).collect()
}

/// The folder a trusted name is in, where something can be done to it.
fn parent(workspace: &Path, path: &Path) -> io::Result<OwnedFd> {
    let folder = walk::open(workspace, path.parent().unwrap_or(Path::new("")))?;
    open_up(&folder, 0o700)?;
    Ok(folder)
}

fn remove(workspace: &Path, path: &Path) -> io::Result<()> {
    Ok(rustix::fs::unlinkat(parent(workspace, path)?, path.file_name().unwrap_or_default(), AtFlags::empty())?)
}

fn behead(workspace: &Path, path: &Path) -> io::Result<()> {
    let folder = parent(workspace, &path.join("HEAD"))?;
    Ok(rustix::fs::renameat_with(&folder, "HEAD", &folder, REFUSED_HEAD, RenameFlags::NOREPLACE)?)
}

impl Kept {
    /// What is at a path, without following a link; nothing where there is nothing.
    fn at(workspace: &Path, path: &Path, room: &mut u64) -> io::Result<Option<Kept>> {
        let name = path.file_name().unwrap_or_default();
        let folder = match walk::open(workspace, path.parent().unwrap_or(Path::new(""))) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            other => other?,
        };
        let stat = match rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(rustix::io::Errno::NOENT) => return Ok(None),
            other => other?,
        };
        let kind = FileType::from_raw_mode(stat.st_mode);
        let bytes = match kind {
            FileType::Symlink => Some(rustix::fs::readlinkat(&folder, name, Vec::new())?.into_bytes()),
            FileType::RegularFile => small(&folder, name, KEPT_BYTES_MAX.min(*room)),
            _ => None,
        };
        *room = room.saturating_sub(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64));
        Ok(Some(Kept {
            kind,
            stat: Id::of(&stat),
            mode: stat.st_mode & 0o7777,
            owner: (stat.st_uid, stat.st_gid),
            is_linked: stat.st_nlink != 1,
            bytes,
        }))
    }

    /// The same bytes under the same name are the same, whoever wrote them; without bytes nothing may have moved.
    fn is_same(&self, now: &Kept) -> bool {
        let is_same_content = match (&self.bytes, &now.bytes) {
            (Some(before), Some(after)) => before == after,
            (None, None) => self.stat == now.stat,
            _ => false,
        };
        self.kind == now.kind && self.mode == now.mode && is_same_content
    }

    /// What is wrong with a name now, and what was done about it.
    fn verdict(&self, workspace: &Path, path: &Path) -> Option<String> {
        // As much room as it had, so that both have bytes or none.
        let mut room = if self.bytes.is_some() { KEPT_BYTES_MAX } else { 0 };
        let now = Kept::at(workspace, path, &mut room);
        let what = match &now {
            Ok(Some(now)) if self.is_same(now) => return None,
            Ok(Some(_)) => "was changed",
            Ok(None) => "was removed",
            Err(_) => "cannot be looked at",
        };
        let shown = path.display();
        // A file that was bound cannot have been changed from inside: then somebody else did, and it stays his.
        let is_elsewhere = self.kind.is_file()
            && !self.is_linked
            && matches!(&now, Ok(Some(now)) if now.kind.is_file() && self.stat.is_place(now.stat));
        if is_elsewhere {
            return Some(format!("`{shown}` is trusted by others, and {what} while the tool ran"));
        }
        Some(match self.put_back(workspace, path) {
            Ok(()) => format!("`{shown}` is trusted by others, {what}, and was put back"),
            Err(error) => format!("`{shown}` is trusted by others, {what}, and could not be put back: {error}"),
        })
    }

    fn put_back(&self, workspace: &Path, path: &Path) -> io::Result<()> {
        let Some(bytes) = &self.bytes else { return Err(io::Error::other("its bytes were not kept")) };
        let folder = super::mounts::make_folder(workspace, path.parent().unwrap_or(Path::new("")))?;
        open_up(&folder, 0o700)?;
        let name = path.file_name().unwrap_or_default();
        let beside = format!(".rep-{}-back", std::process::id());
        if self.kind == FileType::Symlink {
            rustix::fs::symlinkat(OsStr::from_bytes(bytes), &folder, &beside)?;
        } else {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let mut file = File::from(rustix::fs::openat(&folder, &beside, flags, Mode::from_raw_mode(0o600))?);
            file.write_all(bytes)?;
            if rustix::process::geteuid().is_root() {
                let (user, group) = self.owner;
                rustix::fs::fchown(&file, Some(Uid::from_raw(user)), Some(Gid::from_raw(group)))?;
            }
            rustix::fs::fchmod(&file, Mode::from_raw_mode(self.mode))?;
        }
        let moved = rustix::fs::renameat(&folder, &beside, &folder, name).or_else(|_| {
            // A folder lies there now: it gives way, with all that is in it.
            let away = format!("{}.refused", name.to_string_lossy());
            rustix::fs::renameat_with(&folder, name, &folder, away, RenameFlags::NOREPLACE)?;
            rustix::fs::renameat(&folder, &beside, &folder, name)
        });
        if moved.is_err() {
            // Best effort: the error that is told is the first one.
            let _ = rustix::fs::unlinkat(&folder, &beside, AtFlags::empty());
        }
        Ok(moved?)
    }
}

/// The bytes of a file that has no more than so many.
fn small(folder: &OwnedFd, name: &OsStr, bytes_max: u64) -> Option<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let how = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    let file = File::from(rustix::fs::openat2(folder, name, flags, Mode::empty(), how).ok()?);
    let mut bytes = Vec::new();
    file.take(bytes_max + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= bytes_max).then_some(bytes)
}
