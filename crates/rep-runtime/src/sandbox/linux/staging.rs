//! Writing by name: what a tool left in a stage is judged, and taken over as a whole or not at all.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Gid, Mode, OFlags, ResolveFlags, Uid};

use super::view::Stage;
use super::{mounts, trusted, walk};
use crate::glob::Glob;

/// The deepest folder in a stage. A tool can make deeper ones; none is taken over.
const DEPTH_MAX: usize = 64;

/// The most violations that are told.
const TOLD_MAX: usize = 20;

const BENEATH: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS).union(ResolveFlags::NO_XDEV);

/// Takes over what fits, and says which files of the workspace that changed; or what does not fit, having changed
/// nothing.
pub(super) fn commit(
    workspace: &Path,
    stages: &[(Stage, OwnedFd)],
    patterns: &[Glob],
    is_judged: bool,
) -> Result<Vec<String>, String> {
    let mut verdict = Verdict {
        workspace,
        patterns,
        is_judged,
        stage: 0,
        changed: Vec::new(),
        removed: Vec::new(),
        wrong: Vec::new(),
    };
    for (number, (stage, root)) in stages.iter().enumerate() {
        verdict.stage = number;
        let mut seen = BTreeSet::new();
        verdict.folder(stage, root, Path::new(&stage.prefix), Path::new(""), &mut seen);
        for gone in stage.copied.difference(&seen) {
            if trusted::is(&gone.to_string_lossy()) {
                verdict.wrong.push(format!("removed `{}`, which others trust", gone.display()));
            } else {
                verdict.removed.push(gone.clone());
            }
        }
    }
    if is_judged {
        verdict.repositories(stages);
    }
    if !verdict.wrong.is_empty() {
        return Err(told(verdict.wrong));
    }
    take_over(workspace, stages, verdict.changed, &verdict.removed)
        .map_err(|error| format!("nothing could be taken over: {error}"))
}

/// The first violations, and how many there are besides.
pub(super) fn told(mut wrong: Vec<String>) -> String {
    let more = wrong.len().saturating_sub(TOLD_MAX);
    wrong.truncate(TOLD_MAX);
    if more > 0 {
        wrong.push(format!("and {more} more"));
    }
    wrong.join("; ")
}

struct Change {
    path: PathBuf,
    /// Which stage it is in, and where.
    stage: usize,
    inside: PathBuf,
    mode: u32,
}

struct Verdict<'a> {
    workspace: &'a Path,
    patterns: &'a [Glob],
    is_judged: bool,
    /// The one that is judged.
    stage: usize,
    changed: Vec<Change>,
    removed: Vec<PathBuf>,
    wrong: Vec<String>,
}

impl Verdict<'_> {
    /// Judges a folder of a stage; `path` is relative to the workspace, `inside` to the stage.
    fn folder(&mut self, stage: &Stage, root: &OwnedFd, path: &Path, inside: &Path, seen: &mut BTreeSet<PathBuf>) {
        if inside.components().count() > DEPTH_MAX {
            self.wrong.push(format!("`{}` is too deep", path.display()));
            return;
        }
        let relative = if inside.as_os_str().is_empty() { Path::new(".") } else { inside };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let listed = rustix::fs::openat2(root, relative, flags, Mode::empty(), BENEATH).and_then(Dir::new);
        let Ok(entries) = listed else {
            self.wrong.push(format!("`{}` cannot be read", path.display()));
            return;
        };
        for entry in entries {
            let Ok(entry) = entry else {
                self.wrong.push(format!("`{}` cannot be read", path.display()));
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

    /// A folder that would be a repository, whatever it is called: what is changed in it must not be run or lead
    /// elsewhere, and it must not become one by this.
    fn repositories(&mut self, stages: &[(Stage, OwnedFd)]) {
        let is_at = |path: &Path| {
            let look = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let in_stage = stages.iter().any(|(stage, root)| {
                let inside = path.strip_prefix(&stage.prefix);
                inside.is_ok_and(|inside| rustix::fs::openat2(root, inside, look, Mode::empty(), BENEATH).is_ok())
            });
            in_stage || walk::open(self.workspace, path).is_ok()
        };
        let mut wrong = BTreeSet::new();
        for change in &self.changed {
            for path in change.path.ancestors() {
                let (Some(name), Some(folder)) = (path.file_name(), path.parent()) else { continue };
                let name = name.to_string_lossy();
                let is_repository = || ["HEAD", "objects", "refs"].iter().all(|sign| is_at(&folder.join(sign)));
                let was_one = || {
                    ["HEAD", "objects", "refs"]
                        .iter()
                        .all(|sign| walk::open(self.workspace, &folder.join(sign)).is_ok())
                };
                let makes_one = trusted::is_repository_sign(&name) && !was_one();
                if (trusted::is_of_repository(&name) || makes_one) && !folder.ends_with(".git") && is_repository() {
                    wrong.insert(format!("`{}` is in a repository, and trusted by others", change.path.display()));
                }
            }
        }
        self.wrong.extend(wrong);
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
            self.wrong.push(format!("`{}` is no regular file", path.display()));
            return;
        };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => self.folder(stage, root, &path, inside, seen),
            FileType::RegularFile => {
                seen.insert(path.clone());
                match open_file(root, inside) {
                    Ok(content) => self.file(stage, path, inside, content, &stat),
                    Err(error) => self.wrong.push(format!("`{}`: {error}", path.display())),
                }
            }
            _ => self.wrong.push(format!("`{}` is no regular file", path.display())),
        }
    }

    fn file(&mut self, stage: &Stage, path: PathBuf, inside: &Path, mut content: File, stat: &rustix::fs::Stat) {
        let shown = path.to_string_lossy().into_owned();
        if stage.copied.contains(&path) && is_same(self.workspace, &path, &mut content) {
            return;
        }
        if self.is_judged {
            if stat.st_nlink != 1 || stat.st_mode & 0o6000 != 0 {
                self.wrong.push(format!("`{shown}` is linked or would run as somebody else"));
                return;
            }
            if !self.patterns.iter().any(|glob| glob.fits(&shown)) {
                self.wrong.push(format!("`{shown}` fits no pattern of `permissions.filesystem.write`"));
                return;
            }
            if trusted::is(&shown) {
                self.wrong.push(format!("`{shown}` is trusted by others"));
                return;
            }
        }
        let inside = inside.to_path_buf();
        self.changed.push(Change { path, stage: self.stage, inside, mode: stat.st_mode & 0o777 });
    }
}

fn open_file(root: &OwnedFd, inside: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(rustix::fs::openat2(root, inside, flags, Mode::empty(), BENEATH)?.into())
}

/// Whether a file of the workspace has the same bytes. Leaves the other file at its start.
fn is_same(workspace: &Path, path: &Path, content: &mut File) -> bool {
    let same = (|| -> io::Result<bool> {
        let root = rustix::fs::open(workspace, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let how = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        let mut original: File = rustix::fs::openat2(root, path, flags, Mode::empty(), how)?.into();
        if original.metadata()?.len() != content.metadata()?.len() {
            return Ok(false);
        }
        let (mut a, mut b) = (vec![0; 64 << 10], vec![0; 64 << 10]);
        loop {
            let length = original.read(&mut a)?;
            if length == 0 {
                return Ok(true);
            }
            content.read_exact(&mut b[..length])?;
            if a[..length] != b[..length] {
                return Ok(false);
            }
        }
    })();
    // A file that cannot be compared counts as changed.
    let rewound = rustix::fs::seek(&*content, rustix::fs::SeekFrom::Start(0));
    same.unwrap_or(false) && rewound.is_ok()
}

/// A change that lies beside its place, ready to be renamed.
struct Ready {
    path: PathBuf,
    temporary: String,
}

/// Opens one file at a time: there may be more than may be open.
fn take_over(
    workspace: &Path,
    stages: &[(Stage, OwnedFd)],
    changed: Vec<Change>,
    removed: &[PathBuf],
) -> io::Result<Vec<String>> {
    let mut ready = Vec::new();
    for (number, change) in changed.into_iter().enumerate() {
        let content = open_file(&stages[change.stage].1, &change.inside);
        match content.and_then(|content| lay_beside(workspace, &change, content, number)) {
            Ok(one) => ready.push(one),
            Err(error) => {
                for one in ready {
                    // Best effort: the error that is told is the first one.
                    let _ = parent(workspace, &one.path)
                        .and_then(|folder| Ok(rustix::fs::unlinkat(&folder, &one.temporary, AtFlags::empty())?));
                }
                return Err(error);
            }
        }
    }
    let mut written = Vec::new();
    for one in ready {
        let name = one.path.file_name().unwrap_or_default();
        let folder = parent(workspace, &one.path)?;
        rustix::fs::renameat(&folder, &one.temporary, &folder, name)?;
        written.push(one.path.to_string_lossy().into_owned());
    }
    for path in removed {
        let folder = parent(workspace, path)?;
        match rustix::fs::unlinkat(&folder, path.file_name().unwrap_or_default(), AtFlags::empty()) {
            Ok(()) | Err(rustix::io::Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
    }
    written.sort();
    Ok(written)
}

fn parent(workspace: &Path, path: &Path) -> io::Result<OwnedFd> {
    mounts::make_folder(workspace, path.parent().unwrap_or(Path::new("")))
}

fn lay_beside(workspace: &Path, change: &Change, mut content: File, number: usize) -> io::Result<Ready> {
    let folder = parent(workspace, &change.path)?;
    let name = change.path.file_name().unwrap_or_default();
    let temporary = format!(".rep-{}-{number}", std::process::id());
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
        let mode = existing.map_or(change.mode, |stat| stat.st_mode & 0o777);
        Ok(rustix::fs::fchmod(&file, Mode::from_raw_mode(mode))?)
    })();
    if let Err(error) = laid {
        // Best effort: the error that is told is the first one.
        let _ = rustix::fs::unlinkat(&folder, &temporary, AtFlags::empty());
        return Err(error);
    }
    Ok(Ready { path: change.path.clone(), temporary })
}
