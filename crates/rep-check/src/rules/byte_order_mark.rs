use crate::profile::{FORMAT, REFERENCE};
use crate::{Level, LintRule, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "byte-order-mark",
    summary: "the file starts with a byte order mark",
    since: "0.1.0",
    levels: RuleLevels {
        error: REFERENCE,
        warning: FORMAT.without(REFERENCE),
        automatic: Some(Level::Warning),
        ..RuleLevels::NONE
    },
    citations: &[
        RuleCitation::agentskills("SKILL.md format"),
        RuleCitation::reference_tool("the first bytes of the file"),
        RuleCitation::public_survey("§2: 0.09% of skills"),
    ],
    requirements: &["PKG-02"],
    page: include_str!("byte_order_mark.md"),
    check: RuleCheck::Parse,
};
