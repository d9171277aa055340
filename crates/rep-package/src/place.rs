//! Putting a folder where it belongs, whole or not at all.
//!
//! The files are written into a folder beside the target, made safe on disk, and take the target's place in one step of the
//! kernel. A crash leaves the old folder or the new one, and at worst a folder `.rep-…` beside it that the next call removes.
#![expect(clippy::disallowed_methods, reason = "this room writes skills")]

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rep_model::{Resolved, resolve};
use rustix::fs::{CWD, OFlags, RenameFlags};

/// The largest file that is copied, and the largest folder.
const FILE_BYTES_MAX: u64 = 256 << 20;
const FOLDER_BYTES_MAX: u64 = 1 << 30;
/// What folders in the making are called.
const MAKING: &str = ".rep-";

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

fn failed(path: &Path) -> impl FnOnce(io::Error) -> PlaceError + use<> {
    let path = path.to_owned();
    move |error| PlaceError::Failed { path, error }
}

/// Puts files into a folder of this name.
pub fn place(files: &[Placed], target: &Path, existing: Existing) -> Result<(), PlaceError> {
    judge(files)?;
    let parent = target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let is_there = fs::symlink_metadata(target).is_ok();
    if is_there && existing == Existing::Refuse {
        return Err(PlaceError::Exists(target.to_owned()));
    }
    fs::create_dir_all(parent).map_err(failed(parent))?;
    let making = tempfile::Builder::new().prefix(MAKING).tempdir_in(parent).map_err(failed(parent))?;
    let fresh = making.path().join("skill");
    fs::create_dir(&fresh).map_err(failed(&fresh))?;
    let mut total = 0;
    for file in files {
        total += write(file, &fresh)?;
        if total > FOLDER_BYTES_MAX {
            return Err(PlaceError::Unfit { path: file.path.clone(), reason: "the folder would be larger than 1 GiB" });
        }
    }
    sync(&fresh).map_err(failed(&fresh))?;
    swap(&fresh, target, is_there)?;
    sync(parent).map_err(failed(parent))
    // What was replaced lies in the folder in the making, and goes with it.
}

/// Takes a folder or link away, in one step.
pub fn remove(target: &Path) -> Result<(), PlaceError> {
    let parent = target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let making = tempfile::Builder::new().prefix(MAKING).tempdir_in(parent).map_err(failed(parent))?;
    fs::rename(target, making.path().join("old")).map_err(failed(target))?;
    sync(parent).map_err(failed(parent))
}

/// Makes a link at the target, in one step.
pub fn link(to: &Path, target: &Path, existing: Existing) -> Result<(), PlaceError> {
    let parent = target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let is_there = fs::symlink_metadata(target).is_ok();
    if is_there && existing == Existing::Refuse {
        return Err(PlaceError::Exists(target.to_owned()));
    }
    fs::create_dir_all(parent).map_err(failed(parent))?;
    let making = tempfile::Builder::new().prefix(MAKING).tempdir_in(parent).map_err(failed(parent))?;
    let fresh = making.path().join("skill");
    std::os::unix::fs::symlink(to, &fresh).map_err(failed(&fresh))?;
    swap(&fresh, target, is_there)?;
    sync(parent).map_err(failed(parent))
}

/// The new one takes the old one's place. What was there lies where the new one was.
fn swap(fresh: &Path, target: &Path, is_there: bool) -> Result<(), PlaceError> {
    let flags = if is_there { RenameFlags::EXCHANGE } else { RenameFlags::NOREPLACE };
    match rustix::fs::renameat_with(CWD, fresh, CWD, target, flags) {
        Ok(()) => Ok(()),
        Err(rustix::io::Errno::EXIST) => Err(PlaceError::Exists(target.to_owned())),
        // A file system that knows no such step: first the old one away, then the new one in.
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS | rustix::io::Errno::OPNOTSUPP) => {
            if is_there {
                fs::rename(target, fresh.with_extension("old")).map_err(failed(target))?;
            }
            fs::rename(fresh, target).map_err(failed(target))
        }
        Err(error) => Err(PlaceError::Failed { path: target.to_owned(), error: error.into() }),
    }
}

/// Looks at all paths before the first byte is written.
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
        // Some file systems see no difference between large and small letters.
        if !seen.insert(file.path.to_lowercase()) {
            return refuse("another file has the same name");
        }
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

fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
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
