use rep_model::Skill;

use crate::draft::Findings;
use crate::field_checks::report_too_long;
use crate::profile::STANDARD;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "compatibility-too-long",
    summary: "`compatibility` is longer than 500 characters",
    since: "0.1.0",
    levels: RuleLevels { error: STANDARD.union(Profile::Pmcp.as_set()), ..RuleLevels::NONE },
    citations: &[
        RuleCitation::agentskills("compatibility field"),
        RuleCitation::reference_tool("validate: exceeds 500 character limit"),
        RuleCitation::pmcp("frontmatter model"),
    ],
    requirements: &["VAL-21", "VAL-27"],
    page: include_str!("compatibility_too_long.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    report_too_long(skill, "compatibility", 500, findings);
}
