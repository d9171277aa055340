//! A skill as search sees it: the words of its fields, in order.

use std::collections::HashMap;
use std::fs::Metadata;

use rep_model::yaml::YamlNode;
use rep_model::{markdown, skill_md};
use rep_storage::platform::{FileMarks, bytes_of};

use super::words;
use crate::catalog::CatalogEntry;
use crate::skill_reader;

/// The searched fields of a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SearchField {
    /// The name, with its package.
    Name,
    /// The description.
    Description,
    /// The declared triggers: `when_to_use`, `tags` and UASP triggers.
    Triggers,
    /// The headings of the body.
    Headings,
    /// The body, or the UASP file.
    Body,
}

impl SearchField {
    /// All fields, in storage order.
    pub const ALL: [SearchField; 5] =
        [SearchField::Name, SearchField::Description, SearchField::Triggers, SearchField::Headings, SearchField::Body];

    /// Returns the word used in answers.
    pub const fn name(self) -> &'static str {
        match self {
            SearchField::Name => "name",
            SearchField::Description => "description",
            SearchField::Triggers => "triggers",
            SearchField::Headings => "headings",
            SearchField::Body => "body",
        }
    }
}

/// The maximum number of indexed words per field. Longer bodies are data.
const WORDS_MAX: usize = 50_000;

/// The words of a skill.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SearchDocument {
    /// The path of the file, as bytes.
    pub(super) location: Vec<u8>,
    /// The state of the file when it was read, or 0 if that is uncertain.
    pub(super) stamp: u64,
    /// How often the index was written since the skill was last part of a library.
    pub(super) age: u32,
    /// The words of all fields, in order.
    pub(super) words: Vec<u32>,
    /// The end of each field in `words`.
    pub(super) ends: [usize; 5],
}

impl SearchDocument {
    /// Returns the words of a field.
    pub(super) fn field_words(&self, field: SearchField) -> &[u32] {
        let at = field as usize;
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.words[start..self.ends[at]]
    }

    /// Reads and splits a skill's file.
    pub(super) fn read(entry: &CatalogEntry, stamp: u64, vocabulary: &mut SearchVocabulary) -> SearchDocument {
        let mut document = SearchDocument { location: document_key(entry), stamp, ..SearchDocument::default() };
        // An unreadable skill is indexed with what the catalog contains.
        let bytes = skill_reader::read_bytes(&entry.location, skill_reader::MAIN_BYTES_MAX).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let body = match skill_md::split_frontmatter(&text) {
            Ok(parts) if !is_uasp(entry) => &text[parts.body.range()],
            _ => &text,
        };
        let headings: Vec<String> = if is_uasp(entry) {
            Vec::new()
        } else {
            markdown::parse_outline(body, 0).headings.into_iter().map(|heading| heading.text).collect()
        };
        let triggers = collect_trigger_text(entry);
        let fields = [&entry.qualified_name, &entry.description, &triggers, &headings.join("\n"), body];
        for (at, text) in fields.into_iter().enumerate() {
            let most = document.words.len() + WORDS_MAX;
            vocabulary.add_text(text, most, &mut document.words);
            document.ends[at] = document.words.len();
        }
        document
    }
}

fn is_uasp(entry: &CatalogEntry) -> bool {
    !entry.location.ends_with("SKILL.md")
}

/// Returns the key of a document.
pub(super) fn document_key(entry: &CatalogEntry) -> Vec<u8> {
    bytes_of(entry.location.as_os_str()).into_owned()
}

/// Computes a number that changes when the file or its name changes.
///
/// It includes the inode change time, which, unlike the modification time, cannot be set back.
pub(super) fn compute_stamp(entry: &CatalogEntry, metadata: &Metadata) -> u64 {
    let mut bytes = entry.qualified_name.as_bytes().to_vec();
    bytes.push(0);
    let state = FileMarks::from_metadata(metadata);
    for number in [state.modified.0, state.modified.1, state.changed.0, state.changed.1] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend(state.size_bytes.to_le_bytes());
    // 0 means "uncertain".
    compute_checksum(&bytes).max(1)
}

/// Returns the trigger text of a skill, beyond its description.
fn collect_trigger_text(entry: &CatalogEntry) -> String {
    let mut out = String::new();
    if let Some(front) = entry.skill.frontmatter() {
        // A textual `when_to_use` is already part of the description.
        let when = front.get("when_to_use").filter(|node| node.text().is_none());
        [when, front.get("tags")].into_iter().flatten().for_each(|node| append_texts(node, &mut out));
    }
    for view in entry.skill.uasp.iter().filter_map(rep_model::UaspFile::view) {
        if let Some(node) = view.triggers() {
            append_texts(node, &mut out);
        }
    }
    out
}

fn append_texts(node: &YamlNode, out: &mut String) {
    if let Some(text) = node.text() {
        out.push_str(text);
        out.push('\n');
    }
    node.items().into_iter().flatten().for_each(|item| append_texts(item, out));
    node.entries().into_iter().flatten().for_each(|entry| append_texts(&entry.value, out));
}

/// All known words, by number.
#[derive(Debug, Default)]
pub(super) struct SearchVocabulary {
    pub(super) terms: Vec<Box<str>>,
    numbers: HashMap<Box<str>, u32>,
    /// Caches the words of each run of letters, so that each is folded and stemmed once.
    runs: HashMap<Box<str>, Box<[u32]>>,
}

impl SearchVocabulary {
    /// Creates a vocabulary of words in the order of their numbers, or `None` if one is there twice.
    pub(super) fn from_terms(terms: Vec<Box<str>>) -> Option<Self> {
        let numbers: HashMap<Box<str>, u32> = terms.iter().cloned().zip(0..).collect();
        (numbers.len() == terms.len()).then(|| Self { terms, numbers, runs: HashMap::new() })
    }

    pub(super) fn find_number(&self, term: &str) -> Option<u32> {
        self.numbers.get(term).copied()
    }

    fn intern_term(&mut self, term: String) -> Option<u32> {
        if let Some(number) = self.find_number(&term) {
            return Some(number);
        }
        let number = u32::try_from(self.terms.len()).ok()?;
        let term = term.into_boxed_str();
        self.terms.push(term.clone());
        self.numbers.insert(term, number);
        Some(number)
    }

    /// Adds the words of a text until there are `most`.
    fn add_text(&mut self, text: &str, most: usize, into: &mut Vec<u32>) {
        for run in words::split_runs(text) {
            if into.len() >= most {
                return;
            }
            if let Some(numbers) = self.runs.get(run) {
                into.extend_from_slice(numbers);
                continue;
            }
            let mut found = Vec::new();
            words::split_run_words(run, &mut |_, term| found.push(term));
            let numbers: Box<[u32]> = found.into_iter().filter_map(|term| self.intern_term(term)).collect();
            into.extend_from_slice(&numbers);
            self.runs.insert(run.into(), numbers);
        }
    }
}

/// Computes a fast 64-bit checksum that detects damage and changes, not attacks. Every step is a bijection of the
/// previous state, so changing one word of eight bytes always changes the result.
pub(crate) fn compute_checksum(bytes: &[u8]) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut state = ODD ^ (bytes.len() as u64);
    let (words, rest) = bytes.as_chunks::<8>();
    let step = |state: u64, word: u64| (state ^ word).wrapping_mul(ODD).rotate_left(29);
    for word in words {
        state = step(state, u64::from_le_bytes(*word));
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    state = step(state, u64::from_le_bytes(last));
    (state ^ (state >> 32)).wrapping_mul(ODD)
}
