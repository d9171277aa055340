//! Holds arguments and results against the schemas a tool declares.
//!
//! The draft is the one `$schema` names, else 2020-12. Nothing is fetched, and both time and stack are bounded: a schema is a
//! stranger's text, and there are schemas no validator comes to an end with.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use jsonschema::PatternOptions;
use rep_model::truncate::truncate_chars;
use serde_json::Value;

/// A value, and what of it does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// The place in the value, as a JSON pointer; empty for the value itself.
    pub pointer: String,
    /// What is wrong there. Values are not shown: they may be secret, or long.
    pub message: String,
}

/// What a comparison came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fit {
    /// The value fits.
    Fits,
    /// It does not, and this is why; there is at least one reason.
    Misfits(Vec<Misfit>),
    /// The schema itself is none, or cannot be worked with.
    Broken(String),
}

/// The longest comparison.
const TIME_MAX: Duration = Duration::from_secs(10);
/// Schemas may refer to themselves as deep as values go.
const STACK_BYTES: usize = 64 << 20;
/// The largest schema, in bytes of JSON.
const SCHEMA_BYTES_MAX: usize = 1 << 20;
/// The deepest schema.
const DEPTH_MAX: usize = 100;
/// The most misfits that are told.
const MISFITS_MAX: usize = 5;

/// Holds a value against a schema.
pub fn fit(schema: &Value, value: &Value) -> Fit {
    if schema.to_string().len() > SCHEMA_BYTES_MAX || is_deeper(schema, DEPTH_MAX) {
        return Fit::Broken("the schema is too large".to_owned());
    }
    if refers_to_itself(schema) {
        return Fit::Broken("the schema refers to itself without end".to_owned());
    }
    let (send, answer) = mpsc::channel();
    let (schema, value) = (schema.clone(), value.clone());
    let work = move || {
        // Nobody listens any more once the time is over.
        let _ = send.send(compare(&schema, &value));
    };
    // A comparison that does not end is left behind; it holds nothing but its own memory.
    match thread::Builder::new().stack_size(STACK_BYTES).spawn(work) {
        Ok(_) => {
            answer.recv_timeout(TIME_MAX).unwrap_or_else(|_| Fit::Broken("the comparison does not end".to_owned()))
        }
        Err(error) => Fit::Broken(format!("there is no room to compare: {error}")),
    }
}

fn compare(schema: &Value, value: &Value) -> Fit {
    let patterns = PatternOptions::fancy_regex().backtrack_limit(100_000).size_limit(1 << 20);
    let validator = match jsonschema::options().offline().with_pattern_options(patterns).build(schema) {
        Ok(validator) => validator,
        Err(error) => return Fit::Broken(format!("the schema is not valid: {}", short(&error.masked().to_string()))),
    };
    if validator.is_valid(value) {
        return Fit::Fits;
    }
    let misfits = validator.iter_errors(value).take(MISFITS_MAX).map(|error| Misfit {
        pointer: error.instance_path().to_string(),
        message: short(&error.masked().to_string()),
    });
    Fit::Misfits(misfits.collect())
}

fn short(text: &str) -> String {
    truncate_chars(text, 300).to_owned()
}

fn is_deeper(value: &Value, depth: usize) -> bool {
    if depth == 0 {
        return true;
    }
    match value {
        Value::Array(items) => items.iter().any(|item| is_deeper(item, depth - 1)),
        Value::Object(fields) => fields.values().any(|field| is_deeper(field, depth - 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Whether a reference leads back to itself without going down into the value, so that no validator would ever be done.
fn refers_to_itself(schema: &Value) -> bool {
    let mut path = Vec::new();
    let mut done = Vec::new();
    everywhere(schema, &mut |node| turns_back(schema, node, &mut path, &mut done))
}

fn everywhere(node: &Value, wanted: &mut dyn FnMut(&Value) -> bool) -> bool {
    if wanted(node) {
        return true;
    }
    match node {
        Value::Array(items) => items.iter().any(|item| everywhere(item, wanted)),
        Value::Object(fields) => fields.values().any(|field| everywhere(field, wanted)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Follows what is applied to the same value: references and the combining keywords.
fn turns_back(root: &Value, node: &Value, path: &mut Vec<*const Value>, done: &mut Vec<*const Value>) -> bool {
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
    let found = next.into_iter().any(|node| turns_back(root, node, path, done));
    path.pop();
    done.push(here);
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn misfits(schema: &Value, value: &Value) -> Vec<(String, String)> {
        match fit(schema, value) {
            Fit::Misfits(misfits) => misfits.into_iter().map(|misfit| (misfit.pointer, misfit.message)).collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_misfit_says_where_and_what() {
        let schema = json!({"type": "object", "additionalProperties": false, "required": ["path"],
            "properties": {"path": {"type": "string"}, "pages": {"type": "array", "items": {"type": "integer", "minimum": 1}}}});
        assert_eq!(fit(&schema, &json!({"path": "x", "pages": [1]})), Fit::Fits);
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
        // A list of schemas for `items` is draft 7; 2020-12 calls it `prefixItems`.
        let tuple = json!({"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "integer"}]});
        assert!(matches!(fit(&tuple, &json!(["a"])), Fit::Misfits(_)));
        assert!(matches!(fit(&json!({"items": [{"type": "integer"}]}), &json!(["a"])), Fit::Broken(_)));
        assert!(matches!(fit(&json!({"prefixItems": [{"type": "integer"}]}), &json!(["a"])), Fit::Misfits(_)));
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
            assert!(matches!(fit(&schema, &json!({"a": 1})), Fit::Broken(_)), "{schema}");
        }
    }

    #[test]
    fn a_schema_of_trees_works_and_a_hostile_pattern_ends() {
        let tree = json!({"type": "object", "properties": {"below": {"$ref": "#"}, "size": {"type": "integer"}}});
        assert_eq!(fit(&tree, &json!({"below": {"below": {"size": 1}}})), Fit::Fits);
        assert_eq!(misfits(&tree, &json!({"below": {"below": {"size": "a"}}}))[0].0, "/below/below/size");
        let slow = json!({"pattern": "^(?=x)?(a+)+\\1$"});
        assert_ne!(fit(&slow, &json!("a".repeat(40) + "!")), Fit::Fits);
    }
}
