//! Exact answers from any skill of a catalogue: the query language of UASP §6 over the skills there are.
//!
//! A skill with a UASP file answers from it; a Markdown skill is structured first. What is worked out is kept under the
//! digest of the bytes it was worked out from, so that a skill that changed can never be answered from what it was.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use rep_model::query::{Filter, Query};
use rep_model::suggestion::nearest_names;
use rep_model::{Content, Entry, Skill};
use rep_model::{Index, Origin, Step};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::catalog::{Catalog, CatalogEntry, Status};
use crate::{LibraryError, read};

/// How many skills, and how many answers, are kept. When there are more, all are forgotten.
const INDEXES_MAX: usize = 256;
const REPLIES_MAX: usize = 4096;
/// The most suggestions for a path that does not exist.
const SUGGESTIONS_MAX: usize = 8;

/// An answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// The skill, by its qualified name.
    pub skill: String,
    /// The path that was asked.
    pub path: String,
    /// What stands there.
    pub value: Value,
    /// Whether the author structured it or we did.
    pub origin: Origin,
    /// Where extracted values were read: path, line of SKILL.md, and why a person should look.
    pub lines: Vec<Line>,
    /// What the asker should know about how the question was read.
    pub notes: Vec<String>,
}

/// Where an extracted value was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The value's path, items by number.
    pub at: String,
    /// The line of SKILL.md, from 1.
    pub line: usize,
    /// Why a person should look at it.
    pub doubt: Option<String>,
}

/// Why there is no answer.
#[derive(Debug)]
pub enum Miss {
    /// The query cannot be read.
    Malformed(String),
    /// No skill that may be asked bears the name.
    Skill {
        /// The name as given.
        name: String,
        /// The skills it could stand for.
        candidates: Vec<String>,
    },
    /// The skill has no such path.
    Path {
        /// The skill.
        skill: String,
        /// The path.
        path: String,
        /// Paths that do exist where it leads astray.
        near: Vec<String>,
    },
    /// The skill holds nothing that could be structured.
    Empty {
        /// The skill.
        skill: String,
    },
    /// The skill could not be read.
    Unreadable(LibraryError),
}

impl Miss {
    /// The code of UASP §9.6, and our own where it has none.
    pub const fn code(&self) -> &'static str {
        match self {
            Miss::Malformed(_) => "INVALID_QUERY",
            Miss::Skill { .. } => "SKILL_NOT_FOUND",
            Miss::Path { .. } => "PATH_NOT_FOUND",
            Miss::Empty { .. } => "VALIDATION_FAILED",
            Miss::Unreadable(_) => "UNREADABLE",
        }
    }

    /// The message, in the specification's words where it has some.
    pub fn message(&self) -> String {
        match self {
            Miss::Malformed(reason) => format!("{reason}; a query is `skill:path?key=value`"),
            Miss::Skill { name, .. } => format!("Skill '{name}' is not loaded"),
            Miss::Path { skill, path, .. } => format!("Path '{path}' not found in skill '{skill}'"),
            Miss::Empty { skill } => format!("Skill '{skill}' holds nothing that can be asked"),
            Miss::Unreadable(error) => error.to_string(),
        }
    }
}

impl Miss {
    /// What exists instead, most alike first: paths of the skill, or skills the name could stand for.
    pub fn suggestions(&self) -> Vec<&str> {
        match self {
            Miss::Path { path, near, .. } => nearest_names(path, near.iter().map(String::as_str), SUGGESTIONS_MAX, 0.0),
            Miss::Skill { candidates, .. } => candidates.iter().map(String::as_str).collect(),
            Miss::Malformed(_) | Miss::Empty { .. } | Miss::Unreadable(_) => Vec::new(),
        }
    }
}

/// What an answer costs in tokens, against reading the file it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplyCost {
    /// The answer.
    pub answer: usize,
    /// The whole file.
    pub whole: usize,
}

impl Reply {
    /// What the answer costs, against reading the file it comes from.
    pub fn cost(&self, catalog: &Catalog) -> Result<ReplyCost, LibraryError> {
        let entry = catalog.get(&self.skill);
        let whole = entry.map(|entry| read::text(&entry.location, read::MAIN_BYTES_MAX)).transpose()?;
        Ok(ReplyCost {
            answer: rep_tokens::count(&self.value.to_string()),
            whole: rep_tokens::count(&whole.unwrap_or_default()),
        })
    }
}

/// The digest of the bytes a structure was made from.
type Key = [u8; 32];

/// What a reply answers: the bytes, the path and the filters.
type Asked = (Key, String, Vec<Filter>);

/// What was worked out before. Shared between threads; holds nothing that could go stale.
#[derive(Default)]
pub struct Answers {
    indexes: Mutex<HashMap<Key, Arc<Index>>>,
    replies: Mutex<HashMap<Asked, Arc<Reply>>>,
}

impl Answers {
    /// Answers a query over the skills of a catalogue.
    pub fn query(&self, catalog: &Catalog, text: &str) -> Result<Arc<Reply>, Miss> {
        let query = Query::parse(text).map_err(|malformed| Miss::Malformed(malformed.0))?;
        let readings = query.readings(|name| catalog.get(name).is_some());
        let mut first: Option<Miss> = None;
        for (name, path) in readings {
            match find(catalog, name) {
                Ok((entry, note)) => return self.ask(entry, path, &query.filters, note),
                Err(miss) => {
                    first.get_or_insert(miss);
                }
            }
        }
        Err(first.unwrap_or_else(|| Miss::Malformed("there is no skill before the `:`".to_owned())))
    }

    /// Answers a query over one skill.
    pub fn ask(
        &self,
        entry: &CatalogEntry,
        path: &str,
        filters: &[Filter],
        note: Option<String>,
    ) -> Result<Arc<Reply>, Miss> {
        let (key, index) = self.index(entry)?;
        let question = (key, path.to_owned(), filters.to_vec());
        if note.is_none()
            && let Some(reply) = self.replies.lock().get(&question).filter(|reply| reply.skill == entry.qualified_name)
        {
            return Ok(Arc::clone(reply));
        }
        let skill = entry.qualified_name.clone();
        let Some(found) = index.ask(path, filters) else {
            let near = index.near(path);
            return Err(Miss::Path { skill, path: path.to_owned(), near });
        };
        let line = |fact: &&rep_model::Fact| Line { at: shown(&fact.path), line: fact.line, doubt: fact.doubt.clone() };
        let is_plain = note.is_none();
        let reply = Arc::new(Reply {
            skill,
            path: path.to_owned(),
            value: found.value.to_value(),
            origin: index.document.origin,
            lines: found.facts.iter().map(line).collect(),
            notes: note.into_iter().chain(found.note).collect(),
        });
        if is_plain {
            keep(&mut self.replies.lock(), REPLIES_MAX, question, Arc::clone(&reply));
        }
        Ok(reply)
    }

    /// A skill made ready for questions, from the bytes it holds now.
    pub fn index(&self, entry: &CatalogEntry) -> Result<(Key, Arc<Index>), Miss> {
        let skill = read::skill(entry).map_err(Miss::Unreadable)?;
        let key = digest(&skill);
        if let Some(index) = self.indexes.lock().get(&key) {
            return Ok((key, Arc::clone(index)));
        }
        let empty = || Miss::Empty { skill: entry.qualified_name.clone() };
        let index = Arc::new(Index::new(rep_convert::document_of(&skill).ok_or_else(empty)?));
        keep(&mut self.indexes.lock(), INDEXES_MAX, key, Arc::clone(&index));
        Ok((key, index))
    }
}

/// The skill a query names: exactly, else by the start of its name up to a hyphen where only one begins so.
fn find<'a>(catalog: &'a Catalog, name: &str) -> Result<(&'a CatalogEntry, Option<String>), Miss> {
    if let Some(entry) = catalog.get(name) {
        return Ok((entry, None));
    }
    let begins = |entry: &&CatalogEntry| {
        let rest = |full: &str| full.strip_prefix(name).is_some_and(|rest| rest.starts_with('-'));
        matches!(entry.status, Status::Active | Status::Hidden) && (rest(&entry.qualified_name) || rest(&entry.name))
    };
    let found: Vec<&CatalogEntry> = catalog.entries.iter().filter(begins).collect();
    if let [entry] = found.as_slice() {
        return Ok((entry, Some(format!("`{name}` was read as `{}`", entry.qualified_name))));
    }
    let candidates = found.iter().map(|entry| entry.qualified_name.clone()).collect();
    Err(Miss::Skill { name: name.to_owned(), candidates })
}

/// The digest of everything a structure is made from: the main files, and the names of the others.
fn digest(skill: &Skill) -> Key {
    let mut hasher = Sha256::new();
    for (path, entry) in &skill.tree.entries {
        hasher.update((path.len() as u64).to_le_bytes());
        hasher.update(path.as_bytes());
        let (Entry::File { content, .. } | Entry::Link { content, .. }) = entry else { continue };
        if let Content::Bytes(bytes) = content {
            hasher.update((bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        }
    }
    hasher.finalize().into()
}

/// A path for people: keys and numbers with dots between.
pub fn shown(path: &[Step]) -> String {
    let word = |step: &Step| match step {
        Step::Key(key) => key.clone(),
        Step::Item(number) => number.to_string(),
    };
    path.iter().map(word).collect::<Vec<_>>().join(".")
}

fn keep<K: std::hash::Hash + Eq, V>(map: &mut HashMap<K, V>, most: usize, key: K, value: V) {
    if map.len() >= most {
        map.clear();
    }
    map.insert(key, value);
}
