//! Two schemas that must both hold, as one.

use serde_json::{Map, Value};

use super::{ANNOTATIONS, Fields, is_of, target};

/// How often schemas are put together inside each other.
const DEPTH_MAX: usize = 32;

/// Both at once; the first one's words are kept. Where they cannot be written as one schema, says so.
pub(crate) fn both(first: &Fields, second: &Fields, root: &Value) -> Result<Fields, String> {
    join(first, second, root, 0)
}

fn join(first: &Fields, second: &Fields, root: &Value, depth: usize) -> Result<Fields, String> {
    if depth > DEPTH_MAX {
        return Err("schemas that lie this deep in each other cannot be expressed".to_owned());
    }
    let (first, second) = (&plain(first, root, depth)?, &plain(second, root, depth)?);
    let (closed, properties) = object(first, second, root, depth)?;
    let mut joined = Map::new();
    for (key, value) in first.iter().chain(second.iter().filter(|(key, _)| !first.contains_key(*key))) {
        let key = key.as_str();
        let value = match (first.get(key), second.get(key)) {
            (Some(one), Some(two)) if !ANNOTATIONS.contains(&key) => one_of(key, one, two, root, depth)?,
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

/// A schema without a reference at its top.
fn plain(fields: &Fields, root: &Value, depth: usize) -> Result<Fields, String> {
    let Some(to) = fields.get("$ref").and_then(Value::as_str) else { return Ok(fields.clone()) };
    let mut rest = fields.clone();
    rest.remove("$ref");
    match target(root, to) {
        Some(Value::Object(target)) => join(&rest, target, root, depth + 1),
        Some(Value::Bool(true)) => Ok(rest),
        _ => Err(format!("the reference `{to}` cannot be expressed")),
    }
}

/// The properties of both, and whether there are no others.
fn object(first: &Fields, second: &Fields, root: &Value, depth: usize) -> Result<(bool, Option<Fields>), String> {
    let is_closed = |fields: &Fields| fields.get("additionalProperties") == Some(&Value::Bool(false));
    let is_mixed = |fields: &Fields| {
        fields.get("additionalProperties").is_some_and(|rest| !rest.is_boolean() && rest != &Value::Object(Map::new()))
            || fields.get("patternProperties").is_some()
            || fields.get("unevaluatedProperties").is_some()
    };
    let properties = |fields: &Fields| fields.get("properties").and_then(Value::as_object).cloned();
    let (one, two) = (properties(first), properties(second));
    if (is_mixed(first) && two.is_some()) || (is_mixed(second) && one.is_some()) {
        return Err("schemas of properties that overlap cannot be expressed".to_owned());
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
            (Some(first), Some(second)) => schemas(first, second, root, depth + 1)?,
            _ => property.clone(),
        };
        all.insert(name.clone(), property);
    }
    let required = [first, second].into_iter().filter_map(|fields| fields.get("required")?.as_array()).flatten();
    if let Some(name) = required.filter_map(Value::as_str).find(|name| closed && !all.contains_key(*name)) {
        return Err(format!("an object that needs `{name}` and may not have it cannot be expressed"));
    }
    Ok((closed, Some(all)))
}

fn schemas(first: &Value, second: &Value, root: &Value, depth: usize) -> Result<Value, String> {
    match (first, second) {
        (Value::Bool(true), other) | (other, Value::Bool(true)) => Ok(other.clone()),
        (Value::Bool(false), _) | (_, Value::Bool(false)) => Ok(Value::Bool(false)),
        (one, two) if one == two => Ok(one.clone()),
        (Value::Object(one), Value::Object(two)) => Ok(Value::Object(join(one, two, root, depth)?)),
        _ => Err("what is no schema cannot be expressed".to_owned()),
    }
}

/// A keyword that stands in both.
fn one_of(key: &str, one: &Value, two: &Value, root: &Value, depth: usize) -> Result<Value, String> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]);
    match key {
        _ if one == two => Ok(one.clone()),
        // The first two are worked out for both together; definitions are looked up in the root.
        "properties" | "additionalProperties" | "$defs" | "definitions" => Ok(one.clone()),
        "type" => {
            let (one, two) = (list(one), list(two));
            let is_in = |name: &Value, others: &[Value]| {
                others.contains(name) || name == "integer" && others.contains(&Value::from("number"))
            };
            let mut types: Vec<Value> = one.iter().filter(|name| is_in(name, &two)).cloned().collect();
            types.extend(two.iter().filter(|name| !one.contains(name) && is_in(name, &one)).cloned());
            match types.len() {
                0 => Err("a place that accepts nothing cannot be expressed".to_owned()),
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
        "items" => schemas(one, two, root, depth + 1),
        "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" => Ok(further(one, two, true)),
        "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" => Ok(further(one, two, false)),
        "uniqueItems" => Ok(Value::Bool(one == &Value::Bool(true) || two == &Value::Bool(true))),
        "allOf" => Ok(Value::Array([list(one), list(two)].concat())),
        _ => Err(format!("`{key}` that stands in two schemas at once cannot be expressed")),
    }
}

fn further(one: &Value, two: &Value, is_larger: bool) -> Value {
    let is_one_larger = one.as_f64().unwrap_or(0.0) >= two.as_f64().unwrap_or(0.0);
    if is_one_larger == is_larger { one.clone() } else { two.clone() }
}

/// Whether a listed value is of one of the types a schema names; all are where it names none.
pub(crate) fn fits_types(value: &Value, fields: &Fields) -> bool {
    super::types(fields).is_none_or(|types| types.iter().any(|name| is_of(value, name)))
}
