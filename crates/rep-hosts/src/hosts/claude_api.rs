//! The Claude API: a strict upload. Only the six standard fields stand at the top of the frontmatter; everything else an author
//! wrote is kept in `metadata`, as text, under a name that says where it came from, so that it can be put back.

use rep_model::Frontmatter;
use rep_model::frontmatter::{CLAUDE_CODE_FIELDS, PERSONAL_MCP, STANDARD_FIELDS, UNIVERSAL_FIELDS};
use rep_model::yaml::Node;
use serde_json::{Map, Value, json};

use crate::loss::{Loss, Weight};
use crate::projection::{Form, Made, MadeContent, Projection, Source, files, manifest, overlaid};

/// What fields of Universal 2.1 are called in `metadata`.
const UNIVERSAL: &str = "universal";
/// What fields nobody defines are called there.
const OTHER: &str = "frontmatter";
/// The media type of a reference that names none.
const MIME_TYPE: &str = "text/markdown";

/// The order of the standard fields.
const ORDER: [&str; 6] = ["name", "description", "license", "compatibility", "allowed-tools", "metadata"];

pub(super) fn project(sources: &[Source<'_>]) -> Projection {
    let mut losses = Vec::new();
    let mut made = Vec::new();
    for (index, source) in sources.iter().enumerate() {
        made.extend(one(source, index, &mut losses));
    }
    Projection { form: Form::Folder(made), losses }
}

fn one(source: &Source<'_>, index: usize, losses: &mut Vec<Loss>) -> Vec<Made> {
    let below = format!("{}/", source.name);
    let (Some(manifest_file), Some(front)) = (&source.skill.manifest, source.skill.front()) else {
        losses.push(Loss::new(Weight::Refused, source.name, "a skill without a SKILL.md cannot be uploaded"));
        return Vec::new();
    };
    let projected = frontmatter(front, losses);
    let mut made = vec![Made {
        path: format!("{below}SKILL.md"),
        content: MadeContent::Bytes(manifest(&projected, manifest_file.body())),
        is_executable: false,
    }];
    made.extend(files(source, index, &below, losses));
    // The packager of the host leaves these out too.
    let evals = format!("{below}evals/");
    if made.iter().any(|file| file.path.starts_with(&evals)) {
        losses.push(Loss::new(Weight::Note, "evals", "is left out: it is for who makes the skill"));
        made.retain(|file| !file.path.starts_with(&evals));
    }
    if !source.tools.is_empty() {
        let message = "tools are not called by the host: the model runs scripts in its own container";
        losses.push(Loss::new(Weight::Narrowed, "tools", message));
    }
    if front.permissions().is_some_and(|permissions| !permissions.outbound().is_empty()) {
        let message = "the container of the host has no network";
        losses.push(Loss::new(Weight::Narrowed, "permissions.network.outbound", message));
    }
    made
}

/// The frontmatter in six fields.
fn frontmatter(front: &Frontmatter, losses: &mut Vec<Loss>) -> Value {
    let (fields, _) = overlaid(front, &["claude-api"]);
    let is_universal = fields.contains_key("spec_version");
    let mut metadata = own_metadata(front, &fields, losses);
    for (key, value) in &fields {
        let key = key.as_str();
        if STANDARD_FIELDS.contains(&key) {
            continue;
        }
        if key == PERSONAL_MCP {
            personal_mcp(value, &mut metadata, losses);
        } else if UNIVERSAL_FIELDS.contains(&key) && (is_universal || !CLAUDE_CODE_FIELDS.contains(&key)) {
            add(format!("{UNIVERSAL}.{key}"), text(value), &mut metadata, losses);
        } else if CLAUDE_CODE_FIELDS.contains(&key) {
            losses.push(Loss::new(Weight::Narrowed, key, "is a field of Claude Code and is left out"));
        } else {
            add(format!("{OTHER}.{key}"), text(value), &mut metadata, losses);
        }
    }
    let mut projected = Map::new();
    for key in ORDER {
        match (key, fields.get(key)) {
            ("metadata", _) if metadata.is_empty() => {}
            ("metadata", _) => drop(projected.insert(key.to_owned(), Value::Object(metadata.clone()))),
            (_, None | Some(Value::Null)) => {}
            ("allowed-tools", Some(value)) => drop(projected.insert(key.to_owned(), allowed_tools(value).into())),
            (_, Some(_)) => {
                // As written: a version `1.0` is text and no number.
                let as_written = front.text(key).map(|text| text.value.to_owned());
                let value = fields.get(key).map(|value| match value {
                    Value::String(text) => text.clone(),
                    other => as_written.unwrap_or_else(|| other.to_string()),
                });
                projected.insert(key.to_owned(), value.unwrap_or_default().into());
            }
        }
    }
    Value::Object(projected)
}

/// The author's own metadata, every value as text.
fn own_metadata(front: &Frontmatter, fields: &Map<String, Value>, losses: &mut Vec<Loss>) -> Map<String, Value> {
    let node = front.get("metadata");
    let Some(Value::Object(own)) = fields.get("metadata") else {
        if let Some(other) = fields.get("metadata").filter(|value| !value.is_null()) {
            let message = format!("is {}, and only names with texts can be uploaded", kind(other));
            losses.push(Loss::new(Weight::Refused, "metadata", message).help("make it a mapping"));
        }
        return Map::new();
    };
    let mut metadata = Map::new();
    for (key, value) in own {
        let written = node.and_then(|node| node.get(key)).and_then(Node::text).map(str::to_owned);
        let value = match value {
            Value::String(text) => text.clone(),
            Value::Array(_) | Value::Object(_) => {
                let message = "is no text and is kept as JSON";
                losses.push(Loss::new(Weight::Note, format!("metadata.{key}"), message));
                sorted(value).to_string()
            }
            other => written.unwrap_or_else(|| other.to_string()),
        };
        metadata.insert(key.clone(), value.into());
    }
    metadata
}

/// The block of the x-personal-mcp contract, a field each.
fn personal_mcp(block: &Value, metadata: &mut Map<String, Value>, losses: &mut Vec<Loss>) {
    let Value::Object(block) = block else {
        losses.push(Loss::new(Weight::Refused, PERSONAL_MCP, "is no mapping and cannot be kept"));
        return;
    };
    for (key, value) in block {
        let value = if key == "references" { with_types(value) } else { value.clone() };
        add(format!("{PERSONAL_MCP}.{key}"), text(&value), metadata, losses);
    }
}

/// References with their media types written out.
fn with_types(references: &Value) -> Value {
    let Value::Object(references) = references else { return references.clone() };
    let filled = references.iter().map(|(id, reference)| {
        let mut reference = reference.clone();
        if let Some(fields) = reference.as_object_mut() {
            fields.entry("mime_type").or_insert_with(|| json!(MIME_TYPE));
        }
        (id.clone(), reference)
    });
    Value::Object(filled.collect())
}

fn add(key: String, value: String, metadata: &mut Map<String, Value>, losses: &mut Vec<Loss>) {
    if metadata.contains_key(&key) {
        let message = format!("`{key}` stands there already, and would be overwritten");
        losses.push(Loss::new(Weight::Refused, "metadata", message).help("rename it, or remove it"));
        return;
    }
    metadata.insert(key, value.into());
}

/// A value as text: text as it is, everything else as JSON with sorted keys.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => sorted(other).to_string(),
    }
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut keys: Vec<&String> = fields.keys().collect();
            keys.sort();
            Value::Object(keys.into_iter().map(|key| (key.clone(), sorted(&fields[key]))).collect())
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        other => other.clone(),
    }
}

fn allowed_tools(value: &Value) -> String {
    match value {
        Value::Array(items) => items.iter().map(text).collect::<Vec<String>>().join(" "),
        other => text(other),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Array(_) => "a list",
        Value::String(_) => "text",
        _ => "no mapping",
    }
}

/// Puts an uploaded frontmatter back into the author's shape. `None` where nothing of it came from elsewhere.
fn restored(front: &Frontmatter) -> Option<Value> {
    let mut fields = crate::projection::fields(front);
    let metadata = fields.get("metadata")?.as_object()?.clone();
    let node = front.get("metadata");
    let mut own = Map::new();
    let mut block = Map::new();
    let mut is_changed = false;
    for (key, value) in &metadata {
        let written = node.and_then(|node| node.get(key)).and_then(Node::text).map(str::to_owned);
        let told = || written.clone().map_or_else(|| value.clone(), |text| value_of(&text));
        if let Some(name) = key.strip_prefix(PERSONAL_MCP).and_then(|rest| rest.strip_prefix('.')) {
            block.insert(name.to_owned(), told());
        } else if let Some(name) = key.strip_prefix(UNIVERSAL).and_then(|rest| rest.strip_prefix('.')) {
            fields.insert(name.to_owned(), told());
        } else if let Some(name) = key.strip_prefix(OTHER).and_then(|rest| rest.strip_prefix('.')) {
            fields.insert(name.to_owned(), told());
        } else {
            own.insert(key.clone(), value.clone());
            continue;
        }
        is_changed = true;
    }
    if !is_changed {
        return None;
    }
    if own.is_empty() {
        fields.shift_remove("metadata");
    } else {
        fields.insert("metadata".to_owned(), Value::Object(own));
    }
    if !block.is_empty() {
        fields.insert(PERSONAL_MCP.to_owned(), Value::Object(block));
    }
    Some(Value::Object(fields))
}

/// What a text of `metadata` stands for: JSON where it is a list, a mapping, a truth value or null, else itself. A number stays
/// text, because versions look like numbers.
fn value_of(text: &str) -> Value {
    match serde_json::from_str::<Value>(text) {
        Ok(value @ (Value::Array(_) | Value::Object(_) | Value::Bool(_) | Value::Null)) => value,
        _ => Value::String(text.to_owned()),
    }
}

/// The SKILL.md of an uploaded skill in the author's shape; `None` where nothing is to be put back.
pub fn restored_manifest(front: &Frontmatter, body: &str) -> Option<Vec<u8>> {
    restored(front).map(|front| manifest(&front, body))
}

/// The part of a request that attaches uploaded skills. `identifiers` are what the uploads answered with.
pub fn request(identifiers: &[&str]) -> Value {
    let skills = identifiers.iter().map(|id| json!({ "type": "custom", "skill_id": id, "version": "latest" }));
    json!({
        "container": { "skills": skills.collect::<Vec<Value>>() },
        "tools": [{ "type": "code_execution_20260521", "name": "code_execution" }],
    })
}
