use rep_model::Skill;

use crate::draft::Findings;
use crate::field_checks::report_too_long;
use crate::profile::MARKDOWN;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "description-too-long",
    summary: "`description` is longer than 1024 characters",
    since: "0.1.0",
    levels: RuleLevels {
        error: MARKDOWN.without(Profile::ClaudeCode.as_set()),
        warning: Profile::ClaudeCode.as_set(),
        ..RuleLevels::NONE
    },
    citations: &[
        RuleCitation::agentskills("description field"),
        RuleCitation::reference_tool("validate: exceeds 1024 character limit"),
        RuleCitation::universal("Appendix A, maxLength"),
        RuleCitation::aam("description field"),
        RuleCitation::pmcp("frontmatter model, stripped strings"),
    ],
    requirements: &["VAL-19", "VAL-20", "VAL-21", "HOST-10"],
    page: include_str!("description_too_long.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    report_too_long(skill, "description", 1024, findings);
}
