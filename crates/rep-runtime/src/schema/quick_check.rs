//! Recognises values that certainly satisfy a simple schema, without compiling the schema.
//!
//! Compiling even `{"type": "object"}` compiles the meta-schema of the draft first, which costs milliseconds for every
//! run. Most tools declare objects with typed properties, and most calls are valid. This module says yes only if every
//! keyword of the schema is known here and satisfied; everything else is left to the full validator, which also writes
//! the messages. It never says no.

use serde_json::{Map, Number, Value};

/// Returns whether `value` certainly satisfies `schema`. False means unknown. Both are at most as deep as the caller
/// allows.
pub(super) fn is_certainly_valid(schema: &Value, value: &Value) -> bool {
    let Some(keywords) = schema.as_object() else { return false };
    // Another draft may give the same keyword another meaning.
    keywords.iter().all(|(keyword, argument)| satisfies_keyword(keyword, argument, keywords, value))
}

fn satisfies_keyword(keyword: &str, argument: &Value, schema: &Map<String, Value>, value: &Value) -> bool {
    match keyword {
        "type" => has_named_type(argument, value),
        "properties" => satisfies_properties(argument, value),
        "required" => has_required_fields(argument, value),
        "additionalProperties" => has_no_unknown_fields(argument, schema, value),
        "items" => satisfies_items(argument, value),
        "enum" => is_listed(argument, value),
        "minimum" => is_small_integer_within(argument, value, |value, bound| value >= bound),
        "maximum" => is_small_integer_within(argument, value, |value, bound| value <= bound),
        "minLength" => is_text_within(argument, value, |length, bound| length >= bound),
        "maxLength" => is_text_within(argument, value, |length, bound| length <= bound),
        "description" | "title" | "$comment" => argument.is_string(),
        "default" => true,
        "examples" => argument.is_array(),
        _ => false,
    }
}

fn has_named_type(argument: &Value, value: &Value) -> bool {
    match argument {
        Value::String(name) => is_of_type(name, value) == Some(true),
        Value::Array(names) => {
            let answers: Option<Vec<bool>> =
                names.iter().map(|name| name.as_str().and_then(|name| is_of_type(name, value))).collect();
            let has_duplicates = names.iter().enumerate().any(|(at, name)| names[..at].contains(name));
            !has_duplicates && answers.is_some_and(|answers| answers.contains(&true))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    }
}

/// Returns whether a value has a type, or `None` for an unknown type or a case left to the full validator.
fn is_of_type(name: &str, value: &Value) -> Option<bool> {
    Some(match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        // 1.0 is an integer for JSON Schema; only the unambiguous case is decided here.
        "integer" => value.as_number().is_some_and(|number| number.is_i64() || number.is_u64()),
        _ => return None,
    })
}

fn satisfies_properties(argument: &Value, value: &Value) -> bool {
    let Some(properties) = argument.as_object() else { return false };
    // The schemas of absent properties must be valid schemas too, which only the full validator can tell of keywords
    // that are unknown here.
    properties.iter().all(|(name, schema)| match value.get(name) {
        Some(field) => is_certainly_valid(schema, field),
        None => is_simple_schema(schema),
    })
}

/// Returns whether a schema is certainly well formed.
fn is_simple_schema(schema: &Value) -> bool {
    let Some(keywords) = schema.as_object() else { return false };
    keywords.iter().all(|(keyword, argument)| match keyword.as_str() {
        "type" => match argument {
            Value::String(name) => is_of_type(name, &Value::Null).is_some(),
            _ => false,
        },
        "properties" => argument.as_object().is_some_and(|all| all.values().all(is_simple_schema)),
        "items" => is_simple_schema(argument),
        "required" => string_list(argument).is_some(),
        "additionalProperties" => argument.is_boolean(),
        "enum" => argument.as_array().is_some_and(|all| !all.is_empty()),
        "minimum" | "maximum" => argument.is_number(),
        "minLength" | "maxLength" => argument.is_u64(),
        "description" | "title" | "$comment" => argument.is_string(),
        "default" => true,
        "examples" => argument.is_array(),
        _ => false,
    })
}

fn has_required_fields(argument: &Value, value: &Value) -> bool {
    let Some(names) = string_list(argument) else { return false };
    // `required` says nothing about values that are not objects.
    value.as_object().is_none_or(|fields| names.iter().all(|name| fields.contains_key(*name)))
}

/// Returns the texts of a list without duplicates.
fn string_list(argument: &Value) -> Option<Vec<&str>> {
    let names: Vec<&str> = argument.as_array()?.iter().map(Value::as_str).collect::<Option<_>>()?;
    let has_duplicates = names.iter().enumerate().any(|(at, name)| names[..at].contains(name));
    (!has_duplicates).then_some(names)
}

fn has_no_unknown_fields(argument: &Value, schema: &Map<String, Value>, value: &Value) -> bool {
    match argument {
        Value::Bool(true) => true,
        Value::Bool(false) => {
            let known = schema.get("properties").and_then(Value::as_object);
            let is_known = |name: &String| known.is_some_and(|known| known.contains_key(name));
            value.as_object().is_none_or(|fields| fields.keys().all(is_known))
        }
        _ => false,
    }
}

fn satisfies_items(argument: &Value, value: &Value) -> bool {
    is_simple_schema(argument)
        && value.as_array().is_none_or(|items| items.iter().all(|item| is_certainly_valid(argument, item)))
}

fn is_listed(argument: &Value, value: &Value) -> bool {
    let is_plain = value.is_string() || value.is_boolean() || value.is_null();
    is_plain && argument.as_array().is_some_and(|listed| listed.contains(value))
}

fn is_small_integer_within(argument: &Value, value: &Value, fits: impl Fn(i64, i64) -> bool) -> bool {
    let Some(bound) = argument.as_i64() else { return false };
    match value {
        Value::Number(number) => Number::as_i64(number).is_some_and(|number| fits(number, bound)),
        _ => true,
    }
}

fn is_text_within(argument: &Value, value: &Value, fits: impl Fn(u64, u64) -> bool) -> bool {
    let Some(bound) = argument.as_u64() else { return false };
    match value {
        Value::String(text) => fits(text.chars().count() as u64, bound),
        _ => true,
    }
}
