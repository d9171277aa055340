//! Going through a folder by descriptors, however long its paths are, and in little memory, however much is in it. What is
//! done about what is found is up to who looks.

use std::ffi::{CString, OsStr};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Dir, FileType, Mode, OFlags, Stat};

use super::super::trusted::{self, Kind, Trusted};
use super::super::walk;

/// The deepest folder. Each holds two descriptors open.
const DEPTH_MAX: usize = 128;

/// The longest path. The kernel takes 4096 bytes, and the workspace has its share of them.
const PATH_BYTES_MAX: usize = 3_000;

/// How much of each end of a long path is told.
const TOLD_LETTERS: usize = 100;

/// How many entries of a folder are held in memory at once.
const BATCH: usize = 1_000;

/// What is done about what is found. Paths are relative to the workspace.
pub(super) trait Looker {
    /// A folder that is a repository or a virtual environment. Gives what it counts as.
    fn place(&mut self, folder: &OwnedFd, path: &Path, kind: Kind) -> Kind;

    /// Something that is no folder and bears a trusted name, or lies in a folder of which all is trusted.
    fn name(&mut self, folder: &OwnedFd, path: &Path, is_in_whole: bool);

    /// A folder of which all is trusted, and that lies in none.
    fn whole(&mut self, folder: &OwnedFd, path: &Path, stat: &Stat) -> Next;

    /// Whether a folder in a repository is a checkout, which is a project: one that has a `.git` that nobody just planted.
    fn is_project(&self, opened: &OwnedFd, path: &Path) -> bool;

    /// A folder that is too deep to be gone through.
    fn deep(&mut self, folder: &OwnedFd, path: &Path);

    /// A folder nobody can list.
    fn closed(&mut self, path: &Path, stat: &Stat);

    /// What was not looked at, and why.
    fn unseen(&mut self, what: String);

    /// Whether no more is wanted.
    fn is_done(&self) -> bool {
        false
    }
}

/// How to go on at a folder of which all is trusted.
pub(super) enum Next {
    /// Through what is in it.
    Into,
    /// Not through it.
    Past,
    /// Through what is in it, under another name, by which nobody trusts it.
    As(PathBuf),
}

/// A way through a folder.
pub(super) struct Look<'a, L: Looker> {
    pub(super) trusted: &'a Trusted,
    pub(super) looker: &'a mut L,
    /// Whether folders that cannot be listed are opened up.
    pub(super) opens_up: bool,
    pub(super) entries_max: usize,
    pub(super) entries: usize,
}

impl<L: Looker> Look<'_, L> {
    /// Goes through a folder of a workspace.
    pub(super) fn below(&mut self, workspace: &Path, folder: &Path) {
        match walk::open(workspace, folder) {
            Ok(_) if is_too_deep(folder) => self.looker.unseen(format!("`{}` is too deep", cut(folder))),
            Ok(start) => self.folder(&start, folder, false),
            Err(error) => self.looker.unseen(format!("`{}`: {error}", cut(folder))),
        }
    }

    fn folder(&mut self, folder: &OwnedFd, path: &Path, is_whole: bool) {
        let listed = self.signs(folder).and_then(|signs| Ok((signs, list(folder)?)));
        let (signs, mut entries) = match (listed, rustix::fs::fstat(folder)) {
            (Ok(listed), _) => listed,
            (Err(_), Ok(stat)) => return self.looker.closed(path, &stat),
            (Err(_), Err(error)) => return self.looker.unseen(format!("`{}`: {error}", cut(path))),
        };
        let mut kind = self.trusted.kind(signs.iter().map(|name| name.to_bytes()));
        if kind.is_environment || kind.is_repository {
            kind = self.looker.place(folder, path, kind);
        }
        loop {
            let batch = match batch(&mut entries) {
                Ok(batch) if batch.is_empty() => return,
                Ok(batch) => batch,
                Err(error) => return self.looker.unseen(format!("`{}`: {error}", cut(path))),
            };
            for (name, is_folder) in batch {
                self.entries += 1;
                if self.entries > self.entries_max || self.looker.is_done() {
                    if self.entries == self.entries_max + 1 {
                        self.looker.unseen(format!("more than {} files lie below", self.entries_max));
                    }
                    return;
                }
                let inner = path.join(OsStr::from_bytes(name.to_bytes()));
                if is_folder {
                    self.inner(folder, &inner, kind, is_whole);
                } else if is_whole || self.is_named(&inner, kind) {
                    self.looker.name(folder, &inner, is_whole);
                }
            }
        }
    }

    /// Whether something in a folder of some kind is trusted by its name.
    fn is_named(&self, path: &Path, kind: Kind) -> bool {
        kind.trusts(&path.file_name().unwrap_or_default().to_string_lossy()) || self.trusted.is(&path.to_string_lossy())
    }

    /// What is a folder, or may be one, in a folder of some kind.
    fn inner(&mut self, folder: &OwnedFd, path: &Path, kind: Kind, is_in_whole: bool) {
        let name = path.file_name().unwrap_or_default();
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(folder, name, flags, Mode::empty())
            .and_then(|opened| Ok((rustix::fs::fstat(&opened)?, opened)));
        let (stat, opened) = match opened {
            Ok(opened) => opened,
            // It may be gone since it was listed.
            Err(rustix::io::Errno::NOENT) => return,
            Err(error) => return self.looker.unseen(format!("`{}`: {error}", cut(path))),
        };
        if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
            if is_in_whole || self.is_named(path, kind) {
                self.looker.name(folder, path, is_in_whole);
            }
            return;
        }
        let is_project = || kind.is_repository && self.looker.is_project(&opened, path);
        let is_whole = is_in_whole
            || kind.trusts(&name.to_string_lossy()) && !is_project()
            || self.trusted.is(&format!("{}/x", path.display()));
        let mut next = Next::Into;
        if is_whole && !is_in_whole {
            next = self.looker.whole(folder, path, &stat);
        }
        match next {
            Next::Past => {}
            // It is bound as a whole, and can be very much.
            Next::Into if is_whole && trusted::is_bulk(path) => {}
            Next::Into if is_too_deep(path) => self.looker.deep(folder, path),
            Next::Into => self.folder(&opened, path, is_whole),
            Next::As(other) if is_too_deep(&other) => self.looker.deep(folder, &other),
            Next::As(other) => self.folder(&opened, &other, false),
        }
    }

    /// The names in a folder by which it can be told what it is.
    fn signs(&self, folder: &OwnedFd) -> io::Result<Vec<CString>> {
        if self.opens_up {
            // Names in a folder one cannot enter can be listed, and no more.
            open_up(folder, 0o500)?;
        }
        let mut signs = Vec::new();
        for entry in list(folder)? {
            let entry = entry?;
            if trusted::is_sign(entry.file_name().to_bytes()) {
                signs.push(entry.file_name().to_owned());
            }
        }
        Ok(signs)
    }
}

/// Whether a folder is too deep to be gone through, or its path too long to be named.
fn is_too_deep(path: &Path) -> bool {
    path.components().count() >= DEPTH_MAX || path.as_os_str().len() > PATH_BYTES_MAX
}

/// The entries of a folder that is open for looking.
pub(super) fn list(folder: &OwnedFd) -> io::Result<Dir> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(Dir::new(rustix::fs::openat(folder, ".", flags, Mode::empty())?)?)
}

/// The next entries of a folder, and whether they are or may be folders. Things are renamed while a folder is gone through,
/// but not while its entries are read.
fn batch(entries: &mut Dir) -> io::Result<Vec<(CString, bool)>> {
    let mut batch = Vec::new();
    for entry in entries.by_ref() {
        let entry = entry?;
        if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
            let is_folder = matches!(entry.file_type(), FileType::Directory | FileType::Unknown);
            batch.push((entry.file_name().to_owned(), is_folder));
        }
        if batch.len() == BATCH {
            break;
        }
    }
    Ok(batch)
}

/// Lets its owner do what is needed in a folder. Somebody else's folder stays as it is.
pub(super) fn open_up(folder: &OwnedFd, needed: u32) -> io::Result<()> {
    let stat = rustix::fs::fstat(folder)?;
    let is_own = stat.st_uid == rustix::process::geteuid().as_raw();
    if is_own && stat.st_mode & needed != needed {
        // A descriptor for looking only cannot be changed by number, but by its name in `/proc`.
        let name = format!("/proc/self/fd/{}", folder.as_raw_fd());
        rustix::fs::chmod(name, Mode::from_raw_mode(stat.st_mode & 0o7777 | needed))?;
    }
    Ok(())
}

/// A path as it is told: both of its ends, because a tool can make very long ones.
pub(super) fn cut(path: &Path) -> String {
    let text = path.to_string_lossy();
    let count = text.chars().count();
    if count <= 2 * TOLD_LETTERS {
        return text.into_owned();
    }
    let start: String = text.chars().take(TOLD_LETTERS).collect();
    let end: String = text.chars().skip(count - TOLD_LETTERS).collect();
    format!("{start}…{end}")
}
