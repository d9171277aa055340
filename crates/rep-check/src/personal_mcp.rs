//! The `x-personal-mcp` block of SKILL.md and the paths of its references.

use rep_model::frontmatter::{PersonalMcpBlock, ScalarText, read_text};
use rep_model::yaml::YamlEntry;
use rep_model::{Skill, names};

/// Returns the block of a skill, and the file that contains it.
pub(crate) fn find_personal_mcp_block(skill: &Skill) -> Option<(&'static str, PersonalMcpBlock<'_>)> {
    let manifest = skill.manifest.as_ref()?;
    Some((manifest.file, manifest.front.as_ref()?.personal_mcp()?))
}

/// One reference of the block.
pub(crate) struct PersonalMcpReference<'a> {
    /// The file that contains the block.
    pub(crate) file: &'static str,
    /// The data path of the reference's path.
    pub(crate) field: String,
    /// The path as written.
    pub(crate) path: ScalarText<'a>,
    /// The normalized path, or the reason why the contract rejects it.
    pub(crate) normal_path: Result<String, ReferencePathFault>,
}

/// The reason why the contract rejects a path. Only the first reason is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReferencePathFault {
    /// It starts with a slash.
    Absolute,
    /// It contains `..`.
    ParentSegment,
    /// It does not start with `references/`.
    Misplaced,
    /// It does not end in `.md`.
    NotMarkdown,
}

/// Returns the references of a skill whose paths are text.
pub(crate) fn find_references(skill: &Skill) -> Vec<PersonalMcpReference<'_>> {
    let Some((file, block)) = find_personal_mcp_block(skill) else { return Vec::new() };
    block.references().iter().filter_map(|entry| parse_reference(file, entry)).collect()
}

fn parse_reference<'a>(file: &'static str, entry: &'a YamlEntry) -> Option<PersonalMcpReference<'a>> {
    let path = entry.value.get("path").and_then(read_text).filter(|path| path.is_text())?;
    let field = format!("x-personal-mcp.references.{}.path", entry.key.text()?);
    Some(PersonalMcpReference { file, field, path, normal_path: normalize_path(names::strip_whitespace(path.value)) })
}

/// Checks and normalizes a path as Python's `PurePosixPath` does.
fn normalize_path(path: &str) -> Result<String, ReferencePathFault> {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if path.starts_with('/') {
        return Err(ReferencePathFault::Absolute);
    }
    if parts.contains(&"..") {
        return Err(ReferencePathFault::ParentSegment);
    }
    if parts.len() < 2 || parts[0] != "references" {
        return Err(ReferencePathFault::Misplaced);
    }
    let (stem, ending) = parts.last().and_then(|last| last.rsplit_once('.')).unwrap_or_default();
    if stem.is_empty() || !ending.eq_ignore_ascii_case("md") {
        return Err(ReferencePathFault::NotMarkdown);
    }
    Ok(parts.join("/"))
}
