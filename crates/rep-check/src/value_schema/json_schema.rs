//! The schemas of the dialects as JSON Schema.

use serde_json::{Map, Value, json};

use super::{MappingSchema, UnknownFieldPolicy, ValueSchema, tables};
use crate::Profile;
use crate::fields::FieldEntry;

/// Returns the schemas of the frontmatter under a profile.
pub(crate) fn list_frontmatter_schemas(profile: Profile) -> impl Iterator<Item = &'static MappingSchema> {
    tables::FRONTMATTER.iter().filter(move |(profiles, _)| profiles.contains(profile)).map(|(_, fields)| *fields)
}

/// Returns the schema of a UASP file. `describe` returns the fields of the mapping at a path.
pub(crate) fn describe_uasp(describe: FieldLookup<'_>) -> Value {
    describe_value(&tables::UASP, &mut Vec::new(), describe)
}

/// Returns what is known about the fields of a mapping, by the keys around it.
pub(crate) type FieldLookup<'a> = &'a dyn Fn(&[&str]) -> &'static [FieldEntry];

/// Describes the values of a schema. `path` has the keys around the value, without the numbers of lists.
pub(crate) fn describe_value<'a>(schema: &'a ValueSchema, path: &mut Vec<&'a str>, describe: FieldLookup<'_>) -> Value {
    match schema {
        ValueSchema::Any => json!({}),
        ValueSchema::Text => json!({ "type": "string" }),
        ValueSchema::TextOfLength { min: 0, max } => json!({ "type": "string", "maxLength": max }),
        ValueSchema::TextOfLength { min, max } => json!({ "type": "string", "minLength": min, "maxLength": max }),
        ValueSchema::TextOfPattern { pattern, .. } => json!({ "type": "string", "pattern": pattern }),
        ValueSchema::Choice(words) => json!({ "type": "string", "enum": words }),
        ValueSchema::Boolean => json!({ "type": "boolean" }),
        ValueSchema::Integer { min } => json!({ "type": "integer", "minimum": i64::try_from(*min).unwrap_or(0) }),
        ValueSchema::AnyMapping => json!({ "type": "object" }),
        ValueSchema::MapOf(each) => {
            path.push("*");
            let each = describe_value(each, path, describe);
            path.pop();
            json!({ "type": "object", "additionalProperties": each })
        }
        ValueSchema::ListOf(each) => json!({ "type": "array", "items": describe_value(each, path, describe) }),
        ValueSchema::NonEmptyListOf(each) => {
            json!({ "type": "array", "minItems": 1, "items": describe_value(each, path, describe) })
        }
        ValueSchema::TextOrList => json!({ "type": ["string", "array"], "items": { "type": "string" } }),
        ValueSchema::Nullable(inner) => allow_null(describe_value(inner, path, describe)),
        ValueSchema::TextOrNull => json!({ "type": ["string", "null"] }),
        ValueSchema::Fields(fields) => describe_mapping(fields, path, describe),
    }
}

/// Adds null to the types of a schema.
fn allow_null(mut schema: Value) -> Value {
    let types = match schema["type"].take() {
        Value::Array(types) => types,
        one => vec![one],
    };
    schema["type"] = types.into_iter().chain([json!("null")]).collect();
    schema
}

fn describe_mapping<'a>(fields: &'a MappingSchema, path: &mut Vec<&'a str>, describe: FieldLookup<'_>) -> Value {
    let mut object = Map::new();
    object.insert("type".to_owned(), json!("object"));
    if !fields.required.is_empty() {
        object.insert("required".to_owned(), json!(fields.required));
    }
    object.insert("properties".to_owned(), Value::Object(describe_properties(fields, path, describe)));
    match &fields.rest {
        UnknownFieldPolicy::Refused => {
            object.insert("additionalProperties".to_owned(), json!(false));
        }
        UnknownFieldPolicy::Allowed => {}
        UnknownFieldPolicy::Each(schema) => {
            let each = describe_value(schema, path, describe);
            object.insert("additionalProperties".to_owned(), each);
        }
    }
    Value::Object(object)
}

/// Describes the fields of a mapping.
pub(crate) fn describe_properties<'a>(
    fields: &'a MappingSchema,
    path: &mut Vec<&'a str>,
    describe: FieldLookup<'_>,
) -> Map<String, Value> {
    let known = describe(path);
    let mut properties = Map::new();
    for (name, schema) in fields.known {
        path.push(name);
        let mut value = describe_value(schema, path, describe);
        path.pop();
        if let (Some(entry), Some(object)) = (known.iter().find(|entry| entry.name == *name), value.as_object_mut()) {
            object.insert("description".to_owned(), json!(entry.meaning));
        }
        properties.insert((*name).to_owned(), value);
    }
    properties
}
