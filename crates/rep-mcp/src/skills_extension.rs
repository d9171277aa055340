//! The Skills extension of MCP (SEP-2640): `skills/list`, `skills/get` and `resources/directory/read`.

use rep_library::CatalogEntry;
use rep_library::prompt::{self, BundledFiles as SkillContents};
use rep_model::FaultKind;
use rep_model::yaml::core;
use rmcp::ErrorData;
use serde_json::{Map, Value, json};

use crate::catalog_view::{self, CatalogView, FILE_BYTES_MAX};
use crate::pagination::{PAGE_ITEMS_MAX, page_at_cursor};
use crate::{protocol_error, resources, uri};

/// The name of the extension.
pub(crate) const EXTENSION_NAME: &str = "io.modelcontextprotocol/skills";
/// The maximum number of files and bytes of a skill.
const FILES_MAX: usize = 512;
const BYTES_MAX: u64 = 16 << 20;
/// How long a client may cache a result. Subscribers are notified of changes immediately.
pub(crate) const TTL_MS: u64 = 60_000;

/// Whether the extension can serve a skill: it has a SKILL.md with a name and description, and its URI ends in the
/// name.
pub(crate) fn can_serve(entry: &CatalogEntry) -> bool {
    let Some(front) = entry.skill.frontmatter() else { return false };
    let name = front.name().map(|name| name.value);
    // Other hosts reject YAML that only this lenient parser accepts.
    let is_lenient = entry.finding_for_fault(FaultKind::YamlValueUnquoted).is_some();
    let is_named = name == Some(entry.name.as_str()) && front.description().is_some();
    entry.location.ends_with("SKILL.md") && is_named && !is_lenient
}

/// Lists a page of skills.
pub(crate) fn list_skills(view: &CatalogView, cursor: Option<&str>, is_watched: bool) -> Result<Value, ErrorData> {
    let page = page_at_cursor(view.extension_skills(), view.generation, cursor, PAGE_ITEMS_MAX)?;
    let skills: Vec<Value> = page.items.iter().filter_map(|index| view.describe_skill(*index, is_watched)).collect();
    let mut result = with_cache_fields(json!({ "skills": skills }));
    if let Some(next) = page.next {
        result["nextCursor"] = next.into();
    }
    Ok(result)
}

/// Describes the skill with the given SKILL.md URI.
pub(crate) fn get_skill(view: &CatalogView, address: &str) -> Result<Value, ErrorData> {
    let found =
        uri::resolve_address(&view.catalog, address).filter(|(entry, path)| path == "SKILL.md" && can_serve(entry));
    let (entry, _) = found.ok_or_else(|| protocol_error::invalid_params("no skill is served at this URI"))?;
    let skill = describe_skill(entry).map_err(|()| protocol_error::unreadable_error("the skill"))?;
    let skill = skill.ok_or_else(|| {
        protocol_error::invalid_params(format!(
            "the skill exceeds {FILES_MAX} files or {BYTES_MAX} bytes; read its files one by one with `resources/read`"
        ))
    })?;
    Ok(with_cache_fields(json!({ "skill": skill })))
}

/// Lists the children of a directory.
pub(crate) fn read_directory(view: &CatalogView, address: &str, cursor: Option<&str>) -> Result<Value, ErrorData> {
    let none = || protocol_error::invalid_params("no directory is served at this URI");
    let (entry, path) = uri::resolve_address(&view.catalog, address).ok_or_else(none)?;
    let contents = catalog_view::list_contents(entry).map_err(|_| protocol_error::unreadable_error("the directory"))?;
    if !path.is_empty() && !contents.folders.contains(&path) {
        return Err(none());
    }
    let children = list_children(entry, &contents, &path);
    let page = page_at_cursor(&children, view.generation, cursor, PAGE_ITEMS_MAX)?;
    let mut result = with_cache_fields(json!({ "resources": page.items }));
    if let Some(next) = page.next {
        result["nextCursor"] = next.into();
    }
    Ok(result)
}

fn list_children(entry: &CatalogEntry, contents: &SkillContents, folder: &str) -> Vec<Value> {
    let child = |path: &str| match folder {
        "" => !path.contains('/'),
        _ => path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/')).is_some_and(|rest| !rest.contains('/')),
    };
    let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    let folders = contents.folders.iter().filter(|path| child(path));
    let folders = folders
        .map(|path| json!({ "uri": uri::file_uri(entry, path), "name": name(path), "mimeType": "inode/directory" }));
    let files = contents.files.iter().filter(|(path, _)| child(path));
    let files = files.map(|(path, size)| {
        let mut value = json!(resources::file_resource(entry, path, *size));
        if path != "SKILL.md" {
            value["name"] = name(path).into();
        }
        value
    });
    let mut all: Vec<Value> = folders.chain(files).collect();
    all.sort_by(|one, two| one["uri"].as_str().cmp(&two["uri"].as_str()));
    all
}

/// Describes a skill in the form of the extension. Returns `None` if it is too large.
pub(crate) fn describe_skill(entry: &CatalogEntry) -> Result<Option<Value>, ()> {
    let contents = catalog_view::list_contents(entry).map_err(drop)?;
    if contents.files.len() > FILES_MAX || contents.files.values().sum::<u64>() > BYTES_MAX {
        return Ok(None);
    }
    let mut resources = Vec::with_capacity(contents.files.len());
    let mut frontmatter = None;
    for path in contents.files.keys() {
        let Ok(Ok(bytes)) = prompt::read_bundled_file_up_to(entry, path, FILE_BYTES_MAX) else { return Err(()) };
        if path == "SKILL.md" {
            // Parsed from the same bytes as the digest, not from the snapshot.
            frontmatter = parse_frontmatter(&bytes);
        }
        let resource = json!({ "uri": uri::file_uri(entry, path), "digest": catalog_view::sha256_digest(&bytes), "size": bytes.len() });
        resources.push(resource);
    }
    let frontmatter = frontmatter.ok_or(())?;
    Ok(Some(json!({ "uri": uri::file_uri(entry, "SKILL.md"), "frontmatter": frontmatter, "resources": resources })))
}

/// Parses the frontmatter of a SKILL.md. All fields are returned as written.
fn parse_frontmatter(bytes: &[u8]) -> Option<Map<String, Value>> {
    let text = std::str::from_utf8(bytes).ok()?;
    let tree = rep_model::SkillTree::from_texts("", &[("SKILL.md", text)]);
    let (skill, _) = rep_model::Skill::parse(tree);
    let fields = skill.frontmatter()?.fields().iter();
    Some(fields.filter_map(|field| Some((field.key.text()?.to_owned(), core::to_json(&field.value)))).collect())
}

/// Adds the caching fields that revision 2026-07-28 requires of every cacheable result.
fn with_cache_fields(mut result: Value) -> Value {
    result["resultType"] = "complete".into();
    result["ttlMs"] = TTL_MS.into();
    result["cacheScope"] = "private".into();
    result
}
