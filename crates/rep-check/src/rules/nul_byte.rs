use crate::profile::FORMAT;
use crate::{Check, Cite, Levels, Rule};

pub(super) static RULE: Rule = Rule {
    name: "nul-byte",
    summary: "the file holds a NUL byte",
    since: "0.1.0",
    levels: Levels { error: FORMAT, ..Levels::NONE },
    cites: &[Cite::yaml("§5.1"), Cite::reference("reading of SKILL.md")],
    requirements: &["PKG-04"],
    page: include_str!("nul_byte.md"),
    check: Check::Parse,
};
