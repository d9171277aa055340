//! The Claude API, which validates uploads strictly. Only the six standard fields are at the top level of the
//! frontmatter. All other fields are stored in `metadata`, as text, under a name that shows their origin, so that they
//! can be restored. Fields of Claude Code have no place there. If a skill has some, its whole frontmatter is added as
//! [`SOURCE_FILE`], and an import restores it as the author wrote it.

use rep_model::frontmatter::{CLAUDE_CODE_FIELDS, PERSONAL_MCP_FIELD, STANDARD_FIELDS, UNIVERSAL_FIELDS};
use rep_model::yaml::YamlNode;
use rep_model::{Frontmatter, Manifest, Skill, SkillTree};
use serde_json::{Map, Value, json};

use crate::loss::{Loss, LossSeverity};
use crate::projection::{
    ProjectedContent, ProjectedFile, Projection, ProjectionOutput, ProjectionSource, apply_host_overrides,
    project_files, render_manifest,
};

/// The prefix of Universal 2.1 fields in `metadata`.
const UNIVERSAL_PREFIX: &str = "universal";
/// The prefix of undefined fields in `metadata`.
const OTHER_PREFIX: &str = "frontmatter";
/// The file of an upload that has the author's frontmatter, if `metadata` cannot hold all of it.
pub const SOURCE_FILE: &str = "source-frontmatter.md";
/// The default media type of a reference.
const DEFAULT_MIME_TYPE: &str = "text/markdown";

/// The order of the standard fields.
const FIELD_ORDER: [&str; 6] = ["name", "description", "license", "compatibility", "allowed-tools", "metadata"];

pub(super) fn project_skills(sources: &[ProjectionSource<'_>]) -> Projection {
    let mut losses = Vec::new();
    let mut made = Vec::new();
    for (index, source) in sources.iter().enumerate() {
        made.extend(project_skill(source, index, &mut losses));
    }
    Projection { form: ProjectionOutput::Folder(made), losses }
}

fn project_skill(source: &ProjectionSource<'_>, index: usize, losses: &mut Vec<Loss>) -> Vec<ProjectedFile> {
    let below = format!("{}/", source.name);
    let (Some(manifest_file), Some(front)) = (&source.skill.manifest, source.skill.frontmatter()) else {
        losses.push(Loss::new(LossSeverity::Refused, source.name, "a skill without `SKILL.md` cannot be uploaded"));
        return Vec::new();
    };
    let projected = project_frontmatter(front, losses);
    let mut made = vec![ProjectedFile {
        path: format!("{below}SKILL.md"),
        content: ProjectedContent::Bytes(render_manifest(&projected, manifest_file.body())),
        is_executable: false,
    }];
    made.extend(project_files(source, index, &below, losses));
    if is_source_needed(front) && !source.skill.tree.entries.contains_key(SOURCE_FILE) {
        losses.push(Loss::new(LossSeverity::Note, SOURCE_FILE, "keeps the frontmatter for `rep import`"));
        let text = &manifest_file.source.text()[..manifest_file.body_span().start];
        made.push(ProjectedFile {
            path: format!("{below}{SOURCE_FILE}"),
            content: ProjectedContent::Bytes(text.as_bytes().to_vec()),
            is_executable: false,
        });
    }
    // The packager of the host omits these too.
    let evals = format!("{below}evals/");
    if made.iter().any(|file| file.path.starts_with(&evals)) {
        losses.push(Loss::new(LossSeverity::Note, "evals", "is omitted: only authors of the skill need it"));
        made.retain(|file| !file.path.starts_with(&evals));
    }
    if !source.tools.is_empty() {
        let message = "the host does not call tools; the model runs scripts in its own container";
        losses.push(Loss::new(LossSeverity::Narrowed, "tools", message));
    }
    if front.permissions().is_some_and(|permissions| !permissions.outbound_hosts().is_empty()) {
        let message = "the host's container has no network access";
        losses.push(Loss::new(LossSeverity::Narrowed, "permissions.network.outbound", message));
    }
    made
}

/// Whether the frontmatter has values that the standard fields and `metadata` cannot hold: fields of Claude Code, and a
/// list of allowed tools, which becomes one text.
fn is_source_needed(front: &Frontmatter) -> bool {
    let is_list = front.get("allowed-tools").is_some_and(|tools| tools.items().is_some());
    is_list || CLAUDE_CODE_FIELDS.iter().any(|field| front.get(field).is_some())
}

/// Converts the frontmatter to the six standard fields.
fn project_frontmatter(front: &Frontmatter, losses: &mut Vec<Loss>) -> Value {
    let (fields, _) = apply_host_overrides(front, &["claude-api"]);
    let is_universal = fields.contains_key("spec_version");
    let mut metadata = collect_metadata(front, &fields, losses);
    for (key, value) in &fields {
        let key = key.as_str();
        if STANDARD_FIELDS.contains(&key) {
            continue;
        }
        if key == PERSONAL_MCP_FIELD {
            flatten_personal_mcp(value, &mut metadata, losses);
        } else if UNIVERSAL_FIELDS.contains(&key) && (is_universal || !CLAUDE_CODE_FIELDS.contains(&key)) {
            add_metadata(format!("{UNIVERSAL_PREFIX}.{key}"), value_to_text(value), &mut metadata, losses);
        } else if CLAUDE_CODE_FIELDS.contains(&key) {
            losses.push(Loss::new(LossSeverity::Narrowed, key, "is a field of Claude Code and is omitted"));
        } else {
            add_metadata(format!("{OTHER_PREFIX}.{key}"), value_to_text(value), &mut metadata, losses);
        }
    }
    let mut projected = Map::new();
    for key in FIELD_ORDER {
        match (key, fields.get(key)) {
            ("metadata", _) if metadata.is_empty() => {}
            ("metadata", _) => drop(projected.insert(key.to_owned(), Value::Object(metadata.clone()))),
            (_, None | Some(Value::Null)) => {}
            ("allowed-tools", Some(value)) => drop(projected.insert(key.to_owned(), join_allowed_tools(value).into())),
            (_, Some(_)) => {
                // As written: a version `1.0` is text, not a number.
                let as_written = front.get_text(key).map(|text| text.value.to_owned());
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

/// Collects the author's own metadata, with every value as text.
fn collect_metadata(front: &Frontmatter, fields: &Map<String, Value>, losses: &mut Vec<Loss>) -> Map<String, Value> {
    let node = front.get("metadata");
    let Some(Value::Object(own)) = fields.get("metadata") else {
        if let Some(other) = fields.get("metadata").filter(|value| !value.is_null()) {
            let message = format!("is {}; only a mapping of names to strings can be uploaded", describe_kind(other));
            losses.push(Loss::new(LossSeverity::Refused, "metadata", message).help("make it a mapping"));
        }
        return Map::new();
    };
    let mut metadata = Map::new();
    for (key, value) in own {
        let written = node.and_then(|node| node.get(key)).and_then(YamlNode::text).map(str::to_owned);
        let value = match value {
            Value::String(text) => text.clone(),
            Value::Array(_) | Value::Object(_) => {
                let message = "is not a string and is stored as JSON";
                losses.push(Loss::new(LossSeverity::Note, format!("metadata.{key}"), message));
                sort_keys(value).to_string()
            }
            other => written.unwrap_or_else(|| other.to_string()),
        };
        metadata.insert(key.clone(), value.into());
    }
    metadata
}

/// Adds one metadata field for each field of the x-personal-mcp contract.
fn flatten_personal_mcp(block: &Value, metadata: &mut Map<String, Value>, losses: &mut Vec<Loss>) {
    let Value::Object(block) = block else {
        losses.push(Loss::new(LossSeverity::Refused, PERSONAL_MCP_FIELD, "is not a mapping and cannot be stored"));
        return;
    };
    for (key, value) in block {
        let value = if key == "references" { fill_media_types(value) } else { value.clone() };
        add_metadata(format!("{PERSONAL_MCP_FIELD}.{key}"), value_to_text(&value), metadata, losses);
    }
}

/// Fills in the default media type of references.
fn fill_media_types(references: &Value) -> Value {
    let Value::Object(references) = references else { return references.clone() };
    let filled = references.iter().map(|(id, reference)| {
        let mut reference = reference.clone();
        if let Some(fields) = reference.as_object_mut() {
            fields.entry("mime_type").or_insert_with(|| json!(DEFAULT_MIME_TYPE));
        }
        (id.clone(), reference)
    });
    Value::Object(filled.collect())
}

fn add_metadata(key: String, value: String, metadata: &mut Map<String, Value>, losses: &mut Vec<Loss>) {
    if metadata.contains_key(&key) {
        let message = format!("`{key}` already exists and would be overwritten");
        losses.push(Loss::new(LossSeverity::Refused, "metadata", message).help("rename or remove it"));
        return;
    }
    metadata.insert(key, value.into());
}

/// Converts a value to text: strings as they are, everything else as JSON with sorted keys.
fn value_to_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => sort_keys(other).to_string(),
    }
}

fn sort_keys(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut keys: Vec<&String> = fields.keys().collect();
            keys.sort();
            Value::Object(keys.into_iter().map(|key| (key.clone(), sort_keys(&fields[key]))).collect())
        }
        Value::Array(items) => items.iter().map(sort_keys).collect(),
        other => other.clone(),
    }
}

fn join_allowed_tools(value: &Value) -> String {
    match value {
        Value::Array(items) => items.iter().map(value_to_text).collect::<Vec<String>>().join(" "),
        other => value_to_text(other),
    }
}

fn describe_kind(value: &Value) -> &'static str {
    match value {
        Value::Array(_) => "a list",
        Value::String(_) => "text",
        _ => "not a mapping",
    }
}

/// Restores the author's original fields from an uploaded frontmatter. Returns `None` if there is nothing to restore.
fn restore_frontmatter(front: &Frontmatter) -> Option<Value> {
    let mut fields = crate::projection::frontmatter_to_json(front);
    let metadata = fields.get("metadata")?.as_object()?.clone();
    let node = front.get("metadata");
    let mut own = Map::new();
    let mut block = Map::new();
    let mut is_changed = false;
    for (key, value) in &metadata {
        let written = node.and_then(|node| node.get(key)).and_then(YamlNode::text).map(str::to_owned);
        let told = || written.clone().map_or_else(|| value.clone(), |text| parse_metadata_value(&text));
        if let Some(name) = key.strip_prefix(PERSONAL_MCP_FIELD).and_then(|rest| rest.strip_prefix('.')) {
            block.insert(name.to_owned(), told());
        } else if let Some(name) = key.strip_prefix(UNIVERSAL_PREFIX).and_then(|rest| rest.strip_prefix('.')) {
            fields.insert(name.to_owned(), told());
        } else if let Some(name) = key.strip_prefix(OTHER_PREFIX).and_then(|rest| rest.strip_prefix('.')) {
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
        fields.insert(PERSONAL_MCP_FIELD.to_owned(), Value::Object(block));
    }
    Some(Value::Object(fields))
}

/// Parses a text of `metadata`: lists, mappings, booleans and null as JSON, everything else as text. Numbers remain
/// text, because versions look like numbers.
fn parse_metadata_value(text: &str) -> Value {
    match serde_json::from_str::<Value>(text) {
        Ok(value @ (Value::Array(_) | Value::Object(_) | Value::Bool(_) | Value::Null)) => value,
        _ => Value::String(text.to_owned()),
    }
}

/// Restores the author's SKILL.md of an uploaded skill. `source` is the text of its [`SOURCE_FILE`]. Returns `None` if
/// there is nothing to restore.
pub fn restore_manifest(front: &Frontmatter, body: &str, source: Option<&str>) -> Option<Vec<u8>> {
    if let Some(text) = source.and_then(|source| restore_source(front, source)) {
        return Some([text, body.as_bytes()].concat());
    }
    restore_frontmatter(front).map(|front| render_manifest(&front, body))
}

/// Returns the author's frontmatter as it was written, unless the upload was changed since.
fn restore_source<'a>(front: &Frontmatter, source: &'a str) -> Option<&'a [u8]> {
    let (skill, _) = Skill::parse(SkillTree::from_texts("source", &[("SKILL.md", source)]));
    let is_whole = |manifest: &Manifest| manifest.body().is_empty();
    let own = skill.manifest.as_ref().filter(|manifest| is_whole(manifest))?.front.as_ref()?;
    let projected = project_frontmatter(own, &mut Vec::new());
    let uploaded = Value::Object(crate::projection::frontmatter_to_json(front));
    (projected == uploaded).then_some(source.as_bytes())
}
