//! The Model Context Protocol: tools, and resources according to the x-personal-mcp contract or the Skills extension.
//!
//! Plain resources do not have fields for tags and versions. They are written to `_meta`, and also in the form that
//! registration libraries read.

use std::collections::BTreeSet;

use rep_model::frontmatter::PersonalMcpBlock;
use rep_model::yaml::{YamlNode, core};
use rep_model::{Skill, TreeEntry};
use serde_json::{Map, Value, json};

use super::functions::function_name;
use super::tool_naming::{ToolNaming, UnnamedTool, choose_tool_names};
use crate::loss::{Loss, LossSeverity};
use crate::projection::{Projection, ProjectionOutput, ProjectionSource};

/// The maximum number of files and bytes of a skill in the Skills extension.
const FILES_MAX: usize = 512;
const BYTES_MAX: u64 = 16 << 20;

pub(super) fn project_skills(sources: &[ProjectionSource<'_>], naming: ToolNaming) -> Projection {
    let mut losses = Vec::new();
    let tools = name_tools(sources, naming, &mut losses);
    let mut resources = Vec::new();
    let mut dependencies = Map::new();
    for source in sources {
        match source.skill.frontmatter().and_then(rep_model::Frontmatter::personal_mcp) {
            Some(block) => {
                let has_file = |path: &str| source.skill.tree.entries.contains_key(path);
                resources.extend(list_contract_resources(source, block, &has_file, &mut losses));
                if let Some(id) = block.id() {
                    let needs: Vec<&str> = block.depends_on().iter().map(|text| text.value).collect();
                    dependencies.insert(id.value.to_owned(), json!(needs));
                }
            }
            None => resources.extend(list_file_resources(source, &mut losses)),
        }
    }
    let mut document = json!({ "tools": tools, "resources": resources });
    if !dependencies.is_empty() {
        document["catalog"] = json!({ "depends_on": dependencies });
    }
    Projection { form: ProjectionOutput::Document(document), losses }
}

/// Describes the tools of all skills, under the chosen names. A tool that cannot have such a name is refused.
fn name_tools(sources: &[ProjectionSource<'_>], naming: ToolNaming, losses: &mut Vec<Loss>) -> Vec<Value> {
    let all = sources.iter().flat_map(|source| source.tools.iter().map(move |tool| (source, tool)));
    let all: Vec<(&ProjectionSource<'_>, &Value)> = all.collect();
    let mut unnamed = Vec::with_capacity(all.len());
    for &(source, tool) in &all {
        let own = tool.get("name").and_then(Value::as_str).unwrap_or_default();
        unnamed.push(UnnamedTool { skill: source.name, tool: own, qualified: function_name(source.name, own) });
    }
    let mut tools = Vec::new();
    for ((source, tool), name) in all.iter().zip(choose_tool_names(&unnamed, &[], naming)) {
        match name {
            Ok(name) => {
                let mut described = describe_tool(source, tool);
                described["name"] = name.into();
                tools.push(described);
            }
            Err(collision) => losses.push(
                Loss::new(LossSeverity::Refused, "tools", collision)
                    .help("rename one of them, or use `--tool-names auto` or `qualified`"),
            ),
        }
    }
    tools
}

/// Describes a tool as a server lists it: with its schemas unchanged, and without its implementation.
pub fn describe_tool(source: &ProjectionSource<'_>, tool: &Value) -> Value {
    let text = |key: &str| tool.get(key).and_then(Value::as_str).unwrap_or_default();
    let mut written = json!({
        "name": function_name(source.name, text("name")),
        "description": text("description"),
        "inputSchema": tool.get("input_schema").cloned().unwrap_or_else(|| json!({ "type": "object" })),
    });
    if let Some(schema) = tool.get("output_schema").filter(|schema| schema.is_object()) {
        written["outputSchema"] = schema.clone();
    }
    written["annotations"] = derive_annotations(source.skill, text("name"));
    written["_meta"] = json!({ "repertoire/skill": source.name, "repertoire/tool": text("name") });
    written
}

/// Derives annotations from the permissions that the skill declares.
fn derive_annotations(skill: &Skill, title: &str) -> Value {
    let permissions = skill.frontmatter().and_then(rep_model::Frontmatter::permissions);
    let writes = permissions.is_some_and(|permissions| !permissions.write_globs().is_empty());
    let connects = permissions.is_some_and(|permissions| !permissions.outbound_hosts().is_empty());
    json!({
        "title": title,
        "readOnlyHint": !writes && !connects,
        "destructiveHint": writes || connects,
        "openWorldHint": connects,
    })
}

/// Lists the resources of the x-personal-mcp contract: the document, its references, and the files that further
/// capabilities name. An alias of a reference is readable but not listed again.
pub fn list_contract_resources(
    source: &ProjectionSource<'_>,
    block: PersonalMcpBlock<'_>,
    has_file: &dyn Fn(&str) -> bool,
    losses: &mut Vec<Loss>,
) -> Vec<Value> {
    let id = block.id().map_or(source.name, |id| id.value);
    let description =
        source.skill.frontmatter().and_then(rep_model::Frontmatter::description).map_or("", |text| text.value);
    let document = format!("resource://skills/{id}/document");
    let mut resources = vec![add_contract_fields(
        json!({ "uri": document, "name": id, "description": description, "mimeType": "text/markdown" }),
        json!({ "skill_id": id, "path": "SKILL.md" }),
        block,
    )];
    for reference in block.references() {
        let Some(ref_id) = reference.key.text() else { continue };
        let text = |key: &str| reference.value.get(key).and_then(YamlNode::text);
        let path = text("path").unwrap_or_default();
        let uri = format!("resource://skills/{id}/references/{ref_id}");
        let mut resource = json!({
            "uri": uri,
            "name": ref_id,
            "mimeType": text("mime_type").map_or_else(|| guess_mime_type(path), str::to_owned),
        });
        for key in ["title", "description"] {
            if let Some(value) = text(key) {
                resource[key] = value.into();
            }
        }
        if !has_file(path) {
            let field = format!("x-personal-mcp.references.{ref_id}");
            losses.push(Loss::new(LossSeverity::Narrowed, field, "the file does not exist"));
        }
        let meta = json!({ "skill_id": id, "ref_id": ref_id, "path": path });
        resources.push(add_contract_fields(resource, meta, block));
    }
    list_capability_files(source.name, block, has_file, &mut resources, losses);
    resources
}

/// Adds the files that capabilities name in addition to the document and the references.
fn list_capability_files(
    name: &str,
    block: PersonalMcpBlock<'_>,
    has_file: &dyn Fn(&str) -> bool,
    resources: &mut Vec<Value>,
    losses: &mut Vec<Loss>,
) {
    let id = block.id().map_or(name, |id| id.value);
    let references = format!("resource://skills/{id}/references/");
    let mut seen: BTreeSet<String> =
        resources.iter().filter_map(|resource| resource["uri"].as_str()).map(str::to_owned).collect();
    for capability in block.capabilities() {
        let uri = capability.value;
        let is_alias = uri.strip_prefix(&references).is_some_and(|alias| block.find_reference(alias).is_some());
        // The files of every skill are served under `skill://` too.
        let own_file = uri.strip_prefix("skill://").and_then(|rest| rest.strip_prefix(name)?.strip_prefix('/'));
        if is_alias || own_file.is_some_and(has_file) || !seen.insert(uri.to_owned()) {
            continue;
        }
        let Some(path) = block.resolve_uri(name, uri).filter(|path| has_file(path)) else {
            let message = format!("`{uri}` is declared but no resource has this URI");
            losses.push(Loss::new(LossSeverity::Narrowed, "x-personal-mcp.capabilities", message));
            continue;
        };
        let resource = json!({ "uri": uri, "name": format!("{id}/{path}"), "mimeType": guess_mime_type(&path) });
        resources.push(add_contract_fields(resource, json!({ "skill_id": id, "path": path }), block));
    }
}

/// Adds what every resource of the contract carries.
///
/// The protocol's `annotations` of a resource have `audience`, but no hints. The hints are in `_meta`, as tags and
/// version are, and also where registration libraries read them.
fn add_contract_fields(mut resource: Value, meta: Value, block: PersonalMcpBlock<'_>) -> Value {
    let tags: Vec<&str> = block.tags().iter().map(|text| text.value).collect();
    let version = block.version().map(|text| text.value);
    let hints = json!({ "readOnlyHint": true, "idempotentHint": true });
    resource["annotations"] = json!({ "audience": ["assistant"], "readOnlyHint": true, "idempotentHint": true });
    resource["tags"] = json!(tags);
    resource["_meta"] = json!({ "fastmcp": { "tags": tags, "version": version, "annotations": hints } });
    if let Some(version) = version {
        resource["version"] = version.into();
    }
    for (key, value) in meta.as_object().into_iter().flatten() {
        resource["_meta"][key] = value.clone();
    }
    resource["meta"] = meta;
    resource
}

/// Lists the files of a skill as resources of the Skills extension.
fn list_file_resources(source: &ProjectionSource<'_>, losses: &mut Vec<Loss>) -> Vec<Value> {
    let front = source.skill.frontmatter();
    let mut resources = Vec::new();
    let mut bytes = 0;
    for (path, entry) in &source.skill.tree.entries {
        let TreeEntry::File { size_bytes, .. } = entry else { continue };
        bytes += size_bytes;
        let mut resource = json!({
            "uri": format!("skill://{}/{}", source.name, percent_encode_path(path)),
            "name": format!("{}/{path}", source.name),
            "mimeType": guess_mime_type(path),
            "size": size_bytes,
        });
        if path == "SKILL.md" {
            resource["name"] = source.name.into();
            resource["description"] =
                front.and_then(rep_model::Frontmatter::description).map_or("", |text| text.value).into();
            if let Some(version) = front.and_then(|front| front.get_text("version")) {
                resource["_meta"] = json!({ "version": version.value, "tags": front.and_then(|front| front.get("tags")).map(core::to_json) });
            }
        }
        resources.push(resource);
    }
    if resources.len() > FILES_MAX || bytes > BYTES_MAX {
        let message = format!(
            "{} files with {bytes} bytes; the Skills extension allows {FILES_MAX} files and {BYTES_MAX} bytes",
            resources.len()
        );
        losses.push(
            Loss::new(LossSeverity::Narrowed, source.name, message).help("remove files that the skill does not need"),
        );
    }
    resources
}

/// Percent-encodes a path for a URI.
pub fn percent_encode_path(path: &str) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~/!$&'()*+,;=:@".contains(byte);
    path.bytes().map(|byte| if plain(&byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

/// Guesses the media type of a file from its name.
pub fn guess_mime_type(path: &str) -> String {
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
