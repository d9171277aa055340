use rep_model::Skill;

use crate::data_path::join_path;
use crate::draft::Findings;
use crate::host_limits::OPENAI_STRICT_UNSUPPORTED;
use crate::tool_schema::{SchemaSide, collect_subschemas, list_tool_schemas};
use crate::tools::list_declared_tools;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "tool-schema-unsupported",
    summary: "a tool's schema uses a keyword that strict mode rejects",
    since: "0.1.0",
    levels: RuleLevels { error: Profile::OpenAi.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::host_table("openai: strict mode")],
    requirements: &["TOOL-23", "VAL-70", "HOST-17"],
    page: include_str!("tool_schema_unsupported.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for declared in list_declared_tools(skill) {
        for (_, schema, path) in
            list_tool_schemas(&declared).into_iter().filter(|(side, _, _)| *side == SchemaSide::Input)
        {
            for found in collect_subschemas(schema, &path) {
                for entry in found.node.entries().unwrap_or(&[]) {
                    let Some(keyword) = entry.key.text().filter(|key| OPENAI_STRICT_UNSUPPORTED.contains(key)) else {
                        continue;
                    };
                    findings
                        .add(declared.file, entry.key.span, format!("`{}` uses `{keyword}`", found.path))
                        .with_data_path(join_path(&found.path, keyword))
                        .help("use `anyOf`, `enum` and closed objects, or state it in the description");
                }
            }
        }
    }
}
