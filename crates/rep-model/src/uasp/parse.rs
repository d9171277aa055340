//! Parses a document's tree into [`Sections`].
//!
//! Total and lenient: a field of the wrong type reads as absent, and the rules of `rep-check` report it. A scalar that is
//! not text is read as it is written, as in the frontmatter.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::sections::{
    ApiSettings, Argument, ArgumentLocation, Command, Constraints, Decision, EnvironmentVariable, Meta, Preference,
    ReferenceEntry, RequestFields, Sections, SourceEntry, StateEntity, StateModel, Template, Triggers, Variant,
    Workflow, WorkflowStep,
};
use super::{Commands, SpannedText};
use crate::yaml::{Entry, Node};

/// Parses the sections of a tree. `node` is what the tree was made from, if that was an author's file.
pub(crate) fn parse_sections(value: &Value, node: Option<&Node>) -> Sections {
    let mut root = Fields::new(Tree { value, node });
    Sections {
        meta: root.nested("meta", parse_meta),
        triggers: root.nested("triggers", parse_triggers),
        constraints: root.nested("constraints", parse_constraints),
        decisions: root.list("decisions", parse_decision),
        state: root.nested("state", |tree| StateModel { entities: Fields::new(tree).list("entities", parse_entity) }),
        commands: Commands::new(root.mapping("commands", parse_command)),
        global_flags: root.list("global_flags", parse_argument),
        workflows: root.mapping("workflows", parse_workflow),
        reference: root.mapping("reference", parse_reference),
        templates: root.mapping("templates", parse_template),
        environment: root.list("environment", parse_variable),
        sources: root.list("sources", parse_source),
        api: root.nested("api", parse_api),
    }
}

fn parse_meta(tree: Tree<'_>) -> Meta {
    let mut fields = Fields::new(tree);
    Meta {
        name: fields.text("name"),
        version: fields.text("version"),
        kind: fields.text("type"),
        description: fields.text("description"),
        extra: fields.extra(),
    }
}

fn parse_triggers(tree: Tree<'_>) -> Triggers {
    let mut fields = Fields::new(tree);
    Triggers {
        keywords: fields.texts("keywords"),
        intents: fields.texts("intents"),
        file_patterns: fields.texts("file_patterns"),
    }
}

fn parse_constraints(tree: Tree<'_>) -> Constraints {
    let mut fields = Fields::new(tree);
    Constraints {
        never: fields.texts("never"),
        always: fields.texts("always"),
        prefer: fields.list("prefer", parse_preference),
    }
}

fn parse_preference(tree: Tree<'_>) -> Preference {
    let mut fields = Fields::new(tree);
    Preference {
        preferred: fields.text("use"),
        over: fields.text("over"),
        when: fields.text("when"),
        sentence: tree.text(),
    }
}

fn parse_decision(tree: Tree<'_>) -> Decision {
    let mut fields = Fields::new(tree);
    Decision {
        name: fields.text("name"),
        when: fields.text("when"),
        then: fields.text("then"),
        source: fields.text("ref"),
    }
}

fn parse_entity(tree: Tree<'_>) -> StateEntity {
    let mut fields = Fields::new(tree);
    StateEntity {
        name: fields.text_or_whole("name"),
        format: fields.text("format"),
        created_by: fields.texts("created_by"),
        consumed_by: fields.texts("consumed_by"),
        invalidated_by: fields.texts("invalidated_by"),
        persisted_by: fields.texts("persisted_by"),
        restored_by: fields.texts("restored_by"),
        properties: fields.texts("properties"),
        extra: fields.extra(),
    }
}

fn parse_command(path: SpannedText, tree: Tree<'_>) -> Command {
    let mut fields = Fields::new(tree);
    Command {
        path,
        syntax: fields.text("syntax"),
        description: fields.text("description"),
        purpose: fields.text("purpose"),
        aliases: fields.texts("aliases"),
        arguments: fields.list("args", parse_argument),
        flags: fields.list("flags", parse_argument),
        returns: fields.text("returns"),
        requires: fields.texts("requires"),
        creates: fields.texts("creates"),
        invalidates: fields.texts("invalidates"),
        note: fields.text("note"),
        variants: fields.list("variants", parse_variant),
        example: fields.text("example"),
        request: parse_request(tree),
        extra: fields.extra(),
    }
}

fn parse_variant(tree: Tree<'_>) -> Variant {
    let mut fields = Fields::new(tree);
    Variant { syntax: fields.text("syntax"), purpose: fields.text("purpose") }
}

fn parse_request(tree: Tree<'_>) -> RequestFields {
    let mut fields = Fields::new(tree);
    RequestFields {
        method: fields.text("method"),
        url: fields.text("url"),
        path: fields.text("path"),
        query: fields.value("query"),
        headers: fields.value("headers"),
        body: fields.value("body"),
        timeout_seconds: fields.value("timeout_seconds"),
        is_idempotent: fields.boolean("idempotent"),
    }
}

fn parse_argument(tree: Tree<'_>) -> Argument {
    let mut fields = Fields::new(tree);
    let values = ["values", "enum", "choices"].into_iter().find_map(|key| tree.get(key));
    Argument {
        name: fields.text_or_whole("name"),
        short: fields.text("short"),
        long: fields.text("long"),
        kind: fields.text("type"),
        is_required: fields.boolean("required"),
        default: fields.value("default"),
        values: values.and_then(|values| values.value.as_array()).cloned().unwrap_or_default(),
        description: fields.text("description"),
        purpose: fields.text("purpose"),
        env: fields.text("env"),
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

fn parse_workflow(name: SpannedText, tree: Tree<'_>) -> Workflow {
    let mut fields = Fields::new(tree);
    Workflow {
        name,
        description: fields.text("description"),
        invariants: fields.texts("invariants"),
        steps: fields.list("steps", parse_step),
        example: fields.text("example"),
        extra: fields.extra(),
    }
}

fn parse_step(tree: Tree<'_>) -> WorkflowStep {
    let mut fields = Fields::new(tree);
    WorkflowStep {
        command: fields.text_or_whole("cmd"),
        note: fields.text("note"),
        is_optional: fields.boolean("optional") == Some(true),
    }
}

fn parse_reference(name: SpannedText, tree: Tree<'_>) -> ReferenceEntry {
    let mut fields = Fields::new(tree);
    ReferenceEntry {
        name,
        syntax: fields.text("syntax"),
        example: fields.text("example"),
        notes: fields.text("notes"),
        values: fields.list("values", |item| item.value.clone()),
        features: fields.extra(),
        whole: (!tree.value.is_object()).then(|| tree.value.clone()),
    }
}

fn parse_template(name: SpannedText, tree: Tree<'_>) -> Template {
    let mut fields = Fields::new(tree);
    Template {
        name,
        description: fields.text("description"),
        usage: fields.text("usage"),
        arguments: fields.list("args", parse_argument),
        path: fields.text("path"),
        inline: fields.text("inline"),
        extra: fields.extra(),
    }
}

fn parse_variable(tree: Tree<'_>) -> EnvironmentVariable {
    let mut fields = Fields::new(tree);
    EnvironmentVariable {
        name: fields.text_or_whole("name"),
        purpose: fields.text("purpose"),
        default: fields.value("default"),
        is_secret: fields.boolean("secret"),
        is_required: fields.boolean("required"),
    }
}

fn parse_source(tree: Tree<'_>) -> SourceEntry {
    let mut fields = Fields::new(tree);
    SourceEntry {
        id: fields.text_or_whole("id"),
        url: fields.text("url"),
        path: fields.text("path"),
        use_for: fields.text("use_for"),
    }
}

fn parse_api(tree: Tree<'_>) -> ApiSettings {
    let mut fields = Fields::new(tree);
    ApiSettings { base_url: fields.text("base_url"), headers: fields.value("headers") }
}

/// A value of the document, and the node it was made from. The value decides what is there, the node where it is written.
#[derive(Clone, Copy)]
struct Tree<'a> {
    value: &'a Value,
    node: Option<&'a Node>,
}

impl<'a> Tree<'a> {
    /// A field of a mapping, null or not.
    fn get(self, key: &str) -> Option<Tree<'a>> {
        let value = self.value.as_object()?.get(key)?;
        // Of a key that is written twice the last counts, as in the value.
        let entries = self.node.and_then(Node::entries).unwrap_or(&[]);
        let entry = entries.iter().rev().find(|entry| entry.key.text() == Some(key));
        Some(Tree { value, node: entry.map(|entry| &entry.value) })
    }

    /// The items of a list; none if it is not a list.
    fn items(self) -> impl Iterator<Item = Tree<'a>> {
        let values = self.value.as_array().map_or(&[][..], Vec::as_slice);
        let nodes = self.node.and_then(Node::items).unwrap_or(&[]);
        values.iter().enumerate().map(|(at, value)| Tree { value, node: nodes.get(at) })
    }

    /// The entries of a mapping, with their keys; none if it is not a mapping.
    fn entries(self) -> impl Iterator<Item = (SpannedText, Tree<'a>)> {
        let entries = self.node.and_then(Node::entries).unwrap_or(&[]);
        let by_key: HashMap<&str, &Entry> =
            entries.iter().filter_map(|entry| Some((entry.key.text()?, entry))).collect();
        self.value.as_object().into_iter().flatten().map(move |(key, value)| {
            let entry = by_key.get(key.as_str());
            let key = SpannedText { span: entry.map(|entry| entry.key.span), ..SpannedText::new(key) };
            (key, Tree { value, node: entry.map(|entry| &entry.value) })
        })
    }

    /// A scalar as text, unless it is null.
    fn text(self) -> Option<SpannedText> {
        let span = self.node.map(|node| node.span);
        match self.value {
            Value::String(text) => Some(SpannedText { span, ..SpannedText::new(text) }),
            Value::Number(_) | Value::Bool(_) => {
                let written = self.node.and_then(Node::text).map(str::to_owned);
                let value = written.unwrap_or_else(|| self.value.to_string());
                Some(SpannedText { value, span, is_text: false })
            }
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        }
    }
}

/// The fields of a mapping, and which of them were parsed.
struct Fields<'a> {
    tree: Tree<'a>,
    parsed: Vec<&'static str>,
}

impl<'a> Fields<'a> {
    fn new(tree: Tree<'a>) -> Self {
        Self { tree, parsed: Vec::new() }
    }

    fn take<T>(&mut self, key: &'static str, value: Option<T>) -> Option<T> {
        if value.is_some() {
            self.parsed.push(key);
        }
        value
    }

    fn text(&mut self, key: &'static str) -> Option<SpannedText> {
        let text = self.tree.get(key).and_then(Tree::text);
        self.take(key, text)
    }

    /// A field, or the whole value if that is a text.
    fn text_or_whole(&mut self, key: &'static str) -> Option<SpannedText> {
        self.tree.text().or_else(|| self.text(key))
    }

    fn texts(&mut self, key: &'static str) -> Vec<SpannedText> {
        self.list(key, Tree::text).into_iter().flatten().collect()
    }

    fn boolean(&mut self, key: &'static str) -> Option<bool> {
        let value = self.tree.get(key).and_then(|field| field.value.as_bool());
        self.take(key, value)
    }

    /// A field of any type, unless it is null.
    fn value(&mut self, key: &'static str) -> Option<Value> {
        let value = self.tree.get(key).map(|field| field.value).filter(|value| !value.is_null());
        self.take(key, value.cloned())
    }

    fn list<T>(&mut self, key: &'static str, parse: impl Fn(Tree<'a>) -> T) -> Vec<T> {
        let list = self.tree.get(key).filter(|field| field.value.is_array());
        self.take(key, list).into_iter().flat_map(Tree::items).map(parse).collect()
    }

    fn mapping<T>(&mut self, key: &'static str, parse: impl Fn(SpannedText, Tree<'a>) -> T) -> Vec<T> {
        let mapping = self.tree.get(key).filter(|field| field.value.is_object());
        self.take(key, mapping).into_iter().flat_map(Tree::entries).map(|(key, value)| parse(key, value)).collect()
    }

    fn nested<T: Default>(&mut self, key: &'static str, parse: impl Fn(Tree<'a>) -> T) -> T {
        let field = self.tree.get(key);
        self.take(key, field).map(parse).unwrap_or_default()
    }

    /// The fields that were not parsed, in the order of the document.
    fn extra(self) -> Map<String, Value> {
        let fields = self.tree.value.as_object().into_iter().flatten();
        let unparsed = fields.filter(|(key, _)| !self.parsed.contains(&key.as_str()));
        unparsed.map(|(key, value)| (key.clone(), value.clone())).collect()
    }
}
