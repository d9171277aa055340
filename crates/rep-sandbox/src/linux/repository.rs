//! Recognises git repositories by the content of a directory, whatever its name.

use std::path::Path;

use rustix::fs::{AtFlags, CWD};

use super::protected_paths;

/// Whether a path exists, without following a link.
fn path_exists(path: &Path) -> bool {
    rustix::fs::statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW).is_ok()
}

/// Returns the file name of a repository marker on disk.
pub(super) fn marker_file_name(sign: &str) -> &str {
    if sign == "head" { "HEAD" } else { sign }
}

/// Whether a directory is a repository.
pub(super) fn is_repository_at(folder: &Path) -> bool {
    protected_paths::has_repository_markers(|sign| path_exists(&folder.join(marker_file_name(sign))))
}

/// Whether a path is or is inside a repository. A checkout in a repository, which has its own `.git`, is a project.
pub(super) fn is_inside_repository(path: &Path) -> bool {
    for folder in path.ancestors() {
        if is_repository_at(folder) {
            return true;
        }
        if path_exists(&folder.join(".git")) {
            return false;
        }
    }
    false
}
