use crate::profile::MARKDOWN;
use crate::{LintRule, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "frontmatter-not-mapping",
    summary: "the frontmatter is not a mapping of fields",
    since: "0.1.0",
    levels: RuleLevels { error: MARKDOWN, ..RuleLevels::NONE },
    citations: &[
        RuleCitation::agentskills("SKILL.md format"),
        RuleCitation::reference_tool("parsing of SKILL.md"),
        RuleCitation::universal("§2"),
    ],
    requirements: &["PKG-05"],
    page: include_str!("frontmatter_not_mapping.md"),
    check: RuleCheck::Parse,
};
