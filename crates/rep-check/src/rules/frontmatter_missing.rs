use crate::profile::MARKDOWN;
use crate::{Check, Cite, Levels, Rule};

pub(super) static RULE: Rule = Rule {
    name: "frontmatter-missing",
    summary: "SKILL.md does not start with a frontmatter fence",
    since: "0.1.0",
    levels: Levels { error: MARKDOWN, ..Levels::NONE },
    cites: &[Cite::agentskills("SKILL.md format"), Cite::universal("§2")],
    requirements: &["PKG-02"],
    page: include_str!("frontmatter_missing.md"),
    check: Check::Parse,
};
