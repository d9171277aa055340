//! A tool's contract in the subset of JSON Schema a host takes.
//!
//! Hosts that promise arguments that fit (OpenAI strict, Anthropic strict) and Gemini's function declarations take a part of JSON
//! Schema each. [`shape`] writes a schema in such a part so that two things hold: whatever the new schema accepts, [`back`] turns
//! into something the original accepts; and whatever the original accepts, [`forth`] turns into something the new one accepts,
//! except where a loss says otherwise. Where that cannot be done, the schema is refused with the place and the reason.
//!
//! ```
//! use rep_hosts::schema::{OPENAI, shape};
//! let contract = serde_json::json!({"type": "object", "properties": {"page": {"type": "integer"}}, "additionalProperties": false});
//! let shaped = shape(&contract, &OPENAI).unwrap();
//! assert_eq!(shaped.schema["properties"]["page"]["type"], serde_json::json!(["integer", "null"]));
//! assert_eq!(shaped.schema["required"], serde_json::json!(["page"]));
//! ```

use serde_json::Value;

use crate::loss::{Loss, Weight};

mod dialect;
mod disjoint;
mod instance;
mod measure;
mod shaper;

pub use dialect::{ANTHROPIC, Dialect, GEMINI, OPENAI};
pub use instance::{back, forth};
pub use measure::{Measure, measure};

/// The largest schema that is looked at, in bytes of JSON.
const SCHEMA_BYTES_MAX: usize = 1 << 20;
/// The deepest schema that is looked at.
const DEPTH_MAX: usize = 100;

/// A schema in a host's subset.
#[derive(Clone, Debug, PartialEq)]
pub struct Shaped {
    /// The schema.
    pub schema: Value,
    /// What it loses against the original; none of it is a refusal.
    pub losses: Vec<Loss>,
}

/// Writes a tool's contract in a host's subset. Where it cannot be written, says why: every place that stands against it.
pub fn shape(schema: &Value, dialect: &Dialect) -> Result<Shaped, Vec<Loss>> {
    let refuse = |message: &str| Err(vec![Loss::new(Weight::Refused, "", message)]);
    if is_deeper(schema) {
        return refuse("the schema lies too deep in itself");
    }
    if schema.to_string().len() > SCHEMA_BYTES_MAX {
        return refuse("the schema is larger than 1 MiB");
    }
    shaper::shape(schema, dialect)
}

/// Whether a schema is deeper than is looked at, found without going into it by recursion.
fn is_deeper(schema: &Value) -> bool {
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
