//! Merges two schemas that must both match into one.

use serde_json::{Map, Value};

use super::{ANNOTATION_KEYWORDS, SchemaFields, is_of_type, resolve_reference};

/// The maximum depth of nested merges.
const DEPTH_MAX: usize = 32;

/// Merges two schemas. Annotations of the first take precedence. Fails if one schema cannot express both.
pub(crate) fn conjoin_schemas(
    first: &SchemaFields,
    second: &SchemaFields,
    root: &Value,
) -> Result<SchemaFields, String> {
    conjoin_at_depth(first, second, root, 0)
}

fn conjoin_at_depth(
    first: &SchemaFields,
    second: &SchemaFields,
    root: &Value,
    depth: usize,
) -> Result<SchemaFields, String> {
    if depth > DEPTH_MAX {
        return Err("schemas nested this deeply cannot be expressed".to_owned());
    }
    let (first, second) = (&inline_reference(first, root, depth)?, &inline_reference(second, root, depth)?);
    let (closed, properties) = conjoin_properties(first, second, root, depth)?;
    let mut joined = Map::new();
    for (key, value) in first.iter().chain(second.iter().filter(|(key, _)| !first.contains_key(*key))) {
        let key = key.as_str();
        let value = match (first.get(key), second.get(key)) {
            (Some(one), Some(two)) if !ANNOTATION_KEYWORDS.contains(&key) => {
                conjoin_keyword(key, one, two, root, depth)?
            }
            _ => value.clone(),
        };
        joined.insert(key.to_owned(), value);
    }
    if let Some(properties) = properties {
        joined.insert("properties".to_owned(), Value::Object(properties));
    }
    if closed {
        joined.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    Ok(joined)
}

/// Replaces a top-level reference with its target.
fn inline_reference(fields: &SchemaFields, root: &Value, depth: usize) -> Result<SchemaFields, String> {
    let Some(to) = fields.get("$ref").and_then(Value::as_str) else { return Ok(fields.clone()) };
    let mut rest = fields.clone();
    rest.remove("$ref");
    match resolve_reference(root, to) {
        Some(Value::Object(target)) => conjoin_at_depth(&rest, target, root, depth + 1),
        Some(Value::Bool(true)) => Ok(rest),
        _ => Err(format!("the reference `{to}` cannot be expressed")),
    }
}

/// Merges the properties of both schemas, and returns whether other properties are forbidden.
fn conjoin_properties(
    first: &SchemaFields,
    second: &SchemaFields,
    root: &Value,
    depth: usize,
) -> Result<(bool, Option<SchemaFields>), String> {
    let is_closed = |fields: &SchemaFields| fields.get("additionalProperties") == Some(&Value::Bool(false));
    let is_mixed = |fields: &SchemaFields| {
        fields.get("additionalProperties").is_some_and(|rest| !rest.is_boolean() && rest != &Value::Object(Map::new()))
            || fields.get("patternProperties").is_some()
            || fields.get("unevaluatedProperties").is_some()
    };
    let properties = |fields: &SchemaFields| fields.get("properties").and_then(Value::as_object).cloned();
    let (one, two) = (properties(first), properties(second));
    if (is_mixed(first) && two.is_some()) || (is_mixed(second) && one.is_some()) {
        return Err("overlapping schemas of properties cannot be expressed".to_owned());
    }
    let closed = is_closed(first) || is_closed(second);
    let (one, two) = match (one, two) {
        (None, None) => return Ok((closed, None)),
        (one, two) => (one.unwrap_or_default(), two.unwrap_or_default()),
    };
    let is_allowed =
        |name: &str| (!is_closed(first) || one.contains_key(name)) && (!is_closed(second) || two.contains_key(name));
    let mut all = Map::new();
    for (name, property) in one.iter().chain(two.iter().filter(|(name, _)| !one.contains_key(*name))) {
        if !is_allowed(name) {
            continue;
        }
        let property = match (one.get(name), two.get(name)) {
            (Some(first), Some(second)) => conjoin_values(first, second, root, depth + 1)?,
            _ => property.clone(),
        };
        all.insert(name.clone(), property);
    }
    let required = [first, second].into_iter().filter_map(|fields| fields.get("required")?.as_array()).flatten();
    if let Some(name) = required.filter_map(Value::as_str).find(|name| closed && !all.contains_key(*name)) {
        return Err(format!("an object that requires and forbids `{name}` cannot be expressed"));
    }
    Ok((closed, Some(all)))
}

fn conjoin_values(first: &Value, second: &Value, root: &Value, depth: usize) -> Result<Value, String> {
    match (first, second) {
        (Value::Bool(true), other) | (other, Value::Bool(true)) => Ok(other.clone()),
        (Value::Bool(false), _) | (_, Value::Bool(false)) => Ok(Value::Bool(false)),
        (one, two) if one == two => Ok(one.clone()),
        (Value::Object(one), Value::Object(two)) => Ok(Value::Object(conjoin_at_depth(one, two, root, depth)?)),
        _ => Err("a value that is not a schema cannot be expressed".to_owned()),
    }
}

/// Merges a keyword of both schemas.
fn conjoin_keyword(key: &str, one: &Value, two: &Value, root: &Value, depth: usize) -> Result<Value, String> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]);
    match key {
        _ if one == two => Ok(one.clone()),
        // `conjoin_properties` merges the first two; definitions are looked up in the root.
        "properties" | "additionalProperties" | "$defs" | "definitions" => Ok(one.clone()),
        "type" => {
            let (one, two) = (list(one), list(two));
            let is_in = |name: &Value, others: &[Value]| {
                others.contains(name) || name == "integer" && others.contains(&Value::from("number"))
            };
            let mut types: Vec<Value> = one.iter().filter(|name| is_in(name, &two)).cloned().collect();
            types.extend(two.iter().filter(|name| !one.contains(name) && is_in(name, &one)).cloned());
            match types.len() {
                0 => Err("a schema that accepts nothing cannot be expressed".to_owned()),
                1 => Ok(types.remove(0)),
                _ => Ok(Value::Array(types)),
            }
        }
        "required" => {
            let mut all = list(one);
            all.extend(list(two).into_iter().filter(|name| !list(one).contains(name)));
            Ok(Value::Array(all))
        }
        "enum" => {
            let both: Vec<Value> = list(one).into_iter().filter(|value| list(two).contains(value)).collect();
            Ok(Value::Array(both))
        }
        "items" => conjoin_values(one, two, root, depth + 1),
        "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" => {
            Ok(pick_stricter_bound(one, two, true))
        }
        "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" => {
            Ok(pick_stricter_bound(one, two, false))
        }
        "uniqueItems" => Ok(Value::Bool(one == &Value::Bool(true) || two == &Value::Bool(true))),
        "allOf" => Ok(Value::Array([list(one), list(two)].concat())),
        _ => Err(format!("two different values of `{key}` cannot be expressed")),
    }
}

fn pick_stricter_bound(one: &Value, two: &Value, is_larger: bool) -> Value {
    let is_one_larger = one.as_f64().unwrap_or(0.0) >= two.as_f64().unwrap_or(0.0);
    if is_one_larger == is_larger { one.clone() } else { two.clone() }
}

/// Whether a listed value has one of the declared types of a schema. True if the schema declares no type.
pub(crate) fn is_of_declared_type(value: &Value, fields: &SchemaFields) -> bool {
    super::list_types(fields).is_none_or(|types| types.iter().any(|name| is_of_type(value, name)))
}
