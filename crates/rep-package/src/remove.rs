//! Removes installed skills, and nothing else.
#![expect(clippy::disallowed_methods, reason = "this module inspects installed files")]

use std::fs;
use std::path::PathBuf;

use crate::error::{PackageError, PackageErrorCode};
use crate::journal::JournalStep;
use crate::lock::{InstalledSkill, SkillsLockFile};
use crate::scope::{InstallProblemKind, InstallScope};

/// Options for removing skills.
#[derive(Clone, Debug, Default)]
pub struct RemoveOptions {
    /// The skills.
    pub names: Vec<String>,
    /// The hosts that they are removed for; empty means all.
    pub hosts: Vec<String>,
    /// Whether to remove changed files too.
    pub is_forced: bool,
}

/// The result of a removal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Removal {
    /// The removed paths, as shown to users.
    pub removed: Vec<String>,
    /// The paths that were kept because other hosts link to them.
    pub kept: Vec<String>,
}

/// The places of one skill to remove.
struct PlannedRemoval {
    paths: Vec<PathBuf>,
    /// Whether nothing of the skill remains.
    is_complete: bool,
}

/// Removes all of the skills, or none.
pub fn remove_skills(options: &RemoveOptions, scope: &InstallScope) -> Result<Removal, PackageError> {
    let turn = scope.acquire_lock()?;
    let mut lock = scope.read_lock_file()?;
    let (mut steps, mut removal) = (Vec::new(), Removal::default());
    for name in &options.names {
        let skill = scope.find_installed(&lock, name)?;
        if !options.is_forced {
            check_unchanged(name, &skill, scope)?;
        }
        let going = if options.hosts.is_empty() {
            all_places(name, &skill, scope)
        } else {
            places_of_hosts(name, &skill, &options.hosts, scope, &mut lock, &mut removal.kept)
        };
        if going.is_complete {
            lock.remove_skill(name);
        }
        removal.removed.extend(going.paths.iter().map(|path| scope.display_path(path)));
        steps.extend(going.paths.into_iter().map(JournalStep::Remove));
    }
    turn.apply_steps(&steps, &lock.to_json_text())?;
    Ok(removal)
}

/// Fails if a file differs from the installed one. Missing files are fine.
fn check_unchanged(name: &str, skill: &InstalledSkill, scope: &InstallScope) -> Result<(), PackageError> {
    if skill.is_foreign {
        let message = format!("`{name}` was installed by another tool, and the lock file does not record where");
        return Err(PackageError::new(PackageErrorCode::NotOurs, message)
            .remedy(format!("run `npx skills remove {name}` to remove it with that tool")));
    }
    let is_change =
        |kind: InstallProblemKind| !matches!(kind, InstallProblemKind::Missing | InstallProblemKind::Broken);
    match scope.find_problems(name, skill).into_iter().find(|problem| is_change(problem.kind)) {
        None => Ok(()),
        Some(problem) => {
            let message =
                format!("`{}` changed since it was installed and was not removed: {}", problem.path, problem.message);
            Err(PackageError::new(PackageErrorCode::WouldRemove, message))
        }
    }
}

/// Returns every place of a skill, with links before the directory they point to.
fn all_places(name: &str, skill: &InstalledSkill, scope: &InstallScope) -> PlannedRemoval {
    let mut places: Vec<_> =
        skill.places.iter().filter_map(|put| Some((put.link.is_none(), scope.resolve_place(name, put)?))).collect();
    places.retain(|(_, path)| fs::symlink_metadata(path).is_ok());
    places.sort();
    PlannedRemoval { paths: places.into_iter().map(|(_, path)| path).collect(), is_complete: true }
}

/// Returns the places that only these hosts need. A directory that other hosts link to is kept.
fn places_of_hosts(
    name: &str,
    skill: &InstalledSkill,
    hosts: &[String],
    scope: &InstallScope,
    lock: &mut SkillsLockFile,
    kept: &mut Vec<String>,
) -> PlannedRemoval {
    let left: Vec<String> = skill.hosts.iter().filter(|host| !hosts.contains(host)).cloned().collect();
    if left.is_empty() {
        return all_places(name, skill, scope);
    }
    let folder = |host: &String| scope.host_folder(host).map(|folder| folder.join(name));
    let needed: Vec<PathBuf> = left.iter().filter_map(folder).collect();
    let dropped: Vec<PathBuf> = hosts.iter().filter_map(folder).collect();
    let has_links = skill
        .places
        .iter()
        .any(|put| put.link.is_some() && scope.resolve_place(name, put).is_some_and(|path| !dropped.contains(&path)));
    let (mut paths, mut after) = (Vec::new(), skill.clone());
    after.places.retain(|put| {
        let Some(path) = scope.resolve_place(name, put).filter(|path| dropped.contains(path) && !needed.contains(path))
        else {
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
    lock.insert_skill(name, &after);
    PlannedRemoval { paths, is_complete: false }
}
