//! The globs under `permissions.filesystem` of the frontmatter.

use rep_model::Skill;
use rep_model::frontmatter::{ScalarText, read_text};
use rep_model::yaml::YamlNode;

/// Returns the globs that a skill requests for reading and writing, with their data paths.
pub(crate) fn find_permission_globs(skill: &Skill) -> Vec<(String, ScalarText<'_>)> {
    let permissions = skill.frontmatter().and_then(|front| front.get("permissions"));
    let Some(filesystem) = permissions.and_then(|permissions| permissions.get("filesystem")) else { return Vec::new() };
    let list = |key: &'static str| {
        let items = filesystem.get(key).and_then(YamlNode::items).unwrap_or(&[]);
        let placed = move |(index, item)| Some((format!("permissions.filesystem.{key}[{index}]"), read_text(item)?));
        items.iter().enumerate().filter_map(placed)
    };
    list("read").chain(list("write")).collect()
}
