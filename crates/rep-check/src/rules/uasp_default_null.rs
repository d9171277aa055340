use rep_model::Skill;
use rep_model::uasp::UaspView;

use crate::draft::Findings;
use crate::yaml_edits::suggest_entry_removal;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "uasp-default-null",
    summary: "a default is null",
    since: "0.1.0",
    levels: RuleLevels { warning: Profile::Uasp.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::uasp("§3.1, EnvironmentVar"), RuleCitation::uasp("§5.11")],
    requirements: &["US-21"],
    page: include_str!("uasp_default_null.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    // Taken literally, the schema rejects null, which `field-type` reports.
    if findings.is_strict_schema() {
        return;
    }
    for uasp in &skill.uasp {
        for (index, item) in uasp.view().map(UaspView::environment_items).unwrap_or_default().iter().enumerate() {
            let Some(entry) = item.find_entry("default").filter(|entry| entry.value.is_null()) else { continue };
            findings
                .add(&uasp.file, entry.key.span, "`default` is null, but the schema requires text")
                .with_data_path(format!("environment[{index}].default"))
                .help("remove the field if the variable has no default")
                .with_optional_fix(suggest_entry_removal(skill, &uasp.file, entry.key.span));
        }
    }
}
