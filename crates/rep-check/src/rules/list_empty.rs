use rep_model::Skill;

use crate::draft::Findings;
use crate::value_schema::ViolationKind;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "list-empty",
    summary: "an empty list where at least one item is required",
    since: "0.1.0",
    levels: RuleLevels { error: Profile::Pmcp.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::pmcp("SkillBlock.capabilities")],
    requirements: &["VAL-56"],
    page: include_str!("list_empty.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for misfit in findings.find_value_violations(skill) {
        let ViolationKind::Empty = misfit.kind else { continue };
        findings
            .add(&misfit.file, misfit.span, format!("`{}` is an empty list", misfit.path))
            .with_data_path(misfit.path)
            .help("add at least one item")
            .only_for_profiles(misfit.profiles);
    }
}
