use crate::profile::FORMAT;
use crate::{Check, Cite, Levels, Rule};

pub(super) static RULE: Rule = Rule {
    name: "folder-too-large",
    summary: "the folder holds more than is read of one skill",
    since: "0.1.0",
    levels: Levels { warning: FORMAT, ..Levels::NONE },
    cites: &[Cite::house("bounds on reading"), Cite::evidence("§5: depth and number of files")],
    requirements: &[],
    page: include_str!("folder_too_large.md"),
    check: Check::Parse,
};
