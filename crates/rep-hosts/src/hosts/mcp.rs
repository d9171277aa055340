//! The Model Context Protocol: tools, and resources by the x-personal-mcp contract or by the Skills extension.
//!
//! Tags and versions are no fields of a plain resource; they are told in `_meta`, and beside it in the form registration
//! libraries take.

use rep_model::frontmatter::PersonalMcp;
use rep_model::yaml::{Node, core};
use rep_model::{Entry, Skill};
use serde_json::{Map, Value, json};

use super::functions::function_name;
use crate::loss::{Loss, Weight};
use crate::projection::{Form, Projection, Source};

/// The most files and bytes of a skill in the Skills extension.
const FILES_MAX: usize = 512;
const BYTES_MAX: u64 = 16 << 20;

pub(super) fn project(sources: &[Source<'_>]) -> Projection {
    let mut losses = Vec::new();
    let mut tools = Vec::new();
    let mut resources = Vec::new();
    let mut dependencies = Map::new();
    for source in sources {
        tools.extend(source.tools.iter().map(|tool| self::tool(source, tool)));
        match source.skill.front().and_then(rep_model::Frontmatter::personal_mcp) {
            Some(block) => {
                resources.extend(contract(source, block, &mut losses));
                if let Some(id) = block.id() {
                    let needs: Vec<&str> = block.depends_on().iter().map(|text| text.value).collect();
                    dependencies.insert(id.value.to_owned(), json!(needs));
                }
            }
            None => resources.extend(files(source, &mut losses)),
        }
    }
    let mut document = json!({ "tools": tools, "resources": resources });
    if !dependencies.is_empty() {
        document["catalog"] = json!({ "depends_on": dependencies });
    }
    Projection { form: Form::Document(document), losses }
}

/// A tool as a server lists it: the contract untouched, and nothing of how it is run.
pub fn tool(source: &Source<'_>, tool: &Value) -> Value {
    let text = |key: &str| tool.get(key).and_then(Value::as_str).unwrap_or_default();
    let mut written = json!({
        "name": function_name(source.name, text("name")),
        "description": text("description"),
        "inputSchema": tool.get("input_schema").cloned().unwrap_or_else(|| json!({ "type": "object" })),
    });
    if let Some(schema) = tool.get("output_schema").filter(|schema| schema.is_object()) {
        written["outputSchema"] = schema.clone();
    }
    written["annotations"] = annotations(source.skill, text("name"));
    written["_meta"] = json!({ "repertoire/skill": source.name, "repertoire/tool": text("name") });
    written
}

/// What a tool may do, as hints: what its skill declares, and nothing kinder.
fn annotations(skill: &Skill, title: &str) -> Value {
    let permissions = skill.front().and_then(rep_model::Frontmatter::permissions);
    let writes = permissions.is_some_and(|permissions| !permissions.write().is_empty());
    let connects = permissions.is_some_and(|permissions| !permissions.outbound().is_empty());
    json!({
        "title": title,
        "readOnlyHint": !writes && !connects,
        "destructiveHint": writes || connects,
        "openWorldHint": connects,
    })
}

/// The resources of the x-personal-mcp contract: the document, and its references.
pub fn contract(source: &Source<'_>, block: PersonalMcp<'_>, losses: &mut Vec<Loss>) -> Vec<Value> {
    let id = block.id().map_or(source.name, |id| id.value);
    let tags: Vec<&str> = block.tags().iter().map(|text| text.value).collect();
    let version = block.version().map(|text| text.value);
    let description = source.skill.front().and_then(rep_model::Frontmatter::description).map_or("", |text| text.value);
    let capabilities: Vec<&str> = block.capabilities().iter().map(|text| text.value).collect();
    let stamped = |mut resource: Value, meta: Value| {
        resource["annotations"] = json!({ "readOnlyHint": true, "idempotentHint": true });
        resource["tags"] = json!(tags);
        resource["_meta"] = json!({ "fastmcp": { "tags": tags, "version": version } });
        if let Some(version) = version {
            resource["version"] = version.into();
        }
        for (key, value) in meta.as_object().into_iter().flatten() {
            resource["_meta"][key] = value.clone();
        }
        resource["meta"] = meta;
        resource
    };
    let document = format!("resource://skills/{id}/document");
    let mut resources = vec![stamped(
        json!({ "uri": document, "name": id, "description": description, "mimeType": "text/markdown" }),
        json!({ "skill_id": id, "path": "SKILL.md" }),
    )];
    for reference in block.references() {
        let Some(ref_id) = reference.key.text() else { continue };
        let text = |key: &str| reference.value.get(key).and_then(Node::text);
        let path = text("path").unwrap_or_default();
        let uri = format!("resource://skills/{id}/references/{ref_id}");
        let mut resource = json!({
            "uri": uri,
            "name": ref_id,
            "mimeType": text("mime_type").map_or_else(|| mime_type(path), str::to_owned),
        });
        for key in ["title", "description"] {
            if let Some(value) = text(key) {
                resource[key] = value.into();
            }
        }
        if !source.skill.tree.entries.contains_key(path) {
            losses.push(Loss::new(
                Weight::Narrowed,
                format!("x-personal-mcp.references.{ref_id}"),
                "its file is not there",
            ));
        }
        resources.push(stamped(resource, json!({ "skill_id": id, "ref_id": ref_id, "path": path })));
    }
    let is_known = |uri: &str| resources.iter().any(|resource| resource["uri"] == uri);
    let unknown = capabilities.iter().filter(|uri| !is_known(uri));
    losses.extend(unknown.map(|uri| {
        let message = format!("`{uri}` is published and nothing here answers it");
        Loss::new(Weight::Narrowed, "x-personal-mcp.capabilities", message)
    }));
    resources
}

/// The files of a skill by the Skills extension.
fn files(source: &Source<'_>, losses: &mut Vec<Loss>) -> Vec<Value> {
    let front = source.skill.front();
    let mut resources = Vec::new();
    let mut bytes = 0;
    for (path, entry) in &source.skill.tree.entries {
        let Entry::File { size_bytes, .. } = entry else { continue };
        bytes += size_bytes;
        let mut resource = json!({
            "uri": format!("skill://{}/{}", source.name, encoded(path)),
            "name": format!("{}/{path}", source.name),
            "mimeType": mime_type(path),
            "size": size_bytes,
        });
        if path == "SKILL.md" {
            resource["name"] = source.name.into();
            resource["description"] =
                front.and_then(rep_model::Frontmatter::description).map_or("", |text| text.value).into();
            if let Some(version) = front.and_then(|front| front.text("version")) {
                resource["_meta"] = json!({ "version": version.value, "tags": front.and_then(|front| front.get("tags")).map(core::json) });
            }
        }
        resources.push(resource);
    }
    if resources.len() > FILES_MAX || bytes > BYTES_MAX {
        let message = format!(
            "{} files of {bytes} bytes; the Skills extension takes {FILES_MAX} and {BYTES_MAX}",
            resources.len()
        );
        losses.push(
            Loss::new(Weight::Narrowed, source.name, message).help("move what the skill does not need elsewhere"),
        );
    }
    resources
}

/// A path as it stands in an address.
pub fn encoded(path: &str) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~/!$&'()*+,;=:@".contains(byte);
    path.bytes().map(|byte| if plain(&byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

/// The media type of a file by its name.
pub fn mime_type(path: &str) -> String {
    let ending = path.rsplit('.').next().filter(|_| path.contains('.')).unwrap_or_default().to_ascii_lowercase();
    let known = match ending.as_str() {
        "md" | "markdown" => "text/markdown",
        "txt" | "" => "text/plain",
        "json" => "application/json",
        "yaml" | "yml" => "application/yaml",
        "py" => "text/x-python",
        "js" | "mjs" | "cjs" => "text/javascript",
        "ts" => "text/typescript",
        "sh" | "bash" => "text/x-shellscript",
        "html" | "htm" => "text/html",
        "css" => "text/css",
        "csv" => "text/csv",
        "xml" => "application/xml",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "pdf" => "application/pdf",
        "zip" => "application/zip",
        "toml" => "application/toml",
        _ => "application/octet-stream",
    };
    known.to_owned()
}
