//! Guards protected paths in directories that a tool writes to directly: records them before a run and compares after
//! it.
//!
//! During the run, existing protected files are mounted read-only, and their parent directories are mount points, which
//! cannot be renamed. The tool cannot have changed them, so changes by others are kept. This module is the second
//! layer: it restores files that cannot be mounted (links) or have other names (hard links), and quarantines new ones.
//! Nothing is removed, because its author is unknown. Only files that existed before every concurrent run
//! (`run_registry.rs`) are restored.

mod quarantine;
mod walker;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, FileType, Gid, Mode, OFlags, ResolveFlags, Stat, Uid};

use self::quarantine::{KnownPaths, Quarantine};
use self::walker::{FolderVisitor, FolderWalker, WalkDecision, make_accessible};
use super::protected_paths::{ProtectedFolderKind, ProtectedPaths, QUARANTINE_SUFFIX};
use super::run_registry::{FolderBaseline, RunRegistry};
use super::staging::ViolationTally;
use super::{mounts, repository, walk};

/// The maximum number of entries below a grant before a run.
const ENTRIES_BEFORE_MAX: usize = 2_000_000;

/// The maximum number of entries after a run: more than a tool can create in its time limit.
const ENTRIES_AFTER_MAX: usize = 50_000_000;

/// The maximum number of files that are mounted individually.
const NAMES_MAX: usize = 20_000;

/// The maximum size of each saved file, and of all saved files together.
const SNAPSHOT_BYTES_MAX: u64 = 1 << 20;
const SNAPSHOT_BYTES_SUM_MAX: u64 = 64 << 20;

/// A directory that a tool writes to directly, and its protected paths.
#[derive(Clone, Debug)]
pub(super) struct GuardedFolder {
    /// Relative to the workspace.
    folder: String,
    protected: ProtectedPaths,
    before: BTreeMap<PathBuf, FileSnapshot>,
    inventory: FolderInventory,
}

/// The result of a comparison.
#[derive(Debug, Default)]
pub(super) struct GuardReport {
    /// Violations that may be the tool's.
    pub(super) violations: ViolationTally,
    /// Changes by other processes that the user should check.
    pub(super) conflicts: BTreeSet<String>,
}

/// A protected path as it was before the run.
#[derive(Clone, Debug)]
struct FileSnapshot {
    kind: FileType,
    stat: FileIdentity,
    mode: u32,
    owner: (u32, u32),
    /// Whether the file has hard links, which are not mounted read-only.
    is_linked: bool,
    /// The content of a small file, or the target of a link.
    bytes: Option<Vec<u8>>,
}

/// Metadata that stays the same as long as a file is not modified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileIdentity {
    device: u64,
    inode: u64,
    size: i64,
    changed: (i64, u64),
}

impl FileIdentity {
    fn from_stat(stat: &Stat) -> FileIdentity {
        FileIdentity {
            device: stat.st_dev,
            inode: stat.st_ino,
            size: stat.st_size,
            changed: (stat.st_ctime, stat.st_ctime_nsec),
        }
    }

    /// Returns the time of the last change, by the system clock.
    fn changed_at(self) -> SystemTime {
        let seconds = u64::try_from(self.changed.0).unwrap_or(0);
        SystemTime::UNIX_EPOCH + Duration::new(seconds, u32::try_from(self.changed.1).unwrap_or(0))
    }

    fn is_same_file(self, other: FileIdentity) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }
}

/// The protected paths that existed before a run.
#[derive(Clone, Debug, Default)]
struct FolderInventory {
    /// All protected entries that are not directories. In directories that are mounted read-only as a whole, only those
    /// with hard links.
    names: BTreeSet<PathBuf>,
    /// Directories that are protected as a whole; only the outermost ones.
    protected_folders: BTreeMap<PathBuf, FileIdentity>,
    /// Repositories that are not called `.git`, and virtual environments.
    marked_folders: BTreeSet<PathBuf>,
    /// Directories that could not be listed.
    unlistable: BTreeMap<PathBuf, FileIdentity>,
    /// The entry that was not inspected, and why.
    unseen_reason: Option<String>,
}

impl FolderVisitor for FolderInventory {
    fn visit_marked_folder(&mut self, _: &OwnedFd, path: &Path, kind: ProtectedFolderKind) -> ProtectedFolderKind {
        if kind.is_environment || path.file_name() != Some(OsStr::new(".git")) {
            self.marked_folders.insert(path.to_owned());
        }
        kind
    }

    fn visit_protected_entry(&mut self, folder: &OwnedFd, path: &Path, is_in_whole: bool) {
        let has_names = || {
            let stat = rustix::fs::statat(folder, path.file_name().unwrap_or_default(), AtFlags::SYMLINK_NOFOLLOW);
            stat.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode).is_file() && stat.st_nlink != 1)
        };
        if !is_in_whole || has_names() {
            self.names.insert(path.to_owned());
        }
    }

    fn visit_protected_folder(&mut self, _: &OwnedFd, path: &Path, stat: &Stat) -> WalkDecision {
        self.protected_folders.insert(path.to_owned(), FileIdentity::from_stat(stat));
        WalkDecision::Descend
    }

    fn is_checkout(&self, opened: &OwnedFd, _: &Path) -> bool {
        rustix::fs::statat(opened, ".git", AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    fn visit_too_deep(&mut self, _: &OwnedFd, path: &Path) {
        self.report_unseen(format!("`{}` is nested too deeply", walker::shorten_path(path)));
    }

    fn visit_unlistable(&mut self, path: &Path, stat: &Stat) {
        self.unlistable.insert(path.to_owned(), FileIdentity::from_stat(stat));
    }

    fn report_unseen(&mut self, what: String) {
        self.unseen_reason.get_or_insert(what);
    }

    fn is_done(&self) -> bool {
        self.unseen_reason.is_some() || self.names.len() > NAMES_MAX
    }
}

impl GuardedFolder {
    /// Records the protected paths below and above a directory, or returns why they cannot be determined.
    pub(super) fn new(
        workspace: &Path,
        folder: &str,
        above: EnclosingRepositories,
        trusted: &ProtectedPaths,
    ) -> Result<GuardedFolder, String> {
        let mut seen = FolderInventory { marked_folders: above.0, ..FolderInventory::default() };
        let mut look = FolderWalker {
            protected: trusted,
            visitor: &mut seen,
            makes_accessible: false,
            entries_max: ENTRIES_BEFORE_MAX,
            entries: 0,
        };
        look.walk_below(workspace, Path::new(folder));
        if let Some(unseen) = &seen.unseen_reason {
            return Err(format!("cannot list protected files below `{folder}`: {unseen}; grant a smaller directory"));
        }
        if seen.names.len() > NAMES_MAX {
            return Err(format!("`{folder}` has more than {NAMES_MAX} protected files; grant a smaller directory"));
        }
        let mut room = SNAPSHOT_BYTES_SUM_MAX;
        let mut before = BTreeMap::new();
        for name in &seen.names {
            // Ignore files that were removed in the meantime.
            if let Ok(Some(kept)) = FileSnapshot::capture(workspace, name, &mut room) {
                before.insert(name.clone(), kept);
            }
        }
        Ok(GuardedFolder { folder: folder.to_owned(), protected: trusted.clone(), before, inventory: seen })
    }

    /// Returns the directory, relative to the workspace.
    pub(super) fn folder(&self) -> &str {
        &self.folder
    }

    /// Returns the directories that are mounted read-only as a whole.
    pub(super) fn read_only_folders(&self) -> impl Iterator<Item = &PathBuf> {
        self.inventory.protected_folders.keys().chain(self.inventory.unlistable.keys())
    }

    /// Returns all protected names, each with whether it is a file that can be mounted read-only.
    pub(super) fn protected_names(&self) -> impl Iterator<Item = (&PathBuf, bool)> {
        self.before.iter().map(|(path, kept)| (path, kept.kind.is_file()))
    }

    /// Returns the recorded paths for concurrent runs.
    pub(super) fn to_baseline(&self, workspace: &Path) -> FolderBaseline {
        let known =
            self.before.keys().chain(self.inventory.protected_folders.keys()).chain(&self.inventory.marked_folders);
        let known = known.chain(self.inventory.unlistable.keys());
        FolderBaseline {
            workspace: workspace.to_owned(),
            folder: self.folder.clone(),
            known: known.map(|path| workspace.join(path)).collect(),
            extra_paths: self.protected.extra_paths().cloned().collect(),
            home: self.protected.home().map(|home| workspace.join(home)),
        }
    }

    /// Forgets paths that did not exist before another run. That run may have created them, and checks them too.
    pub(super) fn forget_unknown_to(&mut self, workspace: &Path, other: &FolderBaseline) {
        let place = other.absolute_path();
        let is_known = |path: &PathBuf| {
            let path = workspace.join(path);
            !path.starts_with(&place) || other.known.contains(&path)
        };
        // A name in a directory that is protected as a whole was recorded with the directory.
        self.before.retain(|path, _| is_known(path));
        self.inventory.protected_folders.retain(|path, _| is_known(path));
        self.inventory.marked_folders.retain(is_known);
    }

    /// Compares with the current state, quarantines new entries, restores what could not be mounted, and reports it.
    pub(super) fn restore_protected(&self, workspace: &Path, told: &mut GuardReport) {
        quarantine_new_entries(workspace, &self.folder, &self.protected, self, None, told);
        for (path, kept) in &self.before {
            kept.restore_if_changed(workspace, path, told);
        }
    }
}

impl KnownPaths for GuardedFolder {
    fn contains(&self, path: &Path) -> bool {
        self.before.contains_key(path) || self.inventory.marked_folders.contains(path)
    }

    fn is_protected_folder(&self, path: &Path) -> bool {
        self.inventory.protected_folders.contains_key(path)
    }

    fn is_replaced(&self, path: &Path, id: FileIdentity) -> bool {
        self.inventory.protected_folders.get(path).is_some_and(|known| !known.is_same_file(id))
    }

    fn is_known_unlistable(&self, path: &Path, id: FileIdentity) -> bool {
        self.inventory.unlistable.get(path).is_some_and(|known| known.is_same_file(id))
    }
}

impl KnownPaths for FolderBaseline {
    fn contains(&self, path: &Path) -> bool {
        self.known.contains(&self.workspace.join(path))
    }

    fn is_protected_folder(&self, path: &Path) -> bool {
        self.contains(path)
    }

    fn is_replaced(&self, _: &Path, _: FileIdentity) -> bool {
        false
    }

    fn is_known_unlistable(&self, path: &Path, _: FileIdentity) -> bool {
        self.contains(path)
    }
}

/// The repositories that contain a directory of the workspace, relative to the workspace.
pub(super) struct EnclosingRepositories(BTreeSet<PathBuf>);

impl EnclosingRepositories {
    /// Finds them before the directory is created, because creating it can turn a parent into a repository.
    pub(super) fn find_above(workspace: &Path, folder: &str) -> EnclosingRepositories {
        let above = Path::new(folder).ancestors().skip(1);
        EnclosingRepositories(
            above.filter(|path| repository::is_repository_at(&workspace.join(path))).map(Path::to_owned).collect(),
        )
    }
}

/// Walks a directory and quarantines new entries. Returns whether everything was inspected.
fn quarantine_new_entries<K: KnownPaths>(
    workspace: &Path,
    folder: &str,
    trusted: &ProtectedPaths,
    known: &K,
    until: Option<SystemTime>,
    told: &mut GuardReport,
) -> bool {
    let folder = Path::new(folder);
    let top = match walk::open_without_links(workspace, folder) {
        Ok(top) => top,
        // A directory that was removed needs no check.
        Err(error) if error.kind() == io::ErrorKind::NotFound && until.is_some() => return true,
        Err(error) => {
            told.violations.add(format!("`{}`: {error}", walker::shorten_path(folder)));
            return false;
        }
    };
    let mut aside = Quarantine {
        known,
        report: told,
        until,
        top: &top,
        folder,
        moved_up: vec![folder.to_owned()],
        has_unseen: false,
    };
    let repository = ProtectedFolderKind { is_repository: true, is_environment: false };
    for above in EnclosingRepositories::find_above(workspace, &folder.to_string_lossy()).0 {
        match walk::open_without_links(workspace, &above) {
            Ok(opened) => drop(aside.visit_marked_folder(&opened, &above, repository)),
            Err(error) => aside.report_unseen(format!("`{}`: {error}", walker::shorten_path(&above))),
        }
    }
    let mut entries = 0;
    while let Some(next) = aside.moved_up.pop() {
        let mut look = FolderWalker {
            protected: trusted,
            visitor: &mut aside,
            makes_accessible: true,
            entries_max: ENTRIES_AFTER_MAX,
            entries,
        };
        look.walk_below(workspace, &next);
        entries = look.entries;
    }
    !aside.has_unseen
}

/// Quarantines what killed runs left, and reports it. Entries that could not be inspected are retried next time.
///
/// The reports name no path below a grant: a killed tool may have put a secret into one, and this run does not know the
/// secrets of that one.
pub(super) fn clean_up_killed_runs(register: &RunRegistry) -> Vec<String> {
    let mut all = Vec::new();
    for note in register.read_runs().iter().filter(|note| !note.is_alive) {
        let mut is_seen = true;
        for entry in &note.entries {
            let mut told = GuardReport::default();
            let trusted = ProtectedPaths::for_workspace(&entry.workspace, &entry.extra_paths, entry.home.as_deref());
            let is_complete =
                quarantine_new_entries(&entry.workspace, &entry.folder, &trusted, entry, Some(note.until), &mut told);
            is_seen &= is_complete;
            all.extend(describe_leftovers(entry, told.violations.count(), is_complete));
        }
        if is_seen {
            note.remove_record();
        }
    }
    all
}

/// Describes what a killed run left in a directory.
fn describe_leftovers(entry: &FolderBaseline, count: usize, is_complete: bool) -> Option<String> {
    let (workspace, folder) = (entry.workspace.display(), entry.absolute_path());
    let folder = folder.display();
    let what = match (count, is_complete) {
        (0, true) => return None,
        (1, true) => format!("a protected path in `{folder}` was renamed; its name ends in `.refused`"),
        (count, true) => format!("{count} protected paths in `{folder}` were renamed; their names end in `.refused`"),
        (_, false) => format!(
            "parts of `{folder}` cannot be inspected; make its directories readable, and run a tool that writes there"
        ),
    };
    Some(format!("a run in `{workspace}` was killed: {what}"))
}

/// Describes a read-only file that was replaced. Its author is unknown, and the replacement was not mounted read-only.
fn describe_replacement(path: &Path) -> String {
    let shown = path.display();
    format!("`{shown}` was replaced while the tool ran, so the tool could write to it from then on; check its content")
}

impl FileSnapshot {
    /// Captures a path without following links. Returns `None` if it does not exist.
    fn capture(workspace: &Path, path: &Path, room: &mut u64) -> io::Result<Option<FileSnapshot>> {
        let name = path.file_name().unwrap_or_default();
        let folder = match walk::open_without_links(workspace, path.parent().unwrap_or(Path::new(""))) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            other => other?,
        };
        let stat = match rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(rustix::io::Errno::NOENT) => return Ok(None),
            other => other?,
        };
        let kind = FileType::from_raw_mode(stat.st_mode);
        let bytes = match kind {
            FileType::Symlink => Some(rustix::fs::readlinkat(&folder, name, Vec::new())?.into_bytes()),
            // Only a file with hard links can be changed while it is mounted read-only.
            FileType::RegularFile if stat.st_nlink != 1 => {
                read_small_file(&folder, name, SNAPSHOT_BYTES_MAX.min(*room))
            }
            _ => None,
        };
        *room = room.saturating_sub(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64));
        Ok(Some(FileSnapshot {
            kind,
            stat: FileIdentity::from_stat(&stat),
            mode: stat.st_mode & 0o7777,
            owner: (stat.st_uid, stat.st_gid),
            is_linked: stat.st_nlink != 1,
            bytes,
        }))
    }

    /// Whether a file is unchanged: it has the same content or, without saved content, the same metadata.
    fn is_unchanged(&self, now: &FileSnapshot) -> bool {
        let is_same_content = match (&self.bytes, &now.bytes) {
            (Some(before), Some(after)) => before == after,
            (None, None) => self.stat == now.stat,
            _ => false,
        };
        self.kind == now.kind && self.mode == now.mode && is_same_content
    }

    /// Reports a changed path, and restores it if possible.
    fn restore_if_changed(&self, workspace: &Path, path: &Path, told: &mut GuardReport) {
        // The same limit as before, so that both snapshots have content or neither has.
        let mut room = if self.bytes.is_some() { SNAPSHOT_BYTES_MAX } else { 0 };
        let now = FileSnapshot::capture(workspace, path, &mut room);
        let shown = path.display();
        if self.kind.is_file() && !self.is_linked {
            // The file was mounted read-only, so the tool cannot have changed or removed it. If another process
            // replaced it, the replacement was not mounted read-only.
            let is_replaced = match &now {
                Ok(Some(now)) => !now.kind.is_file() || !self.stat.is_same_file(now.stat),
                Ok(None) => false,
                Err(_) => true,
            };
            if is_replaced {
                told.conflicts.insert(describe_replacement(path));
            }
            return;
        }
        let what = match &now {
            Ok(Some(now)) if self.is_unchanged(now) => return,
            Ok(Some(_)) => "was changed",
            Ok(None) => "was removed",
            Err(_) => "cannot be read",
        };
        told.violations.add(match self.put_back(workspace, path) {
            Ok(None) => format!("`{shown}` is protected, {what}, and was restored"),
            Ok(Some(other)) => format!(
                "`{shown}` is protected, {what}, and was restored; the other version is `{}`",
                path.with_file_name(other).display()
            ),
            Err(error) => format!("`{shown}` is protected, {what}, and could not be restored: {error}"),
        });
    }

    /// Restores the saved content. Returns the name that the other version was renamed to.
    fn put_back(&self, workspace: &Path, path: &Path) -> io::Result<Option<OsString>> {
        let Some(bytes) = &self.bytes else { return Err(io::Error::other("its content was not saved")) };
        let folder = mounts::make_folder(workspace, path.parent().unwrap_or(Path::new("")))?;
        make_accessible(&folder, 0o700)?;
        let name = path.file_name().unwrap_or_default();
        let beside = format!(".rep-{}-{}-back", std::process::id(), self.stat.inode);
        if self.kind == FileType::Symlink {
            rustix::fs::symlinkat(OsStr::from_bytes(bytes), &folder, &beside)?;
        } else {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let mut file = File::from(rustix::fs::openat(&folder, &beside, flags, Mode::from_raw_mode(0o600))?);
            file.write_all(bytes)?;
            if rustix::process::geteuid().is_root() {
                let (user, group) = self.owner;
                rustix::fs::fchown(&file, Some(Uid::from_raw(user)), Some(Gid::from_raw(group)))?;
            }
            rustix::fs::fchmod(&file, Mode::from_raw_mode(self.mode))?;
        }
        let moved = (|| {
            // Rename the current entry, whatever it is.
            let other = match mounts::rename_beside(&folder, name, name, QUARANTINE_SUFFIX) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                other => Some(other?),
            };
            mounts::rename_to_new(&folder, beside.as_ref(), name)?;
            Ok(other)
        })();
        if moved.is_err() {
            // Best effort: the first error is reported.
            let _ = rustix::fs::unlinkat(&folder, &beside, AtFlags::empty());
        }
        moved
    }
}

/// Reads a file of at most `bytes_max` bytes.
fn read_small_file(folder: &OwnedFd, name: &OsStr, bytes_max: u64) -> Option<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let how = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    let file = File::from(rustix::fs::openat2(folder, name, flags, Mode::empty(), how).ok()?);
    let mut bytes = Vec::new();
    file.take(bytes_max + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= bytes_max).then_some(bytes)
}
