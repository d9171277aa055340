use crate::profile::FORMAT;
use crate::{Check, Cite, Levels, Rule};

pub(super) static RULE: Rule = Rule {
    name: "line-ends-crlf",
    summary: "lines end with CR LF",
    since: "0.1.0",
    levels: Levels { info: FORMAT, ..Levels::NONE },
    cites: &[Cite::reference("reading of SKILL.md"), Cite::evidence("§2: 0.3% of skills")],
    requirements: &["PKG-34"],
    page: include_str!("line_ends_crlf.md"),
    check: Check::Parse,
};
