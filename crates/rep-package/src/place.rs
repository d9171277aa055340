//! Putting a folder where it belongs, whole or not at all.
//!
//! The files are written into a folder beside the target, made safe on disk, and take the target's place in one step of the
//! kernel. A crash leaves the old folder or the new one, and at worst a folder `.rep-…` beside it that the next call removes.
#![expect(clippy::disallowed_methods, reason = "this room writes skills")]

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rep_archive::ArchiveEntry;
use rep_model::{Resolved, resolve};
use rep_storage::atomic::sync_folder;
use rustix::fs::{CWD, OFlags, RenameFlags};

/// The largest file that is copied, and the largest folder.
const FILE_BYTES_MAX: u64 = 256 << 20;
const FOLDER_BYTES_MAX: u64 = 1 << 30;
/// What folders in the making are called.
const MAKING: &str = ".rep-";
/// What those of a journal are called, which only its owner removes.
pub(crate) const STEP: &str = ".rep-step-";
/// How often a folder is made anew that somebody took away at once.
const TRIES_MAX: usize = 10;
/// The name of what is made, in there.
pub(crate) const FRESH: &str = "skill";

/// One file to be put somewhere.
#[derive(Clone, Debug)]
pub struct Placed {
    /// Where it lies in the folder, with `/`.
    pub path: String,
    /// Its bytes.
    pub content: Bytes,
    /// Whether it can be executed.
    pub is_executable: bool,
}

impl Placed {
    /// Its bytes, where they are here.
    pub fn bytes(&self) -> &[u8] {
        match &self.content {
            Bytes::Here(bytes) => bytes,
            Bytes::Of(_) => &[],
        }
    }
}

impl From<ArchiveEntry> for Placed {
    fn from(entry: ArchiveEntry) -> Self {
        Self { path: entry.path, content: Bytes::Here(entry.bytes), is_executable: entry.is_executable }
    }
}

/// The bytes of a file.
#[derive(Clone, Debug)]
pub enum Bytes {
    /// These.
    Here(Vec<u8>),
    /// Those of a regular file. A link is not followed.
    Of(PathBuf),
}

/// What becomes of a folder that is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// It stays, and nothing is put there.
    Refuse,
    /// It is replaced.
    Replace,
}

/// Why nothing was put there. The old folder, if there was one, is as it was.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    /// Something is there already.
    #[error("`{}` is there already", .0.display())]
    Exists(PathBuf),
    /// A path that leads out of the folder, or two that are one.
    #[error("`{path}` cannot be put there: {reason}")]
    Unfit {
        /// The path.
        path: String,
        /// Why not.
        reason: &'static str,
    },
    /// The system refused.
    #[error("could not write `{}`: {error}", path.display())]
    Failed {
        /// Where.
        path: PathBuf,
        /// Its words.
        error: io::Error,
    },
}

pub(crate) fn failed(path: &Path) -> impl FnOnce(io::Error) -> PlaceError + use<> {
    let path = path.to_owned();
    move |error| PlaceError::Failed { path, error }
}

/// Puts files into a folder of this name.
pub fn place(files: &[Placed], target: &Path, existing: Existing) -> Result<(), PlaceError> {
    judge(files)?;
    refuse_existing(target, existing)?;
    let making = Making::beside(target, MAKING)?;
    making.write(files)?;
    making.swap()
    // What was replaced lies in the folder in the making, and goes with it.
}

/// Takes a folder or link away, in one step.
pub fn remove(target: &Path) -> Result<(), PlaceError> {
    Making::beside(target, MAKING)?.take_away()
}

/// Makes a link at the target, in one step.
pub fn link(to: &Path, target: &Path, existing: Existing) -> Result<(), PlaceError> {
    refuse_existing(target, existing)?;
    let making = Making::beside(target, MAKING)?;
    making.link(to)?;
    making.swap()
}

fn refuse_existing(target: &Path, existing: Existing) -> Result<(), PlaceError> {
    match fs::symlink_metadata(target) {
        Ok(_) if existing == Existing::Refuse => Err(PlaceError::Exists(target.to_owned())),
        _ => Ok(()),
    }
}

/// The folder a path lies in.
pub(crate) fn parent_of(target: &Path) -> &Path {
    target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A folder beside a target in which the new one is made, and in which the old one lies afterwards. It is held while its
/// maker lives, so that others see which ones a crash left.
#[derive(Debug)]
pub(crate) struct Making {
    folder: tempfile::TempDir,
    target: PathBuf,
    _held: File,
}

impl Making {
    /// Makes a folder beside the target, with the folders above it, and removes what a crash left there.
    pub(crate) fn beside(target: &Path, prefix: &str) -> Result<Self, PlaceError> {
        let parent = parent_of(target);
        fs::create_dir_all(parent).map_err(failed(parent))?;
        sweep(parent, prefix);
        for _ in 0..TRIES_MAX {
            let folder = tempfile::Builder::new().prefix(prefix).tempdir_in(parent).map_err(failed(parent))?;
            let held = File::open(folder.path()).map_err(failed(folder.path()));
            // Somebody who sweeps may have come between: then another one is made. A file system without locks has no sweepers.
            let is_held = held.as_ref().is_ok_and(|held| !matches!(held.try_lock(), Err(TryLockError::WouldBlock)));
            if is_held && folder.path().exists() {
                return Ok(Self { folder, target: target.to_owned(), _held: held? });
            }
        }
        Err(failed(parent)(io::Error::other("folders that are made there vanish")))
    }

    /// Where the new one is made.
    pub(crate) fn fresh(&self) -> PathBuf {
        self.folder.path().join(FRESH)
    }

    /// Writes files, safe on disk.
    pub(crate) fn write(&self, files: &[Placed]) -> Result<(), PlaceError> {
        judge(files)?;
        let fresh = self.fresh();
        fs::create_dir(&fresh).map_err(failed(&fresh))?;
        let mut total = 0;
        for file in files {
            total += write(file, &fresh)?;
            if total > FOLDER_BYTES_MAX {
                return Err(PlaceError::Unfit {
                    path: file.path.clone(),
                    reason: "the folder would be larger than 1 GiB",
                });
            }
        }
        sync_folder(&fresh).map_err(failed(&fresh))
    }

    /// Makes a link.
    pub(crate) fn link(&self, to: &Path) -> Result<(), PlaceError> {
        std::os::unix::fs::symlink(to, self.fresh()).map_err(failed(&self.fresh()))
    }

    /// What was made takes its place.
    pub(crate) fn swap(&self) -> Result<(), PlaceError> {
        swap(&self.fresh(), &self.target)?;
        let parent = parent_of(&self.target);
        sync_folder(parent).map_err(failed(parent))
    }

    /// What is there comes here.
    pub(crate) fn take_away(&self) -> Result<(), PlaceError> {
        let parent = parent_of(&self.target);
        fs::rename(&self.target, self.fresh()).map_err(failed(&self.target))?;
        sync_folder(parent).map_err(failed(parent))
    }

    /// Leaves everything as it is, as a process that dies does.
    #[cfg(test)]
    pub(crate) fn abandon(self) {
        let _ = self.folder.keep();
    }

    /// Takes back a swap or what was taken away.
    pub(crate) fn undo(&self) -> Result<(), PlaceError> {
        if fs::symlink_metadata(self.fresh()).is_ok() {
            return swap(&self.fresh(), &self.target);
        }
        fs::rename(&self.target, self.fresh()).map_err(failed(&self.target))
    }
}

/// Removes folders in the making whose makers are gone: nobody holds them.
pub(crate) fn sweep(parent: &Path, prefix: &str) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_ours = name.as_encoded_bytes().starts_with(prefix.as_bytes())
            && (prefix != MAKING || !name.as_encoded_bytes().starts_with(STEP.as_bytes()))
            && entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_ours && File::open(entry.path()).is_ok_and(|folder| folder.try_lock().is_ok()) {
            // What cannot be removed is in nobody's way.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// The new one takes the old one's place. What was there lies where the new one was.
pub(crate) fn swap(fresh: &Path, target: &Path) -> Result<(), PlaceError> {
    let is_there = fs::symlink_metadata(target).is_ok();
    let flags = if is_there { RenameFlags::EXCHANGE } else { RenameFlags::NOREPLACE };
    match rustix::fs::renameat_with(CWD, fresh, CWD, target, flags) {
        Ok(()) => Ok(()),
        Err(rustix::io::Errno::EXIST) => Err(PlaceError::Exists(target.to_owned())),
        // A file system that knows no such step: first the old one away, then the new one in.
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS | rustix::io::Errno::OPNOTSUPP) => {
            let old = fresh.with_extension("old");
            if is_there {
                fs::rename(target, &old).map_err(failed(target))?;
            }
            fs::rename(fresh, target).map_err(failed(target))?;
            if is_there { fs::rename(&old, fresh).map_err(failed(fresh)) } else { Ok(()) }
        }
        Err(error) => Err(PlaceError::Failed { path: target.to_owned(), error: error.into() }),
    }
}

/// Looks at all paths before the first byte is written.
/// Whether a name is git's own folder, as file systems that fold or shorten names may see it.
fn is_git(name: &str) -> bool {
    let plain = name.trim_end_matches(['.', ' ']).to_ascii_lowercase();
    plain == ".git" || plain == "git~1"
}

/// A folder that git takes for a repository by what is in it, whatever it is called. Paths are in small letters.
fn repository(paths: &BTreeSet<String>) -> Option<String> {
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

fn judge(files: &[Placed]) -> Result<(), PlaceError> {
    let mut seen = BTreeSet::new();
    for file in files {
        let refuse = |reason| Err(PlaceError::Unfit { path: file.path.clone(), reason });
        let is_inside = matches!(resolve("", &file.path), Resolved::Inside(path) if path == file.path);
        if file.path.is_empty() || !is_inside || file.path.contains('\\') || file.path.chars().any(char::is_control) {
            return refuse("it is no plain path inside the folder");
        }
        if file.path.split('/').any(|part| part.len() > 255) {
            return refuse("a name in it is too long");
        }
        if file.path.split('/').any(is_git) {
            return refuse("it is a part of a git repository, whose settings git obeys in every folder of it");
        }
        // Some file systems see no difference between large and small letters.
        if !seen.insert(file.path.to_lowercase()) {
            return refuse("another file has the same name");
        }
    }
    if let Some(folder) = repository(&seen) {
        let path = if folder.is_empty() { "HEAD".to_owned() } else { format!("{folder}/HEAD") };
        return Err(PlaceError::Unfit {
            path,
            reason: "its folder is a git repository, whose settings git obeys there",
        });
    }
    let is_folder = |path: &str| {
        let mut below = path.to_lowercase();
        below.push('/');
        seen.range(below.clone()..).next().is_some_and(|next| next.starts_with(&below))
    };
    match files.iter().find(|file| is_folder(&file.path)) {
        Some(file) => Err(PlaceError::Unfit { path: file.path.clone(), reason: "it is a file and a folder at once" }),
        None => Ok(()),
    }
}

fn write(file: &Placed, folder: &Path) -> Result<u64, PlaceError> {
    let path = folder.join(&file.path);
    let parent = path.parent().unwrap_or(folder);
    fs::create_dir_all(parent).map_err(failed(parent))?;
    let mode = if file.is_executable { 0o755 } else { 0o644 };
    let mut fresh = OpenOptions::new().write(true).create_new(true).mode(mode).open(&path).map_err(failed(&path))?;
    let count = match &file.content {
        Bytes::Here(bytes) => fresh.write_all(bytes).map(|()| bytes.len() as u64).map_err(failed(&path))?,
        Bytes::Of(source) => {
            let mut read = || -> io::Result<u64> {
                let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
                let flags = i32::try_from(flags.bits()).unwrap_or(0);
                let from = OpenOptions::new().read(true).custom_flags(flags).open(source)?;
                if !from.metadata()?.is_file() {
                    return Err(io::Error::other("it is no regular file"));
                }
                io::copy(&mut from.take(FILE_BYTES_MAX + 1), &mut fresh)
            };
            read().map_err(failed(source))?
        }
    };
    if count > FILE_BYTES_MAX {
        return Err(PlaceError::Unfit { path: file.path.clone(), reason: "it is larger than 256 MiB" });
    }
    // Whatever the mask of the caller.
    fresh.set_permissions(fs::Permissions::from_mode(mode)).map_err(failed(&path))?;
    fresh.sync_all().map_err(failed(&path))?;
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> Placed {
        Placed { path: path.to_owned(), content: Bytes::Here(text.as_bytes().to_vec()), is_executable: false }
    }

    fn names(folder: &Path) -> Vec<String> {
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
        place(&[file("SKILL.md", "a"), file("scripts/x.sh", "b")], &target, Existing::Refuse).unwrap();
        assert_eq!(fs::read_to_string(target.join("scripts/x.sh")).unwrap(), "b");
        assert_eq!(names(target.parent().unwrap()), ["one"]);
        let again = place(&[file("SKILL.md", "c")], &target, Existing::Refuse);
        assert!(matches!(again, Err(PlaceError::Exists(_))));
        place(&[file("SKILL.md", "c")], &target, Existing::Replace).unwrap();
        assert_eq!(names(&target), ["SKILL.md"]);
        assert_eq!(fs::read_to_string(target.join("SKILL.md")).unwrap(), "c");
        assert_eq!(names(target.parent().unwrap()), ["one"]);
        remove(&target).unwrap();
        assert_eq!(names(target.parent().unwrap()), Vec::<String>::new());
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
            let files: Vec<Placed> = paths.iter().map(|path| file(path, "x")).collect();
            assert!(matches!(place(&files, &target, Existing::Refuse), Err(PlaceError::Unfit { .. })), "{paths:?}");
        }
        assert_eq!(names(scratch.path()), Vec::<String>::new());
    }

    #[test]
    fn what_cannot_be_read_leaves_the_old_folder() {
        let scratch = tempfile::tempdir().unwrap();
        let target = scratch.path().join("one");
        place(&[file("SKILL.md", "old")], &target, Existing::Refuse).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", scratch.path().join("link")).unwrap();
        let of = Placed { path: "x".to_owned(), content: Bytes::Of(scratch.path().join("link")), is_executable: false };
        assert!(place(&[file("SKILL.md", "new"), of], &target, Existing::Replace).is_err());
        assert_eq!(fs::read_to_string(target.join("SKILL.md")).unwrap(), "old");
        assert_eq!(names(scratch.path()), ["link", "one"]);
    }

    #[test]
    fn a_link_takes_the_place_of_a_folder_and_goes_alone() {
        let scratch = tempfile::tempdir().unwrap();
        let (target, source) = (scratch.path().join("one"), scratch.path().join("source"));
        place(&[file("SKILL.md", "a")], &source, Existing::Refuse).unwrap();
        place(&[file("SKILL.md", "b")], &target, Existing::Refuse).unwrap();
        link(&source, &target, Existing::Replace).unwrap();
        assert_eq!(fs::read_to_string(target.join("SKILL.md")).unwrap(), "a");
        remove(&target).unwrap();
        assert!(source.join("SKILL.md").exists() && fs::symlink_metadata(&target).is_err());
    }
}
