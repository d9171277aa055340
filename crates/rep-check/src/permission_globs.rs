//! The globs under `permissions.filesystem` of the frontmatter.

use rep_model::Skill;
use rep_model::frontmatter::{Text, text};
use rep_model::yaml::Node;

/// The globs a skill wants to read and write, with their data paths.
pub(crate) fn find_globs(skill: &Skill) -> Vec<(String, Text<'_>)> {
    let permissions = skill.front().and_then(|front| front.get("permissions"));
    let Some(filesystem) = permissions.and_then(|permissions| permissions.get("filesystem")) else { return Vec::new() };
    let list = |key: &'static str| {
        let items = filesystem.get(key).and_then(Node::items).unwrap_or(&[]);
        let placed = move |(index, item)| Some((format!("permissions.filesystem.{key}[{index}]"), text(item)?));
        items.iter().enumerate().filter_map(placed)
    };
    list("read").chain(list("write")).collect()
}
