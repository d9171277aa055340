//! What a skill requires of other skills: entries of `depends_on`, each a name or `name@range`.

use rep_model::{Skill, names};

use crate::source::is_folder_name;
use crate::version_range::VersionRange;

/// The maximum number of requirements of a skill.
const REQUIREMENTS_MAX: usize = 256;

/// A skill that another one requires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillRequirement {
    /// The name.
    pub name: String,
    /// The versions that fit.
    pub range: VersionRange,
}

impl std::fmt::Display for SkillRequirement {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.range == VersionRange::any() {
            return formatter.write_str(&self.name);
        }
        write!(formatter, "{}@{}", self.name, self.range)
    }
}

impl SkillRequirement {
    /// Parses `name` or `name@range`. Returns a message if it is neither.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (name, range) = match text.split_once('@') {
            Some((name, range)) => (name, VersionRange::parse(range)?),
            None => (text, VersionRange::any()),
        };
        let name = names::strip_whitespace(name);
        if !is_folder_name(name) {
            return Err(format!("`{}` is not the name of a skill", name.escape_debug()));
        }
        Ok(Self { name: name.to_owned(), range })
    }
}

/// Lists what a skill requires, in order. `warn` receives a message for each entry that cannot be used.
pub fn list_requirements(skill: &Skill, warn: &mut dyn FnMut(&str)) -> Vec<SkillRequirement> {
    let mut all: Vec<SkillRequirement> = Vec::new();
    for text in list_entries(skill).into_iter().take(REQUIREMENTS_MAX) {
        // `skill:tool` names a tool of a skill, wherever that skill comes from.
        if text.is_empty() || text.contains(':') {
            continue;
        }
        match SkillRequirement::parse(&text) {
            Ok(one) if Some(one.name.as_str()) == skill.name() => {}
            Ok(one) if all.contains(&one) => {}
            Ok(one) => all.push(one),
            Err(reason) => warn(&format!("`depends_on` of `{}`: {reason}", skill.name().unwrap_or_default())),
        }
    }
    all
}

/// Returns the texts of all `depends_on` of a skill: of Universal skills, of `x-personal-mcp`, and below `metadata`, where
/// the specification allows only text, with commas between the entries.
fn list_entries(skill: &Skill) -> Vec<String> {
    let Some(front) = skill.frontmatter() else { return Vec::new() };
    let mut all: Vec<String> =
        front.depends_on().into_iter().map(|text| names::strip_whitespace(text.value).to_owned()).collect();
    let Some(node) = front.get("metadata").and_then(|metadata| metadata.get("depends_on")) else { return all };
    let texts: Vec<&str> = match node.items() {
        Some(items) => items.iter().filter_map(rep_model::yaml::YamlNode::text).collect(),
        None => node.text().into_iter().flat_map(|text| text.split(',')).collect(),
    };
    all.extend(texts.into_iter().map(|text| names::strip_whitespace(text).to_owned()));
    all
}

/// Returns the version that a skill declares.
pub fn find_declared_version(skill: &Skill) -> Option<String> {
    let front = skill.frontmatter()?;
    let own = || front.get_text("version").map(|text| text.value);
    let metadata = || front.get("metadata")?.get("version")?.text();
    let block = || front.personal_mcp()?.version().map(|text| text.value);
    let version = own().or_else(metadata).or_else(block)?.trim();
    let is_fit = !version.is_empty() && version.len() <= 128 && !version.chars().any(char::is_control);
    is_fit.then(|| version.to_owned())
}

#[cfg(test)]
mod tests {
    use rep_library::skill_reader::ReadExtent;
    use rep_model::SkillTree;

    use super::*;

    fn parse(text: &str) -> Skill {
        let files = [("SKILL.md", text.as_bytes(), false)];
        let tree: SkillTree = rep_library::skill_reader::build_tree("a", "a", ReadExtent::Folder, files.into_iter());
        Skill::parse(tree).0
    }

    #[test]
    fn requirements_are_read_from_every_dialect() {
        let mut warnings = Vec::new();
        let mut list = |text: &str| {
            let found = list_requirements(&parse(text), &mut |note| warnings.push(note.to_owned()));
            found.iter().map(ToString::to_string).collect::<Vec<String>>().join(" ")
        };
        assert_eq!(list("---\nname: a\ndepends_on: [b, \"c@^1.2\", 'd:tool', a, b]\n---\n"), "b c@^1.2");
        assert_eq!(list("---\nname: a\nmetadata:\n  depends_on: b, c@>=1 <3\n---\n"), "b c@>=1 <3");
        assert_eq!(list("---\nname: a\nmetadata:\n  depends_on: [\"b@1.x\"]\n---\n"), "b@1.x");
        assert_eq!(list("---\nname: a\ndepends_on: [\"../b\", \"c@soon\"]\n---\n"), "");
        assert_eq!(warnings.len(), 2);
    }

    #[test]
    fn versions_are_read_from_every_dialect() {
        for text in ["version: 1.2.0", "metadata:\n  version: \"1.2.0\"", "x-personal-mcp:\n  version: 1.2.0"] {
            let found = find_declared_version(&parse(&format!("---\nname: a\n{text}\n---\n")));
            assert_eq!(found.as_deref(), Some("1.2.0"), "{text}");
        }
    }
}
