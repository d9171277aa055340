//! The profiles a skill can be checked under, and sets of them.
//!
//! A profile is a named set of requirements. Each rule declares in its `RuleLevels` which profiles it belongs to.

use std::fmt;

/// A named set of requirements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Profile {
    /// The agentskills.io specification.
    AgentSkills,
    /// Universal Agent Skill 2.1.
    Universal,
    /// The UAAPS/AAM skills chapter.
    Aam,
    /// The x-personal-mcp contract.
    Pmcp,
    /// UASP files.
    Uasp,
    /// The common subset of all Markdown dialects.
    Portable,
    /// Upload to the Claude API.
    ClaudeApi,
    /// Claude Code.
    ClaudeCode,
    /// Codex CLI.
    Codex,
    /// `OpenAI` skills upload and strict tool calling.
    OpenAi,
    /// Serving over MCP, with the Skills extension.
    Mcp,
    /// Risks to the people who use the skill.
    Security,
}

/// Every profile, in the order of the documentation.
const ORDERED_PROFILES: &[Profile] = &[
    Profile::AgentSkills,
    Profile::Universal,
    Profile::Aam,
    Profile::Pmcp,
    Profile::Uasp,
    Profile::Portable,
    Profile::ClaudeApi,
    Profile::ClaudeCode,
    Profile::Codex,
    Profile::OpenAi,
    Profile::Mcp,
    Profile::Security,
];

impl Profile {
    /// Returns every profile, in the order of the documentation.
    pub const fn all() -> &'static [Profile] {
        ORDERED_PROFILES
    }

    /// Returns the name used on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Profile::AgentSkills => "agentskills",
            Profile::Universal => "universal",
            Profile::Aam => "aam",
            Profile::Pmcp => "pmcp",
            Profile::Uasp => "uasp",
            Profile::Portable => "portable",
            Profile::ClaudeApi => "claude-api",
            Profile::ClaudeCode => "claude-code",
            Profile::Codex => "codex",
            Profile::OpenAi => "openai",
            Profile::Mcp => "mcp",
            Profile::Security => "security",
        }
    }

    /// Returns the set that contains only this profile.
    pub const fn as_set(self) -> ProfileSet {
        ProfileSet(1 << self as u16)
    }

    /// Returns the profile with the given name.
    pub fn from_name(name: &str) -> Option<Profile> {
        ORDERED_PROFILES.iter().copied().find(|profile| profile.name() == name)
    }
}

/// A set of profiles. All operations except iteration are `const`, so that rules can be statics.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct ProfileSet(u16);

impl ProfileSet {
    /// The empty set.
    pub const EMPTY: ProfileSet = ProfileSet(0);

    /// Creates a set of the given profiles. Order and repetition do not matter.
    pub const fn new(profiles: &[Profile]) -> Self {
        let mut set = Self::EMPTY;
        let mut index = 0;
        while index < profiles.len() {
            set = set.union(profiles[index].as_set());
            index += 1;
        }
        set
    }

    /// Returns the profiles in either set.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the profiles in this set that are not in the other.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether the set contains a profile.
    pub const fn contains(self, profile: Profile) -> bool {
        self.0 & profile.as_set().0 != 0
    }

    /// Whether the set contains no profile.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the profiles of the set, in the order of the documentation.
    pub fn iter(self) -> impl Iterator<Item = Profile> {
        ORDERED_PROFILES.iter().copied().filter(move |profile| self.contains(*profile))
    }
}

impl fmt::Debug for ProfileSet {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_set().entries(self.iter()).finish()
    }
}

/// Every profile.
pub(crate) const ALL: ProfileSet = ProfileSet::new(ORDERED_PROFILES);

/// The profiles of programs that load or serve skills.
pub(crate) const HOSTS: ProfileSet =
    ProfileSet::new(&[Profile::ClaudeApi, Profile::ClaudeCode, Profile::Codex, Profile::OpenAi, Profile::Mcp]);

/// The profiles that check the format of SKILL.md.
pub(crate) const MARKDOWN: ProfileSet =
    ProfileSet::new(&[Profile::AgentSkills, Profile::Universal, Profile::Aam, Profile::Pmcp, Profile::Portable])
        .union(HOSTS);

/// The profiles that check the format of any skill: all except `security`.
pub(crate) const FORMAT: ProfileSet = ALL.without(Profile::Security.as_set());

/// The profiles that check SKILL.md: those that check its format, and `security`.
pub(crate) const NOT_UASP: ProfileSet = ALL.without(Profile::Uasp.as_set());

/// The profiles that are as strict about YAML and names as the reference tool.
pub(crate) const REFERENCE: ProfileSet = ProfileSet::new(&[Profile::AgentSkills, Profile::Portable]);

/// The profiles that type the standard fields as the agentskills.io specification does, and accept no other fields.
pub(crate) const STANDARD: ProfileSet = REFERENCE.union(Profile::ClaudeApi.as_set()).union(Profile::OpenAi.as_set());

/// The profiles that adopt the Claude API's restrictions on names and descriptions.
pub(crate) const CLAUDE_NAMING: ProfileSet =
    ProfileSet::new(&[Profile::Universal, Profile::Pmcp, Profile::Portable, Profile::ClaudeApi]);

/// The hosts that run on a developer's machine, and are lenient about names.
pub(crate) const CODING_AGENTS: ProfileSet = ProfileSet::new(&[Profile::ClaudeCode, Profile::Codex]);

/// The profiles that accept letters of any script in names.
pub(crate) const ANY_SCRIPT: ProfileSet = Profile::AgentSkills.as_set().union(CODING_AGENTS);

/// The profiles whose names consist of `a-z`, `0-9` and `-` alone.
pub(crate) const ASCII_ONLY: ProfileSet = MARKDOWN.without(ANY_SCRIPT);

/// The profiles that define how tools are declared.
pub(crate) const TOOLS: ProfileSet = ProfileSet::new(&[Profile::Universal, Profile::OpenAi, Profile::Mcp]);

#[cfg(test)]
mod tests {
    use super::*;

    fn names(set: ProfileSet) -> Vec<&'static str> {
        set.iter().map(Profile::name).collect()
    }

    #[test]
    fn a_set_lists_its_profiles_once_and_in_the_documented_order() {
        let set = ProfileSet::new(&[Profile::Security, Profile::Aam, Profile::Security]);
        assert_eq!(names(set), ["aam", "security"]);
        assert_eq!(format!("{set:?}"), "{Aam, Security}");
        assert_eq!(ALL.iter().collect::<Vec<_>>(), Profile::all());
    }

    #[test]
    fn union_and_difference_follow_set_algebra() {
        let (uasp, security) = (Profile::Uasp.as_set(), Profile::Security.as_set());
        assert_eq!(MARKDOWN.union(uasp).union(security), ALL);
        assert_eq!(ALL.without(uasp).without(uasp), NOT_UASP);
        assert_eq!(FORMAT.without(MARKDOWN), uasp);
        assert!(uasp.without(ALL).is_empty());
        assert_eq!(ProfileSet::EMPTY.union(uasp), uasp);
    }

    #[test]
    fn a_set_contains_exactly_its_members() {
        for profile in Profile::all() {
            assert!(ALL.contains(*profile) && !ProfileSet::EMPTY.contains(*profile));
            assert_eq!(names(profile.as_set()), [profile.name()]);
        }
    }
}
