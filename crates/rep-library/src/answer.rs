//! Answers exact queries over the skills of a catalog, in the query language of UASP §6.
//!
//! A skill with a UASP file is queried directly. A Markdown skill is first converted to a document. Results are cached
//! by the digest of the bytes they were computed from, so a changed skill is never answered from stale data.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use rep_model::query::{QueryFilter, SkillQuery};
use rep_model::suggestion::nearest_names;
use rep_model::{DocumentOrigin, ExtractedFact, QueryIndex, ValuePathStep};
use rep_model::{FileContent, Skill, TreeEntry};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::catalog::{Catalog, CatalogEntry, SkillStatus};
use crate::validation::{SkillViolation, VALIDATION_FAILED_MESSAGE, ValidationMode, validate_skill};
use crate::{LibraryError, LookupError, skill_reader};

/// The maximum number of cached skills and of cached answers. A full cache is cleared. The index of a short skill takes
/// 32 KB, and making it again 0.2 ms.
const CACHED_INDEXES_MAX: usize = 64;
const CACHED_REPLIES_MAX: usize = 4096;
/// The maximum number of suggestions for a path that does not exist.
const SUGGESTIONS_MAX: usize = 8;

/// The answer to a query.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryReply {
    /// The skill's qualified name.
    pub skill: String,
    /// The path that was queried.
    pub path: String,
    /// The value at the path.
    pub value: Value,
    /// Whether the document was written by the author or extracted.
    pub origin: DocumentOrigin,
    /// The locations of extracted values: path, line of SKILL.md, and the reason to review them.
    pub lines: Vec<FactLocation>,
    /// Notes about how the query was interpreted.
    pub notes: Vec<String>,
    /// Declared versions that are not the hash of the content.
    pub version_warnings: Vec<SkillViolation>,
}

/// The location of an extracted value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactLocation {
    /// The value's path, with list items as numbers.
    pub at: String,
    /// The line of SKILL.md, starting at 1.
    pub line: usize,
    /// The reason a person should review the value.
    pub doubt: Option<String>,
    /// The extraction rule that found the value.
    pub rule: Option<&'static str>,
}

/// The name, in results, of the extracted facts that queries use: those the rules are confident about.
pub const EXTRACTED_FACTS: &str = "confident";

/// The reason a query has no answer.
#[derive(Debug)]
pub enum QueryError {
    /// The query cannot be parsed.
    Malformed(String),
    /// No available skill has the name.
    UnknownSkill {
        /// The name as given.
        name: String,
        /// The skills that the name could refer to.
        candidates: Vec<String>,
    },
    /// The path does not exist in the skill.
    UnknownPath {
        /// The skill.
        skill: String,
        /// The path.
        path: String,
        /// Similar paths that exist.
        near: Vec<String>,
        /// Whether the document was written by the author or extracted.
        origin: DocumentOrigin,
    },
    /// The skill is invalid.
    Invalid {
        /// The skill.
        skill: String,
        /// The violations.
        violations: Vec<SkillViolation>,
    },
    /// The skill has no content that can be queried.
    NothingToQuery {
        /// The skill.
        skill: String,
    },
    /// The skill could not be read.
    Unreadable(LibraryError),
}

impl QueryError {
    /// Returns the error code of UASP §9.6, or a separate code if the specification defines none.
    pub const fn code(&self) -> &'static str {
        match self {
            QueryError::Malformed(_) => "INVALID_QUERY",
            QueryError::UnknownSkill { .. } => "SKILL_NOT_FOUND",
            QueryError::UnknownPath { .. } => "PATH_NOT_FOUND",
            QueryError::Invalid { .. } | QueryError::NothingToQuery { .. } => "VALIDATION_FAILED",
            QueryError::Unreadable(_) => "UNREADABLE",
        }
    }

    /// Returns the message, worded as in the specification if it defines one.
    pub fn message(&self) -> String {
        match self {
            QueryError::Malformed(reason) => format!("{reason}; a query is `skill:path?key=value`"),
            QueryError::UnknownSkill { name, .. } => format!("Skill '{name}' is not loaded"),
            QueryError::UnknownPath { skill, path, .. } => format!("Path '{path}' not found in skill '{skill}'"),
            QueryError::Invalid { .. } => VALIDATION_FAILED_MESSAGE.to_owned(),
            QueryError::NothingToQuery { skill } => format!("Skill '{skill}' has nothing to query"),
            QueryError::Unreadable(error) => error.to_string(),
        }
    }
}

impl QueryError {
    /// Returns similar paths or skills that exist, most similar first.
    pub fn suggestions(&self) -> Vec<&str> {
        match self {
            QueryError::UnknownPath { path, near, .. } => {
                nearest_names(path, near.iter().map(String::as_str), SUGGESTIONS_MAX, 0.0)
            }
            QueryError::UnknownSkill { candidates, .. } => candidates.iter().map(String::as_str).collect(),
            QueryError::Malformed(_)
            | QueryError::Invalid { .. }
            | QueryError::NothingToQuery { .. }
            | QueryError::Unreadable(_) => Vec::new(),
        }
    }
}

/// The token cost of an answer compared with the file it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplyCost {
    /// The tokens of the answer.
    pub answer: usize,
    /// The tokens of the whole file.
    pub whole: usize,
}

impl QueryReply {
    /// Measures the token cost of the answer and of the file it comes from.
    pub fn measure_cost(&self, catalog: &Catalog) -> Result<ReplyCost, LibraryError> {
        let entry = catalog.get(&self.skill);
        let whole =
            entry.map(|entry| skill_reader::read_text(&entry.location, skill_reader::MAIN_BYTES_MAX)).transpose()?;
        Ok(ReplyCost {
            answer: rep_tokens::count(&self.value.to_string()),
            whole: rep_tokens::count(&whole.unwrap_or_default()),
        })
    }
}

/// A skill that queries are answered from.
pub struct QueryableSkill {
    /// The index of its document.
    pub index: QueryIndex,
    /// Declared versions that are not the hash of the content.
    pub version_warnings: Vec<SkillViolation>,
}

/// The digest of the bytes that a document was made from.
type StructureDigest = [u8; 32];

/// The key of a cached reply: the digest, the path and the filters.
type ReplyKey = (StructureDigest, String, Vec<QueryFilter>);

/// Answers queries and caches results. It can be shared between threads, and its cache never becomes stale.
#[derive(Default)]
pub struct QueryEngine {
    indexes: Mutex<HashMap<StructureDigest, Arc<QueryableSkill>>>,
    replies: Mutex<HashMap<ReplyKey, Arc<QueryReply>>>,
}

impl QueryEngine {
    /// Answers a query over the skills of a catalog.
    pub fn query(&self, catalog: &Catalog, text: &str) -> Result<Arc<QueryReply>, QueryError> {
        let query = SkillQuery::parse(text).map_err(|malformed| QueryError::Malformed(malformed.0))?;
        let readings = query.list_readings(|name| catalog.get(name).is_some());
        let mut first: Option<QueryError> = None;
        for (name, path) in readings {
            match resolve_skill_name(catalog, name) {
                Ok((entry, note)) => return self.query_entry(entry, path, &query.filters, note),
                Err(miss) => {
                    first.get_or_insert(miss);
                }
            }
        }
        Err(first.unwrap_or_else(|| QueryError::Malformed("missing skill before the `:`".to_owned())))
    }

    /// Answers a query over a single skill.
    pub fn query_entry(
        &self,
        entry: &CatalogEntry,
        path: &str,
        filters: &[QueryFilter],
        note: Option<String>,
    ) -> Result<Arc<QueryReply>, QueryError> {
        let (key, indexed) = self.index_entry(entry)?;
        let index = &indexed.index;
        let question = (key, path.to_owned(), filters.to_vec());
        if note.is_none()
            && let Some(reply) = self.replies.lock().get(&question).filter(|reply| reply.skill == entry.qualified_name)
        {
            return Ok(Arc::clone(reply));
        }
        let skill = entry.qualified_name.clone();
        let Some(found) = index.find_answer(path, filters) else {
            let near = index.suggest_paths(path);
            return Err(QueryError::UnknownPath { skill, path: path.to_owned(), near, origin: index.document.origin });
        };
        let line = |fact: &&ExtractedFact| {
            let (at, line, doubt) = (render_path(&fact.path), fact.line, fact.doubt.clone());
            FactLocation { at, line, doubt, rule: fact.rule }
        };
        let is_plain = note.is_none();
        let reply = Arc::new(QueryReply {
            skill,
            path: path.to_owned(),
            value: found.value.to_value(),
            origin: index.document.origin,
            lines: found.facts.iter().map(line).collect(),
            notes: note.into_iter().chain(found.note).collect(),
            version_warnings: indexed.version_warnings.clone(),
        });
        if is_plain {
            insert_bounded(&mut self.replies.lock(), CACHED_REPLIES_MAX, question, Arc::clone(&reply));
        }
        Ok(reply)
    }

    /// Returns a skill's query index, built from its current bytes.
    pub fn index_entry(&self, entry: &CatalogEntry) -> Result<(StructureDigest, Arc<QueryableSkill>), QueryError> {
        let name = || entry.qualified_name.clone();
        if entry.status == SkillStatus::Invalid {
            return Err(QueryError::Invalid { skill: name(), violations: entry.list_violations() });
        }
        let (skill, faults) = skill_reader::read_skill_with_faults(entry).map_err(QueryError::Unreadable)?;
        let key = digest_skill(&skill);
        if let Some(index) = self.indexes.lock().get(&key) {
            return Ok((key, Arc::clone(index)));
        }
        let validation = validate_skill(&skill, faults);
        if !validation.violations.is_empty() && entry.validation == ValidationMode::Enforced {
            return Err(QueryError::Invalid { skill: name(), violations: validation.violations });
        }
        let empty = || QueryError::NothingToQuery { skill: name() };
        let index = QueryIndex::new(rep_convert::document_from_skill(&skill).ok_or_else(empty)?);
        let index = Arc::new(QueryableSkill { index, version_warnings: validation.version_warnings });
        insert_bounded(&mut self.indexes.lock(), CACHED_INDEXES_MAX, key, Arc::clone(&index));
        Ok((key, index))
    }
}

/// Resolves the skill that a query names: by its exact name, or by a unique prefix that ends before a hyphen.
fn resolve_skill_name<'a>(catalog: &'a Catalog, name: &str) -> Result<(&'a CatalogEntry, Option<String>), QueryError> {
    if let Some(entry) = catalog.get(name) {
        return Ok((entry, None));
    }
    let begins = |entry: &&CatalogEntry| {
        let rest = |full: &str| full.strip_prefix(name).is_some_and(|rest| rest.starts_with('-'));
        matches!(entry.status, SkillStatus::Active | SkillStatus::Hidden)
            && (rest(&entry.qualified_name) || rest(&entry.name))
    };
    let found: Vec<&CatalogEntry> = catalog.entries.iter().filter(begins).collect();
    if let [entry] = found.as_slice() {
        return Ok((entry, Some(format!("`{name}` was interpreted as `{}`", entry.qualified_name))));
    }
    if let LookupError::Invalid { name, violations, .. } = catalog.lookup_error(name) {
        return Err(QueryError::Invalid { skill: name, violations });
    }
    let candidates = found.iter().map(|entry| entry.qualified_name.clone()).collect();
    Err(QueryError::UnknownSkill { name: name.to_owned(), candidates })
}

/// Computes the digest of everything a document depends on: the main files, and the names of the others.
fn digest_skill(skill: &Skill) -> StructureDigest {
    let mut hasher = Sha256::new();
    for (path, entry) in &skill.tree.entries {
        hasher.update((path.len() as u64).to_le_bytes());
        hasher.update(path.as_bytes());
        let (TreeEntry::File { content, .. } | TreeEntry::Link { content, .. }) = entry else { continue };
        if let FileContent::Bytes(bytes) = content {
            hasher.update((bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        }
    }
    hasher.finalize().into()
}

/// Renders a path with dots between keys and numbers.
pub fn render_path(path: &[ValuePathStep]) -> String {
    let word = |step: &ValuePathStep| match step {
        ValuePathStep::Key(key) => key.clone(),
        ValuePathStep::Item(number) => number.to_string(),
    };
    path.iter().map(word).collect::<Vec<_>>().join(".")
}

fn insert_bounded<K: std::hash::Hash + Eq, V>(map: &mut HashMap<K, V>, most: usize, key: K, value: V) {
    if map.len() >= most {
        map.clear();
    }
    map.insert(key, value);
}
