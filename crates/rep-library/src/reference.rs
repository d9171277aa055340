//! Reads one skill for the commands of the reference tool `skills-ref`, with that tool's messages.

use std::fs;
use std::path::{Path, PathBuf};

use rep_check::reference;
use rep_model::Skill;

use crate::LibraryError;
use crate::find::shown;
use crate::read::{self, Extent};

/// The path as the reference tool takes it: the folder of a SKILL.md that is named. `None` if nothing is there.
pub fn skill_folder(path: &Path) -> Option<PathBuf> {
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

/// What the reference tool finds wrong with a skill; nothing if it is valid.
pub fn validation_errors(path: &Path) -> Result<Vec<String>, LibraryError> {
    let shown = shown(path);
    if !path.is_dir() {
        return Ok(vec![format!("Not a directory: {shown}")]);
    }
    let (skill, faults) = Skill::parse(read::folder(path, &shown, Extent::Manifest)?);
    if skill.tree.entries.is_empty() {
        return Ok(vec!["Missing required file: SKILL.md".to_owned()]);
    }
    if let Some(error) = reference::parse_error(&skill, &faults) {
        return Ok(vec![error]);
    }
    let folder = &skill.tree.folder;
    Ok(skill.front().map(|front| reference::validate(front, folder)).unwrap_or_default())
}

/// The properties of a skill as JSON text, or the reference tool's message.
pub fn properties(path: &Path) -> Result<String, String> {
    match load(path)?.front() {
        Some(front) => reference::properties(front),
        None => Err(NOT_A_MAPPING.to_owned()),
    }
}

/// The catalogue of skills for a model's context, or the message for the first that cannot be read.
pub fn prompt(paths: &[PathBuf]) -> Result<String, String> {
    let skills = paths.iter().map(|path| prompt_entry(path)).collect::<Result<Vec<_>, String>>()?;
    Ok(reference::prompt(&skills))
}

const NOT_A_MAPPING: &str = "SKILL.md frontmatter must be a YAML mapping";

/// The name, description and location of a skill.
fn prompt_entry(path: &Path) -> Result<(String, String, String), String> {
    // The location is the real folder, links resolved.
    let real = fs::canonicalize(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let skill = load(&real)?;
    let (Some(front), Some(manifest)) = (skill.front(), &skill.manifest) else {
        return Err(NOT_A_MAPPING.to_owned());
    };
    let (name, description) = reference::name_and_description(front)?;
    let location = real.join(manifest.file).to_string_lossy().into_owned();
    Ok((name.to_owned(), description.to_owned(), location))
}

fn load(path: &Path) -> Result<Skill, String> {
    let shown = shown(path);
    let tree = read::folder(path, &shown, Extent::Manifest).map_err(|error| error.to_string())?;
    let (skill, faults) = Skill::parse(tree);
    if skill.tree.entries.is_empty() {
        return Err(format!("SKILL.md not found in {shown}"));
    }
    match reference::parse_error(&skill, &faults) {
        Some(error) => Err(error),
        None => Ok(skill),
    }
}
