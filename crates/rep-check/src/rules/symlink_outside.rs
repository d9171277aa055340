use crate::profile::ALL;
use crate::{LintRule, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "symlink-outside",
    summary: "a symbolic link points outside the skill's directory",
    since: "0.1.0",
    levels: RuleLevels { warning: ALL, ..RuleLevels::NONE },
    citations: &[
        RuleCitation::agentskills("directory structure"),
        RuleCitation::pmcp("references stay inside the skill"),
        RuleCitation::public_survey("§5: 168 links point outside"),
    ],
    requirements: &["PKG-01", "VAL-61"],
    page: include_str!("symlink_outside.md"),
    check: RuleCheck::Parse,
};
