use crate::profile::FORMAT;
use crate::{Check, Cite, Levels, Rule};

pub(super) static RULE: Rule = Rule {
    name: "yaml-key-duplicate",
    summary: "a key stands twice in one mapping",
    since: "0.1.0",
    levels: Levels { error: FORMAT, ..Levels::NONE },
    cites: &[Cite::yaml("§3.2.1.3"), Cite::reference("reading of frontmatter")],
    requirements: &["PKG-32"],
    page: include_str!("yaml_key_duplicate.md"),
    check: Check::Parse,
};
