//! Ranked full-text search over names, descriptions, triggers, headings and bodies.
//!
//! ```no_run
//! use rep_library::{Catalog, Options, search};
//!
//! let catalog = Catalog::discover(&Options { paths: vec!["skills".into()], ..Options::default() })?;
//! let index = search::Index::open(&catalog, search::is_findable, None);
//! for hit in index.search("fill in a tax form", 5) {
//!     println!("{:5.1} {}", hit.score, catalog.entries[hit.entry].qualified_name);
//! }
//! # Ok::<(), rep_library::LibraryError>(())
//! ```

mod document;
#[doc(hidden)]
pub mod fuzzing;
mod near;
mod rank;
mod stem;
mod store;
pub(crate) mod words;

use std::fs;
use std::path::Path;

use crate::catalog::{Catalog, CatalogEntry, Status};
use document::Document;
pub use document::Field;
use rank::Ranking;
use store::{Held, Writer};

/// A skill that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// Its place in the catalogue's entries.
    pub entry: usize,
    /// The sum of its points.
    pub score: f64,
    /// What the points are for, the most first.
    pub why: Vec<Reason>,
}

/// What some points are for.
#[derive(Clone, Debug, PartialEq)]
pub struct Reason {
    /// Where the words stand.
    pub field: Field,
    /// The words, as they were asked for.
    pub term: String,
    /// How much they count.
    pub points: f64,
}

/// Whether a skill is found: models may have it, or people may call it.
pub fn is_findable(entry: &CatalogEntry) -> bool {
    matches!(entry.status, Status::Active | Status::Hidden)
}

/// The words of a library's skills, ready to be asked.
pub struct Index {
    ranking: Ranking,
    /// For each document, its place in the catalogue.
    entries: Vec<usize>,
    /// How many skills had to be read; the others were known.
    pub read: usize,
    /// What was amiss with the index on disk, in words.
    pub notes: Vec<String>,
}

impl Index {
    /// Indexes the entries of a catalogue that are `wanted`. With a cache folder, only skills that changed are read.
    pub fn open(catalog: &Catalog, wanted: impl Fn(&CatalogEntry) -> bool, cache: Option<&Path>) -> Index {
        let file = cache.map(|folder| folder.join("search.idx"));
        let mut notes = Vec::new();
        let held = file.as_deref().map_or_else(|| Ok(Held::default()), store::load);
        let Held { mut vocabulary, documents: mut known } = held.unwrap_or_else(|reason| {
            notes.push(format!("the search index is made anew: {reason}"));
            Held::default()
        });
        let mut writer = None;
        let mut read = 0;
        let mut documents: Vec<Document> = Vec::new();
        let mut entries: Vec<usize> = (0..catalog.entries.len()).filter(|at| wanted(&catalog.entries[*at])).collect();
        // Equals come by name, whatever order the catalogue is in.
        entries.sort_by_key(|at| (&catalog.entries[*at].qualified_name, &catalog.entries[*at].location));
        for entry in entries.iter().map(|at| &catalog.entries[*at]) {
            // The file's times are taken before it is read: a change in between is then seen next time.
            let metadata = fs::metadata(&entry.location).ok();
            let stamp = metadata.as_ref().map_or(0, |metadata| document::stamp(entry, metadata));
            let document = match known.remove(&document::key(entry)) {
                Some(document) if document.stamp == stamp && stamp != 0 => Document { age: 0, ..document },
                _ => {
                    if read == 0 {
                        writer = begin(file.as_deref(), &mut notes);
                    }
                    read += 1;
                    let is_sure = writer.as_ref().zip(metadata).is_some_and(|(writer, file)| !writer.is_too_new(&file));
                    Document::read(entry, if is_sure { stamp } else { 0 }, &mut vocabulary)
                }
            };
            documents.push(document);
        }
        if let Some(writer) = writer
            && let Err(error) = writer.finish(&vocabulary, &documents, known.into_values())
        {
            notes.push(unwritten(&error));
        }
        Index { ranking: Ranking::new(vocabulary, documents), entries, read, notes }
    }

    /// How many skills are searched.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is nothing to search.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The best skills for a text, best first; equals by name.
    pub fn search(&self, text: &str, limit: usize) -> Vec<Hit> {
        let hits = self.ranking.search(text, limit).into_iter();
        hits.map(|(document, score, why)| Hit { entry: self.entries[document], score, why }).collect()
    }
}

fn begin(file: Option<&Path>, notes: &mut Vec<String>) -> Option<Writer> {
    let writer = Writer::begin(file?);
    writer.map_err(|error| notes.push(unwritten(&error))).ok()
}

fn unwritten(error: &std::io::Error) -> String {
    format!("the search index could not be kept: {}", crate::error::words(error))
}

#[cfg(test)]
mod tests;
