use rep_model::yaml::YamlNode;
use rep_model::{Skill, Span};

use crate::draft::Findings;
use crate::tool_schema::{SchemaSide, collect_subschemas, has_type_word, list_tool_schemas};
use crate::tools::list_declared_tools;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "tool-schema-untyped",
    summary: "a part of a tool's schema accepts any value",
    since: "0.1.0",
    levels: RuleLevels { error: Profile::OpenAi.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::host_table("openai: strict mode")],
    requirements: &["TOOL-23", "VAL-70", "HOST-17"],
    page: include_str!("tool_schema_untyped.md"),
    check: RuleCheck::Skill(check),
};

/// The keywords that determine which values a schema accepts. A rule of its own reports those that are not supported.
const DECIDING_KEYWORDS: [&str; 11] =
    ["$ref", "allOf", "anyOf", "const", "else", "enum", "if", "not", "oneOf", "then", "type"];

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for declared in list_declared_tools(skill) {
        for (_, schema, path) in
            list_tool_schemas(&declared).into_iter().filter(|(side, _, _)| *side == SchemaSide::Input)
        {
            // The root is the business of `tool-input-not-object`. Parts extend a schema that has a type.
            for found in collect_subschemas(schema, &path).into_iter().skip(1).filter(|found| !found.is_part) {
                let Some((what, help)) = describe_untyped(found.node) else { continue };
                findings
                    .add(declared.file, Span::empty_at(found.node.span.start), format!("`{}` {what}", found.path))
                    .with_data_path(found.path)
                    .help(help);
            }
        }
    }
}

fn describe_untyped(schema: &YamlNode) -> Option<(&'static str, &'static str)> {
    let has = |keyword: &&str| schema.get(keyword).is_some();
    if !DECIDING_KEYWORDS.iter().any(has) {
        return Some(("has no `type`", "add `type`, with a list of types if there are several"));
    }
    let is_list = schema.get("type").is_some_and(|kind| has_type_word(kind, "array"));
    (is_list && !has(&"items") && !has(&"prefixItems")).then_some(("is a list without `items`", "add `items`"))
}
