//! Rewrites a tool's schema in the subset of JSON Schema that a host supports.
//!
//! Hosts that guarantee valid arguments (OpenAI strict, Anthropic strict) and Gemini's function declarations each
//! support a part of JSON Schema. [`shape_schema`] rewrites a schema in such a subset with two guarantees. For every
//! value that the new schema accepts, [`restore_arguments`] returns a value that the original accepts. For every value
//! that the original accepts, [`fill_arguments`] returns a value that the new schema accepts, unless a loss is
//! reported. If that is impossible, the schema is refused with the location and the reason.
//!
//! ```
//! use rep_hosts::schema::{OPENAI, shape_schema};
//! let contract = serde_json::json!({"type": "object", "properties": {"page": {"type": "integer"}}, "additionalProperties": false});
//! let shaped = shape_schema(&contract, &OPENAI).unwrap();
//! assert_eq!(shaped.schema["properties"]["page"]["type"], serde_json::json!(["integer", "null"]));
//! assert_eq!(shaped.schema["required"], serde_json::json!(["page"]));
//! ```

use serde_json::Value;

use crate::loss::{Loss, LossSeverity};

mod arguments;
mod dialect;
mod disjointness;
mod schema_size;
mod shaper;

pub use arguments::{fill_arguments, restore_arguments};
pub use dialect::{ANTHROPIC, GEMINI, OPENAI, SchemaDialect};
pub use schema_size::{SchemaSize, measure_schema};

/// The maximum size of a schema, in bytes of JSON.
const SCHEMA_BYTES_MAX: usize = 1 << 20;
/// The maximum depth of a schema.
const DEPTH_MAX: usize = 100;

/// A schema in a host's subset.
#[derive(Clone, Debug, PartialEq)]
pub struct ShapedSchema {
    /// The schema.
    pub schema: Value,
    /// The losses compared to the original, none of which is a refusal.
    pub losses: Vec<Loss>,
}

/// Rewrites a tool's schema in a host's subset. On failure, returns every location that cannot be expressed.
pub fn shape_schema(schema: &Value, dialect: &SchemaDialect) -> Result<ShapedSchema, Vec<Loss>> {
    let refuse = |message: &str| Err(vec![Loss::new(LossSeverity::Refused, "", message)]);
    if is_too_deep(schema) {
        return refuse("the schema is nested too deeply");
    }
    if schema.to_string().len() > SCHEMA_BYTES_MAX {
        return refuse("the schema is larger than 1 MiB");
    }
    shaper::shape_schema(schema, dialect)
}

/// Whether a schema is too deep, computed without recursion.
fn is_too_deep(schema: &Value) -> bool {
    let mut waiting = vec![(schema, 0)];
    while let Some((node, depth)) = waiting.pop() {
        if depth > DEPTH_MAX {
            return true;
        }
        match node {
            Value::Array(items) => waiting.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(fields) => waiting.extend(fields.values().map(|field| (field, depth + 1))),
            _ => {}
        }
    }
    false
}
