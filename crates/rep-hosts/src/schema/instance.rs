//! Values between a contract and its other shape.

use jsonschema::PatternOptions;
use serde_json::{Map, Value, json};

use super::shaper::{merged, target};

/// The deepest value that is gone through.
const DEPTH_MAX: usize = 128;

/// Arguments a host gave by a shaped contract, as the contract itself wants them: where null stands for what was left out, it is
/// left out.
pub fn back(contract: &Value, value: Value) -> Value {
    Walk { root: contract, fills: false }.go(contract, value, 0)
}

/// Arguments that fit a contract, as a shape that requires every property wants them: what is left out is null.
pub fn forth(contract: &Value, value: Value) -> Value {
    Walk { root: contract, fills: true }.go(contract, value, 0)
}

struct Walk<'a> {
    root: &'a Value,
    /// Whether nulls are put in, or taken out.
    fills: bool,
}

impl Walk<'_> {
    fn go(&self, schema: &Value, value: Value, depth: usize) -> Value {
        let Some(fields) = schema.as_object().filter(|_| depth < DEPTH_MAX) else { return value };
        let together;
        let fields = if fields.contains_key("allOf") {
            // Parts that hold together are one schema: what one of them closes, the others cannot fill.
            together = merged(fields.clone(), self.root).unwrap_or_else(|_| fields.clone());
            &together
        } else {
            fields
        };
        let mut value = value;
        if let Some(to) = fields.get("$ref").and_then(Value::as_str)
            && let Some(target) = target(self.root, to)
        {
            value = self.go(target, value, depth + 1);
        }
        for part in fields.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            value = self.go(part, value, depth + 1);
        }
        for key in ["anyOf", "oneOf"] {
            let Some(branches) = fields.get(key).and_then(Value::as_array) else { continue };
            let fitting = branches.iter().find_map(|branch| {
                let turned = self.go(branch, value.clone(), depth + 1);
                // What goes out fits before it is filled, what comes back when it is emptied.
                let judged = if self.fills { &value } else { &turned };
                fits(self.root, branch, judged).then_some(turned)
            });
            value = fitting.unwrap_or(value);
        }
        match value {
            Value::Object(members) => Value::Object(self.members(fields, members, depth)),
            Value::Array(items) => {
                let first = fields.get("prefixItems").and_then(Value::as_array);
                let of = |index: usize| first.and_then(|first| first.get(index)).or_else(|| fields.get("items"));
                let turned = items.into_iter().enumerate().map(|(index, item)| match of(index) {
                    Some(schema) => self.go(schema, item, depth + 1),
                    None => item,
                });
                Value::Array(turned.collect())
            }
            other => other,
        }
    }

    fn members(
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
                    members.insert(name.clone(), self.go(schema, member, depth + 1));
                }
            }
        }
        members
    }
}

/// Whether a schema accepts null.
pub(super) fn accepts_null(root: &Value, schema: &Value) -> bool {
    nulls(root, schema, 0)
}

fn nulls(root: &Value, schema: &Value, depth: usize) -> bool {
    let fields = match schema {
        Value::Bool(is_open) => return *is_open,
        Value::Object(fields) if depth < DEPTH_MAX => fields,
        _ => return false,
    };
    let below = |schema: &Value| nulls(root, schema, depth + 1);
    fields.iter().all(|(key, value)| match (key.as_str(), value) {
        ("type", Value::String(name)) => name == "null",
        ("type", Value::Array(names)) => names.iter().any(|name| name == "null"),
        ("enum", Value::Array(values)) => values.contains(&Value::Null),
        ("const", value) => value.is_null(),
        ("$ref", Value::String(to)) => target(root, to).is_some_and(below),
        ("allOf", Value::Array(parts)) => parts.iter().all(below),
        ("anyOf", Value::Array(parts)) => parts.iter().any(below),
        ("oneOf", Value::Array(parts)) => parts.iter().filter(|part| below(part)).count() == 1,
        ("not", schema) => !below(schema),
        _ => true,
    })
}

/// Whether a value fits a schema that stands somewhere in a contract.
fn fits(root: &Value, schema: &Value, value: &Value) -> bool {
    let whole = json!({ "$defs": { "root": rooted(root) }, "allOf": [rooted(schema)] });
    let patterns = PatternOptions::fancy_regex().backtrack_limit(100_000).size_limit(1 << 20);
    let validator = jsonschema::options().offline().with_pattern_options(patterns).build(&whole);
    validator.is_ok_and(|validator| validator.is_valid(value))
}

/// A schema whose references lead into the contract, wherever it is put.
fn rooted(schema: &Value) -> Value {
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
                        (_, value) => rooted(value),
                    };
                    (key.clone(), value)
                });
            Value::Object(turned.collect())
        }
        Value::Array(items) => items.iter().map(rooted).collect(),
        other => other.clone(),
    }
}
