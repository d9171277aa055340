//! Resources: every file of every active skill, and the URIs of the x-personal-mcp contract.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rep_hosts::hosts::{guess_mime_type, mcp_contract};
use rep_hosts::{ProjectionSource, is_skill_part};
use rep_library::{CatalogEntry, LibraryError, prompt};
use rep_model::Frontmatter;
use rmcp::ErrorData;
use rmcp::model::{Resource, ResourceContents, ResourceTemplate};
use serde_json::{Value, json};

use crate::catalog_view::{self, CatalogView, FILE_BYTES_MAX};
use crate::{protocol_error, uri};

/// The message to clients when a file cannot be read.
pub(crate) const UNREADABLE_FILE: &str = "the server could not read the file; ask its operator to check it";
/// The index of skills, in the form of the discovery index. It was part of drafts of the Skills extension.
const INDEX_URI: &str = "skill://index.json";
const INDEX_SCHEMA: &str = "https://schemas.agentskills.io/discovery/0.2.0/schema.json";
/// A virtual file that lists all files of a skill; the `FastMCP` utilities read it.
const MANIFEST_NAME: &str = "_manifest";

/// Lists all resources, in order of skill and path.
pub(crate) fn list_resources(view: &CatalogView) -> Vec<Resource> {
    let mut all = Vec::new();
    for entry in view.active_skills() {
        // A skill that cannot be read has no files to list.
        let Ok(contents) = catalog_view::list_contents(entry) else { continue };
        all.extend(contract_resources(entry, &|path| contents.files.contains_key(path)));
        let own = |path: &str| {
            uri::resolve_address(&view.catalog, &uri::file_uri(entry, path))
                .is_some_and(|(found, _)| std::ptr::eq(found, entry))
        };
        all.extend(
            contents.files.iter().filter(|(path, _)| own(path)).map(|(path, size)| file_resource(entry, path, *size)),
        );
    }
    all
}

/// Describes one file as a resource.
pub(crate) fn file_resource(entry: &CatalogEntry, path: &str, size: u64) -> Resource {
    let is_main = entry.folder.join(path) == entry.location;
    let name = if is_main { entry.name.clone() } else { format!("{}/{path}", entry.qualified_name) };
    let resource =
        Resource::new(uri::file_uri(entry, path), name).with_mime_type(guess_mime_type(path)).with_size(size);
    if is_main { resource.with_description(&entry.description) } else { resource }
}

/// Returns the resource templates: any file of a skill by its path.
pub(crate) fn resource_templates() -> Vec<ResourceTemplate> {
    vec![ResourceTemplate::new("skill://{+path}", "skill-file").with_title("Skill file").with_description(
        "`path` is the name of a skill followed by a path in it: `pdf/SKILL.md`, `pdf/references/forms.md`",
    )]
}

/// Returns the resources that a skill publishes with the x-personal-mcp contract, in the protocol's own fields.
fn contract_resources(entry: &CatalogEntry, has_file: &dyn Fn(&str) -> bool) -> Vec<Resource> {
    let Some(block) = entry.skill.frontmatter().and_then(Frontmatter::personal_mcp) else { return Vec::new() };
    let source = ProjectionSource { name: &entry.name, skill: &entry.skill, tools: &[] };
    let resources = mcp_contract(&source, block, has_file, &mut Vec::new());
    let parse = |resource| match serde_json::from_value(resource) {
        Ok(resource) => Some(resource),
        Err(error) => {
            tracing::warn!("ignoring invalid resource of `{}`: {error}", entry.qualified_name);
            None
        }
    };
    resources.into_iter().filter_map(parse).collect()
}

/// Reads the resource at a URI.
pub(crate) fn read_resource(view: &CatalogView, address: &str) -> Result<ResourceContents, ErrorData> {
    let none = || protocol_error::resource_not_found(address);
    if address == INDEX_URI {
        return Ok(render_index(view));
    }
    if let Some((entry, path)) = resolve_contract(view, address) {
        return read_contents(entry, &path, address);
    }
    let (entry, path) = uri::resolve_address(&view.catalog, address).ok_or_else(none)?;
    if path == MANIFEST_NAME && read_file(entry, &path).map_err(unreadable_file_error)?.is_none() {
        return render_manifest(entry, address);
    }
    read_contents(entry, &path, address)
}

/// Renders the index of skills that hosts read which do not know the Skills extension. It is not listed.
fn render_index(view: &CatalogView) -> ResourceContents {
    let skills = view.active_skills().filter(|entry| entry.location.ends_with("SKILL.md")).map(|entry| {
        json!({
            "type": "skill-md",
            "name": entry.name,
            "description": entry.description,
            "url": uri::main_file_uri(entry),
        })
    });
    let text = json!({ "$schema": INDEX_SCHEMA, "skills": skills.collect::<Vec<Value>>() }).to_string();
    ResourceContents::text(text, INDEX_URI).with_mime_type("application/json")
}

/// Reads a file of a skill, as text if it is UTF-8.
fn read_contents(entry: &CatalogEntry, path: &str, address: &str) -> Result<ResourceContents, ErrorData> {
    let bytes = read_file(entry, path)
        .map_err(unreadable_file_error)?
        .ok_or_else(|| protocol_error::resource_not_found(address))?;
    let contents = match String::from_utf8(bytes) {
        Ok(text) => ResourceContents::text(text, address),
        Err(error) => ResourceContents::blob(STANDARD.encode(error.as_bytes()), address),
    };
    Ok(contents.with_mime_type(guess_mime_type(path)))
}

/// Reads a file of a skill. Returns `None` if the skill does not serve it.
pub fn read_file(entry: &CatalogEntry, path: &str) -> Result<Option<Vec<u8>>, LibraryError> {
    let own = entry.location.file_name().map(|name| name.to_string_lossy().into_owned());
    let is_served = is_skill_part(path) && (!entry.skill.tree.is_lone_file || own.as_deref() == Some(path));
    if path.is_empty() || !is_served {
        return Ok(None);
    }
    Ok(prompt::read_bundled_file_up_to(entry, path, FILE_BYTES_MAX)?.ok())
}

/// Withholds the reason, which is for the operator only.
fn unreadable_file_error(_: LibraryError) -> ErrorData {
    ErrorData::internal_error(UNREADABLE_FILE, None)
}

/// Renders the list of a skill's files in the form of `FastMCP`.
fn render_manifest(entry: &CatalogEntry, address: &str) -> Result<ResourceContents, ErrorData> {
    let contents = catalog_view::list_contents(entry).map_err(|_| protocol_error::unreadable_error("the skill"))?;
    let mut files: Vec<Value> = Vec::new();
    for path in contents.files.keys() {
        if let Some(bytes) = read_file(entry, path).map_err(unreadable_file_error)? {
            files.push(json!({ "path": path, "size": bytes.len(), "hash": catalog_view::sha256_digest(&bytes) }));
        }
    }
    let text = json!({ "skill": entry.name, "files": files }).to_string();
    Ok(ResourceContents::text(text, address).with_mime_type("application/json"))
}

/// Finds the file that a URI of the x-personal-mcp contract refers to.
fn resolve_contract<'a>(view: &'a CatalogView, address: &str) -> Option<(&'a CatalogEntry, String)> {
    let rest = address.strip_prefix("resource://skills/")?;
    let (id, _) = rest.split_once('/')?;
    let mut blocks = view.active_skills().filter_map(|entry| Some((entry, entry.skill.frontmatter()?.personal_mcp()?)));
    let (entry, block) = blocks.find(|(entry, block)| block.id().map_or(entry.name.as_str(), |own| own.value) == id)?;
    Some((entry, block.resolve_uri(&entry.name, address)?))
}
