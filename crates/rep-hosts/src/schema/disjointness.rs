//! Decides whether schemas never accept the same value. Returns true only if that is certain.

use serde_json::{Map, Value};

use super::shaper::{self, resolve_reference};

/// Whether no two of these schemas accept the same value.
pub(super) fn is_disjoint_set(schemas: &[Value], root: &Value) -> bool {
    let apart =
        |index: usize| schemas[index + 1..].iter().all(|other| is_disjoint_pair(&schemas[index], other, root, 0));
    (0..schemas.len()).all(apart)
}

fn is_disjoint_pair(one: &Value, other: &Value, root: &Value, depth: usize) -> bool {
    let (Some(one), Some(other)) = (resolve_fields(one, root), resolve_fields(other, root)) else { return false };
    if depth > 8 {
        return false;
    }
    if let (Some(ones), Some(others)) = (list_types(one), list_types(other))
        && !ones.iter().any(|name| others.iter().any(|other| can_overlap(name, other)))
    {
        return true;
    }
    if let (Some(ones), Some(others)) = (list_values(one), list_values(other)) {
        return !ones.iter().any(|value| others.iter().any(|other| is_equal_value(value, other)));
    }
    // Listed values against types.
    let is_other_type = |values: Option<Vec<&Value>>, fields: &Map<String, Value>| {
        values.is_some_and(|values| !values.iter().any(|value| shaper::is_of_declared_type(value, fields)))
    };
    if is_other_type(list_values(one), other) || is_other_type(list_values(other), one) {
        return true;
    }
    // Two objects that differ in a property that both require.
    let is_object = |fields| list_types(fields).is_some_and(|types| types == ["object"]);
    if !is_object(one) || !is_object(other) {
        return false;
    }
    let required = |fields: &Map<String, Value>, name: &str| {
        fields.get("required").and_then(Value::as_array).is_some_and(|names| names.iter().any(|other| other == name))
    };
    let property = |fields: &Map<String, Value>, name: &str| fields.get("properties")?.get(name).cloned();
    let named = one.get("properties").and_then(Value::as_object);
    let is_telling = |name: &String| {
        required(one, name)
            && required(other, name)
            && property(one, name)
                .zip(property(other, name))
                .is_some_and(|(one, two)| self::is_disjoint_pair(&one, &two, root, depth + 1))
    };
    // Or in a property that one requires and the other forbids.
    let is_closed = |fields: &Map<String, Value>| fields.get("additionalProperties") == Some(&Value::Bool(false));
    let is_only = |fields: &Map<String, Value>, against: &Map<String, Value>| {
        let names = fields.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        is_closed(against) && names.into_iter().any(|name| property(against, name).is_none())
    };
    named.is_some_and(|named| named.keys().any(is_telling)) || is_only(one, other) || is_only(other, one)
}

/// Resolves the references of a schema and returns its fields.
fn resolve_fields<'a>(schema: &'a Value, root: &'a Value) -> Option<&'a Map<String, Value>> {
    let mut schema = schema;
    for _ in 0..16 {
        let fields = schema.as_object()?;
        match fields.get("$ref").and_then(Value::as_str) {
            Some(to) => schema = resolve_reference(root, to)?,
            None => return Some(fields),
        }
    }
    None
}

fn list_types(fields: &Map<String, Value>) -> Option<Vec<&str>> {
    match fields.get("type")? {
        Value::String(name) => Some(vec![name]),
        Value::Array(names) => names.iter().map(Value::as_str).collect(),
        _ => None,
    }
}

fn can_overlap(one: &str, other: &str) -> bool {
    one == other || [one, other] == ["integer", "number"] || [one, other] == ["number", "integer"]
}

fn list_values(fields: &Map<String, Value>) -> Option<Vec<&Value>> {
    match (fields.get("const"), fields.get("enum").and_then(Value::as_array)) {
        (Some(one), _) => Some(vec![one]),
        (None, Some(list)) => Some(list.iter().collect()),
        (None, None) => None,
    }
}

/// Whether two values are equal in JSON Schema, where 1 equals 1.0.
fn is_equal_value(one: &Value, other: &Value) -> bool {
    match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => (one - other).abs() < f64::EPSILON,
        _ => one == other,
    }
}
