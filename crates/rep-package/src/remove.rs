//! Takes away what was installed, and nothing else.
#![expect(clippy::disallowed_methods, reason = "this module looks at what is still there")]

use std::fs;
use std::path::PathBuf;

use crate::error::{PackageError, PackageErrorCode};
use crate::journal::Step;
use crate::lock::{Installed, Lock};
use crate::scope::{InstallScope, ProblemKind};

/// What is removed.
#[derive(Clone, Debug, Default)]
pub struct RemoveOptions {
    /// The skills.
    pub names: Vec<String>,
    /// The hosts they are removed for; none means all.
    pub hosts: Vec<String>,
    /// Whether what was changed since is removed too.
    pub is_forced: bool,
}

/// What was removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Removal {
    /// The paths that are gone, as they are shown.
    pub removed: Vec<String>,
    /// The paths that stay because other hosts link to them.
    pub kept: Vec<String>,
}

/// The places of one skill that go.
struct Going {
    paths: Vec<PathBuf>,
    /// Whether nothing of the skill stays.
    is_all: bool,
}

/// Removes skills: all of them, or none.
pub fn remove(options: &RemoveOptions, scope: &InstallScope) -> Result<Removal, PackageError> {
    let turn = scope.turn()?;
    let mut lock = scope.lock()?;
    let (mut steps, mut removal) = (Vec::new(), Removal::default());
    for name in &options.names {
        let skill = scope.installed(&lock, name)?;
        if !options.is_forced {
            check_unchanged(name, &skill, scope)?;
        }
        let going = if options.hosts.is_empty() {
            all_places(name, &skill, scope)
        } else {
            places_of_hosts(name, &skill, &options.hosts, scope, &mut lock, &mut removal.kept)
        };
        if going.is_all {
            lock.remove(name);
        }
        removal.removed.extend(going.paths.iter().map(|path| scope.shown(path)));
        steps.extend(going.paths.into_iter().map(Step::Gone));
    }
    turn.apply(&steps, &lock.text())?;
    Ok(removal)
}

/// Refuses if something is not as it was installed. What is gone already need not be removed.
fn check_unchanged(name: &str, skill: &Installed, scope: &InstallScope) -> Result<(), PackageError> {
    if skill.is_foreign {
        let message = format!("`{name}` was installed by another tool, and the lock file does not say where");
        return Err(PackageError::new(PackageErrorCode::NotOurs, message)
            .remedy(format!("`npx skills remove {name}` removes what that tool installed")));
    }
    let is_change = |kind: ProblemKind| !matches!(kind, ProblemKind::Missing | ProblemKind::Broken);
    match scope.problems(name, skill).into_iter().find(|problem| is_change(problem.kind)) {
        None => Ok(()),
        Some(problem) => {
            let message =
                format!("`{}` is not as it was installed, and was not removed: {}", problem.path, problem.message);
            Err(PackageError::new(PackageErrorCode::WouldRemove, message))
        }
    }
}

/// Every place of a skill, links before the folder they point to.
fn all_places(name: &str, skill: &Installed, scope: &InstallScope) -> Going {
    let mut places: Vec<_> =
        skill.places.iter().filter_map(|put| Some((put.link.is_none(), scope.place(name, put)?))).collect();
    places.retain(|(_, path)| fs::symlink_metadata(path).is_ok());
    places.sort();
    Going { paths: places.into_iter().map(|(_, path)| path).collect(), is_all: true }
}

/// The places only these hosts need. A folder that others link to stays.
fn places_of_hosts(
    name: &str,
    skill: &Installed,
    hosts: &[String],
    scope: &InstallScope,
    lock: &mut Lock,
    kept: &mut Vec<String>,
) -> Going {
    let left: Vec<String> = skill.hosts.iter().filter(|host| !hosts.contains(host)).cloned().collect();
    if left.is_empty() {
        return all_places(name, skill, scope);
    }
    let folder = |host: &String| scope.folder(host).map(|folder| folder.join(name));
    let needed: Vec<PathBuf> = left.iter().filter_map(folder).collect();
    let dropped: Vec<PathBuf> = hosts.iter().filter_map(folder).collect();
    let has_links = skill
        .places
        .iter()
        .any(|put| put.link.is_some() && scope.place(name, put).is_some_and(|path| !dropped.contains(&path)));
    let (mut paths, mut after) = (Vec::new(), skill.clone());
    after.places.retain(|put| {
        let Some(path) = scope.place(name, put).filter(|path| dropped.contains(path) && !needed.contains(path)) else {
            return true;
        };
        if put.link.is_none() && has_links {
            kept.push(put.path.clone());
            return true;
        }
        if fs::symlink_metadata(&path).is_ok() {
            paths.push(path);
        }
        false
    });
    after.hosts = left;
    lock.put(name, &after);
    Going { paths, is_all: false }
}
