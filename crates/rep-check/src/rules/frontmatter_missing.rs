use crate::profile::MARKDOWN;
use crate::{LintRule, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "frontmatter-missing",
    summary: "SKILL.md does not start with a frontmatter fence",
    since: "0.1.0",
    levels: RuleLevels { error: MARKDOWN, ..RuleLevels::NONE },
    citations: &[RuleCitation::agentskills("SKILL.md format"), RuleCitation::universal("§2")],
    requirements: &["PKG-02"],
    page: include_str!("frontmatter_missing.md"),
    check: RuleCheck::Parse,
};
