//! A project or home directory in which skills are installed: its lock file, the directories of its hosts, and
//! their verification.
#![expect(clippy::disallowed_methods, reason = "this module inspects installed files")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use rep_library::hosts::{DiscoveryHost, HOSTS, HostFolderTarget, shared_folder};
use rep_model::suggestion::nearest_name;
use rep_model::{ResolvedSkillPath, resolve_skill_path};

use crate::atomic_dir::PackageFile;
use crate::capabilities::{AddedCapability, SkillCapabilities};
use crate::error::{PackageError, PackageErrorCode};
use crate::files;
use crate::journal::InstallLock;
use crate::lock::{InstallPlace, InstalledSkill, LOCK_FILE, SkillsLockFile};
use crate::source::{build_scanned_tree, is_folder_name};

/// The pseudo-host for all hosts that read the shared directory.
pub const ANY_HOST: &str = "agents";

/// A project or home directory in which skills are installed.
#[derive(Clone, Debug)]
pub struct InstallScope {
    /// Whether it is a home directory.
    pub is_personal: bool,
    /// The project or home directory.
    pub base: PathBuf,
    /// The lock file.
    pub lock_file: PathBuf,
    /// The user's directory for journals. Without it, nothing can be changed.
    journals: Option<PathBuf>,
    /// The environment variables of hosts, which apply only to a home directory.
    variables: BTreeMap<String, PathBuf>,
}

/// A problem with an installed skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstallProblem {
    /// The kind.
    pub kind: InstallProblemKind,
    /// The path, as shown to users.
    pub path: String,
    /// The description of the problem.
    pub message: String,
}

/// The kinds of problems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstallProblemKind {
    /// A link is broken.
    Broken,
    /// A file differs from the installed one.
    Changed,
    /// A file was not installed.
    Extra,
    /// A file is missing.
    Missing,
    /// The lock file names an invalid place.
    InvalidPlace,
    /// The lock file names no place.
    Unknown,
    /// A file cannot be read.
    Unreadable,
}

impl InstallProblemKind {
    /// Returns the name in JSON results.
    pub const fn as_str(self) -> &'static str {
        match self {
            InstallProblemKind::Broken => "broken",
            InstallProblemKind::Changed => "changed",
            InstallProblemKind::Extra => "extra",
            InstallProblemKind::Missing => "missing",
            InstallProblemKind::InvalidPlace => "unfit",
            InstallProblemKind::Unknown => "unknown",
            InstallProblemKind::Unreadable => "unreadable",
        }
    }
}

impl InstallScope {
    /// Creates the scope of a project. `journals` is the user's directory for journals, if there is one.
    pub fn for_project(base: PathBuf, journals: Option<PathBuf>) -> Self {
        let lock_file = base.join(LOCK_FILE);
        Self { is_personal: false, lock_file, base, journals, variables: BTreeMap::new() }
    }

    /// Creates the scope of a home directory. Its lock file is in `data`; `variables` are the environment variables
    /// of hosts.
    pub fn for_home(home: PathBuf, data: &Path, variables: BTreeMap<String, PathBuf>) -> Result<Self, PackageError> {
        fs::create_dir_all(data).map_err(|error| {
            let message = format!("could not create `{}`: {error}", data.display());
            PackageError::new(PackageErrorCode::Unwritable, message)
        })?;
        let (lock_file, journals) = (data.join(LOCK_FILE), Some(data.join("install")));
        Ok(Self { is_personal: true, lock_file, base: home, journals, variables })
    }

    /// Returns the name in JSON results.
    pub fn name(&self) -> &'static str {
        if self.is_personal { "personal" } else { "project" }
    }

    fn host_folder_target(&self) -> HostFolderTarget<'_> {
        HostFolderTarget { base: &self.base, is_personal: self.is_personal, variables: &self.variables }
    }

    /// Waits for the right to change what is installed here, and completes what a crash left unfinished.
    pub fn acquire_lock(&self) -> Result<InstallLock, PackageError> {
        let Some(journals) = &self.journals else {
            let message = "no home directory to store records in";
            return Err(PackageError::new(PackageErrorCode::NoHome, message).remedy("set HOME"));
        };
        Ok(InstallLock::acquire(journals, &self.lock_file)?)
    }

    /// Reads the lock file.
    pub fn read_lock_file(&self) -> Result<SkillsLockFile, PackageError> {
        Ok(SkillsLockFile::read(&self.lock_file)?)
    }

    /// Returns the directory in which a host finds skills.
    pub fn host_folder(&self, host: &str) -> Option<PathBuf> {
        if host == ANY_HOST {
            return Some(self.shared_skills_folder());
        }
        self.host_folder_target().skills_folder(DiscoveryHost::find(host)?)
    }

    /// Returns the directory that most hosts read.
    pub fn shared_skills_folder(&self) -> PathBuf {
        shared_folder(&self.base)
    }

    /// Returns the hosts in use. If none is detected, returns Claude Code and the shared directory.
    pub fn default_hosts(&self) -> Vec<String> {
        let target = self.host_folder_target();
        let mut found: Vec<String> =
            HOSTS.iter().filter(|host| target.has_signs(host)).map(|host| host.id.to_owned()).collect();
        if self.shared_skills_folder().is_dir()
            && !found.iter().any(|host| self.host_folder(host) == Some(self.shared_skills_folder()))
        {
            found.insert(0, ANY_HOST.to_owned());
        }
        if found.is_empty() {
            return vec![ANY_HOST.to_owned(), "claude-code".to_owned()];
        }
        found
    }

    /// Returns a path as it is written in the lock file and shown to users.
    pub fn display_path(&self, path: &Path) -> String {
        path.strip_prefix(&self.base).unwrap_or(path).to_string_lossy().into_owned()
    }

    /// Returns a path for the lock file: relative to the project if possible, so that it is valid for every user.
    pub(crate) fn portable_path(&self, path: &Path) -> String {
        let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let base = fs::canonicalize(&self.base).unwrap_or_else(|_| self.base.clone());
        if self.is_personal {
            return real.to_string_lossy().into_owned();
        }
        let seen = relative_path(&base, &real).to_string_lossy().into_owned();
        match seen.as_str() {
            "" => ".".to_owned(),
            _ if seen == ".." || seen.starts_with("../") => seen,
            _ => format!("./{seen}"),
        }
    }

    /// Resolves the path of a place in the lock file. A project's lock file is not trusted: the path must be the
    /// skill's own directory in a host's directory.
    pub fn resolve_place(&self, name: &str, put: &InstallPlace) -> Option<PathBuf> {
        let path = self.base.join(&put.path);
        if path.file_name()?.to_str()? != name {
            return None;
        }
        if self.is_personal {
            return Some(path);
        }
        let is_plain =
            matches!(resolve_skill_path("", &put.path), ResolvedSkillPath::Inside(plain) if plain == put.path);
        let parent = path.parent()?;
        let is_host = HOSTS.iter().any(|host| self.host_folder_target().skills_folder(host).as_deref() == Some(parent));
        (is_plain && (is_host || parent == self.shared_skills_folder()) && self.is_inside_project(parent))
            .then_some(path)
    }

    /// Whether a directory, with links resolved, is in the project. Always true for a home directory.
    pub(crate) fn is_inside_project(&self, folder: &Path) -> bool {
        let Ok(base) = fs::canonicalize(&self.base) else { return false };
        self.is_personal || resolve_links(folder).is_some_and(|folder| folder.starts_with(base))
    }

    /// Finds an installed skill in the lock file.
    pub fn find_installed(&self, lock: &SkillsLockFile, name: &str) -> Result<InstalledSkill, PackageError> {
        lock.get(name).ok_or_else(|| {
            let (scope, file) = (self.name(), self.lock_file.display());
            let message = format!("`{name}` is not in the lock file of the {scope} (`{file}`)");
            let names = lock.skill_names();
            let near = nearest_name(name, names.iter().map(String::as_str));
            let remedy = near.map(|near| format!("did you mean `{near}`?"));
            PackageError { remedy, ..PackageError::new(PackageErrorCode::NotInstalled, message) }
        })
    }

    /// Reads the files of an installed skill from one of its places that has what the lock file records.
    pub(crate) fn read_installed_files(&self, name: &str, skill: &InstalledSkill) -> Option<Vec<PackageFile>> {
        let folders = skill.places.iter().filter(|put| put.link.is_none());
        let mut found = folders.filter_map(|put| files::read_all_files(&self.resolve_place(name, put)?).ok());
        found.find(|found| files::digest_files(found) == skill.digest)
    }

    /// Returns what the code of an installed skill needs: as recorded, or else by a scan of its files.
    pub(crate) fn known_capabilities(&self, name: &str, skill: &InstalledSkill) -> SkillCapabilities {
        skill.capabilities.clone().unwrap_or_else(|| {
            let files = self.read_installed_files(name, skill).unwrap_or_default();
            SkillCapabilities::from_tree(build_scanned_tree(name, &files))
        })
    }

    /// Lists what the code of an installed skill needs now, and did not when it was installed.
    pub fn find_added_capabilities(&self, name: &str) -> Result<Vec<AddedCapability>, PackageError> {
        let lock = self.read_lock_file()?;
        let skill = self.find_installed(&lock, name)?;
        let Some(recorded) = &skill.capabilities else { return Ok(Vec::new()) };
        let mut added = Vec::new();
        for put in skill.places.iter().filter(|put| put.link.is_none()) {
            let Some(Ok(files)) = self.resolve_place(name, put).map(|path| files::read_all_files(&path)) else {
                continue;
            };
            if files::digest_files(&files) != skill.digest {
                added.extend(recorded.added_in(&SkillCapabilities::from_tree(build_scanned_tree(name, &files))));
            }
        }
        added.sort();
        added.dedup();
        Ok(added)
    }

    /// Reads the files of an installed skill from its first place that can be read, whatever they are.
    pub(crate) fn read_any_place(&self, name: &str, skill: &InstalledSkill) -> Option<Vec<PackageFile>> {
        let shared = || is_folder_name(name).then(|| self.shared_skills_folder().join(name));
        let own = skill.places.iter().filter(|put| put.link.is_none()).filter_map(|put| self.resolve_place(name, put));
        own.chain(shared()).find_map(|folder| files::read_all_files(&folder).ok())
    }

    /// Compares the named skills, or all, with what was installed.
    pub fn verify_skills(&self, names: &[String]) -> Result<Vec<(String, Vec<InstallProblem>)>, PackageError> {
        // Holding the lock prevents changes and completes what a crash left unfinished. Without a directory for
        // journals, verification still works.
        let _turn = self.acquire_lock().ok();
        let lock = self.read_lock_file()?;
        let names = if names.is_empty() { lock.skill_names() } else { names.to_vec() };
        let problems = |name: String| {
            let skill = self.find_installed(&lock, &name)?;
            let problems = self.find_problems(&name, &skill);
            Ok((name, problems))
        };
        names.into_iter().map(problems).collect()
    }

    /// Compares a skill with what was installed. Returns no problems if nothing differs.
    pub fn find_problems(&self, name: &str, skill: &InstalledSkill) -> Vec<InstallProblem> {
        if skill.is_foreign {
            return self.find_foreign_problems(name, skill);
        }
        let mut problems = Vec::new();
        let mut add = |kind: InstallProblemKind, path: String, message: String| {
            problems.push(InstallProblem { kind, path, message });
        };
        if skill.places.is_empty() {
            add(
                InstallProblemKind::Unknown,
                String::new(),
                "the lock file does not record where it was installed".to_owned(),
            );
        }
        for put in &skill.places {
            let at = || put.path.clone();
            let Some(path) = self.resolve_place(name, put) else {
                add(
                    InstallProblemKind::InvalidPlace,
                    at(),
                    "the lock file names a path that is not in a host's skill directory".to_owned(),
                );
                continue;
            };
            let Ok(data) = fs::symlink_metadata(&path) else {
                add(InstallProblemKind::Missing, at(), "it is missing".to_owned());
                continue;
            };
            match &put.link {
                Some(link) => {
                    let is_same = fs::read_link(&path).is_ok_and(|to| to == Path::new(link));
                    if !is_same {
                        add(InstallProblemKind::Changed, at(), format!("it is no longer a link to `{link}`"));
                    } else if !path.join("SKILL.md").exists() && !path.join("skill.md").exists() {
                        add(InstallProblemKind::Broken, at(), format!("the link is broken: `{link}`"));
                    }
                }
                None if !data.is_dir() => {
                    add(InstallProblemKind::Changed, at(), "it is no longer a directory".to_owned());
                }
                None => match files::read_all_files(&path) {
                    Ok(found) => {
                        for (kind, file, message) in compare_digests(&skill.files, &files::digest_each_file(&found)) {
                            add(kind, format!("{}/{file}", put.path), message.to_owned());
                        }
                    }
                    Err(error) => add(InstallProblemKind::Unreadable, at(), error.to_string()),
                },
            }
        }
        problems
    }

    /// Finds problems of a skill that another tool installed. That tool records one hash of all files.
    fn find_foreign_problems(&self, name: &str, skill: &InstalledSkill) -> Vec<InstallProblem> {
        let problem = |kind, message: &str| {
            vec![InstallProblem {
                kind,
                path: self.display_path(&self.shared_skills_folder().join(name)),
                message: message.to_owned(),
            }]
        };
        let is_plain = crate::index::is_skill_name(name);
        let folders = std::iter::once(self.shared_skills_folder())
            .chain(HOSTS.iter().filter_map(|host| self.host_folder_target().skills_folder(host)));
        let found = folders.map(|folder| folder.join(name)).find(|folder| is_plain && folder.is_dir());
        match found.map(|folder| files::read_all_files(&folder)) {
            None => problem(InstallProblemKind::Missing, "it is missing"),
            Some(Ok(found)) if files::compute_npm_hash(&found) == skill.computed_hash => Vec::new(),
            Some(Ok(_)) => problem(InstallProblemKind::Changed, "it does not match the lock file"),
            Some(Err(error)) => problem(InstallProblemKind::Unreadable, &error.to_string()),
        }
    }
}

/// Resolves host names to host ids.
pub fn resolve_host_ids(names: &[String]) -> Result<Vec<String>, PackageError> {
    let mut ids: Vec<String> = Vec::new();
    for name in names {
        let id = match DiscoveryHost::find_named(name) {
            Ok(host) => host.id,
            Err(_) if name == ANY_HOST => ANY_HOST,
            Err(error) => {
                return Err(PackageError::new(PackageErrorCode::UnknownHost, error.to_string()).remedy(error.remedy()));
            }
        };
        if !ids.iter().any(|known| known == id) {
            ids.push(id.to_owned());
        }
    }
    Ok(ids)
}

/// Resolves the links of a directory, even if its last components do not exist yet.
pub(crate) fn resolve_links(folder: &Path) -> Option<PathBuf> {
    let there = folder.ancestors().find(|above| fs::symlink_metadata(above).is_ok())?;
    let rest = folder.strip_prefix(there).ok()?;
    Some(fs::canonicalize(there).ok()?.join(rest))
}

/// Returns the relative path between two absolute paths without links.
pub(crate) fn relative_path(from: &Path, to: &Path) -> PathBuf {
    let shared = from.components().zip(to.components()).take_while(|(one, two)| one == two).count();
    let up = from.components().skip(shared).map(|_| Path::new(".."));
    up.map(Path::as_os_str).chain(to.components().skip(shared).map(Component::as_os_str)).collect()
}

type DigestDifference = (InstallProblemKind, String, &'static str);

fn compare_digests(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> Vec<DigestDifference> {
    let mut found: Vec<DigestDifference> = Vec::new();
    for (path, mark) in before {
        match after.get(path) {
            None => found.push((InstallProblemKind::Missing, path.clone(), "it is missing")),
            Some(other) if other != mark => found.push((InstallProblemKind::Changed, path.clone(), "it changed")),
            Some(_) => {}
        }
    }
    let extra = after.keys().filter(|path| !before.contains_key(*path));
    found.extend(extra.map(|path| (InstallProblemKind::Extra, path.clone(), "it was not installed")));
    found
}
