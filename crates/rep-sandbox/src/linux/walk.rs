//! Finds the files in a workspace that match patterns, without following links and within limits.

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, ResolveFlags};

use rep_permissions::glob::Glob;

/// The maximum number of entries visited.
const ENTRIES_MAX: usize = 1_000_000;

/// The maximum number of files mounted individually.
const FILES_MAX: usize = 20_000;

/// The maximum directory depth.
const DEPTH_MAX: usize = 128;

/// The flags for opening a directory to list it.
const LISTING_FLAGS: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A matching regular file.
pub(super) struct MatchingFile {
    /// Relative to the workspace.
    pub(super) path: PathBuf,
    pub(super) size_bytes: u64,
}

/// Opens a path below a directory without following links. The descriptor cannot be used for reading.
pub(super) fn open_without_links(root: &Path, relative: &Path) -> io::Result<OwnedFd> {
    let root = rustix::fs::open(root, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let relative = if relative.as_os_str().is_empty() { Path::new(".") } else { relative };
    let how = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    Ok(rustix::fs::openat2(root, relative, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty(), how)?)
}

/// Returns all matching regular files below `prefix`, except in directories that are mounted anyway.
pub(super) fn find_files(
    workspace: &Path,
    prefix: &str,
    patterns: &[Glob],
    shown: &[PathBuf],
) -> Result<Vec<MatchingFile>, String> {
    // A path that does not exist, or is behind a link, is not granted.
    let Ok(start) = open_without_links(workspace, Path::new(prefix)) else { return Ok(Vec::new()) };
    let mut walk = PatternWalk { workspace, patterns, shown, entries: 0, found: Vec::new() };
    let Ok(listed) = rustix::fs::openat(start, ".", LISTING_FLAGS, Mode::empty()) else { return Ok(Vec::new()) };
    walk.walk_folder(listed, Path::new(prefix), depth_max(patterns))?;
    walk.found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(walk.found)
}

/// Returns the maximum number of components of a matching path.
fn depth_max(patterns: &[Glob]) -> usize {
    let depth = |glob: &Glob| {
        let has_any = glob.as_str().split('/').any(|part| part == "**");
        if has_any { DEPTH_MAX } else { glob.as_str().split('/').count() }
    };
    patterns.iter().map(depth).max().unwrap_or(0)
}

struct PatternWalk<'a> {
    workspace: &'a Path,
    patterns: &'a [Glob],
    shown: &'a [PathBuf],
    entries: usize,
    found: Vec<MatchingFile>,
}

impl PatternWalk<'_> {
    /// Walks an open directory. File types come from the directory entries; a file is inspected only if its type is
    /// unknown or its metadata is needed, because projects can be large.
    fn walk_folder(&mut self, listed: OwnedFd, path: &Path, depth_max: usize) -> Result<(), String> {
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
                    "more than {ENTRIES_MAX} files below `{}`; grant whole directories (`dir/**`)",
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
                    // The caller could not grant files in a directory that it cannot list. It may also have been
                    // removed.
                    if let Ok(listed) = rustix::fs::openat(folder, name, LISTING_FLAGS, Mode::empty()) {
                        self.walk_folder(listed, &inner(), depth_max)?;
                    }
                }
                FileType::RegularFile if self.can_match_name(&name.to_string_lossy()) => {
                    let stat =
                        stat().ok().filter(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile);
                    if let Some(stat) = stat {
                        self.add_if_matching(inner(), stat.st_size.cast_unsigned())?;
                    }
                }
                // Links, pipes, sockets and devices are never mounted.
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether a file with this name could match.
    fn can_match_name(&self, name: &str) -> bool {
        self.patterns.iter().any(|glob| glob.can_end_in(name))
    }

    fn add_if_matching(&mut self, path: PathBuf, size_bytes: u64) -> Result<(), String> {
        let text = path.to_string_lossy();
        if !self.patterns.iter().any(|glob| glob.matches(&text)) {
            return Ok(());
        }
        if self.found.len() == FILES_MAX {
            return Err(format!("more than {FILES_MAX} files match its patterns; grant whole directories (`dir/**`)"));
        }
        self.found.push(MatchingFile { path, size_bytes });
        Ok(())
    }
}
