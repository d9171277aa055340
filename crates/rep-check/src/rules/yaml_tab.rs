use crate::profile::FORMAT;
use crate::{LintRule, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "yaml-tab",
    summary: "the YAML contains a tab outside quotes",
    since: "0.1.0",
    levels: RuleLevels { error: FORMAT, ..RuleLevels::NONE },
    citations: &[
        RuleCitation::reference_tool("its parser and PyYAML reject it"),
        RuleCitation::yaml("§5.5, white space"),
    ],
    requirements: &["PKG-04", "VER-06"],
    page: include_str!("yaml_tab.md"),
    check: RuleCheck::Parse,
};
