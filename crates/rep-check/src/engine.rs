//! Runs the rules over a skill and decides levels. The rules find; this file judges how bad it is.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::RwLock;
use rep_model::{Edit, Fault, Manifest, Skill, Span};

use crate::profile::{ALL, NOT_UASP, Profile, ProfileSet};
use crate::report::{Facts, Finding, Place, SetFindings, SkillReport, sort};
use crate::rule::{Check, Level, Rule};
use crate::rules::{RULES, rule_for_fault};
use crate::{allow, shape};

/// What to check, and how.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The profiles that were asked for; none means: choose by the file, and add `security`.
    pub profiles: Vec<Profile>,
    /// Only these rules; none means all.
    pub select: Vec<String>,
    /// Not these rules.
    pub ignore: Vec<String>,
    /// Levels the settings give to rules; `None` switches one off.
    pub levels: BTreeMap<String, Option<Level>>,
    /// Whether the printed UASP schema is taken literally.
    pub strict_schema: bool,
    /// Whether versions are judged by the patterns the specifications print instead of by SemVer itself.
    pub seed_regex: bool,
    /// Whether silences written in the skill count for nothing, because its author is the one who is judged.
    pub ignores_silences: bool,
}

/// Profiles in force for one skill, and whether somebody named them.
struct Active {
    profiles: Vec<Profile>,
    is_asked: bool,
}

impl Active {
    fn of(skill: &Skill, options: &Options) -> Self {
        if options.profiles.is_empty() {
            Self { profiles: choose(skill), is_asked: false }
        } else {
            Self { profiles: options.profiles.clone(), is_asked: true }
        }
    }

    fn level(&self, rule: &Rule, only: ProfileSet) -> Option<Level> {
        let wanted = self.profiles.iter().filter(|profile| only.contains(**profile));
        let level = wanted.filter_map(|profile| rule.levels.of(*profile)).max()?;
        Some(if self.is_asked { level } else { rule.levels.unasked.unwrap_or(level) })
    }
}

/// The profiles a skill shows by itself that it wants to be judged under.
fn choose(skill: &Skill) -> Vec<Profile> {
    let mut profiles = dialects(skill);
    profiles.push(Profile::Security);
    profiles
}

/// The dialects a skill shows itself to be written in.
pub fn dialects(skill: &Skill) -> Vec<Profile> {
    let mut profiles = Vec::new();
    let has = |field: &str| skill.front().is_some_and(|front| front.field(field).is_some());
    if has("spec_version") {
        profiles.push(Profile::Universal);
    }
    if has(rep_model::frontmatter::PERSONAL_MCP) {
        profiles.push(Profile::Pmcp);
    }
    if !skill.uasp.is_empty() {
        profiles.push(Profile::Uasp);
    }
    if profiles.is_empty() || (skill.manifest.is_some() && profiles == [Profile::Uasp]) {
        profiles.push(Profile::AgentSkills);
    }
    profiles
}

/// A finding on its way: the rule has said what and where, the level is still open.
pub struct Draft {
    file: String,
    span: Span,
    message: String,
    help: String,
    at: Option<String>,
    edit: Option<Edit>,
    only: ProfileSet,
    is_concealed: bool,
}

impl Draft {
    /// Says what to do.
    pub fn help(&mut self, help: impl Into<String>) -> &mut Self {
        self.help = help.into();
        self
    }

    /// Names the data path it is about.
    pub fn path(&mut self, path: impl Into<String>) -> &mut Self {
        self.at = Some(path.into());
        self
    }

    /// Offers an edit that cannot change the meaning.
    pub fn replace(&mut self, span: Span, replacement: impl Into<String>) -> &mut Self {
        self.edit = Some(Edit { span, replacement: replacement.into() });
        self
    }

    /// Keeps the text of the place out of the report, because it must not be read by others.
    pub fn conceal(&mut self) -> &mut Self {
        self.is_concealed = true;
        self
    }

    /// Restricts the finding to some of the rule's profiles.
    pub fn only(&mut self, profiles: ProfileSet) -> &mut Self {
        self.only = profiles;
        self
    }
}

/// Where a rule puts what it finds.
pub struct Findings<'a> {
    drafts: Vec<Draft>,
    strict_schema: bool,
    seed_regex: bool,
    shapes: &'a OnceCell<Vec<shape::Misfit>>,
}

impl Findings<'_> {
    /// Adds a finding about bytes of a file of the skill. The path is relative to the skill; empty means the whole skill.
    pub fn add(&mut self, file: &str, span: Span, message: impl Into<String>) -> &mut Draft {
        self.drafts.push(Draft {
            file: file.to_owned(),
            span,
            message: message.into(),
            help: String::new(),
            at: None,
            edit: None,
            only: ALL,
            is_concealed: false,
        });
        self.drafts.last_mut().expect("a draft was just pushed")
    }

    /// Whether the printed UASP schema is taken literally.
    pub fn strict_schema(&self) -> bool {
        self.strict_schema
    }

    /// Whether versions are judged by the printed patterns.
    pub fn seed_regex(&self) -> bool {
        self.seed_regex
    }

    /// Where the skill's data does not fit the shape its dialects demand; worked out once per skill.
    pub(crate) fn misfits(&self, skill: &Skill) -> Vec<shape::Misfit> {
        self.shapes.get_or_init(|| shape::misfits(skill, self.strict_schema)).clone()
    }
}

/// How a rule looks at one skill.
type Look = fn(&Skill, &mut Findings<'_>);

/// The rules that some profiles and options want.
struct Wanted {
    profiles: Vec<Profile>,
    /// Those that look at one skill, and how.
    rules: Vec<(&'static Rule, Look)>,
    /// Whether any looks at sets of skills.
    has_set_rules: bool,
}

impl Wanted {
    fn of(active: &Active, options: &Options) -> Self {
        let wanted: Vec<&'static Rule> =
            RULES.iter().copied().filter(|rule| is_wanted(rule, active, options)).collect();
        let of_skill = |rule: &&'static Rule| match rule.check {
            Check::Skill(look) => Some((*rule, look)),
            Check::Set(_) | Check::Parse => None,
        };
        Self {
            profiles: active.profiles.clone(),
            rules: wanted.iter().filter_map(of_skill).collect(),
            has_set_rules: wanted.iter().any(|rule| matches!(rule.check, Check::Set(_))),
        }
    }
}

/// What to check and how, with the rules that come of it. Skills show few sets of profiles, so that which rules each set wants is
/// worked out once and not once per skill.
pub struct Rulebook {
    options: Options,
    known: RwLock<Vec<Arc<Wanted>>>,
}

impl Rulebook {
    /// A rulebook for some options.
    pub fn new(options: Options) -> Self {
        Self { options, known: RwLock::default() }
    }

    /// Judges one skill. `faults` are what reading it noticed.
    pub fn check(&self, skill: &Skill, faults: Vec<Fault>) -> SkillReport {
        let active = Active::of(skill, &self.options);
        let wanted = self.wanted(&active);
        let findings = self.judged(skill, faults, &active, &wanted);
        SkillReport { findings, facts: facts(skill, active.profiles, wanted.has_set_rules) }
    }

    /// Judges one skill that is not going to be judged together with others.
    pub fn findings(&self, skill: &Skill, faults: Vec<Fault>) -> Vec<Finding> {
        let active = Active::of(skill, &self.options);
        self.judged(skill, faults, &active, &self.wanted(&active))
    }

    fn wanted(&self, active: &Active) -> Arc<Wanted> {
        let of = |known: &[Arc<Wanted>]| known.iter().find(|wanted| wanted.profiles == active.profiles).cloned();
        // What is behind the lock is only ever added to, so that whoever panicked left nothing half done.
        if let Some(wanted) = of(&self.known.read()) {
            return wanted;
        }
        let wanted = Arc::new(Wanted::of(active, &self.options));
        self.known.write().push(Arc::clone(&wanted));
        wanted
    }

    fn judged(&self, skill: &Skill, faults: Vec<Fault>, active: &Active, wanted: &Wanted) -> Vec<Finding> {
        let options = &self.options;
        let mut findings = Vec::new();
        for fault in faults {
            let rule = rule_for_fault(fault.kind);
            let only = profiles_of_file(&fault.file);
            let draft = Draft {
                file: fault.file,
                span: fault.span,
                message: fault.message,
                help: fault.help,
                at: None,
                edit: fault.edit,
                only,
                is_concealed: false,
            };
            findings.extend(judge(skill, rule, draft, active, options));
        }
        let shapes = OnceCell::new();
        for (rule, look) in &wanted.rules {
            let mut found = Findings {
                drafts: Vec::new(),
                strict_schema: options.strict_schema,
                seed_regex: options.seed_regex,
                shapes: &shapes,
            };
            look(skill, &mut found);
            cap(&mut found.drafts);
            findings.extend(found.drafts.into_iter().filter_map(|draft| judge(skill, rule, draft, active, options)));
        }
        if options.ignores_silences {
            sort(&mut findings);
            return findings;
        }
        let is_judged = |rule: &'static Rule| is_wanted(rule, active, options);
        allow::apply(skill, &mut findings, is_judged, |rule, file, span, message, help| {
            let draft = Draft { file, span, message, help, at: None, edit: None, only: ALL, is_concealed: false };
            judge(skill, rule, draft, active, options)
        });
        sort(&mut findings);
        findings
    }
}

/// Judges one skill. For more than one make a [`Rulebook`].
pub fn check(skill: &Skill, faults: Vec<Fault>, options: &Options) -> SkillReport {
    Rulebook::new(options.clone()).check(skill, faults)
}

/// The most findings of one rule in one skill. A hostile file must not fill the disk with its report.
const FINDINGS_MAX: usize = 200;

/// Keeps the first findings of a rule, and says how many more there are.
fn cap(drafts: &mut Vec<Draft>) {
    let more = drafts.len().saturating_sub(FINDINGS_MAX);
    drafts.truncate(FINDINGS_MAX);
    if let Some(last) = drafts.last_mut().filter(|_| more > 0) {
        last.help = format!("{} (and {more} more like this one)", last.help);
    }
}

/// Faults of a SKILL.md concern the Markdown profiles only, so that a UASP file beside it is judged apart.
/// What may do harm does so in either.
fn profiles_of_file(file: &str) -> ProfileSet {
    const UASP: ProfileSet = ProfileSet::new(&[Profile::Uasp, Profile::Security]);
    match file {
        "SKILL.md" | "skill.md" | "tools.json" => NOT_UASP,
        file if file.ends_with(rep_model::uasp::SUFFIX) => UASP,
        _ => ALL,
    }
}

fn is_wanted(rule: &Rule, active: &Active, options: &Options) -> bool {
    (options.select.is_empty() || options.select.iter().any(|name| name == rule.name))
        && !options.ignore.iter().any(|name| name == rule.name)
        && active.level(rule, ALL).is_some()
}

fn judge(skill: &Skill, rule: &'static Rule, draft: Draft, active: &Active, options: &Options) -> Option<Finding> {
    if !is_wanted(rule, active, options) {
        return None;
    }
    let by_profile = active.level(rule, draft.only)?;
    let level = match options.levels.get(rule.name) {
        Some(None) => return None,
        Some(Some(level)) => *level,
        None => by_profile,
    };
    let is_frozen = |manifest: &Manifest| manifest.file == draft.file && (manifest.is_lossy || manifest.is_guessed);
    let is_frozen = skill.manifest.as_ref().is_some_and(is_frozen);
    let mut place = Place::of(skill, &draft.file, draft.span);
    if draft.is_concealed {
        place.excerpt.clear();
    }
    Some(Finding {
        rule,
        level,
        message: draft.message,
        place,
        at: draft.at,
        help: draft.help,
        edit: draft.edit.filter(|_| !is_frozen),
    })
}

/// What sets are judged by. Places are worked out only where some rule over sets may point at them.
fn facts(skill: &Skill, profiles: Vec<Profile>, is_placed: bool) -> Facts {
    let place = |file: &str, span: Span| {
        if is_placed { Place::of(skill, file, span) } else { Place::beginning(skill.tree.shown_path(file), file) }
    };
    let file = skill.manifest.as_ref().map_or("", |manifest| manifest.file);
    let front = skill.front();
    let of_front = front.and_then(rep_model::Frontmatter::name).map(|name| (file, name));
    let of_uasp = || skill.uasp.iter().find_map(|uasp| Some((uasp.file.as_str(), uasp.view()?.name()?)));
    let name = of_front.or_else(of_uasp);
    let strip = |text: rep_model::frontmatter::Text<'_>| rep_model::names::strip(text.value).to_owned();
    let depends_on = front.map(rep_model::Frontmatter::depends_on).unwrap_or_default();
    Facts {
        name: name.map(|(file, name)| (strip(name), place(file, name.span()))),
        place: place(file, Span::default()),
        depends_on: depends_on.into_iter().map(|id| (strip(id), place(file, id.span()))).collect(),
        has_manifest: skill.manifest.is_some(),
        profiles,
    }
}

/// Judges what only shows when skills are seen together.
pub fn check_set(facts: &[Facts], options: &Options) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut names = facts.iter().filter_map(|fact| Some(fact.name.as_ref()?.0.clone())).collect();
    for rule in RULES.iter().copied() {
        let Check::Set(look) = rule.check else { continue };
        let judged = |fact: &&Facts| {
            let active = Active { profiles: fact.profiles.clone(), is_asked: !options.profiles.is_empty() };
            is_wanted(rule, &active, options)
        };
        let concerned: Vec<Facts> = facts.iter().filter(judged).cloned().collect();
        if concerned.is_empty() {
            continue;
        }
        let mut profiles: Vec<Profile> = concerned.iter().flat_map(|fact| fact.profiles.clone()).collect();
        profiles.sort_unstable();
        profiles.dedup();
        let active = Active { profiles, is_asked: !options.profiles.is_empty() };
        let mut found = SetFindings { drafts: Vec::new(), names, skills: facts.len() };
        look(&concerned, &mut found);
        names = found.names;
        for (place, message, help, at) in found.drafts {
            let level = match options.levels.get(rule.name) {
                Some(None) => continue,
                Some(Some(level)) => Some(*level),
                None => active.level(rule, ALL),
            };
            findings.extend(level.map(|level| Finding { rule, level, message, place, at, help, edit: None }));
        }
    }
    sort(&mut findings);
    findings
}
