use rep_model::Skill;

use crate::draft::Findings;
use crate::field_checks::report_not_text;
use crate::profile::STANDARD;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "license-not-text",
    summary: "`license` is not text",
    since: "0.1.0",
    levels: RuleLevels { error: STANDARD.union(Profile::Aam.as_set()), ..RuleLevels::NONE },
    citations: &[RuleCitation::agentskills("license field")],
    requirements: &["VAL-26"],
    page: include_str!("license_not_text.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    report_not_text(skill, "license", "write a license name, or the file that contains its text", findings);
}
