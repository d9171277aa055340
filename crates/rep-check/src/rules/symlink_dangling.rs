use crate::profile::FORMAT;
use crate::{Check, Cite, Levels, Rule};

pub(super) static RULE: Rule = Rule {
    name: "symlink-dangling",
    summary: "a symbolic link leads nowhere",
    since: "0.1.0",
    levels: Levels { warning: FORMAT, ..Levels::NONE },
    cites: &[Cite::agentskills("file references"), Cite::evidence("§2: 214 of 316 linked SKILL.md files lead nowhere")],
    requirements: &["PKG-01"],
    page: include_str!("symlink_dangling.md"),
    check: Check::Parse,
};
