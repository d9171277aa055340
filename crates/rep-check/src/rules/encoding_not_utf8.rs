use crate::profile::FORMAT;
use crate::{Check, Cite, Levels, Rule};

pub(super) static RULE: Rule = Rule {
    name: "encoding-not-utf8",
    summary: "the file is not encoded as UTF-8",
    since: "0.1.0",
    levels: Levels { error: FORMAT, ..Levels::NONE },
    cites: &[Cite::reference("reading of SKILL.md"), Cite::yaml("§5.2")],
    requirements: &["PKG-04"],
    page: include_str!("encoding_not_utf8.md"),
    check: Check::Parse,
};
