//! Scans skills on disk: what each one does, and what the rules of the profile `security` report about it.
//!
//! The user's settings count here; what a skill says about itself does not, so allow comments are ignored. A nested skill
//! is part of the skill around it.

use std::path::PathBuf;

use rep_check::{CheckOptions, Finding, FindingLocation, Level, Profile, SkillChecker};
use rep_scan::{Behaviour, Capabilities};

use crate::LibraryError;
use crate::check::{CheckGroup, read_open_skill};
use crate::discovery::SkillLocation;
use crate::open_files::OpenFiles;
use crate::parallel::{SkillProgress, for_each_skill};

/// What follows from the levels of the findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ScanVerdict {
    /// Nothing but information.
    Clear,
    /// There is a warning.
    Review,
    /// There is an error.
    Block,
}

impl ScanVerdict {
    /// Returns the name used in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Clear => "clear",
            Self::Review => "review",
            Self::Block => "block",
        }
    }
}

/// A behaviour and its place.
#[derive(Clone, Debug)]
pub struct LocatedBehaviour {
    /// What the skill does.
    pub behaviour: Behaviour,
    /// Where.
    pub place: FindingLocation,
}

/// A scanned skill.
#[derive(Clone)]
pub struct ScannedSkill {
    /// The name that it declares, or else that of its directory.
    pub name: String,
    /// The path for display.
    pub shown: String,
    /// What it does, sorted by file and place.
    pub behaviours: Vec<LocatedBehaviour>,
    /// The findings, sorted by file and place.
    pub findings: Vec<Finding>,
}

impl ScannedSkill {
    /// Returns what follows from the levels of the findings.
    pub fn verdict(&self) -> ScanVerdict {
        match self.findings.iter().map(|finding| finding.level).max() {
            Some(Level::Error) => ScanVerdict::Block,
            Some(Level::Warning) => ScanVerdict::Review,
            Some(Level::Info) | None => ScanVerdict::Clear,
        }
    }

    /// Returns what the skill needs.
    pub fn capabilities(&self) -> Capabilities {
        Capabilities::from_behaviours(self.behaviours.iter().map(|located| &located.behaviour))
    }
}

/// The result of a scan.
#[derive(Clone, Default)]
pub struct ScannedPaths {
    /// The skills, sorted by path.
    pub skills: Vec<ScannedSkill>,
    /// Notes about what the search skipped.
    pub notes: Vec<String>,
}

/// Scans the skills below the paths of each group with its options.
pub fn scan_groups(
    groups: &[CheckGroup],
    progress: &(dyn Fn(SkillProgress) + Sync),
) -> Result<ScannedPaths, LibraryError> {
    let mut all = ScannedPaths::default();
    for group in groups {
        let scanned = scan_paths(&group.paths, &group.options, progress)?;
        all.skills.extend(scanned.skills);
        all.notes.extend(scanned.notes);
    }
    Ok(all)
}

/// Scans the skills below the paths.
pub fn scan_paths(
    paths: &[PathBuf],
    options: &CheckOptions,
    progress: &(dyn Fn(SkillProgress) + Sync),
) -> Result<ScannedPaths, LibraryError> {
    let options = CheckOptions { profiles: vec![Profile::Security], ignores_allow_comments: true, ..options.clone() };
    let checker = SkillChecker::new(options);
    let (mut scanned, notes) =
        for_each_skill(paths, progress, |found| (found.clone(), scan_location(found, &checker)))?;
    scanned.sort_by(|(one, _), (two, _)| one.cmp(two));
    scanned.dedup_by(|(one, _), (two, _)| one.path == two.path);
    Ok(ScannedPaths { skills: scanned.into_iter().map(|(_, skill)| skill).collect(), notes })
}

fn scan_location(found: &SkillLocation, checker: &SkillChecker) -> ScannedSkill {
    let (skill, faults) = read_open_skill(found, &OpenFiles::default());
    let (scan, findings) = checker.scan_skill(&skill, faults);
    let locate = |behaviour: Behaviour| LocatedBehaviour {
        place: FindingLocation::from_span(&skill, &behaviour.file, behaviour.span),
        behaviour,
    };
    ScannedSkill {
        name: skill.name().unwrap_or(&skill.tree.folder).to_owned(),
        shown: found.shown.clone(),
        behaviours: scan.behaviours.into_iter().map(locate).collect(),
        findings,
    }
}
