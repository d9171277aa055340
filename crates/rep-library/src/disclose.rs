//! What goes into a model's context: the catalogue, and a skill on activation.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use rep_check::reference;
use rep_model::uasp::Uasp;
use rep_model::{Entry, Leads, Resolved, SkillTree, UaspFile, resolve};
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

/// The forms of a catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// `<available_skills>`.
    Xml,
    /// One JSON document.
    Json,
    /// A list.
    Markdown,
    /// The session manifest of UASP §9.5: what is loaded, and how to ask.
    Manifest,
}

/// How much of a skill the catalogue tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Everything.
    Full,
    /// The beginning of the description.
    Shortened,
    /// No description.
    Name,
    /// Nothing.
    Dropped,
}

impl Detail {
    /// The word in output.
    pub const fn name(self) -> &'static str {
        match self {
            Detail::Full => "full",
            Detail::Shortened => "shortened",
            Detail::Name => "name",
            Detail::Dropped => "dropped",
        }
    }
}

/// A skill as the catalogue tells it.
#[derive(Clone)]
pub struct Told<'a> {
    /// The skill.
    pub entry: &'a CatalogEntry,
    /// How much of it is told.
    pub detail: Detail,
    /// What is told about it; empty where there is only the name.
    pub description: Cow<'a, str>,
}

impl<'a> Told<'a> {
    /// A skill with everything there is to tell.
    pub fn whole(entry: &'a CatalogEntry) -> Self {
        Self { entry, detail: Detail::Full, description: Cow::Borrowed(&entry.description) }
    }
}

/// The catalogue of all skills a model is told of. Empty where there is nothing to tell.
pub fn catalogue(catalog: &Catalog, style: Style, locations: Locations) -> String {
    let told: Vec<Told<'_>> = disclosed(catalog).map(Told::whole).collect();
    if told.is_empty() { String::new() } else { render(&told, style, locations) }
}

/// The catalogue as `<available_skills>`. Empty where there is nothing to tell.
pub fn xml(catalog: &Catalog, locations: Locations) -> String {
    catalogue(catalog, Style::Xml, locations)
}

/// The catalogue of some skills.
pub fn render(told: &[Told<'_>], style: Style, locations: Locations) -> String {
    let pieces = || told.iter().map(|told| piece(told, style, locations));
    match style {
        Style::Xml => format!("<available_skills>\n{}</available_skills>\n", pieces().collect::<String>()),
        Style::Markdown => pieces().collect(),
        Style::Json => format!("{:#}\n", json(told, locations)),
        Style::Manifest => {
            let skills: Vec<Value> = told.iter().map(manifest_skill).collect();
            let value = json!({ "loaded_skills": skills, "query_syntax": "skill:<name>:<path>?<filters>" });
            format!("{value:#}\n")
        }
    }
}

/// The catalogue of some skills as JSON.
pub(crate) fn json(told: &[Told<'_>], locations: Locations) -> Value {
    json!({ "skills": told.iter().map(|told| json_skill(told, locations)).collect::<Vec<Value>>() })
}

/// One skill of a catalogue, as it stands in the whole.
pub fn piece(told: &Told<'_>, style: Style, locations: Locations) -> String {
    let is_located = locations == Locations::Shown;
    let entry = told.entry;
    match style {
        Style::Xml => {
            let mut out = format!("  <skill>\n    <name>{}</name>\n", reference::escape(&entry.qualified_name));
            if told.detail != Detail::Name {
                let description = reference::escape(&one_line(&told.description));
                out.push_str(&format!("    <description>{description}</description>\n"));
            }
            if is_located {
                let location = reference::escape(&entry.location.to_string_lossy());
                out.push_str(&format!("    <location>{location}</location>\n"));
            }
            out + "  </skill>\n"
        }
        Style::Markdown => {
            let mut out = format!("- **{}**", entry.qualified_name);
            if told.detail != Detail::Name {
                out.push_str(&format!(": {}", one_line(&told.description)));
            }
            if is_located {
                out.push_str(&format!(" (`{}`)", entry.location.display()));
            }
            out + "\n"
        }
        Style::Json => indented(&json_skill(told, locations)),
        Style::Manifest => indented(&manifest_skill(told)),
    }
}

/// A value as it stands in a list that stands in an object.
fn indented(value: &Value) -> String {
    format!("{value:#},\n").lines().map(|line| format!("    {line}\n")).collect()
}

fn json_skill(told: &Told<'_>, locations: Locations) -> Value {
    let mut value = json!({ "name": told.entry.qualified_name, "description": told.description });
    if told.detail != Detail::Full {
        value["detail"] = json!(told.detail.name());
    }
    if locations == Locations::Shown {
        value["location"] = json!(told.entry.location);
    }
    value
}

fn manifest_skill(told: &Told<'_>) -> Value {
    let entry = told.entry;
    let views = || entry.skill.uasp.iter().filter_map(UaspFile::view);
    json!({
        "name": entry.name,
        "version": views().find_map(Uasp::version).map(|text| text.value),
        "type": views().find_map(Uasp::kind).map_or("knowledge", |text| text.value),
        "description": told.description,
        "query_endpoint": format!("skill:{}", entry.qualified_name),
    })
}

/// A skill on activation: its body, its folder, and the names of its resources, which are not read.
pub fn activate(entry: &CatalogEntry) -> Result<String, LibraryError> {
    let place = format!(
        "Skill directory: {}\nRelative paths in this skill are relative to the skill directory.\n",
        entry.folder.display()
    );
    activate_at(entry, &place)
}

/// A skill on activation, for who finds its files by other means: `place` says in whole lines by which.
pub fn activate_at(entry: &CatalogEntry, place: &str) -> Result<String, LibraryError> {
    // What lies beside a skill that is one file is not its own.
    let tree = if entry.skill.tree.is_lone_file {
        SkillTree::default()
    } else {
        read::folder(&entry.folder, &entry.folder.to_string_lossy(), Extent::Names)?
    };
    let body = body(entry)?;
    let mut resources: Vec<&String> = tree
        .entries
        .iter()
        .filter(|(path, kind)| !matches!(kind, Entry::Directory) && entry.folder.join(path) != entry.location)
        .map(|(path, _)| path)
        .collect();
    let total = resources.len();
    resources.truncate(RESOURCES_MAX);
    let mut out = format!("<skill_content name=\"{}\">\n{}\n\n", reference::escape(&entry.qualified_name), body.trim());
    out.push_str(place);
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

/// What a skill's folder holds, as it is handed out file by file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Every file, by its path inside the skill, with its size. Links that lead to files inside are among them.
    pub files: BTreeMap<String, u64>,
    /// Every folder, by its path inside the skill.
    pub folders: BTreeSet<String>,
}

/// What a skill holds: its whole folder, or the one file it is.
pub fn held(entry: &CatalogEntry) -> Result<Held, LibraryError> {
    let size = |path: &Path| fs::metadata(path).ok().filter(fs::Metadata::is_file).map(|data| data.len());
    if entry.skill.tree.is_lone_file {
        let name = entry.location.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let files = size(&entry.location).map(|size| (name, size)).into_iter().collect();
        return Ok(Held { files, folders: BTreeSet::new() });
    }
    let tree = read::folder(&entry.folder, "", Extent::Names)?;
    let mut held = Held::default();
    for (path, kind) in tree.entries {
        match kind {
            Entry::File { size_bytes, .. } => drop(held.files.insert(path, size_bytes)),
            Entry::Directory => drop(held.folders.insert(path)),
            Entry::Link { leads: Leads::Inside(_), .. } => {
                if let Some(size) = size(&entry.folder.join(&path)) {
                    held.files.insert(path, size);
                }
            }
            Entry::Link { .. } | Entry::Other(_) => {}
        }
    }
    Ok(held)
}

/// Reads one bundled file, which must lie inside the skill's folder, links resolved.
pub fn file(entry: &CatalogEntry, path: &str) -> Result<Result<Vec<u8>, Refusal>, LibraryError> {
    file_up_to(entry, path, read::MAIN_BYTES_MAX)
}

/// Reads one bundled file of at most so many bytes.
pub fn file_up_to(entry: &CatalogEntry, path: &str, most: u64) -> Result<Result<Vec<u8>, Refusal>, LibraryError> {
    let Resolved::Inside(inside) = resolve("", path) else { return Ok(Err(Refusal::Outside)) };
    // What lies beside a skill in one file is not the skill's.
    if entry.skill.tree.is_lone_file && entry.location.file_name().is_none_or(|own| own != inside.as_str()) {
        return Ok(Err(Refusal::Missing));
    }
    let full = entry.folder.join(&inside);
    let Ok(real) = fs::canonicalize(&full) else { return Ok(Err(Refusal::Missing)) };
    if !real.starts_with(&entry.folder) {
        return Ok(Err(Refusal::Outside));
    }
    if real.is_dir() {
        return Ok(Err(Refusal::Missing));
    }
    read::bytes(&real, most).map(Ok)
}

/// Text on one line, for catalogues.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
