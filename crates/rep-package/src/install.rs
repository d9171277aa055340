//! What an installation changes: which folder, which link, and what the lock file says afterwards; and doing it.
#![expect(clippy::disallowed_methods, reason = "this module looks at what is in the way")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rep_check::{Finding, Level, Options, Profile, check};
use rep_model::Skill;
use rep_storage::time;

use crate::error::{PackageError, PackageErrorCode};
use crate::files;
use crate::journal::Step;
use crate::lock::{Installed, Lock, Put};
use crate::place::Placed;
use crate::scope::{InstallScope, ProblemKind, real, relative};
use crate::source::OfferedSkill;

/// How skills are installed.
#[derive(Clone, Debug, Default)]
pub struct InstallOptions {
    /// The hosts to install for.
    pub hosts: Vec<String>,
    /// Whether every host gets a copy instead of a link.
    pub copies: bool,
    /// Whether what is in the way is replaced.
    pub is_forced: bool,
}

/// What an installation does.
#[derive(Debug)]
pub struct InstallPlan {
    /// The skills, as they will be.
    pub skills: Vec<PlannedSkill>,
    steps: Vec<Step>,
    lock: Lock,
}

/// One skill, as it will be.
#[derive(Clone, Debug)]
pub struct PlannedSkill {
    /// Its name.
    pub name: String,
    /// What becomes of it.
    pub state: PlanState,
    /// Its entry in the lock file.
    pub installed: Installed,
}

/// What becomes of a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanState {
    /// It is new.
    Installed,
    /// It replaces what was installed before.
    Updated,
    /// It is installed already, as it is.
    Unchanged,
}

impl PlanState {
    /// The words in results.
    pub const fn as_str(self) -> &'static str {
        match self {
            PlanState::Installed => "installed",
            PlanState::Updated => "updated",
            PlanState::Unchanged => "already installed",
        }
    }
}

/// Why a skill is not installed: what the checks found.
#[derive(Clone, thiserror::Error)]
#[error("`{name}` has {count} and was not installed: {}", findings[0].message, count = counted(findings.len()))]
pub struct OfferedSkillErrors {
    /// The skill's name.
    pub name: String,
    /// The errors; at least one.
    pub findings: Vec<Finding>,
    /// Whether some of them are about security, so that the skill cannot be installed by force.
    pub has_security: bool,
}

impl std::fmt::Debug for OfferedSkillErrors {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.to_string())
    }
}

pub(crate) fn counted(count: usize) -> String {
    if count == 1 { "1 error".to_owned() } else { format!("{count} errors") }
}

/// Checks a skill as it would be installed. Errors about security count whatever the author silenced, and also if it is forced.
pub fn check_offered(offered: &OfferedSkill, is_forced: bool) -> Result<(), OfferedSkillErrors> {
    let errors = |ignores_silences: bool| {
        let (skill, faults) = Skill::parse(offered.tree());
        let options = Options { ignores_silences, ..Options::default() };
        let mut findings = check(&skill, faults, &options).findings;
        findings.retain(|finding| finding.level == Level::Error);
        findings
    };
    let is_security = |finding: &Finding| finding.rule.levels.of(Profile::Security).is_some();
    let mut findings = errors(true);
    findings.retain(is_security);
    let has_security = !findings.is_empty();
    if !is_forced {
        findings.extend(errors(false).into_iter().filter(|finding| !is_security(finding)));
    }
    if findings.is_empty() {
        return Ok(());
    }
    Err(OfferedSkillErrors { name: offered.name.clone(), findings, has_security })
}

/// Works out what installing skills changes. Nothing is written.
pub fn plan_install(
    offered: &[OfferedSkill],
    options: &InstallOptions,
    scope: &InstallScope,
    now: SystemTime,
) -> Result<InstallPlan, PackageError> {
    let mut plan = InstallPlan { steps: Vec::new(), lock: scope.lock()?, skills: Vec::new() };
    for one in offered {
        plan.add(one, options, scope, now)?;
    }
    Ok(plan)
}

/// Installs skills: all of them, or none.
pub fn install(
    offered: &[OfferedSkill],
    options: &InstallOptions,
    scope: &InstallScope,
    now: SystemTime,
) -> Result<InstallPlan, PackageError> {
    let turn = scope.turn()?;
    let plan = plan_install(offered, options, scope, now)?;
    if plan.has_changes() {
        turn.apply(&plan.steps, &plan.lock.text())?;
    }
    Ok(plan)
}

/// A folder of skills.
struct Root {
    /// As it is written.
    path: PathBuf,
    /// With links resolved.
    real: PathBuf,
    /// Whether a copy was put there before, which stays one.
    has_copy: bool,
}

impl InstallPlan {
    /// Whether anything changes.
    pub fn has_changes(&self) -> bool {
        self.skills.iter().any(|skill| skill.state != PlanState::Unchanged)
    }

    fn add(
        &mut self,
        one: &OfferedSkill,
        options: &InstallOptions,
        scope: &InstallScope,
        now: SystemTime,
    ) -> Result<(), PackageError> {
        let before = self.lock.get(&one.name).filter(|before| !before.is_foreign);
        let mut hosts = before.as_ref().map(|before| before.hosts.clone()).unwrap_or_default();
        hosts.extend(options.hosts.iter().filter(|host| !hosts.contains(host)).cloned().collect::<Vec<String>>());
        let roots = roots(&one.name, &options.hosts, before.as_ref(), scope)?;
        let store = roots.iter().find(|root| root.path == scope.shared()).unwrap_or(&roots[0]);
        let digest = files::digest(&one.files);
        let (mut places, mut steps) = (Vec::new(), Vec::new());
        for root in &roots {
            let target = root.path.join(&one.name);
            let is_copy = std::ptr::eq(root, store) || options.copies || root.has_copy;
            let link = (!is_copy).then(|| relative(&root.real, &store.real.join(&one.name)));
            places.push(Put {
                path: scope.shown(&target),
                link: link.as_ref().map(|link| link.to_string_lossy().into_owned()),
            });
            if is_there(&target, &one.files, link.as_deref()) {
                continue;
            }
            if !options.is_forced {
                check_free(&target, one, before.as_ref(), scope)?;
            }
            steps.push(match link {
                Some(link) => Step::Link(target, link),
                None => Step::Folder(target, one.files.clone()),
            });
        }
        let mut installed = Installed {
            origin: one.origin.clone(),
            computed_hash: files::computed_hash(&one.files),
            digest,
            files: files::digests(&one.files),
            hosts,
            places,
            at: time::text(now),
            is_foreign: false,
        };
        let state = match &before {
            None => PlanState::Installed,
            Some(before) if steps.is_empty() && is_same(before, &installed) => {
                installed.at.clone_from(&before.at);
                PlanState::Unchanged
            }
            Some(_) => PlanState::Updated,
        };
        self.lock.put(&one.name, &installed);
        self.steps.extend(steps);
        self.skills.push(PlannedSkill { name: one.name.clone(), state, installed });
        Ok(())
    }
}

fn is_same(before: &Installed, after: &Installed) -> bool {
    Installed { at: after.at.clone(), ..before.clone() } == *after
}

/// The folders a skill goes to: those of the hosts, and those it was put in before. Two that are the same folder are one.
fn roots(
    name: &str,
    hosts: &[String],
    before: Option<&Installed>,
    scope: &InstallScope,
) -> Result<Vec<Root>, PackageError> {
    let mut found: BTreeMap<PathBuf, Root> = BTreeMap::new();
    let mut order = Vec::new();
    let old = before.into_iter().flat_map(|before| &before.places);
    let old = old.filter_map(|put| Some((scope.place(name, put)?.parent()?.to_owned(), put.link.is_none())));
    let new = hosts.iter().filter_map(|host| Some((scope.folder(host)?, false)));
    for (path, has_copy) in old.chain(new) {
        let Some(real) = real(&path).filter(|_| scope.is_inside(&path)) else {
            let message = format!("`{}` leads out of the project, and nothing is put there", path.display());
            return Err(PackageError::new(PackageErrorCode::Outside, message));
        };
        if !found.contains_key(&real) {
            order.push(real.clone());
            found.insert(real.clone(), Root { path, real, has_copy });
        }
    }
    if order.is_empty() {
        let message = "none of these hosts has a folder for skills in this scope";
        return Err(PackageError::new(PackageErrorCode::NoFolder, message));
    }
    Ok(order.into_iter().filter_map(|real| found.remove(&real)).collect())
}

/// Whether a place already is as it will be.
fn is_there(target: &Path, wanted: &[Placed], link: Option<&Path>) -> bool {
    match (link, fs::symlink_metadata(target)) {
        (_, Err(_)) => false,
        (Some(link), Ok(_)) => fs::read_link(target).is_ok_and(|to| to == link),
        (None, Ok(data)) => {
            data.is_dir() && files::read_all(target).is_ok_and(|found| files::digest(&found) == files::digest(wanted))
        }
    }
}

/// Refuses if something is in the way that is not ours, or that somebody changed since.
fn check_free(
    target: &Path,
    one: &OfferedSkill,
    before: Option<&Installed>,
    scope: &InstallScope,
) -> Result<(), PackageError> {
    if fs::symlink_metadata(target).is_err() {
        return Ok(());
    }
    let shown = scope.shown(target);
    let own =
        before.filter(|before| before.places.iter().any(|put| scope.place(&one.name, put).as_deref() == Some(target)));
    let Some(own) = own else {
        // The same bytes in another form: nothing is lost.
        let is_same = files::read_all(target).is_ok_and(|found| files::digest(&found) == files::digest(&one.files));
        if is_same {
            return Ok(());
        }
        let message = format!("there is another `{}` at `{shown}`, which was not installed by rep", one.name);
        return Err(PackageError::new(PackageErrorCode::Collision, message));
    };
    let changed = scope
        .problems(&one.name, own)
        .into_iter()
        .find(|problem| problem.kind != ProblemKind::Missing && problem.path.starts_with(&shown));
    match changed {
        None => Ok(()),
        Some(problem) => {
            let message = format!("`{}` changed since it was installed: {}", problem.path, problem.message);
            Err(PackageError::new(PackageErrorCode::WouldOverwrite, message))
        }
    }
}
