use rep_model::yaml::YamlNode;
use rep_model::{Skill, TreeEntry, names};

use crate::draft::Findings;
use crate::personal_mcp::find_personal_mcp_block;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "pmcp-capability-unserved",
    summary: "a capability names nothing that can be served",
    since: "0.1.0",
    levels: RuleLevels { warning: Profile::Pmcp.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::pmcp("repository metadata, capabilities")],
    requirements: &["VAL-57"],
    page: include_str!("pmcp_capability_unserved.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some((file, block)) = find_personal_mcp_block(skill) else { return };
    let Some(id) = block.id().map(|id| id.value).filter(|id| names::is_lowercase_id(id)) else { return };
    let is_file = |path: &str| matches!(skill.tree.entries.get(path), Some(TreeEntry::File { .. }));
    let references = format!("resource://skills/{id}/references/");
    let items = block.0.get("capabilities").and_then(YamlNode::items).unwrap_or(&[]);
    for (index, item) in items.iter().enumerate() {
        let Some(uri) = item.text() else { continue };
        // Other rules report a reference without a file, and the document of another skill.
        let is_reference = uri.strip_prefix(&references).is_some_and(|id| block.find_reference(id).is_some());
        let own_file = uri.strip_prefix("skill://").and_then(|rest| rest.strip_prefix(id)?.strip_prefix('/'));
        let path = block.resolve_uri(id, uri);
        let is_served = path.is_some_and(|path| path == "SKILL.md" || is_file(&path)) || own_file.is_some_and(is_file);
        if !is_reference && !is_served {
            findings
                .add(file, item.span, format!("nothing is served at `{uri}`"))
                .with_data_path(format!("x-personal-mcp.capabilities[{index}]"))
                .help(format!(
                    "name a reference (`{references}ID`) or a file of the skill (`resource://skills/{id}/PATH`)"
                ));
        }
    }
}
