use crate::profile::FORMAT;
use crate::{Check, Cite, Levels, Rule};

pub(super) static RULE: Rule = Rule {
    name: "file-unreadable",
    summary: "a file cannot be read",
    since: "0.1.0",
    levels: Levels { error: FORMAT, ..Levels::NONE },
    cites: &[Cite::agentskills("directory structure"), Cite::house("bounds on reading")],
    requirements: &["PKG-01"],
    page: include_str!("file_unreadable.md"),
    check: Check::Parse,
};
