use crate::profile::FORMAT;
use crate::{LintRule, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "symlink-dangling",
    summary: "a symbolic link is broken",
    since: "0.1.0",
    levels: RuleLevels { warning: FORMAT, ..RuleLevels::NONE },
    citations: &[
        RuleCitation::agentskills("file references"),
        RuleCitation::public_survey("§2: 214 of 316 linked SKILL.md files are broken"),
    ],
    requirements: &["PKG-01"],
    page: include_str!("symlink_dangling.md"),
    check: RuleCheck::Parse,
};
