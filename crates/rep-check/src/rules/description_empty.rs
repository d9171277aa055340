use rep_model::Skill;

use crate::draft::Findings;
use crate::field_checks::report_empty;
use crate::profile::MARKDOWN;
use crate::{LintRule, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "description-empty",
    summary: "`description` is blank",
    since: "0.1.0",
    levels: RuleLevels { error: MARKDOWN, ..RuleLevels::NONE },
    citations: &[
        RuleCitation::agentskills("description field"),
        RuleCitation::reference_tool("validate: non-empty string"),
        RuleCitation::universal("Appendix A, minLength"),
    ],
    requirements: &["VAL-14", "VAL-19", "VAL-21"],
    page: include_str!("description_empty.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    report_empty(skill, "description", "say what the skill does, and when to use it", findings);
}
