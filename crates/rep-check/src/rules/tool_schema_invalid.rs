use std::collections::BTreeSet;

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::meta::MetaValidator;
use jsonschema::paths::LocationSegment;
use rep_model::Skill;
use rep_model::yaml::{Node, core};

use crate::data_path::join;
use crate::engine::Findings;
use crate::profile::TOOLS;
use crate::schema::schemas;
use crate::tools::declared;
use crate::{Check, Cite, Levels, Rule};

pub(super) static RULE: Rule = Rule {
    name: "tool-schema-invalid",
    summary: "the schema of a tool is no valid JSON Schema",
    since: "0.1.0",
    levels: Levels { error: TOOLS, ..Levels::NONE },
    cites: &[Cite::universal("§7, JSON Schema 2020-12"), Cite::host("mcp: inputSchema")],
    requirements: &["TOOL-20", "VAL-70", "VAL-71"],
    page: include_str!("tool_schema_invalid.md"),
    check: Check::Skill(check),
};

/// More than these about one schema help nobody.
const FAULTS_MAX: usize = 3;

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for declared in declared(skill) {
        for (_, schema, path) in schemas(&declared) {
            judge(declared.file, schema, &path, findings);
        }
    }
}

fn judge(file: &str, schema: &Node, path: &str, findings: &mut Findings<'_>) {
    let json = core::json(schema);
    let Some((validator, draft)) = meta_schema(json.get("$schema").and_then(serde_json::Value::as_str)) else { return };
    let mut told = BTreeSet::new();
    for error in validator.iter_errors(&json) {
        let (node, path) = locate(schema, path, &error);
        if !told.insert(path.clone()) {
            continue;
        }
        findings
            .add(file, node.span, format!("`{path}` is not valid JSON Schema {draft}: {}", reason(&error)))
            .path(path)
            .help(advice(node));
        if told.len() == FAULTS_MAX {
            break;
        }
    }
}

/// The type `null` without quotes is YAML's null, and the commonest fault of all.
fn advice(node: &Node) -> &'static str {
    let has_null = node.is_null() || node.items().is_some_and(|items| items.iter().any(Node::is_null));
    if has_null {
        "put the type in quotes: `\"null\"`"
    } else {
        "mend the schema; hosts refuse a tool whose schema they cannot read"
    }
}

/// The meta-schema a schema asks for; `None` for one that is not known here, which nothing can be said about.
fn meta_schema(name: Option<&str>) -> Option<(MetaValidator<'static>, &'static str)> {
    let name = name.map(|name| name.trim_end_matches('#').trim_start_matches("https://").trim_start_matches("http://"));
    match name {
        None | Some("json-schema.org/draft/2020-12/schema") => {
            Some((jsonschema::draft202012::meta::validator(), "2020-12"))
        }
        Some("json-schema.org/draft/2019-09/schema") => Some((jsonschema::draft201909::meta::validator(), "2019-09")),
        Some("json-schema.org/draft-07/schema") => Some((jsonschema::draft7::meta::validator(), "draft-07")),
        Some("json-schema.org/draft-06/schema") => Some((jsonschema::draft6::meta::validator(), "draft-06")),
        Some("json-schema.org/draft-04/schema") => Some((jsonschema::draft4::meta::validator(), "draft-04")),
        Some(_) => None,
    }
}

/// The node an error is about, and its data path.
fn locate<'a>(schema: &'a Node, path: &str, error: &ValidationError<'_>) -> (&'a Node, String) {
    let (mut node, mut path) = (schema, path.to_owned());
    for segment in error.instance_path().segments() {
        let below = match &segment {
            LocationSegment::Property(key) => node.entry(key).map(|entry| (&entry.value, join(&path, key))),
            LocationSegment::Index(index) => {
                node.items().and_then(|items| items.get(*index)).map(|item| (item, format!("{path}[{index}]")))
            }
        };
        let Some(below) = below else { break };
        (node, path) = below;
    }
    (node, path)
}

fn reason(error: &ValidationError<'_>) -> String {
    match error.kind() {
        ValidationErrorKind::Type { kind: TypeKind::Single(wanted) } => format!("it is no {wanted}"),
        ValidationErrorKind::Type { kind: TypeKind::Multiple(_) } => "it is no schema".to_owned(),
        ValidationErrorKind::AnyOf { .. } | ValidationErrorKind::Enum { .. } => {
            "it is none of the values allowed".to_owned()
        }
        ValidationErrorKind::Minimum { limit } => format!("it is below {limit}"),
        ValidationErrorKind::ExclusiveMinimum { limit } => format!("it is not above {limit}"),
        ValidationErrorKind::MinItems { .. } => "it is empty".to_owned(),
        ValidationErrorKind::UniqueItems => "an item stands twice".to_owned(),
        other => format!("it breaks `{}`", other.keyword()),
    }
}
