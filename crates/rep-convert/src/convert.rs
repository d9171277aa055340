//! From a skill in twelve sections to the file that holds it, whoever made the sections: UASP §7.1.
//!
//! Pure, and the same bytes every time. [`convert_by_rules`] converts without a model. With one, [`model_prompt`] is the question,
//! [`accept_answer`] takes the answer, and [`convert_document`] makes the file; what asks the model is passed in ([`Model`]).
//! Reading and writing files is the business of `rep-library`.

pub mod answer;
mod checklist;
mod compare;
mod conversion;
pub mod dialogue;
pub mod grounds;
mod model;
mod page;
pub mod prompt;
mod report;
mod schema;
mod stamp;
mod validate;
mod yaml;

use rep_model::uasp::SECTIONS;
use rep_model::yaml::parse;
use rep_model::{Document, Origin, hash};
use serde_json::{Map, Value, json};

pub use checklist::{Point, State};
pub use compare::{Difference, differences};
pub use conversion::{
    AnswerError, Conversion, Engine, Relation, Replaceable, accept_answer, convert_by_rules, convert_document,
    document_errors, locate, model_prompt, read_answer,
};
pub use model::{Ending, Model, ModelError, ModelErrorCode, Question, Reply, Turn, Usage};
pub use page::page;
pub use report::{Item, Notice, Report};
pub use schema::schema;
pub use stamp::Stamp;
pub use yaml::write;

/// The version of a file whose content has not been hashed yet.
pub const PLACEHOLDER: &str = "00000000";

/// A document ready to be written.
#[derive(Clone, Debug, PartialEq)]
pub struct Finished {
    /// The sections in the specification's order, none empty, with the version of their content.
    pub document: Document,
    /// The same as the text of a `*.uasp.yaml`.
    pub yaml: String,
}

impl Finished {
    /// The skill's name, which its file has too.
    pub fn name(&self) -> &str {
        self.document.sections.meta.name.as_deref().unwrap_or("skill")
    }

    /// The version of the content, if it has one.
    pub fn version(&self) -> Option<&str> {
        self.document.sections.meta.version.as_deref()
    }
}

/// Puts a document's sections in order, leaves out the empty ones, and computes its version.
///
/// Takes whatever an engine made. What is no skill stays none, without a version: judging is another step.
pub fn finish(tree: &Value) -> Finished {
    let mut value = ordered(tree);
    if let Some(meta) = value.get_mut("meta").and_then(Value::as_object_mut) {
        meta.insert("version".to_owned(), json!(PLACEHOLDER));
        *meta = sorted(meta, &["name", "version", "type", "description"]);
    }
    let version = version(&write(&value));
    if let (Some(meta), Some(version)) = (value.get_mut("meta").and_then(Value::as_object_mut), version) {
        meta.insert("version".to_owned(), json!(version));
    }
    let yaml = write(&value);
    Finished { document: Document::from_value(value, Origin::Authored, Vec::new()), yaml }
}

/// The version of a file's content, where it has one.
fn version(yaml: &str) -> Option<String> {
    let root = parse(yaml, 0).root?;
    hash::sha256(&root).ok().map(|digest| digest[..8].to_owned())
}

/// The sections in the specification's order, then the author's own; those that say nothing are left out.
fn ordered(document: &Value) -> Value {
    let Value::Object(sections) = document else { return document.clone() };
    let filled = sorted(sections, &SECTIONS).into_iter().filter(|(_, section)| is_filled(section));
    Value::Object(filled.map(|(name, section)| (name.clone(), arranged(&name, &section))).collect())
}

/// Keys of entries and items, in the order they are written.
const KEYS: [&str; 42] = [
    "name",
    "id",
    "use",
    "over",
    "when",
    "then",
    "ref",
    "cmd",
    "syntax",
    "description",
    "purpose",
    "short",
    "long",
    "type",
    "required",
    "values",
    "default",
    "env",
    "aliases",
    "args",
    "flags",
    "returns",
    "requires",
    "creates",
    "invalidates",
    "note",
    "notes",
    "optional",
    "variants",
    "invariants",
    "steps",
    "example",
    "format",
    "created_by",
    "consumed_by",
    "invalidated_by",
    "properties",
    "usage",
    "path",
    "inline",
    "url",
    "use_for",
];

/// A section with the keys of its entries and items in order, so that the same facts are the same bytes.
fn arranged(name: &str, section: &Value) -> Value {
    match (name, section) {
        ("commands" | "workflows" | "reference" | "templates", Value::Object(entries)) => {
            Value::Object(entries.iter().map(|(key, entry)| (key.clone(), item(entry))).collect())
        }
        ("triggers" | "constraints" | "state", Value::Object(lists)) => {
            Value::Object(lists.iter().map(|(key, list)| (key.clone(), items(list))).collect())
        }
        (_, list @ Value::Array(_)) if SECTIONS.contains(&name) => items(list),
        (_, other) => other.clone(),
    }
}

fn items(list: &Value) -> Value {
    match list {
        Value::Array(all) => all.iter().map(item).collect(),
        other => other.clone(),
    }
}

fn item(value: &Value) -> Value {
    let Value::Object(map) = value else { return value.clone() };
    let ordered = sorted(map, &KEYS).into_iter().map(|(key, value)| {
        let is_list = matches!(key.as_str(), "args" | "flags" | "variants" | "steps");
        let value = if is_list { items(&value) } else { value };
        (key, value)
    });
    Value::Object(ordered.collect())
}

/// The entries with these keys first, in this order.
fn sorted(map: &Map<String, Value>, first: &[&str]) -> Map<String, Value> {
    let known = first.iter().filter_map(|key| map.get_key_value(*key));
    let rest = map.iter().filter(|(key, _)| !first.contains(&key.as_str()));
    known.chain(rest).map(|(key, value)| (key.clone(), value.clone())).collect()
}

fn is_filled(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Array(items) => !items.is_empty(),
        Value::Object(map) => map.values().any(is_filled),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_come_in_order_and_empty_ones_go() {
        let finished = finish(&json!({
            "sources": [],
            "x-own": { "kept": 1 },
            "constraints": { "never": ["lie"] },
            "commands": {},
            "meta": { "type": "knowledge", "description": "d", "name": "t" },
            "triggers": { "keywords": [] },
        }));
        let value = finished.document.raw();
        let keys: Vec<&str> = value.as_object().into_iter().flatten().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["meta", "constraints", "x-own"]);
        let meta: Vec<&str> = value["meta"].as_object().into_iter().flatten().map(|(key, _)| key.as_str()).collect();
        assert_eq!(meta, ["name", "version", "type", "description"]);
    }

    #[test]
    fn the_version_is_that_of_the_content_and_always_quoted() {
        let document = json!({ "meta": { "name": "t", "type": "knowledge", "version": "ffffffff" } });
        let finished = finish(&document);
        let version = finished.version().unwrap();
        assert_eq!(super::version(&finished.yaml).as_deref(), Some(version));
        assert!(finished.yaml.contains(&format!("version: \"{version}\"\n")), "{}", finished.yaml);
        assert_eq!(finish(finished.document.raw()), finished);
    }

    #[test]
    fn what_is_no_skill_has_no_version() {
        for document in [json!([1]), json!("text"), json!({ "commands": { "a": 1 } }), json!({ "meta": "x" })] {
            let finished = finish(&document);
            assert_eq!(finished.version(), None, "{finished:?}");
        }
    }
}
