use crate::profile::FORMAT;
use crate::{LintRule, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "yaml-key-duplicate",
    summary: "a mapping has a duplicate key",
    since: "0.1.0",
    levels: RuleLevels { error: FORMAT, ..RuleLevels::NONE },
    citations: &[RuleCitation::yaml("§3.2.1.3"), RuleCitation::reference_tool("parsing of frontmatter")],
    requirements: &["PKG-32"],
    page: include_str!("yaml_key_duplicate.md"),
    check: RuleCheck::Parse,
};
