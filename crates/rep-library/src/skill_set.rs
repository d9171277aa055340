//! A set of skills: those with certain names or tags. It decides which part of a library exists for somebody.

use std::collections::BTreeSet;

use rep_model::frontmatter::{PersonalMcpBlock, read_text};
use rep_permissions::Glob;

use crate::catalog::{Catalog, CatalogEntry};

/// What a pattern of a set starts with if it names a tag.
const TAG_PREFIX: &str = "tag:";

/// A set of skills. Without patterns, it contains all skills.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct SkillSet {
    names: Vec<Glob>,
    tags: BTreeSet<String>,
}

impl SkillSet {
    /// Parses patterns: `csv-*` matches plain and qualified names, `tag:data` matches skills with that tag.
    pub fn parse<'a>(patterns: impl IntoIterator<Item = &'a str>) -> Result<Self, String> {
        let mut set = Self::default();
        for pattern in patterns {
            match pattern.strip_prefix(TAG_PREFIX) {
                Some("") => return Err(format!("`{TAG_PREFIX}` must be followed by a tag")),
                Some(tag) => drop(set.tags.insert(tag.to_owned())),
                None => {
                    let glob = Glob::parse(pattern);
                    set.names.push(glob.map_err(|error| format!("`{pattern}` is not a pattern for names: {error}"))?);
                }
            }
        }
        set.names.sort();
        set.names.dedup();
        Ok(set)
    }

    /// Whether the set contains all skills.
    pub fn is_unlimited(&self) -> bool {
        self.names.is_empty() && self.tags.is_empty()
    }

    /// Whether the set contains a skill.
    pub fn contains(&self, entry: &CatalogEntry) -> bool {
        let is_named = |glob: &Glob| glob.matches(&entry.qualified_name) || glob.matches(&entry.name);
        self.is_unlimited()
            || self.names.iter().any(is_named)
            || !self.tags.is_empty() && entry.tags().into_iter().any(|tag| self.tags.contains(tag))
    }

    /// Returns the patterns, which [`SkillSet::parse`] reads.
    pub fn patterns(&self) -> Vec<String> {
        let tags = self.tags.iter().map(|tag| format!("{TAG_PREFIX}{tag}"));
        self.names.iter().map(|glob| glob.as_str().to_owned()).chain(tags).collect()
    }
}

impl Catalog {
    /// Returns a catalog of the skills that are in all of the sets. The others do not exist in it.
    #[must_use]
    pub fn restrict(&self, sets: &[SkillSet]) -> Catalog {
        let is_wanted = |entry: &&CatalogEntry| sets.iter().all(|set| set.contains(entry));
        let entries = self.entries.iter().filter(is_wanted).cloned().collect();
        self.with_entries(entries)
    }
}

impl CatalogEntry {
    /// Returns the tags that the skill declares: as `tags`, in its metadata, or for the x-personal-mcp contract. A tag is
    /// listed once.
    pub fn tags(&self) -> Vec<&str> {
        let Some(front) = self.skill.frontmatter() else { return Vec::new() };
        let nodes = [front.get("tags"), front.get("metadata").and_then(|metadata| metadata.get("tags"))];
        let mut tags: Vec<&str> = Vec::new();
        for node in nodes.into_iter().flatten() {
            match node.items() {
                Some(items) => tags.extend(items.iter().filter_map(read_text).map(|text| text.value)),
                // Metadata has only text, so authors separate tags by commas.
                None => tags.extend(read_text(node).into_iter().flat_map(|text| text.value.split(','))),
            }
        }
        tags.extend(front.personal_mcp().into_iter().flat_map(PersonalMcpBlock::tags).map(|text| text.value));
        let mut seen = BTreeSet::new();
        tags.into_iter().map(str::trim).filter(|tag| !tag.is_empty() && seen.insert(*tag)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_survive_and_wrong_ones_are_refused() {
        let set = SkillSet::parse(["tag:data", "csv-*", "pkg:*", "csv-*"]).unwrap();
        assert_eq!(set.patterns(), ["csv-*", "pkg:*", "tag:data"]);
        assert_eq!(SkillSet::parse(set.patterns().iter().map(String::as_str)), Ok(set));
        assert!(SkillSet::default().is_unlimited());
        for wrong in ["", "tag:", "!a", "../a"] {
            assert!(SkillSet::parse([wrong]).is_err(), "{wrong}");
        }
    }
}
