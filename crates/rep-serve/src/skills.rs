//! The Skills extension of MCP (SEP-2640): `skills/list`, `skills/get` and `resources/directory/read`.

use rep_library::CatalogEntry;
use rep_library::disclose::{self, Held};
use rep_model::yaml::core;
use rmcp::ErrorData;
use serde_json::{Map, Value, json};

use crate::page::{self, page};
use crate::shelf::{self, FILE_BYTES_MAX, Shelf};
use crate::{fault, resources, uri};

/// The name of the extension.
pub(crate) const EXTENSION: &str = "io.modelcontextprotocol/skills";
/// The most files and bytes of a skill.
const FILES_MAX: usize = 512;
const BYTES_MAX: u64 = 16 << 20;
/// How long an answer may be taken for fresh. A change is told at once to who listens.
pub(crate) const TTL_MS: u64 = 60_000;

/// Whether the extension can serve a skill: a SKILL.md with name and description, and an address that ends in the name.
pub(crate) fn fits(entry: &CatalogEntry) -> bool {
    let Some(front) = entry.skill.front() else { return false };
    let name = front.name().map(|name| name.value);
    // What only our lenient reading understands, no host would find to be the same.
    let is_mended = entry.findings.iter().any(|finding| finding.rule.name == "yaml-value-unquoted");
    let is_named = name == Some(entry.name.as_str()) && front.description().is_some();
    entry.location.ends_with("SKILL.md") && is_named && !is_mended
}

/// A page of skills.
pub(crate) fn list(shelf: &Shelf, cursor: Option<&str>, is_watched: bool) -> Result<Value, ErrorData> {
    let page = page(shelf.skills(), shelf.mark, cursor, page::PAGE_MAX)?;
    let skills: Vec<Value> = page.items.iter().filter_map(|index| shelf.described(*index, is_watched)).collect();
    let mut result = cacheable(json!({ "skills": skills }));
    if let Some(next) = page.next {
        result["nextCursor"] = next.into();
    }
    Ok(result)
}

/// One skill by the address of its SKILL.md.
pub(crate) fn get(shelf: &Shelf, address: &str) -> Result<Value, ErrorData> {
    let found = uri::find(&shelf.catalog, address).filter(|(entry, path)| path == "SKILL.md" && fits(entry));
    let (entry, _) = found.ok_or_else(|| fault::invalid("no skill is served at this address"))?;
    let skill = described(entry).map_err(|()| fault::unreadable("the skill"))?;
    let skill = skill.ok_or_else(|| {
        fault::invalid(format!(
            "the skill is larger than {FILES_MAX} files or {BYTES_MAX} bytes, and is not served whole"
        ))
    })?;
    Ok(cacheable(json!({ "skill": skill })))
}

/// The children of a folder.
pub(crate) fn directory(shelf: &Shelf, address: &str, cursor: Option<&str>) -> Result<Value, ErrorData> {
    let none = || fault::invalid("no directory is served at this address");
    let (entry, path) = uri::find(&shelf.catalog, address).ok_or_else(none)?;
    let held = shelf::held(entry).map_err(|_| fault::unreadable("the directory"))?;
    if !path.is_empty() && !held.folders.contains(&path) {
        return Err(none());
    }
    let children = children(entry, &held, &path);
    let page = page(&children, shelf.mark, cursor, page::PAGE_MAX)?;
    let mut result = cacheable(json!({ "resources": page.items }));
    if let Some(next) = page.next {
        result["nextCursor"] = next.into();
    }
    Ok(result)
}

fn children(entry: &CatalogEntry, held: &Held, folder: &str) -> Vec<Value> {
    let child = |path: &str| match folder {
        "" => !path.contains('/'),
        _ => path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/')).is_some_and(|rest| !rest.contains('/')),
    };
    let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    let folders = held.folders.iter().filter(|path| child(path));
    let folders = folders
        .map(|path| json!({ "uri": uri::of_file(entry, path), "name": name(path), "mimeType": "inode/directory" }));
    let files = held.files.iter().filter(|(path, _)| child(path));
    let files = files.map(|(path, size)| {
        let mut value = json!(resources::of_file(entry, path, *size));
        if path != "SKILL.md" {
            value["name"] = name(path).into();
        }
        value
    });
    let mut all: Vec<Value> = folders.chain(files).collect();
    all.sort_by(|one, two| one["uri"].as_str().cmp(&two["uri"].as_str()));
    all
}

/// A skill as the extension describes it; nothing where it is too large.
pub(crate) fn described(entry: &CatalogEntry) -> Result<Option<Value>, ()> {
    let held = shelf::held(entry).map_err(drop)?;
    if held.files.len() > FILES_MAX || held.files.values().sum::<u64>() > BYTES_MAX {
        return Ok(None);
    }
    let mut resources = Vec::with_capacity(held.files.len());
    let mut frontmatter = None;
    for path in held.files.keys() {
        let Ok(Ok(bytes)) = disclose::file_up_to(entry, path, FILE_BYTES_MAX) else { return Err(()) };
        if path == "SKILL.md" {
            // The same bytes the digest is of, whatever the snapshot knew.
            frontmatter = front(&bytes);
        }
        let resource =
            json!({ "uri": uri::of_file(entry, path), "digest": shelf::digest(&bytes), "size": bytes.len() });
        resources.push(resource);
    }
    let frontmatter = frontmatter.ok_or(())?;
    Ok(Some(json!({ "uri": uri::of_file(entry, "SKILL.md"), "frontmatter": frontmatter, "resources": resources })))
}

/// The frontmatter of a SKILL.md, every field as it was written.
fn front(bytes: &[u8]) -> Option<Map<String, Value>> {
    let text = std::str::from_utf8(bytes).ok()?;
    let tree = rep_model::SkillTree::of("", &[("SKILL.md", text)]);
    let (skill, _) = rep_model::Skill::parse(tree);
    let fields = skill.front()?.fields().iter();
    Some(fields.filter_map(|field| Some((field.key.text()?.to_owned(), core::json(&field.value)))).collect())
}

/// A result with what the revision 2026-07-28 wants of every one that can be kept.
fn cacheable(mut result: Value) -> Value {
    result["resultType"] = "complete".into();
    result["ttlMs"] = TTL_MS.into();
    result["cacheScope"] = "private".into();
    result
}
