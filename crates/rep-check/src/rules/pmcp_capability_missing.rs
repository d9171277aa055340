use rep_model::yaml::YamlNode;
use rep_model::{Skill, Span, names};

use crate::draft::Findings;
use crate::field_checks::suggest_item;
use crate::personal_mcp::find_personal_mcp_block;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "pmcp-capability-missing",
    summary: "`capabilities` does not include the skill's own address",
    since: "0.1.0",
    levels: RuleLevels { error: Profile::Pmcp.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::pmcp("PersonalMcpMetadata.ensure_primary_capability")],
    requirements: &["VAL-57"],
    page: include_str!("pmcp_capability_missing.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some((file, block)) = find_personal_mcp_block(skill) else { return };
    let Some(id) = block.id().map(|id| names::strip_whitespace(id.value)).filter(|id| names::is_lowercase_id(id))
    else {
        return;
    };
    let Some(list) = block.0.get("capabilities") else { return };
    let items = list.items().unwrap_or(&[]);
    let wanted = format!("resource://skills/{id}/document");
    let is_other = |item: &YamlNode| item.text().is_some_and(|text| names::strip_whitespace(text) != wanted);
    // Other rules report an empty list, and items that are not text.
    if !items.is_empty() && items.iter().all(is_other) {
        findings
            .add(file, Span::empty_at(list.span.start), format!("`capabilities` does not include `{wanted}`"))
            .with_data_path("x-personal-mcp.capabilities")
            .help("add it to the list")
            .with_optional_fix(suggest_item(skill, list, &wanted));
    }
}
