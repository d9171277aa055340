use crate::profile::FORMAT;
use crate::{LintRule, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "encoding-not-utf8",
    summary: "the file is not encoded as UTF-8",
    since: "0.1.0",
    levels: RuleLevels { error: FORMAT, ..RuleLevels::NONE },
    citations: &[RuleCitation::reference_tool("reading of SKILL.md"), RuleCitation::yaml("§5.2")],
    requirements: &["PKG-04"],
    page: include_str!("encoding_not_utf8.md"),
    check: RuleCheck::Parse,
};
