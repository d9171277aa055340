//! The named sets of demands a skill can be judged under. Which rule belongs to which profile is written in the rule.

/// A named set of demands.
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
    /// What every Markdown dialect accepts.
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
    /// What may harm whoever uses the skill.
    Security,
}

/// Every profile.
pub(crate) const ALL: &[Profile] = &[
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

/// The profiles that judge SKILL.md.
pub(crate) const MARKDOWN: &[Profile] = &[
    Profile::AgentSkills,
    Profile::Universal,
    Profile::Aam,
    Profile::Pmcp,
    Profile::Portable,
    Profile::ClaudeApi,
    Profile::ClaudeCode,
    Profile::Codex,
    Profile::OpenAi,
    Profile::Mcp,
];

/// The profiles that look at SKILL.md: those that judge its format, and `security`.
pub(crate) const NOT_UASP: &[Profile] = &[
    Profile::AgentSkills,
    Profile::Universal,
    Profile::Aam,
    Profile::Pmcp,
    Profile::Portable,
    Profile::ClaudeApi,
    Profile::ClaudeCode,
    Profile::Codex,
    Profile::OpenAi,
    Profile::Mcp,
    Profile::Security,
];

/// The profiles that judge any skill's format: all but `security`.
pub(crate) const FORMAT: &[Profile] = &[
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
];

impl Profile {
    /// Every profile, in the order of the documentation.
    pub const fn all() -> &'static [Profile] {
        ALL
    }

    /// The name on the command line.
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

    /// The profile of a name.
    pub fn named(name: &str) -> Option<Profile> {
        ALL.iter().copied().find(|profile| profile.name() == name)
    }
}
