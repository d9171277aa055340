use crate::profile::MARKDOWN;
use crate::{Check, Cite, Levels, Rule};

pub(super) static RULE: Rule = Rule {
    name: "yaml-value-unquoted",
    summary: "a value is no valid YAML without quotes",
    since: "0.1.0",
    levels: Levels { error: MARKDOWN, ..Levels::NONE },
    cites: &[Cite::yaml("§7.3.3"), Cite::client_guide("malformed YAML"), Cite::evidence("§2: 64 of 74 YAML errors")],
    requirements: &["PKG-04", "PKG-35"],
    page: include_str!("yaml_value_unquoted.md"),
    check: Check::Parse,
};
