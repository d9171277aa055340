use crate::profile::MARKDOWN;
use crate::{Check, Cite, Levels, Rule};

pub(super) static RULE: Rule = Rule {
    name: "frontmatter-unclosed",
    summary: "the frontmatter is not closed by a second fence",
    since: "0.1.0",
    levels: Levels { error: MARKDOWN, ..Levels::NONE },
    cites: &[Cite::agentskills("SKILL.md format"), Cite::universal("§2")],
    requirements: &["PKG-03"],
    page: include_str!("frontmatter_unclosed.md"),
    check: Check::Parse,
};
