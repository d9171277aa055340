//! What a rule is.

use rep_model::Skill;

use crate::engine::Findings;
use crate::report::{Facts, SetFindings};
use crate::{Profile, ProfileSet};

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Advice.
    Info,
    /// It will hurt on some host.
    Warning,
    /// The profile forbids it.
    Error,
}

impl Level {
    /// The word in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Level::Info => "info",
            Level::Warning => "warning",
            Level::Error => "error",
        }
    }

    /// The level of a word.
    pub fn named(name: &str) -> Option<Level> {
        [Level::Info, Level::Warning, Level::Error].into_iter().find(|level| level.name() == name)
    }
}

/// Where a rule applies, and how hard.
#[derive(Clone, Copy, Debug)]
pub struct Levels {
    /// The profiles that forbid it.
    pub error: ProfileSet,
    /// The profiles that warn of it.
    pub warning: ProfileSet,
    /// The profiles that advise against it.
    pub info: ProfileSet,
    /// The level where nobody named a profile and one was chosen by looking at the file.
    pub unasked: Option<Level>,
}

impl Levels {
    /// Applies nowhere; a base for the others.
    pub const NONE: Levels =
        Levels { error: ProfileSet::EMPTY, warning: ProfileSet::EMPTY, info: ProfileSet::EMPTY, unasked: None };

    /// The level under a profile that was asked for.
    pub fn of(&self, profile: Profile) -> Option<Level> {
        let sets = [(Level::Error, self.error), (Level::Warning, self.warning), (Level::Info, self.info)];
        sets.into_iter().find(|(_, profiles)| profiles.contains(profile)).map(|(level, _)| level)
    }
}

/// Where a rule comes from. A rule without an origin is not written.
#[derive(Clone, Copy, Debug)]
pub struct Cite {
    /// The document.
    pub source: &'static str,
    /// The place in it.
    pub place: &'static str,
}

impl Cite {
    /// The agentskills.io specification.
    pub const fn agentskills(place: &'static str) -> Self {
        Self { source: "agentskills.io specification", place }
    }

    /// The agentskills.io guide for clients.
    pub const fn client_guide(place: &'static str) -> Self {
        Self { source: "agentskills.io client guide", place }
    }

    /// The behaviour of the reference tool.
    pub const fn reference(place: &'static str) -> Self {
        Self { source: "skills-ref 0.1.0", place }
    }

    /// Universal Agent Skill 2.1.
    pub const fn universal(place: &'static str) -> Self {
        Self { source: "Universal Agent Skill 2.1", place }
    }

    /// The UAAPS/AAM chapter on skills.
    pub const fn aam(place: &'static str) -> Self {
        Self { source: "UAAPS chapter 4, Skills", place }
    }

    /// UASP 1.0.0-draft.
    pub const fn uasp(place: &'static str) -> Self {
        Self { source: "UASP 1.0.0-draft", place }
    }

    /// The x-personal-mcp contract.
    pub const fn pmcp(place: &'static str) -> Self {
        Self { source: "x-personal-mcp contract", place }
    }

    /// A fact about a host, from the host table.
    pub const fn host(place: &'static str) -> Self {
        Self { source: "host table", place }
    }

    /// The YAML specification.
    pub const fn yaml(place: &'static str) -> Self {
        Self { source: "YAML 1.2.2", place }
    }

    /// What was measured over public skills.
    pub const fn evidence(place: &'static str) -> Self {
        Self { source: "survey of public skills, 2026-08", place }
    }

    /// This project's own command line: silences, settings and bounds.
    pub const fn house(place: &'static str) -> Self {
        Self { source: "Repertoire", place }
    }
}

/// How a rule looks for its fault.
#[derive(Clone, Copy)]
pub enum Check {
    /// In one skill.
    Skill(fn(&Skill, &mut Findings<'_>)),
    /// In many skills seen together.
    Set(fn(&[Facts], &mut SetFindings)),
    /// The reader notices it; the rule only names it.
    Parse,
}

/// One rule: a name, where it applies, where it comes from, its page and its code.
pub struct Rule {
    /// States the defect, and reads well after "allow".
    pub name: &'static str,
    /// The defect in one line.
    pub summary: &'static str,
    /// The release it came with.
    pub since: &'static str,
    /// Where it applies, and how hard.
    pub levels: Levels,
    /// Where it comes from.
    pub cites: &'static [Cite],
    /// The ids of the requirements it checks.
    pub requirements: &'static [&'static str],
    /// Its page, which is also its test.
    pub page: &'static str,
    /// Its code.
    pub check: Check,
}
