//! Names others trust in folders a tool writes to directly: noted before a run, and compared after it.
//!
//! While the tool runs, what exists is bound read-only and every folder on the way to it is a mount, which nobody can
//! rename. So a change of it is somebody else's, and stays. This is the second wall: what cannot be bound (a link) or
//! has another name (a hard link) is put back, and what is new is moved aside. Nothing is removed: who made it cannot
//! be told. Nothing is put back that was not there before every run that goes on at the same time (`register.rs`).

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, Dir, FileType, Gid, Mode, OFlags, ResolveFlags, Stat, Uid};

use super::register::{Entry, Register};
use super::trusted::{self, Trusted};
use super::{mounts, walk};

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

/// What the names of things that were moved aside end in.
const REFUSED: &str = "refused";

/// A folder a tool writes to directly, and what is trusted in it.
#[derive(Clone, Debug)]
pub(super) struct Watched {
    /// Relative to the workspace.
    folder: String,
    trusted: Trusted,
    before: BTreeMap<PathBuf, Kept>,
    look: Look,
}

/// What came of a comparison.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// What the tool may have done.
    pub(super) wrong: BTreeSet<String>,
    /// What somebody else did meanwhile that should be looked at.
    pub(super) conflicts: BTreeSet<String>,
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

    /// When it was changed last, by the clock of the machine.
    fn changed_at(self) -> SystemTime {
        let seconds = u64::try_from(self.changed.0).unwrap_or(0);
        SystemTime::UNIX_EPOCH + Duration::new(seconds, u32::try_from(self.changed.1).unwrap_or(0))
    }

    fn is_place(self, other: Id) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }
}

/// What a walk saw.
#[derive(Clone, Debug, Default)]
struct Look {
    trusted: Trusted,
    entries: usize,
    entries_max: usize,
    /// Whether folders that cannot be listed are opened up.
    opens_up: bool,
    /// All that is no folder and bears such a name.
    names: BTreeSet<PathBuf>,
    /// Folders of which all is trusted; only the outermost.
    whole: BTreeMap<PathBuf, Id>,
    /// Repositories that are not called `.git`, and virtual environments.
    places: BTreeSet<PathBuf>,
    /// Folders nobody could list.
    closed: BTreeMap<PathBuf, Id>,
    /// What was not looked at, and why.
    unseen: Vec<String>,
}

impl Watched {
    /// Notes what is trusted below a folder; or says why that cannot be known.
    pub(super) fn new(workspace: &Path, folder: &str, trusted: &Trusted) -> Result<Watched, String> {
        let look = Look::below(workspace, Path::new(folder), trusted, ENTRIES_BEFORE_MAX, false);
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
        Ok(Watched { folder: folder.to_owned(), trusted: trusted.clone(), before, look })
    }

    /// The folder itself, relative to the workspace.
    pub(super) fn folder(&self) -> &str {
        &self.folder
    }

    /// Folders that are shown read-only as a whole.
    pub(super) fn folders(&self) -> impl Iterator<Item = &PathBuf> {
        self.look.whole.keys().chain(self.look.closed.keys())
    }

    /// All names, and which of them are files that can be shown read-only.
    pub(super) fn names(&self) -> impl Iterator<Item = (&PathBuf, bool)> {
        self.before.iter().map(|(path, kept)| (path, kept.kind.is_file()))
    }

    /// What was there, for others that go on at the same time.
    pub(super) fn entry(&self, workspace: &Path) -> Entry {
        let absolute = |paths: &mut dyn Iterator<Item = &PathBuf>| paths.map(|path| workspace.join(path)).collect();
        Entry {
            workspace: workspace.to_owned(),
            folder: self.folder.clone(),
            known: absolute(&mut self.before.keys().chain(self.look.whole.keys()).chain(&self.look.places)),
        }
    }

    /// Forgets what was not there before another run: that run may have made it, and judges it, too.
    pub(super) fn heed(&mut self, workspace: &Path, other: &Entry) {
        let place = other.place();
        let is_known = |path: &PathBuf| {
            let path = workspace.join(path);
            !path.starts_with(&place) || other.known.contains(&path)
        };
        // A name in a folder that is trusted as a whole was looked at with the folder.
        self.before.retain(|path, _| is_known(path));
        self.look.whole.retain(|path, _| is_known(path));
        self.look.places.retain(is_known);
    }

    /// Compares with what is there now. Moves aside what is new, puts back what could not be bound, and says so.
    pub(super) fn restore(&self, workspace: &Path, told: &mut Told) {
        let mut folders = vec![PathBuf::from(&self.folder)];
        // What was moved aside can hold more. It is looked through again, and ends where folders are too deep to be seen.
        while let Some(folder) = folders.pop() {
            let after = Look::below(workspace, &folder, &self.trusted, ENTRIES_AFTER_MAX, true);
            folders.extend(self.set_aside(workspace, &after, told));
            let is_known = |path: &PathBuf, id: Id| self.look.closed.get(path).is_some_and(|known| known.is_place(id));
            for (path, _) in after.closed.iter().filter(|(path, id)| !is_known(path, **id)) {
                told.wrong.insert(format!("`{}` cannot be looked into", path.display()));
            }
            told.wrong.extend(after.unseen);
        }
        for (path, kept) in &self.before {
            kept.compare(workspace, path, told);
        }
    }

    /// Moves aside what is new, and says so. Gives the folders that were moved, as they are called from then on.
    fn set_aside(&self, workspace: &Path, after: &Look, told: &mut Told) -> Vec<PathBuf> {
        let fresh: Vec<&PathBuf> = after.places.difference(&self.look.places).collect();
        told.wrong.extend(fresh.iter().filter_map(|place| behead(workspace, place)));
        // In a place that was none before, what is called so may be somebody's ordinary file.
        let is_ordinary = |path: &Path, named: &str| {
            !self.trusted.is(named) && fresh.iter().any(|place| path.starts_with(place.as_path()))
        };
        let (mut seen, mut folders): (Vec<&PathBuf>, Vec<PathBuf>) = (Vec::new(), Vec::new());
        for (path, id) in &after.whole {
            if let Some(known) = self.look.whole.get(path) {
                // It was bound as a whole: what is new in it is somebody else's.
                seen.push(path);
                if !known.is_place(*id) {
                    told.conflicts.insert(replaced(path));
                }
            } else if !is_ordinary(path, &format!("{}/x", path.display())) {
                seen.push(path);
                let (what, moved) = aside(workspace, path);
                told.wrong.insert(what);
                folders.extend(moved);
            }
        }
        for path in after.names.iter().filter(|path| !self.before.contains_key(*path)) {
            let is_seen = seen.iter().any(|folder| path.starts_with(folder));
            if !is_seen && !is_ordinary(path, &path.to_string_lossy()) {
                told.wrong.insert(aside(workspace, path).0);
            }
        }
        folders
    }
}

/// Moves aside what runs left that were ended by force, and says so.
pub(super) fn clean(register: &Register) -> Vec<String> {
    let mut told = Vec::new();
    for note in register.notes().iter().filter(|note| !note.is_alive) {
        for entry in &note.entries {
            told.extend(left(entry, note.until));
        }
        note.forget();
    }
    told
}

/// What a run left in a folder, moved aside. What was made after its end is somebody else's.
fn left(entry: &Entry, until: SystemTime) -> Vec<String> {
    let workspace = &entry.workspace;
    let folder = Path::new(&entry.folder);
    let look = Look::below(workspace, folder, &Trusted::of(workspace, &[]), ENTRIES_BEFORE_MAX, true);
    let is_known = |path: &Path| entry.known.contains(&workspace.join(path));
    let is_old =
        |path: &Path| matches!(Kept::at(workspace, path, &mut 0), Ok(Some(kept)) if kept.stat.changed_at() <= until);
    let fresh: Vec<&PathBuf> = look.places.iter().filter(|place| !is_known(place)).collect();
    let is_ordinary = |path: &Path, named: &str| {
        !look.trusted.is(named) && fresh.iter().any(|place| path.starts_with(place.as_path()))
    };
    let repositories = fresh.iter().filter(|place| is_old(&place.join("HEAD")));
    let mut told: Vec<String> = repositories.filter_map(|place| behead(workspace, place)).collect();
    let mut seen: Vec<&PathBuf> = Vec::new();
    for path in look.whole.keys() {
        if is_known(path) {
            seen.push(path);
        } else if is_old(path) && !is_ordinary(path, &format!("{}/x", path.display())) {
            seen.push(path);
            told.push(aside(workspace, path).0);
        }
    }
    for path in look.names.iter().filter(|path| !is_known(path) && is_old(path)) {
        let is_seen = seen.iter().any(|folder| path.starts_with(folder));
        if !is_seen && !is_ordinary(path, &path.to_string_lossy()) {
            told.push(aside(workspace, path).0);
        }
    }
    told.into_iter().map(|what| format!("a run in `{}` was ended by force: {what}", workspace.display())).collect()
}

/// What was bound is another now: who put it there cannot be told, and from then on it was not bound.
fn replaced(path: &Path) -> String {
    let shown = path.display();
    format!(
        "`{shown}` was replaced by somebody else while the tool ran, which could write to it from then on: look at it"
    )
}

/// Moves something aside, and says so, and what it is called from then on.
fn aside(workspace: &Path, path: &Path) -> (String, Option<PathBuf>) {
    let name = path.file_name().unwrap_or_default();
    let moved = parent(workspace, path).and_then(|folder| mounts::rename_beside(&folder, name, name, REFUSED));
    let shown = path.display();
    match moved.map(|name| path.with_file_name(name)) {
        Ok(to) => (format!("`{shown}` is trusted by others, and is `{}` from now on", to.display()), Some(to)),
        Err(error) => (format!("`{shown}` is trusted by others, and could not be moved aside: {error}"), None),
    }
}

impl Look {
    fn below(workspace: &Path, folder: &Path, trusted: &Trusted, entries_max: usize, opens_up: bool) -> Look {
        let mut look = Look { entries_max, opens_up, trusted: trusted.clone(), ..Look::default() };
        match walk::open(workspace, folder) {
            Ok(start) => look.folder(&start, folder, false),
            Err(error) => look.unseen.push(format!("`{}`: {error}", cut(folder))),
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
        let kind_of_folder = self.trusted.kind(entries.iter().map(|(name, _)| name.to_bytes()));
        let is_repository = kind_of_folder.is_repository && path.file_name() != Some(OsStr::new(".git"));
        if is_repository || kind_of_folder.is_environment {
            self.places.insert(path.to_path_buf());
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
            let is_of_place = kind_of_folder.trusts(&String::from_utf8_lossy(name.to_bytes()));
            let is_named = is_trusted || is_of_place || self.trusted.is(&text);
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
                    let is_whole = is_trusted || is_of_place || self.trusted.is(&format!("{text}/x"));
                    // What python loads is bound as a whole and can be very much.
                    let is_packages = is_whole && trusted::is_loaded_folder(&String::from_utf8_lossy(name.to_bytes()));
                    if is_whole && !is_trusted {
                        match rustix::fs::fstat(&opened) {
                            Ok(stat) => drop(self.whole.insert(inner.clone(), Id::of(&stat))),
                            Err(error) => self.unseen.push(format!("`{}`: {error}", cut(&inner))),
                        }
                    }
                    if !is_packages {
                        self.folder(&opened, &inner, is_whole);
                    }
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

/// Takes the first file of a repository away, without which it is none, and says so. A virtual environment has no such
/// file: it is one by a name that is trusted itself.
fn behead(workspace: &Path, path: &Path) -> Option<String> {
    let moved = (|| -> io::Result<Option<PathBuf>> {
        let folder = parent(workspace, &path.join("HEAD"))?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut moved = None;
        for entry in Dir::new(rustix::fs::openat(&folder, ".", flags, Mode::empty())?)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name.eq_ignore_ascii_case("HEAD") {
                moved = Some(path.join(mounts::rename_beside(&folder, name, name, REFUSED)?));
            }
        }
        Ok(moved)
    })();
    let shown = path.display();
    match moved {
        Ok(head) => head.map(|head| {
            let head = head.display();
            format!("`{shown}` became a repository; its HEAD is `{head}` from now on")
        }),
        Err(error) => Some(format!("`{shown}` became a repository, and stays one: {error}")),
    }
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
            // Only what has another name can be changed while it is bound.
            FileType::RegularFile if stat.st_nlink != 1 => small(&folder, name, KEPT_BYTES_MAX.min(*room)),
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
    fn compare(&self, workspace: &Path, path: &Path, told: &mut Told) {
        // As much room as it had, so that both have bytes or none.
        let mut room = if self.bytes.is_some() { KEPT_BYTES_MAX } else { 0 };
        let now = Kept::at(workspace, path, &mut room);
        let shown = path.display();
        if self.kind.is_file() && !self.is_linked {
            // It was bound, and so cannot have been changed or removed from inside. Another file in its place was put
            // there by somebody else, but from then on was not bound.
            let is_replaced = match &now {
                Ok(Some(now)) => !now.kind.is_file() || !self.stat.is_place(now.stat),
                Ok(None) => false,
                Err(_) => true,
            };
            if is_replaced {
                told.conflicts.insert(replaced(path));
            }
            return;
        }
        let what = match &now {
            Ok(Some(now)) if self.is_same(now) => return,
            Ok(Some(_)) => "was changed",
            Ok(None) => "was removed",
            Err(_) => "cannot be looked at",
        };
        told.wrong.insert(match self.put_back(workspace, path) {
            Ok(None) => format!("`{shown}` is trusted by others, {what}, and was put back"),
            Ok(Some(other)) => format!(
                "`{shown}` is trusted by others, {what}, and was put back; what was there is `{}`",
                path.with_file_name(other).display()
            ),
            Err(error) => format!("`{shown}` is trusted by others, {what}, and could not be put back: {error}"),
        });
    }

    /// Puts back what was there, and says what is called otherwise because of it.
    fn put_back(&self, workspace: &Path, path: &Path) -> io::Result<Option<OsString>> {
        let Some(bytes) = &self.bytes else { return Err(io::Error::other("its bytes were not kept")) };
        let folder = mounts::make_folder(workspace, path.parent().unwrap_or(Path::new("")))?;
        open_up(&folder, 0o700)?;
        let name = path.file_name().unwrap_or_default();
        let beside = format!(".rep-{}-{}-back", std::process::id(), self.stat.inode);
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
        let moved = (|| {
            // What is there gives way, whatever it is.
            let other = match mounts::rename_beside(&folder, name, name, REFUSED) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                other => Some(other?),
            };
            mounts::rename_to_new(&folder, beside.as_ref(), name)?;
            Ok(other)
        })();
        if moved.is_err() {
            // Best effort: the error that is told is the first one.
            let _ = rustix::fs::unlinkat(&folder, &beside, AtFlags::empty());
        }
        moved
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
