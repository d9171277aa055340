//! Adds the skills that other skills require, from the same sources.
//!
//! A skill's identity on disk is its name, so there is one version per name. The newest version that a source has is
//! taken; a requirement that it does not satisfy is an error that shows both chains.

use std::collections::VecDeque;

use rep_model::Skill;

use crate::client::SourceClient;
use crate::error::{PackageError, PackageErrorCode};
use crate::lock::SkillsLockFile;
use crate::requirement::{SkillRequirement, find_declared_version, list_requirements};
use crate::scope::InstallScope;
use crate::source::{OfferedSkill, RecordedSources};

/// The maximum number of requirements that are followed.
const REQUIREMENTS_MAX: usize = 1000;

/// A requirement that is still to be met.
struct OpenRequirement {
    requirement: SkillRequirement,
    /// The names that lead to it, from a skill that the user asked for.
    chain: Vec<String>,
    /// The skill that declares it.
    declared_by: usize,
}

/// The skills chosen so far.
struct Resolution<'a> {
    skills: Vec<OfferedSkill>,
    /// The names that led to each skill.
    chains: Vec<Vec<String>>,
    lock: SkillsLockFile,
    scope: &'a InstallScope,
}

/// Adds the skills that these require, and the ones that those require. What is installed and satisfies a requirement is
/// left alone. A skill that no source has is reported by `warn`.
pub fn resolve_requirements(
    skills: Vec<OfferedSkill>,
    scope: &InstallScope,
    client: &SourceClient,
    warn: &mut dyn FnMut(&str),
) -> Result<Vec<OfferedSkill>, PackageError> {
    let chains = skills.iter().map(|one| vec![one.name.clone()]).collect();
    let mut all = Resolution { skills, chains, lock: scope.read_lock_file()?, scope };
    let mut open: VecDeque<OpenRequirement> =
        (0..all.skills.len()).flat_map(|index| all.list_open(index, warn)).collect();
    let sources = RecordedSources { scope, client };
    let mut count = 0;
    while let Some(next) = open.pop_front() {
        count += 1;
        if count > REQUIREMENTS_MAX {
            let message = format!("the skills have more than {REQUIREMENTS_MAX} requirements");
            return Err(PackageError::new(PackageErrorCode::TooMany, message));
        }
        if all.is_met(&next)? {
            continue;
        }
        let origin = all.skills[next.declared_by].origin.clone();
        let Some(mut found) = sources.load_sibling(&origin, &next.requirement, warn)? else {
            if let Some(installed) = all.lock.get(&next.requirement.name) {
                return Err(all.installed_conflict(&next, installed.version.as_deref()));
            }
            warn(&format!(
                "`{}` requires `{}`, which its source does not have; install it from elsewhere",
                all.skills[next.declared_by].name, next.requirement
            ));
            continue;
        };
        all.check_candidate(&found, &next)?;
        found.is_dependency = true;
        all.skills.push(found);
        all.chains.push([next.chain.as_slice(), std::slice::from_ref(&next.requirement.name)].concat());
        open.extend(all.list_open(all.skills.len() - 1, warn));
    }
    Ok(all.skills)
}

impl Resolution<'_> {
    fn list_open(&self, index: usize, warn: &mut dyn FnMut(&str)) -> Vec<OpenRequirement> {
        let (skill, _) = Skill::parse(self.skills[index].to_skill_tree());
        let chain = &self.chains[index];
        let open = |requirement| OpenRequirement { requirement, chain: chain.clone(), declared_by: index };
        list_requirements(&skill, warn).into_iter().map(open).collect()
    }

    /// Whether a chosen or an installed skill satisfies a requirement.
    fn is_met(&self, next: &OpenRequirement) -> Result<bool, PackageError> {
        let (name, range) = (&next.requirement.name, &next.requirement.range);
        if let Some(index) = self.skills.iter().position(|one| one.name == *name) {
            let version = declared_version(&self.skills[index]);
            if range.contains_text(version.as_deref()) {
                return Ok(true);
            }
            let shown = describe_version(version.as_deref());
            let message = format!(
                "{} requires `{}`, but {} takes `{name}` {shown}",
                show_chain(&next.chain),
                next.requirement,
                show_chain(&self.chains[index])
            );
            return Err(conflict(message));
        }
        let Some(installed) = self.lock.get(name) else { return Ok(false) };
        Ok(range.contains_text(installed.version.as_deref()))
    }

    /// Checks that a skill of a source satisfies the requirement, and those of the installed skills that require it.
    fn check_candidate(&self, found: &OfferedSkill, next: &OpenRequirement) -> Result<(), PackageError> {
        let version = declared_version(found);
        let name = &next.requirement.name;
        if !next.requirement.range.contains_text(version.as_deref()) {
            let shown = describe_version(version.as_deref());
            let message =
                format!("{} requires `{}`, but its source has {shown}", show_chain(&next.chain), next.requirement);
            return Err(conflict(message));
        }
        let Some(installed) = self.lock.get(name) else { return Ok(()) };
        if !installed.is_dependency && !installed.is_foreign {
            return Err(self.installed_conflict(next, installed.version.as_deref()));
        }
        for other in installed.required_by.iter().filter(|other| !self.skills.iter().any(|one| one.name == **other)) {
            let other_needs = self.installed_requirement(other, name);
            if other_needs.is_some_and(|needs| !needs.range.contains_text(version.as_deref())) {
                return Err(self.installed_conflict(next, installed.version.as_deref()));
            }
        }
        Ok(())
    }

    /// Returns what an installed skill requires of another one.
    fn installed_requirement(&self, from: &str, name: &str) -> Option<SkillRequirement> {
        let installed = self.lock.get(from)?;
        let files = self.scope.read_installed_files(from, &installed)?;
        let skill = OfferedSkill::new(from, files, installed.origin).ok()?;
        let (skill, _) = Skill::parse(skill.to_skill_tree());
        list_requirements(&skill, &mut |_| ()).into_iter().find(|one| one.name == name)
    }

    fn installed_conflict(&self, next: &OpenRequirement, version: Option<&str>) -> PackageError {
        let name = &next.requirement.name;
        let requirers = self.lock.get(name).map(|installed| installed.required_by).unwrap_or_default();
        let shown = describe_version(version);
        let why = match requirers.first() {
            Some(first) => {
                let needs = self.installed_requirement(first, name).map(|needs| format!(", which requires `{needs}`"));
                format!(" for `{first}`{}", needs.unwrap_or_default())
            }
            None => " because you asked for it".to_owned(),
        };
        let message = format!(
            "{} requires `{}`, but `{name}` {shown} is installed{why}",
            show_chain(&next.chain),
            next.requirement
        );
        conflict(message)
    }
}

fn declared_version(one: &OfferedSkill) -> Option<String> {
    let (skill, _) = Skill::parse(one.to_skill_tree());
    find_declared_version(&skill)
}

fn describe_version(version: Option<&str>) -> String {
    version.map_or_else(|| "without a version".to_owned(), |version| format!("{version:?}").replace('"', "`"))
}

fn show_chain(chain: &[String]) -> String {
    chain.iter().map(|name| format!("`{name}`")).collect::<Vec<String>>().join(" → ")
}

fn conflict(message: String) -> PackageError {
    PackageError::new(PackageErrorCode::VersionConflict, message).remedy(
        "one version of a skill is installed at a time: update the skill that requires the older one, or remove it",
    )
}
