//! Walks the JSON Schemas tools declare, as YAML nodes, so that every finding has a span.

use rep_model::yaml::{Entry, Node};

use crate::data_path::join;
use crate::tools::Declared;

/// A schema within a schema, or the outermost one.
pub(crate) struct Subschema<'a> {
    pub(crate) node: &'a Node,
    /// The data path, such as `tools[0].input_schema.properties.page`.
    pub(crate) path: String,
    /// Whether it only adds to another schema, so that closing it would change what that one means.
    pub(crate) is_part: bool,
}

/// Which of a tool's two schemas.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Input,
    Output,
}

/// The schemas of a tool that are mappings, with their data paths.
pub(crate) fn schemas<'a>(declared: &Declared<'a>) -> Vec<(Side, &'a Node, String)> {
    let tool = declared.tool;
    let sides =
        [(Side::Input, tool.input_schema(), "input_schema"), (Side::Output, tool.output_schema(), "output_schema")];
    let is_mapping = |node: &&Node| node.entries().is_some();
    sides
        .into_iter()
        .filter_map(|(side, node, key)| Some((side, node.filter(is_mapping)?, join(&declared.path, key))))
        .collect()
}

/// Every schema in a schema, itself first. Only mappings: `true` and `false` have nothing in them.
pub(crate) fn subschemas<'a>(root: &'a Node, path: &str) -> Vec<Subschema<'a>> {
    let mut found = vec![Subschema { node: root, path: path.to_owned(), is_part: false }];
    let mut at = 0;
    while at < found.len() {
        let Subschema { node, path, is_part } = &found[at];
        let below: Vec<Subschema<'a>> =
            node.entries().unwrap_or(&[]).iter().flat_map(|entry| below(entry, path, *is_part)).collect();
        found.extend(below.into_iter().filter(|schema| schema.node.entries().is_some()));
        at += 1;
    }
    found
}

/// The schemas directly below one keyword.
fn below<'a>(entry: &'a Entry, path: &str, is_part: bool) -> Vec<Subschema<'a>> {
    let keyword = entry.key.text().unwrap_or("");
    let path = join(path, keyword);
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
            // Drafts before 2020-12 let `items` be a list of schemas.
            Some(items) => listed(items, &path, is_part),
            None => vec![Subschema { node: &entry.value, path, is_part }],
        },
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => listed(entry.value.items().unwrap_or(&[]), &path, is_part),
        "$defs" | "definitions" | "dependentSchemas" | "patternProperties" | "properties" => {
            let named = |entry: &'a Entry| Subschema {
                node: &entry.value,
                path: join(&path, entry.key.text().unwrap_or("?")),
                is_part,
            };
            entry.value.entries().unwrap_or(&[]).iter().map(named).collect()
        }
        _ => Vec::new(),
    }
}

fn listed<'a>(items: &'a [Node], path: &str, is_part: bool) -> Vec<Subschema<'a>> {
    let numbered = |(index, node)| Subschema { node, path: format!("{path}[{index}]"), is_part };
    items.iter().enumerate().map(numbered).collect()
}

/// Whether a schema describes objects.
pub(crate) fn is_object(schema: &Node) -> bool {
    match schema.get("type") {
        Some(kind) => names_type(kind, "object"),
        None => schema.get("properties").is_some_and(|properties| properties.entries().is_some()),
    }
}

/// Whether a `type` is this word, or a list that holds it.
pub(crate) fn names_type(kind: &Node, word: &str) -> bool {
    kind.text() == Some(word) || kind.items().is_some_and(|items| items.iter().any(|item| item.text() == Some(word)))
}
