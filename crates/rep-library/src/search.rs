//! Ranked full-text search over names, descriptions, triggers, headings and bodies.
//!
//! ```no_run
//! use rep_library::{Catalog, LibraryOptions, search};
//!
//! let catalog = Catalog::discover(&LibraryOptions { paths: vec!["skills".into()], ..LibraryOptions::default() })?;
//! let index = search::SearchIndex::open(&catalog, search::is_findable, None);
//! for hit in index.search("fill in a tax form", 5) {
//!     println!("{:5.1} {}", hit.score, catalog.entries[hit.entry].qualified_name);
//! }
//! # Ok::<(), rep_library::LibraryError>(())
//! ```

mod document;
mod fit;
#[doc(hidden)]
pub mod fuzzing;
mod index_file;
mod ranking;
mod spelling;
mod stemmer;
pub(crate) mod stop_words;
pub(crate) mod words;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::catalog::{Catalog, CatalogEntry, SkillStatus};
use document::SearchDocument;
pub use document::SearchField;
pub(crate) use document::compute_checksum;
use index_file::{IndexContents, IndexWriter};
use ranking::SearchRanking;

/// The score of the first skill below which no skill fits. Calibrated on labelled requests; see `docs/finding.md`.
pub const SCORE_MIN: f64 = 34.0;

/// A search result.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchHit {
    /// The index of the catalog entry.
    pub entry: usize,
    /// The score, from 0 to 100: the share of the request that the first skill explains, and for the others their
    /// share of that.
    pub score: f64,
    /// The reasons for the score, highest first.
    pub why: Vec<ScoreReason>,
}

/// A part of a score.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoreReason {
    /// The field that contains the words.
    pub field: SearchField,
    /// The words as written in the query.
    pub term: String,
    /// The points.
    pub points: f64,
}

/// Returns whether a skill can be found: models can use it, or users can call it.
pub fn is_findable(entry: &CatalogEntry) -> bool {
    matches!(entry.status, SkillStatus::Active | SkillStatus::Hidden)
}

/// An index of the words of a library's skills.
pub struct SearchIndex {
    ranking: SearchRanking,
    /// The catalog index of each document.
    entries: Vec<usize>,
    /// The catalog indexes of each name, in lower case.
    names: BTreeMap<String, Vec<usize>>,
    /// The number of skills that were read. The others came from the cache.
    pub read: usize,
    /// Notes about problems with the index on disk.
    pub notes: Vec<String>,
}

impl SearchIndex {
    /// Indexes the entries of a catalog that are `wanted`. With a cache directory, reads only skills that changed.
    pub fn open(catalog: &Catalog, wanted: impl Fn(&CatalogEntry) -> bool, cache: Option<&Path>) -> SearchIndex {
        let file = cache.map(|folder| folder.join("search.idx"));
        let mut notes = Vec::new();
        let held = file.as_deref().map_or_else(|| Ok(IndexContents::default()), index_file::load_index);
        let IndexContents { mut vocabulary, documents: mut known } = held.unwrap_or_else(|reason| {
            notes.push(format!("rebuilding the search index: {reason}"));
            IndexContents::default()
        });
        let mut writer = None;
        let mut read = 0;
        let mut documents: Vec<SearchDocument> = Vec::new();
        let mut entries: Vec<usize> = (0..catalog.entries.len()).filter(|at| wanted(&catalog.entries[*at])).collect();
        // Ties are ordered by name, regardless of the order of the catalog.
        entries.sort_by_key(|at| (&catalog.entries[*at].qualified_name, &catalog.entries[*at].location));
        for entry in entries.iter().map(|at| &catalog.entries[*at]) {
            // The metadata is read before the file, so that a change in between is detected next time.
            let metadata = fs::metadata(&entry.location).ok();
            let stamp = metadata.as_ref().map_or(0, |metadata| document::compute_stamp(entry, metadata));
            let document = match known.remove(&document::document_key(entry)) {
                Some(document) if document.stamp == stamp && stamp != 0 => SearchDocument { age: 0, ..document },
                _ => {
                    if read == 0 {
                        writer = begin_index_file(file.as_deref(), &mut notes);
                    }
                    read += 1;
                    let is_sure = writer.as_ref().zip(metadata).is_some_and(|(writer, file)| !writer.is_too_new(&file));
                    SearchDocument::read(entry, if is_sure { stamp } else { 0 }, &mut vocabulary)
                }
            };
            documents.push(document);
        }
        if let Some(writer) = writer
            && let Err(error) = writer.finish(&vocabulary, &documents, known.into_values())
        {
            notes.push(describe_write_failure(&error));
        }
        let mut names: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for at in &entries {
            let entry = &catalog.entries[*at];
            names.entry(entry.name.to_lowercase()).or_default().push(*at);
            if entry.qualified_name != entry.name {
                names.entry(entry.qualified_name.to_lowercase()).or_default().push(*at);
            }
        }
        SearchIndex { ranking: SearchRanking::new(vocabulary, documents), entries, names, read, notes }
    }

    /// Returns the number of indexed skills.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether the index is empty.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the result of [`SearchIndex::search`] if the first skill reaches [`SCORE_MIN`], and nothing otherwise.
    pub fn find_fitting(&self, text: &str, limit: usize) -> Vec<SearchHit> {
        let mut hits = self.search(text, limit);
        if hits.first().is_some_and(|hit| hit.score < SCORE_MIN) {
            hits.clear();
        }
        hits
    }

    /// Returns all skills that share a word with a text, best first, whether they fit or not. Ties are ordered by name.
    pub fn search(&self, text: &str, limit: usize) -> Vec<SearchHit> {
        let hits = self.ranking.search(text, limit).into_iter();
        let mut hits: Vec<SearchHit> =
            hits.map(|(document, score, why)| SearchHit { entry: self.entries[document], score, why }).collect();
        let is_around = |letter: char| letter.is_whitespace() || "/\"'`“”".contains(letter);
        let name = text.trim_matches(is_around).to_lowercase();
        if let Some(named) = self.names.get(&name) {
            put_named_first(&mut hits, named, &name);
            hits.truncate(limit);
        }
        hits
    }
}

/// Puts the skills whose name is the whole text first. The name of a skill can be a word that is not searched, such as
/// `yes`.
fn put_named_first(hits: &mut Vec<SearchHit>, named: &[usize], name: &str) {
    const SCORE_MAX: f64 = 100.0;
    for entry in named {
        if let Some(hit) = hits.iter_mut().find(|hit| hit.entry == *entry && hit.score > 0.0) {
            let scale = SCORE_MAX / hit.score;
            for reason in &mut hit.why {
                reason.points *= scale;
            }
            hit.score = SCORE_MAX;
        } else {
            let reason = ScoreReason { field: SearchField::Name, term: name.to_owned(), points: SCORE_MAX };
            hits.push(SearchHit { entry: *entry, score: SCORE_MAX, why: vec![reason] });
        }
    }
    hits.sort_by_key(|hit| !named.contains(&hit.entry));
}

fn begin_index_file(file: Option<&Path>, notes: &mut Vec<String>) -> Option<IndexWriter> {
    let writer = IndexWriter::begin(file?);
    writer.map_err(|error| notes.push(describe_write_failure(&error))).ok()
}

fn describe_write_failure(error: &std::io::Error) -> String {
    format!("could not save the search index: {}", crate::error::describe_io_error(error))
}

#[cfg(test)]
mod tests;
