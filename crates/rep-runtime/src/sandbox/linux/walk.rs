//! Which files of a workspace fit patterns: without following a link, and within a budget.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Dir, FileType, Mode, OFlags, ResolveFlags};

use crate::glob::Glob;

/// The most entries that are looked at.
const ENTRIES_MAX: usize = 200_000;

/// The most files that are shown one by one.
const FILES_MAX: usize = 20_000;

/// The deepest folder.
const DEPTH_MAX: usize = 128;

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
    walk.folder(&start, Path::new(prefix), depth_max(patterns))?;
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
    fn folder(&mut self, folder: &OwnedFd, path: &Path, depth_max: usize) -> Result<(), String> {
        let below = path.components().count();
        let whole = self.workspace.join(path);
        if below >= depth_max || self.shown.contains(&whole) {
            return Ok(());
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        // A folder the caller cannot list holds nothing he could grant.
        let Ok(listed) = rustix::fs::openat(folder, ".", flags, Mode::empty()) else { return Ok(()) };
        let Ok(entries) = Dir::new(listed) else { return Ok(()) };
        for entry in entries.flatten() {
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
            let path = path.join(std::ffi::OsStr::from_bytes(name.to_bytes()));
            let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            // It may be gone since it was listed.
            let Ok(opened) = rustix::fs::openat(folder, name, flags, Mode::empty()) else { continue };
            let Ok(stat) = rustix::fs::fstat(&opened) else { continue };
            match FileType::from_raw_mode(stat.st_mode) {
                FileType::Directory => self.folder(&opened, &path, depth_max)?,
                FileType::RegularFile => self.file(path, stat.st_size.cast_unsigned())?,
                // Links, pipes, sockets and devices are never shown.
                _ => {}
            }
        }
        Ok(())
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
