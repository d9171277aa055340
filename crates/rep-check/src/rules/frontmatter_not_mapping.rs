use crate::profile::MARKDOWN;
use crate::{Check, Cite, Levels, Rule};

pub(super) static RULE: Rule = Rule {
    name: "frontmatter-not-mapping",
    summary: "the frontmatter is not a mapping of fields",
    since: "0.1.0",
    levels: Levels { error: MARKDOWN, ..Levels::NONE },
    cites: &[Cite::agentskills("SKILL.md format"), Cite::reference("reading of SKILL.md"), Cite::universal("§2")],
    requirements: &["PKG-05"],
    page: include_str!("frontmatter_not_mapping.md"),
    check: Check::Parse,
};
