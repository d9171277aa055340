//! Checks skills on disk: finds them below paths, reads them and their nested skills, and checks them on all cores.
//!
//! The terminal, the server and the dashboard use [`check_paths`] and [`check_entry`], so they report the same
//! findings: those of each skill, of its nested skills, and of the rules that compare all skills.
//! [`CheckSettings::resolve`] combines the caller's options with the effective `rep.yaml`. [`fix`] applies safe fixes.
//!
//! ```no_run
//! use rep_library::check::{CheckSettings, check_paths};
//!
//! let options = CheckSettings { folder: "/srv/site".into(), ..CheckSettings::default() }.resolve()?;
//! let checked = check_paths(&["/srv/site/skills".into()], &options, &|_| {})?;
//! println!("{} errors in {} skills", checked.report.count_findings().errors, checked.report.skills);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod baseline;
mod cache;
mod compact_report;
mod encoding;
pub mod fix;
mod path_settings;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::RwLock;
use rep_check::checklist::{SkillChecklistPoint, evaluate_checklist};
use rep_check::{
    CheckOptions, CheckReport, Finding, Level, PathPatterns, Profile, SkillChecker, SkillFacts, SkillReport, find_rule,
    nearest_rule_name,
};
use rep_model::suggestion::suggest_name_or;
use rep_model::{Fault, FaultKind, Skill, SkillTree, Span};

pub use self::baseline::{Baseline, BaselineError, BaselineScope};
pub use self::cache::CheckCacheSettings;
use self::cache::{CachedResult, CheckCache};
pub use self::compact_report::CompactReport;
use self::encoding::SkillResult;
use self::path_settings::PathSettings;
pub use self::path_settings::{PathMatcher, PatternError, options_for_path};
use crate::discovery::{self, SkillLocation};
use crate::folder_stamp::FolderStamp;
use crate::frontmatter_reader::read_frontmatter_tree;
use crate::open_files::OpenFiles;
use crate::parallel::{SkillProgress, for_each_skill};
use crate::settings::{self, SettingsError};
use crate::skill_reader::{self, LinkHandling, ReadExtent};
use crate::{CatalogEntry, LibraryError};

/// The caller's options for a check, in addition to the settings file.
#[derive(Clone, Debug, Default)]
pub struct CheckSettings {
    /// The settings file. Without one, every `rep.yaml` in `folder` or above it.
    pub file: Option<PathBuf>,
    /// The checked directory.
    pub folder: PathBuf,
    /// The profiles to check. If empty, the settings decide.
    pub profiles: Vec<Profile>,
    /// The only rules to run. If empty, all rules run.
    pub select: Vec<String>,
    /// Rules to skip, in addition to those that the settings ignore.
    pub ignore: Vec<String>,
    /// Levels of rules, which replace those of the settings; `None` disables a rule.
    pub levels: BTreeMap<String, Option<Level>>,
    /// Whether to apply the printed UASP schema literally, regardless of the settings.
    pub strict_schema: bool,
    /// Whether to check versions by the patterns printed in the specifications instead of by SemVer.
    pub seed_regex: bool,
    /// Patterns of paths that are not checked, relative to the working directory, in addition to those of the settings.
    pub exclude: Vec<String>,
    /// The working directory that `exclude` is relative to.
    pub working_folder: PathBuf,
}

/// The reason the options of a check are invalid.
#[derive(Debug, thiserror::Error)]
pub enum CheckSettingsError {
    /// The settings file is invalid.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The rule does not exist.
    #[error("unknown rule `{name}`")]
    UnknownRule {
        /// The name.
        name: String,
        /// The rule with the most similar name.
        nearest: Option<&'static str>,
    },
    /// A pattern is invalid.
    #[error(transparent)]
    Pattern(#[from] PatternError),
}

impl CheckSettingsError {
    /// Returns the stable code for programs.
    pub const fn code(&self) -> &'static str {
        match self {
            CheckSettingsError::Settings(error) => error.code(),
            CheckSettingsError::UnknownRule { .. } => "UNKNOWN_RULE",
            CheckSettingsError::Pattern(_) => "USAGE",
        }
    }

    /// Returns the remedy, if there is one.
    pub fn remedy(&self) -> Option<String> {
        match self {
            CheckSettingsError::Settings(error) => error.remedy().map(str::to_owned),
            CheckSettingsError::UnknownRule { nearest, .. } => {
                Some(suggest_name_or(*nearest, "run `rep explain` to see all rules"))
            }
            CheckSettingsError::Pattern(_) => Some(PatternError::REMEDY.to_owned()),
        }
    }
}

impl CheckSettings {
    /// Combines the options with the settings of `folder`.
    pub fn resolve(&self) -> Result<CheckOptions, CheckSettingsError> {
        self.combine(settings::load_check_options(self.file.as_deref(), &self.folder)?)
    }

    /// Combines the options with the settings of each path. Paths with the same settings are in the same group.
    pub fn resolve_each(&self, paths: &[PathBuf]) -> Result<Vec<CheckGroup>, CheckSettingsError> {
        if self.file.is_some() {
            return Ok(vec![CheckGroup { paths: paths.to_vec(), options: self.resolve()? }]);
        }
        let mut by_files: Vec<(Vec<PathBuf>, Vec<PathBuf>)> = Vec::new();
        for path in paths {
            let files = settings::find_settings_files(path);
            match by_files.iter_mut().find(|(known, _)| *known == files) {
                Some((_, paths)) => paths.push(path.clone()),
                None => by_files.push((files, vec![path.clone()])),
            }
        }
        let group = |(files, paths): (Vec<PathBuf>, Vec<PathBuf>)| {
            Ok(CheckGroup { paths, options: self.combine(settings::read_check_options(&files)?)? })
        };
        by_files.into_iter().map(group).collect()
    }

    fn combine(&self, mut options: CheckOptions) -> Result<CheckOptions, CheckSettingsError> {
        if !self.profiles.is_empty() {
            options.profiles.clone_from(&self.profiles);
        }
        let named = self.select.iter().chain(&self.ignore).chain(self.levels.keys());
        if let Some(name) = named.into_iter().find(|name| find_rule(name).is_none()) {
            return Err(CheckSettingsError::UnknownRule { name: name.clone(), nearest: nearest_rule_name(name) });
        }
        if !self.exclude.is_empty() {
            let exclude = PathPatterns { folder: self.working_folder.clone(), patterns: self.exclude.clone() };
            PathMatcher::new(&exclude)?;
            options.exclude.push(exclude);
        }
        options.select.clone_from(&self.select);
        options.ignore.extend(self.ignore.iter().cloned());
        options.levels.extend(self.levels.iter().map(|(rule, level)| (rule.clone(), *level)));
        options.strict_schema |= self.strict_schema;
        options.seed_regex = self.seed_regex;
        Ok(options)
    }
}

/// Paths that are checked with the same options.
#[derive(Clone, Debug)]
pub struct CheckGroup {
    /// The paths.
    pub paths: Vec<PathBuf>,
    /// The options.
    pub options: CheckOptions,
}

/// The result of checking paths.
#[derive(Default)]
pub struct CheckedPaths {
    /// The findings of all skills.
    pub report: CheckReport,
    /// Notes about what the search skipped.
    pub notes: Vec<String>,
}

/// Checks every skill below the paths, their nested skills, and all of them together.
pub fn check_paths(
    paths: &[PathBuf],
    options: &CheckOptions,
    progress: &(dyn Fn(SkillProgress) + Sync),
) -> Result<CheckedPaths, CheckError> {
    let groups = [CheckGroup { paths: paths.to_vec(), options: options.clone() }];
    let (report, notes) = check_groups(&groups, None, progress)?;
    Ok(CheckedPaths { report: report.into_report(), notes })
}

/// Checks the paths of each group with its options. Rules that compare skills compare those of one group. With a cache,
/// only skills that changed are read. Returns the report and notes about what the search skipped.
pub fn check_groups(
    groups: &[CheckGroup],
    cache: Option<&CheckCacheSettings>,
    progress: &(dyn Fn(SkillProgress) + Sync),
) -> Result<(CompactReport, Vec<String>), CheckError> {
    let paths: Vec<PathBuf> = groups.iter().flat_map(|group| group.paths.iter().cloned()).collect();
    let cache = cache.map(|settings| CheckCache::open(settings, &paths));
    let (mut report, mut notes, mut to_cache) = (CompactReport::default(), Vec::new(), Vec::new());
    for group in groups {
        let checkers = CheckerSet::new(&group.options)?;
        let work = |found: &SkillLocation| checkers.check_location(found, cache.as_ref());
        let (checked, skipped) = for_each_skill(&group.paths, progress, work)?;
        notes.extend(skipped);
        let mut set = Vec::new();
        for result in checked.into_iter().flatten() {
            let number = report.add_result(result.bytes.into_boxed_slice());
            to_cache.extend(result.cached.map(|cached| (cached, number)));
            set.extend(result.skills.into_iter().map(|skill| (skill.found, skill.facts, skill.blocks, number)));
        }
        set.sort_by(|(one, ..), (two, ..)| one.cmp(two));
        set.dedup_by(|(one, ..), (two, ..)| one.path == two.path);
        report.skills += set.len();
        let mut facts = Vec::with_capacity(set.len());
        for (found, of_skill, blocks, number) in set {
            report.add_files(number, blocks);
            facts.push((found, of_skill));
        }
        report.add_findings(compare_skills(&facts, &group.options));
    }
    if let Some(cache) = cache {
        cache.save(to_cache.iter().map(|(row, number)| (row, report.result(*number))));
    }
    report.sort_files();
    Ok((report, notes))
}

/// The reason a check did not run.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// A path could not be searched.
    #[error(transparent)]
    Unreadable(#[from] LibraryError),
    /// A pattern of the settings is invalid.
    #[error(transparent)]
    Pattern(#[from] PatternError),
}

/// The checkers of one group: one for each combination of overrides that applies to a skill.
struct CheckerSet<'a> {
    options: &'a CheckOptions,
    paths: PathSettings,
    checkers: RwLock<BTreeMap<Vec<usize>, Arc<KeyedChecker>>>,
}

/// A checker, and a number for its options.
struct KeyedChecker {
    checker: SkillChecker,
    options_key: u64,
}

/// The result of checking a skill and its nested skills.
struct LocationResult {
    bytes: Vec<u8>,
    skills: Vec<encoding::EncodedSkill>,
    cached: Option<CachedResult>,
}

impl<'a> CheckerSet<'a> {
    fn new(options: &'a CheckOptions) -> Result<Self, PatternError> {
        Ok(Self { options, paths: PathSettings::new(options)?, checkers: RwLock::default() })
    }

    /// Returns the checker of a skill, or `None` if the skill is excluded.
    fn checker_for(&self, found: &SkillLocation) -> Option<Arc<KeyedChecker>> {
        let mut numbers = Vec::new();
        if !self.paths.is_empty() {
            let path = path_settings::absolute_path(&found.path);
            if self.paths.is_excluded(&path, !found.is_lone_file) {
                return None;
            }
            numbers = self.paths.applicable(&path, !found.is_lone_file);
        }
        if let Some(known) = self.checkers.read().get(&numbers) {
            return Some(Arc::clone(known));
        }
        let options = self.paths.apply(self.options, &numbers).into_owned();
        let options_key = cache::hash_options(&options);
        let checker = Arc::new(KeyedChecker { checker: SkillChecker::new(options), options_key });
        self.checkers.write().insert(numbers, Arc::clone(&checker));
        Some(checker)
    }

    /// Checks a skill and its nested skills, or takes the result from the cache. Returns `None` if it is excluded.
    fn check_location(&self, found: &SkillLocation, cache: Option<&CheckCache>) -> Option<LocationResult> {
        let checker = self.checker_for(found)?;
        let key = CheckCache::key(found, checker.options_key);
        if let Some(cache) = cache
            && let Some((bytes, stamp)) = cache.find(found, key)
            && let Some(skills) = encoding::decode_results(bytes)
        {
            return Some(LocationResult {
                bytes: bytes.to_vec(),
                skills,
                cached: cache.admit(found, key, Some(stamp)),
            });
        }
        let (reports, stamp) = self.check_fresh(found, &checker.checker);
        let bytes = encoding::encode_results(&reports);
        let skills = encoding::decode_results(&bytes).expect("what was encoded can be decoded");
        let cached = cache.and_then(|cache| cache.admit(found, key, stamp));
        Some(LocationResult { bytes, skills, cached })
    }

    /// Reads and checks a skill and its nested skills.
    fn check_fresh(&self, found: &SkillLocation, checker: &SkillChecker) -> (Vec<SkillResult>, Option<FolderStamp>) {
        let (skill, faults, stamp) = read_stamped_location(found, extent_for(checker));
        let inside = discovery::find_nested_skills(found, &skill.tree);
        let mut reports = vec![self.check_skill(found.clone(), &skill, faults, checker)];
        for found in inside {
            let Some(checker) = self.checker_for(&found) else { continue };
            let (skill, faults) = read_location(&found, extent_for(&checker.checker));
            reports.push(self.check_skill(found, &skill, faults, &checker.checker));
        }
        (reports, stamp)
    }

    fn check_skill(
        &self,
        found: SkillLocation,
        skill: &Skill,
        faults: Vec<Fault>,
        checker: &SkillChecker,
    ) -> SkillResult {
        let SkillReport { mut findings, facts } = checker.check_skill(skill, faults);
        if !self.paths.is_empty() {
            let folder = if found.is_lone_file { found.path.parent().unwrap_or(Path::new("")) } else { &found.path };
            let folder = path_settings::absolute_path(folder);
            findings.retain(|finding| {
                let file = &finding.place.file;
                file.is_empty() || !self.paths.is_excluded(&folder.join(file), false)
            });
        }
        (found, facts, findings)
    }
}

/// Checks a skill of a catalog and its nested skills. Reports the findings that [`check_paths`] reports for its
/// directory.
pub fn check_entry(entry: &CatalogEntry, options: &CheckOptions) -> CheckReport {
    let found = SkillLocation::from_entry(entry);
    // Patterns are validated when settings are read.
    let paths = PathSettings::new(options).unwrap_or_default();
    let checkers = CheckerSet { options, paths, checkers: RwLock::default() };
    let Some(checker) = checkers.checker_for(&found) else { return CheckReport::default() };
    let (mut reports, _) = checkers.check_fresh(&found, &checker.checker);
    reports.sort_by(|(one, ..), (two, ..)| one.cmp(two));
    reports.dedup_by(|(one, ..), (two, ..)| one.path == two.path);
    let mut report = CheckReport { skills: reports.len(), ..CheckReport::default() };
    let mut set = Vec::with_capacity(reports.len());
    for (found, facts, findings) in reports {
        report.findings.extend(findings);
        set.push((found, facts));
    }
    report.findings.extend(compare_skills(&set, options));
    report.sort_findings();
    report
}

/// The checklists of Universal 2.1, completed for a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillChecklist {
    /// The skill's path for display.
    pub shown: String,
    /// The items of the checklists.
    pub points: Vec<SkillChecklistPoint>,
}

/// Completes the checklists for every skill below the paths. Returns them in the order of the paths, with notes about
/// what the search skipped.
pub fn fill_checklists(paths: &[PathBuf]) -> Result<(Vec<SkillChecklist>, Vec<String>), LibraryError> {
    let (mut skills, notes) = for_each_skill(paths, &|_| {}, |found| {
        let (skill, faults) = read_location(found, ReadExtent::Folder);
        SkillChecklist { shown: found.shown.clone(), points: evaluate_checklist(&skill, &faults) }
    })?;
    skills.sort_by(|one, two| one.shown.cmp(&two.shown));
    Ok((skills, notes))
}

/// Runs the rules that compare skills, in the order of their locations.
pub fn compare_skills(set: &[(SkillLocation, SkillFacts)], options: &CheckOptions) -> Vec<Finding> {
    let neighbors = find_needed_neighbors(set);
    let facts: Vec<&SkillFacts> = set.iter().map(|(_, facts)| facts).collect();
    rep_check::check_skill_set(&facts, &neighbors, options)
}

/// The maximum number of entries of a directory that are looked at for the neighbors of a skill.
const NEIGHBORS_MAX: usize = 10_000;

/// Returns the names of the skills beside those whose dependencies are not checked with them. Directories are read
/// only if there is such a dependency.
fn find_needed_neighbors(set: &[(SkillLocation, SkillFacts)]) -> BTreeSet<String> {
    let checked: BTreeSet<&str> = set.iter().filter_map(|(_, facts)| Some(facts.name.as_ref()?.0.as_str())).collect();
    let is_open = |facts: &SkillFacts| facts.depends_on.iter().any(|(id, _)| !checked.contains(id.as_str()));
    let folders: BTreeSet<PathBuf> = set
        .iter()
        .filter(|(found, facts)| !found.is_lone_file && is_open(facts))
        .filter_map(|(found, _)| Some(found.path.canonicalize().ok()?.parent()?.to_owned()))
        .collect();
    if folders.is_empty() {
        return BTreeSet::new();
    }
    let checked_paths: BTreeSet<PathBuf> = set.iter().filter_map(|(found, _)| found.path.canonicalize().ok()).collect();
    let children = folders
        .iter()
        .flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten().take(NEIGHBORS_MAX))
        .map(|item| item.path());
    children.filter(|path| !checked_paths.contains(path)).filter_map(|path| read_skill_name(&path)).collect()
}

/// Returns the name of the skill in a directory, or `None` if the directory has none.
fn read_skill_name(folder: &Path) -> Option<String> {
    let tree = read_frontmatter_tree(folder, "", "SKILL.md")?;
    let (skill, _) = Skill::parse(tree);
    let name = skill.frontmatter().and_then(rep_model::Frontmatter::name);
    let stripped = name.map(|name| rep_model::names::strip_whitespace(name.value).to_owned());
    Some(stripped.unwrap_or_else(|| skill_reader::folder_name(folder)))
}

/// Returns how much of a skill a checker needs.
pub fn extent_for(checker: &SkillChecker) -> ReadExtent {
    if checker.needs_all_files() { ReadExtent::Everything } else { ReadExtent::Folder }
}

/// Reads and parses a skill with the files that are open in an editor. A directory that cannot be opened becomes a skill
/// with that fault.
pub fn read_open_skill(found: &SkillLocation, open: &OpenFiles, extent: ReadExtent) -> (Skill, Vec<Fault>) {
    parse_or_report(found, open.read_skill(found, extent))
}

/// Reads and parses a skill, with the stamp of its directory.
fn read_stamped_location(found: &SkillLocation, extent: ReadExtent) -> (Skill, Vec<Fault>, Option<FolderStamp>) {
    if found.is_lone_file {
        let (skill, faults) = read_location(found, extent);
        return (skill, faults, None);
    }
    let read = skill_reader::read_stamped_folder(&found.path, &found.shown, extent, LinkHandling::Followed);
    let (tree, stamp) = match read {
        Ok((tree, stamp)) => (Ok(tree), stamp),
        Err(error) => (Err(error), None),
    };
    let (skill, faults) = parse_or_report(found, tree);
    (skill, faults, stamp)
}

/// Reads and parses a skill. A directory that cannot be opened becomes a skill with that fault.
fn read_location(found: &SkillLocation, extent: ReadExtent) -> (Skill, Vec<Fault>) {
    parse_or_report(found, found.read(extent))
}

fn parse_or_report(found: &SkillLocation, read: Result<SkillTree, LibraryError>) -> (Skill, Vec<Fault>) {
    match read {
        Ok(tree) => Skill::parse(tree),
        Err(error) => {
            let tree = SkillTree {
                display_root: found.shown.clone(),
                folder: skill_reader::folder_name(&found.path),
                is_lone_file: true,
                ..SkillTree::default()
            };
            let (skill, mut faults) = Skill::parse(tree);
            let help = "make the directory readable";
            faults.push(Fault::new(FaultKind::FileUnreadable, "", Span::default(), error.to_string(), help));
            (skill, faults)
        }
    }
}
