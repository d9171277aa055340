//! Commits writes made through patterns: checks the files in a stage, and commits all of them or none.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use rustix::fs::{AtFlags, Dir, FileType, Gid, Mode, OFlags, ResolveFlags, Stat, Uid};
use sha2::{Digest as _, Sha256};

use super::commit_journal::CommitJournal;
use super::protected_paths::{self, ProtectedPaths};
use super::view::WriteStage;
use super::{Cancel, KillReason, mounts, repository, walk};
use rep_permissions::glob::Glob;

/// The maximum directory depth in a stage. A tool can create deeper directories, but they are rejected.
const DEPTH_MAX: usize = 64;

/// The suffix of the tool's version of a file that another process changed during the run.
const CONFLICT_SUFFIX: &str = "rep-conflict";

/// Numbers the temporary files of this process.
static COUNT: AtomicU64 = AtomicU64::new(0);

/// The maximum number of reported violations.
const VIOLATIONS_MAX: usize = 20;

const BENEATH: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS).union(ResolveFlags::NO_XDEV);

/// The digest of a file's content.
pub(super) type FileDigest = [u8; 32];

/// The digests of the files copied into stages, by path relative to the workspace.
pub(super) type CopiedFiles = BTreeMap<PathBuf, FileDigest>;

/// The committed changes.
#[derive(Debug, Default)]
pub(super) struct CommittedChanges {
    /// The files in the workspace that were created or changed.
    pub(super) written: Vec<String>,
    /// Conflicts with changes by other processes, and the location of the tool's version.
    pub(super) conflicts: Vec<String>,
}

/// Copies at most `bytes_max` bytes and returns their digest.
pub(super) fn copy_and_hash(from: &mut impl Read, to: &mut impl Write, bytes_max: u64) -> io::Result<FileDigest> {
    let mut state = Sha256::new();
    let mut from = from.take(bytes_max);
    let mut chunk = vec![0; 64 << 10];
    loop {
        let length = match from.read(&mut chunk) {
            Ok(0) => return Ok(state.finalize().into()),
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        state.update(&chunk[..length]);
        to.write_all(&chunk[..length])?;
    }
}

/// What a commit may use.
#[derive(Clone, Copy)]
pub(super) struct CommitBounds<'a> {
    /// The maximum total length of the files in all stages. Holes count as their length.
    pub(super) bytes_max: u64,
    pub(super) deadline: Instant,
    pub(super) cancel: &'a Cancel,
    /// The directory in which the commit is recorded, so that the next run can complete it.
    pub(super) journal_folder: Option<&'a Path>,
}

impl CommitBounds<'_> {
    /// Returns why the commit must stop, if it must.
    fn stop_reason(&self) -> Option<KillReason> {
        if self.cancel.is_cancelled() {
            Some(KillReason::Cancelled)
        } else if Instant::now() > self.deadline {
            Some(KillReason::Timeout)
        } else {
            None
        }
    }
}

/// A file whose reading fails when the commit must stop.
struct BoundedFile<'a> {
    file: File,
    bounds: CommitBounds<'a>,
}

impl Read for BoundedFile<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.bounds.stop_reason() {
            Some(_) => Err(io::ErrorKind::TimedOut.into()),
            None => self.file.read(buffer),
        }
    }
}

/// Why nothing was committed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum CommitError {
    /// The tool broke a rule, or the files could not be written.
    Rejected(String),
    /// The run was cancelled, or its time is over.
    Stopped(KillReason),
}

/// Commits the changes, or returns the violations without changing anything.
pub(super) fn commit_stages(
    workspace: &Path,
    stages: &[(WriteStage, OwnedFd)],
    copied: &CopiedFiles,
    patterns: &[Glob],
    trusted: Option<&ProtectedPaths>,
    bounds: CommitBounds<'_>,
) -> Result<CommittedChanges, CommitError> {
    let mut verdict = StageReview {
        workspace,
        patterns,
        copied,
        protected: trusted,
        bounds,
        bytes: 0,
        stage: 0,
        changed: Vec::new(),
        removed: Vec::new(),
        violations: ViolationTally::default(),
    };
    for (number, (stage, root)) in stages.iter().enumerate() {
        verdict.stage = number;
        let mut seen = BTreeSet::new();
        verdict.review_folder(stage, root, Path::new(&stage.prefix), Path::new(""), &mut seen);
        for gone in stage.copied.difference(&seen) {
            let Some(digest) = copied.get(gone) else { continue };
            if trusted.is_some_and(|trusted| trusted.is_protected(&gone.to_string_lossy())) {
                verdict.violations.add(format!("removed the protected file `{}`", gone.display()));
            } else {
                verdict.removed.push((gone.clone(), *digest));
            }
        }
    }
    if trusted.is_some() {
        verdict.check_repositories(stages);
        verdict.check_environments();
    }
    if let Some(reason) = bounds.stop_reason() {
        return Err(CommitError::Stopped(reason));
    }
    if !verdict.violations.is_empty() {
        return Err(CommitError::Rejected(verdict.violations.join_messages()));
    }
    if verdict.changed.is_empty() && verdict.removed.is_empty() {
        return Ok(CommittedChanges::default());
    }
    let unrecorded = |error: io::Error| {
        CommitError::Rejected(format!("could not commit any changes: they could not be recorded: {error}"))
    };
    let planned = verdict.changed.iter().map(|change| (change.path.as_path(), change.temporary.as_str()));
    let journal = CommitJournal::start(bounds.journal_folder, workspace, planned).map_err(unrecorded)?;
    let ready = prepare_changes(workspace, stages, verdict.changed, bounds)?;
    if let Err(error) = journal.start_renaming(&ready, &verdict.removed) {
        remove_prepared(workspace, ready);
        return Err(unrecorded(error));
    }
    apply_changes(workspace, ready, verdict.removed).map_err(CommitError::Rejected)
}

/// Counts violations and stores the first ones. A tool can cause more than fit into memory.
#[derive(Clone, Debug, Default)]
pub(super) struct ViolationTally {
    first: BTreeSet<String>,
    count: usize,
}

impl ViolationTally {
    /// Counts a violation, and stores it if it is one of the first.
    pub(super) fn add(&mut self, what: String) {
        if !self.first.contains(&what) {
            self.count += 1;
            if self.first.len() < VIOLATIONS_MAX {
                self.first.insert(what);
            }
        }
    }

    /// Returns the number of violations.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Whether nothing was counted.
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the first violations and the number of the others.
    pub(super) fn list_messages(&self) -> impl Iterator<Item = String> {
        let more = self.count - self.first.len();
        self.first.iter().cloned().chain((more > 0).then(|| format!("and {more} more")))
    }

    /// Returns all reported violations in one line.
    pub(super) fn join_messages(&self) -> String {
        self.list_messages().collect::<Vec<_>>().join("; ")
    }
}

struct FileChange {
    path: PathBuf,
    /// The index of the stage, and the path in it.
    stage: usize,
    inside: PathBuf,
    mode: u32,
    /// The digests when it was copied and after the run.
    before: Option<FileDigest>,
    after: FileDigest,
    /// The name under which it is written beside its destination.
    temporary: String,
}

struct StageReview<'a> {
    workspace: &'a Path,
    patterns: &'a [Glob],
    copied: &'a CopiedFiles,
    /// The protected paths; if `None`, nothing is checked.
    protected: Option<&'a ProtectedPaths>,
    bounds: CommitBounds<'a>,
    /// The total length of the files so far.
    bytes: u64,
    /// The stage that is being checked.
    stage: usize,
    changed: Vec<FileChange>,
    removed: Vec<(PathBuf, FileDigest)>,
    violations: ViolationTally,
}

impl StageReview<'_> {
    /// Checks a directory of a stage. `path` is relative to the workspace, and `inside` to the stage.
    fn review_folder(
        &mut self,
        stage: &WriteStage,
        root: &OwnedFd,
        path: &Path,
        inside: &Path,
        seen: &mut BTreeSet<PathBuf>,
    ) {
        if inside.components().count() > DEPTH_MAX {
            self.violations.add(format!("`{}` is nested too deeply", path.display()));
            return;
        }
        let relative = if inside.as_os_str().is_empty() { Path::new(".") } else { inside };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let listed = rustix::fs::openat2(root, relative, flags, Mode::empty(), BENEATH).and_then(Dir::new);
        let Ok(entries) = listed else {
            self.violations.add(format!("`{}` cannot be read", path.display()));
            return;
        };
        for entry in entries {
            let Ok(entry) = entry else {
                self.violations.add(format!("`{}` cannot be read", path.display()));
                return;
            };
            let name = entry.file_name().to_bytes();
            if matches!(name, b"." | b"..") {
                continue;
            }
            let name = Path::new(std::ffi::OsStr::from_bytes(name));
            let (path, inside) = (path.join(name), inside.join(name));
            // Something was mounted there, so the tool could not reach what is below.
            if stage.covered.contains(&path) {
                continue;
            }
            self.review_entry(stage, root, path, &inside, seen);
        }
    }

    /// Rejects changes in repositories of any name, and changes that turn a directory into a repository. A checkout
    /// inside a repository is a project.
    fn check_repositories(&mut self, stages: &[(WriteStage, OwnedFd)]) {
        let is_there = |path: &Path| {
            let look = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let in_stage = stages.iter().any(|(stage, root)| {
                let inside = path.strip_prefix(&stage.prefix);
                inside.is_ok_and(|inside| rustix::fs::openat2(root, inside, look, Mode::empty(), BENEATH).is_ok())
            });
            in_stage || walk::open_without_links(self.workspace, path).is_ok()
        };
        let mut known: BTreeMap<PathBuf, bool> = BTreeMap::new();
        let mut wrong = Vec::new();
        let removed = self.removed.iter().map(|(path, _)| path);
        for path in self.changed.iter().map(|change| &change.path).chain(removed) {
            let folder = path.parent().unwrap_or(Path::new(""));
            let is_in = *known.entry(folder.to_owned()).or_insert_with(|| {
                for above in folder.ancestors() {
                    if protected_paths::has_repository_markers(|sign| {
                        is_there(&above.join(repository::marker_file_name(sign)))
                    }) {
                        return true;
                    }
                    // A `.git` that the tool created does not count.
                    if walk::open_without_links(self.workspace, &above.join(".git")).is_ok() {
                        return false;
                    }
                }
                repository::is_inside_repository(self.workspace)
            });
            if is_in {
                wrong.push(format!("`{}` is inside a repository, which is protected", path.display()));
            }
        }
        for what in wrong {
            self.violations.add(what);
        }
    }

    /// Rejects changes in Python virtual environments of any name, also if the workspace is inside one.
    fn check_environments(&mut self) {
        for change in &self.changed {
            if is_in_environment(&self.workspace.join(&change.path)) {
                let shown = change.path.display();
                self.violations.add(format!("`{shown}` is inside a virtual environment, which is protected"));
            }
        }
    }

    fn review_entry(
        &mut self,
        stage: &WriteStage,
        root: &OwnedFd,
        path: PathBuf,
        inside: &Path,
        seen: &mut BTreeSet<PathBuf>,
    ) {
        let looked = rustix::fs::openat2(
            root,
            inside,
            OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC,
            Mode::empty(),
            BENEATH,
        )
        .and_then(rustix::fs::fstat);
        let Ok(stat) = looked else {
            self.violations.add(format!("`{}` is not a regular file", path.display()));
            return;
        };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => self.review_folder(stage, root, &path, inside, seen),
            FileType::RegularFile => {
                seen.insert(path.clone());
                match open_file(root, inside) {
                    Ok(content) => self.review_file(path, inside, content, &stat),
                    Err(error) => self.violations.add(format!("`{}`: {error}", path.display())),
                }
            }
            _ => self.violations.add(format!("`{}` is not a regular file", path.display())),
        }
    }

    fn review_file(&mut self, path: PathBuf, inside: &Path, content: File, stat: &Stat) {
        let shown = path.to_string_lossy().into_owned();
        let before = self.copied.get(&path).copied();
        // A hole takes no room in the stage, but does where the file is committed.
        self.bytes = self.bytes.saturating_add(stat.st_size.cast_unsigned());
        if self.bytes > self.bounds.bytes_max {
            let bytes_max = self.bounds.bytes_max;
            self.violations.add(format!("its files are longer than {bytes_max} bytes in total, counting holes"));
            return;
        }
        let mut content = BoundedFile { file: content, bounds: self.bounds };
        let after = match copy_and_hash(&mut content, &mut io::sink(), u64::MAX) {
            Ok(after) => after,
            Err(error) => return self.violations.add(format!("`{shown}` cannot be read: {error}")),
        };
        // A file that the tool did not change is left alone, whatever other processes did to it.
        if before == Some(after) {
            return;
        }
        if let Some(trusted) = self.protected {
            if stat.st_nlink != 1 || stat.st_mode & 0o6000 != 0 {
                self.violations.add(format!("`{shown}` has hard links or a set-user-ID or set-group-ID bit"));
                return;
            }
            if !self.patterns.iter().any(|glob| glob.matches(&shown)) {
                self.violations.add(format!("`{shown}` does not match `permissions.filesystem.write`"));
                return;
            }
            if trusted.is_protected(&shown) {
                self.violations.add(format!("`{shown}` is a protected path"));
                return;
            }
        }
        let inside = inside.to_path_buf();
        // The number distinguishes runs of the same process.
        let temporary = format!(".rep-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let mode = stat.st_mode & 0o777;
        self.changed.push(FileChange { path, stage: self.stage, inside, mode, before, after, temporary });
    }
}

/// Whether a Python virtual environment executes or loads a path.
pub(super) fn is_in_environment(path: &Path) -> bool {
    path.ancestors().any(|inner| {
        let (Some(folder), Some(name)) = (inner.parent(), inner.file_name()) else { return false };
        protected_paths::is_environment_entry(&name.to_string_lossy())
            && rustix::fs::stat(folder.join(protected_paths::ENVIRONMENT_MARKER)).is_ok()
    })
}

fn open_file(root: &OwnedFd, inside: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(rustix::fs::openat2(root, inside, flags, Mode::empty(), BENEATH)?.into())
}

/// The state of a path in the workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PathState {
    Nothing,
    File(FileDigest, FileStamp),
    Other,
}

/// Metadata that stays the same as long as a file is not modified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileStamp(u64, u64, i64, i64, u64);

impl FileStamp {
    fn from_stat(stat: &Stat) -> FileStamp {
        FileStamp(stat.st_dev, stat.st_ino, stat.st_size, stat.st_ctime, stat.st_ctime_nsec)
    }

    /// Returns the numbers, for a record.
    pub(super) fn to_fields(self) -> [i128; 5] {
        [self.0.into(), self.1.into(), self.2.into(), self.3.into(), self.4.into()]
    }

    /// Reads the numbers of a record.
    pub(super) fn from_fields(fields: &[i128]) -> Option<FileStamp> {
        let [device, inode, size, seconds, rest] = fields else { return None };
        let (device, inode) = (u64::try_from(*device).ok()?, u64::try_from(*inode).ok()?);
        let (size, seconds) = (i64::try_from(*size).ok()?, i64::try_from(*seconds).ok()?);
        Some(FileStamp(device, inode, size, seconds, u64::try_from(*rest).ok()?))
    }
}

impl PathState {
    pub(super) fn inspect(workspace: &Path, path: &Path, bounds: Option<CommitBounds<'_>>) -> PathState {
        let Ok(place) = walk::open_without_links(workspace, path) else {
            let parent = walk::open_without_links(workspace, path.parent().unwrap_or(Path::new("")));
            let found = parent.map(|folder| {
                rustix::fs::statat(&folder, path.file_name().unwrap_or_default(), AtFlags::SYMLINK_NOFOLLOW)
            });
            return if matches!(found, Ok(Ok(_))) { PathState::Other } else { PathState::Nothing };
        };
        let looked = (|| -> io::Result<Option<PathState>> {
            let stat = rustix::fs::fstat(&place)?;
            if !FileType::from_raw_mode(stat.st_mode).is_file() {
                return Ok(None);
            }
            let root = rustix::fs::open(workspace, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            let how = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
            let mut file = File::from(rustix::fs::openat2(root, path, flags, Mode::empty(), how)?);
            let id = FileStamp::from_stat(&rustix::fs::fstat(&file)?);
            let digest = match bounds {
                Some(bounds) => copy_and_hash(&mut BoundedFile { file, bounds }, &mut io::sink(), u64::MAX)?,
                None => copy_and_hash(&mut file, &mut io::sink(), u64::MAX)?,
            };
            Ok(Some(PathState::File(digest, id)))
        })();
        // An entry that cannot be compared is not replaced.
        looked.ok().flatten().unwrap_or(PathState::Other)
    }

    /// Whether the path is unmodified.
    fn is_unchanged(self, folder: &OwnedFd, name: &std::ffi::OsStr) -> bool {
        match (self, rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)) {
            (PathState::Nothing, Err(rustix::io::Errno::NOENT)) => true,
            (PathState::File(_, id), Ok(stat)) => FileStamp::from_stat(&stat) == id,
            _ => false,
        }
    }
}

/// A change that was written next to its destination, ready to be renamed.
pub(super) struct PreparedChange {
    pub(super) path: PathBuf,
    pub(super) temporary: String,
    pub(super) after: FileDigest,
    /// The state that it may replace; `None` if another process changed the path first.
    pub(super) replaces: Option<PathState>,
}

/// Writes the changes next to their destinations, opening one file at a time, because there may be more than the limit
/// on open files.
fn prepare_changes(
    workspace: &Path,
    stages: &[(WriteStage, OwnedFd)],
    changed: Vec<FileChange>,
    bounds: CommitBounds<'_>,
) -> Result<Vec<PreparedChange>, CommitError> {
    let mut ready = Vec::new();
    for change in changed {
        let over = match (change.before, PathState::inspect(workspace, &change.path, Some(bounds))) {
            // Another process made the same change.
            (_, PathState::File(now, _)) if now == change.after => continue,
            (Some(before), now @ PathState::File(digest, _)) if digest == before => Some(now),
            (None, PathState::Nothing) => Some(PathState::Nothing),
            _ => None,
        };
        let content = open_file(&stages[change.stage].1, &change.inside).map(|file| BoundedFile { file, bounds });
        let prepared = content.and_then(|content| prepare_change(workspace, &change, content, over));
        // A state that could not be read in time is not a conflict.
        let stop_reason = bounds.stop_reason();
        match prepared {
            Ok(one) => ready.push(one),
            Err(error) if stop_reason.is_none() => {
                remove_prepared(workspace, ready);
                let shown = change.path.display();
                return Err(CommitError::Rejected(format!("could not commit any changes: `{shown}`: {error}")));
            }
            Err(_) => {}
        }
        if let Some(reason) = stop_reason {
            remove_prepared(workspace, ready);
            return Err(CommitError::Stopped(reason));
        }
    }
    Ok(ready)
}

/// Renames prepared changes to their destinations, and removes files.
fn apply_changes(
    workspace: &Path,
    ready: Vec<PreparedChange>,
    removed: Vec<(PathBuf, FileDigest)>,
) -> Result<CommittedChanges, String> {
    let mut taken = CommittedChanges::default();
    let mut ready = ready.into_iter();
    while let Some(one) = ready.next() {
        if let Err(error) = install_change(workspace, &one, &mut taken) {
            let message = format!("could not commit `{}`: {error}", one.path.display());
            remove_prepared(workspace, std::iter::once(one).chain(ready));
            return Err(match taken.written.as_slice() {
                [] => message,
                written => format!("{message}; already committed: `{}`", written.join("`, `")),
            });
        }
    }
    for (path, before) in removed {
        remove_file(workspace, &path, before, &mut taken).map_err(|error| {
            format!("all changes were committed, but `{}` could not be removed: {error}", path.display())
        })?;
    }
    taken.written.sort();
    Ok(taken)
}

/// Removes prepared changes. Best effort: the first error is reported.
fn remove_prepared(workspace: &Path, ready: impl IntoIterator<Item = PreparedChange>) {
    for one in ready {
        remove_temporary(workspace, &one);
    }
}

/// Removes what was written beside the destination of a change. Returns whether it existed.
pub(super) fn remove_temporary(workspace: &Path, change: &PreparedChange) -> bool {
    let parent = change.path.parent().unwrap_or(Path::new(""));
    let folder = walk::open_without_links(workspace, parent);
    folder.is_ok_and(|folder| rustix::fs::unlinkat(&folder, &change.temporary, AtFlags::empty()).is_ok())
}

/// Finishes a change of a process that was killed, if the change is still there and nobody modified it.
pub(super) fn finish_change(workspace: &Path, change: &PreparedChange, taken: &mut CommittedChanges) -> io::Result<()> {
    match PathState::inspect(workspace, &change.path.with_file_name(&change.temporary), None) {
        PathState::File(digest, _) if digest == change.after => install_change(workspace, change, taken),
        // It was renamed before.
        PathState::Nothing => Ok(()),
        PathState::File(..) | PathState::Other => {
            remove_temporary(workspace, change);
            Ok(())
        }
    }
}

/// Installs a change, or stores it next to the file if another process changed the file.
fn install_change(workspace: &Path, one: &PreparedChange, taken: &mut CommittedChanges) -> io::Result<()> {
    let name = one.path.file_name().unwrap_or_default();
    let folder = open_parent(workspace, &one.path)?;
    if let Some(over) = one.replaces.filter(|over| over.is_unchanged(&folder, name)) {
        let renamed = match over {
            PathState::Nothing => mounts::rename_to_new(&folder, one.temporary.as_ref(), name),
            PathState::File(..) | PathState::Other => {
                rustix::fs::renameat(&folder, &one.temporary, &folder, name).map_err(Into::into)
            }
        };
        match renamed {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            other => {
                other?;
                taken.written.push(one.path.to_string_lossy().into_owned());
                return Ok(());
            }
        }
    }
    let beside = mounts::rename_beside(&folder, one.temporary.as_ref(), name, CONFLICT_SUFFIX)?;
    let (shown, beside) = (one.path.display(), one.path.with_file_name(beside));
    let what = match PathState::inspect(workspace, &one.path, None) {
        PathState::Other => "is not a regular file, and was not replaced",
        PathState::Nothing => "was removed by another process while the tool ran",
        PathState::File(..) => "was changed by another process while the tool ran",
    };
    taken.conflicts.push(format!("`{shown}` {what}; the tool's version is in `{}`", beside.display()));
    Ok(())
}

/// Removes a file that the tool removed, unless another process changed it.
pub(super) fn remove_file(
    workspace: &Path,
    path: &Path,
    before: FileDigest,
    taken: &mut CommittedChanges,
) -> io::Result<()> {
    let there = PathState::inspect(workspace, path, None);
    let name = path.file_name().unwrap_or_default();
    match there {
        PathState::Nothing => return Ok(()),
        PathState::File(now, _) if now == before => {
            let folder = open_parent(workspace, path)?;
            if there.is_unchanged(&folder, name) {
                return Ok(rustix::fs::unlinkat(&folder, name, AtFlags::empty())?);
            }
        }
        PathState::File(..) | PathState::Other => {}
    }
    let shown = path.display();
    taken.conflicts.push(format!("`{shown}` was changed by another process while the tool ran, and was not removed"));
    Ok(())
}

fn open_parent(workspace: &Path, path: &Path) -> io::Result<OwnedFd> {
    mounts::make_folder(workspace, path.parent().unwrap_or(Path::new("")))
}

/// Reads the umask from `/proc`, because the system call can only return it by changing it for the whole process.
fn read_umask() -> u32 {
    let mut text = String::new();
    let opened = rustix::fs::open("/proc/self/status", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
    let read = opened.map(|file| File::from(file).take(64 << 10).read_to_string(&mut text));
    let line = read.ok().and_then(|_| text.lines().find_map(|line| line.strip_prefix("Umask:")));
    line.and_then(|mask| u32::from_str_radix(mask.trim(), 8).ok()).unwrap_or(0o022)
}

fn prepare_change(
    workspace: &Path,
    change: &FileChange,
    mut content: BoundedFile<'_>,
    over: Option<PathState>,
) -> io::Result<PreparedChange> {
    let folder = open_parent(workspace, &change.path)?;
    let name = change.path.file_name().unwrap_or_default();
    let temporary = &change.temporary;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = File::from(rustix::fs::openat(&folder, temporary, flags, Mode::from_raw_mode(0o600))?);
    let laid = (|| -> io::Result<()> {
        io::copy(&mut content, &mut file)?;
        let existing = rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW).ok();
        let existing = existing.filter(|stat| FileType::from_raw_mode(stat.st_mode).is_file());
        let owner = existing.map_or_else(|| rustix::fs::fstat(&folder), Ok)?;
        // Only root can change owners; for other users, the file already has the right owner.
        if rustix::process::geteuid().is_root() {
            rustix::fs::fchown(&file, Some(Uid::from_raw(owner.st_uid)), Some(Gid::from_raw(owner.st_gid)))?;
        }
        let mode = existing.map_or(change.mode & !read_umask(), |stat| stat.st_mode & 0o777);
        Ok(rustix::fs::fchmod(&file, Mode::from_raw_mode(mode))?)
    })();
    if let Err(error) = laid {
        // Best effort: the first error is reported.
        let _ = rustix::fs::unlinkat(&folder, temporary, AtFlags::empty());
        return Err(error);
    }
    Ok(PreparedChange { path: change.path.clone(), temporary: temporary.clone(), after: change.after, replaces: over })
}
