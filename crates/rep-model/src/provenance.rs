//! The provenance that a skill declares: repository, commit, reviewers and signature (Universal Agent Skill 2.1 §8).
//!
//! These are claims of the author. This module reads and shortens them for catalogs and records; it verifies nothing.

use crate::Frontmatter;
use crate::truncate::truncate_with_ellipsis;
use crate::yaml::YamlNode;

/// The maximum number of characters of a declared value in catalogs and records.
const VALUE_CHARS_MAX: usize = 256;
/// The maximum number of reviewers in catalogs and records.
const REVIEWERS_MAX: usize = 16;

/// The declared provenance of a skill. Only declared parts are present.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeclaredProvenance {
    /// The repository that the skill comes from, without credentials.
    pub source_repo: Option<String>,
    /// The commit in that repository.
    pub source_commit: Option<String>,
    /// The people who reviewed the skill.
    pub reviewed_by: Vec<String>,
    /// The signature, as text.
    pub signature: Option<String>,
}

impl DeclaredProvenance {
    /// Reads the `provenance` field of a frontmatter, or returns `None` if it declares nothing.
    ///
    /// ```
    /// use rep_model::provenance::DeclaredProvenance;
    /// use rep_model::{Skill, SkillTree};
    ///
    /// let text = "---\nname: pdf\nprovenance:\n  source_repo: https://me:key@example.com/r\n---\n";
    /// let (skill, _) = Skill::parse(SkillTree::from_texts("pdf", &[("SKILL.md", text)]));
    /// let declared = skill.frontmatter().and_then(DeclaredProvenance::from_frontmatter).expect("it declares one");
    /// assert_eq!(declared.source_repo.as_deref(), Some("https://example.com/r"));
    /// ```
    pub fn from_frontmatter(front: &Frontmatter) -> Option<Self> {
        Self::from_node(front.get("provenance")?)
    }

    /// Reads the value of a `provenance` field, or returns `None` if it declares nothing.
    pub fn from_node(node: &YamlNode) -> Option<Self> {
        let text = |key: &str| node.get(key).and_then(YamlNode::text).and_then(shorten_value);
        let reviewers = node.get("reviewed_by");
        let reviewed_by = match reviewers.and_then(YamlNode::items) {
            Some(items) => {
                items.iter().filter_map(YamlNode::text).filter_map(shorten_value).take(REVIEWERS_MAX).collect()
            }
            None => reviewers.and_then(YamlNode::text).and_then(shorten_value).into_iter().collect(),
        };
        let declared = Self {
            source_repo: text("source_repo").map(|address| remove_credentials(&address)),
            source_commit: text("source_commit"),
            reviewed_by,
            signature: text("signature"),
        };
        (declared != Self::default()).then_some(declared)
    }

    /// Returns the declared parts as pairs of a field name and its value, for output.
    pub fn rows(&self) -> Vec<(&'static str, String)> {
        let reviewers = (!self.reviewed_by.is_empty()).then(|| self.reviewed_by.join(", "));
        let rows = [
            ("source_repo", self.source_repo.clone()),
            ("source_commit", self.source_commit.clone()),
            ("reviewed_by", reviewers),
            ("signature", self.signature.clone()),
        ];
        rows.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }

    /// Renders the declared parts as a JSON object with the field names of the specification.
    pub fn to_json(&self) -> serde_json::Value {
        let mut fields = serde_json::Map::new();
        let texts = [
            ("source_repo", &self.source_repo),
            ("source_commit", &self.source_commit),
            ("signature", &self.signature),
        ];
        for (name, value) in texts {
            if let Some(value) = value {
                fields.insert(name.to_owned(), value.as_str().into());
            }
        }
        if !self.reviewed_by.is_empty() {
            fields.insert("reviewed_by".to_owned(), self.reviewed_by.clone().into());
        }
        serde_json::Value::Object(fields)
    }
}

fn shorten_value(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| truncate_with_ellipsis(text, VALUE_CHARS_MAX).into_owned())
}

/// Removes user name and password from an address: `https://me:key@host/r` becomes `https://host/r`.
pub fn remove_credentials(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else { return address.to_owned() };
    let authority_end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    match rest[..authority_end].rfind('@') {
        Some(at) => format!("{scheme}://{}", &rest[at + 1..]),
        None => address.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Skill, SkillTree};

    fn parse(provenance: &str) -> Option<DeclaredProvenance> {
        let text = format!("---\nname: a\ndescription: b\nprovenance:{provenance}\n---\n");
        let (skill, _) = Skill::parse(SkillTree::from_texts("a", &[("SKILL.md", &text)]));
        skill.frontmatter().and_then(DeclaredProvenance::from_frontmatter)
    }

    #[test]
    fn every_declared_part_is_read_and_nothing_else() {
        let declared = parse(
            "\n  source_repo: https://example.com/r\n  source_commit: 0a1b\n  reviewed_by: [Ada, Bob]\n  signature: s\n  \
             other: 1",
        );
        let json = serde_json::json!({
            "source_repo": "https://example.com/r",
            "source_commit": "0a1b",
            "reviewed_by": ["Ada", "Bob"],
            "signature": "s",
        });
        assert_eq!(declared.map(|declared| declared.to_json()), Some(json));
        for nothing in ["", " text", " []", " {}", "\n  source_repo: ''", "\n  reviewed_by: []"] {
            assert_eq!(parse(nothing), None, "{nothing}");
        }
        assert_eq!(parse("\n  reviewed_by: Ada").map(|declared| declared.reviewed_by), Some(vec!["Ada".to_owned()]));
    }

    #[test]
    fn credentials_are_removed_from_the_repository() {
        for (address, shown) in [
            ("https://me:key@example.com/r", "https://example.com/r"),
            ("https://key@example.com", "https://example.com"),
            ("https://a@b@example.com/r@1", "https://example.com/r@1"),
            ("https://example.com/r@1", "https://example.com/r@1"),
            ("git@example.com:r.git", "git@example.com:r.git"),
        ] {
            assert_eq!(remove_credentials(address), shown);
        }
    }

    #[test]
    fn long_values_and_lists_are_shortened() {
        let names = vec!["a"; 40].join(", ");
        let declared = parse(&format!("\n  signature: {}\n  reviewed_by: [{names}]", "x".repeat(5000)));
        let declared = declared.expect("it declares two parts");
        assert_eq!(declared.signature.map(|text| text.chars().count()), Some(VALUE_CHARS_MAX + 1));
        assert_eq!(declared.reviewed_by.len(), REVIEWERS_MAX);
    }
}
