//! A skill's folder as it is at one moment, in a private folder: what is decided over is then what runs, whoever
//! writes to the skill meanwhile.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, FlockOperation, Mode, OFlags, flock, fstat, openat, readlinkat, statat};

use super::contents::{Contents, DEPTH_MAX, FILES_MAX, Texts};

/// The most bytes of a skill that are copied.
const BYTES_MAX: u64 = 1 << 30;

/// How often a folder for a copy is made anew, where another process took it for one that was left.
const TRIES_MAX: usize = 16;

/// A private copy of a skill's folder. It is removed when this is dropped.
#[derive(Debug)]
pub struct Copy {
    holder: Holder,
    folder: PathBuf,
    digest: String,
}

impl Copy {
    /// Copies a folder as trust sees it: files with their modes, links as links, without the `.git` at its top. What
    /// cannot be taken in as a whole is not copied, and the reason is told. `place` is a folder for copies alone that no
    /// tool sees; what is left in it of processes that were ended by force is removed.
    pub fn of(folder: &Path, place: &Path) -> Result<Self, String> {
        let failed = |error: io::Error| format!("it cannot be copied: {error}");
        let real = fs::canonicalize(folder).map_err(failed)?;
        let holder = Holder::new(place).map_err(failed)?;
        // Skills know their own name by that of their folder.
        let place = fs::canonicalize(holder.folder.path()).map_err(failed)?;
        let to = place.join(real.file_name().unwrap_or(OsStr::new("skill")));
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let from = rustix::fs::open(&real, flags, Mode::empty()).map_err(|error| failed(error.into()))?;
        Room { files: FILES_MAX, bytes: BYTES_MAX }.folder(&from, &to, 0)?;
        let contents = Contents::read(&to, Texts::Left);
        match contents.unfit {
            Some(reason) => Err(reason),
            None => Ok(Self { holder, folder: to, digest: contents.digest() }),
        }
    }

    /// Copies some files of a folder and nothing else: those of a skill that is one file, and what it names. The first one must
    /// be there; others that are not there, or are no files, are left out.
    pub fn of_files(folder: &Path, names: &[String], place: &Path) -> Result<Self, String> {
        let failed = |error: io::Error| format!("it cannot be copied: {error}");
        let holder = Holder::new(place).map_err(failed)?;
        let to = fs::canonicalize(holder.folder.path()).map_err(failed)?.join("skill");
        DirBuilder::new().mode(0o700).create(&to).map_err(failed)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let from = rustix::fs::open(folder, flags, Mode::empty()).map_err(|error| failed(error.into()))?;
        let mut room = Room { files: FILES_MAX, bytes: BYTES_MAX };
        for (index, name) in names.iter().take(FILES_MAX).enumerate() {
            match room.named(&from, name, &to) {
                Err(what) if index == 0 => return Err(format!("`{name}` {what}")),
                _ => {}
            }
        }
        let contents = Contents::read(&to, Texts::Left);
        match contents.unfit {
            Some(reason) => Err(reason),
            None => Ok(Self { holder, folder: to, digest: contents.digest() }),
        }
    }

    /// Where it lies, absolute, links resolved.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The digest of what it holds, by the same rule as that of a skill's folder.
    pub fn digest(&self) -> &str {
        &self.digest
    }
}

impl Drop for Copy {
    /// What ran in it may have left folders nobody may enter, or deeper than anybody can reach by a path.
    fn drop(&mut self) {
        // What is left lies in a folder for temporary things, and nobody else can enter it.
        let _ = level(self.holder.folder.path());
    }
}

/// Makes a folder one level deep and lets its owner into all of it: what is deeper is moved up.
fn level(top: &Path) -> io::Result<()> {
    let mut moved = 0_u64;
    let mut open: Vec<PathBuf> = folders(top)?;
    while let Some(folder) = open.pop() {
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700))?;
        for inner in folders(&folder)? {
            // A folder without leave to write in it cannot be moved.
            fs::set_permissions(&inner, fs::Permissions::from_mode(0o700))?;
            let place = top.join(format!(".rep-{moved}"));
            moved += 1;
            fs::rename(&inner, &place)?;
            open.push(place);
        }
    }
    Ok(())
}

/// The folders directly in a folder, without links.
fn folders(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            found.push(entry.path());
        }
    }
    Ok(found)
}

/// The folder a copy lies in, for nobody but its owner. It is locked as long as its process lives.
#[derive(Debug)]
struct Holder {
    folder: tempfile::TempDir,
    _lock: OwnedFd,
}

impl Holder {
    fn new(place: &Path) -> io::Result<Self> {
        own(place)?;
        sweep(place);
        for _ in 0..TRIES_MAX {
            let private = fs::Permissions::from_mode(0o700);
            let folder = tempfile::Builder::new().prefix("copy-").permissions(private.clone()).tempdir_in(place)?;
            // Another process may have removed it before it was locked, or be about to. The mode is set whatever the mask of
            // the process is.
            if fs::set_permissions(folder.path(), private).is_err() {
                continue;
            }
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let Ok(lock) = rustix::fs::open(folder.path(), flags, Mode::empty()) else { continue };
            if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok() && folder.path().is_dir() {
                return Ok(Self { folder, _lock: lock });
            }
        }
        Err(io::Error::other(format!("no folder stays in `{}`", place.display())))
    }
}

/// Makes the folder for copies, or takes the one that is there if it is the user's own. Where others may write too, somebody
/// else may have made it first, or a link: nothing is removed or made there.
fn own(place: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(place)?;
    let foreign = || {
        let shown = place.display();
        io::Error::other(format!("`{shown}` is not your own folder: remove it, or set TMPDIR to a folder of yours"))
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

/// Removes copies whose processes are gone. Best effort: the next one tries again.
fn sweep(place: &Path) {
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

/// How much may still be copied.
struct Room {
    files: usize,
    bytes: u64,
}

impl Room {
    /// Copies one folder. Every name is opened below the folder that is held open, and no link is followed: a folder
    /// that is exchanged for a link meanwhile leads nowhere.
    fn folder(&mut self, from: &OwnedFd, to: &Path, depth: usize) -> Result<(), String> {
        if depth > DEPTH_MAX {
            return Err(format!("it is more than {DEPTH_MAX} folders deep"));
        }
        DirBuilder::new().mode(0o700).create(to).map_err(|error| format!("it cannot be copied: {error}"))?;
        for entry in Dir::read_from(from).map_err(|_| "a folder in it cannot be read".to_owned())? {
            let entry = entry.map_err(|_| "a folder in it cannot be read".to_owned())?;
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
                    self.folder(&inner, &to.join(name), depth + 1)?;
                }
                FileType::Symlink => {
                    let target = readlinkat(from, name, Vec::new()).map_err(|_| unfit("cannot be read"))?;
                    symlink(OsStr::from_bytes(target.to_bytes()), to.join(name))
                        .map_err(|_| unfit("cannot be copied"))?;
                }
                FileType::RegularFile => self.file(from, name, &to.join(name)).map_err(|what| unfit(&what))?,
                _ => return Err(unfit("is neither a file nor a folder nor a link")),
            }
        }
        Ok(())
    }

    /// Copies one file by its path below a folder that is held open. No link is followed on the way.
    fn named(&mut self, from: &OwnedFd, path: &str, to: &Path) -> Result<(), String> {
        let unread = |_| "cannot be read".to_owned();
        let (folders, name) = path.rsplit_once('/').map_or((None, path), |(folders, name)| (Some(folders), name));
        if path.split('/').any(|part| matches!(part, "" | "." | ".." | ".git")) {
            return Err("is no file of it".to_owned());
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
            return Err("is no file".to_owned());
        }
        for folder in made.iter().filter(|folder| !folder.is_dir()) {
            DirBuilder::new().mode(0o700).create(folder).map_err(|error| format!("cannot be copied: {error}"))?;
        }
        let target = place.join(name);
        if target.exists() { Ok(()) } else { self.file(&open, OsStr::new(name), &target) }
    }

    /// Copies one file. It is looked at again once it is open: what is no file any more is not read.
    fn file(&mut self, from: &OwnedFd, name: &OsStr, to: &Path) -> Result<(), String> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = openat(from, name, flags, Mode::empty()).map_err(|_| "cannot be read".to_owned())?;
        let found = fstat(&file).map_err(|_| "cannot be read".to_owned())?;
        if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
            return Err("is no file any more".to_owned());
        }
        let failed = |error: io::Error| format!("cannot be copied: {error}");
        let mut fresh = File::options().write(true).create_new(true).mode(0o600).open(to).map_err(failed)?;
        let count = io::copy(&mut File::from(file).take(self.bytes + 1), &mut fresh).map_err(failed)?;
        self.bytes = self
            .bytes
            .checked_sub(count)
            .ok_or_else(|| format!("makes it larger than {} MiB, which is the most that is run", BYTES_MAX >> 20))?;
        let mode = found.st_mode & 0o777 | 0o400;
        fresh.set_permissions(fs::Permissions::from_mode(mode)).map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    fn skill() -> tempfile::TempDir {
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

    fn digest(folder: &Path) -> String {
        Contents::read(folder, Texts::Left).digest()
    }

    #[test]
    fn a_copy_has_the_digest_of_what_it_copies_and_keeps_it() {
        let folder = skill();
        let place = tempfile::tempdir().unwrap();
        let copies = place.path().join("copies");
        let copy = Copy::of(folder.path(), &copies).unwrap();
        assert_eq!(copy.digest(), digest(folder.path()));
        assert!(copy.folder().starts_with(fs::canonicalize(&copies).unwrap()), "it lies where it was told to");
        let inside = |name: &str| copy.folder().join(name);
        assert!(!inside(".git").exists() && inside("scripts/.git/hook.sh").exists());
        assert_eq!(fs::read_link(inside("scripts/again.sh")).unwrap(), Path::new("run.sh"));
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&inside("scripts/run.sh")), mode(copy.folder())), (0o755, 0o700));
        fs::remove_file(folder.path().join("SKILL.md")).unwrap();
        assert_eq!(copy.digest(), digest(copy.folder()));
        let place = copy.folder().to_owned();
        drop(copy);
        assert!(!place.exists());
    }

    #[test]
    fn files_that_are_named_are_copied_and_no_others() {
        let (folder, place) = (skill(), tempfile::tempdir().unwrap());
        symlink("/etc", folder.path().join("etc")).unwrap();
        let names =
            ["SKILL.md", "scripts/run.sh", "scripts/again.sh", "etc/passwd", "../x", "none", "scripts", "SKILL.md"];
        let copy = Copy::of_files(folder.path(), &names.map(str::to_owned), place.path()).unwrap();
        let listed = |folder: &str| {
            let names = fs::read_dir(copy.folder().join(folder)).unwrap().map(|entry| entry.unwrap().file_name());
            names.collect::<std::collections::BTreeSet<_>>()
        };
        assert_eq!((listed("").len(), listed("scripts").len()), (2, 1));
        assert!(copy.folder().join("SKILL.md").is_file() && copy.folder().join("scripts/run.sh").is_file());
        assert!(Copy::of_files(folder.path(), &["none".to_owned()], place.path()).is_err());
    }

    #[test]
    fn a_copy_is_removed_whatever_was_left_in_it() {
        let (folder, copies) = (skill(), tempfile::tempdir().unwrap());
        let copy = Copy::of(folder.path(), copies.path()).unwrap();
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
        let (folder, place) = (skill(), tempfile::tempdir().unwrap());
        let left = place.path().join("copy-left/skill");
        fs::create_dir_all(&left).unwrap();
        let first = Copy::of(folder.path(), place.path()).unwrap();
        assert!(!left.exists(), "its process is gone");
        let second = Copy::of(folder.path(), place.path()).unwrap();
        assert!(first.folder().is_dir() && second.folder().is_dir(), "one that is used stays");
        let holder = first.folder().parent().unwrap();
        assert_eq!(fs::metadata(holder).unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn nothing_is_removed_in_a_folder_that_is_not_the_users_own() {
        let (folder, scene) = (skill(), tempfile::tempdir().unwrap());
        let victim = scene.path().join("victim");
        fs::create_dir_all(victim.join("copy-mine/a")).unwrap();
        let link = scene.path().join("link");
        symlink(&victim, &link).unwrap();
        assert!(Copy::of(folder.path(), &link).unwrap_err().contains("not your own"));
        assert!(Copy::of_files(folder.path(), &["SKILL.md".to_owned()], &link).unwrap_err().contains("not your own"));
        assert!(victim.join("copy-mine/a").is_dir());
        // Only root can make a folder somebody else's.
        if std::os::unix::fs::chown(&victim, Some(54_321), None).is_ok() {
            assert!(Copy::of(folder.path(), &victim).unwrap_err().contains("not your own"));
            assert!(victim.join("copy-mine/a").is_dir());
        }
        let open = scene.path().join("open");
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
        Copy::of(folder.path(), &open).unwrap();
        assert_eq!(fs::metadata(&open).unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn only_the_git_folder_at_the_top_is_left_out_of_a_digest() {
        let folder = skill();
        let before = digest(folder.path());
        fs::remove_file(folder.path().join(".git/HEAD")).unwrap();
        assert_eq!(digest(folder.path()), before);
        fs::remove_file(folder.path().join("scripts/.git/hook.sh")).unwrap();
        assert_ne!(digest(folder.path()), before);
    }

    #[test]
    fn what_cannot_be_told_apart_or_read_is_unfit() {
        let folder = skill();
        File::create(folder.path().join(std::ffi::OsString::from_vec(vec![b'a', 0xff]))).unwrap();
        assert!(Contents::read(folder.path(), Texts::Left).unfit.is_some_and(|reason| reason.contains("UTF-8")));
        let place = tempfile::tempdir().unwrap();
        assert!(Copy::of(folder.path(), place.path()).is_err());
        let folder = skill();
        rustix::fs::mknodat(rustix::fs::CWD, folder.path().join("pipe"), FileType::Fifo, Mode::RUSR, 0).unwrap();
        assert!(Copy::of(folder.path(), place.path()).unwrap_err().contains("neither"));
        let folder = skill();
        let closed = folder.path().join("SKILL.md");
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
        // Root reads it all the same.
        if File::open(&closed).is_err() {
            assert!(Contents::read(folder.path(), Texts::Left).unfit.is_some_and(|reason| reason.contains("SKILL.md")));
        }
    }
}
