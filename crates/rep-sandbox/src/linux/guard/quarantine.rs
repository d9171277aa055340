//! Renames new protected entries as soon as they are found.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::fs::{AtFlags, Stat};

use super::super::mounts;
use super::super::protected_paths::{ProtectedFolderKind, QUARANTINE_SUFFIX};
use super::walker::{FolderVisitor, WalkDecision, list_entries, make_accessible, shorten_path};
use super::{FileIdentity, GuardReport, describe_replacement};

/// The prefix of directories that were nested too deeply.
const DEEP_PREFIX: &str = "deep";

/// The paths that existed before a run.
pub(super) trait KnownPaths {
    /// Whether this file, link or mount point existed.
    fn contains(&self, path: &Path) -> bool;

    /// Whether this directory existed and was protected as a whole.
    fn is_protected_folder(&self, path: &Path) -> bool;

    /// Whether a different directory existed at this path.
    fn is_replaced(&self, path: &Path, id: FileIdentity) -> bool;

    /// Whether this directory could not be listed before the run.
    fn is_known_unlistable(&self, path: &Path, id: FileIdentity) -> bool;
}

/// Renames new entries and reports them.
pub(super) struct Quarantine<'a, K: KnownPaths> {
    pub(super) known: &'a K,
    pub(super) report: &'a mut GuardReport,
    /// The run cannot have created anything after this time.
    pub(super) until: Option<SystemTime>,
    /// The directory that the tool writes to, and its path.
    pub(super) top: &'a OwnedFd,
    pub(super) folder: &'a Path,
    /// The new paths of directories that were nested too deeply. They are walked next.
    pub(super) moved_up: Vec<PathBuf>,
    pub(super) has_unseen: bool,
}

impl<K: KnownPaths> Quarantine<'_, K> {
    /// Whether an entry was created after the run.
    fn is_newer_than_run(&self, stat: &Stat) -> bool {
        self.until.is_some_and(|until| FileIdentity::from_stat(stat).changed_at() > until)
    }

    fn add_violation(&mut self, what: String) {
        self.report.violations.add(what);
    }

    fn add_unseen(&mut self, what: String) {
        self.has_unseen = true;
        self.add_violation(what);
    }

    /// Renames an entry in its directory. Returns its new path.
    fn quarantine_entry(&mut self, folder: &OwnedFd, path: &Path) -> Option<PathBuf> {
        let name = path.file_name().unwrap_or_default();
        let shown = shorten_path(path);
        match make_accessible(folder, 0o700).and_then(|()| mounts::rename_beside(folder, name, name, QUARANTINE_SUFFIX))
        {
            Ok(to) => {
                let other = path.with_file_name(to);
                self.add_violation(format!("`{shown}` is protected, and was renamed to `{}`", shorten_path(&other)));
                Some(other)
            }
            // Another process removed it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => {
                self.add_unseen(format!("`{shown}` is protected, and could not be renamed: {error}"));
                None
            }
        }
    }
}

impl<K: KnownPaths> FolderVisitor for Quarantine<'_, K> {
    fn visit_marked_folder(&mut self, folder: &OwnedFd, path: &Path, kind: ProtectedFolderKind) -> ProtectedFolderKind {
        if self.known.contains(path) || path.file_name() == Some(OsStr::new(".git")) {
            return kind;
        }
        let head = rustix::fs::statat(folder, "HEAD", AtFlags::SYMLINK_NOFOLLOW);
        let is_made = kind.is_repository && !head.is_ok_and(|stat| self.is_newer_than_run(&stat));
        if let Some(what) = is_made.then(|| disable_repository(folder, path)).flatten() {
            self.add_violation(what);
        }
        // Entries with these names in a directory that was not a repository may be ordinary files. A virtual
        // environment is recognised by a name that is itself protected.
        ProtectedFolderKind::default()
    }

    fn visit_protected_entry(&mut self, folder: &OwnedFd, path: &Path, _: bool) {
        let is_new = || {
            let name = path.file_name().unwrap_or_default();
            let stat = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
            stat.is_ok_and(|stat| !self.is_newer_than_run(&stat))
        };
        if !self.known.contains(path) && is_new() {
            self.quarantine_entry(folder, path);
        }
    }

    fn visit_protected_folder(&mut self, folder: &OwnedFd, path: &Path, stat: &Stat) -> WalkDecision {
        if self.known.is_protected_folder(path) {
            // The directory was mounted read-only, so new entries come from another process.
            if self.known.is_replaced(path, FileIdentity::from_stat(stat)) {
                self.report.conflicts.insert(describe_replacement(path));
            }
            WalkDecision::Skip
        } else if self.is_newer_than_run(stat) {
            WalkDecision::Descend
        } else {
            self.quarantine_entry(folder, path).map_or(WalkDecision::Skip, WalkDecision::DescendAs)
        }
    }

    fn is_checkout(&self, _: &OwnedFd, path: &Path) -> bool {
        let git = path.join(".git");
        self.known.contains(&git) || self.known.is_protected_folder(&git)
    }

    fn visit_too_deep(&mut self, folder: &OwnedFd, path: &Path) {
        let name = path.file_name().unwrap_or_default();
        let shown = shorten_path(path);
        let moved = make_accessible(folder, 0o700)
            .and_then(|()| mounts::rename_into(folder, name, self.top, DEEP_PREFIX, QUARANTINE_SUFFIX));
        match moved {
            Ok(to) => {
                let to = self.folder.join(to);
                self.add_violation(format!("`{shown}` is too deep to inspect, and was moved to `{}`", to.display()));
                self.moved_up.push(to);
            }
            Err(error) => self.add_unseen(format!("`{shown}` is too deep to inspect: {error}")),
        }
    }

    fn visit_unlistable(&mut self, path: &Path, stat: &Stat) {
        if !self.known.is_known_unlistable(path, FileIdentity::from_stat(stat)) {
            self.add_unseen(format!("`{}` cannot be inspected", shorten_path(path)));
        }
    }

    fn report_unseen(&mut self, what: String) {
        self.add_unseen(what);
    }
}

/// Disables a repository by renaming its `HEAD`, and returns a message about it.
pub(super) fn disable_repository(folder: &OwnedFd, path: &Path) -> Option<String> {
    let moved = (|| -> io::Result<Option<OsString>> {
        make_accessible(folder, 0o700)?;
        let mut heads = Vec::new();
        for entry in list_entries(folder)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes()).to_owned();
            if name.eq_ignore_ascii_case("HEAD") {
                heads.push(name);
            }
        }
        let mut moved = None;
        for name in heads {
            moved = Some(mounts::rename_beside(folder, &name, &name, QUARANTINE_SUFFIX)?);
        }
        Ok(moved)
    })();
    let shown = shorten_path(path);
    match moved {
        Ok(head) => head.map(|head| {
            let head = path.join(head);
            format!("`{shown}` became a repository; its HEAD was renamed to `{}`", shorten_path(&head))
        }),
        Err(error) => Some(format!("`{shown}` became a repository, and could not be disabled: {error}")),
    }
}
