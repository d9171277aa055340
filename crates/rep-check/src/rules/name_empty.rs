use rep_model::Skill;

use crate::draft::Findings;
use crate::field_checks::report_empty;
use crate::profile::MARKDOWN;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "name-empty",
    summary: "`name` is blank",
    since: "0.1.0",
    levels: RuleLevels {
        error: MARKDOWN.without(Profile::ClaudeCode.as_set()),
        warning: Profile::ClaudeCode.as_set(),
        ..RuleLevels::NONE
    },
    citations: &[
        RuleCitation::agentskills("name field"),
        RuleCitation::reference_tool("validate: non-empty string"),
        RuleCitation::universal("Appendix A, minLength"),
    ],
    requirements: &["VAL-04", "VAL-07", "VAL-14"],
    page: include_str!("name_empty.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    report_empty(skill, "name", "use the directory name", findings);
}
