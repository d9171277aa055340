use rep_model::frontmatter::read_text;
use rep_model::yaml::YamlNode;
use rep_model::{Skill, names};

use crate::draft::Findings;
use crate::personal_mcp::find_personal_mcp_block;
use crate::yaml_edits::suggest_id;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "pmcp-tag-not-kebab",
    summary: "a tag is not in kebab case",
    since: "0.1.0",
    levels: RuleLevels { warning: Profile::Pmcp.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::pmcp("repository metadata, tags")],
    requirements: &["VAL-55"],
    page: include_str!("pmcp_tag_not_kebab.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some((file, block)) = find_personal_mcp_block(skill) else { return };
    let items = block.0.get("tags").and_then(YamlNode::items).unwrap_or(&[]);
    for (index, item) in items.iter().enumerate() {
        let Some(tag) = read_text(item).filter(|tag| tag.is_text()) else { continue };
        let word = names::strip_whitespace(tag.value);
        let is_kebab = names::is_plain_name(word) && word.split('-').all(|part| !part.is_empty());
        if !is_kebab {
            findings
                .add(file, item.span, format!("tag `{word}` is not in kebab case"))
                .with_data_path(format!("x-personal-mcp.tags[{index}]"))
                .help("use lower-case letters and digits, with single hyphens between words")
                .with_optional_fix(suggest_id(skill, file, item.span, word));
        }
    }
}
