use rep_model::yaml::YamlNode;
use rep_model::{Skill, Span};

use crate::data_path::join_path;
use crate::draft::Findings;
use crate::profile::TOOLS;
use crate::tool_schema::suggest_schema_entry;
use crate::tool_schema::{SchemaSide, list_tool_schemas};
use crate::tools::list_declared_tools;
use crate::{LintRule, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "tool-input-not-object",
    summary: "a tool's input schema is not an object",
    since: "0.1.0",
    levels: RuleLevels { error: TOOLS, ..RuleLevels::NONE },
    citations: &[
        RuleCitation::universal("§7, minimum portability rules"),
        RuleCitation::host_table("mcp: inputSchema"),
        RuleCitation::host_table("openai: strict mode"),
    ],
    requirements: &["TOOL-21", "VAL-71"],
    page: include_str!("tool_input_not_object.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for declared in list_declared_tools(skill) {
        for (_, schema, path) in
            list_tool_schemas(&declared).into_iter().filter(|(side, _, _)| *side == SchemaSide::Input)
        {
            let (span, message, path) = match schema.find_entry("type").map(|entry| &entry.value) {
                None => (Span::empty_at(schema.span.start), format!("`{path}` has no `type`"), path),
                Some(kind) if kind.text() == Some("object") || !is_schema_type(kind) => continue,
                Some(kind) => {
                    let path = join_path(&path, "type");
                    let found = kind.text().map_or_else(|| "a list".to_owned(), |text| format!("`{text}`"));
                    (kind.span, format!("`{path}` is {found}"), path)
                }
            };
            let has_type = schema.find_entry("type").is_some();
            let fix =
                if has_type { None } else { suggest_schema_entry(skill, declared.file, schema, "type", "object") };
            findings
                .add(declared.file, span, message)
                .with_data_path(path)
                .help("write `type: object`; arguments are named")
                .with_optional_fix(fix);
        }
    }
}

/// Whether a `type` is valid; `tool-schema-invalid` reports other values.
fn is_schema_type(kind: &YamlNode) -> bool {
    const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];
    let words = kind.items().unwrap_or(std::slice::from_ref(kind));
    words.iter().all(|word| word.text().is_some_and(|text| TYPES.contains(&text)) && !word.is_null())
}
