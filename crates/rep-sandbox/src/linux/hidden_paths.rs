//! Finds everything that shows the hidden directories: the directories themselves, their other paths, mounts of their
//! parts, and hard links to their files.

use std::collections::BTreeSet;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags};

use super::mount_table::{FileId, MountTable};

/// The maximum number of entries searched for hard links.
const ENTRIES_MAX: usize = 1_000_000;

/// The maximum directory depth of that search.
const DEPTH_MAX: usize = 128;

/// The paths that no tool may see.
#[derive(Debug, Default)]
pub(super) struct HiddenPaths {
    /// The directories under each of their paths, and directories inside them that are mounted elsewhere.
    pub(super) folders: Vec<PathBuf>,
    /// Files inside them that are mounted elsewhere.
    pub(super) files: Vec<PathBuf>,
    /// Files directly inside them that have further hard links.
    linked: BTreeSet<FileId>,
}

impl HiddenPaths {
    /// Looks up the hidden directories, whose paths must be resolved.
    pub(super) fn find(hidden: &[PathBuf], mounts: &MountTable) -> HiddenPaths {
        let mut found = HiddenPaths::default();
        for folder in hidden {
            found.folders.push(folder.clone());
            found.folders.extend(mounts.find_aliases(folder));
            for point in mounts.find_inner_mounts(folder) {
                let is_folder = rustix::fs::statat(CWD, &point, AtFlags::SYMLINK_NOFOLLOW)
                    .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode).is_dir());
                if is_folder { &mut found.folders } else { &mut found.files }.push(point);
            }
            found.linked.extend(find_linked_files(folder));
        }
        found
    }

    /// Whether the path of a file is one of a hidden file.
    pub(super) fn is_hard_link(&self, file: &Path) -> bool {
        !self.linked.is_empty() && FileId::read(file).is_some_and(|id| self.linked.contains(&id))
    }

    /// Searches a directory for a hard link to a hidden file, outside of the hidden directories.
    pub(super) fn find_hard_link(&self, folder: &Path) -> Result<Option<PathBuf>, String> {
        let mut entries = 0;
        match (self.linked.is_empty(), open_folder(folder)) {
            (false, Some(opened)) => self.search_folder(opened, folder, 0, &mut entries),
            _ => Ok(None),
        }
    }

    fn search_folder(
        &self,
        opened: OwnedFd,
        path: &Path,
        depth: usize,
        entries: &mut usize,
    ) -> Result<Option<PathBuf>, String> {
        if self.folders.iter().any(|hidden| hidden == path) {
            return Ok(None);
        }
        let Ok(mut listed) = Dir::new(opened) else { return Ok(None) };
        while let Some(entry) = listed.read() {
            let Ok(entry) = entry else { continue };
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            *entries += 1;
            if *entries > ENTRIES_MAX || depth > DEPTH_MAX {
                return Err(format!("`{}` is too large to search for links to hidden files", path.display()));
            }
            let inner = path.join(std::ffi::OsStr::from_bytes(name.to_bytes()));
            let is_candidate = self.linked.iter().any(|id| id.inode() == entry.ino());
            if is_candidate && self.is_hard_link(&inner) {
                return Ok(Some(inner));
            }
            if matches!(entry.file_type(), FileType::Directory | FileType::Unknown)
                && let Some(opened) = open_folder(&inner)
                && let Some(found) = self.search_folder(opened, &inner, depth + 1, entries)?
            {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}

/// Opens a directory for listing. A directory that the caller cannot list is not searched: the tool cannot list it
/// either.
fn open_folder(path: &Path) -> Option<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty()).ok()
}

/// Returns the regular files directly in a directory that have more than one name.
fn find_linked_files(folder: &Path) -> BTreeSet<FileId> {
    let Some(mut listed) = open_folder(folder).and_then(|opened| Dir::new(opened).ok()) else {
        return BTreeSet::new();
    };
    let mut found = BTreeSet::new();
    while let Some(entry) = listed.read() {
        let (Ok(entry), Ok(opened)) = (entry, listed.fd()) else { continue };
        let Ok(stat) = rustix::fs::statat(opened, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW) else { continue };
        if FileType::from_raw_mode(stat.st_mode).is_file() && stat.st_nlink > 1 {
            found.insert(FileId::from_stat(&stat));
        }
    }
    found
}
