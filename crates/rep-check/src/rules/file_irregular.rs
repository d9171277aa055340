use crate::profile::ALL;
use crate::{Check, Cite, Levels, Rule};

pub(super) static RULE: Rule = Rule {
    name: "file-irregular",
    summary: "a bundled file is no regular file",
    since: "0.1.0",
    levels: Levels { warning: ALL, ..Levels::NONE },
    cites: &[Cite::agentskills("directory structure"), Cite::house("bounds on reading")],
    requirements: &["PKG-01"],
    page: include_str!("file_irregular.md"),
    check: Check::Parse,
};
