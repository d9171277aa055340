//! Runs the rules on a skill and decides the level of each finding.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::RwLock;
use rep_model::{Fault, Manifest, Skill, Span, TextEdit};

use crate::profile::{ALL, NOT_UASP, Profile, ProfileSet};
use crate::report::{Finding, FindingLocation, SetFindings, SkillFacts, SkillReport, sort_and_dedup};
use crate::rule::{Level, LintRule, RuleCheck};
use crate::rules::{RULES, rule_for_fault};
use crate::{allow_comments, value_schema};

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

    fn level(&self, rule: &LintRule, only: ProfileSet) -> Option<Level> {
        let wanted = self.profiles.iter().filter(|profile| only.contains(**profile));
        let level = wanted.filter_map(|profile| rule.levels.for_profile(*profile)).max()?;
        Some(if self.is_explicit { level } else { rule.levels.automatic.unwrap_or(level) })
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

/// A finding before its level is decided.
pub struct FindingDraft {
    file: String,
    span: Span,
    message: String,
    help: String,
    data_path: Option<String>,
    edit: Option<TextEdit>,
    profiles: ProfileSet,
    is_concealed: bool,
}

impl FindingDraft {
    /// Sets the help text.
    pub fn help(&mut self, help: impl Into<String>) -> &mut Self {
        self.help = help.into();
        self
    }

    /// Sets the data path.
    pub fn with_data_path(&mut self, path: impl Into<String>) -> &mut Self {
        self.data_path = Some(path.into());
        self
    }

    /// Adds an edit that does not change the meaning.
    pub fn with_replacement(&mut self, span: Span, replacement: impl Into<String>) -> &mut Self {
        self.edit = Some(TextEdit { span, replacement: replacement.into() });
        self
    }

    /// Omits the source text from the report, because others must not read it.
    pub fn hide_excerpt(&mut self) -> &mut Self {
        self.is_concealed = true;
        self
    }

    /// Restricts the finding to some of the rule's profiles.
    pub fn only_for_profiles(&mut self, profiles: ProfileSet) -> &mut Self {
        self.profiles = profiles;
        self
    }
}

/// Collects the findings of a rule.
pub struct Findings<'a> {
    drafts: Vec<FindingDraft>,
    strict_schema: bool,
    seed_regex: bool,
    violations: &'a OnceCell<Vec<value_schema::ValueViolation>>,
}

impl Findings<'_> {
    /// Adds a finding about a span of a file. The path is relative to the skill; an empty path means the whole skill.
    pub fn add(&mut self, file: &str, span: Span, message: impl Into<String>) -> &mut FindingDraft {
        self.drafts.push(FindingDraft {
            file: file.to_owned(),
            span,
            message: message.into(),
            help: String::new(),
            data_path: None,
            edit: None,
            profiles: ALL,
            is_concealed: false,
        });
        self.drafts.last_mut().expect("a draft was just pushed")
    }

    /// Whether the printed UASP schema is taken literally.
    pub fn is_strict_schema(&self) -> bool {
        self.strict_schema
    }

    /// Whether versions are checked with the printed patterns.
    pub fn wants_seed_regex(&self) -> bool {
        self.seed_regex
    }

    /// Returns the values that violate the schemas of the skill's dialects. Computed once per skill.
    pub(crate) fn find_value_violations(&self, skill: &Skill) -> Vec<value_schema::ValueViolation> {
        self.violations.get_or_init(|| value_schema::find_value_violations(skill, self.strict_schema)).clone()
    }
}

/// The check function of a rule for one skill.
type SkillCheckFn = fn(&Skill, &mut Findings<'_>);

/// The rules that apply to a set of profiles and options.
struct ActiveRules {
    profiles: Vec<Profile>,
    /// The rules for one skill, with their check functions.
    rules: Vec<(&'static LintRule, SkillCheckFn)>,
    /// Whether any rule checks sets of skills.
    has_set_rules: bool,
}

impl ActiveRules {
    fn from_profiles(active: &ActiveProfiles, options: &CheckOptions) -> Self {
        let wanted: Vec<&'static LintRule> =
            RULES.iter().copied().filter(|rule| is_rule_active(rule, active, options)).collect();
        let of_skill = |rule: &&'static LintRule| match rule.check {
            RuleCheck::Skill(look) => Some((*rule, look)),
            RuleCheck::Set(_) | RuleCheck::Parse => None,
        };
        Self {
            profiles: active.profiles.clone(),
            rules: wanted.iter().filter_map(of_skill).collect(),
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

    /// Checks one skill. `faults` are those that parsing found.
    pub fn check_skill(&self, skill: &Skill, faults: Vec<Fault>) -> SkillReport {
        let active = ActiveProfiles::for_skill(skill, &self.options);
        let wanted = self.cached_rules(&active);
        let findings = self.run_rules(skill, faults, &active, &wanted);
        SkillReport { findings, facts: collect_facts(skill, active.profiles, wanted.has_set_rules) }
    }

    /// Checks one skill that is not checked together with others.
    pub fn collect_findings(&self, skill: &Skill, faults: Vec<Fault>) -> Vec<Finding> {
        let active = ActiveProfiles::for_skill(skill, &self.options);
        self.run_rules(skill, faults, &active, &self.cached_rules(&active))
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
    ) -> Vec<Finding> {
        let options = &self.options;
        let mut findings = Vec::new();
        for fault in faults {
            let rule = rule_for_fault(fault.kind);
            let only = profiles_for_file(&fault.file);
            let draft = FindingDraft {
                file: fault.file,
                span: fault.span,
                message: fault.message,
                help: fault.help,
                data_path: None,
                edit: fault.edit,
                profiles: only,
                is_concealed: false,
            };
            findings.extend(assign_level(skill, rule, draft, active, options));
        }
        let shapes = OnceCell::new();
        for (rule, look) in &wanted.rules {
            let mut found = Findings {
                drafts: Vec::new(),
                strict_schema: options.strict_schema,
                seed_regex: options.seed_regex,
                violations: &shapes,
            };
            look(skill, &mut found);
            cap_drafts(&mut found.drafts);
            findings
                .extend(found.drafts.into_iter().filter_map(|draft| assign_level(skill, rule, draft, active, options)));
        }
        if options.ignores_allow_comments {
            sort_and_dedup(&mut findings);
            return findings;
        }
        let is_judged = |rule: &'static LintRule| is_rule_active(rule, active, options);
        allow_comments::apply_allow_comments(skill, &mut findings, is_judged, |rule, file, span, message, help| {
            let draft = FindingDraft {
                file,
                span,
                message,
                help,
                data_path: None,
                edit: None,
                profiles: ALL,
                is_concealed: false,
            };
            assign_level(skill, rule, draft, active, options)
        });
        sort_and_dedup(&mut findings);
        findings
    }
}

/// Checks one skill. To check several, use a [`SkillChecker`].
pub fn check_skill(skill: &Skill, faults: Vec<Fault>, options: &CheckOptions) -> SkillReport {
    SkillChecker::new(options.clone()).check_skill(skill, faults)
}

/// The maximum number of findings of one rule in one skill, so that a hostile file cannot produce a huge report.
const FINDINGS_MAX: usize = 200;

/// Keeps the first findings of a rule, and reports how many were dropped.
fn cap_drafts(drafts: &mut Vec<FindingDraft>) {
    let more = drafts.len().saturating_sub(FINDINGS_MAX);
    drafts.truncate(FINDINGS_MAX);
    if let Some(last) = drafts.last_mut().filter(|_| more > 0) {
        last.help = format!("{} (and {more} more like this one)", last.help);
    }
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
        && active.level(rule, ALL).is_some()
}

fn assign_level(
    skill: &Skill,
    rule: &'static LintRule,
    draft: FindingDraft,
    active: &ActiveProfiles,
    options: &CheckOptions,
) -> Option<Finding> {
    if !is_rule_active(rule, active, options) {
        return None;
    }
    let by_profile = active.level(rule, draft.profiles)?;
    let level = match options.levels.get(rule.name) {
        Some(None) => return None,
        Some(Some(level)) => *level,
        None => by_profile,
    };
    let is_frozen = |manifest: &Manifest| manifest.file == draft.file && (manifest.is_lossy || manifest.is_guessed);
    let is_frozen = skill.manifest.as_ref().is_some_and(is_frozen);
    let mut place = FindingLocation::from_span(skill, &draft.file, draft.span);
    if draft.is_concealed {
        place.excerpt.clear();
    }
    Some(Finding {
        rule,
        level,
        message: draft.message,
        place,
        data_path: draft.data_path,
        help: draft.help,
        edit: draft.edit.filter(|_| !is_frozen),
    })
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

/// Runs the rules that check several skills together.
pub fn check_skill_set(facts: &[SkillFacts], options: &CheckOptions) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut names = facts.iter().filter_map(|fact| Some(fact.name.as_ref()?.0.clone())).collect();
    for rule in RULES.iter().copied() {
        let RuleCheck::Set(look) = rule.check else { continue };
        let judged = |fact: &&SkillFacts| {
            let active = ActiveProfiles { profiles: fact.profiles.clone(), is_explicit: !options.profiles.is_empty() };
            is_rule_active(rule, &active, options)
        };
        let concerned: Vec<SkillFacts> = facts.iter().filter(judged).cloned().collect();
        if concerned.is_empty() {
            continue;
        }
        let mut profiles: Vec<Profile> = concerned.iter().flat_map(|fact| fact.profiles.clone()).collect();
        profiles.sort_unstable();
        profiles.dedup();
        let active = ActiveProfiles { profiles, is_explicit: !options.profiles.is_empty() };
        let mut found = SetFindings { drafts: Vec::new(), names, skill_count: facts.len() };
        look(&concerned, &mut found);
        names = found.names;
        for (place, message, help, at) in found.drafts {
            let level = match options.levels.get(rule.name) {
                Some(None) => continue,
                Some(Some(level)) => Some(*level),
                None => active.level(rule, ALL),
            };
            findings.extend(level.map(|level| Finding {
                rule,
                level,
                message,
                place,
                data_path: at,
                help,
                edit: None,
            }));
        }
    }
    sort_and_dedup(&mut findings);
    findings
}
