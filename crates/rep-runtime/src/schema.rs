//! Validates arguments and results against the schemas of a tool.
//!
//! The draft is the one named by `$schema`, or 2020-12 by default. Nothing is fetched. Time and stack are
//! bounded, because schemas are untrusted and some make a validator run forever.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use jsonschema::PatternOptions;
use rep_model::truncate::truncate_chars;
use serde_json::Value;

mod quick_check;

/// A place where a value violates a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaViolation {
    /// The place in the value as a JSON pointer; empty for the value itself.
    pub pointer: String,
    /// What is wrong. Values are not shown, because they may be secret or long.
    pub message: String,
}

/// The result of a validation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SchemaCheck {
    /// The value is valid.
    Valid,
    /// The value is invalid, with at least one violation.
    Violations(Vec<SchemaViolation>),
    /// The schema is invalid or cannot be used.
    UnusableSchema(String),
}

/// The time limit of a validation.
const TIME_MAX: Duration = Duration::from_secs(10);
/// The stack size; schemas may recurse as deep as values do.
const STACK_BYTES: usize = 64 << 20;
/// The maximum size of a schema, in bytes of JSON.
const SCHEMA_BYTES_MAX: usize = 1 << 20;
/// The maximum depth of a schema.
const DEPTH_MAX: usize = 100;
/// The maximum number of violations reported.
const VIOLATIONS_MAX: usize = 5;

/// Validates a value against a schema.
pub fn validate_value(schema: &Value, value: &Value) -> SchemaCheck {
    if schema.to_string().len() > SCHEMA_BYTES_MAX || is_deeper_than(schema, DEPTH_MAX) {
        return SchemaCheck::UnusableSchema("the schema is too large".to_owned());
    }
    if quick_check::is_certainly_valid(schema, value) {
        return SchemaCheck::Valid;
    }
    if refers_to_itself(schema) {
        return SchemaCheck::UnusableSchema("the schema contains an endless reference cycle".to_owned());
    }
    let (send, answer) = mpsc::channel();
    let (schema, value) = (schema.clone(), value.clone());
    let work = move || {
        // After a timeout the receiver is gone.
        let _ = send.send(run_validator(&schema, &value));
    };
    // A validation that does not finish is abandoned; it uses only its own memory.
    match thread::Builder::new().stack_size(STACK_BYTES).spawn(work) {
        Ok(_) => answer
            .recv_timeout(TIME_MAX)
            .unwrap_or_else(|_| SchemaCheck::UnusableSchema("the validation timed out".to_owned())),
        Err(error) => SchemaCheck::UnusableSchema(format!("could not start the validation: {error}")),
    }
}

fn run_validator(schema: &Value, value: &Value) -> SchemaCheck {
    let patterns = PatternOptions::fancy_regex().backtrack_limit(100_000).size_limit(1 << 20);
    let validator = match jsonschema::options().offline().with_pattern_options(patterns).build(schema) {
        Ok(validator) => validator,
        Err(error) => {
            return SchemaCheck::UnusableSchema(format!(
                "the schema is not valid: {}",
                shorten_message(&error.masked().to_string())
            ));
        }
    };
    if validator.is_valid(value) {
        return SchemaCheck::Valid;
    }
    let misfits = validator.iter_errors(value).take(VIOLATIONS_MAX).map(|error| SchemaViolation {
        pointer: error.instance_path().to_string(),
        message: shorten_message(&error.masked().to_string()),
    });
    SchemaCheck::Violations(misfits.collect())
}

fn shorten_message(text: &str) -> String {
    truncate_chars(text, 300).to_owned()
}

fn is_deeper_than(value: &Value, depth: usize) -> bool {
    if depth == 0 {
        return true;
    }
    match value {
        Value::Array(items) => items.iter().any(|item| is_deeper_than(item, depth - 1)),
        Value::Object(fields) => fields.values().any(|field| is_deeper_than(field, depth - 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Returns whether a reference refers to itself without descending into the value, so that validation would
/// never finish.
fn refers_to_itself(schema: &Value) -> bool {
    let mut path = Vec::new();
    let mut done = Vec::new();
    any_node(schema, &mut |node| has_cycle_from(schema, node, &mut path, &mut done))
}

fn any_node(node: &Value, wanted: &mut dyn FnMut(&Value) -> bool) -> bool {
    if wanted(node) {
        return true;
    }
    match node {
        Value::Array(items) => items.iter().any(|item| any_node(item, wanted)),
        Value::Object(fields) => fields.values().any(|field| any_node(field, wanted)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Follows the subschemas that apply to the same value: references and the combining keywords.
fn has_cycle_from(root: &Value, node: &Value, path: &mut Vec<*const Value>, done: &mut Vec<*const Value>) -> bool {
    let here = std::ptr::from_ref(node);
    if path.contains(&here) {
        return true;
    }
    let Some(fields) = node.as_object() else { return false };
    if done.contains(&here) || path.len() > DEPTH_MAX {
        return path.len() > DEPTH_MAX;
    }
    path.push(here);
    let mut next: Vec<&Value> = Vec::new();
    for (key, value) in fields {
        match (key.as_str(), value) {
            ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(target)) => {
                let pointer = target.strip_prefix('#').unwrap_or("?");
                next.extend(root.pointer(pointer));
            }
            ("allOf" | "anyOf" | "oneOf", Value::Array(items)) => next.extend(items),
            ("not" | "if" | "then" | "else", value) => next.push(value),
            ("dependentSchemas", Value::Object(schemas)) => next.extend(schemas.values()),
            _ => {}
        }
    }
    let found = next.into_iter().any(|node| has_cycle_from(root, node, path, done));
    path.pop();
    done.push(here);
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn misfits(schema: &Value, value: &Value) -> Vec<(String, String)> {
        match validate_value(schema, value) {
            SchemaCheck::Violations(misfits) => {
                misfits.into_iter().map(|misfit| (misfit.pointer, misfit.message)).collect()
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_misfit_says_where_and_what() {
        let schema = json!({"type": "object", "additionalProperties": false, "required": ["path"],
            "properties": {"path": {"type": "string"}, "pages": {"type": "array", "items": {"type": "integer", "minimum": 1}}}});
        assert_eq!(validate_value(&schema, &json!({"path": "x", "pages": [1]})), SchemaCheck::Valid);
        let found = misfits(&schema, &json!({"path": 1, "pages": [1, 0, "sk-secret"]}));
        assert_eq!(found[0], ("/path".to_owned(), "value is not of type \"string\"".to_owned()));
        assert!(found.iter().any(|(pointer, _)| pointer == "/pages/1"), "{found:?}");
        assert!(found.iter().all(|(_, message)| !message.contains("sk-secret")), "{found:?}");
        let found = misfits(&schema, &json!({"pth": "x"}));
        assert!(found.iter().any(|(_, message)| message.contains("'pth'")), "{found:?}");
        assert!(found.iter().any(|(_, message)| message.contains("\"path\"")), "{found:?}");
    }

    #[test]
    fn the_draft_is_the_one_that_is_named() {
        // A list of schemas in `items` is draft 7; 2020-12 calls it `prefixItems`.
        let tuple = json!({"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "integer"}]});
        assert!(matches!(validate_value(&tuple, &json!(["a"])), SchemaCheck::Violations(_)));
        assert!(matches!(
            validate_value(&json!({"items": [{"type": "integer"}]}), &json!(["a"])),
            SchemaCheck::UnusableSchema(_)
        ));
        assert!(matches!(
            validate_value(&json!({"prefixItems": [{"type": "integer"}]}), &json!(["a"])),
            SchemaCheck::Violations(_)
        ));
    }

    #[test]
    fn what_cannot_be_worked_with_is_told() {
        let mut deep = json!({});
        for _ in 0..120 {
            deep = json!({"properties": {"a": deep}});
        }
        for schema in [
            json!({"type": "no-type"}),
            json!({"$ref": "https://example.org/schema.json"}),
            json!({"$ref": "file:///etc/passwd"}),
            json!({"$ref": "#"}),
            json!({"allOf": [{"$ref": "#"}]}),
            json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"anyOf": [{"$ref": "#/$defs/a"}]}}, "$ref": "#/$defs/a"}),
            json!({"pattern": "("}),
            json!({"pattern": "(a{1000}){1000}{1000}"}),
            deep,
        ] {
            assert!(matches!(validate_value(&schema, &json!({"a": 1})), SchemaCheck::UnusableSchema(_)), "{schema}");
        }
    }

    #[test]
    fn a_schema_of_trees_works_and_a_hostile_pattern_ends() {
        let tree = json!({"type": "object", "properties": {"below": {"$ref": "#"}, "size": {"type": "integer"}}});
        assert_eq!(validate_value(&tree, &json!({"below": {"below": {"size": 1}}})), SchemaCheck::Valid);
        assert_eq!(misfits(&tree, &json!({"below": {"below": {"size": "a"}}}))[0].0, "/below/below/size");
        let slow = json!({"pattern": "^(?=x)?(a+)+\\1$"});
        assert_ne!(validate_value(&slow, &json!("a".repeat(40) + "!")), SchemaCheck::Valid);
    }

    /// Schemas from the keywords that are decided without compiling, with a few arguments that are not valid.
    fn simple_schemas() -> impl Strategy<Value = Value> {
        let types = prop::sample::select(vec![
            json!("object"),
            json!("array"),
            json!("string"),
            json!("integer"),
            json!("number"),
            json!("boolean"),
            json!("null"),
            json!("text"),
            json!(["string", "null"]),
            json!(["string", "string"]),
            json!(7),
        ]);
        let bounds = prop::sample::select(vec![json!(0), json!(1), json!(2), json!(-1), json!(1.5), json!("2")]);
        let leaf = prop::collection::vec(
            prop_oneof![
                types.prop_map(|argument| ("type", argument)),
                (prop::sample::select(vec!["minimum", "maximum", "minLength", "maxLength"]), bounds),
                Just(("enum", json!(["a", true, null]))),
                Just(("enum", json!([]))),
                Just(("description", json!("text"))),
                Just(("description", json!(1))),
                Just(("format", json!("uri"))),
                Just(("required", json!(["a"]))),
                Just(("required", json!(["a", "a"]))),
                Just(("additionalProperties", json!(false))),
                Just(("additionalProperties", json!(3))),
            ],
            0..3,
        );
        let to_object = |keywords: Vec<(&'static str, Value)>| {
            Value::Object(keywords.into_iter().map(|(name, argument)| (name.to_owned(), argument)).collect())
        };
        leaf.prop_map(to_object).prop_recursive(3, 12, 3, |inner| {
            (inner.clone(), inner.clone(), inner).prop_map(|(mut schema, property, item)| {
                schema["properties"] = json!({ "a": property });
                schema["items"] = item;
                schema
            })
        })
    }

    fn small_values() -> impl Strategy<Value = Value> {
        let leaf = prop::sample::select(vec![
            json!(null),
            json!(true),
            json!(0),
            json!(1),
            json!(1.0),
            json!(1.5),
            json!(-3),
            json!("a"),
            json!("éé"),
        ]);
        leaf.prop_recursive(3, 12, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::Array),
                (inner.clone(), inner).prop_map(|(a, b)| json!({"a": a, "b": b})),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]

        #[test]
        fn what_is_accepted_without_compiling_is_valid(schema in simple_schemas(), value in small_values()) {
            if quick_check::is_certainly_valid(&schema, &value) {
                prop_assert_eq!(run_validator(&schema, &value), SchemaCheck::Valid, "{} {}", schema, value);
            }
        }
    }

    #[test]
    fn ordinary_arguments_are_accepted_without_compiling() {
        let schema = json!({"type": "object", "additionalProperties": false, "required": ["path"], "properties": {
            "path": {"type": "string", "description": "The file.", "minLength": 1},
            "rows": {"type": "integer", "minimum": 1, "maximum": 10, "default": 5},
            "mode": {"enum": ["fast", "exact"]},
            "tags": {"type": "array", "items": {"type": "string"}}}});
        assert!(quick_check::is_certainly_valid(
            &schema,
            &json!({"path": "a", "rows": 3, "mode": "fast", "tags": ["b"]})
        ));
        assert!(!quick_check::is_certainly_valid(&schema, &json!({"path": "", "rows": 3})));
        assert!(!quick_check::is_certainly_valid(&schema, &json!({"path": "a", "other": 1})));
        assert!(!quick_check::is_certainly_valid(&json!({"type": "object", "patternProperties": {}}), &json!({})));
    }
}
