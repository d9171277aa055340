//! Every file of every skill as a resource, and the addresses of the x-personal-mcp contract.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rep_hosts::hosts::{mcp_contract, mime_type};
use rep_hosts::{Source, is_part};
use rep_library::CatalogEntry;
use rep_library::disclose;
use rep_model::Frontmatter;
use rep_model::yaml::Node;
use rmcp::ErrorData;
use rmcp::model::{Resource, ResourceContents, ResourceTemplate};
use serde_json::{Value, json};

use crate::shelf::{self, FILE_BYTES_MAX, Shelf};
use crate::{fault, uri};

/// The file that is not there and lists all others, which the utilities of `FastMCP` ask for.
const MANIFEST: &str = "_manifest";

/// Every resource, in order of skills and paths.
pub(crate) fn all(shelf: &Shelf) -> Vec<Resource> {
    let mut all = Vec::new();
    for entry in shelf.disclosed() {
        // A skill that cannot be read just now has no files to list.
        let Ok(held) = shelf::held(entry) else { continue };
        all.extend(contract(entry));
        let own = |path: &str| {
            uri::find(&shelf.catalog, &uri::of_file(entry, path)).is_some_and(|(found, _)| std::ptr::eq(found, entry))
        };
        all.extend(held.files.iter().filter(|(path, _)| own(path)).map(|(path, size)| of_file(entry, path, *size)));
    }
    all
}

/// One file as a resource.
pub(crate) fn of_file(entry: &CatalogEntry, path: &str, size: u64) -> Resource {
    let is_main = entry.folder.join(path) == entry.location;
    let name = if is_main { entry.name.clone() } else { format!("{}/{path}", entry.qualified_name) };
    let resource = Resource::new(uri::of_file(entry, path), name).with_mime_type(mime_type(path)).with_size(size);
    if is_main { resource.with_description(&entry.description) } else { resource }
}

/// The templates: any file by its path, and the references of x-personal-mcp.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new("skill://{+path}", "skill-file").with_title("A file of a skill").with_description(
            "`path` is a skill's name and a path inside it: `pdf/SKILL.md`, `pdf/references/forms.md`",
        ),
    ]
}

/// The resources a skill publishes by the x-personal-mcp contract, in the fields the protocol has.
fn contract(entry: &CatalogEntry) -> Vec<Resource> {
    let Some(block) = entry.skill.front().and_then(Frontmatter::personal_mcp) else { return Vec::new() };
    let source = Source { name: &entry.name, skill: &entry.skill, tools: &[] };
    let resources = mcp_contract(&source, block, &mut Vec::new());
    resources.into_iter().filter_map(|resource| serde_json::from_value(resource).ok()).collect()
}

/// What stands at an address.
pub(crate) fn read(shelf: &Shelf, address: &str) -> Result<ResourceContents, ErrorData> {
    let none = || fault::no_resource(address);
    if let Some((entry, path)) = by_contract(shelf, address) {
        return contents(entry, &path, address);
    }
    let (entry, path) = uri::find(&shelf.catalog, address).ok_or_else(none)?;
    if path == MANIFEST && bytes(entry, &path)?.is_none() {
        return manifest(entry, address);
    }
    contents(entry, &path, address)
}

/// A file of a skill, as text where it is text.
fn contents(entry: &CatalogEntry, path: &str, address: &str) -> Result<ResourceContents, ErrorData> {
    let bytes = bytes(entry, path)?.ok_or_else(|| fault::no_resource(address))?;
    let contents = match String::from_utf8(bytes) {
        Ok(text) => ResourceContents::text(text, address),
        Err(error) => ResourceContents::blob(STANDARD.encode(error.as_bytes()), address),
    };
    Ok(contents.with_mime_type(mime_type(path)))
}

/// The bytes of a file that is served; nothing where there is none.
pub(crate) fn bytes(entry: &CatalogEntry, path: &str) -> Result<Option<Vec<u8>>, ErrorData> {
    let own = entry.location.file_name().map(|name| name.to_string_lossy().into_owned());
    let is_served = is_part(path) && (!entry.skill.tree.is_lone_file || own.as_deref() == Some(path));
    if path.is_empty() || !is_served {
        return Ok(None);
    }
    match disclose::file_up_to(entry, path, FILE_BYTES_MAX) {
        Ok(Ok(bytes)) => Ok(Some(bytes)),
        Ok(Err(_)) => Ok(None),
        Err(_) => Err(fault::unreadable("the file")),
    }
}

/// The list of a skill's files as `FastMCP` writes it.
fn manifest(entry: &CatalogEntry, address: &str) -> Result<ResourceContents, ErrorData> {
    let held = shelf::held(entry).map_err(|_| fault::unreadable("the skill"))?;
    let mut files: Vec<Value> = Vec::new();
    for path in held.files.keys() {
        if let Some(bytes) = bytes(entry, path)? {
            files.push(json!({ "path": path, "size": bytes.len(), "hash": shelf::digest(&bytes) }));
        }
    }
    let text = json!({ "skill": entry.name, "files": files }).to_string();
    Ok(ResourceContents::text(text, address).with_mime_type("application/json"))
}

/// The file an address of the x-personal-mcp contract stands for.
fn by_contract<'a>(shelf: &'a Shelf, address: &str) -> Option<(&'a CatalogEntry, String)> {
    let rest = address.strip_prefix("resource://skills/")?;
    let (id, rest) = rest.split_once('/')?;
    let mut blocks = shelf.disclosed().filter_map(|entry| Some((entry, entry.skill.front()?.personal_mcp()?)));
    let (entry, block) = blocks.find(|(entry, block)| block.id().map_or(entry.name.as_str(), |own| own.value) == id)?;
    if rest == "document" {
        return Some((entry, "SKILL.md".to_owned()));
    }
    let wanted = rest.strip_prefix("references/")?;
    let reference = block.references().iter().find(|reference| reference.key.text() == Some(wanted))?;
    Some((entry, reference.value.get("path").and_then(Node::text)?.to_owned()))
}
