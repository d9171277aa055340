use crate::profile::ALL;
use crate::{Check, Cite, Levels, Rule};

pub(super) static RULE: Rule = Rule {
    name: "allow-unknown",
    summary: "a silence names a rule that does not exist",
    since: "0.1.0",
    levels: Levels { warning: ALL, ..Levels::NONE },
    cites: &[Cite::house("in-file silences")],
    requirements: &[],
    page: include_str!("allow_unknown.md"),
    check: Check::Parse,
};
