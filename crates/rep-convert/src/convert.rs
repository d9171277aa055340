//! Turns a skill in twelve sections into a UASP file, independent of the engine that produced the sections: UASP §7.1.
//!
//! All functions are pure and deterministic. [`convert_by_rules`] converts without a model. With a model,
//! [`build_model_prompt`] writes the question, [`accept_answer`] reads the answer, and [`convert_document`] makes the
//! file; the caller provides the connection to the model ([`LanguageModel`]). `rep-library` reads and writes the files.

pub mod answer;
mod candidates;
mod checklist;
mod comparison;
mod conversion;
pub mod dialogue;
mod html_report;
mod model;
pub mod prompt;
pub mod provenance;
mod provenance_header;
mod report;
mod schema;
mod validation;
mod yaml;

use rep_model::uasp::SECTION_NAMES;
use rep_model::yaml::parse;
use rep_model::{DocumentOrigin, SkillDocument, content_hash};
use serde_json::{Map, Value, json};

pub use checklist::{ChecklistPoint, ChecklistPointState};
pub use comparison::{FactDifference, find_differences};
pub use conversion::{
    AnswerError, Conversion, ConversionEngine, DoubtfulHandling, MarkdownRelation, Replaceability, accept_answer,
    build_model_prompt, check_answer, convert_by_rules, convert_by_rules_with, convert_document, locate_values,
    read_answer,
};
pub use html_report::render_html_report;
pub use model::{
    LanguageModel, ModelError, ModelErrorCode, ModelQuestion, ModelReply, RejectedReply, ReplyEnding, TokenUsage,
};
pub use provenance_header::ProvenanceHeader;
pub use report::{ConversionItem, ConversionNotice, ConversionReport};
pub use schema::answer_schema;
pub use yaml::write_yaml;

/// The version of a file whose content has not been hashed yet.
pub const VERSION_PLACEHOLDER: &str = "00000000";

/// A document that is ready to be written.
#[derive(Clone, Debug, PartialEq)]
pub struct FinishedUaspFile {
    /// The non-empty sections in the order of the specification, with the version of their content.
    pub document: SkillDocument,
    /// The document as the text of a `*.uasp.yaml` file.
    pub yaml: String,
}

impl FinishedUaspFile {
    /// Returns the name of the skill, which is also the name of its file.
    pub fn name(&self) -> &str {
        self.document.sections.meta.name.as_deref().unwrap_or("skill")
    }

    /// Returns the version of the content, if it has one.
    pub fn version(&self) -> Option<&str> {
        self.document.sections.meta.version.as_deref()
    }
}

/// Orders the sections of a document, removes the empty ones, and computes the version.
///
/// Accepts the output of any engine. A value that is not a skill is returned without a version: validation is a
/// separate step.
pub fn finish_document(tree: &Value) -> FinishedUaspFile {
    let mut value = order_sections(tree);
    if let Some(meta) = value.get_mut("meta").and_then(Value::as_object_mut) {
        meta.insert("version".to_owned(), json!(VERSION_PLACEHOLDER));
        *meta = move_keys_first(meta, &["name", "version", "type", "description"]);
    }
    let version = compute_version(&write_yaml(&value));
    if let (Some(meta), Some(version)) = (value.get_mut("meta").and_then(Value::as_object_mut), version) {
        meta.insert("version".to_owned(), json!(version));
    }
    let yaml = write_yaml(&value);
    FinishedUaspFile { document: SkillDocument::from_value(value, DocumentOrigin::Authored, Vec::new()), yaml }
}

/// Computes the version of a file's content, if the content can be hashed.
fn compute_version(yaml: &str) -> Option<String> {
    let root = parse(yaml, 0).root?;
    content_hash::hash_content(&root).ok().map(|digest| digest[..8].to_owned())
}

/// Orders sections as the specification does, then the author's extra sections, and removes the empty ones.
fn order_sections(document: &Value) -> Value {
    let Value::Object(sections) = document else { return document.clone() };
    let filled = move_keys_first(sections, &SECTION_NAMES).into_iter().filter(|(_, section)| is_filled(section));
    Value::Object(filled.map(|(name, section)| (name.clone(), order_section_keys(&name, &section))).collect())
}

/// The order in which keys of entries and items are written.
const KEY_ORDER: [&str; 42] = [
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

/// Orders the keys of a section's entries and items, so that equal facts are written as equal bytes.
fn order_section_keys(name: &str, section: &Value) -> Value {
    match (name, section) {
        ("commands" | "workflows" | "reference" | "templates", Value::Object(entries)) => {
            Value::Object(entries.iter().map(|(key, entry)| (key.clone(), order_item_keys(entry))).collect())
        }
        ("triggers" | "constraints" | "state", Value::Object(lists)) => {
            Value::Object(lists.iter().map(|(key, list)| (key.clone(), order_list_items(list))).collect())
        }
        (_, list @ Value::Array(_)) if SECTION_NAMES.contains(&name) => order_list_items(list),
        (_, other) => other.clone(),
    }
}

fn order_list_items(list: &Value) -> Value {
    match list {
        Value::Array(all) => all.iter().map(order_item_keys).collect(),
        other => other.clone(),
    }
}

fn order_item_keys(value: &Value) -> Value {
    let Value::Object(map) = value else { return value.clone() };
    let ordered = move_keys_first(map, &KEY_ORDER).into_iter().map(|(key, value)| {
        let is_list = matches!(key.as_str(), "args" | "flags" | "variants" | "steps");
        let value = if is_list { order_list_items(&value) } else { value };
        (key, value)
    });
    Value::Object(ordered.collect())
}

/// Moves the entries with these keys to the front, in this order.
fn move_keys_first(map: &Map<String, Value>, first: &[&str]) -> Map<String, Value> {
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
        let finished = finish_document(&json!({
            "sources": [],
            "x-own": { "kept": 1 },
            "constraints": { "never": ["lie"] },
            "commands": {},
            "meta": { "type": "knowledge", "description": "d", "name": "t" },
            "triggers": { "keywords": [] },
        }));
        let value = finished.document.raw_value();
        let keys: Vec<&str> = value.as_object().into_iter().flatten().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["meta", "constraints", "x-own"]);
        let meta: Vec<&str> = value["meta"].as_object().into_iter().flatten().map(|(key, _)| key.as_str()).collect();
        assert_eq!(meta, ["name", "version", "type", "description"]);
    }

    #[test]
    fn the_version_is_that_of_the_content_and_always_quoted() {
        let document = json!({ "meta": { "name": "t", "type": "knowledge", "version": "ffffffff" } });
        let finished = finish_document(&document);
        let version = finished.version().unwrap();
        assert_eq!(super::compute_version(&finished.yaml).as_deref(), Some(version));
        assert!(finished.yaml.contains(&format!("version: \"{version}\"\n")), "{}", finished.yaml);
        assert_eq!(finish_document(finished.document.raw_value()), finished);
    }

    #[test]
    fn what_is_no_skill_has_no_version() {
        for document in [json!([1]), json!("text"), json!({ "commands": { "a": 1 } }), json!({ "meta": "x" })] {
            let finished = finish_document(&document);
            assert_eq!(finished.version(), None, "{finished:?}");
        }
    }
}
