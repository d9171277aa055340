use rep_model::Skill;

use crate::draft::Findings;
use crate::uasp_names::{DeclaredNames, find_unknown_commands, report_unknown_names};
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "uasp-consumer-unknown",
    summary: "`consumed_by` names an undeclared command",
    since: "0.1.0",
    levels: RuleLevels { info: Profile::Uasp.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::uasp("§5.5, state entities")],
    requirements: &["US-11"],
    page: include_str!("uasp_consumer_unknown.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for uasp in &skill.uasp {
        let Some(document) = uasp.document() else { continue };
        let declared = DeclaredNames::from_sections(&document.sections);
        let mut unknown = Vec::new();
        for (index, entity) in document.sections.state.entities.iter().enumerate() {
            find_unknown_commands(entity, index, ("consumed_by", &entity.consumed_by), &declared, &mut unknown);
        }
        report_unknown_names(skill, &uasp.file, unknown, &declared, findings);
    }
}
