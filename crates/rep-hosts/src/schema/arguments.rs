//! Converts values between a schema and its shaped form.

use jsonschema::PatternOptions;
use serde_json::{Map, Value, json};

use super::shaper::{merge_all_of, resolve_reference};

/// The maximum depth of a converted value.
const DEPTH_MAX: usize = 128;

/// Converts arguments that match a shaped schema to arguments for the original schema: removes nulls that represent
/// omitted properties.
pub fn restore_arguments(contract: &Value, value: Value) -> Value {
    ArgumentConverter { root: contract, fills: false }.convert_value(contract, value, 0)
}

/// Converts arguments for the original schema to arguments for a shape that requires every property: sets omitted
/// properties to null.
pub fn fill_arguments(contract: &Value, value: Value) -> Value {
    ArgumentConverter { root: contract, fills: true }.convert_value(contract, value, 0)
}

struct ArgumentConverter<'a> {
    root: &'a Value,
    /// Whether to insert nulls, rather than remove them.
    fills: bool,
}

impl ArgumentConverter<'_> {
    fn convert_value(&self, schema: &Value, value: Value, depth: usize) -> Value {
        let Some(fields) = schema.as_object().filter(|_| depth < DEPTH_MAX) else { return value };
        let together;
        let fields = if fields.contains_key("allOf") {
            // The parts of `allOf` form one schema: if one part forbids a property, the others must not fill it.
            together = merge_all_of(fields.clone(), self.root).unwrap_or_else(|_| fields.clone());
            &together
        } else {
            fields
        };
        let mut value = value;
        if let Some(to) = fields.get("$ref").and_then(Value::as_str)
            && let Some(target) = resolve_reference(self.root, to)
        {
            value = self.convert_value(target, value, depth + 1);
        }
        for part in fields.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            value = self.convert_value(part, value, depth + 1);
        }
        for key in ["anyOf", "oneOf"] {
            let Some(branches) = fields.get(key).and_then(Value::as_array) else { continue };
            let fitting = branches.iter().find_map(|branch| {
                let turned = self.convert_value(branch, value.clone(), depth + 1);
                // Outgoing values are valid before filling, incoming values after nulls are removed.
                let judged = if self.fills { &value } else { &turned };
                is_valid_against(self.root, branch, judged).then_some(turned)
            });
            value = fitting.unwrap_or(value);
        }
        match value {
            Value::Object(members) => Value::Object(self.convert_members(fields, members, depth)),
            Value::Array(items) => {
                let first = fields.get("prefixItems").and_then(Value::as_array);
                let of = |index: usize| first.and_then(|first| first.get(index)).or_else(|| fields.get("items"));
                let turned = items.into_iter().enumerate().map(|(index, item)| match of(index) {
                    Some(schema) => self.convert_value(schema, item, depth + 1),
                    None => item,
                });
                Value::Array(turned.collect())
            }
            other => other,
        }
    }

    fn convert_members(
        &self,
        fields: &Map<String, Value>,
        mut members: Map<String, Value>,
        depth: usize,
    ) -> Map<String, Value> {
        let is_required = |name: &str| {
            let names = fields.get("required").and_then(Value::as_array).into_iter().flatten();
            names.into_iter().any(|other| other == name)
        };
        for (name, schema) in fields.get("properties").and_then(Value::as_object).into_iter().flatten() {
            match members.get(name) {
                None if self.fills && !is_required(name) && *schema != Value::Bool(false) => {
                    members.insert(name.clone(), Value::Null);
                }
                None => {}
                Some(Value::Null) if !self.fills && !is_required(name) && !accepts_null(self.root, schema) => {
                    members.shift_remove(name);
                }
                Some(_) => {
                    let member = members[name].take();
                    members.insert(name.clone(), self.convert_value(schema, member, depth + 1));
                }
            }
        }
        members
    }
}

/// Whether a schema accepts null.
pub(super) fn accepts_null(root: &Value, schema: &Value) -> bool {
    accepts_null_at_depth(root, schema, 0)
}

fn accepts_null_at_depth(root: &Value, schema: &Value, depth: usize) -> bool {
    let fields = match schema {
        Value::Bool(is_open) => return *is_open,
        Value::Object(fields) if depth < DEPTH_MAX => fields,
        _ => return false,
    };
    let below = |schema: &Value| accepts_null_at_depth(root, schema, depth + 1);
    fields.iter().all(|(key, value)| match (key.as_str(), value) {
        ("type", Value::String(name)) => name == "null",
        ("type", Value::Array(names)) => names.iter().any(|name| name == "null"),
        ("enum", Value::Array(values)) => values.contains(&Value::Null),
        ("const", value) => value.is_null(),
        ("$ref", Value::String(to)) => resolve_reference(root, to).is_some_and(below),
        ("allOf", Value::Array(parts)) => parts.iter().all(below),
        ("anyOf", Value::Array(parts)) => parts.iter().any(below),
        ("oneOf", Value::Array(parts)) => parts.iter().filter(|part| below(part)).count() == 1,
        ("not", schema) => !below(schema),
        _ => true,
    })
}

/// Whether a value is valid against a schema that is part of a contract.
fn is_valid_against(root: &Value, schema: &Value, value: &Value) -> bool {
    let whole = json!({ "$defs": { "root": rebase_references(root) }, "allOf": [rebase_references(schema)] });
    let patterns = PatternOptions::fancy_regex().backtrack_limit(100_000).size_limit(1 << 20);
    let validator = jsonschema::options().offline().with_pattern_options(patterns).build(&whole);
    validator.is_ok_and(|validator| validator.is_valid(value))
}

/// Rewrites the references of a schema so that they point into the contract from any location.
fn rebase_references(schema: &Value) -> Value {
    match schema {
        Value::Object(fields) => {
            let turned =
                fields.iter().filter(|(key, _)| !["$id", "$schema"].contains(&key.as_str())).map(|(key, value)| {
                    let value = match (key.as_str(), value) {
                        ("$ref", Value::String(to)) => match to.strip_prefix('#') {
                            Some(rest) => Value::String(format!("#/$defs/root{rest}")),
                            None => value.clone(),
                        },
                        ("enum" | "const", value) => value.clone(),
                        (_, value) => rebase_references(value),
                    };
                    (key.clone(), value)
                });
            Value::Object(turned.collect())
        }
        Value::Array(items) => items.iter().map(rebase_references).collect(),
        other => other.clone(),
    }
}
