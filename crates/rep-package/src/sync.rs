//! Makes every place equal to the lock file, and never writes it.
//!
//! The content of a skill comes from another of its places, from the cache, or from its source. Wherever it comes from, it
//! is compared with the digests in the lock file: a source that changed, even behind the same tag or commit, is refused.

use std::path::{Path, PathBuf};

use crate::atomic_dir::PackageFile;
use crate::client::SourceClient;
use crate::error::{PackageError, PackageErrorCode};
use crate::files;
use crate::install::{check_offered_skill, is_already_in_place};
use crate::journal::{InstallLock, JournalStep};
use crate::lock::{InstalledSkill, SkillsLockFile};
use crate::scope::{InstallProblem, InstallProblemKind, InstallScope, relative_path, resolve_links};
use crate::signature::check_restored;
use crate::source::{OfferedSkill, RecordedSources, SourceMoment};

/// Options for making places equal to the lock file.
#[derive(Clone, Copy, Debug, Default)]
pub struct SyncOptions {
    /// Whether to only compare.
    pub is_check: bool,
    /// Whether to remove what was placed here for skills that the lock file no longer names.
    pub is_pruned: bool,
    /// Whether to replace files that were changed since they were installed.
    pub is_forced: bool,
}

/// What was done, or with `is_check` would be done, to a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncedSkill {
    /// Its name.
    pub name: String,
    /// How it compared with the lock file.
    pub state: SyncState,
    /// The places that were or would be written or removed, as shown to users.
    pub places: Vec<String>,
}

/// How a skill compared with the lock file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SyncState {
    /// Every place is as recorded.
    Current,
    /// Some places were restored, or with `is_check` would be. Contains the first difference.
    Restored(String),
    /// The lock file does not name it any longer, so its places were or would be removed.
    Pruned,
    /// It could not be restored.
    Failed(PackageError),
}

impl SyncState {
    /// Returns the name in JSON results.
    pub const fn as_str(&self) -> &'static str {
        match self {
            SyncState::Current => "current",
            SyncState::Restored(_) => "restored",
            SyncState::Pruned => "pruned",
            SyncState::Failed(_) => "failed",
        }
    }
}

/// The changes to one skill.
struct SyncPlan {
    result: SyncedSkill,
    steps: Vec<JournalStep>,
}

/// Makes every place equal to the lock file. Skills that cannot be restored are reported and left as they are; all others
/// are restored in one transaction.
pub fn sync_skills(
    options: SyncOptions,
    scope: &InstallScope,
    client: &SourceClient,
    warn: &mut dyn FnMut(&str),
) -> Result<Vec<SyncedSkill>, PackageError> {
    let turn = scope.acquire_lock()?;
    let lock = scope.read_lock_file()?;
    let (mut results, mut steps) = (Vec::new(), Vec::new());
    for name in lock.skill_names() {
        let Some(skill) = lock.get(&name) else { continue };
        let plan = plan_skill(&name, &skill, options, scope, client, warn);
        steps.extend(plan.steps);
        results.push(plan.result);
    }
    if options.is_pruned {
        for plan in plan_pruning(&turn, &lock, options, scope) {
            steps.extend(plan.steps);
            results.push(plan.result);
        }
    }
    if !options.is_check && !steps.is_empty() {
        turn.apply_steps(&steps, None)?;
    }
    Ok(results)
}

fn plan_skill(
    name: &str,
    skill: &InstalledSkill,
    options: SyncOptions,
    scope: &InstallScope,
    client: &SourceClient,
    warn: &mut dyn FnMut(&str),
) -> SyncPlan {
    let problems = scope.find_problems(name, skill);
    let result = |state, places| SyncedSkill { name: name.to_owned(), state, places };
    let Some(first) = problems.first() else {
        return SyncPlan { result: result(SyncState::Current, Vec::new()), steps: Vec::new() };
    };
    let first = format!("{}: {}", first.path, first.message);
    let paths = problems.iter().map(|problem| problem.path.clone()).collect();
    if let Err(error) = check_problems(name, &problems, options) {
        return SyncPlan { result: result(SyncState::Failed(error), paths), steps: Vec::new() };
    }
    if options.is_check {
        return SyncPlan { result: result(SyncState::Restored(first), paths), steps: Vec::new() };
    }
    let restored =
        load_content(name, skill, scope, client, warn).and_then(|offered| plan_steps(name, skill, &offered, scope));
    match restored {
        Ok(steps) => {
            let places = steps.iter().map(|step| scope.display_path(step.target())).collect();
            SyncPlan { result: result(SyncState::Restored(first), places), steps }
        }
        Err(error) => SyncPlan { result: result(SyncState::Failed(error), Vec::new()), steps: Vec::new() },
    }
}

/// Fails if restoring would overwrite changes, or if the lock file names invalid places.
fn check_problems(name: &str, problems: &[InstallProblem], options: SyncOptions) -> Result<(), PackageError> {
    for problem in problems {
        let shown = format!("`{}`: {}", problem.path, problem.message);
        match problem.kind {
            InstallProblemKind::Unknown | InstallProblemKind::InvalidPlace => {
                return Err(PackageError::new(PackageErrorCode::BrokenLock, format!("`{name}`: {}", problem.message))
                    .remedy("install it again, or fix the lock file"));
            }
            InstallProblemKind::Missing | InstallProblemKind::Broken => {}
            // A comparison reports changes like all other differences.
            _ if options.is_forced || options.is_check => {}
            InstallProblemKind::Changed | InstallProblemKind::Extra | InstallProblemKind::Unreadable => {
                return Err(PackageError::new(
                    PackageErrorCode::WouldOverwrite,
                    format!("`{name}` changed since it was installed: {shown}"),
                ));
            }
        }
    }
    Ok(())
}

/// Loads the recorded content of a skill, and compares it with the lock file.
fn load_content(
    name: &str,
    skill: &InstalledSkill,
    scope: &InstallScope,
    client: &SourceClient,
    warn: &mut dyn FnMut(&str),
) -> Result<OfferedSkill, PackageError> {
    client.check_origin(&skill.origin)?;
    let known = (!skill.is_foreign)
        .then(|| scope.read_installed_files(name, skill).or_else(|| client.content().load(&skill.digest)))
        .flatten();
    let offered = if let Some(files) = known {
        OfferedSkill::new(name, files, skill.origin.clone())?
    } else {
        let sources = RecordedSources { scope, client };
        let loaded = sources.load(name, &skill.origin, SourceMoment::Recorded, warn)?;
        loaded.ok_or_else(|| {
            let source = skill.origin.url.as_deref().unwrap_or(&skill.origin.source);
            PackageError::new(PackageErrorCode::SkillNotFound, format!("`{source}` no longer has `{name}`"))
        })?
    };
    check_content(name, skill, &offered.files)?;
    if let Err(errors) = check_offered_skill(&offered, true) {
        return Err(PackageError::new(PackageErrorCode::InvalidSkill, errors.to_string()));
    }
    check_restored(name, &offered.files, &skill.origin, client)?;
    client.content().store(&offered.files);
    Ok(offered)
}

/// Fails if files are not those that the lock file records.
fn check_content(name: &str, skill: &InstalledSkill, found: &[PackageFile]) -> Result<(), PackageError> {
    let is_same = if skill.is_foreign {
        !skill.computed_hash.is_empty() && files::compute_npm_hash(found) == skill.computed_hash
    } else {
        files::digest_files(found) == skill.digest
    };
    if is_same {
        return Ok(());
    }
    let source = skill.origin.url.as_deref().unwrap_or(&skill.origin.source);
    let at = skill.origin.reference.as_ref().map(|reference| format!(" at `{reference}`")).unwrap_or_default();
    let message = format!("the content of `{name}` in `{source}`{at} is not what the lock file records");
    Err(PackageError::new(PackageErrorCode::DigestMismatch, message)
        .remedy(format!("nothing of it was written; run `rep update {name}` to see and accept what changed")))
}

/// Plans the places of a skill: as recorded, or for an entry of another tool, where the hosts in use look.
fn plan_steps(
    name: &str,
    skill: &InstalledSkill,
    offered: &OfferedSkill,
    scope: &InstallScope,
) -> Result<Vec<JournalStep>, PackageError> {
    let invalid = |what: &str| {
        PackageError::new(PackageErrorCode::BrokenLock, format!("`{name}`: {what}"))
            .remedy("install it again, or fix the lock file")
    };
    let mut places: Vec<(PathBuf, Option<PathBuf>)> = Vec::new();
    if skill.is_foreign {
        let hosts = scope.default_hosts();
        let mut folders = vec![scope.shared_skills_folder()];
        folders.extend(hosts.iter().filter_map(|host| scope.host_folder(host)));
        let store = folders[0].clone();
        for folder in folders {
            if !scope.is_inside_project(&folder) || !crate::index::is_skill_name(name) {
                return Err(invalid("its place is not in the project"));
            }
            let (Some(real), Some(store_real)) = (resolve_links(&folder), resolve_links(&store)) else { continue };
            let link = (real != store_real).then(|| relative_path(&real, &store_real.join(name)));
            if !places.iter().any(|(known, _)| *known == folder.join(name)) {
                places.push((folder.join(name), link));
            }
        }
    } else {
        for put in &skill.places {
            let path = scope.resolve_place(name, put).ok_or_else(|| invalid("it names an invalid place"))?;
            places.push((path, put.link.as_ref().map(PathBuf::from)));
        }
    }
    let stores: Vec<PathBuf> =
        places.iter().filter(|(_, link)| link.is_none()).filter_map(|(path, _)| resolve_place_folder(path)).collect();
    let mut steps = Vec::new();
    for (path, link) in &places {
        if let Some(link) = link {
            // A link may only point to the same skill in another host's directory.
            let parent = path.parent().and_then(resolve_links);
            let is_own = parent.is_some_and(|parent| stores.iter().any(|store| relative_path(&parent, store) == *link));
            if !is_own {
                return Err(invalid("it names a link that does not point to the skill"));
            }
        }
        if is_already_in_place(path, &offered.files, link.as_deref()) {
            continue;
        }
        steps.push(match link {
            Some(link) => JournalStep::Link(path.clone(), link.clone()),
            None => JournalStep::Folder(path.clone(), offered.files.clone()),
        });
    }
    Ok(steps)
}

/// Returns the path of a place with the links of its parent resolved.
fn resolve_place_folder(path: &Path) -> Option<PathBuf> {
    Some(resolve_links(path.parent()?)?.join(path.file_name()?))
}

/// Plans the removal of what was placed here for skills that the lock file no longer names.
fn plan_pruning(
    turn: &InstallLock,
    lock: &SkillsLockFile,
    options: SyncOptions,
    scope: &InstallScope,
) -> Vec<SyncPlan> {
    let mut named: Vec<PathBuf> = Vec::new();
    let mut foreign: Vec<String> = Vec::new();
    for name in lock.skill_names() {
        let Some(skill) = lock.get(&name) else { continue };
        named.extend(skill.places.iter().filter_map(|put| scope.resolve_place(&name, put)));
        if skill.is_foreign {
            foreign.push(name);
        }
    }
    let mut all = Vec::new();
    // Links first: they point to directories.
    let mut placed = turn.read_placed().list_existing();
    placed.sort_by_key(|(path, _)| !path.is_symlink());
    for (path, is_same) in placed {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if named.contains(&path) || foreign.contains(&name) {
            continue;
        }
        let shown = scope.display_path(&path);
        let (state, steps) = if is_same || options.is_forced {
            (SyncState::Pruned, vec![JournalStep::Remove(path)])
        } else {
            let message = format!("`{shown}` changed since it was installed and was not removed");
            (SyncState::Failed(PackageError::new(PackageErrorCode::WouldRemove, message)), Vec::new())
        };
        all.push(SyncPlan { result: SyncedSkill { name, state, places: vec![shown] }, steps });
    }
    all
}
