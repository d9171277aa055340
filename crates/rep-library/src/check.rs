//! Checks skills on disk: finds them below paths, reads them with the skills inside them, and judges them on all cores.
//!
//! Terminal, server and dashboard check through [`check_paths`] and [`check_entry`], so that they report the same findings:
//! those of each skill, those of the skills nested in it, and those of the rules that look at all of them together.
//! [`CheckSettings::resolve`] combines what a caller asks for with the `rep.yaml` in force. [`fix`] changes what can be changed
//! safely.
//!
//! ```no_run
//! use rep_library::check::{CheckSettings, check_paths};
//!
//! let options = CheckSettings { folder: "/srv/site".into(), ..CheckSettings::default() }.resolve()?;
//! let checked = check_paths(&["/srv/site/skills".into()], &options, &|_| {})?;
//! println!("{} errors in {} skills", checked.report.summary().errors, checked.report.skills);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod fix;

use std::path::PathBuf;

use rep_check::checklist::{Point, checklist};
use rep_check::{Options, Profile, Report, Rulebook, SkillReport, nearest, rule};
use rep_model::{Fault, Skill, SkillTree, Span};

use crate::find::{self, Found};
use crate::parallel::{Progress, for_each_skill};
use crate::read::{self, Extent};
use crate::settings::{self, SettingsError};
use crate::{CatalogEntry, LibraryError};

/// What a caller wants to be checked, beside what the settings say.
#[derive(Clone, Debug, Default)]
pub struct CheckSettings {
    /// The settings file; without one, the nearest `rep.yaml` in `folder` and above it.
    pub file: Option<PathBuf>,
    /// The folder the check starts from.
    pub folder: PathBuf,
    /// The profiles to judge under; none leaves the choice to the settings.
    pub profiles: Vec<Profile>,
    /// Only these rules; none means all.
    pub select: Vec<String>,
    /// Not these rules, nor those the settings ignore.
    pub ignore: Vec<String>,
    /// Whether the printed UASP schema is taken literally, whatever the settings say.
    pub strict_schema: bool,
    /// Whether versions are judged by the patterns the specifications print instead of by SemVer itself.
    pub seed_regex: bool,
}

/// Why the options of a check cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CheckSettingsError {
    /// The settings file cannot be used.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// A rule was named that does not exist.
    #[error("there is no rule `{name}`")]
    UnknownRule {
        /// The name.
        name: String,
        /// The rule whose name is most like it.
        nearest: Option<&'static str>,
    },
}

impl CheckSettings {
    /// Combines what is wanted with the settings file.
    pub fn resolve(&self) -> Result<Options, CheckSettingsError> {
        let mut options = settings::load(self.file.as_deref(), &self.folder)?;
        if !self.profiles.is_empty() {
            options.profiles.clone_from(&self.profiles);
        }
        if let Some(name) = self.select.iter().chain(&self.ignore).find(|name| rule(name).is_none()) {
            return Err(CheckSettingsError::UnknownRule { name: name.clone(), nearest: nearest(name) });
        }
        options.select.clone_from(&self.select);
        options.ignore.extend(self.ignore.iter().cloned());
        options.strict_schema |= self.strict_schema;
        options.seed_regex = self.seed_regex;
        Ok(options)
    }
}

/// What a check of paths gave.
#[derive(Default)]
pub struct CheckedPaths {
    /// The findings of all skills.
    pub report: Report,
    /// What was left out of the search, and why.
    pub notes: Vec<String>,
}

/// Checks every skill below the paths, the skills nested in them, and all of them together.
pub fn check_paths(
    paths: &[PathBuf],
    options: &Options,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<CheckedPaths, LibraryError> {
    let rulebook = Rulebook::new(options.clone());
    let (checked, notes) = for_each_skill(paths, progress, |found| check_found(found, &rulebook))?;
    Ok(CheckedPaths { report: combine(checked.into_iter().flatten().collect(), options), notes })
}

/// Checks one skill of a catalog, with the skills nested in it: the findings that [`check_paths`] gives for its folder.
pub fn check_entry(entry: &CatalogEntry, options: &Options) -> Report {
    combine(check_found(&Found::from_entry(entry), &Rulebook::new(options.clone())), options)
}

/// The checklists of Universal 2.1, filled in for one skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillChecklist {
    /// The skill's path as the user knows it.
    pub shown: String,
    /// The points of the checklists.
    pub points: Vec<Point>,
}

/// Fills in the checklists for every skill below the paths. Returns them in order of the paths, and what the search left out.
pub fn fill_checklists(paths: &[PathBuf]) -> Result<(Vec<SkillChecklist>, Vec<String>), LibraryError> {
    let (mut skills, notes) = for_each_skill(paths, &|_| {}, |found| {
        let (skill, faults) = parse(found);
        SkillChecklist { shown: found.shown.clone(), points: checklist(&skill, &faults) }
    })?;
    skills.sort_by(|one, two| one.shown.cmp(&two.shown));
    Ok((skills, notes))
}

/// Checks a skill and the skills inside it.
fn check_found(found: &Found, rulebook: &Rulebook) -> Vec<(Found, SkillReport)> {
    let (skill, faults) = parse(found);
    let inside = find::nested(found, &skill.tree);
    let mut reports = vec![(found.clone(), rulebook.check(&skill, faults))];
    for found in inside {
        let (skill, faults) = parse(&found);
        reports.push((found, rulebook.check(&skill, faults)));
    }
    reports
}

/// One report on many skills, with what the rules over sets find.
fn combine(mut reports: Vec<(Found, SkillReport)>, options: &Options) -> Report {
    reports.sort_by(|(one, _), (two, _)| one.cmp(two));
    reports.dedup_by(|(one, _), (two, _)| one.path == two.path);
    let mut report = Report { skills: reports.len(), ..Report::default() };
    let mut facts = Vec::with_capacity(reports.len());
    for (_, skill) in reports {
        report.findings.extend(skill.findings);
        facts.push(skill.facts);
    }
    report.findings.extend(rep_check::check_set(&facts, options));
    report.sort();
    report
}

/// Reads and parses a skill. A folder that cannot be opened is a skill with that fault.
fn parse(found: &Found) -> (Skill, Vec<Fault>) {
    match found.read(Extent::Folder) {
        Ok(tree) => Skill::parse(tree),
        Err(error) => {
            let tree = SkillTree {
                shown: found.shown.clone(),
                folder: read::folder_name(&found.path),
                is_lone_file: true,
                ..SkillTree::default()
            };
            let (skill, mut faults) = Skill::parse(tree);
            let help = "make the folder readable";
            faults.push(Fault::new(rep_model::FaultKind::FileUnreadable, "", Span::default(), error.to_string(), help));
            (skill, faults)
        }
    }
}
