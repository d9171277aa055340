use crate::profile::FORMAT;
use crate::{LintRule, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "line-ends-crlf",
    summary: "lines end with CR LF",
    since: "0.1.0",
    levels: RuleLevels { info: FORMAT, ..RuleLevels::NONE },
    citations: &[
        RuleCitation::reference_tool("parsing of SKILL.md"),
        RuleCitation::public_survey("§2: 0.3% of skills"),
    ],
    requirements: &["PKG-34"],
    page: include_str!("line_ends_crlf.md"),
    check: RuleCheck::Parse,
};
