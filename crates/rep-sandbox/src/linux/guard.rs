//! Names others trust in folders a tool writes to directly: noted before a run, and compared after it.
//!
//! While the tool runs, what exists is bound read-only and every folder on the way to it is a mount, which nobody can
//! rename. So a change of it is somebody else's, and stays. This is the second wall: what cannot be bound (a link) or
//! has another name (a hard link) is put back, and what is new is moved aside. Nothing is removed: who made it cannot
//! be told. Nothing is put back that was not there before every run that goes on at the same time (`register.rs`).

mod aside;
mod look;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, FileType, Gid, Mode, OFlags, ResolveFlags, Stat, Uid};

use self::aside::{Aside, Known};
use self::look::{Look, Looker, Next, open_up};
use super::register::{Entry, Register};
use super::staging::Tally;
use super::trusted::{Kind, REFUSED, Trusted};
use super::{mounts, repository, walk};

/// The most entries below one grant before a run.
const ENTRIES_BEFORE_MAX: usize = 2_000_000;

/// The most entries after a run: so many that a tool cannot make them in its time.
const ENTRIES_AFTER_MAX: usize = 50_000_000;

/// The most names that are bound one by one.
const NAMES_MAX: usize = 20_000;

/// Files whose bytes are kept: each, and all together.
const KEPT_BYTES_MAX: u64 = 1 << 20;
const KEPT_BYTES_SUM_MAX: u64 = 64 << 20;

/// A folder a tool writes to directly, and what is trusted in it.
#[derive(Clone, Debug)]
pub(super) struct Watched {
    /// Relative to the workspace.
    folder: String,
    trusted: Trusted,
    before: BTreeMap<PathBuf, Kept>,
    seen: Seen,
}

/// What came of a comparison.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// What the tool may have done.
    pub(super) wrong: Tally,
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

/// What was there before a run.
#[derive(Clone, Debug, Default)]
struct Seen {
    /// All that is no folder and bears a trusted name. In a folder that is bound as a whole only what has other names.
    names: BTreeSet<PathBuf>,
    /// Folders of which all is trusted; only the outermost.
    whole: BTreeMap<PathBuf, Id>,
    /// Repositories that are not called `.git`, and virtual environments.
    places: BTreeSet<PathBuf>,
    /// Folders nobody could list.
    closed: BTreeMap<PathBuf, Id>,
    /// What was not looked at, and why.
    unseen: Option<String>,
}

impl Looker for Seen {
    fn place(&mut self, _: &OwnedFd, path: &Path, kind: Kind) -> Kind {
        if kind.is_environment || path.file_name() != Some(OsStr::new(".git")) {
            self.places.insert(path.to_owned());
        }
        kind
    }

    fn name(&mut self, folder: &OwnedFd, path: &Path, is_in_whole: bool) {
        let has_names = || {
            let stat = rustix::fs::statat(folder, path.file_name().unwrap_or_default(), AtFlags::SYMLINK_NOFOLLOW);
            stat.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode).is_file() && stat.st_nlink != 1)
        };
        if !is_in_whole || has_names() {
            self.names.insert(path.to_owned());
        }
    }

    fn whole(&mut self, _: &OwnedFd, path: &Path, stat: &Stat) -> Next {
        self.whole.insert(path.to_owned(), Id::of(stat));
        Next::Into
    }

    fn is_project(&self, opened: &OwnedFd, _: &Path) -> bool {
        rustix::fs::statat(opened, ".git", AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    fn deep(&mut self, _: &OwnedFd, path: &Path) {
        self.unseen(format!("`{}` is too deep", look::cut(path)));
    }

    fn closed(&mut self, path: &Path, stat: &Stat) {
        self.closed.insert(path.to_owned(), Id::of(stat));
    }

    fn unseen(&mut self, what: String) {
        self.unseen.get_or_insert(what);
    }

    fn is_done(&self) -> bool {
        self.unseen.is_some() || self.names.len() > NAMES_MAX
    }
}

impl Watched {
    /// Notes what is trusted below a folder, and above it; or says why that cannot be known.
    pub(super) fn new(workspace: &Path, folder: &str, above: Above, trusted: &Trusted) -> Result<Watched, String> {
        let mut seen = Seen { places: above.0, ..Seen::default() };
        let mut look =
            Look { trusted, looker: &mut seen, opens_up: false, entries_max: ENTRIES_BEFORE_MAX, entries: 0 };
        look.below(workspace, Path::new(folder));
        if let Some(unseen) = &seen.unseen {
            return Err(format!("names that others trust cannot be told below `{folder}`: {unseen}; grant less"));
        }
        if seen.names.len() > NAMES_MAX {
            return Err(format!("more than {NAMES_MAX} files below `{folder}` are trusted by others; grant less"));
        }
        let mut room = KEPT_BYTES_SUM_MAX;
        let mut before = BTreeMap::new();
        for name in &seen.names {
            // What is gone since is as good as never there.
            if let Ok(Some(kept)) = Kept::at(workspace, name, &mut room) {
                before.insert(name.clone(), kept);
            }
        }
        Ok(Watched { folder: folder.to_owned(), trusted: trusted.clone(), before, seen })
    }

    /// The folder itself, relative to the workspace.
    pub(super) fn folder(&self) -> &str {
        &self.folder
    }

    /// Folders that are shown read-only as a whole.
    pub(super) fn folders(&self) -> impl Iterator<Item = &PathBuf> {
        self.seen.whole.keys().chain(self.seen.closed.keys())
    }

    /// All names, and which of them are files that can be shown read-only.
    pub(super) fn names(&self) -> impl Iterator<Item = (&PathBuf, bool)> {
        self.before.iter().map(|(path, kept)| (path, kept.kind.is_file()))
    }

    /// What was there, for others that go on at the same time.
    pub(super) fn entry(&self, workspace: &Path) -> Entry {
        let known = self.before.keys().chain(self.seen.whole.keys()).chain(&self.seen.places);
        let known = known.chain(self.seen.closed.keys());
        Entry {
            workspace: workspace.to_owned(),
            folder: self.folder.clone(),
            known: known.map(|path| workspace.join(path)).collect(),
            held: self.trusted.held().cloned().collect(),
            home: self.trusted.home().map(|home| workspace.join(home)),
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
        self.seen.whole.retain(|path, _| is_known(path));
        self.seen.places.retain(is_known);
    }

    /// Compares with what is there now. Moves aside what is new, puts back what could not be bound, and says so.
    pub(super) fn restore(&self, workspace: &Path, told: &mut Told) {
        judge(workspace, &self.folder, &self.trusted, self, None, told);
        for (path, kept) in &self.before {
            kept.compare(workspace, path, told);
        }
    }
}

impl Known for Watched {
    fn is(&self, path: &Path) -> bool {
        self.before.contains_key(path) || self.seen.places.contains(path)
    }

    fn is_whole(&self, path: &Path) -> bool {
        self.seen.whole.contains_key(path)
    }

    fn is_another(&self, path: &Path, id: Id) -> bool {
        self.seen.whole.get(path).is_some_and(|known| !known.is_place(id))
    }

    fn is_closed(&self, path: &Path, id: Id) -> bool {
        self.seen.closed.get(path).is_some_and(|known| known.is_place(id))
    }
}

impl Known for Entry {
    fn is(&self, path: &Path) -> bool {
        self.known.contains(&self.workspace.join(path))
    }

    fn is_whole(&self, path: &Path) -> bool {
        self.is(path)
    }

    fn is_another(&self, _: &Path, _: Id) -> bool {
        false
    }

    fn is_closed(&self, path: &Path, _: Id) -> bool {
        self.is(path)
    }
}

/// The repositories that a folder of the workspace lies in, relative to the workspace.
pub(super) struct Above(BTreeSet<PathBuf>);

impl Above {
    /// Looked for before the folder is made: with it, a folder above can become one.
    pub(super) fn of(workspace: &Path, folder: &str) -> Above {
        let above = Path::new(folder).ancestors().skip(1);
        Above(above.filter(|path| repository::is_at(&workspace.join(path))).map(Path::to_owned).collect())
    }
}

/// Goes through a folder, and moves aside what is new. Says whether all of it was seen.
fn judge<K: Known>(
    workspace: &Path,
    folder: &str,
    trusted: &Trusted,
    known: &K,
    until: Option<SystemTime>,
    told: &mut Told,
) -> bool {
    let folder = Path::new(folder);
    let top = match walk::open(workspace, folder) {
        Ok(top) => top,
        // What is gone cannot be obeyed.
        Err(error) if error.kind() == io::ErrorKind::NotFound && until.is_some() => return true,
        Err(error) => {
            told.wrong.add(format!("`{}`: {error}", look::cut(folder)));
            return false;
        }
    };
    let mut aside = Aside { known, told, until, top: &top, folder, lifted: vec![folder.to_owned()], has_unseen: false };
    let repository = Kind { is_repository: true, is_environment: false };
    for above in Above::of(workspace, &folder.to_string_lossy()).0 {
        match walk::open(workspace, &above) {
            Ok(opened) => drop(aside.place(&opened, &above, repository)),
            Err(error) => aside.unseen(format!("`{}`: {error}", look::cut(&above))),
        }
    }
    let mut entries = 0;
    while let Some(next) = aside.lifted.pop() {
        let mut look = Look { trusted, looker: &mut aside, opens_up: true, entries_max: ENTRIES_AFTER_MAX, entries };
        look.below(workspace, &next);
        entries = look.entries;
    }
    !aside.has_unseen
}

/// Moves aside what runs left that were ended by force, and says so. What could not be looked at is looked for again.
pub(super) fn clean(register: &Register) -> Vec<String> {
    let mut all = Vec::new();
    for note in register.notes().iter().filter(|note| !note.is_alive) {
        let mut is_seen = true;
        for entry in &note.entries {
            let mut told = Told::default();
            let trusted = Trusted::of(&entry.workspace, &entry.held, entry.home.as_deref());
            is_seen &= judge(&entry.workspace, &entry.folder, &trusted, entry, Some(note.until), &mut told);
            let place = entry.workspace.display();
            all.extend(told.wrong.told().map(|what| format!("a run in `{place}` was ended by force: {what}")));
        }
        if is_seen {
            note.forget();
        }
    }
    all
}

/// What was bound is another now: who put it there cannot be told, and from then on it was not bound.
fn replaced(path: &Path) -> String {
    let shown = path.display();
    format!(
        "`{shown}` was replaced by somebody else while the tool ran, which could write to it from then on: look at it"
    )
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
        told.wrong.add(match self.put_back(workspace, path) {
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
