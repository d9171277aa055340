//! Plans an installation (directories, links and lock file entries), and carries it out.
#![expect(clippy::disallowed_methods, reason = "this module inspects existing files")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rep_check::{CheckOptions, Finding, Level, Profile, check_skill, sort_and_dedup};
use rep_library::scan::ScannedSkill;
use rep_model::Skill;
use rep_storage::time;

use crate::atomic_dir::PackageFile;
use crate::capabilities::{AddedCapability, SkillCapabilities};
use crate::error::{PackageError, PackageErrorCode};
use crate::files;
use crate::journal::JournalStep;
use crate::lock::{InstallPlace, InstalledSkill, SkillsLockFile};
use crate::remove;
use crate::requirement::{find_declared_version, list_requirements};
use crate::scope::{InstallProblemKind, InstallScope, relative_path, resolve_links};
use crate::source::OfferedSkill;

/// Options for installing skills.
#[derive(Clone, Debug, Default)]
pub struct InstallOptions {
    /// The hosts to install for.
    pub hosts: Vec<String>,
    /// Whether each host gets a copy instead of a link.
    pub copies: bool,
    /// Whether to replace existing skills.
    pub is_forced: bool,
}

/// The changes that an installation makes.
#[derive(Debug)]
pub struct InstallPlan {
    /// The skills, as they will be installed.
    pub skills: Vec<PlannedSkill>,
    /// The skills that are removed because nothing requires them any longer.
    pub removed: Vec<String>,
    steps: Vec<JournalStep>,
    lock: SkillsLockFile,
    lock_before: String,
}

/// A skill, as it will be installed.
#[derive(Clone, Debug)]
pub struct PlannedSkill {
    /// Its name.
    pub name: String,
    /// How the installation changes it.
    pub state: PlanState,
    /// Its entry in the lock file.
    pub installed: InstalledSkill,
    /// What its code needs and that of the installed version does not.
    pub added: Vec<AddedCapability>,
}

/// How an installation changes a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanState {
    /// It was not installed before.
    Installed,
    /// It replaces the installed version.
    Updated,
    /// The same version is already installed.
    Unchanged,
}

impl PlanState {
    /// Returns the name in results.
    pub const fn as_str(self) -> &'static str {
        match self {
            PlanState::Installed => "installed",
            PlanState::Updated => "updated",
            PlanState::Unchanged => "already installed",
        }
    }
}

/// The errors that prevent a skill's installation.
#[derive(Clone, thiserror::Error)]
#[error("`{name}` has {count} and was not installed: {}", findings[0].message, count = format_error_count(findings.len()))]
pub struct OfferedSkillErrors {
    /// The skill's name.
    pub name: String,
    /// The errors; at least one.
    pub findings: Vec<Finding>,
    /// Whether some errors are about security, which `--force` does not override.
    pub has_security: bool,
}

impl std::fmt::Debug for OfferedSkillErrors {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.to_string())
    }
}

pub(crate) fn format_error_count(count: usize) -> String {
    if count == 1 { "1 error".to_owned() } else { format!("{count} errors") }
}

/// Checks a skill as it would be installed. Security errors count even if the author silenced them or `is_forced`
/// is set.
pub fn check_offered_skill(offered: &OfferedSkill, is_forced: bool) -> Result<(), OfferedSkillErrors> {
    let errors = |ignores_silences: bool| {
        let (skill, faults) = Skill::parse(offered.to_skill_tree());
        let options = CheckOptions { ignores_allow_comments: ignores_silences, ..CheckOptions::default() };
        let mut findings = check_skill(&skill, faults, &options).findings;
        findings.retain(|finding| finding.level == Level::Error);
        findings
    };
    let is_security = |finding: &Finding| finding.rule.levels.for_profile(Profile::Security).is_some();
    let mut findings = errors(true);
    findings.retain(is_security);
    // What a scan blocks is not installed.
    let (skill, _) = Skill::parse(offered.to_scanned_tree());
    let scanned = ScannedSkill::from_skill(&skill, &offered.name);
    findings.extend(scanned.findings.into_iter().filter(|finding| finding.level == Level::Error));
    sort_and_dedup(&mut findings);
    let has_security = !findings.is_empty();
    if !is_forced {
        findings.extend(errors(false).into_iter().filter(|finding| !is_security(finding)));
    }
    if findings.is_empty() {
        return Ok(());
    }
    Err(OfferedSkillErrors { name: offered.name.clone(), findings, has_security })
}

/// Computes what installing skills changes, without writing anything.
pub fn plan_install(
    offered: &[OfferedSkill],
    options: &InstallOptions,
    scope: &InstallScope,
    now: SystemTime,
) -> Result<InstallPlan, PackageError> {
    let lock = scope.read_lock_file()?;
    let lock_before = lock.to_json_text();
    let mut plan = InstallPlan { steps: Vec::new(), lock, lock_before, skills: Vec::new(), removed: Vec::new() };
    for one in offered {
        plan.add_skill(one, options, scope, now)?;
    }
    plan.record_requirements(offered, scope);
    Ok(plan)
}

/// Installs all of the skills, or none.
pub fn install_skills(
    offered: &[OfferedSkill],
    options: &InstallOptions,
    scope: &InstallScope,
    now: SystemTime,
) -> Result<InstallPlan, PackageError> {
    let turn = scope.acquire_lock()?;
    let plan = plan_install(offered, options, scope, now)?;
    if plan.has_changes() {
        turn.apply_steps(&plan.steps, Some(&plan.lock.to_json_text()))?;
    }
    Ok(plan)
}

/// A directory of skills.
struct InstallRoot {
    /// The path as written.
    path: PathBuf,
    /// The path with links resolved.
    real: PathBuf,
    /// Whether it already contains a copy, which stays a copy.
    has_copy: bool,
}

impl InstallPlan {
    /// Whether the installation changes anything.
    pub fn has_changes(&self) -> bool {
        !self.steps.is_empty() || self.lock.to_json_text() != self.lock_before
    }

    fn add_skill(
        &mut self,
        one: &OfferedSkill,
        options: &InstallOptions,
        scope: &InstallScope,
        now: SystemTime,
    ) -> Result<(), PackageError> {
        let before = self.lock.get(&one.name).filter(|before| !before.is_foreign);
        let mut hosts = before.as_ref().map(|before| before.hosts.clone()).unwrap_or_default();
        hosts.extend(options.hosts.iter().filter(|host| !hosts.contains(host)).cloned().collect::<Vec<String>>());
        let roots = resolve_install_roots(&one.name, &options.hosts, before.as_ref(), scope)?;
        let store = roots.iter().find(|root| root.path == scope.shared_skills_folder()).unwrap_or(&roots[0]);
        let digest = files::digest_files(&one.files);
        let (mut places, mut steps) = (Vec::new(), Vec::new());
        for root in &roots {
            let target = root.path.join(&one.name);
            let is_copy = std::ptr::eq(root, store) || options.copies || root.has_copy;
            let link = (!is_copy).then(|| relative_path(&root.real, &store.real.join(&one.name)));
            places.push(InstallPlace {
                path: scope.display_path(&target),
                link: link.as_ref().map(|link| link.to_string_lossy().into_owned()),
            });
            if is_already_in_place(&target, &one.files, link.as_deref()) {
                continue;
            }
            if !options.is_forced {
                check_target_is_free(&target, one, before.as_ref(), scope)?;
            }
            steps.push(match link {
                Some(link) => JournalStep::Link(target, link),
                None => JournalStep::Folder(target, one.files.clone()),
            });
        }
        let (skill, _) = Skill::parse(one.to_skill_tree());
        let mut installed = InstalledSkill {
            origin: one.origin.clone(),
            computed_hash: files::compute_npm_hash(&one.files),
            digest,
            files: files::digest_each_file(&one.files),
            hosts,
            places,
            installed_at: time::format_timestamp(now),
            version: find_declared_version(&skill),
            required_by: before.as_ref().map(|before| before.required_by.clone()).unwrap_or_default(),
            is_dependency: one.is_dependency && before.as_ref().is_none_or(|before| before.is_dependency),
            is_pinned: before.as_ref().is_some_and(|before| before.is_pinned),
            capabilities: Some(SkillCapabilities::from_tree(one.to_scanned_tree())),
            signature: one.signature.clone(),
            is_foreign: false,
        };
        let state = match &before {
            None => PlanState::Installed,
            Some(before) if steps.is_empty() && is_same_installation(before, &installed) => {
                installed.installed_at.clone_from(&before.installed_at);
                PlanState::Unchanged
            }
            Some(_) => PlanState::Updated,
        };
        let added = match &before {
            Some(before) if state == PlanState::Updated => {
                list_added_capabilities(&one.name, before, &installed, scope)
            }
            _ => Vec::new(),
        };
        self.lock.insert_skill(&one.name, &installed);
        self.steps.extend(steps);
        self.skills.push(PlannedSkill { name: one.name.clone(), state, installed, added });
        Ok(())
    }
}

impl InstallPlan {
    /// Records who requires what, and removes the skills that nothing requires any longer.
    fn record_requirements(&mut self, offered: &[OfferedSkill], scope: &InstallScope) {
        for one in offered {
            let (skill, _) = Skill::parse(one.to_skill_tree());
            let required = list_requirements(&skill, &mut |_| ());
            self.lock.record_requirements(&one.name, &required);
        }
        for orphan in remove::take_orphans(&mut self.lock, scope) {
            self.removed.push(orphan.name);
            self.steps.extend(orphan.paths.into_iter().map(JournalStep::Remove));
        }
    }
}

/// Lists what a new version needs and the installed one does not.
fn list_added_capabilities(
    name: &str,
    before: &InstalledSkill,
    after: &InstalledSkill,
    scope: &InstallScope,
) -> Vec<AddedCapability> {
    let old = scope.known_capabilities(name, before);
    after.capabilities.as_ref().map(|new| old.added_in(new)).unwrap_or_default()
}

fn is_same_installation(before: &InstalledSkill, after: &InstalledSkill) -> bool {
    // A record by an earlier version may have no capabilities, or others.
    let (installed_at, capabilities) = (after.installed_at.clone(), after.capabilities.clone());
    InstalledSkill { installed_at, capabilities, ..before.clone() } == *after
}

/// Returns the directories for a skill: those of the hosts, and those where it is already installed. Duplicates are
/// merged.
fn resolve_install_roots(
    name: &str,
    hosts: &[String],
    before: Option<&InstalledSkill>,
    scope: &InstallScope,
) -> Result<Vec<InstallRoot>, PackageError> {
    let mut found: BTreeMap<PathBuf, InstallRoot> = BTreeMap::new();
    let mut order = Vec::new();
    let old = before.into_iter().flat_map(|before| &before.places);
    let old = old.filter_map(|put| Some((scope.resolve_place(name, put)?.parent()?.to_owned(), put.link.is_none())));
    if let Some(host) = hosts.iter().find(|host| scope.host_folder(host).is_none()) {
        let message = format!("`{host}` has no skill directory in the {} scope", scope.name());
        let other = if scope.is_personal { "project" } else { "personal" };
        return Err(PackageError::new(PackageErrorCode::NoFolder, message).remedy(format!("use `--scope {other}`")));
    }
    let new = hosts.iter().filter_map(|host| Some((scope.host_folder(host)?, false)));
    for (path, has_copy) in old.chain(new) {
        let Some(real) = resolve_links(&path).filter(|_| scope.is_inside_project(&path)) else {
            let message = format!("`{}` points out of the project", path.display());
            return Err(PackageError::new(PackageErrorCode::Outside, message));
        };
        if !found.contains_key(&real) {
            order.push(real.clone());
            found.insert(real.clone(), InstallRoot { path, real, has_copy });
        }
    }
    if order.is_empty() {
        let message = "none of these hosts has a skill directory in this scope";
        return Err(PackageError::new(PackageErrorCode::NoFolder, message));
    }
    Ok(order.into_iter().filter_map(|real| found.remove(&real)).collect())
}

/// Whether the target already has the wanted content.
pub(crate) fn is_already_in_place(target: &Path, wanted: &[PackageFile], link: Option<&Path>) -> bool {
    match (link, fs::symlink_metadata(target)) {
        (_, Err(_)) => false,
        (Some(link), Ok(_)) => fs::read_link(target).is_ok_and(|to| to == link),
        (None, Ok(data)) => {
            data.is_dir()
                && files::read_all_files(target)
                    .is_ok_and(|found| files::digest_files(&found) == files::digest_files(wanted))
        }
    }
}

/// Fails if the target exists and was not installed by `rep`, or was changed since.
fn check_target_is_free(
    target: &Path,
    one: &OfferedSkill,
    before: Option<&InstalledSkill>,
    scope: &InstallScope,
) -> Result<(), PackageError> {
    if fs::symlink_metadata(target).is_err() {
        return Ok(());
    }
    let shown = scope.display_path(target);
    let own = before.filter(|before| {
        before.places.iter().any(|put| scope.resolve_place(&one.name, put).as_deref() == Some(target))
    });
    let Some(own) = own else {
        // The same content in another form: nothing is lost.
        let is_same = files::read_all_files(target)
            .is_ok_and(|found| files::digest_files(&found) == files::digest_files(&one.files));
        if is_same {
            return Ok(());
        }
        let message = format!("another `{}` exists at `{shown}`, which was not installed by rep", one.name);
        return Err(PackageError::new(PackageErrorCode::Collision, message));
    };
    let changed = scope
        .find_problems(&one.name, own)
        .into_iter()
        .find(|problem| problem.kind != InstallProblemKind::Missing && problem.path.starts_with(&shown));
    match changed {
        None => Ok(()),
        Some(problem) => {
            let message = format!("`{}` changed since it was installed: {}", problem.path, problem.message);
            Err(PackageError::new(PackageErrorCode::WouldOverwrite, message))
        }
    }
}
