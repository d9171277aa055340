//! Repositories of git by what is in a folder, whatever it is called.

use std::path::Path;

use rustix::fs::{AtFlags, CWD};

use super::trusted;

/// Whether something is there, without following a link.
fn is_there(path: &Path) -> bool {
    rustix::fs::statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW).is_ok()
}

/// What a sign of a repository is called on the disk.
pub(super) fn written(sign: &str) -> &str {
    if sign == "head" { "HEAD" } else { sign }
}

/// Whether a folder is one.
pub(super) fn is_at(folder: &Path) -> bool {
    trusted::is_repository(|sign| is_there(&folder.join(written(sign))))
}

/// Whether a path is one or lies in one. A checkout in a repository, which has a `.git` of its own, is a project.
pub(super) fn holds(path: &Path) -> bool {
    for folder in path.ancestors() {
        if is_at(folder) {
            return true;
        }
        if is_there(&folder.join(".git")) {
            return false;
        }
    }
    false
}
