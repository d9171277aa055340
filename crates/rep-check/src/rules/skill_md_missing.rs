use crate::profile::MARKDOWN;
use crate::{LintRule, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "skill-md-missing",
    summary: "the directory has no SKILL.md",
    since: "0.1.0",
    levels: RuleLevels { error: MARKDOWN, ..RuleLevels::NONE },
    citations: &[RuleCitation::agentskills("directory structure"), RuleCitation::universal("§1")],
    requirements: &["PKG-01", "PKG-07"],
    page: include_str!("skill_md_missing.md"),
    check: RuleCheck::Parse,
};
