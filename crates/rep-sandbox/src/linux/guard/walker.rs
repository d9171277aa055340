//! Walks a directory by descriptors, with paths of any length and bounded memory. A visitor handles what is found.

use std::ffi::{CString, OsStr};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Dir, FileType, Mode, OFlags, Stat};

use super::super::protected_paths::{self, ProtectedFolderKind, ProtectedPaths};
use super::super::walk;

/// The maximum directory depth. Each level holds two open descriptors.
const DEPTH_MAX: usize = 128;

/// The maximum path length. The kernel accepts 4096 bytes, which include the workspace.
const PATH_BYTES_MAX: usize = 3_000;

/// The number of characters shown at each end of a long path.
const SHOWN_CHARS: usize = 100;

/// The maximum number of directory entries in memory at once.
const BATCH_MAX: usize = 1_000;

/// Handles what a walk finds. Paths are relative to the workspace.
pub(super) trait FolderVisitor {
    /// Visits a repository or virtual environment. Returns the kind that it counts as.
    fn visit_marked_folder(&mut self, folder: &OwnedFd, path: &Path, kind: ProtectedFolderKind) -> ProtectedFolderKind;

    /// Visits a protected entry that is not a directory, or an entry of a protected directory.
    fn visit_protected_entry(&mut self, folder: &OwnedFd, path: &Path, is_in_whole: bool);

    /// Visits an outermost directory that is protected as a whole.
    fn visit_protected_folder(&mut self, folder: &OwnedFd, path: &Path, stat: &Stat) -> WalkDecision;

    /// Whether a directory in a repository is a checkout: it has a `.git` that already existed.
    fn is_checkout(&self, opened: &OwnedFd, path: &Path) -> bool;

    /// Visits a directory that is nested too deeply.
    fn visit_too_deep(&mut self, folder: &OwnedFd, path: &Path);

    /// Visits a directory that cannot be listed.
    fn visit_unlistable(&mut self, path: &Path, stat: &Stat);

    /// Reports an entry that was not inspected, and why.
    fn report_unseen(&mut self, what: String);

    /// Whether the walk should stop.
    fn is_done(&self) -> bool {
        false
    }
}

/// How to continue at a protected directory.
pub(super) enum WalkDecision {
    /// Walk its content.
    Descend,
    /// Skip it.
    Skip,
    /// Walk its content under a new name, which is not protected.
    DescendAs(PathBuf),
}

/// A walk through a directory.
pub(super) struct FolderWalker<'a, L: FolderVisitor> {
    pub(super) protected: &'a ProtectedPaths,
    pub(super) visitor: &'a mut L,
    /// Whether directories that cannot be listed are made accessible.
    pub(super) makes_accessible: bool,
    pub(super) entries_max: usize,
    pub(super) entries: usize,
}

impl<L: FolderVisitor> FolderWalker<'_, L> {
    /// Walks a directory of a workspace.
    pub(super) fn walk_below(&mut self, workspace: &Path, folder: &Path) {
        match walk::open_without_links(workspace, folder) {
            Ok(_) if is_too_deep(folder) => {
                self.visitor.report_unseen(format!("`{}` is nested too deeply", shorten_path(folder)));
            }
            Ok(start) => self.walk_folder(&start, folder, false),
            Err(error) => self.visitor.report_unseen(format!("`{}`: {error}", shorten_path(folder))),
        }
    }

    fn walk_folder(&mut self, folder: &OwnedFd, path: &Path, is_whole: bool) {
        let listed = self.read_markers(folder).and_then(|signs| Ok((signs, list_entries(folder)?)));
        let (signs, mut entries) = match (listed, rustix::fs::fstat(folder)) {
            (Ok(listed), _) => listed,
            (Err(_), Ok(stat)) => return self.visitor.visit_unlistable(path, &stat),
            (Err(_), Err(error)) => return self.visitor.report_unseen(format!("`{}`: {error}", shorten_path(path))),
        };
        let mut kind = self.protected.classify_folder(signs.iter().map(|name| name.to_bytes()));
        if kind.is_environment || kind.is_repository {
            kind = self.visitor.visit_marked_folder(folder, path, kind);
        }
        loop {
            let batch = match next_batch(&mut entries) {
                Ok(batch) if batch.is_empty() => return,
                Ok(batch) => batch,
                Err(error) => return self.visitor.report_unseen(format!("`{}`: {error}", shorten_path(path))),
            };
            for (name, is_folder) in batch {
                self.entries += 1;
                if self.entries > self.entries_max || self.visitor.is_done() {
                    if self.entries == self.entries_max + 1 {
                        self.visitor.report_unseen(format!("there are more than {} files", self.entries_max));
                    }
                    return;
                }
                let inner = path.join(OsStr::from_bytes(name.to_bytes()));
                if is_folder {
                    self.walk_subfolder(folder, &inner, kind, is_whole);
                } else if is_whole || self.is_protected_entry(&inner, kind) {
                    self.visitor.visit_protected_entry(folder, &inner, is_whole);
                }
            }
        }
    }

    /// Whether an entry of a directory of this kind is protected by its name.
    fn is_protected_entry(&self, path: &Path, kind: ProtectedFolderKind) -> bool {
        kind.protects(&path.file_name().unwrap_or_default().to_string_lossy())
            || self.protected.is_protected(&path.to_string_lossy())
    }

    /// Visits an entry that is or may be a directory.
    fn walk_subfolder(&mut self, folder: &OwnedFd, path: &Path, kind: ProtectedFolderKind, is_in_whole: bool) {
        let name = path.file_name().unwrap_or_default();
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(folder, name, flags, Mode::empty())
            .and_then(|opened| Ok((rustix::fs::fstat(&opened)?, opened)));
        let (stat, opened) = match opened {
            Ok(opened) => opened,
            // It may have been removed since it was listed.
            Err(rustix::io::Errno::NOENT) => return,
            Err(error) => return self.visitor.report_unseen(format!("`{}`: {error}", shorten_path(path))),
        };
        if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
            if is_in_whole || self.is_protected_entry(path, kind) {
                self.visitor.visit_protected_entry(folder, path, is_in_whole);
            }
            return;
        }
        let is_project = || kind.is_repository && self.visitor.is_checkout(&opened, path);
        let is_whole = is_in_whole
            || kind.protects(&name.to_string_lossy()) && !is_project()
            || self.protected.is_protected(&format!("{}/x", path.display()));
        let mut next = WalkDecision::Descend;
        if is_whole && !is_in_whole {
            next = self.visitor.visit_protected_folder(folder, path, &stat);
        }
        match next {
            WalkDecision::Skip => {}
            // It is mounted read-only as a whole, and can be very large.
            WalkDecision::Descend if is_whole && protected_paths::is_bulk_folder(path) => {}
            WalkDecision::Descend if is_too_deep(path) => self.visitor.visit_too_deep(folder, path),
            WalkDecision::Descend => self.walk_folder(&opened, path, is_whole),
            WalkDecision::DescendAs(other) if is_too_deep(&other) => self.visitor.visit_too_deep(folder, &other),
            WalkDecision::DescendAs(other) => self.walk_folder(&opened, &other, false),
        }
    }

    /// Reads the names that identify the kind of a directory.
    fn read_markers(&self, folder: &OwnedFd) -> io::Result<Vec<CString>> {
        if self.makes_accessible {
            // Without search permission, names can be listed, but not inspected.
            make_accessible(folder, 0o500)?;
        }
        let mut signs = Vec::new();
        for entry in list_entries(folder)? {
            let entry = entry?;
            if protected_paths::is_folder_marker(entry.file_name().to_bytes()) {
                signs.push(entry.file_name().to_owned());
            }
        }
        Ok(signs)
    }
}

/// Whether a directory is nested too deeply, or its path is too long.
fn is_too_deep(path: &Path) -> bool {
    path.components().count() >= DEPTH_MAX || path.as_os_str().len() > PATH_BYTES_MAX
}

/// Lists an open directory.
pub(super) fn list_entries(folder: &OwnedFd) -> io::Result<Dir> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(Dir::new(rustix::fs::openat(folder, ".", flags, Mode::empty())?)?)
}

/// Returns the next entries of a directory, each with whether it is or may be a directory. Entries are renamed during
/// the walk, but not while a batch is read.
fn next_batch(entries: &mut Dir) -> io::Result<Vec<(CString, bool)>> {
    let mut batch = Vec::new();
    for entry in entries.by_ref() {
        let entry = entry?;
        if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
            let is_folder = matches!(entry.file_type(), FileType::Directory | FileType::Unknown);
            batch.push((entry.file_name().to_owned(), is_folder));
        }
        if batch.len() == BATCH_MAX {
            break;
        }
    }
    Ok(batch)
}

/// Gives the owner the needed permissions on a directory. A directory of another user is not changed.
pub(super) fn make_accessible(folder: &OwnedFd, needed: u32) -> io::Result<()> {
    let stat = rustix::fs::fstat(folder)?;
    let is_own = stat.st_uid == rustix::process::geteuid().as_raw();
    if is_own && stat.st_mode & needed != needed {
        // The mode of an `O_PATH` descriptor can only be changed through its name in `/proc`.
        let name = format!("/proc/self/fd/{}", folder.as_raw_fd());
        rustix::fs::chmod(name, Mode::from_raw_mode(stat.st_mode & 0o7777 | needed))?;
    }
    Ok(())
}

/// Shortens a path to both of its ends, because a tool can create very long paths.
pub(super) fn shorten_path(path: &Path) -> String {
    let text = path.to_string_lossy();
    let count = text.chars().count();
    if count <= 2 * SHOWN_CHARS {
        return text.into_owned();
    }
    let start: String = text.chars().take(SHOWN_CHARS).collect();
    let end: String = text.chars().skip(count - SHOWN_CHARS).collect();
    format!("{start}…{end}")
}
