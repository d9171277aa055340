//! The types that declare a rule.

use rep_model::Skill;
use rep_scan::SkillScan;

use crate::draft::Findings;
use crate::report::{SetFindings, SkillFacts};
use crate::{Profile, ProfileSet};

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Advice.
    Info,
    /// A problem on some hosts.
    Warning,
    /// A violation of the profile.
    Error,
}

impl Level {
    /// Returns the name used in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Level::Info => "info",
            Level::Warning => "warning",
            Level::Error => "error",
        }
    }

    /// Returns the level with the given name.
    pub fn from_name(name: &str) -> Option<Level> {
        [Level::Info, Level::Warning, Level::Error].into_iter().find(|level| level.name() == name)
    }
}

/// The profiles that a rule applies to, and its level under each.
#[derive(Clone, Copy, Debug)]
pub struct RuleLevels {
    /// The profiles under which it is an error.
    pub error: ProfileSet,
    /// The profiles under which it is a warning.
    pub warning: ProfileSet,
    /// The profiles under which it is advice.
    pub info: ProfileSet,
    /// The level if the profile was detected from the file rather than selected by the user.
    pub automatic: Option<Level>,
}

impl RuleLevels {
    /// No profiles; a base for struct updates.
    pub const NONE: RuleLevels =
        RuleLevels { error: ProfileSet::EMPTY, warning: ProfileSet::EMPTY, info: ProfileSet::EMPTY, automatic: None };

    /// Returns the level under a selected profile.
    pub fn for_profile(&self, profile: Profile) -> Option<Level> {
        let sets = [(Level::Error, self.error), (Level::Warning, self.warning), (Level::Info, self.info)];
        sets.into_iter().find(|(_, profiles)| profiles.contains(profile)).map(|(level, _)| level)
    }
}

/// The source of a rule. Every rule has at least one.
#[derive(Clone, Copy, Debug)]
pub struct RuleCitation {
    /// The document.
    pub source: &'static str,
    /// The section or passage in the document.
    pub place: &'static str,
}

impl RuleCitation {
    /// Cites the agentskills.io specification.
    pub const fn agentskills(place: &'static str) -> Self {
        Self { source: "agentskills.io specification", place }
    }

    /// Cites the agentskills.io client guide.
    pub const fn client_guide(place: &'static str) -> Self {
        Self { source: "agentskills.io client guide", place }
    }

    /// Cites the behaviour of the reference tool.
    pub const fn reference_tool(place: &'static str) -> Self {
        Self { source: "skills-ref 0.1.0", place }
    }

    /// Cites Universal Agent Skill 2.1.
    pub const fn universal(place: &'static str) -> Self {
        Self { source: "Universal Agent Skill 2.1", place }
    }

    /// Cites the UAAPS/AAM chapter on skills.
    pub const fn aam(place: &'static str) -> Self {
        Self { source: "UAAPS chapter 4, Skills", place }
    }

    /// Cites UASP 1.0.0-draft.
    pub const fn uasp(place: &'static str) -> Self {
        Self { source: "UASP 1.0.0-draft", place }
    }

    /// Cites the x-personal-mcp contract.
    pub const fn pmcp(place: &'static str) -> Self {
        Self { source: "x-personal-mcp contract", place }
    }

    /// Cites a fact about a host from the host table.
    pub const fn host_table(place: &'static str) -> Self {
        Self { source: "host table", place }
    }

    /// Cites the YAML specification.
    pub const fn yaml(place: &'static str) -> Self {
        Self { source: "YAML 1.2.2", place }
    }

    /// Cites a measurement of public skills.
    pub const fn public_survey(place: &'static str) -> Self {
        Self { source: "survey of public skills, 2026-08", place }
    }

    /// Cites a risk of the OWASP Agentic Skills Top 10.
    pub const fn owasp_skills(place: &'static str) -> Self {
        Self { source: "OWASP Agentic Skills Top 10", place }
    }

    /// Cites a tactic of MITRE ATLAS.
    pub const fn atlas(place: &'static str) -> Self {
        Self { source: "MITRE ATLAS", place }
    }

    /// Cites this project's own command line: allow comments, settings and limits.
    pub const fn own_project(place: &'static str) -> Self {
        Self { source: "Repertoire", place }
    }
}

impl RuleCitation {
    /// Returns the public address of the document, if it has one.
    fn address(&self) -> Option<&'static str> {
        match self.source {
            "agentskills.io specification" => Some("https://agentskills.io/specification"),
            "YAML 1.2.2" => Some("https://yaml.org/spec/1.2.2/"),
            _ => None,
        }
    }
}

/// How a rule detects its fault.
#[derive(Clone, Copy)]
pub enum RuleCheck {
    /// Checks one skill.
    Skill(fn(&Skill, &mut Findings<'_>)),
    /// Reports what a scan of the skill's code found. Runs only if the user selected the profile, because a scan takes
    /// longer than all other rules together.
    Scan(fn(&SkillScan, &mut Findings<'_>)),
    /// Compares what a scan found with what the skill declares. Runs when rules about scans do.
    Declaration(fn(&Skill, &SkillScan, &mut Findings<'_>)),
    /// Checks several skills together.
    Set(fn(&[&SkillFacts], &mut SetFindings)),
    /// The parser detects the fault; the rule only declares it.
    Parse,
}

/// A rule: its name, levels, sources, page and code.
pub struct LintRule {
    /// The name, which states the defect and reads well after "allow".
    pub name: &'static str,
    /// A one-line description of the defect.
    pub summary: &'static str,
    /// The release that added the rule.
    pub since: &'static str,
    /// Its level under each profile.
    pub levels: RuleLevels,
    /// The sources of the rule.
    pub citations: &'static [RuleCitation],
    /// The ids of the requirements that it checks.
    pub requirements: &'static [&'static str],
    /// Its page, which is also its test.
    pub page: &'static str,
    /// The check itself.
    pub check: RuleCheck,
}

impl RuleCheck {
    /// Whether the rule needs a scan of the skill's code.
    pub const fn needs_scan(&self) -> bool {
        matches!(self, RuleCheck::Scan(_) | RuleCheck::Declaration(_))
    }
}

impl LintRule {
    /// Returns an absolute URI for the rule: the public document that it follows, or a name that only identifies it.
    pub fn help_uri(&self) -> String {
        let address = self.citations.iter().find_map(RuleCitation::address);
        address.map_or_else(|| format!("urn:repertoire:rule:{}", self.name), str::to_owned)
    }
}
