use crate::profile::FORMAT;
use crate::{LintRule, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "yaml-invalid",
    summary: "the YAML cannot be parsed",
    since: "0.1.0",
    levels: RuleLevels { error: FORMAT, ..RuleLevels::NONE },
    citations: &[RuleCitation::agentskills("frontmatter"), RuleCitation::yaml("the whole grammar")],
    requirements: &["PKG-04"],
    page: include_str!("yaml_invalid.md"),
    check: RuleCheck::Parse,
};
