use crate::profile::MARKDOWN;
use crate::{Check, Cite, Levels, Rule};

pub(super) static RULE: Rule = Rule {
    name: "skill-md-missing",
    summary: "the folder has no SKILL.md",
    since: "0.1.0",
    levels: Levels { error: MARKDOWN, ..Levels::NONE },
    cites: &[Cite::agentskills("directory structure"), Cite::universal("§1")],
    requirements: &["PKG-01", "PKG-07"],
    page: include_str!("skill_md_missing.md"),
    check: Check::Parse,
};
