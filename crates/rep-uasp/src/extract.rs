//! Reads the twelve sections of UASP out of a Markdown skill, by rule and without a model.

use rep_model::Skill;
use serde_json::json;

use crate::document::{Document, Origin};

/// Extracts the structure of a skill from its SKILL.md.
pub fn extract(skill: &Skill) -> Document {
    let name = skill.name().unwrap_or(&skill.tree.folder);
    Document { value: json!({ "meta": { "name": name } }), origin: Origin::Extracted, facts: Vec::new() }
}
