//! Writing by name: what a tool left in a stage is judged, and taken over as a whole or not at all.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, Dir, FileType, Gid, Mode, OFlags, ResolveFlags, Stat, Uid};
use sha2::{Digest as _, Sha256};

use super::trusted::{self, Trusted};
use super::view::Stage;
use super::{mounts, repository, walk};
use rep_permissions::glob::Glob;

/// The deepest folder in a stage. A tool can make deeper ones; none is taken over.
const DEPTH_MAX: usize = 64;

/// What a tool's version is called where somebody else changed the file meanwhile.
const CONFLICT: &str = "rep-conflict";

/// How many files were laid beside their places by this process.
static COUNT: AtomicU64 = AtomicU64::new(0);

/// The most violations that are told.
const TOLD_MAX: usize = 20;

const BENEATH: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS).union(ResolveFlags::NO_XDEV);

/// What tells the bytes of a file from others.
pub(super) type Digest = [u8; 32];

/// The files that were copied into stages, relative to the workspace, as they were then.
pub(super) type Copied = BTreeMap<PathBuf, Digest>;

/// What was taken over.
#[derive(Debug, Default)]
pub(super) struct Taken {
    /// The files of the workspace that were made or changed.
    pub(super) written: Vec<String>,
    /// What somebody else changed meanwhile, and what became of the tool's version.
    pub(super) conflicts: Vec<String>,
}

/// Copies up to so many bytes, and says which they were.
pub(super) fn copy(from: &mut impl Read, to: &mut impl Write, bytes_max: u64) -> io::Result<Digest> {
    let mut state = Sha256::new();
    let mut from = from.take(bytes_max);
    let mut chunk = vec![0; 64 << 10];
    loop {
        let length = match from.read(&mut chunk) {
            Ok(0) => return Ok(state.finalize().into()),
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        state.update(&chunk[..length]);
        to.write_all(&chunk[..length])?;
    }
}

/// Takes over what fits; or says what does not fit, having changed nothing.
pub(super) fn commit(
    workspace: &Path,
    stages: &[(Stage, OwnedFd)],
    copied: &Copied,
    patterns: &[Glob],
    trusted: Option<&Trusted>,
) -> Result<Taken, String> {
    let mut verdict = Verdict {
        workspace,
        patterns,
        copied,
        trusted,
        stage: 0,
        changed: Vec::new(),
        removed: Vec::new(),
        wrong: Tally::default(),
    };
    for (number, (stage, root)) in stages.iter().enumerate() {
        verdict.stage = number;
        let mut seen = BTreeSet::new();
        verdict.folder(stage, root, Path::new(&stage.prefix), Path::new(""), &mut seen);
        for gone in stage.copied.difference(&seen) {
            let Some(digest) = copied.get(gone) else { continue };
            if trusted.is_some_and(|trusted| trusted.is(&gone.to_string_lossy())) {
                verdict.wrong.add(format!("removed `{}`, which others trust", gone.display()));
            } else {
                verdict.removed.push((gone.clone(), *digest));
            }
        }
    }
    if trusted.is_some() {
        verdict.repositories(stages);
        verdict.environments();
    }
    if !verdict.wrong.is_empty() {
        return Err(verdict.wrong.text());
    }
    take_over(workspace, stages, verdict.changed, verdict.removed)
}

/// What was wrong: the first few of it, and how many there are. A tool can make more than there is memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    first: BTreeSet<String>,
    count: usize,
}

impl Tally {
    /// Counts something, and keeps it if it is one of the first.
    pub(super) fn add(&mut self, what: String) {
        if !self.first.contains(&what) {
            self.count += 1;
            if self.first.len() < TOLD_MAX {
                self.first.insert(what);
            }
        }
    }

    /// Whether nothing was.
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The first of it, and how many there are besides.
    pub(super) fn told(&self) -> impl Iterator<Item = String> {
        let more = self.count - self.first.len();
        self.first.iter().cloned().chain((more > 0).then(|| format!("and {more} more")))
    }

    /// All that is told, in one line.
    pub(super) fn text(&self) -> String {
        self.told().collect::<Vec<_>>().join("; ")
    }
}

struct Change {
    path: PathBuf,
    /// Which stage it is in, and where.
    stage: usize,
    inside: PathBuf,
    mode: u32,
    /// What it was when it was copied in, and what it is now.
    before: Option<Digest>,
    after: Digest,
}

struct Verdict<'a> {
    workspace: &'a Path,
    patterns: &'a [Glob],
    copied: &'a Copied,
    /// What is trusted there; without it, nothing is judged.
    trusted: Option<&'a Trusted>,
    /// The one that is judged.
    stage: usize,
    changed: Vec<Change>,
    removed: Vec<(PathBuf, Digest)>,
    wrong: Tally,
}

impl Verdict<'_> {
    /// Judges a folder of a stage; `path` is relative to the workspace, `inside` to the stage.
    fn folder(&mut self, stage: &Stage, root: &OwnedFd, path: &Path, inside: &Path, seen: &mut BTreeSet<PathBuf>) {
        if inside.components().count() > DEPTH_MAX {
            self.wrong.add(format!("`{}` is too deep", path.display()));
            return;
        }
        let relative = if inside.as_os_str().is_empty() { Path::new(".") } else { inside };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let listed = rustix::fs::openat2(root, relative, flags, Mode::empty(), BENEATH).and_then(Dir::new);
        let Ok(entries) = listed else {
            self.wrong.add(format!("`{}` cannot be read", path.display()));
            return;
        };
        for entry in entries {
            let Ok(entry) = entry else {
                self.wrong.add(format!("`{}` cannot be read", path.display()));
                return;
            };
            let name = entry.file_name().to_bytes();
            if matches!(name, b"." | b"..") {
                continue;
            }
            let name = Path::new(std::ffi::OsStr::from_bytes(name));
            let (path, inside) = (path.join(name), inside.join(name));
            // Something was mounted there, so what lies below was never reachable.
            if stage.covered.contains(&path) {
                continue;
            }
            self.entry(stage, root, path, &inside, seen);
        }
    }

    /// Nothing is changed in a repository, whatever it is called, and no folder becomes one by this. A checkout that lies in
    /// a repository is a project.
    fn repositories(&mut self, stages: &[(Stage, OwnedFd)]) {
        let is_there = |path: &Path| {
            let look = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let in_stage = stages.iter().any(|(stage, root)| {
                let inside = path.strip_prefix(&stage.prefix);
                inside.is_ok_and(|inside| rustix::fs::openat2(root, inside, look, Mode::empty(), BENEATH).is_ok())
            });
            in_stage || walk::open(self.workspace, path).is_ok()
        };
        let mut known: BTreeMap<PathBuf, bool> = BTreeMap::new();
        let mut wrong = Vec::new();
        let removed = self.removed.iter().map(|(path, _)| path);
        for path in self.changed.iter().map(|change| &change.path).chain(removed) {
            let folder = path.parent().unwrap_or(Path::new(""));
            let is_in = *known.entry(folder.to_owned()).or_insert_with(|| {
                for above in folder.ancestors() {
                    if trusted::is_repository(|sign| is_there(&above.join(repository::written(sign)))) {
                        return true;
                    }
                    // One that the tool made is none.
                    if walk::open(self.workspace, &above.join(".git")).is_ok() {
                        return false;
                    }
                }
                repository::holds(self.workspace)
            });
            if is_in {
                wrong.push(format!("`{}` is in a repository, and trusted by others", path.display()));
            }
        }
        for what in wrong {
            self.wrong.add(what);
        }
    }

    /// A virtual environment of python, whatever it is called, and wherever the workspace lies in one.
    fn environments(&mut self) {
        for change in &self.changed {
            if is_in_environment(&self.workspace.join(&change.path)) {
                let shown = change.path.display();
                self.wrong.add(format!("`{shown}` is in a virtual environment, and trusted by others"));
            }
        }
    }

    fn entry(&mut self, stage: &Stage, root: &OwnedFd, path: PathBuf, inside: &Path, seen: &mut BTreeSet<PathBuf>) {
        let looked = rustix::fs::openat2(
            root,
            inside,
            OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC,
            Mode::empty(),
            BENEATH,
        )
        .and_then(rustix::fs::fstat);
        let Ok(stat) = looked else {
            self.wrong.add(format!("`{}` is no regular file", path.display()));
            return;
        };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => self.folder(stage, root, &path, inside, seen),
            FileType::RegularFile => {
                seen.insert(path.clone());
                match open_file(root, inside) {
                    Ok(content) => self.file(path, inside, content, &stat),
                    Err(error) => self.wrong.add(format!("`{}`: {error}", path.display())),
                }
            }
            _ => self.wrong.add(format!("`{}` is no regular file", path.display())),
        }
    }

    fn file(&mut self, path: PathBuf, inside: &Path, mut content: File, stat: &Stat) {
        let shown = path.to_string_lossy().into_owned();
        let before = self.copied.get(&path).copied();
        let after = match copy(&mut content, &mut io::sink(), u64::MAX) {
            Ok(after) => after,
            Err(error) => return self.wrong.add(format!("`{shown}` cannot be read: {error}")),
        };
        // What the tool left alone is none of its business any more, whatever others did to it.
        if before == Some(after) {
            return;
        }
        if let Some(trusted) = self.trusted {
            if stat.st_nlink != 1 || stat.st_mode & 0o6000 != 0 {
                self.wrong.add(format!("`{shown}` is linked or would run as somebody else"));
                return;
            }
            if !self.patterns.iter().any(|glob| glob.fits(&shown)) {
                self.wrong.add(format!("`{shown}` fits no pattern of `permissions.filesystem.write`"));
                return;
            }
            if trusted.is(&shown) {
                self.wrong.add(format!("`{shown}` is trusted by others"));
                return;
            }
        }
        let inside = inside.to_path_buf();
        self.changed.push(Change { path, stage: self.stage, inside, mode: stat.st_mode & 0o777, before, after });
    }
}

/// Whether a path lies where a virtual environment of python keeps what is run or loaded.
pub(super) fn is_in_environment(path: &Path) -> bool {
    path.ancestors().any(|inner| {
        let (Some(folder), Some(name)) = (inner.parent(), inner.file_name()) else { return false };
        trusted::is_of_environment(&name.to_string_lossy())
            && rustix::fs::stat(folder.join(trusted::ENVIRONMENT_SIGN)).is_ok()
    })
}

fn open_file(root: &OwnedFd, inside: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(rustix::fs::openat2(root, inside, flags, Mode::empty(), BENEATH)?.into())
}

/// What lies at a place of the workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum There {
    Nothing,
    File(Digest, Id),
    Other,
}

/// What is the same as long as nobody touched it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Id(u64, u64, i64, i64, u64);

impl Id {
    fn of(stat: &Stat) -> Id {
        Id(stat.st_dev, stat.st_ino, stat.st_size, stat.st_ctime, stat.st_ctime_nsec)
    }
}

impl There {
    fn at(workspace: &Path, path: &Path) -> There {
        let Ok(place) = walk::open(workspace, path) else {
            let parent = walk::open(workspace, path.parent().unwrap_or(Path::new("")));
            let found = parent.map(|folder| {
                rustix::fs::statat(&folder, path.file_name().unwrap_or_default(), AtFlags::SYMLINK_NOFOLLOW)
            });
            return if matches!(found, Ok(Ok(_))) { There::Other } else { There::Nothing };
        };
        let looked = (|| -> io::Result<Option<There>> {
            let stat = rustix::fs::fstat(&place)?;
            if !FileType::from_raw_mode(stat.st_mode).is_file() {
                return Ok(None);
            }
            let root = rustix::fs::open(workspace, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            let how = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
            let mut file = File::from(rustix::fs::openat2(root, path, flags, Mode::empty(), how)?);
            let id = Id::of(&rustix::fs::fstat(&file)?);
            Ok(Some(There::File(copy(&mut file, &mut io::sink(), u64::MAX)?, id)))
        })();
        // What cannot be compared is not replaced.
        looked.ok().flatten().unwrap_or(There::Other)
    }

    /// Whether nobody touched it since.
    fn is_still(self, folder: &OwnedFd, name: &std::ffi::OsStr) -> bool {
        match (self, rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)) {
            (There::Nothing, Err(rustix::io::Errno::NOENT)) => true,
            (There::File(_, id), Ok(stat)) => Id::of(&stat) == id,
            _ => false,
        }
    }
}

/// A change that lies beside its place, ready to be renamed.
struct Ready {
    path: PathBuf,
    temporary: String,
    /// What it may take the place of; nothing where somebody else was there first.
    over: Option<There>,
}

/// Opens one file at a time: there may be more than may be open.
fn take_over(
    workspace: &Path,
    stages: &[(Stage, OwnedFd)],
    changed: Vec<Change>,
    removed: Vec<(PathBuf, Digest)>,
) -> Result<Taken, String> {
    let mut ready = Vec::new();
    for change in changed {
        let over = match (change.before, There::at(workspace, &change.path)) {
            // Somebody else came to the same.
            (_, There::File(now, _)) if now == change.after => continue,
            (Some(before), now @ There::File(digest, _)) if digest == before => Some(now),
            (None, There::Nothing) => Some(There::Nothing),
            _ => None,
        };
        let content = open_file(&stages[change.stage].1, &change.inside);
        match content.and_then(|content| lay_beside(workspace, &change, content, over)) {
            Ok(one) => ready.push(one),
            Err(error) => {
                clear(workspace, ready);
                return Err(format!("nothing could be taken over: `{}`: {error}", change.path.display()));
            }
        }
    }
    let mut taken = Taken::default();
    let mut ready = ready.into_iter();
    while let Some(one) = ready.next() {
        if let Err(error) = put(workspace, &one, &mut taken) {
            let message = format!("`{}` could not be taken over: {error}", one.path.display());
            clear(workspace, std::iter::once(one).chain(ready));
            return Err(match taken.written.as_slice() {
                [] => message,
                written => format!("{message}; before it, this was taken over: `{}`", written.join("`, `")),
            });
        }
    }
    for (path, before) in removed {
        remove(workspace, &path, before, &mut taken).map_err(|error| {
            format!("all that was written was taken over, but `{}` was not removed: {error}", path.display())
        })?;
    }
    taken.written.sort();
    Ok(taken)
}

/// Removes what was laid beside. Best effort: the error that is told is the first one.
fn clear(workspace: &Path, ready: impl IntoIterator<Item = Ready>) {
    for one in ready {
        let _ = parent(workspace, &one.path)
            .and_then(|folder| Ok(rustix::fs::unlinkat(&folder, &one.temporary, AtFlags::empty())?));
    }
}

/// Puts a change in its place, or beside it where somebody else changed what is there.
fn put(workspace: &Path, one: &Ready, taken: &mut Taken) -> io::Result<()> {
    let name = one.path.file_name().unwrap_or_default();
    let folder = parent(workspace, &one.path)?;
    if let Some(over) = one.over.filter(|over| over.is_still(&folder, name)) {
        let renamed = match over {
            There::Nothing => mounts::rename_to_new(&folder, one.temporary.as_ref(), name),
            There::File(..) | There::Other => {
                rustix::fs::renameat(&folder, &one.temporary, &folder, name).map_err(Into::into)
            }
        };
        match renamed {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            other => {
                other?;
                taken.written.push(one.path.to_string_lossy().into_owned());
                return Ok(());
            }
        }
    }
    let beside = mounts::rename_beside(&folder, one.temporary.as_ref(), name, CONFLICT)?;
    let (shown, beside) = (one.path.display(), one.path.with_file_name(beside));
    let what = match There::at(workspace, &one.path) {
        There::Other => "is no file that can be replaced, and stays",
        There::Nothing => "was removed by somebody else while the tool ran, and stays so",
        There::File(..) => "was changed by somebody else while the tool ran, and stays so",
    };
    taken.conflicts.push(format!("`{shown}` {what}; the tool's version is `{}`", beside.display()));
    Ok(())
}

/// Removes a file the tool removed, unless somebody else changed it.
fn remove(workspace: &Path, path: &Path, before: Digest, taken: &mut Taken) -> io::Result<()> {
    let there = There::at(workspace, path);
    let name = path.file_name().unwrap_or_default();
    match there {
        There::Nothing => return Ok(()),
        There::File(now, _) if now == before => {
            let folder = parent(workspace, path)?;
            if there.is_still(&folder, name) {
                return Ok(rustix::fs::unlinkat(&folder, name, AtFlags::empty())?);
            }
        }
        There::File(..) | There::Other => {}
    }
    let shown = path.display();
    taken.conflicts.push(format!("`{shown}` was changed by somebody else while the tool ran, and was not removed"));
    Ok(())
}

fn parent(workspace: &Path, path: &Path) -> io::Result<OwnedFd> {
    mounts::make_folder(workspace, path.parent().unwrap_or(Path::new("")))
}

/// What the user lets nobody do to new files. It can only be asked for by setting it, which is for the whole process: so it
/// is read where the kernel shows it.
fn mask() -> u32 {
    let mut text = String::new();
    let opened = rustix::fs::open("/proc/self/status", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
    let read = opened.map(|file| File::from(file).take(64 << 10).read_to_string(&mut text));
    let line = read.ok().and_then(|_| text.lines().find_map(|line| line.strip_prefix("Umask:")));
    line.and_then(|mask| u32::from_str_radix(mask.trim(), 8).ok()).unwrap_or(0o022)
}

fn lay_beside(workspace: &Path, change: &Change, mut content: File, over: Option<There>) -> io::Result<Ready> {
    let folder = parent(workspace, &change.path)?;
    let name = change.path.file_name().unwrap_or_default();
    // Runs of one process are told apart by the number.
    let temporary = format!(".rep-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = File::from(rustix::fs::openat(&folder, &temporary, flags, Mode::from_raw_mode(0o600))?);
    let laid = (|| -> io::Result<()> {
        io::copy(&mut content, &mut file)?;
        let existing = rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW).ok();
        let existing = existing.filter(|stat| FileType::from_raw_mode(stat.st_mode).is_file());
        let owner = existing.map_or_else(|| rustix::fs::fstat(&folder), Ok)?;
        // Only root can give files away; for everybody else they are his own already.
        if rustix::process::geteuid().is_root() {
            rustix::fs::fchown(&file, Some(Uid::from_raw(owner.st_uid)), Some(Gid::from_raw(owner.st_gid)))?;
        }
        let mode = existing.map_or(change.mode & !mask(), |stat| stat.st_mode & 0o777);
        Ok(rustix::fs::fchmod(&file, Mode::from_raw_mode(mode))?)
    })();
    if let Err(error) = laid {
        // Best effort: the error that is told is the first one.
        let _ = rustix::fs::unlinkat(&folder, &temporary, AtFlags::empty());
        return Err(error);
    }
    Ok(Ready { path: change.path.clone(), temporary, over })
}
