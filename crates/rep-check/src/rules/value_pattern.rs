use rep_model::Skill;

use crate::draft::Findings;
use crate::value_schema::ViolationKind;
use crate::{LintRule, Profile, ProfileSet, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "value-pattern",
    summary: "a text does not match the format of its field",
    since: "0.1.0",
    levels: RuleLevels { error: ProfileSet::new(&[Profile::Pmcp, Profile::Uasp]), ..RuleLevels::NONE },
    citations: &[RuleCitation::pmcp("SkillBlock.id"), RuleCitation::uasp("§3.1, pattern")],
    requirements: &["VAL-54", "US-03"],
    page: include_str!("value_pattern.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for misfit in findings.find_value_violations(skill) {
        let ViolationKind::Pattern(form) = misfit.kind else { continue };
        let text = misfit.text.unwrap_or_default();
        findings
            .add(&misfit.file, misfit.span, format!("`{}` is `{text}`", misfit.path))
            .with_data_path(misfit.path)
            .help(format!("use {form}"))
            .only_for_profiles(misfit.profiles);
    }
}
