use rep_model::Skill;

use crate::draft::Findings;
use crate::value_schema::ViolationKind;
use crate::yaml_edits::suggest_literal;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "value-too-small",
    summary: "a number is below the minimum for its field",
    since: "0.1.0",
    levels: RuleLevels { error: Profile::Universal.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::universal("Appendix A and B, minimum")],
    requirements: &["TOOL-12", "VAL-46", "VAL-70"],
    page: include_str!("value_too_small.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for misfit in findings.find_value_violations(skill) {
        let ViolationKind::TooSmall(least) = misfit.kind else { continue };
        let text = misfit.text.unwrap_or_default();
        findings
            .add(&misfit.file, misfit.span, format!("`{}` is {text}", misfit.path))
            .with_data_path(misfit.path)
            .help(format!("use {least} or more"))
            .only_for_profiles(misfit.profiles)
            .with_optional_fix(suggest_literal(skill, &misfit.file, misfit.span, &least.to_string()));
    }
}
