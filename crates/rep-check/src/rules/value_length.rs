use rep_model::Skill;

use crate::draft::Findings;
use crate::value_schema::ViolationKind;
use crate::{LintRule, Profile, ProfileSet, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "value-length",
    summary: "the length of a text value is outside the limits of its field",
    since: "0.1.0",
    levels: RuleLevels { error: ProfileSet::new(&[Profile::Universal, Profile::Uasp]), ..RuleLevels::NONE },
    citations: &[RuleCitation::universal("Appendix A and B, maxLength"), RuleCitation::uasp("§3.1, maxLength")],
    requirements: &["TOOL-03", "TOOL-04", "VAL-70", "US-06"],
    page: include_str!("value_length.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for misfit in findings.find_value_violations(skill) {
        let ViolationKind::Length { min, max, found } = misfit.kind else { continue };
        let message = match found {
            0 => format!("`{}` is empty", misfit.path),
            found => format!("`{}` is {found} characters long", misfit.path),
        };
        let help = if found < min {
            format!("write {min} to {max} characters")
        } else {
            format!("shorten it to {max} characters")
        };
        findings
            .add(&misfit.file, misfit.span, message)
            .with_data_path(misfit.path)
            .help(help)
            .only_for_profiles(misfit.profiles);
    }
}
