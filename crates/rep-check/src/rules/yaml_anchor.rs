use crate::{Check, Cite, Levels, Profile, Rule};

/// The Markdown profiles whose readers take more YAML than the reference tool does.
pub(super) const LENIENT: &[Profile] = &[
    Profile::Universal,
    Profile::Aam,
    Profile::Pmcp,
    Profile::ClaudeApi,
    Profile::ClaudeCode,
    Profile::Codex,
    Profile::OpenAi,
    Profile::Mcp,
];

pub(super) static RULE: Rule = Rule {
    name: "yaml-anchor",
    summary: "the YAML uses an anchor",
    since: "0.1.0",
    levels: Levels { error: &[Profile::AgentSkills, Profile::Portable], warning: LENIENT, ..Levels::NONE },
    cites: &[Cite::reference("reading of frontmatter"), Cite::evidence("§2: no skill needs one")],
    requirements: &["PKG-32"],
    page: include_str!("yaml_anchor.md"),
    check: Check::Parse,
};
