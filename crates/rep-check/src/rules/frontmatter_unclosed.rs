use crate::profile::MARKDOWN;
use crate::{LintRule, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "frontmatter-unclosed",
    summary: "the frontmatter is not closed by a second fence",
    since: "0.1.0",
    levels: RuleLevels { error: MARKDOWN, ..RuleLevels::NONE },
    citations: &[RuleCitation::agentskills("SKILL.md format"), RuleCitation::universal("§2")],
    requirements: &["PKG-03"],
    page: include_str!("frontmatter_unclosed.md"),
    check: RuleCheck::Parse,
};
