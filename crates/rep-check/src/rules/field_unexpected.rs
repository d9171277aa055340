use rep_model::Skill;

use crate::data_path::join_path;
use crate::draft::Findings;
use crate::value_schema::ViolationKind;
use crate::yaml_edits::suggest_value;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "field-unexpected",
    summary: "a block contains an unknown field",
    since: "0.1.0",
    levels: RuleLevels { error: Profile::Universal.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::universal("Appendix A and B, additionalProperties")],
    requirements: &["VAL-46", "VAL-47", "VAL-49", "VAL-50", "VAL-70", "TOOL-02", "TOOL-14"],
    page: include_str!("field_unexpected.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for misfit in findings.find_value_violations(skill) {
        let ViolationKind::Unknown { field, nearest } = misfit.kind else { continue };
        let fix = nearest.and_then(|nearest| suggest_value(skill, &misfit.file, misfit.span, nearest));
        let help = match nearest {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => "remove it, or move it under `extensions`, which is for custom data".to_owned(),
        };
        findings
            .add(&misfit.file, misfit.span, format!("`{}` has no field `{field}`", misfit.path))
            .with_data_path(join_path(&misfit.path, &field))
            .help(help)
            .only_for_profiles(misfit.profiles)
            .with_optional_fix(fix);
    }
}
