use rep_model::Skill;

use crate::engine::Findings;
use crate::value_schema::ViolationKind;
use crate::{LintRule, Profile, ProfileSet, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "value-not-allowed",
    summary: "a value is not one of those its field allows",
    since: "0.1.0",
    levels: RuleLevels { error: ProfileSet::new(&[Profile::Universal, Profile::Uasp]), ..RuleLevels::NONE },
    citations: &[RuleCitation::universal("Appendix A, enum"), RuleCitation::uasp("§3.1, enum")],
    requirements: &["TOOL-05", "CONF-02", "SEC-04", "VAL-49", "US-05"],
    page: include_str!("value_not_allowed.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for misfit in findings.find_value_violations(skill) {
        let ViolationKind::Choice(words) = misfit.kind else { continue };
        let text = misfit.text.unwrap_or_default();
        let listed: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
        findings
            .add(&misfit.file, misfit.span, format!("`{}` is `{text}`", misfit.path))
            .with_data_path(misfit.path)
            .help(format!("use one of {}", listed.join(", ")))
            .only_for_profiles(misfit.profiles);
    }
}
