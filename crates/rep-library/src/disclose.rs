//! What goes into a model's context: the catalogue, and a skill on activation.

use std::fs;

use rep_check::reference;
use rep_model::{Resolved, resolve};
use serde_json::{Value, json};

use crate::LibraryError;
use crate::catalog::{Catalog, CatalogEntry, Status};
use crate::read::{self, Extent};

/// Whether the catalogue says where each skill lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Locations {
    /// For agents that read files themselves.
    Shown,
    /// For agents that have a tool for it.
    Hidden,
}

/// The most resources listed on activation.
const RESOURCES_MAX: usize = 200;

/// The entries a model is told of.
pub fn disclosed(catalog: &Catalog) -> impl Iterator<Item = &CatalogEntry> {
    catalog.entries.iter().filter(|entry| entry.status == Status::Active)
}

/// The catalogue as `<available_skills>`. Empty where there is nothing to tell.
pub fn xml(catalog: &Catalog, locations: Locations) -> String {
    let mut out = String::new();
    for entry in disclosed(catalog) {
        out.push_str("  <skill>\n");
        out.push_str(&format!("    <name>{}</name>\n", reference::escape(&entry.qualified_name)));
        out.push_str(&format!("    <description>{}</description>\n", reference::escape(&one_line(&entry.description))));
        if locations == Locations::Shown {
            let location = reference::escape(&entry.location.to_string_lossy());
            out.push_str(&format!("    <location>{location}</location>\n"));
        }
        out.push_str("  </skill>\n");
    }
    if out.is_empty() { out } else { format!("<available_skills>\n{out}</available_skills>\n") }
}

/// The catalogue as a Markdown list.
pub fn markdown(catalog: &Catalog, locations: Locations) -> String {
    let mut out = String::new();
    for entry in disclosed(catalog) {
        out.push_str(&format!("- **{}**: {}", entry.qualified_name, one_line(&entry.description)));
        if locations == Locations::Shown {
            out.push_str(&format!(" (`{}`)", entry.location.display()));
        }
        out.push('\n');
    }
    out
}

/// The catalogue as JSON.
pub fn json(catalog: &Catalog, locations: Locations) -> Value {
    let skill = |entry: &CatalogEntry| {
        let mut value = json!({ "name": entry.qualified_name, "description": entry.description });
        if locations == Locations::Shown {
            value["location"] = json!(entry.location);
        }
        value
    };
    json!({ "skills": disclosed(catalog).map(skill).collect::<Vec<_>>() })
}

/// The session manifest of UASP §9.5: what is loaded, and how to ask.
pub fn manifest(catalog: &Catalog) -> Value {
    let skill = |entry: &CatalogEntry| {
        let meta = |key: &str| entry.skill.uasp.iter().find_map(|uasp| uasp.view()?.meta(key)).map(|text| text.value);
        json!({
            "name": entry.name,
            "version": meta("version"),
            "type": meta("type").unwrap_or("knowledge"),
            "description": entry.description,
            "query_endpoint": format!("skill:{}", entry.qualified_name),
        })
    };
    json!({
        "loaded_skills": disclosed(catalog).map(skill).collect::<Vec<_>>(),
        "query_syntax": "skill:<name>:<path>?<filters>",
    })
}

/// A skill on activation: its body, its folder, and the names of its resources, which are not read.
pub fn activate(entry: &CatalogEntry) -> Result<String, LibraryError> {
    let tree = read::folder(&entry.folder, &entry.folder.to_string_lossy(), Extent::Names)?;
    let body = body(entry)?;
    let mut resources: Vec<&String> = tree
        .entries
        .iter()
        .filter(|(path, kind)| {
            !matches!(kind, rep_model::Entry::Directory) && entry.folder.join(path) != entry.location
        })
        .map(|(path, _)| path)
        .collect();
    let total = resources.len();
    resources.truncate(RESOURCES_MAX);
    let mut out = format!("<skill_content name=\"{}\">\n{}\n\n", reference::escape(&entry.qualified_name), body.trim());
    out.push_str(&format!("Skill directory: {}\n", entry.folder.display()));
    out.push_str("Relative paths in this skill are relative to the skill directory.\n");
    if total > 0 {
        out.push_str("\n<skill_resources>\n");
        for resource in &resources {
            out.push_str(&format!("  <file>{}</file>\n", reference::escape(resource)));
        }
        if total > RESOURCES_MAX {
            out.push_str(&format!("  <!-- {} more -->\n", total - RESOURCES_MAX));
        }
        out.push_str("</skill_resources>\n");
    }
    out.push_str("</skill_content>\n");
    Ok(out)
}

/// The body of a SKILL.md without its frontmatter, or a UASP file as it is.
pub fn body(entry: &CatalogEntry) -> Result<String, LibraryError> {
    let text = read::text(&entry.location, read::MAIN_BYTES_MAX)?;
    Ok(match rep_model::skill_md::split(&text) {
        Ok(parts) if entry.location.ends_with("SKILL.md") => text[parts.body.range()].replace("\r\n", "\n"),
        _ => text,
    })
}

/// Why a file of a skill is not given out.
#[derive(Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The path leaves the skill's folder, as written or through a link.
    Outside,
    /// There is no such file.
    Missing,
}

/// Reads one bundled file, which must lie inside the skill's folder, links resolved.
pub fn file(entry: &CatalogEntry, path: &str) -> Result<Result<Vec<u8>, Refusal>, LibraryError> {
    let Resolved::Inside(inside) = resolve("", path) else { return Ok(Err(Refusal::Outside)) };
    let full = entry.folder.join(&inside);
    let Ok(real) = fs::canonicalize(&full) else { return Ok(Err(Refusal::Missing)) };
    if !real.starts_with(&entry.folder) {
        return Ok(Err(Refusal::Outside));
    }
    if real.is_dir() {
        return Ok(Err(Refusal::Missing));
    }
    read::bytes(&real, read::MAIN_BYTES_MAX).map(Ok)
}

/// Text on one line, for catalogues.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
