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
    /// The skills that were removed too, because only removed skills required them.
    pub orphans: Vec<String>,
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
            check_not_required(name, &skill, options)?;
            lock.remove_skill(name);
            lock.record_requirements(name, &[]);
        }
        removal.removed.extend(going.paths.iter().map(|path| scope.display_path(path)));
        steps.extend(going.paths.into_iter().map(JournalStep::Remove));
    }
    for orphan in take_orphans(&mut lock, scope) {
        removal.removed.extend(orphan.paths.iter().map(|path| scope.display_path(path)));
        steps.extend(orphan.paths.into_iter().map(JournalStep::Remove));
        removal.orphans.push(orphan.name);
    }
    turn.apply_steps(&steps, Some(&lock.to_json_text()))?;
    Ok(removal)
}

/// Fails if a skill that stays installed requires this one.
fn check_not_required(name: &str, skill: &InstalledSkill, options: &RemoveOptions) -> Result<(), PackageError> {
    match skill.required_by.iter().find(|other| !options.names.contains(other)) {
        Some(other) if !options.is_forced => {
            let message = format!("`{name}` was not removed: `{other}` requires it");
            Err(PackageError::new(PackageErrorCode::Required, message)
                .remedy(format!("remove `{other}` too, or pass --force")))
        }
        _ => Ok(()),
    }
}

/// A skill that nothing requires any longer.
pub(crate) struct OrphanedSkill {
    pub(crate) name: String,
    pub(crate) paths: Vec<PathBuf>,
}

/// Removes the skills from a lock file that were installed for others and that nothing requires any longer. A skill that
/// was changed since is kept, as one that the user asked for.
pub(crate) fn take_orphans(lock: &mut SkillsLockFile, scope: &InstallScope) -> Vec<OrphanedSkill> {
    let mut all = Vec::new();
    loop {
        let is_orphan = |name: &String| {
            lock.get(name).is_some_and(|skill| skill.is_dependency && skill.required_by.is_empty() && !skill.is_foreign)
        };
        let Some(name) = lock.skill_names().into_iter().find(is_orphan) else { return all };
        let Some(mut skill) = lock.get(&name) else { return all };
        if check_unchanged(&name, &skill, scope).is_err() {
            skill.is_dependency = false;
            lock.insert_skill(&name, &skill);
            continue;
        }
        all.push(OrphanedSkill { paths: all_places(&name, &skill, scope).paths, name: name.clone() });
        lock.remove_skill(&name);
        lock.record_requirements(&name, &[]);
    }
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
