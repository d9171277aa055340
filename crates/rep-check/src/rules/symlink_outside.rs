use crate::profile::ALL;
use crate::{Check, Cite, Levels, Rule};

pub(super) static RULE: Rule = Rule {
    name: "symlink-outside",
    summary: "a symbolic link leaves the skill's folder",
    since: "0.1.0",
    levels: Levels { warning: ALL, ..Levels::NONE },
    cites: &[
        Cite::agentskills("directory structure"),
        Cite::pmcp("references stay inside the skill"),
        Cite::evidence("§5: 168 links lead outside"),
    ],
    requirements: &["PKG-01", "VAL-61"],
    page: include_str!("symlink_outside.md"),
    check: Check::Parse,
};
