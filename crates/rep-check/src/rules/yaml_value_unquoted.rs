use crate::profile::MARKDOWN;
use crate::{LintRule, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "yaml-value-unquoted",
    summary: "a value must be quoted",
    since: "0.1.0",
    levels: RuleLevels { error: MARKDOWN, ..RuleLevels::NONE },
    citations: &[
        RuleCitation::yaml("§7.3.3"),
        RuleCitation::client_guide("malformed YAML"),
        RuleCitation::public_survey("§2: 64 of 74 YAML errors"),
    ],
    requirements: &["PKG-04", "PKG-35"],
    page: include_str!("yaml_value_unquoted.md"),
    check: RuleCheck::Parse,
};
