use std::collections::BTreeSet;

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::meta::MetaValidator;
use jsonschema::paths::LocationSegment;
use rep_model::Skill;
use rep_model::yaml::{YamlNode, core};

use crate::data_path::join_path;
use crate::draft::Findings;
use crate::fix::FindingFix;
use crate::profile::TOOLS;
use crate::tool_schema::list_tool_schemas;
use crate::tools::list_declared_tools;
use crate::{LintRule, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "tool-schema-invalid",
    summary: "a tool's schema is not valid JSON Schema",
    since: "0.1.0",
    levels: RuleLevels { error: TOOLS, ..RuleLevels::NONE },
    citations: &[RuleCitation::universal("§7, JSON Schema 2020-12"), RuleCitation::host_table("mcp: inputSchema")],
    requirements: &["TOOL-20", "VAL-70", "VAL-71"],
    page: include_str!("tool_schema_invalid.md"),
    check: RuleCheck::Skill(check),
};

/// The maximum number of findings per schema.
const FAULTS_MAX: usize = 3;

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for declared in list_declared_tools(skill) {
        for (_, schema, path) in list_tool_schemas(&declared) {
            let source = skill.find_source(declared.file).map_or("", |source| source.text());
            check_schema((declared.file, source), schema, &path, findings);
        }
    }
}

fn check_schema((file, source): (&str, &str), schema: &YamlNode, path: &str, findings: &mut Findings<'_>) {
    let json = core::to_json(schema);
    let Some((validator, draft)) = find_meta_schema(json.get("$schema").and_then(serde_json::Value::as_str)) else {
        return;
    };
    let mut told = BTreeSet::new();
    for error in validator.iter_errors(&json) {
        let (node, path) = locate_error(schema, path, &error);
        if !told.insert(path.clone()) {
            continue;
        }
        findings
            .add(file, node.span, format!("`{path}` is not valid JSON Schema {draft}: {}", describe_error(&error)))
            .with_data_path(path)
            .help(suggest_fix(node))
            .with_optional_fix(quote_null(file, source, node));
        if told.len() == FAULTS_MAX {
            break;
        }
    }
}

/// Returns the help for an error. The most common error is the type `null` without quotes, which is YAML's null.
fn suggest_fix(node: &YamlNode) -> &'static str {
    let has_null = node.is_null() || node.items().is_some_and(|items| items.iter().any(YamlNode::is_null));
    if has_null {
        "put the type in quotes: `\"null\"`"
    } else {
        "fix the schema; hosts reject a tool with an invalid schema"
    }
}

/// Returns a fix that puts the type `null` in quotes.
fn quote_null(file: &str, source: &str, node: &YamlNode) -> Option<FindingFix> {
    let items = node.items().unwrap_or(std::slice::from_ref(node));
    let is_written = |item: &&YamlNode| item.is_null() && source.get(item.span.range()) == Some("null");
    let mut nulls = items.iter().filter(is_written).peekable();
    nulls.peek()?;
    let fix = FindingFix::suggestion("put the type in quotes");
    Some(nulls.fold(fix, |fix, item| fix.replace(file, item.span, "\"null\"")))
}

/// Returns the meta-schema that a schema declares, or `None` if it is unknown and the schema cannot be checked.
fn find_meta_schema(name: Option<&str>) -> Option<(MetaValidator<'static>, &'static str)> {
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

/// Returns the node that an error refers to, and its data path.
fn locate_error<'a>(schema: &'a YamlNode, path: &str, error: &ValidationError<'_>) -> (&'a YamlNode, String) {
    let (mut node, mut path) = (schema, path.to_owned());
    for segment in error.instance_path().segments() {
        let below = match &segment {
            LocationSegment::Property(key) => node.find_entry(key).map(|entry| (&entry.value, join_path(&path, key))),
            LocationSegment::Index(index) => {
                node.items().and_then(|items| items.get(*index)).map(|item| (item, format!("{path}[{index}]")))
            }
        };
        let Some(below) = below else { break };
        (node, path) = below;
    }
    (node, path)
}

fn describe_error(error: &ValidationError<'_>) -> String {
    match error.kind() {
        ValidationErrorKind::Type { kind: TypeKind::Single(wanted) } => format!("it is not of type `{wanted}`"),
        ValidationErrorKind::Type { kind: TypeKind::Multiple(_) } => "it is not a schema".to_owned(),
        ValidationErrorKind::AnyOf { .. } | ValidationErrorKind::Enum { .. } => {
            "it is not one of the allowed values".to_owned()
        }
        ValidationErrorKind::Minimum { limit } => format!("it is below {limit}"),
        ValidationErrorKind::ExclusiveMinimum { limit } => format!("it is not above {limit}"),
        ValidationErrorKind::MinItems { .. } => "it is empty".to_owned(),
        ValidationErrorKind::UniqueItems => "duplicate item".to_owned(),
        other => format!("it violates `{}`", other.keyword()),
    }
}
