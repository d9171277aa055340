use rep_model::Skill;

use crate::draft::Findings;
use crate::uasp_version::find_unhashable;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "uasp-not-hashable",
    summary: "a value prevents the content from being hashed",
    since: "0.1.0",
    levels: RuleLevels { error: Profile::Uasp.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::uasp("§3.3")],
    requirements: &["VER-01", "VER-06", "US-31"],
    page: include_str!("uasp_not_hashable.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for uasp in &skill.uasp {
        let Some(unhashable) = find_unhashable(uasp) else { continue };
        findings.add(&uasp.file, unhashable.span, unhashable.message).help(unhashable.help);
    }
}
