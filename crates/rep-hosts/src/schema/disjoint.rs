//! Whether schemas can never accept the same value. Only a clear yes counts.

use serde_json::{Map, Value};

use super::shaper::{self, target};

/// Whether no two of these accept the same value.
pub(super) fn all(schemas: &[Value], root: &Value) -> bool {
    let apart = |index: usize| schemas[index + 1..].iter().all(|other| two(&schemas[index], other, root, 0));
    (0..schemas.len()).all(apart)
}

fn two(one: &Value, other: &Value, root: &Value, depth: usize) -> bool {
    let (Some(one), Some(other)) = (plain(one, root), plain(other, root)) else { return false };
    if depth > 8 {
        return false;
    }
    if let (Some(ones), Some(others)) = (types(one), types(other))
        && !ones.iter().any(|name| others.iter().any(|other| overlap(name, other)))
    {
        return true;
    }
    if let (Some(ones), Some(others)) = (values(one), values(other)) {
        return !ones.iter().any(|value| others.iter().any(|other| equal(value, other)));
    }
    // A list of values against types.
    let is_other_type = |values: Option<Vec<&Value>>, fields: &Map<String, Value>| {
        values.is_some_and(|values| !values.iter().any(|value| shaper::fits_types(value, fields)))
    };
    if is_other_type(values(one), other) || is_other_type(values(other), one) {
        return true;
    }
    // Both objects, told apart by a property that both must have.
    let is_object = |fields| types(fields).is_some_and(|types| types == ["object"]);
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
                .is_some_and(|(one, two)| self::two(&one, &two, root, depth + 1))
    };
    // Or by a property one must have and the other cannot.
    let is_closed = |fields: &Map<String, Value>| fields.get("additionalProperties") == Some(&Value::Bool(false));
    let is_only = |fields: &Map<String, Value>, against: &Map<String, Value>| {
        let names = fields.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        is_closed(against) && names.into_iter().any(|name| property(against, name).is_none())
    };
    named.is_some_and(|named| named.keys().any(is_telling)) || is_only(one, other) || is_only(other, one)
}

/// The fields of a schema, behind its references.
fn plain<'a>(schema: &'a Value, root: &'a Value) -> Option<&'a Map<String, Value>> {
    let mut schema = schema;
    for _ in 0..16 {
        let fields = schema.as_object()?;
        match fields.get("$ref").and_then(Value::as_str) {
            Some(to) => schema = target(root, to)?,
            None => return Some(fields),
        }
    }
    None
}

fn types(fields: &Map<String, Value>) -> Option<Vec<&str>> {
    match fields.get("type")? {
        Value::String(name) => Some(vec![name]),
        Value::Array(names) => names.iter().map(Value::as_str).collect(),
        _ => None,
    }
}

fn overlap(one: &str, other: &str) -> bool {
    one == other || [one, other] == ["integer", "number"] || [one, other] == ["number", "integer"]
}

fn values(fields: &Map<String, Value>) -> Option<Vec<&Value>> {
    match (fields.get("const"), fields.get("enum").and_then(Value::as_array)) {
        (Some(one), _) => Some(vec![one]),
        (None, Some(list)) => Some(list.iter().collect()),
        (None, None) => None,
    }
}

/// Equal as JSON Schema sees it: 1 is 1.0.
fn equal(one: &Value, other: &Value) -> bool {
    match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => (one - other).abs() < f64::EPSILON,
        _ => one == other,
    }
}
