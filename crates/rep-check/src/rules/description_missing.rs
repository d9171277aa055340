use rep_model::Skill;

use crate::draft::Findings;
use crate::field_checks::report_missing;
use crate::profile::MARKDOWN;
use crate::{LintRule, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "description-missing",
    summary: "the frontmatter has no `description`",
    since: "0.1.0",
    levels: RuleLevels { error: MARKDOWN, ..RuleLevels::NONE },
    citations: &[
        RuleCitation::agentskills("description field"),
        RuleCitation::universal("§3"),
        RuleCitation::pmcp("frontmatter model"),
        RuleCitation::client_guide("lenient validation"),
    ],
    requirements: &["VAL-01", "VAL-02", "VAL-64"],
    page: include_str!("description_missing.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    report_missing(skill, "description", "add `description`: what the skill does, and when to use it", findings);
}
