//! Finds a skill of a catalog by name, and explains why a name does not resolve.

use rep_model::suggestion::{nearest_by_name, suggest_name_or};

use crate::catalog::{Catalog, CatalogEntry, SkillStatus};
use crate::hosts::DiscoveryHost;
use crate::validation::{SkillViolation, VALIDATION_FAILED_MESSAGE, describe_violations};

/// The reason a name does not resolve to a skill that can be called.
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
    /// The skill is invalid.
    #[error("{VALIDATION_FAILED_MESSAGE}")]
    Invalid {
        /// The qualified name.
        name: String,
        /// The violations.
        violations: Vec<SkillViolation>,
        /// The reason, for people.
        reason: String,
    },
    /// The skill cannot be called.
    #[error("skill `{name}` is {}: {reason}", status.name())]
    NotCallable {
        /// The name.
        name: String,
        /// The status of the skill.
        status: SkillStatus,
        /// The reason.
        reason: String,
    },
    /// No skill has the name.
    #[error("skill `{name}` not found")]
    Unknown {
        /// The name.
        name: String,
        /// The skill with the most similar name.
        nearest: Option<String>,
    },
}

impl LookupError {
    /// Returns the stable code for programs.
    pub const fn code(&self) -> &'static str {
        match self {
            LookupError::Ambiguous { .. } => "AMBIGUOUS",
            LookupError::Invalid { .. } => "VALIDATION_FAILED",
            LookupError::NotCallable { .. } | LookupError::Unknown { .. } => "SKILL_NOT_FOUND",
        }
    }

    /// Returns what to do, in one or more lines.
    pub fn hints(&self) -> Vec<String> {
        match self {
            LookupError::Ambiguous { .. } => vec!["use `package:name`".to_owned()],
            LookupError::Invalid { name, violations, .. } => describe_violations(name, violations),
            LookupError::NotCallable { name, .. } => vec![format!("run `rep why {name}` for details")],
            LookupError::Unknown { nearest, .. } => {
                vec![suggest_name_or(nearest.as_deref(), "run `rep list` to see all skills")]
            }
        }
    }

    /// Returns the violations that make the skill invalid.
    pub fn violations(&self) -> &[SkillViolation] {
        match self {
            LookupError::Invalid { violations, .. } => violations,
            LookupError::Ambiguous { .. } | LookupError::NotCallable { .. } | LookupError::Unknown { .. } => &[],
        }
    }
}

impl Catalog {
    /// Returns the index of the skill that can be called by a plain or qualified name.
    pub fn find_callable(&self, name: &str) -> Result<usize, LookupError> {
        let Some(entry) = self.get(name) else { return Err(self.lookup_error(name)) };
        Ok(self.entries.iter().position(|other| other.qualified_name == entry.qualified_name).unwrap_or(0))
    }

    /// Returns the index of the skill with a name, regardless of its status: the one that takes precedence, or else the
    /// first copy.
    pub fn find_any(&self, name: &str) -> Result<usize, LookupError> {
        let is_meant = |entry: &CatalogEntry| entry.qualified_name == name || entry.name == name;
        let index = match self.get(name) {
            Some(winner) => self.entries.iter().position(|entry| entry.location == winner.location),
            None => self.entries.iter().position(is_meant),
        };
        index.ok_or_else(|| self.lookup_error(name))
    }

    /// Returns the reason a name cannot be called.
    pub fn lookup_error(&self, name: &str) -> LookupError {
        let name = name.to_owned();
        let is_meant = |entry: &&CatalogEntry| entry.qualified_name == name || entry.name == name;
        let copies: Vec<&CatalogEntry> = self.entries.iter().filter(is_meant).collect();
        let is_callable = |entry: &&&CatalogEntry| matches!(entry.status, SkillStatus::Active | SkillStatus::Hidden);
        let candidates: Vec<String> =
            copies.iter().filter(is_callable).map(|entry| entry.qualified_name.clone()).collect();
        match copies.first() {
            _ if candidates.len() > 1 => LookupError::Ambiguous { name, candidates },
            Some(entry) => entry.lookup_error(name),
            None => LookupError::Unknown { nearest: self.nearest_name(&name).map(str::to_owned), name },
        }
    }

    /// Returns the qualified name of the skill with the most similar name.
    pub fn nearest_name(&self, word: &str) -> Option<&str> {
        nearest_by_name(word, &self.entries, |entry| &entry.name).map(|entry| entry.qualified_name.as_str())
    }
}

impl CatalogEntry {
    /// Returns the reason this skill cannot be called by a name.
    pub fn lookup_error(&self, name: String) -> LookupError {
        let reason = self.reason.clone();
        match self.status {
            SkillStatus::Invalid => {
                LookupError::Invalid { name: self.qualified_name.clone(), violations: self.list_violations(), reason }
            }
            status => LookupError::NotCallable { name, status, reason },
        }
    }

    /// Returns the package of the skill.
    pub fn package(&self) -> Option<&str> {
        self.qualified_name.strip_suffix(self.name.as_str()).and_then(|package| package.strip_suffix(':'))
    }

    /// Returns how to make the skill active in a host, which does not know the user's decisions about trust and
    /// disabled skills.
    pub fn suggest_remedy_for_host(&self, host: &DiscoveryHost) -> Option<String> {
        match self.status {
            SkillStatus::Shadowed => Some("rename or remove one of the two".to_owned()),
            SkillStatus::Untrusted => Some(format!("trust the project in {}", host.name)),
            SkillStatus::Hidden if self.description.is_empty() => Some("add a description".to_owned()),
            _ => self.suggest_remedy(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, package: &str, status: SkillStatus) -> CatalogEntry {
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
            validation: crate::validation::ValidationMode::default(),
            skill,
            is_user_invocable: true,
            dependencies: Vec::new(),
        }
    }

    #[test]
    fn a_name_that_means_no_skill_says_why() {
        let entries = vec![
            entry("letters", "one", SkillStatus::Active),
            entry("letters", "two", SkillStatus::Active),
            entry("cards", "", SkillStatus::Disabled),
        ];
        let mut catalog = Catalog::default();
        catalog.entries = entries;
        assert_eq!(catalog.find_callable("two:letters"), Ok(1));
        assert_eq!(catalog.find_any("cards"), Ok(2));
        let words = |name: &str| catalog.find_callable(name).unwrap_err().to_string();
        assert_eq!(words("letters"), "`letters` could be `one:letters` or `two:letters`");
        assert_eq!(words("cards"), "skill `cards` is disabled: so");
        let unknown = LookupError::Unknown { name: "leters".to_owned(), nearest: Some("two:letters".to_owned()) };
        assert_eq!(catalog.find_callable("leters"), Err(unknown));
        assert_eq!(catalog.entries[0].package(), Some("one"));
        assert_eq!(catalog.entries[2].package(), None);
    }
}
