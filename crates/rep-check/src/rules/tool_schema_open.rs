use rep_model::yaml::{YamlNode, core};
use rep_model::{Skill, Span};

use crate::draft::Findings;
use crate::tool_schema::{SchemaSide, collect_subschemas, is_object_schema, list_tool_schemas, suggest_schema_entry};
use crate::tools::list_declared_tools;
use crate::{LintRule, Profile, ProfileSet, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "tool-schema-open",
    summary: "an object in a tool's schema accepts undeclared properties",
    since: "0.1.0",
    levels: RuleLevels { error: Profile::OpenAi.as_set(), warning: Profile::Universal.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::universal("§7, additionalProperties"), RuleCitation::host_table("openai: strict mode")],
    requirements: &["TOOL-22", "TOOL-23", "HOST-17", "VAL-71"],
    page: include_str!("tool_schema_open.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for declared in list_declared_tools(skill) {
        for (side, schema, path) in list_tool_schemas(&declared) {
            for found in collect_subschemas(schema, &path).into_iter().filter(|found| is_object_schema(found.node)) {
                // Closing a part would reject the properties of the other parts, so Universal allows it.
                let only = match (classify_openness(found.node), side, found.is_part) {
                    (SchemaOpenness::Closed, _, _)
                    | (SchemaOpenness::ClosedByUnevaluated, SchemaSide::Output, _)
                    | (_, SchemaSide::Output, true) => {
                        continue;
                    }
                    (SchemaOpenness::Open, SchemaSide::Input, false) => {
                        ProfileSet::new(&[Profile::Universal, Profile::OpenAi])
                    }
                    (SchemaOpenness::Open, SchemaSide::Output, false) => Profile::Universal.as_set(),
                    (_, SchemaSide::Input, true) | (SchemaOpenness::ClosedByUnevaluated, SchemaSide::Input, false) => {
                        Profile::OpenAi.as_set()
                    }
                };
                let has_key = found.node.find_entry("additionalProperties").is_some();
                let fix = || suggest_schema_entry(skill, declared.file, found.node, "additionalProperties", "false");
                let fix = if has_key { None } else { fix() };
                findings
                    .add(
                        declared.file,
                        Span::empty_at(found.node.span.start),
                        format!("`{}` is an open object", found.path),
                    )
                    .with_data_path(found.path)
                    .help("add `additionalProperties: false`")
                    .only_for_profiles(only)
                    .with_optional_fix(fix);
            }
        }
    }
}

/// How an object treats undeclared properties.
enum SchemaOpenness {
    Closed,
    /// They are rejected by `unevaluatedProperties`, which strict hosts do not support.
    ClosedByUnevaluated,
    Open,
}

fn classify_openness(schema: &YamlNode) -> SchemaOpenness {
    let is_false =
        |key| schema.get(key).is_some_and(|value| core::classify_scalar(value) == Some(core::CoreScalar::Bool(false)));
    if is_false("additionalProperties") {
        SchemaOpenness::Closed
    } else if is_false("unevaluatedProperties") {
        SchemaOpenness::ClosedByUnevaluated
    } else {
        SchemaOpenness::Open
    }
}
