//! Skills and tools that are named outright, which no score can overrule.

use std::collections::{BTreeSet, HashMap};

use rep_model::frontmatter::Tool;
use rep_model::{Frontmatter, names};

use crate::catalog::{Catalog, Status};

/// Whom a name stands for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Named {
    /// This entry.
    One(usize),
    /// Any of these, and so none.
    Many(Vec<usize>),
    /// Nobody.
    None,
}

/// The names that can be called: of active skills, of hidden ones, and of their tools.
#[derive(Default)]
pub(super) struct Names {
    qualified: HashMap<String, usize>,
    plain: HashMap<String, Vec<usize>>,
    tools: HashMap<String, Vec<usize>>,
    /// The skills that people may not call, though hosts may.
    closed: BTreeSet<usize>,
}

impl Names {
    pub(super) fn new(catalog: &Catalog) -> Self {
        let mut all = Self::default();
        for (index, entry) in catalog.entries.iter().enumerate() {
            if !matches!(entry.status, Status::Active | Status::Hidden) {
                continue;
            }
            all.qualified.entry(entry.qualified_name.clone()).or_insert(index);
            all.plain.entry(entry.name.clone()).or_default().push(index);
            if !entry.is_user_invocable {
                all.closed.insert(index);
            }
            let front = entry.skill.front();
            let tools = front.into_iter().flat_map(Frontmatter::tools).filter_map(Tool::name);
            // A tool that is declared twice is still one skill's.
            let tools: BTreeSet<String> = tools.map(|name| names::nfkc(names::strip(name.value))).collect();
            for tool in tools {
                all.tools.entry(tool).or_default().push(index);
            }
        }
        all
    }

    /// The skill of a name, else the skill that has a tool of that name: `skill`, `package:skill`, `skill:tool`, `tool`.
    pub(super) fn skill_or_tool(&self, name: &str) -> Named {
        let name = names::nfkc(names::strip(name));
        let found = self.skill(&name);
        if found != Named::None {
            return found;
        }
        if let Some((skill, tool)) = name.rsplit_once(':') {
            let owners = self.tools.get(tool).map_or(&[][..], Vec::as_slice);
            return match self.skill(skill) {
                Named::One(index) if owners.contains(&index) => Named::One(index),
                Named::Many(skills) => one_of(skills.into_iter().filter(|index| owners.contains(index)).collect()),
                _ => Named::None,
            };
        }
        one_of(self.tools.get(&name).cloned().unwrap_or_default())
    }

    /// The skill that people call by a name.
    pub(super) fn called(&self, name: &str) -> Named {
        let is_open = |index: &usize| !self.closed.contains(index);
        match self.skill(&names::nfkc(name)) {
            Named::One(index) if is_open(&index) => Named::One(index),
            Named::Many(skills) => one_of(skills.into_iter().filter(is_open).collect()),
            _ => Named::None,
        }
    }

    fn skill(&self, name: &str) -> Named {
        match self.qualified.get(name) {
            Some(index) => Named::One(*index),
            None => one_of(self.plain.get(name).cloned().unwrap_or_default()),
        }
    }
}

fn one_of(indices: Vec<usize>) -> Named {
    match indices.as_slice() {
        [] => Named::None,
        [index] => Named::One(*index),
        _ => Named::Many(indices),
    }
}

/// The words of a text that are written `/word`, without the slash and without punctuation around them. A
/// path such as `/usr/bin` is one word with a slash in it, which no skill's name has.
pub(super) fn slash_words(text: &str) -> BTreeSet<&str> {
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
        let words = |text| slash_words(text).into_iter().collect::<Vec<_>>();
        assert_eq!(words("/pdf now"), ["pdf"]);
        assert_eq!(words("please (/pdf), then `/pkg:csv`!"), ["pdf", "pkg:csv"]);
        assert_eq!(words("src/pdf a//pdf https://x/pdf ./pdf and/or /"), Vec::<&str>::new());
        assert_eq!(words("/usr/pdf /pdf.txt"), ["pdf.txt", "usr/pdf"]);
    }
}
