use rep_model::Skill;

use crate::draft::Findings;
use crate::field_checks::report_not_text;
use crate::profile::MARKDOWN;
use crate::{LintRule, Profile, ProfileSet, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "name-not-text",
    summary: "`name` is not text",
    since: "0.1.0",
    levels: RuleLevels {
        error: MARKDOWN.without(ProfileSet::new(&[Profile::Universal, Profile::Pmcp])),
        ..RuleLevels::NONE
    },
    citations: &[RuleCitation::agentskills("name field"), RuleCitation::reference_tool("validate: non-empty string")],
    requirements: &["VAL-07"],
    page: include_str!("name_not_text.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    report_not_text(skill, "name", "write the directory name as text", findings);
}
