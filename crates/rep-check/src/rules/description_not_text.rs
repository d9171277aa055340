use rep_model::Skill;

use crate::draft::Findings;
use crate::field_checks::report_not_text;
use crate::profile::MARKDOWN;
use crate::{LintRule, Profile, ProfileSet, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "description-not-text",
    summary: "`description` is not text",
    since: "0.1.0",
    levels: RuleLevels {
        error: MARKDOWN.without(ProfileSet::new(&[Profile::Universal, Profile::Pmcp])),
        ..RuleLevels::NONE
    },
    citations: &[
        RuleCitation::agentskills("description field"),
        RuleCitation::reference_tool("validate: non-empty string"),
        RuleCitation::public_survey("§2: scaffolds in brackets"),
    ],
    requirements: &["VAL-19"],
    page: include_str!("description_not_text.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let help = "write a string; quote it if it starts with a bracket";
    report_not_text(skill, "description", help, findings);
}
