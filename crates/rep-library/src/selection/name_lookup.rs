//! Resolves explicitly named skills and tools, which override scores.

use std::collections::{BTreeMap, BTreeSet};

use rep_model::frontmatter::ToolDeclaration;
use rep_model::{Frontmatter, names};

use crate::catalog::{Catalog, SkillStatus};

/// The result of resolving a name.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NameResolution {
    /// A single entry.
    One(usize),
    /// Several entries, so the name is ambiguous.
    Many(Vec<usize>),
    /// No entry.
    None,
}

/// The callable names: of active and hidden skills, and of their tools.
#[derive(Default)]
pub(super) struct CallableNames {
    qualified: BTreeMap<String, usize>,
    plain: BTreeMap<String, Vec<usize>>,
    tools: BTreeMap<String, Vec<usize>>,
    /// The skills that users cannot call, but hosts can.
    closed: BTreeSet<usize>,
}

impl CallableNames {
    pub(super) fn new(catalog: &Catalog) -> Self {
        let mut all = Self::default();
        for (index, entry) in catalog.entries.iter().enumerate() {
            if !matches!(entry.status, SkillStatus::Active | SkillStatus::Hidden) {
                continue;
            }
            all.qualified.entry(entry.qualified_name.clone()).or_insert(index);
            all.plain.entry(entry.name.clone()).or_default().push(index);
            if !entry.is_user_invocable {
                all.closed.insert(index);
            }
            let front = entry.skill.frontmatter();
            let tools = front.into_iter().flat_map(Frontmatter::tools).filter_map(ToolDeclaration::name);
            // A tool that is declared twice still belongs to one skill.
            let tools: BTreeSet<String> =
                tools.map(|name| names::normalise_nfkc(names::strip_whitespace(name.value))).collect();
            for tool in tools {
                all.tools.entry(tool).or_default().push(index);
            }
        }
        all
    }

    /// Resolves a skill, or else a tool: `skill`, `package:skill`, `skill:tool`, `tool`.
    pub(super) fn resolve_skill_or_tool(&self, name: &str) -> NameResolution {
        let name = names::normalise_nfkc(names::strip_whitespace(name));
        let found = self.resolve_skill(&name);
        if found != NameResolution::None {
            return found;
        }
        if let Some((skill, tool)) = name.rsplit_once(':') {
            let owners = self.tools.get(tool).map_or(&[][..], Vec::as_slice);
            return match self.resolve_skill(skill) {
                NameResolution::One(index) if owners.contains(&index) => NameResolution::One(index),
                NameResolution::Many(skills) => {
                    resolve_candidates(skills.into_iter().filter(|index| owners.contains(index)).collect())
                }
                _ => NameResolution::None,
            };
        }
        resolve_candidates(self.tools.get(&name).cloned().unwrap_or_default())
    }

    /// Returns every name that users can write in a request, and whether it is only the name of a tool.
    pub(super) fn list_names(&self) -> BTreeSet<(String, bool)> {
        let is_open = |index: &usize| !self.closed.contains(index);
        let mut found: BTreeSet<(String, bool)> = BTreeSet::new();
        let mut skill_names: BTreeMap<usize, Vec<&String>> = BTreeMap::new();
        for (name, index) in self.qualified.iter().filter(|(_, index)| is_open(index)) {
            skill_names.entry(*index).or_default().push(name);
        }
        for (name, indices) in &self.plain {
            for index in indices.iter().filter(|index| is_open(index)) {
                skill_names.entry(*index).or_default().push(name);
            }
        }
        found.extend(skill_names.values().flatten().map(|name| ((*name).clone(), false)));
        for (tool, owners) in &self.tools {
            for name in owners.iter().filter_map(|owner| skill_names.get(owner)).flatten() {
                found.insert((format!("{name}:{tool}"), false));
                found.insert((tool.clone(), true));
            }
        }
        found
    }

    /// Resolves a skill or tool that users name in a request.
    pub(super) fn resolve_called_skill_or_tool(&self, name: &str) -> NameResolution {
        let is_open = |index: &usize| !self.closed.contains(index);
        match self.resolve_skill_or_tool(name) {
            NameResolution::One(index) if is_open(&index) => NameResolution::One(index),
            NameResolution::Many(skills) => resolve_candidates(skills.into_iter().filter(is_open).collect()),
            _ => NameResolution::None,
        }
    }

    /// Resolves the skill that users call by a name.
    pub(super) fn resolve_called_skill(&self, name: &str) -> NameResolution {
        let is_open = |index: &usize| !self.closed.contains(index);
        match self.resolve_skill(&names::normalise_nfkc(name)) {
            NameResolution::One(index) if is_open(&index) => NameResolution::One(index),
            NameResolution::Many(skills) => resolve_candidates(skills.into_iter().filter(is_open).collect()),
            _ => NameResolution::None,
        }
    }

    fn resolve_skill(&self, name: &str) -> NameResolution {
        match self.qualified.get(name) {
            Some(index) => NameResolution::One(*index),
            None => resolve_candidates(self.plain.get(name).cloned().unwrap_or_default()),
        }
    }
}

fn resolve_candidates(indices: Vec<usize>) -> NameResolution {
    match indices.as_slice() {
        [] => NameResolution::None,
        [index] => NameResolution::One(*index),
        _ => NameResolution::Many(indices),
    }
}

/// Returns the words written as `/word`, without the slash and surrounding punctuation. A path such as `/usr/bin` is a
/// single word that contains a slash, which skill names do not.
pub(super) fn find_slash_words(text: &str) -> BTreeSet<&str> {
    let is_opening = |letter: char| "([{<\"'`“‘«¿¡*_".contains(letter);
    let is_closing = |letter: char| ")]}>\"'`”’».,;:!?…*_".contains(letter);
    let words = text.split_whitespace().filter_map(|word| word.trim_start_matches(is_opening).strip_prefix('/'));
    words.map(|word| word.trim_end_matches(is_closing)).filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sel_13_slash_words_are_whole_words() {
        let words = |text| find_slash_words(text).into_iter().collect::<Vec<_>>();
        assert_eq!(words("/pdf now"), ["pdf"]);
        assert_eq!(words("please (/pdf), then `/pkg:csv`!"), ["pdf", "pkg:csv"]);
        assert_eq!(words("src/pdf a//pdf https://x/pdf ./pdf and/or /"), Vec::<&str>::new());
        assert_eq!(words("/usr/pdf /pdf.txt"), ["pdf.txt", "usr/pdf"]);
    }
}
