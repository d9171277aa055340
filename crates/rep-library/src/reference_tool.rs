//! Reads a skill for the commands of the reference tool `skills-ref`, with that tool's messages.

use std::fs;
use std::path::{Path, PathBuf};

use rep_check::reference_tool;
use rep_model::Skill;

use crate::LibraryError;
use crate::discovery::display_path;
use crate::skill_reader::{self, ReadExtent};

/// Resolves a path as the reference tool does: a SKILL.md refers to its directory. Returns `None` if the path does not
/// exist.
pub fn resolve_skill_folder(path: &Path) -> Option<PathBuf> {
    if !path.exists() {
        return None;
    }
    let is_manifest = path.is_file() && path.file_name().is_some_and(|name| name.eq_ignore_ascii_case("skill.md"));
    if !is_manifest {
        return Some(path.to_owned());
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    Some(parent.unwrap_or(Path::new(".")).to_owned())
}

/// Returns the problems that the reference tool reports for a skill, or none if it is valid.
pub fn validate_skill(path: &Path) -> Result<Vec<String>, LibraryError> {
    let shown = display_path(path);
    if !path.is_dir() {
        return Ok(vec![format!("Not a directory: {shown}")]);
    }
    let (skill, faults) = Skill::parse(skill_reader::read_folder(path, &shown, ReadExtent::Manifest)?);
    if skill.tree.entries.is_empty() {
        return Ok(vec!["Missing required file: SKILL.md".to_owned()]);
    }
    if let Some(error) = reference_tool::find_parse_error(&skill, &faults) {
        return Ok(vec![error]);
    }
    let folder = &skill.tree.folder;
    Ok(skill.frontmatter().map(|front| reference_tool::validate_frontmatter(front, folder)).unwrap_or_default())
}

/// Returns the properties of a skill as JSON text, or the reference tool's message.
pub fn render_properties(path: &Path) -> Result<String, String> {
    match load_skill(path)?.frontmatter() {
        Some(front) => reference_tool::render_properties(front),
        None => Err(NOT_A_MAPPING.to_owned()),
    }
}

/// Renders skills for a model's context, or returns the message for the first one that cannot be read.
pub fn render_prompt(paths: &[PathBuf]) -> Result<String, String> {
    let skills = paths.iter().map(|path| read_prompt_entry(path)).collect::<Result<Vec<_>, String>>()?;
    Ok(reference_tool::render_prompt(&skills))
}

const NOT_A_MAPPING: &str = "SKILL.md frontmatter must be a YAML mapping";

/// Returns the name, description and location of a skill.
fn read_prompt_entry(path: &Path) -> Result<(String, String, String), String> {
    // The location is the real directory, with links resolved.
    let real = fs::canonicalize(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let skill = load_skill(&real)?;
    let (Some(front), Some(manifest)) = (skill.frontmatter(), &skill.manifest) else {
        return Err(NOT_A_MAPPING.to_owned());
    };
    let (name, description) = reference_tool::read_name_and_description(front)?;
    let location = real.join(manifest.file).to_string_lossy().into_owned();
    Ok((name.to_owned(), description.to_owned(), location))
}

fn load_skill(path: &Path) -> Result<Skill, String> {
    let shown = display_path(path);
    let tree = skill_reader::read_folder(path, &shown, ReadExtent::Manifest).map_err(|error| error.to_string())?;
    let (skill, faults) = Skill::parse(tree);
    if skill.tree.entries.is_empty() {
        return Err(format!("SKILL.md not found in {shown}"));
    }
    match reference_tool::find_parse_error(&skill, &faults) {
        Some(error) => Err(error),
        None => Ok(skill),
    }
}
