use crate::profile::FORMAT;
use crate::{Check, Cite, Levels, Rule};

pub(super) static RULE: Rule = Rule {
    name: "yaml-tab",
    summary: "a tab outside quotes in YAML",
    since: "0.1.0",
    levels: Levels { error: FORMAT, ..Levels::NONE },
    cites: &[Cite::reference("its parser, and PyYAML, refuse it"), Cite::yaml("§5.5, white space")],
    requirements: &["PKG-04", "VER-06"],
    page: include_str!("yaml_tab.md"),
    check: Check::Parse,
};
