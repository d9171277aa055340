use crate::profile::FORMAT;
use crate::{LintRule, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "file-unreadable",
    summary: "a file cannot be read",
    since: "0.1.0",
    levels: RuleLevels { error: FORMAT, ..RuleLevels::NONE },
    citations: &[RuleCitation::agentskills("directory structure"), RuleCitation::own_project("read limits")],
    requirements: &["PKG-01"],
    page: include_str!("file_unreadable.md"),
    check: RuleCheck::Parse,
};
