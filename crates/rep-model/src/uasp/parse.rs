//! Parses a document's tree into [`UaspSections`].
//!
//! Parsing is total and lenient: a field of the wrong type is treated as absent, and the rules of `rep-check` report
//! it. A scalar that is not text is read as written, as in the frontmatter.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::sections::{
    ApiSettings, ArgumentLocation, CommandVariant, EnvironmentVariable, ReferenceEntry, RequestFields, SourceEntry,
    StateEntity, StateModel, UaspArgument, UaspCommand, UaspConstraints, UaspDecision, UaspMeta, UaspPreference,
    UaspSections, UaspTemplate, UaspTriggers, UaspWorkflow, WorkflowStep,
};
use super::{SpannedText, UaspCommands};
use crate::yaml::{YamlEntry, YamlNode};

/// Parses the sections of a tree. `node` is the source of the tree, if that was an authored file.
pub(crate) fn parse_sections(value: &Value, node: Option<&YamlNode>) -> UaspSections {
    let mut root = FieldReader::new(SpannedValue { value, node });
    UaspSections {
        meta: root.parse_nested("meta", parse_meta),
        triggers: root.parse_nested("triggers", parse_triggers),
        constraints: root.parse_nested("constraints", parse_constraints),
        decisions: root.parse_list("decisions", parse_decision),
        state: root.parse_nested("state", |tree| StateModel {
            entities: FieldReader::new(tree).parse_list("entities", parse_entity),
        }),
        commands: UaspCommands::new(root.parse_mapping("commands", parse_command)),
        global_flags: root.parse_list("global_flags", parse_argument),
        workflows: root.parse_mapping("workflows", parse_workflow),
        reference: root.parse_mapping("reference", parse_reference),
        templates: root.parse_mapping("templates", parse_template),
        environment: root.parse_list("environment", parse_variable),
        sources: root.parse_list("sources", parse_source),
        api: root.parse_nested("api", parse_api),
    }
}

fn parse_meta(tree: SpannedValue<'_>) -> UaspMeta {
    let mut fields = FieldReader::new(tree);
    UaspMeta {
        name: fields.take_text("name"),
        version: fields.take_text("version"),
        kind: fields.take_text("type"),
        description: fields.take_text("description"),
        extra: fields.unparsed_fields(),
    }
}

fn parse_triggers(tree: SpannedValue<'_>) -> UaspTriggers {
    let mut fields = FieldReader::new(tree);
    UaspTriggers {
        keywords: fields.take_texts("keywords"),
        intents: fields.take_texts("intents"),
        file_patterns: fields.take_texts("file_patterns"),
    }
}

fn parse_constraints(tree: SpannedValue<'_>) -> UaspConstraints {
    let mut fields = FieldReader::new(tree);
    UaspConstraints {
        never: fields.take_texts("never"),
        always: fields.take_texts("always"),
        prefer: fields.parse_list("prefer", parse_preference),
    }
}

fn parse_preference(tree: SpannedValue<'_>) -> UaspPreference {
    let mut fields = FieldReader::new(tree);
    UaspPreference {
        preferred: fields.take_text("use"),
        over: fields.take_text("over"),
        when: fields.take_text("when"),
        sentence: tree.text(),
    }
}

fn parse_decision(tree: SpannedValue<'_>) -> UaspDecision {
    let mut fields = FieldReader::new(tree);
    UaspDecision {
        name: fields.take_text("name"),
        when: fields.take_text("when"),
        then: fields.take_text("then"),
        source: fields.take_text("ref"),
    }
}

fn parse_entity(tree: SpannedValue<'_>) -> StateEntity {
    let mut fields = FieldReader::new(tree);
    StateEntity {
        name: fields.take_text_or_whole("name"),
        format: fields.take_text("format"),
        created_by: fields.take_texts("created_by"),
        consumed_by: fields.take_texts("consumed_by"),
        invalidated_by: fields.take_texts("invalidated_by"),
        persisted_by: fields.take_texts("persisted_by"),
        restored_by: fields.take_texts("restored_by"),
        properties: fields.take_texts("properties"),
        extra: fields.unparsed_fields(),
    }
}

fn parse_command(path: SpannedText, tree: SpannedValue<'_>) -> UaspCommand {
    let mut fields = FieldReader::new(tree);
    UaspCommand {
        path,
        syntax: fields.take_text("syntax"),
        description: fields.take_text("description"),
        purpose: fields.take_text("purpose"),
        aliases: fields.take_texts("aliases"),
        arguments: fields.parse_list("args", parse_argument),
        flags: fields.parse_list("flags", parse_argument),
        returns: fields.take_text("returns"),
        requires: fields.take_texts("requires"),
        creates: fields.take_texts("creates"),
        invalidates: fields.take_texts("invalidates"),
        note: fields.take_text("note"),
        variants: fields.parse_list("variants", parse_variant),
        example: fields.take_text("example"),
        request: parse_request(tree),
        extra: fields.unparsed_fields(),
    }
}

fn parse_variant(tree: SpannedValue<'_>) -> CommandVariant {
    let mut fields = FieldReader::new(tree);
    CommandVariant { syntax: fields.take_text("syntax"), purpose: fields.take_text("purpose") }
}

fn parse_request(tree: SpannedValue<'_>) -> RequestFields {
    let mut fields = FieldReader::new(tree);
    RequestFields {
        method: fields.take_text("method"),
        url: fields.take_text("url"),
        path: fields.take_text("path"),
        query: fields.take_value("query"),
        headers: fields.take_value("headers"),
        body: fields.take_value("body"),
        timeout_seconds: fields.take_value("timeout_seconds"),
        is_idempotent: fields.take_boolean("idempotent"),
    }
}

fn parse_argument(tree: SpannedValue<'_>) -> UaspArgument {
    let mut fields = FieldReader::new(tree);
    let values = ["values", "enum", "choices"].into_iter().find_map(|key| tree.get(key));
    UaspArgument {
        name: fields.take_text_or_whole("name"),
        short: fields.take_text("short"),
        long: fields.take_text("long"),
        kind: fields.take_text("type"),
        is_required: fields.take_boolean("required"),
        default: fields.take_value("default"),
        values: values.and_then(|values| values.value.as_array()).cloned().unwrap_or_default(),
        description: fields.take_text("description"),
        purpose: fields.take_text("purpose"),
        env: fields.take_text("env"),
        location: tree.get("in").map(|location| parse_location(location.value)),
    }
}

fn parse_location(value: &Value) -> ArgumentLocation {
    match value.as_str() {
        Some("path") => ArgumentLocation::Path,
        Some("query") => ArgumentLocation::Query,
        Some("header") => ArgumentLocation::Header,
        Some("body") => ArgumentLocation::Body,
        Some(_) | None => ArgumentLocation::Unknown,
    }
}

fn parse_workflow(name: SpannedText, tree: SpannedValue<'_>) -> UaspWorkflow {
    let mut fields = FieldReader::new(tree);
    UaspWorkflow {
        name,
        description: fields.take_text("description"),
        invariants: fields.take_texts("invariants"),
        steps: fields.parse_list("steps", parse_step),
        example: fields.take_text("example"),
        extra: fields.unparsed_fields(),
    }
}

fn parse_step(tree: SpannedValue<'_>) -> WorkflowStep {
    let mut fields = FieldReader::new(tree);
    WorkflowStep {
        command: fields.take_text_or_whole("cmd"),
        note: fields.take_text("note"),
        is_optional: fields.take_boolean("optional") == Some(true),
    }
}

fn parse_reference(name: SpannedText, tree: SpannedValue<'_>) -> ReferenceEntry {
    let mut fields = FieldReader::new(tree);
    ReferenceEntry {
        name,
        syntax: fields.take_text("syntax"),
        example: fields.take_text("example"),
        notes: fields.take_text("notes"),
        values: fields.parse_list("values", |item| item.value.clone()),
        features: fields.unparsed_fields(),
        whole: (!tree.value.is_object()).then(|| tree.value.clone()),
    }
}

fn parse_template(name: SpannedText, tree: SpannedValue<'_>) -> UaspTemplate {
    let mut fields = FieldReader::new(tree);
    UaspTemplate {
        name,
        description: fields.take_text("description"),
        usage: fields.take_text("usage"),
        arguments: fields.parse_list("args", parse_argument),
        path: fields.take_text("path"),
        inline: fields.take_text("inline"),
        extra: fields.unparsed_fields(),
    }
}

fn parse_variable(tree: SpannedValue<'_>) -> EnvironmentVariable {
    let mut fields = FieldReader::new(tree);
    EnvironmentVariable {
        name: fields.take_text_or_whole("name"),
        purpose: fields.take_text("purpose"),
        default: fields.take_value("default"),
        is_secret: fields.take_boolean("secret"),
        is_required: fields.take_boolean("required"),
    }
}

fn parse_source(tree: SpannedValue<'_>) -> SourceEntry {
    let mut fields = FieldReader::new(tree);
    SourceEntry {
        id: fields.take_text_or_whole("id"),
        url: fields.take_text("url"),
        path: fields.take_text("path"),
        use_for: fields.take_text("use_for"),
    }
}

fn parse_api(tree: SpannedValue<'_>) -> ApiSettings {
    let mut fields = FieldReader::new(tree);
    ApiSettings { base_url: fields.take_text("base_url"), headers: fields.take_value("headers") }
}

/// A value of the document, and its node. The value determines the content, the node the location.
#[derive(Clone, Copy)]
struct SpannedValue<'a> {
    value: &'a Value,
    node: Option<&'a YamlNode>,
}

impl<'a> SpannedValue<'a> {
    /// Returns a field of a mapping, even if it is null.
    fn get(self, key: &str) -> Option<SpannedValue<'a>> {
        let value = self.value.as_object()?.get(key)?;
        // The last of duplicate keys counts, as in the value.
        let entries = self.node.and_then(YamlNode::entries).unwrap_or(&[]);
        let entry = entries.iter().rev().find(|entry| entry.key.text() == Some(key));
        Some(SpannedValue { value, node: entry.map(|entry| &entry.value) })
    }

    /// Returns the items of a list, or none if it is not a list.
    fn items(self) -> impl Iterator<Item = SpannedValue<'a>> {
        let values = self.value.as_array().map_or(&[][..], Vec::as_slice);
        let nodes = self.node.and_then(YamlNode::items).unwrap_or(&[]);
        values.iter().enumerate().map(|(at, value)| SpannedValue { value, node: nodes.get(at) })
    }

    /// Returns the entries of a mapping with their keys, or none if it is not a mapping.
    fn entries(self) -> impl Iterator<Item = (SpannedText, SpannedValue<'a>)> {
        let entries = self.node.and_then(YamlNode::entries).unwrap_or(&[]);
        let by_key: HashMap<&str, &YamlEntry> =
            entries.iter().filter_map(|entry| Some((entry.key.text()?, entry))).collect();
        self.value.as_object().into_iter().flatten().map(move |(key, value)| {
            let entry = by_key.get(key.as_str());
            let key = SpannedText { span: entry.map(|entry| entry.key.span), ..SpannedText::new(key) };
            (key, SpannedValue { value, node: entry.map(|entry| &entry.value) })
        })
    }

    /// Returns a scalar as text, unless it is null.
    fn text(self) -> Option<SpannedText> {
        let span = self.node.map(|node| node.span);
        match self.value {
            Value::String(text) => Some(SpannedText { span, ..SpannedText::new(text) }),
            Value::Number(_) | Value::Bool(_) => {
                let written = self.node.and_then(YamlNode::text).map(str::to_owned);
                let value = written.unwrap_or_else(|| self.value.to_string());
                Some(SpannedText { value, span, is_text: false })
            }
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        }
    }
}

/// Reads the fields of a mapping, and tracks which were parsed.
struct FieldReader<'a> {
    tree: SpannedValue<'a>,
    parsed: Vec<&'static str>,
}

impl<'a> FieldReader<'a> {
    fn new(tree: SpannedValue<'a>) -> Self {
        Self { tree, parsed: Vec::new() }
    }

    fn mark_parsed<T>(&mut self, key: &'static str, value: Option<T>) -> Option<T> {
        if value.is_some() {
            self.parsed.push(key);
        }
        value
    }

    fn take_text(&mut self, key: &'static str) -> Option<SpannedText> {
        let text = self.tree.get(key).and_then(SpannedValue::text);
        self.mark_parsed(key, text)
    }

    /// Takes a field, or the whole value if that is text.
    fn take_text_or_whole(&mut self, key: &'static str) -> Option<SpannedText> {
        self.tree.text().or_else(|| self.take_text(key))
    }

    fn take_texts(&mut self, key: &'static str) -> Vec<SpannedText> {
        self.parse_list(key, SpannedValue::text).into_iter().flatten().collect()
    }

    fn take_boolean(&mut self, key: &'static str) -> Option<bool> {
        let value = self.tree.get(key).and_then(|field| field.value.as_bool());
        self.mark_parsed(key, value)
    }

    /// Takes a field of any type, unless it is null.
    fn take_value(&mut self, key: &'static str) -> Option<Value> {
        let value = self.tree.get(key).map(|field| field.value).filter(|value| !value.is_null());
        self.mark_parsed(key, value.cloned())
    }

    fn parse_list<T>(&mut self, key: &'static str, parse: impl Fn(SpannedValue<'a>) -> T) -> Vec<T> {
        let list = self.tree.get(key).filter(|field| field.value.is_array());
        self.mark_parsed(key, list).into_iter().flat_map(SpannedValue::items).map(parse).collect()
    }

    fn parse_mapping<T>(&mut self, key: &'static str, parse: impl Fn(SpannedText, SpannedValue<'a>) -> T) -> Vec<T> {
        let mapping = self.tree.get(key).filter(|field| field.value.is_object());
        self.mark_parsed(key, mapping)
            .into_iter()
            .flat_map(SpannedValue::entries)
            .map(|(key, value)| parse(key, value))
            .collect()
    }

    fn parse_nested<T: Default>(&mut self, key: &'static str, parse: impl Fn(SpannedValue<'a>) -> T) -> T {
        let field = self.tree.get(key);
        self.mark_parsed(key, field).map(parse).unwrap_or_default()
    }

    /// Returns the fields that were not parsed, in document order.
    fn unparsed_fields(self) -> Map<String, Value> {
        let fields = self.tree.value.as_object().into_iter().flatten();
        let unparsed = fields.filter(|(key, _)| !self.parsed.contains(&key.as_str()));
        unparsed.map(|(key, value)| (key.clone(), value.clone())).collect()
    }
}
