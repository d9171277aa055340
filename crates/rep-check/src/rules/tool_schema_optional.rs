use std::collections::BTreeSet;

use rep_model::Skill;
use rep_model::yaml::YamlNode;

use crate::data_path::join_path;
use crate::draft::Findings;
use crate::tool_schema::{SchemaSide, collect_subschemas, list_tool_schemas};
use crate::tools::list_declared_tools;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "tool-schema-optional",
    summary: "an argument is not listed in `required`",
    since: "0.1.0",
    levels: RuleLevels { warning: Profile::OpenAi.as_set(), ..RuleLevels::NONE },
    citations: &[
        RuleCitation::universal("§7, OpenAI strict-compatible schema profile"),
        RuleCitation::host_table("openai: strict mode"),
    ],
    requirements: &["TOOL-24"],
    page: include_str!("tool_schema_optional.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for declared in list_declared_tools(skill) {
        for (_, schema, path) in
            list_tool_schemas(&declared).into_iter().filter(|(side, _, _)| *side == SchemaSide::Input)
        {
            for found in collect_subschemas(schema, &path) {
                let required = found.node.get("required").and_then(YamlNode::items).unwrap_or(&[]);
                let required: BTreeSet<&str> = required.iter().filter_map(YamlNode::text).collect();
                let properties = found.node.get("properties").and_then(YamlNode::entries).unwrap_or(&[]);
                for entry in
                    properties.iter().filter(|entry| !entry.key.text().is_some_and(|key| required.contains(key)))
                {
                    let path = join_path(&join_path(&found.path, "properties"), entry.key.text().unwrap_or("?"));
                    findings
                        .add(declared.file, entry.key.span, format!("`{path}` is not in `required`"))
                        .with_data_path(path)
                        .help("add it to `required`, and allow the type `null` if it is optional");
                }
            }
        }
    }
}
