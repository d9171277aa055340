//! A project or a home in which skills are installed: its lock file, the folders of its hosts, and whether they are as they were.
#![expect(clippy::disallowed_methods, reason = "this module looks at what is installed")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use rep_library::hosts::{HOSTS, Host, Target, shared_folder};
use rep_model::suggestion::nearest_name;
use rep_model::{Resolved, resolve};

use crate::error::{PackageError, PackageErrorCode};
use crate::files;
use crate::journal::Turn;
use crate::lock::{Installed, LOCK_FILE, Lock, Put};

/// The host that stands for any host that reads the shared folder.
pub const ANY_HOST: &str = "agents";

/// A project or a home in which skills are installed.
#[derive(Clone, Debug)]
pub struct InstallScope {
    /// Whether it is a home.
    pub is_personal: bool,
    /// The project, or the home.
    pub base: PathBuf,
    /// The lock file.
    pub lock_file: PathBuf,
    /// Where journals are kept: a folder of the user's own. Without one nothing can be changed.
    journals: Option<PathBuf>,
    /// The variables of hosts; they count for a home only.
    variables: BTreeMap<String, PathBuf>,
}

/// What is wrong with an installed skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The kind.
    pub kind: ProblemKind,
    /// The path as it is shown.
    pub path: String,
    /// What is wrong.
    pub message: String,
}

/// The kinds of problems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// The link points nowhere.
    Broken,
    /// It is not what was installed.
    Changed,
    /// It was not installed.
    Extra,
    /// It is gone.
    Missing,
    /// The lock file names a place that cannot be right.
    Unfit,
    /// The lock file names no place.
    Unknown,
    /// It cannot be read.
    Unreadable,
}

impl ProblemKind {
    /// The word in results.
    pub const fn as_str(self) -> &'static str {
        match self {
            ProblemKind::Broken => "broken",
            ProblemKind::Changed => "changed",
            ProblemKind::Extra => "extra",
            ProblemKind::Missing => "missing",
            ProblemKind::Unfit => "unfit",
            ProblemKind::Unknown => "unknown",
            ProblemKind::Unreadable => "unreadable",
        }
    }
}

impl InstallScope {
    /// A project. `journals` is a folder of the user's own, if there is one.
    pub fn project(base: PathBuf, journals: Option<PathBuf>) -> Self {
        let lock_file = base.join(LOCK_FILE);
        Self { is_personal: false, lock_file, base, journals, variables: BTreeMap::new() }
    }

    /// A home. Its lock file is in `data`, the user's own folder; `variables` are those of hosts, from the environment.
    pub fn personal(home: PathBuf, data: &Path, variables: BTreeMap<String, PathBuf>) -> Result<Self, PackageError> {
        fs::create_dir_all(data).map_err(|error| {
            let message = format!("could not make `{}`: {error}", data.display());
            PackageError::new(PackageErrorCode::Unwritable, message)
        })?;
        let (lock_file, journals) = (data.join(LOCK_FILE), Some(data.join("install")));
        Ok(Self { is_personal: true, lock_file, base: home, journals, variables })
    }

    /// The word in results.
    pub fn name(&self) -> &'static str {
        if self.is_personal { "personal" } else { "project" }
    }

    fn target(&self) -> Target<'_> {
        Target { base: &self.base, is_personal: self.is_personal, variables: &self.variables }
    }

    /// Waits for the right to change what is installed here, and finishes what a crash left.
    pub fn turn(&self) -> Result<Turn, PackageError> {
        let Some(journals) = &self.journals else {
            let message = "there is no home folder to keep records in";
            return Err(PackageError::new(PackageErrorCode::NoHome, message).remedy("set HOME"));
        };
        Ok(Turn::take(journals, &self.lock_file)?)
    }

    /// Reads the lock file.
    pub fn lock(&self) -> Result<Lock, PackageError> {
        Ok(Lock::read(&self.lock_file)?)
    }

    /// The folder a host finds skills in.
    pub fn folder(&self, host: &str) -> Option<PathBuf> {
        if host == ANY_HOST {
            return Some(self.shared());
        }
        self.target().folder(Host::find(host)?)
    }

    /// The folder most hosts read.
    pub fn shared(&self) -> PathBuf {
        shared_folder(&self.base)
    }

    /// The hosts there are signs of; without any, Claude Code and all that read the shared folder.
    pub fn default_hosts(&self) -> Vec<String> {
        let target = self.target();
        let mut found: Vec<String> =
            HOSTS.iter().filter(|host| target.has_signs(host)).map(|host| host.id.to_owned()).collect();
        if self.shared().is_dir() && !found.iter().any(|host| self.folder(host) == Some(self.shared())) {
            found.insert(0, ANY_HOST.to_owned());
        }
        if found.is_empty() {
            return vec![ANY_HOST.to_owned(), "claude-code".to_owned()];
        }
        found
    }

    /// A path as it is written in the lock file and shown.
    pub fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.base).unwrap_or(path).to_string_lossy().into_owned()
    }

    /// A path as a lock file has it: seen from the project if possible, so that it means the same for everybody.
    pub(crate) fn portable(&self, path: &Path) -> String {
        let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let base = fs::canonicalize(&self.base).unwrap_or_else(|_| self.base.clone());
        if self.is_personal {
            return real.to_string_lossy().into_owned();
        }
        let seen = relative(&base, &real).to_string_lossy().into_owned();
        match seen.as_str() {
            "" => ".".to_owned(),
            _ if seen == ".." || seen.starts_with("../") => seen,
            _ => format!("./{seen}"),
        }
    }

    /// The path of a place of the lock file. In a project the file may be anybody's: a path that is not the skill's own in a
    /// folder of a host is not accepted.
    pub fn place(&self, name: &str, put: &Put) -> Option<PathBuf> {
        let path = self.base.join(&put.path);
        if path.file_name()?.to_str()? != name {
            return None;
        }
        if self.is_personal {
            return Some(path);
        }
        let is_plain = matches!(resolve("", &put.path), Resolved::Inside(plain) if plain == put.path);
        let parent = path.parent()?;
        let is_host = HOSTS.iter().any(|host| self.target().folder(host).as_deref() == Some(parent));
        (is_plain && (is_host || parent == self.shared()) && self.is_inside(parent)).then_some(path)
    }

    /// Whether a folder, with its links resolved, is in the project; always true for a home.
    pub(crate) fn is_inside(&self, folder: &Path) -> bool {
        let Ok(base) = fs::canonicalize(&self.base) else { return false };
        self.is_personal || real(folder).is_some_and(|folder| folder.starts_with(base))
    }

    /// The skill of a name in the lock file.
    pub fn installed(&self, lock: &Lock, name: &str) -> Result<Installed, PackageError> {
        lock.get(name).ok_or_else(|| {
            let (scope, file) = (self.name(), self.lock_file.display());
            let message = format!("`{name}` is not in the lock file of the {scope} (`{file}`)");
            let names = lock.names();
            let near = nearest_name(name, names.iter().map(String::as_str));
            let remedy = near.map(|near| format!("did you mean `{near}`?"));
            PackageError { remedy, ..PackageError::new(PackageErrorCode::NotInstalled, message) }
        })
    }

    /// What differs from what was installed, for the skills of these names, or for all.
    pub fn verify(&self, names: &[String]) -> Result<Vec<(String, Vec<Problem>)>, PackageError> {
        // Nothing changes meanwhile, and what a crash left is finished. Without a folder for journals it can still be looked.
        let _turn = self.turn().ok();
        let lock = self.lock()?;
        let names = if names.is_empty() { lock.names() } else { names.to_vec() };
        let problems = |name: String| {
            let skill = self.installed(&lock, &name)?;
            let problems = self.problems(&name, &skill);
            Ok((name, problems))
        };
        names.into_iter().map(problems).collect()
    }

    /// What differs from what was installed. Nothing if all is as it was.
    pub fn problems(&self, name: &str, skill: &Installed) -> Vec<Problem> {
        if skill.is_foreign {
            return self.foreign_problems(name, skill);
        }
        let mut problems = Vec::new();
        let mut add = |kind: ProblemKind, path: String, message: String| problems.push(Problem { kind, path, message });
        if skill.places.is_empty() {
            add(ProblemKind::Unknown, String::new(), "the lock file names no place it was put".to_owned());
        }
        for put in &skill.places {
            let at = || put.path.clone();
            let Some(path) = self.place(name, put) else {
                add(ProblemKind::Unfit, at(), "the lock file names a place that is no skill of a host".to_owned());
                continue;
            };
            let Ok(data) = fs::symlink_metadata(&path) else {
                add(ProblemKind::Missing, at(), "it is gone".to_owned());
                continue;
            };
            match &put.link {
                Some(link) => {
                    let is_same = fs::read_link(&path).is_ok_and(|to| to == Path::new(link));
                    if !is_same {
                        add(ProblemKind::Changed, at(), format!("it is no longer a link to `{link}`"));
                    } else if !path.join("SKILL.md").exists() && !path.join("skill.md").exists() {
                        add(ProblemKind::Broken, at(), format!("the link leads nowhere: `{link}`"));
                    }
                }
                None if !data.is_dir() => add(ProblemKind::Changed, at(), "it is no longer a folder".to_owned()),
                None => match files::read_all(&path) {
                    Ok(found) => {
                        for (kind, file, message) in differences(&skill.files, &files::digests(&found)) {
                            add(kind, format!("{}/{file}", put.path), message.to_owned());
                        }
                    }
                    Err(error) => add(ProblemKind::Unreadable, at(), error.to_string()),
                },
            }
        }
        problems
    }

    /// Problems of what another tool installed, which records one hash of all files.
    fn foreign_problems(&self, name: &str, skill: &Installed) -> Vec<Problem> {
        let problem = |kind, message: &str| {
            vec![Problem { kind, path: self.shown(&self.shared().join(name)), message: message.to_owned() }]
        };
        let is_plain = crate::index::is_name(name);
        let folders = std::iter::once(self.shared()).chain(HOSTS.iter().filter_map(|host| self.target().folder(host)));
        let found = folders.map(|folder| folder.join(name)).find(|folder| is_plain && folder.is_dir());
        match found.map(|folder| files::read_all(&folder)) {
            None => problem(ProblemKind::Missing, "it is gone"),
            Some(Ok(found)) if files::computed_hash(&found) == skill.computed_hash => Vec::new(),
            Some(Ok(_)) => problem(ProblemKind::Changed, "it is not what the lock file tells of"),
            Some(Err(error)) => problem(ProblemKind::Unreadable, &error.to_string()),
        }
    }
}

/// The ids of hosts that were named.
pub fn host_ids(names: &[String]) -> Result<Vec<String>, PackageError> {
    let mut ids: Vec<String> = Vec::new();
    for name in names {
        let name = if name == "gemini-cli" { "gemini" } else { name };
        let id = match Host::find(name) {
            Some(host) => host.id,
            None if name == ANY_HOST => ANY_HOST,
            None => {
                let message = format!("there is no host `{name}` that finds skills in folders");
                let all: Vec<&str> = HOSTS.iter().map(|host| host.id).collect();
                let remedy = match Host::near(name) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("one of {ANY_HOST}, {}", all.join(", ")),
                };
                return Err(PackageError::new(PackageErrorCode::UnknownHost, message).remedy(remedy));
            }
        };
        if !ids.iter().any(|known| known == id) {
            ids.push(id.to_owned());
        }
    }
    Ok(ids)
}

/// A folder with its links resolved, also if its last parts do not exist yet.
pub(crate) fn real(folder: &Path) -> Option<PathBuf> {
    let there = folder.ancestors().find(|above| fs::symlink_metadata(above).is_ok())?;
    let rest = folder.strip_prefix(there).ok()?;
    Some(fs::canonicalize(there).ok()?.join(rest))
}

/// The path from a folder to a file, both absolute and real.
pub(crate) fn relative(from: &Path, to: &Path) -> PathBuf {
    let shared = from.components().zip(to.components()).take_while(|(one, two)| one == two).count();
    let up = from.components().skip(shared).map(|_| Path::new(".."));
    up.map(Path::as_os_str).chain(to.components().skip(shared).map(Component::as_os_str)).collect()
}

type Difference = (ProblemKind, String, &'static str);

fn differences(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> Vec<Difference> {
    let mut found: Vec<Difference> = Vec::new();
    for (path, mark) in before {
        match after.get(path) {
            None => found.push((ProblemKind::Missing, path.clone(), "it is gone")),
            Some(other) if other != mark => found.push((ProblemKind::Changed, path.clone(), "it changed")),
            Some(_) => {}
        }
    }
    let extra = after.keys().filter(|path| !before.contains_key(*path));
    found.extend(extra.map(|path| (ProblemKind::Extra, path.clone(), "it was not installed")));
    found
}
