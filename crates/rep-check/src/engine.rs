//! Runs the rules on a skill and decides the level of each finding.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::RwLock;
use rep_model::{Fault, Skill, Span};
use rep_scan::SkillScan;

use crate::draft::{DetectedLevel, FindingDraft, Findings};
use crate::profile::{ALL, NOT_UASP, Profile, ProfileSet};
use crate::report::{Finding, FindingLocation, SetFindings, SkillFacts, SkillLocator, SkillReport, sort_and_dedup};
use crate::rule::{Level, LintRule, RuleCheck};
use crate::rules::{RULES, rule_for_fault};
use crate::{allow_comments, consequences, parse_fixes};

/// Options of a check.
#[derive(Clone, Debug, Default)]
pub struct CheckOptions {
    /// The selected profiles. If empty, they follow from the file, plus `security`.
    pub profiles: Vec<Profile>,
    /// The rules to run. If empty, all rules run.
    pub select: Vec<String>,
    /// The rules to skip.
    pub ignore: Vec<String>,
    /// Rule levels from the settings; `None` disables a rule.
    pub levels: BTreeMap<String, Option<Level>>,
    /// Whether the printed UASP schema is taken literally.
    pub strict_schema: bool,
    /// Whether versions are checked with the patterns printed in the specifications instead of SemVer.
    pub seed_regex: bool,
    /// Whether allow comments in the skill are ignored, because its author is not trusted.
    pub ignores_allow_comments: bool,
    /// The paths that are not checked. The caller, which knows paths, applies them.
    pub exclude: Vec<PathPatterns>,
    /// The settings of some paths, in the order in which the caller applies them.
    pub overrides: Vec<PathOverride>,
}

/// Patterns of paths, as in `.gitignore`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathPatterns {
    /// The absolute directory that they are relative to.
    pub folder: PathBuf,
    /// The patterns.
    pub patterns: Vec<String>,
}

/// Settings of the skills at some paths.
#[derive(Clone, Debug, Default)]
pub struct PathOverride {
    /// The paths.
    pub paths: PathPatterns,
    /// The selected profiles. If empty, those of the other settings.
    pub profiles: Vec<Profile>,
    /// Rules to skip, in addition to those of the other settings.
    pub ignore: Vec<String>,
    /// Rule levels, which replace those of the other settings; `None` disables a rule.
    pub levels: BTreeMap<String, Option<Level>>,
}

/// The profiles that apply to a skill, and whether the user selected them.
struct ActiveProfiles {
    profiles: Vec<Profile>,
    is_explicit: bool,
}

impl ActiveProfiles {
    fn for_skill(skill: &Skill, options: &CheckOptions) -> Self {
        if options.profiles.is_empty() {
            Self { profiles: choose_profiles(skill), is_explicit: false }
        } else {
            Self { profiles: options.profiles.clone(), is_explicit: true }
        }
    }

    fn level(&self, rule: &LintRule, only: ProfileSet, detected: DetectedLevel) -> Option<Level> {
        let wanted = self.profiles.iter().filter(|profile| only.contains(**profile));
        let level = wanted.filter_map(|profile| rule.levels.for_profile(*profile)).max()?;
        match detected {
            _ if self.is_explicit => Some(level),
            DetectedLevel::AsRule => Some(rule.levels.automatic.unwrap_or(level)),
            DetectedLevel::Level(level) => Some(level),
            DetectedLevel::Unreported => None,
        }
    }
}

/// Chooses the profiles for a skill from its content.
fn choose_profiles(skill: &Skill) -> Vec<Profile> {
    let mut profiles = detect_dialects(skill);
    profiles.push(Profile::Security);
    profiles
}

/// Detects the dialects that a skill is written in. A mapping in `compatibility` marks UAAPS, because every other
/// dialect requires text there.
pub fn detect_dialects(skill: &Skill) -> Vec<Profile> {
    let mut profiles = Vec::new();
    let front = skill.frontmatter();
    let has = |field: &str| front.is_some_and(|front| front.find_field(field).is_some());
    if has("spec_version") {
        profiles.push(Profile::Universal);
    }
    if has(rep_model::frontmatter::PERSONAL_MCP_FIELD) {
        profiles.push(Profile::Pmcp);
    }
    let has_dialect = !profiles.is_empty();
    if !skill.uasp.is_empty() {
        profiles.push(Profile::Uasp);
    }
    if !has_dialect && (profiles.is_empty() || skill.manifest.is_some()) {
        let compatibility = front.and_then(|front| front.get("compatibility"));
        let is_mapping = compatibility.is_some_and(|value| value.entries().is_some());
        profiles.push(if is_mapping { Profile::Aam } else { Profile::AgentSkills });
    }
    profiles
}

/// The check function of a rule for one skill.
type SkillCheckFn = fn(&Skill, &mut Findings<'_>);

/// The rules that apply to a set of profiles and options.
struct ActiveRules {
    profiles: Vec<Profile>,
    /// The rules for one skill, with their check functions.
    rules: Vec<(&'static LintRule, SkillCheckFn)>,
    /// The rules that need a scan.
    scan_rules: Vec<&'static LintRule>,
    /// Whether any rule checks sets of skills.
    has_set_rules: bool,
}

impl ActiveRules {
    fn from_profiles(active: &ActiveProfiles, options: &CheckOptions) -> Self {
        let wanted: Vec<&'static LintRule> =
            RULES.iter().copied().filter(|rule| is_rule_active(rule, active, options)).collect();
        let of_skill = |rule: &&'static LintRule| match rule.check {
            RuleCheck::Skill(look) => Some((*rule, look)),
            RuleCheck::Set(_) | RuleCheck::Scan(_) | RuleCheck::Declaration(_) | RuleCheck::Parse => None,
        };
        Self {
            profiles: active.profiles.clone(),
            rules: wanted.iter().filter_map(of_skill).collect(),
            scan_rules: wanted.iter().copied().filter(|rule| rule.check.needs_scan()).collect(),
            has_set_rules: wanted.iter().any(|rule| matches!(rule.check, RuleCheck::Set(_))),
        }
    }
}

/// Checks skills with the same options. Skills have few distinct sets of profiles, so the rules of each set are
/// computed once and cached.
pub struct SkillChecker {
    options: CheckOptions,
    rule_cache: RwLock<Vec<Arc<ActiveRules>>>,
}

impl SkillChecker {
    /// Creates a checker with the given options.
    pub fn new(options: CheckOptions) -> Self {
        Self { options, rule_cache: RwLock::default() }
    }

    /// Whether rules about scans run, which need every file of a skill.
    pub fn needs_all_files(&self) -> bool {
        self.options.profiles.contains(&Profile::Security)
    }

    /// Checks one skill. `faults` are those that parsing found.
    pub fn check_skill(&self, skill: &Skill, faults: Vec<Fault>) -> SkillReport {
        let active = ActiveProfiles::for_skill(skill, &self.options);
        let wanted = self.cached_rules(&active);
        let findings = self.run_rules(skill, faults, &active, &wanted, None);
        SkillReport { findings, facts: collect_facts(skill, active.profiles, wanted.has_set_rules) }
    }

    /// Checks one skill that is not checked together with others.
    pub fn collect_findings(&self, skill: &Skill, faults: Vec<Fault>) -> Vec<Finding> {
        let active = ActiveProfiles::for_skill(skill, &self.options);
        self.run_rules(skill, faults, &active, &self.cached_rules(&active), None)
    }

    /// Scans a skill, and checks it. Returns what it does beside the findings.
    pub fn scan_skill(&self, skill: &Skill, faults: Vec<Fault>) -> (SkillScan, Vec<Finding>) {
        let active = ActiveProfiles::for_skill(skill, &self.options);
        let scan = rep_scan::scan_skill(skill);
        let findings = self.run_rules(skill, faults, &active, &self.cached_rules(&active), Some(&scan));
        (scan, findings)
    }

    /// Collects the facts about a skill for checks of skill sets, without running its rules.
    pub fn collect_facts(&self, skill: &Skill) -> SkillFacts {
        let active = ActiveProfiles::for_skill(skill, &self.options);
        let has_set_rules = self.cached_rules(&active).has_set_rules;
        collect_facts(skill, active.profiles, has_set_rules)
    }

    fn cached_rules(&self, active: &ActiveProfiles) -> Arc<ActiveRules> {
        let of = |known: &[Arc<ActiveRules>]| known.iter().find(|wanted| wanted.profiles == active.profiles).cloned();
        // The cache is append-only, so a thread that panicked cannot leave it inconsistent.
        if let Some(wanted) = of(&self.rule_cache.read()) {
            return wanted;
        }
        let wanted = Arc::new(ActiveRules::from_profiles(active, &self.options));
        self.rule_cache.write().push(Arc::clone(&wanted));
        wanted
    }

    fn run_rules(
        &self,
        skill: &Skill,
        faults: Vec<Fault>,
        active: &ActiveProfiles,
        wanted: &ActiveRules,
        scan: Option<&SkillScan>,
    ) -> Vec<Finding> {
        let (options, locator) = (&self.options, SkillLocator::new(skill));
        let mut findings = Vec::new();
        for fault in faults {
            let rule = rule_for_fault(fault.kind);
            let only = profiles_for_file(&fault.file);
            let mut draft = FindingDraft::new(&fault.file, fault.span, fault.message);
            draft.help(fault.help).only_for_profiles(only);
            match fault.edit {
                Some(edit) => draft.with_replacement(edit.span, edit.replacement),
                None => draft.with_optional_fix(parse_fixes::suggest_fix(skill, fault.kind, &fault.file, fault.span)),
            };
            findings.extend(assign_level(&locator, rule, draft, active, options));
        }
        let shapes = OnceCell::new();
        for (rule, look) in &wanted.rules {
            let mut found = Findings::new(options.strict_schema, options.seed_regex, &shapes);
            look(skill, &mut found);
            let drafts = found.into_drafts();
            findings
                .extend(drafts.into_iter().filter_map(|draft| assign_level(&locator, rule, draft, active, options)));
        }
        findings.extend(run_scan_rules(skill, active, wanted, options, scan));
        if !options.ignores_allow_comments {
            let is_judged = |rule: &'static LintRule| is_rule_active(rule, active, options);
            allow_comments::apply_allow_comments(skill, &mut findings, is_judged, |rule, draft| {
                assign_level(&locator, rule, draft, active, options)
            });
        }
        consequences::drop_consequences(&mut findings);
        sort_and_dedup(&mut findings);
        findings
    }
}

/// Runs the rules about a scan, and scans the skill if nobody has.
fn run_scan_rules(
    skill: &Skill,
    active: &ActiveProfiles,
    wanted: &ActiveRules,
    options: &CheckOptions,
    scan: Option<&SkillScan>,
) -> Vec<Finding> {
    if wanted.scan_rules.is_empty() {
        return Vec::new();
    }
    let scanned;
    let scan = if let Some(scan) = scan {
        scan
    } else {
        scanned = rep_scan::scan_skill(skill);
        &scanned
    };
    let (shapes, locator) = (OnceCell::new(), SkillLocator::new(skill));
    let mut findings = Vec::new();
    for rule in &wanted.scan_rules {
        let mut found = Findings::new(options.strict_schema, options.seed_regex, &shapes);
        match rule.check {
            RuleCheck::Scan(look) => look(scan, &mut found),
            RuleCheck::Declaration(look) => look(skill, scan, &mut found),
            RuleCheck::Skill(_) | RuleCheck::Set(_) | RuleCheck::Parse => {}
        }
        let drafts = found.into_drafts();
        findings.extend(drafts.into_iter().filter_map(|draft| assign_level(&locator, rule, draft, active, options)));
    }
    findings
}

/// Checks one skill. To check several, use a [`SkillChecker`].
pub fn check_skill(skill: &Skill, faults: Vec<Fault>, options: &CheckOptions) -> SkillReport {
    SkillChecker::new(options.clone()).check_skill(skill, faults)
}

/// Returns the profiles that apply to a file. Faults in SKILL.md concern the Markdown profiles only, because a UASP
/// file next to it is checked separately. Security applies to both.
fn profiles_for_file(file: &str) -> ProfileSet {
    const UASP: ProfileSet = ProfileSet::new(&[Profile::Uasp, Profile::Security]);
    match file {
        "SKILL.md" | "skill.md" | "tools.json" => NOT_UASP,
        file if file.ends_with(rep_model::uasp::FILE_SUFFIX) => UASP,
        _ => ALL,
    }
}

fn is_rule_active(rule: &LintRule, active: &ActiveProfiles, options: &CheckOptions) -> bool {
    (options.select.is_empty() || options.select.iter().any(|name| name == rule.name))
        && !options.ignore.iter().any(|name| name == rule.name)
        && active.level(rule, ALL, DetectedLevel::AsRule).is_some()
        && (active.is_explicit || !rule.check.needs_scan())
}

fn assign_level(
    locator: &SkillLocator<'_>,
    rule: &'static LintRule,
    draft: FindingDraft,
    active: &ActiveProfiles,
    options: &CheckOptions,
) -> Option<Finding> {
    if !is_rule_active(rule, active, options) {
        return None;
    }
    let by_profile = active.level(rule, draft.profiles, draft.detected)?;
    let level = match options.levels.get(rule.name) {
        Some(None) => return None,
        Some(Some(level)) => *level,
        None => by_profile,
    };
    Some(draft.into_finding(locator, rule, level))
}

/// Collects the facts for checks of skill sets. Locations are computed only if a set rule is active.
fn collect_facts(skill: &Skill, profiles: Vec<Profile>, is_placed: bool) -> SkillFacts {
    let place = |file: &str, span: Span| {
        if is_placed {
            FindingLocation::from_span(skill, file, span)
        } else {
            FindingLocation::file_start(skill.tree.display_path(file), file)
        }
    };
    let file = skill.manifest.as_ref().map_or("", |manifest| manifest.file);
    let front = skill.frontmatter();
    let of_front = front.and_then(rep_model::Frontmatter::name).map(|name| (file, name));
    let of_uasp = || skill.uasp.iter().find_map(|uasp| Some((uasp.file.as_str(), uasp.view()?.name()?)));
    let name = of_front.or_else(of_uasp);
    let strip =
        |text: rep_model::frontmatter::ScalarText<'_>| rep_model::names::strip_whitespace(text.value).to_owned();
    let depends_on = front.map(rep_model::Frontmatter::depends_on).unwrap_or_default();
    SkillFacts {
        name: name.map(|(file, name)| (strip(name), place(file, name.span()))),
        place: place(file, Span::default()),
        depends_on: depends_on.into_iter().map(|id| (strip(id), place(file, id.span()))).collect(),
        has_manifest: skill.manifest.is_some(),
        profiles,
    }
}

/// Runs the rules that check several skills together. `neighbors` are the names of skills beside them that are not
/// checked.
pub fn check_skill_set(facts: &[&SkillFacts], neighbors: &BTreeSet<String>, options: &CheckOptions) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut names: BTreeSet<String> = facts.iter().filter_map(|fact| Some(fact.name.as_ref()?.0.clone())).collect();
    names.extend(neighbors.iter().cloned());
    let skill_count = facts.len() + neighbors.len();
    let is_explicit = !options.profiles.is_empty();
    // Many skills have the same profiles.
    let mut profile_sets: Vec<&[Profile]> = facts.iter().map(|fact| fact.profiles.as_slice()).collect();
    profile_sets.sort_unstable();
    profile_sets.dedup();
    for rule in RULES.iter().copied() {
        let RuleCheck::Set(look) = rule.check else { continue };
        let is_judged = |profiles: &[Profile]| {
            let active = ActiveProfiles { profiles: profiles.to_vec(), is_explicit };
            is_rule_active(rule, &active, options)
        };
        let judged: Vec<&[Profile]> = profile_sets.iter().copied().filter(|profiles| is_judged(profiles)).collect();
        let is_concerned = |fact: &&SkillFacts| judged.contains(&fact.profiles.as_slice());
        let concerned: Vec<&SkillFacts> = facts.iter().copied().filter(is_concerned).collect();
        if concerned.is_empty() {
            continue;
        }
        let mut profiles = judged.concat();
        profiles.sort_unstable();
        profiles.dedup();
        let active = ActiveProfiles { profiles, is_explicit };
        let mut found = SetFindings { drafts: Vec::new(), names, skill_count };
        look(&concerned, &mut found);
        names = found.names;
        for draft in found.drafts {
            let level = match options.levels.get(rule.name) {
                Some(None) => continue,
                Some(Some(level)) => Some(*level),
                None => active.level(rule, ALL, DetectedLevel::AsRule),
            };
            findings.extend(level.map(|level| draft.into_finding(rule, level)));
        }
    }
    sort_and_dedup(&mut findings);
    findings
}
