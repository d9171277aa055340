use crate::profile::FORMAT;
use crate::{LintRule, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "folder-too-large",
    summary: "the directory exceeds the read limits",
    since: "0.1.0",
    levels: RuleLevels { warning: FORMAT, ..RuleLevels::NONE },
    citations: &[
        RuleCitation::own_project("read limits"),
        RuleCitation::public_survey("§5: depth and number of files"),
    ],
    requirements: &[],
    page: include_str!("folder_too_large.md"),
    check: RuleCheck::Parse,
};
