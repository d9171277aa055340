//! Finds one skill of a catalog by the word a person uses for it, and says why there is none.

use rep_model::suggestion::nearest_by_name;

use crate::catalog::{Catalog, CatalogEntry, Status};
use crate::hosts::Host;

/// Why a word does not mean one skill that may be called.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LookupError {
    /// Several skills have the name.
    #[error("`{name}` could be {}", candidates.iter().map(|one| format!("`{one}`")).collect::<Vec<_>>().join(" or "))]
    Ambiguous {
        /// The name.
        name: String,
        /// The qualified names of the skills.
        candidates: Vec<String>,
    },
    /// The skill may not be called.
    #[error("skill `{name}` is {}: {reason}", status.name())]
    NotCallable {
        /// The name.
        name: String,
        /// Its status.
        status: Status,
        /// Why.
        reason: String,
    },
    /// No skill has the name.
    #[error("there is no skill `{name}`")]
    Unknown {
        /// The name.
        name: String,
        /// The skill whose name is most like it.
        nearest: Option<String>,
    },
}

impl Catalog {
    /// The index of the skill that may be called by a name, plain or qualified.
    pub fn find(&self, name: &str) -> Result<usize, LookupError> {
        let Some(entry) = self.get(name) else { return Err(self.lookup_error(name)) };
        Ok(self.entries.iter().position(|other| other.qualified_name == entry.qualified_name).unwrap_or(0))
    }

    /// The index of the skill of a name, whatever its status: the one in force, else the first copy.
    pub fn find_any(&self, name: &str) -> Result<usize, LookupError> {
        let is_meant = |entry: &CatalogEntry| entry.qualified_name == name || entry.name == name;
        let index = match self.get(name) {
            Some(winner) => self.entries.iter().position(|entry| entry.location == winner.location),
            None => self.entries.iter().position(is_meant),
        };
        index.ok_or_else(|| self.lookup_error(name))
    }

    /// Why no skill may be called by a name.
    pub fn lookup_error(&self, name: &str) -> LookupError {
        let name = name.to_owned();
        let is_meant = |entry: &&CatalogEntry| entry.qualified_name == name || entry.name == name;
        let copies: Vec<&CatalogEntry> = self.entries.iter().filter(is_meant).collect();
        let is_callable = |entry: &&&CatalogEntry| matches!(entry.status, Status::Active | Status::Hidden);
        let candidates: Vec<String> =
            copies.iter().filter(is_callable).map(|entry| entry.qualified_name.clone()).collect();
        match copies.first() {
            _ if candidates.len() > 1 => LookupError::Ambiguous { name, candidates },
            Some(entry) => LookupError::NotCallable { name, status: entry.status, reason: entry.reason.clone() },
            None => LookupError::Unknown { nearest: self.nearest(&name).map(str::to_owned), name },
        }
    }

    /// The qualified name of the skill whose name is most like a word.
    pub fn nearest(&self, word: &str) -> Option<&str> {
        nearest_by_name(word, &self.entries, |entry| &entry.name).map(|entry| entry.qualified_name.as_str())
    }
}

impl CatalogEntry {
    /// The package of the skill.
    pub fn package(&self) -> Option<&str> {
        self.qualified_name.strip_suffix(self.name.as_str()).and_then(|package| package.strip_suffix(':'))
    }

    /// What would make the skill active for a host, which knows nothing of what was trusted or switched off here.
    pub fn remedy_for(&self, host: &Host) -> Option<String> {
        match self.status {
            Status::Shadowed => Some("rename or remove one of the two".to_owned()),
            Status::Untrusted => Some(format!("tell {} to trust the project", host.name)),
            Status::Hidden if self.description.is_empty() => Some("give it a description".to_owned()),
            _ => self.remedy(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, package: &str, status: Status) -> CatalogEntry {
        let (skill, _) = rep_model::Skill::parse(rep_model::SkillTree::default());
        CatalogEntry {
            name: name.to_owned(),
            qualified_name: if package.is_empty() { name.to_owned() } else { format!("{package}:{name}") },
            description: String::new(),
            scope: crate::Scope::Personal,
            is_in_project: false,
            location: format!("/{package}/{name}/SKILL.md").into(),
            folder: format!("/{package}/{name}").into(),
            status,
            reason: "so".to_owned(),
            shadowed_by: None,
            findings: Vec::new(),
            skill,
            is_user_invocable: true,
            dependencies: Vec::new(),
        }
    }

    #[test]
    fn a_name_that_means_no_skill_says_why() {
        let entries = vec![
            entry("letters", "one", Status::Active),
            entry("letters", "two", Status::Active),
            entry("cards", "", Status::Disabled),
        ];
        let mut catalog = Catalog::default();
        catalog.entries = entries;
        assert_eq!(catalog.find("two:letters"), Ok(1));
        assert_eq!(catalog.find_any("cards"), Ok(2));
        let words = |name: &str| catalog.find(name).unwrap_err().to_string();
        assert_eq!(words("letters"), "`letters` could be `one:letters` or `two:letters`");
        assert_eq!(words("cards"), "skill `cards` is disabled: so");
        let unknown = LookupError::Unknown { name: "leters".to_owned(), nearest: Some("two:letters".to_owned()) };
        assert_eq!(catalog.find("leters"), Err(unknown));
        assert_eq!(catalog.entries[0].package(), Some("one"));
        assert_eq!(catalog.entries[2].package(), None);
    }
}
