use crate::profile::ALL;
use crate::{LintRule, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "allow-without-reason",
    summary: "an `allow` comment gives no reason",
    since: "0.1.0",
    levels: RuleLevels { error: ALL, ..RuleLevels::NONE },
    citations: &[RuleCitation::own_project("allow comments")],
    requirements: &[],
    page: include_str!("allow_without_reason.md"),
    check: RuleCheck::Parse,
};
