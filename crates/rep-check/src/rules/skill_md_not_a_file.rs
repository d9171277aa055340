use crate::profile::MARKDOWN;
use crate::{Check, Cite, Levels, Rule};

pub(super) static RULE: Rule = Rule {
    name: "skill-md-not-a-file",
    summary: "SKILL.md is there but is not a file",
    since: "0.1.0",
    levels: Levels { error: MARKDOWN, ..Levels::NONE },
    cites: &[Cite::agentskills("directory structure"), Cite::reference("reading of SKILL.md")],
    requirements: &["PKG-01"],
    page: include_str!("skill_md_not_a_file.md"),
    check: Check::Parse,
};
