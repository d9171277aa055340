use crate::profile::FORMAT;
use crate::{LintRule, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "nul-byte",
    summary: "the file contains a NUL byte",
    since: "0.1.0",
    levels: RuleLevels { error: FORMAT, ..RuleLevels::NONE },
    citations: &[RuleCitation::yaml("§5.1"), RuleCitation::reference_tool("parsing of SKILL.md")],
    requirements: &["PKG-04"],
    page: include_str!("nul_byte.md"),
    check: RuleCheck::Parse,
};
