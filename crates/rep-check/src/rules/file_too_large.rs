use crate::profile::FORMAT;
use crate::{Check, Cite, Levels, Rule};

pub(super) static RULE: Rule = Rule {
    name: "file-too-large",
    summary: "a file is larger than what is read of such a file",
    since: "0.1.0",
    levels: Levels { error: FORMAT, ..Levels::NONE },
    cites: &[Cite::house("bounds on reading")],
    requirements: &[],
    page: include_str!("file_too_large.md"),
    check: Check::Parse,
};
