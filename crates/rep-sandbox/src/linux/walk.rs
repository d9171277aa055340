//! Which files of a workspace fit patterns: without following a link, and within a budget.

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, ResolveFlags};

use rep_permissions::glob::Glob;

/// The most entries that are looked at.
const ENTRIES_MAX: usize = 1_000_000;

/// The most files that are shown one by one.
const FILES_MAX: usize = 20_000;

/// The deepest folder.
const DEPTH_MAX: usize = 128;

/// How a folder is opened to be listed.
const LISTING: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A regular file that fits.
pub(super) struct Found {
    /// Relative to the workspace.
    pub(super) path: PathBuf,
    pub(super) size_bytes: u64,
}

/// Opens what is below a folder, without following a link; for looking, not for reading.
pub(super) fn open(root: &Path, relative: &Path) -> io::Result<OwnedFd> {
    let root = rustix::fs::open(root, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let relative = if relative.as_os_str().is_empty() { Path::new(".") } else { relative };
    let how = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    Ok(rustix::fs::openat2(root, relative, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty(), how)?)
}

/// All regular files below `prefix` that fit one of the patterns, except in folders that are shown anyway.
pub(super) fn files(
    workspace: &Path,
    prefix: &str,
    patterns: &[Glob],
    shown: &[PathBuf],
) -> Result<Vec<Found>, String> {
    // What is not there, or behind a link, is not granted.
    let Ok(start) = open(workspace, Path::new(prefix)) else { return Ok(Vec::new()) };
    let mut walk = Walk { workspace, patterns, shown, entries: 0, found: Vec::new() };
    let Ok(listed) = rustix::fs::openat(start, ".", LISTING, Mode::empty()) else { return Ok(Vec::new()) };
    walk.folder(listed, Path::new(prefix), depth_max(patterns))?;
    walk.found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(walk.found)
}

/// How many parts a path that fits can have.
fn depth_max(patterns: &[Glob]) -> usize {
    let depth = |glob: &Glob| {
        let has_any = glob.as_str().split('/').any(|part| part == "**");
        if has_any { DEPTH_MAX } else { glob.as_str().split('/').count() }
    };
    patterns.iter().map(depth).max().unwrap_or(0)
}

struct Walk<'a> {
    workspace: &'a Path,
    patterns: &'a [Glob],
    shown: &'a [PathBuf],
    entries: usize,
    found: Vec<Found>,
}

impl Walk<'_> {
    /// Goes through a folder that was opened for listing. What its entries are is asked of the folder, and of them only where it does
    /// not know or where it matters: this may be a large project.
    fn folder(&mut self, listed: OwnedFd, path: &Path, depth_max: usize) -> Result<(), String> {
        let below = path.components().count();
        if below >= depth_max || self.shown.contains(&self.workspace.join(path)) {
            return Ok(());
        }
        let Ok(mut entries) = Dir::new(listed) else { return Ok(()) };
        while let Some(entry) = entries.read() {
            let Ok(entry) = entry else { continue };
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            self.entries += 1;
            if self.entries > ENTRIES_MAX {
                return Err(format!(
                    "more than {ENTRIES_MAX} files lie below `{}`; grant folders (`dir/**`)",
                    path.display()
                ));
            }
            let Ok(folder) = entries.fd() else { return Ok(()) };
            let stat = || rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
            let kind = match entry.file_type() {
                FileType::Unknown => stat().map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode)),
                known => known,
            };
            let inner = || path.join(OsStr::from_bytes(name.to_bytes()));
            match kind {
                FileType::Directory => {
                    // One the caller cannot list holds nothing he could grant, and it may be gone since it was listed.
                    if let Ok(listed) = rustix::fs::openat(folder, name, LISTING, Mode::empty()) {
                        self.folder(listed, &inner(), depth_max)?;
                    }
                }
                FileType::RegularFile if self.is_named(&name.to_string_lossy()) => {
                    let stat =
                        stat().ok().filter(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile);
                    if let Some(stat) = stat {
                        self.file(inner(), stat.st_size.cast_unsigned())?;
                    }
                }
                // Links, pipes, sockets and devices are never shown.
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether a file of this name could fit.
    fn is_named(&self, name: &str) -> bool {
        self.patterns.iter().any(|glob| glob.may_end_in(name))
    }

    fn file(&mut self, path: PathBuf, size_bytes: u64) -> Result<(), String> {
        let text = path.to_string_lossy();
        if !self.patterns.iter().any(|glob| glob.fits(&text)) {
            return Ok(());
        }
        if self.found.len() == FILES_MAX {
            return Err(format!("more than {FILES_MAX} files fit its patterns; grant folders (`dir/**`)"));
        }
        self.found.push(Found { path, size_bytes });
        Ok(())
    }
}
