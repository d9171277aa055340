use rep_model::Skill;
use rep_model::uasp::UaspView;

use crate::draft::Findings;
use crate::uasp_version::{compute_version, is_malformed_version, is_replaceable_version};
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "uasp-version-shape",
    summary: "a version is not eight hexadecimal digits",
    since: "0.1.0",
    levels: RuleLevels { error: Profile::Uasp.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::uasp("§5.1, validation rules")],
    requirements: &["US-04"],
    page: include_str!("uasp_version_shape.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for uasp in &skill.uasp {
        let Some(version) = uasp.view().and_then(UaspView::version) else { continue };
        if !is_malformed_version(version) {
            continue;
        }
        let message = format!("version `{}` is not 8 hexadecimal digits", version.value.trim());
        let draft = findings.add(&uasp.file, version.span(), message);
        draft.with_data_path("meta.version").help("the version is a hash of the content; `rep hash --write` writes it");
        if let Some(computed) = compute_version(uasp).filter(|_| is_replaceable_version(uasp)) {
            draft.with_replacement(version.span(), format!("\"{computed}\""));
        }
    }
}
