//! Renders what goes into a model's context: the catalog, and a skill on activation.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use rep_check::reference_tool;
use rep_model::frontmatter::read_text;
use rep_model::uasp::UaspView;
use rep_model::{ResolvedSkillPath, SkillTree, SymlinkTarget, TreeEntry, UaspFile, resolve_skill_path};
use serde_json::{Value, json};

use crate::LibraryError;
use crate::catalog::{Catalog, CatalogEntry, SkillStatus};
use crate::skill_reader::{self, ReadExtent};

/// Whether the catalog includes the location of each skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocationDisplay {
    /// Include locations, for agents that read files themselves.
    Shown,
    /// Omit locations, for agents that have a tool to load skills.
    Hidden,
}

/// The maximum number of resources listed on activation.
const RESOURCES_MAX: usize = 200;

/// Returns the entries that are shown to models.
pub fn list_disclosed(catalog: &Catalog) -> impl Iterator<Item = &CatalogEntry> {
    catalog.entries.iter().filter(|entry| entry.status == SkillStatus::Active)
}

/// The formats of a catalog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CatalogFormat {
    /// An `<available_skills>` element.
    Xml,
    /// A JSON document.
    Json,
    /// A Markdown list.
    Markdown,
    /// The session manifest of UASP §9.5: the loaded skills, and how to query them.
    Manifest,
}

/// How much of a skill the catalog includes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryDetail {
    /// The complete entry.
    Full,
    /// The start of the description.
    Shortened,
    /// Only the name.
    Name,
    /// No entry.
    Dropped,
}

impl EntryDetail {
    /// Returns the word used in output.
    pub const fn name(self) -> &'static str {
        match self {
            EntryDetail::Full => "full",
            EntryDetail::Shortened => "shortened",
            EntryDetail::Name => "name",
            EntryDetail::Dropped => "dropped",
        }
    }
}

/// A skill as shown in the catalog.
#[derive(Clone)]
pub struct PromptEntry<'a> {
    /// The skill.
    pub entry: &'a CatalogEntry,
    /// How much is shown.
    pub detail: EntryDetail,
    /// The description as shown, or an empty string if only the name is shown.
    pub description: Cow<'a, str>,
}

impl<'a> PromptEntry<'a> {
    /// Creates an entry with all details.
    pub fn from_entry(entry: &'a CatalogEntry) -> Self {
        Self { entry, detail: EntryDetail::Full, description: Cow::Borrowed(&entry.description) }
    }
}

/// Renders the catalog of all skills shown to models. Returns an empty string if there are none.
pub fn render_catalog(catalog: &Catalog, style: CatalogFormat, locations: LocationDisplay) -> String {
    let told: Vec<PromptEntry<'_>> = list_disclosed(catalog).map(PromptEntry::from_entry).collect();
    if told.is_empty() { String::new() } else { render_entries(&told, style, locations) }
}

/// Renders the catalog as `<available_skills>`. Returns an empty string for an empty catalog.
pub fn render_xml(catalog: &Catalog, locations: LocationDisplay) -> String {
    render_catalog(catalog, CatalogFormat::Xml, locations)
}

/// Renders a catalog of these entries.
pub fn render_entries(told: &[PromptEntry<'_>], style: CatalogFormat, locations: LocationDisplay) -> String {
    let pieces = || told.iter().map(|told| render_entry(told, style, locations));
    match style {
        CatalogFormat::Xml => format!("<available_skills>\n{}</available_skills>\n", pieces().collect::<String>()),
        CatalogFormat::Markdown => pieces().collect(),
        CatalogFormat::Json => format!("{:#}\n", entries_to_json(told, locations)),
        CatalogFormat::Manifest => {
            let skills: Vec<Value> = told.iter().map(entry_to_manifest).collect();
            let value = json!({ "loaded_skills": skills, "query_syntax": "skill:<name>:<path>?<filters>" });
            format!("{value:#}\n")
        }
    }
}

/// Returns a catalog of these entries as JSON.
pub(crate) fn entries_to_json(told: &[PromptEntry<'_>], locations: LocationDisplay) -> Value {
    json!({ "skills": told.iter().map(|told| entry_to_json(told, locations)).collect::<Vec<Value>>() })
}

/// Renders one entry exactly as it appears in the catalog.
pub fn render_entry(told: &PromptEntry<'_>, style: CatalogFormat, locations: LocationDisplay) -> String {
    let is_located = locations == LocationDisplay::Shown;
    let entry = told.entry;
    match style {
        CatalogFormat::Xml => {
            let description = (told.detail != EntryDetail::Name).then_some(&*told.description);
            render_xml_entry(&entry.qualified_name, description, is_located.then_some(&entry.location))
        }
        CatalogFormat::Markdown => {
            let mut out = format!("- **{}**", entry.qualified_name);
            if told.detail != EntryDetail::Name {
                out.push_str(&format!(": {}", fold_to_one_line(&told.description)));
            }
            if is_located {
                out.push_str(&format!(" (`{}`)", entry.location.display()));
            }
            out + "\n"
        }
        CatalogFormat::Json => indent_json(&entry_to_json(told, locations)),
        CatalogFormat::Manifest => indent_json(&entry_to_manifest(told)),
    }
}

/// Renders one entry of `<available_skills>`.
pub fn render_xml_entry(name: &str, description: Option<&str>, location: Option<&Path>) -> String {
    let mut out = format!("  <skill>\n    <name>{}</name>\n", reference_tool::escape_html(name));
    if let Some(description) = description {
        let description = reference_tool::escape_html(&fold_to_one_line(description));
        out.push_str(&format!("    <description>{description}</description>\n"));
    }
    if let Some(location) = location {
        let location = reference_tool::escape_html(&location.to_string_lossy());
        out.push_str(&format!("    <location>{location}</location>\n"));
    }
    out + "  </skill>\n"
}

/// Renders a value with the indentation of a list inside an object.
fn indent_json(value: &Value) -> String {
    format!("{value:#},\n").lines().map(|line| format!("    {line}\n")).collect()
}

fn entry_to_json(told: &PromptEntry<'_>, locations: LocationDisplay) -> Value {
    let mut value = json!({ "name": told.entry.qualified_name, "description": told.description });
    if told.detail != EntryDetail::Full {
        value["detail"] = json!(told.detail.name());
    }
    if locations == LocationDisplay::Shown {
        value["location"] = json!(told.entry.location);
    }
    value
}

fn entry_to_manifest(told: &PromptEntry<'_>) -> Value {
    let entry = told.entry;
    let views = || entry.skill.uasp.iter().filter_map(UaspFile::view);
    let front = entry.skill.frontmatter();
    let version = views().find_map(UaspView::version);
    let version = version.or_else(|| front?.personal_mcp()?.version()).or_else(|| front?.get_text("version"));
    let version = version.or_else(|| front?.get("metadata")?.get("version").and_then(read_text));
    json!({
        "name": entry.name,
        "version": version.map(|text| text.value),
        "type": views().find_map(UaspView::kind).map_or("knowledge", |text| text.value),
        "description": told.description,
        "query_endpoint": format!("skill:{}", entry.qualified_name),
    })
}

/// Renders a skill for activation: its body, its directory, and the names of its resources. Does not read the
/// resources.
pub fn activate_skill(entry: &CatalogEntry) -> Result<String, LibraryError> {
    let place = describe_place(&entry.folder);
    activate_skill_at(entry, &place, |_| true)
}

/// Says where the files of an activated skill are.
pub fn describe_place(folder: &Path) -> String {
    format!(
        "Skill directory: {}\nRelative paths in this skill are relative to the skill directory.\n",
        folder.display()
    )
}

/// Renders a skill for activation by a client that accesses files by other means. `place` describes them in complete
/// lines. Only the files for which `is_listed` is true are named.
pub fn activate_skill_at(
    entry: &CatalogEntry,
    place: &str,
    is_listed: impl Fn(&str) -> bool,
) -> Result<String, LibraryError> {
    // The files next to a single-file skill do not belong to it.
    let tree = if entry.skill.tree.is_lone_file {
        SkillTree::default()
    } else {
        skill_reader::read_folder(&entry.folder, &entry.folder.to_string_lossy(), ReadExtent::Names)?
    };
    let body = read_body(entry)?;
    let resources: Vec<&str> = tree
        .entries
        .iter()
        .filter(|(path, kind)| !matches!(kind, TreeEntry::Directory) && entry.folder.join(path) != entry.location)
        .map(|(path, _)| path.as_str())
        .filter(|path| is_listed(path))
        .collect();
    Ok(render_activation(&entry.qualified_name, &body, place, &resources))
}

/// Renders the body of a skill for activation. `place` says in complete lines where the resources are.
pub fn render_activation(name: &str, body: &str, place: &str, resources: &[&str]) -> String {
    let mut out = format!("<skill_content name=\"{}\">\n{}\n\n", reference_tool::escape_html(name), body.trim());
    out.push_str(place);
    if !resources.is_empty() {
        out.push_str("\n<skill_resources>\n");
        for resource in resources.iter().take(RESOURCES_MAX) {
            out.push_str(&format!("  <file>{}</file>\n", reference_tool::escape_html(resource)));
        }
        if resources.len() > RESOURCES_MAX {
            out.push_str(&format!("  <!-- {} more -->\n", resources.len() - RESOURCES_MAX));
        }
        out.push_str("</skill_resources>\n");
    }
    out.push_str("</skill_content>\n");
    out
}

/// Reads the body of a SKILL.md without its frontmatter, or a whole UASP file.
pub fn read_body(entry: &CatalogEntry) -> Result<String, LibraryError> {
    let text = skill_reader::read_text(&entry.location, skill_reader::MAIN_BYTES_MAX)?;
    Ok(match rep_model::skill_md::split_frontmatter(&text) {
        Ok(parts) if entry.location.ends_with("SKILL.md") => text[parts.body.range()].replace("\r\n", "\n"),
        _ => text,
    })
}

/// The reason a file of a skill is not provided.
#[derive(Debug, PartialEq, Eq)]
pub enum FileRefusal {
    /// The path is outside the skill's directory, as written or through a link.
    Outside,
    /// The file does not exist.
    Missing,
}

/// The files and directories of a skill.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BundledFiles {
    /// Every file by its path inside the skill, with its size. Includes links to files inside the skill.
    pub files: BTreeMap<String, u64>,
    /// Every directory by its path inside the skill.
    pub folders: BTreeSet<String>,
}

/// Lists the contents of a skill: its directory, or its single file.
pub fn list_bundled_files(entry: &CatalogEntry) -> Result<BundledFiles, LibraryError> {
    let size = |path: &Path| fs::metadata(path).ok().filter(fs::Metadata::is_file).map(|data| data.len());
    if entry.skill.tree.is_lone_file {
        let name = entry.location.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let files = size(&entry.location).map(|size| (name, size)).into_iter().collect();
        return Ok(BundledFiles { files, folders: BTreeSet::new() });
    }
    let tree = skill_reader::read_folder(&entry.folder, "", ReadExtent::Names)?;
    let mut held = BundledFiles::default();
    for (path, kind) in tree.entries {
        match kind {
            TreeEntry::File { size_bytes, .. } => drop(held.files.insert(path, size_bytes)),
            TreeEntry::Directory => drop(held.folders.insert(path)),
            TreeEntry::Link { destination: SymlinkTarget::Inside(_), .. } => {
                if let Some(size) = size(&entry.folder.join(&path)) {
                    held.files.insert(path, size);
                }
            }
            TreeEntry::Link { .. } | TreeEntry::Other(_) => {}
        }
    }
    Ok(held)
}

/// Reads a bundled file, which must be inside the skill's directory after resolving links.
pub fn read_bundled_file(entry: &CatalogEntry, path: &str) -> Result<Result<Vec<u8>, FileRefusal>, LibraryError> {
    read_bundled_file_up_to(entry, path, skill_reader::MAIN_BYTES_MAX)
}

/// Reads a bundled file of at most the given size.
pub fn read_bundled_file_up_to(
    entry: &CatalogEntry,
    path: &str,
    most: u64,
) -> Result<Result<Vec<u8>, FileRefusal>, LibraryError> {
    let ResolvedSkillPath::Inside(inside) = resolve_skill_path("", path) else { return Ok(Err(FileRefusal::Outside)) };
    // The files next to a single-file skill do not belong to it.
    if entry.skill.tree.is_lone_file && entry.location.file_name().is_none_or(|own| own != inside.as_str()) {
        return Ok(Err(FileRefusal::Missing));
    }
    let full = entry.folder.join(&inside);
    let Ok(real) = fs::canonicalize(&full) else { return Ok(Err(FileRefusal::Missing)) };
    if !real.starts_with(&entry.folder) {
        return Ok(Err(FileRefusal::Outside));
    }
    if real.is_dir() {
        return Ok(Err(FileRefusal::Missing));
    }
    skill_reader::read_bytes(&real, most).map(Ok)
}

/// Folds text into a single line.
fn fold_to_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
