use rep_model::Skill;
use rep_model::uasp::UaspView;

use crate::draft::Findings;
use crate::uasp_version::{compute_version, is_malformed_version, is_replaceable_version};
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "uasp-version-stale",
    summary: "a version is not the hash of the content",
    since: "0.1.0",
    levels: RuleLevels { warning: Profile::Uasp.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::uasp("§3.3"), RuleCitation::uasp("§9.2")],
    requirements: &["US-31", "VER-01", "VER-08"],
    page: include_str!("uasp_version_stale.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for uasp in &skill.uasp {
        let Some(version) = uasp.view().and_then(UaspView::version) else { continue };
        // `uasp-version-shape` reports values that are not a hash.
        let Some(computed) = compute_version(uasp).filter(|_| !is_malformed_version(version)) else { continue };
        if version.value != computed {
            let message = format!("version is `{}` but the content hash is `{computed}`", version.value.trim());
            let draft = findings.add(&uasp.file, version.span(), message);
            draft.with_data_path("meta.version").help("write the content hash in quotes");
            if is_replaceable_version(uasp) {
                draft.with_replacement(version.span(), format!("\"{computed}\""));
            }
        }
    }
}
