use rep_model::Skill;

use crate::draft::Findings;
use crate::field_checks::report_not_text;
use crate::profile::STANDARD;
use crate::{Level, LintRule, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "compatibility-not-text",
    summary: "`compatibility` is not text",
    since: "0.1.0",
    levels: RuleLevels { error: STANDARD, automatic: Some(Level::Warning), ..RuleLevels::NONE },
    citations: &[
        RuleCitation::agentskills("compatibility field"),
        RuleCitation::reference_tool("validate: must be a string"),
        RuleCitation::aam("compatibility is a mapping there"),
    ],
    requirements: &["VAL-27", "VAL-28"],
    page: include_str!("compatibility_not_text.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    report_not_text(skill, "compatibility", "write one sentence of at most 500 characters", findings);
}
