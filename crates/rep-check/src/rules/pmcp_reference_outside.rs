use rep_model::frontmatter::{Text, text};
use rep_model::yaml::Entry;
use rep_model::{Skill, names};

use super::pmcp_id_differs_from_name::block;
use crate::engine::Findings;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "pmcp-reference-outside",
    summary: "a reference whose path climbs with `..`",
    since: "0.1.0",
    levels: Levels { error: Profile::Pmcp.as_set(), ..Levels::NONE },
    cites: &[Cite::pmcp("ReferenceEntry.validate_reference_path")],
    requirements: &["VAL-60"],
    page: include_str!("pmcp_reference_outside.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for reference in references(skill).iter().filter(|reference| reference.place == Err(Refused::Climbing)) {
        findings
            .add(reference.file, reference.path.span(), format!("reference path `{}` holds `..`", reference.path.value))
            .path(&reference.field)
            .help("write the path without `..`, and copy what lies elsewhere below `references/`");
    }
}

/// One reference of the x-personal-mcp block.
pub(super) struct Reference<'a> {
    /// The file the block stands in.
    pub(super) file: &'static str,
    /// Where in the data the path stands.
    pub(super) field: String,
    /// The path as written.
    pub(super) path: Text<'a>,
    /// The path in plain form, where the contract takes it.
    pub(super) place: Result<String, Refused>,
}

/// Why the contract refuses a path. Only the first reason counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// It starts with a slash.
    Absolute,
    /// It holds `..`.
    Climbing,
    /// It does not start with `references/`.
    Misplaced,
    /// It does not end in `.md`.
    NotMarkdown,
}

/// The references of a skill whose paths are text.
pub(super) fn references(skill: &Skill) -> Vec<Reference<'_>> {
    let Some((file, block)) = block(skill) else { return Vec::new() };
    block.references().iter().filter_map(|entry| reference(file, entry)).collect()
}

fn reference<'a>(file: &'static str, entry: &'a Entry) -> Option<Reference<'a>> {
    let path = entry.value.get("path").and_then(text).filter(|path| path.is_text())?;
    let field = format!("x-personal-mcp.references.{}.path", entry.key.text()?);
    Some(Reference { file, field, path, place: normalise(names::strip(path.value)) })
}

/// Judges a path as Python's `PurePosixPath` sees it.
fn normalise(path: &str) -> Result<String, Refused> {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if path.starts_with('/') {
        return Err(Refused::Absolute);
    }
    if parts.contains(&"..") {
        return Err(Refused::Climbing);
    }
    if parts.len() < 2 || parts[0] != "references" {
        return Err(Refused::Misplaced);
    }
    let (stem, ending) = parts.last().and_then(|last| last.rsplit_once('.')).unwrap_or_default();
    if stem.is_empty() || !ending.eq_ignore_ascii_case("md") {
        return Err(Refused::NotMarkdown);
    }
    Ok(parts.join("/"))
}
