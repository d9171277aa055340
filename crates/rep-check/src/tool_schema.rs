//! Walks the JSON Schemas of tools as YAML nodes, so that every finding has a span.

use rep_model::Skill;
use rep_model::yaml::{YamlEntry, YamlNode};

use crate::data_path::join_path;
use crate::fix::FindingFix;
use crate::tools::LocatedTool;
use crate::yaml_edits::add_short_entry;

/// A nested schema, or the root schema.
pub(crate) struct Subschema<'a> {
    pub(crate) node: &'a YamlNode,
    /// The data path, such as `tools[0].input_schema.properties.page`.
    pub(crate) path: String,
    /// Whether it only extends another schema, so that closing it would change the meaning of the other.
    pub(crate) is_part: bool,
}

/// One of the two schemas of a tool.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum SchemaSide {
    Input,
    Output,
}

/// Returns the schemas of a tool that are mappings, with their data paths.
pub(crate) fn list_tool_schemas<'a>(declared: &LocatedTool<'a>) -> Vec<(SchemaSide, &'a YamlNode, String)> {
    let tool = declared.tool;
    let sides = [
        (SchemaSide::Input, tool.input_schema(), "input_schema"),
        (SchemaSide::Output, tool.output_schema(), "output_schema"),
    ];
    let is_mapping = |node: &&YamlNode| node.entries().is_some();
    sides
        .into_iter()
        .filter_map(|(side, node, key)| Some((side, node.filter(is_mapping)?, join_path(&declared.path, key))))
        .collect()
}

/// Collects a schema and all schemas in it, the root first. Only mappings: `true` and `false` contain nothing.
pub(crate) fn collect_subschemas<'a>(root: &'a YamlNode, path: &str) -> Vec<Subschema<'a>> {
    let mut found = vec![Subschema { node: root, path: path.to_owned(), is_part: false }];
    let mut at = 0;
    while at < found.len() {
        let Subschema { node, path, is_part } = &found[at];
        let below: Vec<Subschema<'a>> =
            node.entries().unwrap_or(&[]).iter().flat_map(|entry| list_child_schemas(entry, path, *is_part)).collect();
        found.extend(below.into_iter().filter(|schema| schema.node.entries().is_some()));
        at += 1;
    }
    found
}

/// Returns the schemas directly under a keyword.
fn list_child_schemas<'a>(entry: &'a YamlEntry, path: &str, is_part: bool) -> Vec<Subschema<'a>> {
    let keyword = entry.key.text().unwrap_or("");
    let path = join_path(path, keyword);
    let is_part = is_part || matches!(keyword, "allOf" | "dependentSchemas" | "else" | "if" | "not" | "then");
    match keyword {
        "additionalProperties"
        | "contains"
        | "else"
        | "if"
        | "items"
        | "not"
        | "propertyNames"
        | "then"
        | "unevaluatedItems"
        | "unevaluatedProperties" => match entry.value.items() {
            // Drafts before 2020-12 allow `items` to be a list of schemas.
            Some(items) => list_item_schemas(items, &path, is_part),
            None => vec![Subschema { node: &entry.value, path, is_part }],
        },
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => {
            list_item_schemas(entry.value.items().unwrap_or(&[]), &path, is_part)
        }
        "$defs" | "definitions" | "dependentSchemas" | "patternProperties" | "properties" => {
            let named = |entry: &'a YamlEntry| Subschema {
                node: &entry.value,
                path: join_path(&path, entry.key.text().unwrap_or("?")),
                is_part,
            };
            entry.value.entries().unwrap_or(&[]).iter().map(named).collect()
        }
        _ => Vec::new(),
    }
}

fn list_item_schemas<'a>(items: &'a [YamlNode], path: &str, is_part: bool) -> Vec<Subschema<'a>> {
    let numbered = |(index, node)| Subschema { node, path: format!("{path}[{index}]"), is_part };
    items.iter().enumerate().map(numbered).collect()
}

/// Whether a schema describes objects.
pub(crate) fn is_object_schema(schema: &YamlNode) -> bool {
    match schema.get("type") {
        Some(kind) => has_type_word(kind, "object"),
        None => schema.get("properties").is_some_and(|properties| properties.entries().is_some()),
    }
}

/// Whether a `type` is this word, or a list that contains it.
pub(crate) fn has_type_word(kind: &YamlNode, word: &str) -> bool {
    kind.text() == Some(word) || kind.items().is_some_and(|items| items.iter().any(|item| item.text() == Some(word)))
}

/// Returns a suggestion that adds an entry to a schema, in YAML or JSON.
pub(crate) fn suggest_schema_entry(
    skill: &Skill,
    file: &str,
    schema: &YamlNode,
    key: &str,
    value: &str,
) -> Option<FindingFix> {
    let source = skill.find_source(file)?.text();
    let is_json = source[schema.span.range()].starts_with('{');
    let is_word = value.chars().all(char::is_alphabetic) && value != "false" && value != "true";
    let entry = match (is_json, is_word) {
        (true, true) => format!("\"{key}\": \"{value}\""),
        (true, false) => format!("\"{key}\": {value}"),
        (false, _) => format!("{key}: {value}"),
    };
    let (at, text) = add_short_entry(source, schema, &entry)?;
    Some(FindingFix::suggestion(format!("add `{key}: {value}`")).replace(file, at, text))
}
