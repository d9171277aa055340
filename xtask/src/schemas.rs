//! Generates the JSON Schemas in `schemas/` from `schemas/outputs.d.ts`.
//!
//! The code builds its JSON field by field and has no types to derive a schema from. The outputs are described
//! once, in declarations that people and TypeScript can read. Tests keep the description and the code consistent:
//! `crates/rep/tests/it/schemas.rs` validates what the binary prints. It fails on keys that are not described, and
//! on described fields that no run prints.

pub(crate) mod declarations;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};

use declarations::{TypeDeclaration, TypeExpression};

/// The description of all outputs.
pub(crate) const DESCRIPTION_FILE: &str = "schemas/outputs.d.ts";

/// An output and its schema.
pub(crate) struct SchemaOutput {
    /// Its name: `list`.
    pub(crate) name: String,
    /// The version of its format.
    pub(crate) version: u32,
    /// Its description.
    pub(crate) about: String,
    /// The command lines that print it.
    pub(crate) commands: Vec<String>,
    /// The files that contain it.
    pub(crate) files: Vec<String>,
    /// The schema.
    pub(crate) schema: Value,
}

impl SchemaOutput {
    /// Returns the name of its schema file.
    pub(crate) fn file_name(&self) -> String {
        format!("{}.v{}.json", self.name, self.version)
    }
}

/// Reads the description and generates the schemas, sorted by name.
pub(crate) fn load_outputs(root: &Path) -> Result<Vec<SchemaOutput>, String> {
    let text =
        fs::read_to_string(root.join(DESCRIPTION_FILE)).map_err(|error| format!("{DESCRIPTION_FILE}: {error}"))?;
    let all = declarations::parse(&text).map_err(|error| format!("{DESCRIPTION_FILE}: {error}"))?;
    let mut outputs = Vec::new();
    let mut used: BTreeSet<String> = all.iter().flat_map(|one| one.parents.iter().cloned()).collect();
    used.insert("integer".to_owned());
    for one in &all {
        let Some(name) = one.comment.tag_values("output").next() else { continue };
        let version = one.comment.tag_values("version").next().and_then(|text| text.parse().ok());
        let version = version.ok_or_else(|| format!("{DESCRIPTION_FILE}: {} has no `@version`", one.name))?;
        let commands: Vec<String> = one.comment.tag_values("command").map(str::to_owned).collect();
        let files: Vec<String> = one.comment.tag_values("file").map(str::to_owned).collect();
        if commands.is_empty() && files.is_empty() {
            return Err(format!("{DESCRIPTION_FILE}: {} has neither `@command` nor `@file`", one.name));
        }
        let mut output = SchemaOutput {
            name: name.to_owned(),
            version,
            about: one.comment.text.clone(),
            commands,
            files,
            schema: Value::Null,
        };
        output.schema = build_schema(one, &output, &all, &mut used)?;
        outputs.push(output);
    }
    if let Some(idle) =
        all.iter().find(|one| one.comment.tag_values("output").next().is_none() && !used.contains(&one.name))
    {
        return Err(format!("{DESCRIPTION_FILE}: {} is declared but not used", idle.name));
    }
    outputs.sort_by_key(SchemaOutput::file_name);
    Ok(outputs)
}

/// Fails if a schema lacks a field that the committed schema of the same version has.
pub(crate) fn check_fields_kept(old: &Value, output: &SchemaOutput) -> Result<(), String> {
    let (mut before, mut after) = (BTreeSet::new(), BTreeSet::new());
    collect_fields(old, "", &mut before);
    collect_fields(&output.schema, "", &mut after);
    match before.difference(&after).next() {
        None => Ok(()),
        Some(lost) => Err(format!(
            "schemas/{}: `{lost}` is gone; a field is never renamed or dropped within a version, so raise `@version` \
             (or, if no release had it, remove the file and generate it again)",
            output.file_name()
        )),
    }
}

/// Collects every field of a schema, with the names of its parent fields.
fn collect_fields(schema: &Value, above: &str, found: &mut BTreeSet<String>) {
    match schema {
        Value::Object(map) => {
            for (key, value) in map {
                match (key.as_str(), value) {
                    ("properties", Value::Object(own)) => {
                        for (name, field) in own {
                            let path = format!("{above}/{name}");
                            collect_fields(field, &path, found);
                            found.insert(path);
                        }
                    }
                    ("$defs", Value::Object(own)) => {
                        own.iter().for_each(|(name, one)| collect_fields(one, name, found));
                    }
                    _ => collect_fields(value, above, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_fields(item, above, found)),
        _ => {}
    }
}

fn build_schema(
    one: &TypeDeclaration,
    output: &SchemaOutput,
    all: &[TypeDeclaration],
    used: &mut BTreeSet<String>,
) -> Result<Value, String> {
    let title = match (output.commands.first(), output.files.first()) {
        (Some(command), _) => format!("Output of `{command}`"),
        (None, file) => format!("The file `{}`", file.map_or("", |file| file.split(':').next().unwrap_or(file))),
    };
    let mut schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": format!("urn:repertoire:schema:{}:{}", output.name, output.version),
        "title": title,
        "description": output.about,
        "x-version": output.version,
    });
    for (key, values) in [("x-commands", &output.commands), ("x-files", &output.files)] {
        if !values.is_empty() {
            schema[key] = json!(values);
        }
    }
    if one.comment.tag_values("lines").next().is_some() {
        schema["x-lines"] = json!(true);
    }
    let mut named = BTreeSet::new();
    let body = render_type(&one.body, &mut named);
    let mut defs = Map::new();
    while let Some(name) = named.iter().find(|name| !defs.contains_key(*name)).cloned() {
        let known = all.iter().find(|known| known.name == name);
        let known = known.ok_or_else(|| format!("{DESCRIPTION_FILE}: {name} is used but not declared"))?;
        let mut def = json!({ "description": known.comment.text });
        merge_into_schema(&mut def, render_type(&known.body, &mut named));
        defs.insert(name, def);
    }
    used.extend(named);
    merge_into_schema(&mut schema, body);
    if !defs.is_empty() {
        defs.sort_keys();
        schema["$defs"] = Value::Object(defs);
    }
    Ok(schema)
}

fn merge_into_schema(schema: &mut Value, more: Value) {
    if let (Value::Object(schema), Value::Object(more)) = (schema, more) {
        schema.extend(more);
    }
}

fn render_type(kind: &TypeExpression, named: &mut BTreeSet<String>) -> Value {
    match kind {
        TypeExpression::Primitive(name) => json!({ "type": name }),
        TypeExpression::Any => json!({}),
        TypeExpression::Text(text) => json!({ "const": text }),
        TypeExpression::Number(number) => json!({ "const": number }),
        TypeExpression::Bool(value) => json!({ "const": value }),
        TypeExpression::Name(name) => {
            named.insert(name.clone());
            json!({ "$ref": format!("#/$defs/{name}") })
        }
        TypeExpression::Array(items) => json!({ "type": "array", "items": render_type(items, named) }),
        TypeExpression::Map(values) => json!({ "type": "object", "additionalProperties": render_type(values, named) }),
        TypeExpression::Union(kinds) => render_union(kinds, named),
        TypeExpression::Object(fields) => {
            let mut properties = Map::new();
            for field in fields {
                let mut schema = json!({ "description": field.about });
                merge_into_schema(&mut schema, render_type(&field.kind, named));
                properties.insert(field.name.clone(), schema);
            }
            let required = fields.iter().filter(|field| !field.is_optional).map(|field| field.name.as_str());
            json!({ "type": "object", "required": required.collect::<Vec<_>>(), "properties": properties })
        }
    }
}

/// Renders a union, as a list of types or of words if possible.
fn render_union(kinds: &[TypeExpression], named: &mut BTreeSet<String>) -> Value {
    let primitives: Option<Vec<&str>> =
        kinds.iter().map(|kind| if let TypeExpression::Primitive(name) = kind { Some(*name) } else { None }).collect();
    if let Some(primitives) = primitives {
        return json!({ "type": primitives });
    }
    let literal = |kind: &TypeExpression| match kind {
        TypeExpression::Text(text) => Some(json!(text)),
        TypeExpression::Number(number) => Some(json!(number)),
        TypeExpression::Bool(value) => Some(json!(value)),
        TypeExpression::Primitive("null") => Some(Value::Null),
        _ => None,
    };
    let literals: Option<Vec<Value>> = kinds.iter().map(literal).collect();
    match literals {
        Some(literals) => json!({ "enum": literals }),
        None => json!({ "anyOf": kinds.iter().map(|kind| render_type(kind, named)).collect::<Vec<_>>() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_that_is_dropped_within_a_version_is_found() {
        let old = json!({ "properties": { "a": { "properties": { "b": {}, "c": {} } } } });
        let output = |schema| SchemaOutput {
            name: "x".to_owned(),
            version: 1,
            about: String::new(),
            commands: Vec::new(),
            files: Vec::new(),
            schema,
        };
        assert!(
            check_fields_kept(
                &old,
                &output(json!({ "properties": { "a": { "properties": { "b": {}, "c": {}, "d": {} } } } }))
            )
            .is_ok()
        );
        let error = check_fields_kept(&old, &output(json!({ "properties": { "a": { "properties": { "b": {} } } } })))
            .unwrap_err();
        assert!(error.contains("`/a/c` is gone"), "{error}");
    }
}
