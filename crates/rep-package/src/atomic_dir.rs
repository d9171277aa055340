//! Writes, replaces and removes directories atomically.
//!
//! The files are written to a staging directory next to the target and synced to disk. The kernel then swaps the
//! two in one step. A crash leaves either the old or the new directory, and at worst a `.rep-…` directory that the
//! next call removes.
#![expect(clippy::disallowed_methods, reason = "this module writes skills")]

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use rep_archive::ArchiveEntry;
use rep_model::{ResolvedSkillPath, resolve_skill_path};
use rep_storage::platform::{self, LinkPolicy, RenameError, sync_folder};

/// The maximum size of a copied file, and of all files together.
const FILE_BYTES_MAX: u64 = 256 << 20;
const FOLDER_BYTES_MAX: u64 = 1 << 30;
/// The name prefix of staging directories.
const STAGING_PREFIX: &str = ".rep-";
/// The name prefix of staging directories of a journal, which only their owner removes.
pub(crate) const STEP_PREFIX: &str = ".rep-step-";
/// How often to try again if another process removes a staging directory.
const TRIES_MAX: usize = 10;
/// The name of the new content in a staging directory.
pub(crate) const STAGED_NAME: &str = "skill";

/// A file to be written.
#[derive(Clone, Debug)]
pub struct PackageFile {
    /// Its path in the directory, with `/`.
    pub path: String,
    /// Its content.
    pub content: PackageFileContent,
    /// Whether it can be executed.
    pub is_executable: bool,
}

impl PackageFile {
    /// Returns the bytes, if they are in memory.
    pub fn bytes(&self) -> &[u8] {
        match &self.content {
            PackageFileContent::InMemory(bytes) => bytes,
            PackageFileContent::CopyOf(_) => &[],
        }
    }
}

impl From<ArchiveEntry> for PackageFile {
    fn from(entry: ArchiveEntry) -> Self {
        Self {
            path: entry.path,
            content: PackageFileContent::InMemory(entry.bytes),
            is_executable: entry.is_executable,
        }
    }
}

/// The content of a file.
#[derive(Clone, Debug)]
pub enum PackageFileContent {
    /// These bytes.
    InMemory(Vec<u8>),
    /// A copy of a regular file. Links are not followed.
    CopyOf(PathBuf),
}

/// What to do with an existing directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnExistingFolder {
    /// Keep it and fail.
    Refuse,
    /// Replace it.
    Replace,
}

/// The reason why nothing was written. An existing directory is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum AtomicDirError {
    /// The target exists.
    #[error("`{}` already exists", .0.display())]
    Exists(PathBuf),
    /// A path points out of the directory, or two paths name the same file.
    #[error("cannot write `{path}`: {reason}")]
    Unsupported {
        /// The path.
        path: String,
        /// The reason.
        reason: &'static str,
    },
    /// The operating system returned an error.
    #[error("could not write `{}`: {error}", path.display())]
    Failed {
        /// The path.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
}

pub(crate) fn write_error(path: &Path) -> impl FnOnce(io::Error) -> AtomicDirError + use<> {
    let path = path.to_owned();
    move |error| AtomicDirError::Failed { path, error }
}

/// Writes files to a directory, atomically.
pub fn write_folder_atomically(
    files: &[PackageFile],
    target: &Path,
    existing: OnExistingFolder,
) -> Result<(), AtomicDirError> {
    check_paths(files)?;
    refuse_existing(target, existing)?;
    let making = StagedDir::create_beside(target, STAGING_PREFIX)?;
    making.write_files(files)?;
    making.swap_into_place()
    // The replaced directory is in the staging directory, and is removed with it.
}

/// Removes a directory or link, atomically.
pub fn remove_atomically(target: &Path) -> Result<(), AtomicDirError> {
    StagedDir::create_beside(target, STAGING_PREFIX)?.move_target_here()
}

/// Creates a link at the target, atomically.
pub fn link_atomically(to: &Path, target: &Path, existing: OnExistingFolder) -> Result<(), AtomicDirError> {
    refuse_existing(target, existing)?;
    let making = StagedDir::create_beside(target, STAGING_PREFIX)?;
    making.write_link(to)?;
    making.swap_into_place()
}

fn refuse_existing(target: &Path, existing: OnExistingFolder) -> Result<(), AtomicDirError> {
    match fs::symlink_metadata(target) {
        Ok(_) if existing == OnExistingFolder::Refuse => Err(AtomicDirError::Exists(target.to_owned())),
        _ => Ok(()),
    }
}

/// Returns the parent directory of a path.
pub(crate) fn parent_folder(target: &Path) -> &Path {
    target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A directory next to a target in which the new content is staged, and which contains the old content after the
/// swap. It is locked while its creator lives, so that others can detect directories that a crash left behind.
#[derive(Debug)]
pub(crate) struct StagedDir {
    folder: tempfile::TempDir,
    target: PathBuf,
    _lock_handle: File,
}

impl StagedDir {
    /// Creates a staging directory next to the target, with its parent directories, and removes those that a crash
    /// left behind.
    pub(crate) fn create_beside(target: &Path, prefix: &str) -> Result<Self, AtomicDirError> {
        let parent = parent_folder(target);
        fs::create_dir_all(parent).map_err(write_error(parent))?;
        remove_abandoned_folders(parent, prefix);
        for _ in 0..TRIES_MAX {
            let folder = tempfile::Builder::new().prefix(prefix).tempdir_in(parent).map_err(write_error(parent))?;
            let held = platform::open_file(folder.path(), LinkPolicy::Follow).map_err(write_error(folder.path()));
            // Another process may remove it before it is locked; then create another one. A file system without
            // locks has no such cleanup.
            let is_held = held.as_ref().is_ok_and(|held| !matches!(held.try_lock(), Err(TryLockError::WouldBlock)));
            if is_held && folder.path().exists() {
                return Ok(Self { folder, target: target.to_owned(), _lock_handle: held? });
            }
        }
        Err(write_error(parent)(io::Error::other("directories created there disappear")))
    }

    /// Returns the path of the staged content.
    pub(crate) fn staged_path(&self) -> PathBuf {
        self.folder.path().join(STAGED_NAME)
    }

    /// Writes files and syncs them to disk.
    pub(crate) fn write_files(&self, files: &[PackageFile]) -> Result<(), AtomicDirError> {
        check_paths(files)?;
        let fresh = self.staged_path();
        fs::create_dir(&fresh).map_err(write_error(&fresh))?;
        let mut total = 0;
        for file in files {
            total += write_file(file, &fresh)?;
            if total > FOLDER_BYTES_MAX {
                return Err(AtomicDirError::Unsupported {
                    path: file.path.clone(),
                    reason: "the directory would be larger than 1 GiB",
                });
            }
        }
        sync_folder(&fresh).map_err(write_error(&fresh))
    }

    /// Creates a link.
    pub(crate) fn write_link(&self, to: &Path) -> Result<(), AtomicDirError> {
        platform::create_link(to, &self.staged_path()).map_err(write_error(&self.staged_path()))
    }

    /// Moves the staged content to the target, and the old content here.
    pub(crate) fn swap_into_place(&self) -> Result<(), AtomicDirError> {
        swap_paths(&self.staged_path(), &self.target)?;
        let parent = parent_folder(&self.target);
        sync_folder(parent).map_err(write_error(parent))
    }

    /// Moves the target here.
    pub(crate) fn move_target_here(&self) -> Result<(), AtomicDirError> {
        let parent = parent_folder(&self.target);
        fs::rename(&self.target, self.staged_path()).map_err(write_error(&self.target))?;
        sync_folder(parent).map_err(write_error(parent))
    }

    /// Leaves everything as it is, like a process that crashes.
    #[cfg(test)]
    pub(crate) fn abandon(self) {
        let _ = self.folder.keep();
    }

    /// Undoes a swap or a removal.
    pub(crate) fn undo_swap(&self) -> Result<(), AtomicDirError> {
        if fs::symlink_metadata(self.staged_path()).is_ok() {
            return swap_paths(&self.staged_path(), &self.target);
        }
        fs::rename(&self.target, self.staged_path()).map_err(write_error(&self.target))
    }
}

/// Removes staging directories whose creators are gone, because they are not locked.
pub(crate) fn remove_abandoned_folders(parent: &Path, prefix: &str) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_ours = name.as_encoded_bytes().starts_with(prefix.as_bytes())
            && (prefix != STAGING_PREFIX || !name.as_encoded_bytes().starts_with(STEP_PREFIX.as_bytes()))
            && entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_ours
            && platform::open_file(&entry.path(), LinkPolicy::Refuse).is_ok_and(|folder| folder.try_lock().is_ok())
        {
            // A directory that cannot be removed does no harm.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Swaps a new path with the target. The old content is then at the new path.
pub(crate) fn swap_paths(fresh: &Path, target: &Path) -> Result<(), AtomicDirError> {
    let is_there = fs::symlink_metadata(target).is_ok();
    let renamed = if is_there { platform::exchange_paths(fresh, target) } else { platform::rename_new(fresh, target) };
    match renamed {
        Ok(()) => Ok(()),
        Err(RenameError::Exists) => Err(AtomicDirError::Exists(target.to_owned())),
        // The system cannot swap: move the old content away, then the new content in.
        Err(RenameError::Unsupported) => {
            let old = fresh.with_extension("old");
            if is_there {
                fs::rename(target, &old).map_err(write_error(target))?;
            }
            fs::rename(fresh, target).map_err(write_error(target))?;
            if is_there { fs::rename(&old, fresh).map_err(write_error(fresh)) } else { Ok(()) }
        }
        Err(RenameError::Failed(error)) => Err(AtomicDirError::Failed { path: target.to_owned(), error }),
    }
}

/// Whether a file system that folds or shortens names may treat this name as git's own directory.
fn is_git_name(name: &str) -> bool {
    let plain = name.trim_end_matches(['.', ' ']).to_ascii_lowercase();
    plain == ".git" || plain == "git~1"
}

/// Finds a directory that git would treat as a repository because of its content, whatever its name. Paths are in
/// lower case.
fn find_git_repository(paths: &BTreeSet<String>) -> Option<String> {
    let heads = paths.iter().filter_map(|path| path.strip_suffix("head"));
    heads.filter(|folder| folder.is_empty() || folder.ends_with('/')).find_map(|folder| {
        let is_there = |name: &str| paths.contains(&format!("{folder}{name}"));
        let has_below = |name: &str| {
            let below = format!("{folder}{name}/");
            paths.range(below.clone()..).next().is_some_and(|next| next.starts_with(&below))
        };
        let has_parts = has_below("objects") || has_below("refs");
        (has_parts || is_there("commondir") || is_there("gitdir")).then(|| folder.trim_end_matches('/').to_owned())
    })
}

/// Checks all paths before the first byte is written.
fn check_paths(files: &[PackageFile]) -> Result<(), AtomicDirError> {
    let mut seen = BTreeSet::new();
    for file in files {
        let refuse = |reason| Err(AtomicDirError::Unsupported { path: file.path.clone(), reason });
        let is_inside =
            matches!(resolve_skill_path("", &file.path), ResolvedSkillPath::Inside(path) if path == file.path);
        if file.path.is_empty() || !is_inside || file.path.contains('\\') || file.path.chars().any(char::is_control) {
            return refuse("it is not a plain path inside the directory");
        }
        if file.path.split('/').any(|part| part.len() > 255) {
            return refuse("a name in the path is too long");
        }
        if file.path.split('/').any(is_git_name) {
            return refuse("it is part of a git repository, and git would obey the repository's settings");
        }
        // Some file systems ignore case.
        if !seen.insert(file.path.to_lowercase()) {
            return refuse("another file has the same name");
        }
    }
    if let Some(folder) = find_git_repository(&seen) {
        let path = if folder.is_empty() { "HEAD".to_owned() } else { format!("{folder}/HEAD") };
        return Err(AtomicDirError::Unsupported {
            path,
            reason: "its directory is a git repository, and git would obey the repository's settings",
        });
    }
    let is_folder = |path: &str| {
        let mut below = path.to_lowercase();
        below.push('/');
        seen.range(below.clone()..).next().is_some_and(|next| next.starts_with(&below))
    };
    match files.iter().find(|file| is_folder(&file.path)) {
        Some(file) => {
            Err(AtomicDirError::Unsupported { path: file.path.clone(), reason: "it is both a file and a directory" })
        }
        None => Ok(()),
    }
}

fn write_file(file: &PackageFile, folder: &Path) -> Result<u64, AtomicDirError> {
    let path = folder.join(&file.path);
    let parent = path.parent().unwrap_or(folder);
    fs::create_dir_all(parent).map_err(write_error(parent))?;
    let mode = if file.is_executable { 0o755 } else { 0o644 };
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    platform::set_creation_mode(&mut options, mode);
    let mut fresh = options.open(&path).map_err(write_error(&path))?;
    let count = match &file.content {
        PackageFileContent::InMemory(bytes) => {
            fresh.write_all(bytes).map(|()| bytes.len() as u64).map_err(write_error(&path))?
        }
        PackageFileContent::CopyOf(source) => {
            let mut read = || -> io::Result<u64> {
                let from = platform::open_file(source, LinkPolicy::Refuse)?;
                if !from.metadata()?.is_file() {
                    return Err(io::Error::other("it is not a regular file"));
                }
                io::copy(&mut from.take(FILE_BYTES_MAX + 1), &mut fresh)
            };
            read().map_err(write_error(source))?
        }
    };
    if count > FILE_BYTES_MAX {
        return Err(AtomicDirError::Unsupported { path: file.path.clone(), reason: "it is larger than 256 MiB" });
    }
    // Independent of the caller's umask.
    platform::set_file_mode(&fresh, mode).map_err(write_error(&path))?;
    fresh.sync_all().map_err(write_error(&path))?;
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> PackageFile {
        PackageFile {
            path: path.to_owned(),
            content: PackageFileContent::InMemory(text.as_bytes().to_vec()),
            is_executable: false,
        }
    }

    fn list_names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_folder_is_there_as_a_whole_and_nothing_else_is() {
        let scratch = tempfile::tempdir().unwrap();
        let target = scratch.path().join("deep/one");
        write_folder_atomically(&[file("SKILL.md", "a"), file("scripts/x.sh", "b")], &target, OnExistingFolder::Refuse)
            .unwrap();
        assert_eq!(fs::read_to_string(target.join("scripts/x.sh")).unwrap(), "b");
        assert_eq!(list_names(target.parent().unwrap()), ["one"]);
        let again = write_folder_atomically(&[file("SKILL.md", "c")], &target, OnExistingFolder::Refuse);
        assert!(matches!(again, Err(AtomicDirError::Exists(_))));
        write_folder_atomically(&[file("SKILL.md", "c")], &target, OnExistingFolder::Replace).unwrap();
        assert_eq!(list_names(&target), ["SKILL.md"]);
        assert_eq!(fs::read_to_string(target.join("SKILL.md")).unwrap(), "c");
        assert_eq!(list_names(target.parent().unwrap()), ["one"]);
        remove_atomically(&target).unwrap();
        assert_eq!(list_names(target.parent().unwrap()), Vec::<String>::new());
    }

    #[test]
    fn paths_that_lead_out_or_meet_are_refused_before_anything_is_written() {
        let scratch = tempfile::tempdir().unwrap();
        let target = scratch.path().join("one");
        for paths in [
            vec!["../x"],
            vec!["/etc/x"],
            vec!["a/../../x"],
            vec!["a//b"],
            vec!["./a"],
            vec!["a\\b"],
            vec!["a\nb"],
            vec![""],
            vec!["A", "a"],
            vec!["a", "a/b"],
        ] {
            let files: Vec<PackageFile> = paths.iter().map(|path| file(path, "x")).collect();
            assert!(
                matches!(
                    write_folder_atomically(&files, &target, OnExistingFolder::Refuse),
                    Err(AtomicDirError::Unsupported { .. })
                ),
                "{paths:?}"
            );
        }
        assert_eq!(list_names(scratch.path()), Vec::<String>::new());
    }

    #[test]
    fn what_cannot_be_read_leaves_the_old_folder() {
        let scratch = tempfile::tempdir().unwrap();
        let target = scratch.path().join("one");
        write_folder_atomically(&[file("SKILL.md", "old")], &target, OnExistingFolder::Refuse).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", scratch.path().join("link")).unwrap();
        let of = PackageFile {
            path: "x".to_owned(),
            content: PackageFileContent::CopyOf(scratch.path().join("link")),
            is_executable: false,
        };
        assert!(write_folder_atomically(&[file("SKILL.md", "new"), of], &target, OnExistingFolder::Replace).is_err());
        assert_eq!(fs::read_to_string(target.join("SKILL.md")).unwrap(), "old");
        assert_eq!(list_names(scratch.path()), ["link", "one"]);
    }

    #[test]
    fn a_link_takes_the_place_of_a_folder_and_goes_alone() {
        let scratch = tempfile::tempdir().unwrap();
        let (target, source) = (scratch.path().join("one"), scratch.path().join("source"));
        write_folder_atomically(&[file("SKILL.md", "a")], &source, OnExistingFolder::Refuse).unwrap();
        write_folder_atomically(&[file("SKILL.md", "b")], &target, OnExistingFolder::Refuse).unwrap();
        link_atomically(&source, &target, OnExistingFolder::Replace).unwrap();
        assert_eq!(fs::read_to_string(target.join("SKILL.md")).unwrap(), "a");
        remove_atomically(&target).unwrap();
        assert!(source.join("SKILL.md").exists() && fs::symlink_metadata(&target).is_err());
    }
}
