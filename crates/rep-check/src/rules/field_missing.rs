use rep_model::Skill;

use crate::data_path::join_path;
use crate::draft::Findings;
use crate::value_schema::ViolationKind;
use crate::{LintRule, Profile, ProfileSet, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "field-missing",
    summary: "a required field is missing",
    since: "0.1.0",
    levels: RuleLevels {
        error: ProfileSet::new(&[Profile::Universal, Profile::Pmcp, Profile::Uasp]),
        ..RuleLevels::NONE
    },
    citations: &[
        RuleCitation::universal("Appendix A and B, required"),
        RuleCitation::uasp("§3.1, required"),
        RuleCitation::pmcp("validate_skill_frontmatter"),
    ],
    requirements: &["VAL-01", "VAL-25", "VAL-49", "VAL-50", "VAL-56", "VAL-70", "VAL-71", "TOOL-02", "US-01", "US-02"],
    page: include_str!("field_missing.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for misfit in findings.find_value_violations(skill) {
        let ViolationKind::Missing(field) = misfit.kind else { continue };
        let message = match misfit.path.as_str() {
            "" => format!("field `{field}` is missing"),
            parent => format!("`{parent}` has no `{field}`"),
        };
        findings
            .add(&misfit.file, misfit.span, message)
            .with_data_path(join_path(&misfit.path, field))
            .help(format!("add `{field}`"))
            .only_for_profiles(misfit.profiles);
    }
}
