//! The Skills extension of MCP (SEP-2640): `skills/list`, `skills/get` and `resources/directory/read`.

use std::borrow::Cow;

use rep_check::reference_tool;
use rep_check::served_frontmatter::find_violation;
use rep_library::prompt::{self, BundledFiles as SkillContents};
use rep_library::{Catalog, CatalogEntry};
use rep_model::yaml::core;
use rmcp::ErrorData;
use serde_json::{Map, Value, json};

use crate::catalog_view::{self, CatalogView, FILE_BYTES_MAX};
use crate::pagination::{ByteBudget, PAGE_ITEMS_MAX, page_by_bytes, parse_cursor, render_cursor};
use crate::{protocol_error, resources, uri};

/// The name of the extension.
pub(crate) const EXTENSION_NAME: &str = "io.modelcontextprotocol/skills";
/// The file that the extension identifies a skill by.
const MAIN_FILE: &str = "SKILL.md";
/// The maximum number of files and bytes of a skill.
const FILES_MAX: usize = 512;
const BYTES_MAX: u64 = 16 << 20;
/// How long a client may cache a result. Subscribers are notified of changes immediately.
pub(crate) const TTL_MS: u64 = 60_000;

/// Lists a page of skills.
pub(crate) fn list_skills(view: &CatalogView, cursor: Option<&str>, is_watched: bool) -> Result<Value, ErrorData> {
    let all = view.extension_skills();
    let start = parse_cursor(view.generation, cursor, all.len())?;
    let mut budget = ByteBudget::default();
    let mut skills: Vec<Value> = Vec::new();
    let mut end = start;
    for index in &all[start..] {
        // A skill that became unreadable is left out.
        if let Ok(skill) = view.describe_skill(*index, is_watched) {
            if skills.len() >= PAGE_ITEMS_MAX || !budget.has_room_for(&skill) {
                break;
            }
            skills.push(skill);
        }
        end += 1;
    }
    let mut result = with_cache_fields(json!({ "skills": skills }));
    if end < all.len() {
        result["nextCursor"] = render_cursor(view.generation, end).into();
    }
    Ok(result)
}

/// Describes the skill with the given SKILL.md URI.
pub(crate) fn get_skill(view: &CatalogView, address: &str) -> Result<Value, ErrorData> {
    let found = uri::resolve_address(&view.catalog, address).filter(|(_, path)| path == "SKILL.md");
    let (entry, _) = found.ok_or_else(|| protocol_error::invalid_params("no skill is served at this URI"))?;
    let skill = describe_skill(&view.catalog, entry).map_err(|reason| {
        protocol_error::invalid_params(format!(
            "this skill is not served by `skills/list` and `skills/get`: {reason}; read its files with `resources/read`"
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
    let page = page_by_bytes(&children, view.generation, cursor)?;
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

/// The parts of a skill that decide whether the extension can serve it.
struct SkillManifest {
    contents: SkillContents,
    /// The bytes of its SKILL.md.
    bytes: Vec<u8>,
    frontmatter: Map<String, Value>,
}

/// Returns why the extension cannot serve a skill, or `None` if it can. Reads the SKILL.md and no other file.
pub(crate) fn find_obstacle(catalog: &Catalog, entry: &CatalogEntry) -> Option<String> {
    read_manifest(catalog, entry).err()
}

/// Reads a skill's SKILL.md and lists its files, or returns why the extension cannot serve the skill: the extension
/// demands that it conforms to the Agent Skills specification. Reasons contain no path of this machine.
fn read_manifest(catalog: &Catalog, entry: &CatalogEntry) -> Result<SkillManifest, String> {
    if !entry.location.ends_with(MAIN_FILE) {
        return Err(format!("it has no {MAIN_FILE}"));
    }
    let contents = catalog_view::list_contents(entry).map_err(|_| "its directory cannot be read".to_owned())?;
    if contents.files.len() > FILES_MAX {
        return Err(format!("it has more than {FILES_MAX} files"));
    }
    if contents.files.values().sum::<u64>() > BYTES_MAX {
        return Err(format!("its files are larger than {} MiB", BYTES_MAX >> 20));
    }
    let bytes = read_part(entry, MAIN_FILE)?;
    let frontmatter = parse_frontmatter(&entry.name, &bytes)?;
    if let Some(violation) = find_violation(&frontmatter) {
        return Err(violation);
    }
    if frontmatter.get("name").and_then(Value::as_str) != Some(entry.name.as_str()) {
        return Err("its `name` changed and the library was not reloaded yet".to_owned());
    }
    let is_own = |path: &str| {
        let found = uri::resolve_address(catalog, &uri::file_uri(entry, path));
        found.is_some_and(|(found, inside)| std::ptr::eq(found, entry) && inside == path)
    };
    match contents.files.keys().find(|path| !is_own(path)) {
        Some(path) => Err(format!("its file {path:?} has no address of its own")),
        None => Ok(SkillManifest { contents, bytes, frontmatter }),
    }
}

/// Describes a skill in the form of the extension, or returns why it cannot be served.
pub(crate) fn describe_skill(catalog: &Catalog, entry: &CatalogEntry) -> Result<Value, String> {
    let SkillManifest { contents, bytes, frontmatter } = read_manifest(catalog, entry)?;
    let mut resources = Vec::with_capacity(contents.files.len());
    for path in contents.files.keys() {
        // The frontmatter was parsed from the same bytes as the digest.
        let bytes = if path == MAIN_FILE { Ok(Cow::Borrowed(&bytes)) } else { read_part(entry, path).map(Cow::Owned) }?;
        resources.push(json!({
            "uri": uri::file_uri(entry, path), "digest": catalog_view::sha256_digest(&bytes), "size": bytes.len(),
        }));
    }
    Ok(json!({ "uri": uri::file_uri(entry, MAIN_FILE), "frontmatter": frontmatter, "resources": resources }))
}

fn read_part(entry: &CatalogEntry, path: &str) -> Result<Vec<u8>, String> {
    let read = prompt::read_bundled_file_up_to(entry, path, FILE_BYTES_MAX);
    read.ok().and_then(Result::ok).ok_or_else(|| format!("its file {path:?} cannot be read"))
}

/// Parses the frontmatter of a SKILL.md as strictly as the reference tool. All fields are returned as written.
fn parse_frontmatter(folder: &str, bytes: &[u8]) -> Result<Map<String, Value>, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| format!("its {MAIN_FILE} is not UTF-8"))?;
    let tree = rep_model::SkillTree::from_texts(folder, &[(MAIN_FILE, text)]);
    let (skill, faults) = rep_model::Skill::parse(tree);
    if let Some(error) = reference_tool::find_parse_error(&skill, &faults) {
        return Err(error);
    }
    let front = skill.frontmatter().ok_or_else(|| format!("its {MAIN_FILE} has no frontmatter"))?;
    let fields = front.fields().iter();
    Ok(fields.filter_map(|field| Some((field.key.text()?.to_owned(), core::to_json(&field.value)))).collect())
}

/// Adds the caching fields that revision 2026-07-28 requires of every cacheable result.
fn with_cache_fields(mut result: Value) -> Value {
    result["resultType"] = "complete".into();
    result["ttlMs"] = TTL_MS.into();
    result["cacheScope"] = "private".into();
    result
}
