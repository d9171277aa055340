use crate::profile::ALL;
use crate::{Check, Cite, Levels, Rule};

pub(super) static RULE: Rule = Rule {
    name: "allow-without-reason",
    summary: "a silence gives no reason",
    since: "0.1.0",
    levels: Levels { error: ALL, ..Levels::NONE },
    cites: &[Cite::house("in-file silences")],
    requirements: &[],
    page: include_str!("allow_without_reason.md"),
    check: Check::Parse,
};
