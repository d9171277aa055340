use rep_model::yaml::YamlNode;
use rep_model::{Skill, Span};

use crate::draft::Findings;
use crate::host_limits::openai_strict::{
    ENUM_VALUES_MAX, LEVELS_MAX, LONG_ENUM_CHARS_MAX, LONG_ENUM_VALUES, NAME_CHARS_MAX, PROPERTIES_MAX,
};
use crate::tool_schema::{SchemaSide, collect_subschemas, list_tool_schemas};
use crate::tools::list_declared_tools;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "tool-schema-too-large",
    summary: "a tool's schema exceeds a limit of strict mode",
    since: "0.1.0",
    levels: RuleLevels { error: Profile::OpenAi.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::host_table("openai: strict mode")],
    requirements: &["TOOL-23", "VAL-70", "HOST-17"],
    page: include_str!("tool_schema_too_large.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for declared in list_declared_tools(skill) {
        for (_, schema, path) in
            list_tool_schemas(&declared).into_iter().filter(|(side, _, _)| *side == SchemaSide::Input)
        {
            for what in list_excesses(schema, &path) {
                findings
                    .add(declared.file, Span::empty_at(schema.span.start), format!("`{path}` has {what}"))
                    .with_data_path(path.clone())
                    .help("split the tool, or take what varies as text");
            }
        }
    }
}

/// Describes the limits that a schema exceeds.
fn list_excesses(schema: &YamlNode, path: &str) -> Vec<String> {
    let (mut properties, mut enum_values, mut name_chars, mut long_enum_chars) = (0, 0, 0, 0);
    let count_chars = |node: &YamlNode| node.text().map_or(0, |text| text.chars().count());
    for found in collect_subschemas(schema, path) {
        let entries = |key: &str| found.node.get(key).and_then(YamlNode::entries).unwrap_or(&[]);
        properties += entries("properties").len();
        for key in ["properties", "$defs", "definitions"] {
            name_chars += entries(key).iter().map(|entry| count_chars(&entry.key)).sum::<usize>();
        }
        name_chars += found.node.get("const").map_or(0, count_chars);
        let values = found.node.get("enum").and_then(YamlNode::items).unwrap_or(&[]);
        let chars: usize = values.iter().map(count_chars).sum();
        enum_values += values.len();
        name_chars += chars;
        if values.len() > LONG_ENUM_VALUES {
            long_enum_chars = chars.max(long_enum_chars);
        }
    }
    let limits = [
        (measure_levels(schema), LEVELS_MAX, "levels of objects and lists"),
        (properties, PROPERTIES_MAX, "properties"),
        (enum_values, ENUM_VALUES_MAX, "values in `enum`"),
        (name_chars, NAME_CHARS_MAX, "characters in names and values"),
        (long_enum_chars, LONG_ENUM_CHARS_MAX, "characters in one `enum`"),
    ];
    let exceeded = limits.into_iter().filter(|(count, limit, _)| count > limit);
    exceeded.map(|(count, limit, what)| format!("{count} {what}; the limit is {limit}")).collect()
}

/// Returns how deeply objects and lists are nested. References are not followed: a recursive schema is allowed.
fn measure_levels(schema: &YamlNode) -> usize {
    let mut deepest = 0;
    let mut waiting = vec![(schema, 1)];
    while let Some((node, level)) = waiting.pop() {
        let properties = node.get("properties").and_then(YamlNode::entries);
        if properties.is_some() || node.get("items").is_some() {
            deepest = deepest.max(level);
        }
        waiting.extend(properties.unwrap_or(&[]).iter().map(|entry| (&entry.value, level + 1)));
        waiting.extend(node.get("items").map(|items| (items, level + 1)));
        let ways = node.get("anyOf").and_then(YamlNode::items).unwrap_or(&[]);
        waiting.extend(ways.iter().map(|way| (way, level)));
        for key in ["$defs", "definitions"] {
            let definitions = node.get(key).and_then(YamlNode::entries).unwrap_or(&[]);
            waiting.extend(definitions.iter().map(|entry| (&entry.value, 1)));
        }
    }
    deepest
}
