//! Copies a skill's directory into a private directory, so that what was approved is what runs, even if the skill
//! changes in the meantime.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use rep_storage::atomic::remove_abandoned_files;
use rustix::fs::{AtFlags, Dir, FileType, FlockOperation, Mode, OFlags, flock, fstat, openat, readlinkat, statat};

use super::contents::{DEPTH_MAX, FILES_MAX, SkillContents, TextRetention};

/// The maximum number of bytes copied from a skill.
const BYTES_MAX: u64 = 1 << 30;

/// The maximum number of attempts to create a directory that another process removes as stale.
const TRIES_MAX: usize = 16;

/// A private copy of a skill's directory. It is removed when dropped.
#[derive(Debug)]
pub struct PrivateCopy {
    holder: CopyHolder,
    folder: PathBuf,
    digest: String,
}

impl PrivateCopy {
    /// Copies a directory as trust sees it: files with their modes, links as links, without the top-level `.git`.
    /// Returns the reason if the directory cannot be copied completely. `place` is a directory used only for copies,
    /// which no tool can see. Stale copies of killed processes are removed from it.
    pub fn from_folder(folder: &Path, place: &Path) -> Result<Self, String> {
        let failed = |error: io::Error| format!("it cannot be copied: {error}");
        let real = fs::canonicalize(folder).map_err(failed)?;
        let holder = CopyHolder::new(place).map_err(failed)?;
        // Skills can depend on the name of their directory.
        let place = fs::canonicalize(holder.folder.path()).map_err(failed)?;
        let to = place.join(real.file_name().unwrap_or(OsStr::new("skill")));
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let from = rustix::fs::open(&real, flags, Mode::empty()).map_err(|error| failed(error.into()))?;
        CopyBudget { files: FILES_MAX, bytes: BYTES_MAX }.copy_folder(&from, &to, 0)?;
        let contents = SkillContents::read(&to, TextRetention::DigestsOnly);
        match contents.unfit {
            Some(reason) => Err(reason),
            None => Ok(Self { holder, folder: to, digest: contents.digest() }),
        }
    }

    /// Copies only the named files: those of a single-file skill and the files it refers to. The first file must exist.
    /// Other files that are missing or not regular are skipped.
    pub fn from_files(folder: &Path, names: &[String], place: &Path) -> Result<Self, String> {
        let failed = |error: io::Error| format!("it cannot be copied: {error}");
        let holder = CopyHolder::new(place).map_err(failed)?;
        let to = fs::canonicalize(holder.folder.path()).map_err(failed)?.join("skill");
        DirBuilder::new().mode(0o700).create(&to).map_err(failed)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let from = rustix::fs::open(folder, flags, Mode::empty()).map_err(|error| failed(error.into()))?;
        let mut room = CopyBudget { files: FILES_MAX, bytes: BYTES_MAX };
        for (index, name) in names.iter().take(FILES_MAX).enumerate() {
            match room.copy_named_file(&from, name, &to) {
                Err(what) if index == 0 => return Err(format!("`{name}` {what}")),
                _ => {}
            }
        }
        let contents = SkillContents::read(&to, TextRetention::DigestsOnly);
        match contents.unfit {
            Some(reason) => Err(reason),
            None => Ok(Self { holder, folder: to, digest: contents.digest() }),
        }
    }

    /// Returns the absolute path of the copy, with links resolved.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the digest of the copy, computed like that of a skill's directory.
    pub fn digest(&self) -> &str {
        &self.digest
    }
}

impl Drop for PrivateCopy {
    /// A run may have left directories that cannot be entered, or that are too deep for a path.
    fn drop(&mut self) {
        // Anything that remains is in a temporary directory that only its owner can enter.
        let _ = flatten_folder(self.holder.folder.path());
    }
}

/// Flattens a directory to one level and makes all of it accessible to its owner, so that it can be removed.
fn flatten_folder(top: &Path) -> io::Result<()> {
    let mut moved = 0_u64;
    let mut open: Vec<PathBuf> = list_subfolders(top)?;
    while let Some(folder) = open.pop() {
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700))?;
        for inner in list_subfolders(&folder)? {
            // A directory without write permission cannot be moved.
            fs::set_permissions(&inner, fs::Permissions::from_mode(0o700))?;
            let place = top.join(format!(".rep-{moved}"));
            moved += 1;
            fs::rename(&inner, &place)?;
            open.push(place);
        }
    }
    Ok(())
}

/// Lists the subdirectories of a directory, without links.
fn list_subfolders(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            found.push(entry.path());
        }
    }
    Ok(found)
}

/// The directory that contains a copy, accessible only to its owner. It is locked while its process is alive.
#[derive(Debug)]
struct CopyHolder {
    folder: tempfile::TempDir,
    _lock: OwnedFd,
}

impl CopyHolder {
    fn new(place: &Path) -> io::Result<Self> {
        claim_folder(place)?;
        remove_stale_copies(place);
        if let Some(data) = place.parent() {
            remove_abandoned_files(data);
        }
        for _ in 0..TRIES_MAX {
            let private = fs::Permissions::from_mode(0o700);
            let folder = tempfile::Builder::new().prefix("copy-").permissions(private.clone()).tempdir_in(place)?;
            // Another process may have removed the directory before it was locked, or be about to. The mode is set
            // explicitly, because the umask may differ.
            if fs::set_permissions(folder.path(), private).is_err() {
                continue;
            }
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let Ok(lock) = rustix::fs::open(folder.path(), flags, Mode::empty()) else { continue };
            if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok() && folder.path().is_dir() {
                return Ok(Self { folder, _lock: lock });
            }
        }
        Err(io::Error::other(format!("could not create a directory in `{}`", place.display())))
    }
}

/// Creates the directory for copies, or uses the existing one if the user owns it. In a shared location, another user
/// could have created it or a link first, so nothing is created or removed there.
fn claim_folder(place: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(place)?;
    let foreign = || {
        let shown = place.display();
        io::Error::other(format!("`{shown}` is not your own directory; remove it, or set TMPDIR to one that is"))
    };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let found = rustix::fs::open(place, flags, Mode::empty()).map_err(|_| foreign())?;
    let stat = fstat(&found)?;
    if stat.st_uid != rustix::process::geteuid().as_raw() {
        return Err(foreign());
    }
    if stat.st_mode & 0o7777 != 0o700 {
        rustix::fs::fchmod(&found, Mode::RWXU)?;
    }
    Ok(())
}

/// Removes copies of processes that are gone. Errors are ignored; the next copy tries again.
fn remove_stale_copies(place: &Path) {
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        if !entry.file_name().as_bytes().starts_with(b"copy-") {
            continue;
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let Ok(folder) = rustix::fs::open(entry.path(), flags, Mode::empty()) else { continue };
        if flock(&folder, FlockOperation::NonBlockingLockExclusive).is_ok() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// The remaining limits of a copy.
struct CopyBudget {
    files: usize,
    bytes: u64,
}

impl CopyBudget {
    /// Copies a directory. Every name is opened relative to the open directory, and links are not followed. If a
    /// directory is replaced by a link in the meantime, opening it fails.
    fn copy_folder(&mut self, from: &OwnedFd, to: &Path, depth: usize) -> Result<(), String> {
        if depth > DEPTH_MAX {
            return Err(format!("it is more than {DEPTH_MAX} directories deep"));
        }
        DirBuilder::new().mode(0o700).create(to).map_err(|error| format!("it cannot be copied: {error}"))?;
        for entry in Dir::read_from(from).map_err(|_| "a directory in it cannot be read".to_owned())? {
            let entry = entry.map_err(|_| "a directory in it cannot be read".to_owned())?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            let unfit = |what: &str| format!("`{}` {what}", name.to_string_lossy());
            let found = statat(from, name, AtFlags::SYMLINK_NOFOLLOW).map_err(|_| unfit("cannot be read"))?;
            let kind = FileType::from_raw_mode(found.st_mode);
            if kind == FileType::Directory && depth == 0 && name == ".git" {
                continue;
            }
            self.files = self.files.checked_sub(1).ok_or_else(|| format!("it has more than {FILES_MAX} files"))?;
            match kind {
                FileType::Directory => {
                    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                    let inner = openat(from, name, flags, Mode::empty()).map_err(|_| unfit("cannot be read"))?;
                    self.copy_folder(&inner, &to.join(name), depth + 1)?;
                }
                FileType::Symlink => {
                    let target = readlinkat(from, name, Vec::new()).map_err(|_| unfit("cannot be read"))?;
                    symlink(OsStr::from_bytes(target.to_bytes()), to.join(name))
                        .map_err(|_| unfit("cannot be copied"))?;
                }
                FileType::RegularFile => self.copy_file(from, name, &to.join(name)).map_err(|what| unfit(&what))?,
                _ => return Err(unfit("is neither a file, a directory nor a link")),
            }
        }
        Ok(())
    }

    /// Copies a file by its path below an open directory. Follows no links on the way.
    fn copy_named_file(&mut self, from: &OwnedFd, path: &str, to: &Path) -> Result<(), String> {
        let unread = |_| "cannot be read".to_owned();
        let (folders, name) = path.rsplit_once('/').map_or((None, path), |(folders, name)| (Some(folders), name));
        if path.split('/').any(|part| matches!(part, "" | "." | ".." | ".git")) {
            return Err("is not a file of the skill".to_owned());
        }
        let mut open = from.try_clone().map_err(|_| "cannot be read".to_owned())?;
        let mut place = to.to_owned();
        let mut made = Vec::new();
        for part in folders.into_iter().flat_map(|folders| folders.split('/')).take(DEPTH_MAX) {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            open = openat(&open, part, flags, Mode::empty()).map_err(unread)?;
            place.push(part);
            made.push(place.clone());
        }
        let found = statat(&open, name, AtFlags::SYMLINK_NOFOLLOW).map_err(unread)?;
        if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
            return Err("is not a file".to_owned());
        }
        for folder in made.iter().filter(|folder| !folder.is_dir()) {
            DirBuilder::new().mode(0o700).create(folder).map_err(|error| format!("cannot be copied: {error}"))?;
        }
        let target = place.join(name);
        if target.exists() { Ok(()) } else { self.copy_file(&open, OsStr::new(name), &target) }
    }

    /// Copies a file. Checks again after opening it that it is a regular file.
    fn copy_file(&mut self, from: &OwnedFd, name: &OsStr, to: &Path) -> Result<(), String> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = openat(from, name, flags, Mode::empty()).map_err(|_| "cannot be read".to_owned())?;
        let found = fstat(&file).map_err(|_| "cannot be read".to_owned())?;
        if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
            return Err("is no longer a file".to_owned());
        }
        let failed = |error: io::Error| format!("cannot be copied: {error}");
        let mut fresh = File::options().write(true).create_new(true).mode(0o600).open(to).map_err(failed)?;
        let count = io::copy(&mut File::from(file).take(self.bytes + 1), &mut fresh).map_err(failed)?;
        self.bytes = self
            .bytes
            .checked_sub(count)
            .ok_or_else(|| format!("makes it larger than the limit of {} MiB", BYTES_MAX >> 20))?;
        let all = Mode::RWXU | Mode::RWXG | Mode::RWXO;
        let mode = Mode::from_raw_mode(found.st_mode) & all | Mode::RUSR;
        rustix::fs::fchmod(&fresh, mode).map_err(|error| failed(error.into()))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    fn make_skill_folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["scripts/.git", ".git"] {
            fs::create_dir_all(at(name)).unwrap();
        }
        for name in ["SKILL.md", "scripts/run.sh", "scripts/.git/hook.sh", ".git/HEAD"] {
            let mut file = File::create(at(name)).unwrap();
            io::Write::write_all(&mut file, name.as_bytes()).unwrap();
        }
        fs::set_permissions(at("scripts/run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
        symlink("run.sh", at("scripts/again.sh")).unwrap();
        folder
    }

    fn digest_folder(folder: &Path) -> String {
        SkillContents::read(folder, TextRetention::DigestsOnly).digest()
    }

    #[test]
    fn a_copy_has_the_digest_of_what_it_copies_and_keeps_it() {
        let folder = make_skill_folder();
        let place = tempfile::tempdir().unwrap();
        let copies = place.path().join("copies");
        let copy = PrivateCopy::from_folder(folder.path(), &copies).unwrap();
        assert_eq!(copy.digest(), digest_folder(folder.path()));
        assert!(copy.folder().starts_with(fs::canonicalize(&copies).unwrap()), "it is in the given directory");
        let inside = |name: &str| copy.folder().join(name);
        assert!(!inside(".git").exists() && inside("scripts/.git/hook.sh").exists());
        assert_eq!(fs::read_link(inside("scripts/again.sh")).unwrap(), Path::new("run.sh"));
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&inside("scripts/run.sh")), mode(copy.folder())), (0o755, 0o700));
        fs::remove_file(folder.path().join("SKILL.md")).unwrap();
        assert_eq!(copy.digest(), digest_folder(copy.folder()));
        let place = copy.folder().to_owned();
        drop(copy);
        assert!(!place.exists());
    }

    #[test]
    fn files_that_are_named_are_copied_and_no_others() {
        let (folder, place) = (make_skill_folder(), tempfile::tempdir().unwrap());
        symlink("/etc", folder.path().join("etc")).unwrap();
        let names =
            ["SKILL.md", "scripts/run.sh", "scripts/again.sh", "etc/passwd", "../x", "none", "scripts", "SKILL.md"];
        let copy = PrivateCopy::from_files(folder.path(), &names.map(str::to_owned), place.path()).unwrap();
        let listed = |folder: &str| {
            let names = fs::read_dir(copy.folder().join(folder)).unwrap().map(|entry| entry.unwrap().file_name());
            names.collect::<std::collections::BTreeSet<_>>()
        };
        assert_eq!((listed("").len(), listed("scripts").len()), (2, 1));
        assert!(copy.folder().join("SKILL.md").is_file() && copy.folder().join("scripts/run.sh").is_file());
        assert!(PrivateCopy::from_files(folder.path(), &["none".to_owned()], place.path()).is_err());
    }

    #[test]
    fn a_copy_is_removed_whatever_was_left_in_it() {
        let (folder, copies) = (make_skill_folder(), tempfile::tempdir().unwrap());
        let copy = PrivateCopy::from_folder(folder.path(), copies.path()).unwrap();
        let place = copy.folder().parent().unwrap().to_owned();
        let closed = copy.folder().join("closed/inner");
        fs::create_dir_all(&closed).unwrap();
        for path in [&closed, closed.parent().unwrap()] {
            fs::set_permissions(path, fs::Permissions::from_mode(0o000)).unwrap();
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut at = rustix::fs::open(copy.folder(), flags, Mode::empty()).unwrap();
        for _ in 0..5_000 {
            rustix::fs::mkdirat(&at, "d", Mode::RWXU).unwrap();
            at = openat(&at, "d", flags, Mode::empty()).unwrap();
        }
        drop(at);
        drop(copy);
        assert!(!place.exists());
    }

    #[test]
    fn a_copy_is_for_its_owner_only_and_what_is_left_of_others_is_removed() {
        let (folder, place) = (make_skill_folder(), tempfile::tempdir().unwrap());
        let left = place.path().join("copy-left/skill");
        fs::create_dir_all(&left).unwrap();
        let first = PrivateCopy::from_folder(folder.path(), place.path()).unwrap();
        assert!(!left.exists(), "its process is gone");
        let second = PrivateCopy::from_folder(folder.path(), place.path()).unwrap();
        assert!(first.folder().is_dir() && second.folder().is_dir(), "a copy in use is retained");
        let holder = first.folder().parent().unwrap();
        assert_eq!(fs::metadata(holder).unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn nothing_is_removed_in_a_folder_that_is_not_the_users_own() {
        let (folder, scene) = (make_skill_folder(), tempfile::tempdir().unwrap());
        let victim = scene.path().join("victim");
        fs::create_dir_all(victim.join("copy-mine/a")).unwrap();
        let link = scene.path().join("link");
        symlink(&victim, &link).unwrap();
        assert!(PrivateCopy::from_folder(folder.path(), &link).unwrap_err().contains("not your own"));
        assert!(
            PrivateCopy::from_files(folder.path(), &["SKILL.md".to_owned()], &link)
                .unwrap_err()
                .contains("not your own")
        );
        assert!(victim.join("copy-mine/a").is_dir());
        // Only root can change the owner of a directory.
        if std::os::unix::fs::chown(&victim, Some(54_321), None).is_ok() {
            assert!(PrivateCopy::from_folder(folder.path(), &victim).unwrap_err().contains("not your own"));
            assert!(victim.join("copy-mine/a").is_dir());
        }
        let open = scene.path().join("open");
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
        PrivateCopy::from_folder(folder.path(), &open).unwrap();
        assert_eq!(fs::metadata(&open).unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn only_the_git_folder_at_the_top_is_left_out_of_a_digest() {
        let folder = make_skill_folder();
        let before = digest_folder(folder.path());
        fs::remove_file(folder.path().join(".git/HEAD")).unwrap();
        assert_eq!(digest_folder(folder.path()), before);
        fs::remove_file(folder.path().join("scripts/.git/hook.sh")).unwrap();
        assert_ne!(digest_folder(folder.path()), before);
    }

    #[test]
    fn what_cannot_be_told_apart_or_read_is_unfit() {
        let folder = make_skill_folder();
        File::create(folder.path().join(std::ffi::OsString::from_vec(vec![b'a', 0xff]))).unwrap();
        assert!(
            SkillContents::read(folder.path(), TextRetention::DigestsOnly)
                .unfit
                .is_some_and(|reason| reason.contains("UTF-8"))
        );
        let place = tempfile::tempdir().unwrap();
        assert!(PrivateCopy::from_folder(folder.path(), place.path()).is_err());
        let folder = make_skill_folder();
        rustix::fs::mknodat(rustix::fs::CWD, folder.path().join("pipe"), FileType::Fifo, Mode::RUSR, 0).unwrap();
        assert!(PrivateCopy::from_folder(folder.path(), place.path()).unwrap_err().contains("neither"));
        let folder = make_skill_folder();
        let closed = folder.path().join("SKILL.md");
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
        // Root can read it regardless.
        if File::open(&closed).is_err() {
            assert!(
                SkillContents::read(folder.path(), TextRetention::DigestsOnly)
                    .unfit
                    .is_some_and(|reason| reason.contains("SKILL.md"))
            );
        }
    }
}
