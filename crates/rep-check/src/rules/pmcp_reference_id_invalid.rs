use rep_model::{Skill, names};

use crate::draft::Findings;
use crate::personal_mcp::find_personal_mcp_block;
use crate::yaml_edits::suggest_id;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "pmcp-reference-id-invalid",
    summary: "a reference has an invalid id",
    since: "0.1.0",
    levels: RuleLevels { error: Profile::Pmcp.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::pmcp("PersonalMcpMetadata.validate_reference_ids")],
    requirements: &["VAL-59"],
    page: include_str!("pmcp_reference_id_invalid.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some((file, block)) = find_personal_mcp_block(skill) else { return };
    for entry in block.references() {
        let Some(id) = entry.key.text().map(names::strip_whitespace) else { continue };
        if !names::is_lowercase_id(id) {
            findings
                .add(file, entry.key.span, format!("`{id}` is not a valid reference id"))
                .with_data_path("x-personal-mcp.references")
                .help("use lower-case letters, digits and hyphens, starting with a letter")
                .with_optional_fix(suggest_id(skill, file, entry.key.span, id));
        }
    }
}
