use crate::profile::TOOLS;
use crate::{LintRule, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "tools-json-invalid",
    summary: "tools.json is not valid JSON",
    since: "0.1.0",
    levels: RuleLevels { error: TOOLS, ..RuleLevels::NONE },
    citations: &[RuleCitation::universal("§6, appendix B")],
    requirements: &["TOOL-18"],
    page: include_str!("tools_json_invalid.md"),
    check: RuleCheck::Parse,
};
