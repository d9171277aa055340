//! The `x-personal-mcp` block of SKILL.md and the paths of its references.

use rep_model::frontmatter::{PersonalMcp, Text, text};
use rep_model::yaml::Entry;
use rep_model::{Skill, names};

/// The block of a skill, and the file that contains it.
pub(crate) fn find_block(skill: &Skill) -> Option<(&'static str, PersonalMcp<'_>)> {
    let manifest = skill.manifest.as_ref()?;
    Some((manifest.file, manifest.front.as_ref()?.personal_mcp()?))
}

/// One reference of the block.
pub(crate) struct Reference<'a> {
    /// The file that contains the block.
    pub(crate) file: &'static str,
    /// The data path of the reference's path.
    pub(crate) field: String,
    /// The path as written.
    pub(crate) path: Text<'a>,
    /// The path in normal form, or why the contract refuses it.
    pub(crate) place: Result<String, PathFault>,
}

/// Why the contract refuses a path. Only the first reason counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PathFault {
    /// It starts with a slash.
    Absolute,
    /// It contains `..`.
    Climbing,
    /// It does not start with `references/`.
    Misplaced,
    /// It does not end in `.md`.
    NotMarkdown,
}

/// The references of a skill whose paths are text.
pub(crate) fn find_references(skill: &Skill) -> Vec<Reference<'_>> {
    let Some((file, block)) = find_block(skill) else { return Vec::new() };
    block.references().iter().filter_map(|entry| parse_reference(file, entry)).collect()
}

fn parse_reference<'a>(file: &'static str, entry: &'a Entry) -> Option<Reference<'a>> {
    let path = entry.value.get("path").and_then(text).filter(|path| path.is_text())?;
    let field = format!("x-personal-mcp.references.{}.path", entry.key.text()?);
    Some(Reference { file, field, path, place: normalize_path(names::strip(path.value)) })
}

/// Checks a path as Python's `PurePosixPath` sees it.
fn normalize_path(path: &str) -> Result<String, PathFault> {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if path.starts_with('/') {
        return Err(PathFault::Absolute);
    }
    if parts.contains(&"..") {
        return Err(PathFault::Climbing);
    }
    if parts.len() < 2 || parts[0] != "references" {
        return Err(PathFault::Misplaced);
    }
    let (stem, ending) = parts.last().and_then(|last| last.rsplit_once('.')).unwrap_or_default();
    if stem.is_empty() || !ending.eq_ignore_ascii_case("md") {
        return Err(PathFault::NotMarkdown);
    }
    Ok(parts.join("/"))
}
