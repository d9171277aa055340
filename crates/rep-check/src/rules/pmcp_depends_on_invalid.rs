use rep_model::frontmatter::read_text;
use rep_model::yaml::YamlNode;
use rep_model::{Skill, names};

use crate::draft::Findings;
use crate::personal_mcp::find_personal_mcp_block;
use crate::yaml_edits::suggest_id;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "pmcp-depends-on-invalid",
    summary: "a dependency is not a valid skill id",
    since: "0.1.0",
    levels: RuleLevels { error: Profile::Pmcp.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::pmcp("PersonalMcpMetadata.validate_depends_on")],
    requirements: &["VAL-58"],
    page: include_str!("pmcp_depends_on_invalid.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some((file, block)) = find_personal_mcp_block(skill) else { return };
    let items = block.0.get("depends_on").and_then(YamlNode::items).unwrap_or(&[]);
    for (index, item) in items.iter().enumerate() {
        let Some(id) = read_text(item).filter(|id| id.is_text()) else { continue };
        let id = names::strip_whitespace(id.value);
        if !names::is_lowercase_id(id) {
            findings
                .add(file, item.span, format!("dependency `{id}` is not a valid skill id"))
                .with_data_path(format!("x-personal-mcp.depends_on[{index}]"))
                .help("use a skill id: lower-case letters, digits and hyphens, starting with a letter")
                .with_optional_fix(suggest_id(skill, file, item.span, id));
        }
    }
}
