use crate::profile::MARKDOWN;
use crate::{LintRule, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "skill-md-not-a-file",
    summary: "SKILL.md is not a file",
    since: "0.1.0",
    levels: RuleLevels { error: MARKDOWN, ..RuleLevels::NONE },
    citations: &[RuleCitation::agentskills("directory structure"), RuleCitation::reference_tool("reading of SKILL.md")],
    requirements: &["PKG-01"],
    page: include_str!("skill_md_not_a_file.md"),
    check: RuleCheck::Parse,
};
