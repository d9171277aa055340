use crate::profile::ALL;
use crate::{LintRule, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "file-irregular",
    summary: "a bundled file is not a regular file",
    since: "0.1.0",
    levels: RuleLevels { warning: ALL, ..RuleLevels::NONE },
    citations: &[RuleCitation::agentskills("directory structure"), RuleCitation::own_project("read limits")],
    requirements: &["PKG-01"],
    page: include_str!("file_irregular.md"),
    check: RuleCheck::Parse,
};
