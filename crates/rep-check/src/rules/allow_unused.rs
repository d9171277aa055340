use crate::profile::ALL;
use crate::{LintRule, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "allow-unused",
    summary: "an `allow` comment suppresses nothing",
    since: "0.1.0",
    levels: RuleLevels { warning: ALL, ..RuleLevels::NONE },
    citations: &[RuleCitation::own_project("allow comments")],
    requirements: &[],
    page: include_str!("allow_unused.md"),
    check: RuleCheck::Parse,
};
