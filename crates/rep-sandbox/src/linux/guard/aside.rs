//! Moving aside what is trusted and was not there before, at the moment it is found.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::fs::{AtFlags, Stat};

use super::super::mounts;
use super::super::trusted::{Kind, REFUSED};
use super::look::{Looker, Next, cut, list, open_up};
use super::{Id, Told, replaced};

/// What folders are called that were too deep.
const DEEP: &str = "deep";

/// What was there before.
pub(super) trait Known {
    /// Whether this file, link or place was there.
    fn is(&self, path: &Path) -> bool;

    /// Whether this folder was there, and all of it trusted.
    fn is_whole(&self, path: &Path) -> bool;

    /// Whether another folder than this one was there.
    fn is_another(&self, path: &Path, id: Id) -> bool;

    /// Whether nobody could list this folder then.
    fn is_closed(&self, path: &Path, id: Id) -> bool;
}

/// Moves aside what is new, and tells.
pub(super) struct Aside<'a, K: Known> {
    pub(super) known: &'a K,
    pub(super) told: &'a mut Told,
    /// After this, nothing can have been made by the run that is judged.
    pub(super) until: Option<SystemTime>,
    /// The folder the tool writes to, and its path.
    pub(super) top: &'a OwnedFd,
    pub(super) folder: &'a Path,
    /// What was too deep, as it is called from then on: it is gone through next.
    pub(super) lifted: Vec<PathBuf>,
    pub(super) has_unseen: bool,
}

impl<K: Known> Aside<'_, K> {
    /// Whether something was made after the run.
    fn is_later(&self, stat: &Stat) -> bool {
        self.until.is_some_and(|until| Id::of(stat).changed_at() > until)
    }

    fn wrong(&mut self, what: String) {
        self.told.wrong.add(what);
    }

    fn unseeing(&mut self, what: String) {
        self.has_unseen = true;
        self.wrong(what);
    }

    /// Moves something aside in its folder, and says what it is called from then on.
    fn aside(&mut self, folder: &OwnedFd, path: &Path) -> Option<PathBuf> {
        let name = path.file_name().unwrap_or_default();
        let shown = cut(path);
        match open_up(folder, 0o700).and_then(|()| mounts::rename_beside(folder, name, name, REFUSED)) {
            Ok(to) => {
                let other = path.with_file_name(to);
                self.wrong(format!("`{shown}` is trusted by others, and is `{}` from now on", cut(&other)));
                Some(other)
            }
            // Somebody else removed it meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => {
                self.unseeing(format!("`{shown}` is trusted by others, and could not be moved aside: {error}"));
                None
            }
        }
    }
}

impl<K: Known> Looker for Aside<'_, K> {
    fn place(&mut self, folder: &OwnedFd, path: &Path, kind: Kind) -> Kind {
        if self.known.is(path) || path.file_name() == Some(OsStr::new(".git")) {
            return kind;
        }
        let head = rustix::fs::statat(folder, "HEAD", AtFlags::SYMLINK_NOFOLLOW);
        let is_made = kind.is_repository && !head.is_ok_and(|stat| self.is_later(&stat));
        if let Some(what) = is_made.then(|| behead(folder, path)).flatten() {
            self.wrong(what);
        }
        // What is called so in a place that was none before may be somebody's ordinary file. A virtual environment is
        // one by a name that is trusted itself.
        Kind::default()
    }

    fn name(&mut self, folder: &OwnedFd, path: &Path, _: bool) {
        let is_new = || {
            let name = path.file_name().unwrap_or_default();
            let stat = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
            stat.is_ok_and(|stat| !self.is_later(&stat))
        };
        if !self.known.is(path) && is_new() {
            self.aside(folder, path);
        }
    }

    fn whole(&mut self, folder: &OwnedFd, path: &Path, stat: &Stat) -> Next {
        if self.known.is_whole(path) {
            // It was bound as a whole: what is new in it is somebody else's.
            if self.known.is_another(path, Id::of(stat)) {
                self.told.conflicts.insert(replaced(path));
            }
            Next::Past
        } else if self.is_later(stat) {
            Next::Into
        } else {
            self.aside(folder, path).map_or(Next::Past, Next::As)
        }
    }

    fn is_project(&self, _: &OwnedFd, path: &Path) -> bool {
        let git = path.join(".git");
        self.known.is(&git) || self.known.is_whole(&git)
    }

    fn deep(&mut self, folder: &OwnedFd, path: &Path) {
        let name = path.file_name().unwrap_or_default();
        let shown = cut(path);
        let moved = open_up(folder, 0o700).and_then(|()| mounts::rename_into(folder, name, self.top, DEEP, REFUSED));
        match moved {
            Ok(to) => {
                let to = self.folder.join(to);
                self.wrong(format!("`{shown}` is too deep to be looked into, and is `{}` from now on", to.display()));
                self.lifted.push(to);
            }
            Err(error) => self.unseeing(format!("`{shown}` is too deep to be looked into: {error}")),
        }
    }

    fn closed(&mut self, path: &Path, stat: &Stat) {
        if !self.known.is_closed(path, Id::of(stat)) {
            self.unseeing(format!("`{}` cannot be looked into", cut(path)));
        }
    }

    fn unseen(&mut self, what: String) {
        self.unseeing(what);
    }
}

/// Takes the first file of a repository away, without which it is none, and says so.
pub(super) fn behead(folder: &OwnedFd, path: &Path) -> Option<String> {
    let moved = (|| -> io::Result<Option<OsString>> {
        open_up(folder, 0o700)?;
        let mut heads = Vec::new();
        for entry in list(folder)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes()).to_owned();
            if name.eq_ignore_ascii_case("HEAD") {
                heads.push(name);
            }
        }
        let mut moved = None;
        for name in heads {
            moved = Some(mounts::rename_beside(folder, &name, &name, REFUSED)?);
        }
        Ok(moved)
    })();
    let shown = cut(path);
    match moved {
        Ok(head) => head.map(|head| {
            let head = path.join(head);
            format!("`{shown}` became a repository; its HEAD is `{}` from now on", cut(&head))
        }),
        Err(error) => Some(format!("`{shown}` became a repository, and stays one: {error}")),
    }
}
