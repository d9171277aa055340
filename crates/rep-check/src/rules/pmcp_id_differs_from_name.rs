use rep_model::{Frontmatter, Skill, names};

use crate::draft::Findings;
use crate::personal_mcp::find_personal_mcp_block;
use crate::yaml_edits::suggest_value;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "pmcp-id-differs-from-name",
    summary: "the `x-personal-mcp` id differs from `name`",
    since: "0.1.0",
    levels: RuleLevels { error: Profile::Pmcp.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::pmcp("SkillFrontmatter.cross_validate")],
    requirements: &["VAL-18", "VAL-54"],
    page: include_str!("pmcp_id_differs_from_name.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some((file, block)) = find_personal_mcp_block(skill) else { return };
    let (Some(id), Some(name)) = (block.id(), skill.frontmatter().and_then(Frontmatter::name)) else { return };
    let (of_block, of_skill) = (names::strip_whitespace(id.value), names::strip_whitespace(name.value));
    // Another rule reports a value that is not a valid id.
    if of_block == of_skill || !names::is_lowercase_id(of_block) || !names::is_lowercase_id(of_skill) {
        return;
    }
    // Addresses that contain the id would have to change too.
    let has_address =
        skill.find_source(file).is_some_and(|text| text.text().contains(&format!("//skills/{of_block}/")));
    let fix = if has_address { None } else { suggest_value(skill, file, id.span(), of_skill) };
    findings
        .add(file, id.span(), format!("`id` is `{of_block}` but `name` is `{of_skill}`"))
        .with_data_path("x-personal-mcp.id")
        .help("give both the same value")
        .with_optional_fix(fix);
}
