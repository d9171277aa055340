use crate::profile::FORMAT;
use crate::{Check, Cite, Levels, Rule};

pub(super) static RULE: Rule = Rule {
    name: "yaml-too-complex",
    summary: "the YAML passes the bounds of the reader",
    since: "0.1.0",
    levels: Levels { error: FORMAT, ..Levels::NONE },
    cites: &[Cite::house("bounds on reading")],
    requirements: &[],
    page: include_str!("yaml_too_complex.md"),
    check: Check::Parse,
};
