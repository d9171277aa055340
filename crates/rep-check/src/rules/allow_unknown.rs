use crate::profile::ALL;
use crate::{LintRule, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "allow-unknown",
    summary: "an `allow` comment names an unknown rule",
    since: "0.1.0",
    levels: RuleLevels { warning: ALL, ..RuleLevels::NONE },
    citations: &[RuleCitation::own_project("allow comments")],
    requirements: &[],
    page: include_str!("allow_unknown.md"),
    check: RuleCheck::Parse,
};
