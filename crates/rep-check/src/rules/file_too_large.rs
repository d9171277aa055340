use crate::profile::FORMAT;
use crate::{LintRule, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "file-too-large",
    summary: "a file exceeds the read limit",
    since: "0.1.0",
    levels: RuleLevels { error: FORMAT, ..RuleLevels::NONE },
    citations: &[RuleCitation::own_project("read limits")],
    requirements: &[],
    page: include_str!("file_too_large.md"),
    check: RuleCheck::Parse,
};
