use crate::profile::FORMAT;
use crate::{Check, Cite, Levels, Rule};

pub(super) static RULE: Rule = Rule {
    name: "yaml-invalid",
    summary: "the YAML cannot be parsed",
    since: "0.1.0",
    levels: Levels { error: FORMAT, ..Levels::NONE },
    cites: &[Cite::agentskills("frontmatter"), Cite::yaml("the whole grammar")],
    requirements: &["PKG-04"],
    page: include_str!("yaml_invalid.md"),
    check: Check::Parse,
};
