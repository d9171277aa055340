//! Collects the pages of the site: documents of the repository, and pages generated from code, commands, schemas
//! and example skills.

use std::fs;
use std::path::{Path, PathBuf};

use rep_check::RULES;
use rep_convert::extract::rules as extraction;

use super::has_extension;
use crate::generate;

/// A page of the site.
pub(super) struct SitePage {
    /// Its path in the site, such as `reference/rules/name-missing.md`.
    pub(super) path: String,
    /// Its file in the repository: links to this file point to the page, and the page's own links are relative to
    /// it.
    pub(super) origin: Option<String>,
    /// Its Markdown.
    pub(super) text: String,
    /// The comment in `docs/SUMMARY.md` below which it is listed; `None` if the table of contents lists it
    /// directly.
    group: Option<&'static str>,
    /// Its title in the table of contents.
    title: String,
}

/// Documents outside of `docs`, and their paths in the site.
const DOCUMENTS: &[(&str, &str)] = &[
    ("README.md", "index.md"),
    ("ARCHITECTURE.md", "project/architecture.md"),
    ("CONTRIBUTING.md", "project/contributing.md"),
    ("SECURITY.md", "project/security.md"),
    ("CHANGELOG.md", "project/changelog.md"),
    ("LICENSE-MIT", "project/license-mit.md"),
    ("LICENSE-APACHE", "project/license-apache.md"),
    ("examples/README.md", "examples/index.md"),
];

/// Directories below `docs` that are not part of the site.
const EXCLUDED_FOLDERS: &[&str] = &["docs/notes/"];

/// Collects all pages.
pub(super) fn collect_pages(root: &Path) -> Result<Vec<SitePage>, String> {
    let mut pages = Vec::new();
    for (origin, path) in DOCUMENTS {
        pages.push(load_document(root, origin, path)?);
    }
    for path in list_files(&root.join("docs"))? {
        let origin = relative_name(root, &path);
        let is_page = has_extension(&origin, "md") && !origin.ends_with("/SUMMARY.md");
        if is_page && !EXCLUDED_FOLDERS.iter().any(|folder| origin.starts_with(folder)) {
            let place = origin.strip_prefix("docs/").expect("the file is below docs").to_owned();
            pages.push(load_document(root, &origin, &place)?);
        }
    }
    split_commands(&mut pages);
    pages.extend(list_rule_pages());
    pages.extend(list_extraction_rule_pages());
    pages.extend(load_schema_pages(root)?);
    pages.extend(load_example_pages(root)?);
    Ok(pages)
}

/// Returns images and other files below `docs` that pages show, relative to `docs`.
pub(super) fn find_assets(root: &Path) -> Result<Vec<String>, String> {
    let paths = list_files(&root.join("docs"))?;
    let names = paths.iter().map(|path| relative_name(&root.join("docs"), path));
    Ok(names.filter(|name| !has_extension(name, "md") && !has_extension(name, "toml")).collect())
}

/// Renders the table of contents, with lists of pages instead of comments.
pub(super) fn render_summary(root: &Path, pages: &[SitePage]) -> Result<String, String> {
    let text = read_file(root, "docs/SUMMARY.md")?;
    let mut out = String::new();
    for line in text.lines() {
        let bare = line.trim();
        let Some(group) = bare.strip_prefix("<!-- ").and_then(|rest| rest.strip_suffix(" -->")) else {
            out.push_str(&localize_line(line));
            out.push('\n');
            continue;
        };
        let indent = &line[..line.len() - line.trim_start().len()];
        // Reference documents that the table of contents does not name.
        let is_further = |page: &SitePage| {
            group == "reference"
                && page.group.is_none()
                && page.path.starts_with("reference/")
                && !text.contains(&format!("({})", page.path))
        };
        for page in pages.iter().filter(|page| page.group == Some(group) || is_further(page)) {
            out.push_str(&format!("{indent}- [{}]({})\n", page.title, page.path));
        }
    }
    let unlisted: Vec<&str> =
        pages.iter().map(|page| page.path.as_str()).filter(|path| !out.contains(&format!("({path})"))).collect();
    if unlisted.is_empty() {
        return Ok(out);
    }
    Err(format!("docs/SUMMARY.md does not list these pages: {}", unlisted.join(", ")))
}

/// Replaces the paths of documents outside of `docs` in a line of the table of contents.
fn localize_line(line: &str) -> String {
    let mut line = line.to_owned();
    for (origin, path) in DOCUMENTS {
        line = line.replace(&format!("(../{origin})"), &format!("({path})"));
    }
    line
}

fn load_document(root: &Path, origin: &str, path: &str) -> Result<SitePage, String> {
    let mut text = read_file(root, origin)?;
    if origin.starts_with("LICENSE") {
        text = format!("# License\n\n```text\n{}\n```\n", text.trim_end());
    }
    let title = text.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or(origin).to_owned();
    Ok(SitePage { path: path.to_owned(), origin: Some(origin.to_owned()), text, group: None, title })
}

/// Splits the command reference into one page per command.
fn split_commands(pages: &mut Vec<SitePage>) {
    let Some(overview) = pages.iter_mut().find(|page| page.path == "reference/commands.md") else { return };
    let text = overview.text.clone();
    let mut parts = text.split("\n## ");
    parts.next().unwrap_or_default().clone_into(&mut overview.text);
    overview.text.push_str("\n## All commands\n\n");
    let mut commands = Vec::new();
    for part in parts {
        let title = part.lines().next().unwrap_or_default().trim_matches('`').to_owned();
        let file = title.strip_prefix("rep ").unwrap_or(&title).replace(' ', "-");
        overview.text.push_str(&format!("- [`{title}`](commands/{file}.md)\n"));
        commands.push(SitePage {
            path: format!("reference/commands/{file}.md"),
            origin: Some(format!("docs/reference/commands/{file}.md")),
            text: format!("# {part}"),
            group: Some("commands"),
            title,
        });
    }
    pages.extend(commands);
}

fn list_rule_pages() -> impl Iterator<Item = SitePage> {
    RULES.iter().map(|rule| SitePage {
        path: format!("reference/rules/{}.md", rule.name),
        origin: Some(format!("crates/rep-check/src/rules/{}.md", rule.name.replace('-', "_"))),
        text: generate::render_rule_page(rule),
        group: Some("rules"),
        title: rule.name.to_owned(),
    })
}

fn list_extraction_rule_pages() -> impl Iterator<Item = SitePage> {
    extraction::RULES.iter().map(|rule| SitePage {
        path: format!("reference/extraction/{}.md", rule.id),
        origin: None,
        text: rule.render_page(),
        group: Some("extraction rules"),
        title: rule.id.to_owned(),
    })
}

/// Loads the JSON Schemas of outputs, each as a page.
fn load_schema_pages(root: &Path) -> Result<Vec<SitePage>, String> {
    let folder = root.join("schemas");
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut pages = Vec::new();
    for path in list_files(&folder)? {
        let origin = relative_name(root, &path);
        let Some(name) = origin.strip_prefix("schemas/").and_then(|name| name.strip_suffix(".json")) else { continue };
        let text = format!("# {name}\n\n```json\n{}\n```\n", read_file(root, &origin)?.trim_end());
        let path = format!("reference/schemas/{}.md", name.replace('/', "-"));
        pages.push(SitePage { path, text, title: name.to_owned(), origin: Some(origin), group: Some("schemas") });
    }
    Ok(pages)
}

/// Loads the example skills, each with its main files.
fn load_example_pages(root: &Path) -> Result<Vec<SitePage>, String> {
    let mut pages = Vec::new();
    for path in list_files(&root.join("examples"))? {
        let origin = relative_name(root, &path);
        let is_main = origin.ends_with("/SKILL.md") || origin.ends_with(".uasp.yaml");
        let parts: Vec<&str> = origin.split('/').collect();
        let [_, skill, file] = parts.as_slice() else { continue };
        if !is_main {
            continue;
        }
        let language = if has_extension(file, "md") { "md" } else { "yaml" };
        let text = read_file(root, &origin)?;
        let mut page = format!("# {skill}: {file}\n\n``````{language}\n{}\n``````\n", text.trim_end());
        let others = list_files(&root.join("examples").join(skill))?;
        page.push_str("\n## Files\n\n");
        for other in others {
            page.push_str(&format!("- `{}`\n", relative_name(root, &other)));
        }
        let place = format!("examples/{skill}-{}.md", file.replace('.', "-").to_lowercase());
        // Links inside of a skill are part of its text, and are not followed.
        pages.push(SitePage {
            path: place,
            origin: Some(origin.clone()),
            text: page,
            group: Some("examples"),
            title: format!("{skill}/{file}"),
        });
    }
    Ok(pages)
}

/// Returns the files below a directory, sorted.
fn list_files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() {
            found.extend(list_files(&path)?);
        } else {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn read_file(root: &Path, path: &str) -> Result<String, String> {
    fs::read_to_string(root.join(path)).map_err(|error| format!("{path}: {error}"))
}

fn relative_name(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}
