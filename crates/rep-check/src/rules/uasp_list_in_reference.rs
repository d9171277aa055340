use rep_model::Skill;
use rep_model::uasp::UaspView;

use crate::data_path::shorten_key;
use crate::draft::Findings;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "uasp-list-in-reference",
    summary: "a list where the `reference` schema requires text",
    since: "0.1.0",
    levels: RuleLevels { warning: Profile::Uasp.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::uasp("§3.1, ReferenceEntry"), RuleCitation::uasp("§8.2")],
    requirements: &["US-19"],
    page: include_str!("uasp_list_in_reference.md"),
    check: RuleCheck::Skill(check),
};

/// The fields of a reference entry whose type the schema declares by name.
const TYPED_FIELDS: [&str; 4] = ["syntax", "example", "notes", "values"];

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    // Taken literally, the schema rejects such a list, which `field-type` reports.
    if findings.is_strict_schema() {
        return;
    }
    for uasp in &skill.uasp {
        for entry in uasp.view().map(UaspView::reference_entries).unwrap_or_default() {
            for field in entry.value.entries().unwrap_or(&[]) {
                let (Some(name), Some(key)) = (entry.key.text().map(shorten_key), field.key.text()) else { continue };
                if field.value.items().is_some() && !TYPED_FIELDS.contains(&key) {
                    findings
                        .add(&uasp.file, field.value.span, format!("`{key}` is a list, but the schema requires text"))
                        .with_data_path(format!("reference.{name}.{key}"))
                        .help("write text, or put the list under `values`");
                }
            }
        }
    }
}
