use crate::profile::FORMAT;
use crate::{LintRule, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "yaml-too-complex",
    summary: "the YAML exceeds the limits of the parser",
    since: "0.1.0",
    levels: RuleLevels { error: FORMAT, ..RuleLevels::NONE },
    citations: &[RuleCitation::own_project("read limits")],
    requirements: &[],
    page: include_str!("yaml_too_complex.md"),
    check: RuleCheck::Parse,
};
