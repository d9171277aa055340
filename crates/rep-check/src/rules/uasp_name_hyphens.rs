use rep_model::uasp::UaspView;
use rep_model::{Skill, names};

use crate::draft::Findings;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "uasp-name-hyphens",
    summary: "a name has a hyphen that is not followed by a word",
    since: "0.1.0",
    levels: RuleLevels { warning: Profile::Uasp.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::uasp("§5.1"), RuleCitation::agentskills("name field")],
    requirements: &["US-03"],
    page: include_str!("uasp_name_hyphens.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for uasp in &skill.uasp {
        let Some(name) = uasp.view().and_then(UaspView::name) else { continue };
        // Another rule reports a name that violates the UASP pattern.
        if !names::is_lowercase_id(name.value) || name.value.split('-').all(|part| !part.is_empty()) {
            continue;
        }
        findings
            .add(&uasp.file, name.span(), format!("name `{}` has a hyphen that is not followed by a word", name.value))
            .with_data_path("meta.name")
            .help("use single hyphens between words; other formats reject anything else");
    }
}
