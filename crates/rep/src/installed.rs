//! What is installed in a project or for a user: the lock file, the folders it tells of, and whether they are as they were.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use rep_library::hosts::{HOSTS, Host, Target, shared_folder};
use rep_library::project_of;
use rep_model::{Resolved, resolve};
use rep_package::files::{self, FilesError};
use rep_package::journal::Turn;
use rep_package::lock::{Installed, LOCK_FILE, Lock, LockError, Put};
use rep_package::place::PlaceError;

use crate::exit::Failure;
use crate::library::{data_folder, here, home};

/// The host that is any that reads the shared folder.
pub(crate) const ANY_HOST: &str = "agents";

/// Which installed skills are meant.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct ScopeArgs {
    /// Whose skills
    #[arg(long, value_enum, default_value_t = ScopeChoice::Project)]
    pub(crate) scope: ScopeChoice,
    /// The project [default: the repository around this folder]
    #[arg(long, value_name = "D")]
    project: Option<PathBuf>,
}

/// The scopes skills are installed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScopeChoice {
    /// The project's, for everybody who works on it
    Project,
    /// The user's own, in all projects
    Personal,
}

/// A project or a home in which skills are installed.
pub(crate) struct Scope {
    pub(crate) is_personal: bool,
    /// The project, or the home.
    pub(crate) base: PathBuf,
    pub(crate) lock_file: PathBuf,
    variables: BTreeMap<String, PathBuf>,
}

/// What is wrong with an installed skill.
pub(crate) struct Problem {
    pub(crate) kind: &'static str,
    pub(crate) path: String,
    pub(crate) message: String,
}

impl Scope {
    pub(crate) fn of(args: &ScopeArgs) -> Result<Self, Failure> {
        let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
        if args.scope == ScopeChoice::Project {
            let base = match &args.project {
                Some(project) if project.is_dir() => absolute(project.clone()),
                Some(project) => {
                    return Err(Failure::unable("UNREADABLE", format!("`{}` is no folder", project.display())));
                }
                None => project_of(&here()?),
            };
            return Ok(Self { is_personal: false, lock_file: base.join(LOCK_FILE), base, variables: BTreeMap::new() });
        }
        let Some(base) = home() else {
            return Err(Failure::unable("NO_HOME", "there is no home folder to install skills in").hint("set HOME"));
        };
        let names = HOSTS.iter().flat_map(Host::variables);
        let value = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let variables = names.filter_map(|name| Some((name.to_owned(), value(name)?))).collect();
        let keep = data_folder()?;
        std::fs::create_dir_all(&keep)
            .map_err(|error| Failure::unable("UNWRITABLE", format!("could not make `{}`: {error}", keep.display())))?;
        Ok(Self { is_personal: true, lock_file: keep.join(LOCK_FILE), base: absolute(base), variables })
    }

    pub(crate) fn name(&self) -> &'static str {
        if self.is_personal { "personal" } else { "project" }
    }

    fn target(&self) -> Target<'_> {
        Target { base: &self.base, is_personal: self.is_personal, variables: &self.variables }
    }

    /// Takes the turn of whoever changes what is installed here.
    pub(crate) fn turn(&self) -> Result<Turn, Failure> {
        Ok(Turn::take(&data_folder()?.join("install"), &self.lock_file)?)
    }

    pub(crate) fn lock(&self) -> Result<Lock, Failure> {
        Ok(Lock::read(&self.lock_file)?)
    }

    /// The folder a host finds skills in.
    pub(crate) fn folder(&self, host: &str) -> Option<PathBuf> {
        if host == ANY_HOST {
            return Some(shared_folder(&self.base));
        }
        self.target().folder(Host::find(host)?)
    }

    pub(crate) fn shared(&self) -> PathBuf {
        shared_folder(&self.base)
    }

    /// The hosts there are signs of; where there are none, Claude Code and all that read the shared folder.
    pub(crate) fn default_hosts(&self) -> Vec<String> {
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
    pub(crate) fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.base).unwrap_or(path).to_string_lossy().into_owned()
    }

    /// The path of a place of the lock file. In a project the file may be anybody's: a path that is not the skill's own in a folder
    /// of a host is none.
    pub(crate) fn place(&self, name: &str, put: &Put) -> Option<PathBuf> {
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

    /// Whether a folder, with its links followed, lies in the project; always in a home.
    pub(crate) fn is_inside(&self, folder: &Path) -> bool {
        let Ok(base) = std::fs::canonicalize(&self.base) else { return false };
        self.is_personal || real(folder).is_some_and(|folder| folder.starts_with(base))
    }

    /// What differs from what was installed. Nothing where all is as it was.
    pub(crate) fn problems(&self, name: &str, skill: &Installed) -> Vec<Problem> {
        if skill.is_foreign {
            return self.foreign(name, skill);
        }
        let mut problems = Vec::new();
        let mut add =
            |kind: &'static str, path: String, message: String| problems.push(Problem { kind, path, message });
        if skill.places.is_empty() {
            add("unknown", String::new(), "the lock file names no place it was put".to_owned());
        }
        for put in &skill.places {
            let Some(path) = self.place(name, put) else {
                add("unfit", put.path.clone(), "the lock file names a place that is no skill of a host".to_owned());
                continue;
            };
            let Ok(data) = std::fs::symlink_metadata(&path) else {
                add("missing", put.path.clone(), "it is gone".to_owned());
                continue;
            };
            match &put.link {
                Some(link) => {
                    let is_same = std::fs::read_link(&path).is_ok_and(|to| to == Path::new(link));
                    if !is_same {
                        add("changed", put.path.clone(), format!("it is no longer a link to `{link}`"));
                    } else if !path.join("SKILL.md").exists() && !path.join("skill.md").exists() {
                        add("broken", put.path.clone(), format!("the link leads nowhere: `{link}`"));
                    }
                }
                None if !data.is_dir() => add("changed", put.path.clone(), "it is no longer a folder".to_owned()),
                None => match files::read_all(&path) {
                    Ok(found) => {
                        for (kind, file, message) in differences(&skill.files, &files::digests(&found)) {
                            add(kind, format!("{}/{file}", put.path), message.to_owned());
                        }
                    }
                    Err(error) => add("unreadable", put.path.clone(), error.to_string()),
                },
            }
        }
        problems
    }

    /// What another tool installed: it keeps one hash of all files.
    fn foreign(&self, name: &str, skill: &Installed) -> Vec<Problem> {
        let problem = |kind, message: &str| {
            vec![Problem { kind, path: self.shown(&self.shared().join(name)), message: message.to_owned() }]
        };
        let is_plain = rep_package::index::is_name(name);
        let folders = std::iter::once(self.shared()).chain(HOSTS.iter().filter_map(|host| self.target().folder(host)));
        let found = folders.map(|folder| folder.join(name)).find(|folder| is_plain && folder.is_dir());
        match found.map(|folder| files::read_all(&folder)) {
            None => problem("missing", "it is gone"),
            Some(Ok(found)) if files::computed_hash(&found) == skill.computed_hash => Vec::new(),
            Some(Ok(_)) => problem("changed", "it is not what the lock file tells of"),
            Some(Err(error)) => problem("unreadable", &error.to_string()),
        }
    }
}

/// A folder with its links followed, also where its last parts are not there yet.
pub(crate) fn real(folder: &Path) -> Option<PathBuf> {
    let there = folder.ancestors().find(|above| std::fs::symlink_metadata(above).is_ok())?;
    let rest = folder.strip_prefix(there).ok()?;
    Some(std::fs::canonicalize(there).ok()?.join(rest))
}

/// The path that leads from a folder to a file, both absolute and real.
pub(crate) fn relative(from: &Path, to: &Path) -> PathBuf {
    let shared = from.components().zip(to.components()).take_while(|(one, two)| one == two).count();
    let up = from.components().skip(shared).map(|_| Path::new(".."));
    up.map(Path::as_os_str).chain(to.components().skip(shared).map(std::path::Component::as_os_str)).collect()
}

type Difference = (&'static str, String, &'static str);

fn differences(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> Vec<Difference> {
    let mut found: Vec<Difference> = Vec::new();
    for (path, mark) in before {
        match after.get(path) {
            None => found.push(("missing", path.clone(), "it is gone")),
            Some(other) if other != mark => found.push(("changed", path.clone(), "it changed")),
            Some(_) => {}
        }
    }
    let extra = after.keys().filter(|path| !before.contains_key(*path));
    found.extend(extra.map(|path| ("extra", path.clone(), "it was not installed")));
    found
}

impl From<PlaceError> for Failure {
    fn from(error: PlaceError) -> Self {
        let failure = Failure::unable("UNWRITABLE", error.to_string());
        match error {
            PlaceError::Exists(_) => failure.hint("somebody else put it there meanwhile; look at it, and try again"),
            PlaceError::Failed { .. } => failure.hint("nothing was changed; see to the folder, and try again"),
            PlaceError::Unfit { .. } => failure,
        }
    }
}

impl From<LockError> for Failure {
    fn from(error: LockError) -> Self {
        Failure::unable("BROKEN_LOCK", error.to_string())
            .hint("mend it, or take it away: then nothing counts as installed")
    }
}

impl From<FilesError> for Failure {
    fn from(error: FilesError) -> Self {
        Failure::unable("UNREADABLE", error.to_string())
    }
}
