//! A skill as search sees it: the words of its fields, in order.

use std::collections::HashMap;
use std::fs::Metadata;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;

use rep_model::yaml::Node;
use rep_model::{markdown, skill_md};

use super::words;
use crate::catalog::CatalogEntry;
use crate::read;

/// The parts of a skill that are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Field {
    /// Its name, with its package's.
    Name,
    /// Its description.
    Description,
    /// What it says itself it should be chosen for: `when_to_use`, `tags`, UASP triggers.
    Triggers,
    /// The headings of its body.
    Headings,
    /// Its body, or its UASP file.
    Body,
}

impl Field {
    /// All of them, in the order they are kept in.
    pub const ALL: [Field; 5] = [Field::Name, Field::Description, Field::Triggers, Field::Headings, Field::Body];

    /// The word in answers.
    pub const fn name(self) -> &'static str {
        match self {
            Field::Name => "name",
            Field::Description => "description",
            Field::Triggers => "triggers",
            Field::Headings => "headings",
            Field::Body => "body",
        }
    }
}

/// The most words of one field that are kept: a body beyond it is data.
const WORDS_MAX: usize = 50_000;

/// A skill's words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Document {
    /// The path of its file, as bytes.
    pub(super) location: Vec<u8>,
    /// What the file was when it was read; 0 where that is not sure.
    pub(super) stamp: u64,
    /// How often the index was written since the skill was last part of a library.
    pub(super) age: u32,
    /// The words of all fields, one field after the other.
    pub(super) words: Vec<u32>,
    /// Where each field ends in them.
    pub(super) ends: [usize; 5],
}

impl Document {
    /// The words of a field.
    pub(super) fn field(&self, field: Field) -> &[u32] {
        let at = field as usize;
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.words[start..self.ends[at]]
    }

    /// Reads a skill's file and takes it apart.
    pub(super) fn read(entry: &CatalogEntry, stamp: u64, vocabulary: &mut Vocabulary) -> Document {
        let mut document = Document { location: key(entry), stamp, ..Document::default() };
        // What cannot be read is searched by what the catalogue knows of it.
        let bytes = read::bytes(&entry.location, read::MAIN_BYTES_MAX).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let body = match skill_md::split(&text) {
            Ok(parts) if !is_uasp(entry) => &text[parts.body.range()],
            _ => &text,
        };
        let headings: Vec<String> = if is_uasp(entry) {
            Vec::new()
        } else {
            markdown::outline(body, 0).headings.into_iter().map(|heading| heading.text).collect()
        };
        let triggers = triggers(entry);
        let fields = [&entry.qualified_name, &entry.description, &triggers, &headings.join("\n"), body];
        for (at, text) in fields.into_iter().enumerate() {
            let most = document.words.len() + WORDS_MAX;
            vocabulary.add(text, most, &mut document.words);
            document.ends[at] = document.words.len();
        }
        document
    }
}

fn is_uasp(entry: &CatalogEntry) -> bool {
    !entry.location.ends_with("SKILL.md")
}

/// What a document is found by.
pub(super) fn key(entry: &CatalogEntry) -> Vec<u8> {
    entry.location.as_os_str().as_bytes().to_vec()
}

/// A number that changes when the file does, or the name it goes by.
///
/// The time of the last change of the file's record is in it: unlike the time of its content, nobody can set it back.
pub(super) fn stamp(entry: &CatalogEntry, metadata: &Metadata) -> u64 {
    let mut bytes = entry.qualified_name.as_bytes().to_vec();
    bytes.push(0);
    for number in [metadata.mtime(), metadata.mtime_nsec(), metadata.ctime(), metadata.ctime_nsec()] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend(metadata.size().to_le_bytes());
    // 0 means "not sure".
    hash(&bytes).max(1)
}

/// What a skill says it should be chosen for, beyond its description.
fn triggers(entry: &CatalogEntry) -> String {
    let mut out = String::new();
    if let Some(front) = entry.skill.front() {
        // A `when_to_use` that is text is part of the description already.
        let when = front.get("when_to_use").filter(|node| node.text().is_none());
        [when, front.get("tags")].into_iter().flatten().for_each(|node| texts(node, &mut out));
    }
    for view in entry.skill.uasp.iter().filter_map(rep_model::UaspFile::view) {
        if let Some(node) = view.triggers() {
            texts(node, &mut out);
        }
    }
    out
}

fn texts(node: &Node, out: &mut String) {
    if let Some(text) = node.text() {
        out.push_str(text);
        out.push('\n');
    }
    node.items().into_iter().flatten().for_each(|item| texts(item, out));
    node.entries().into_iter().flatten().for_each(|entry| texts(&entry.value, out));
}

/// All words there are, by number.
#[derive(Debug, Default)]
pub(super) struct Vocabulary {
    pub(super) terms: Vec<Box<str>>,
    numbers: HashMap<Box<str>, u32>,
    /// What runs of letters come to, so that each is folded and stemmed once.
    runs: HashMap<Box<str>, Box<[u32]>>,
}

impl Vocabulary {
    pub(super) fn of(terms: Vec<Box<str>>) -> Self {
        let numbers = terms.iter().cloned().zip(0..).collect();
        Self { terms, numbers, runs: HashMap::new() }
    }

    pub(super) fn number(&self, term: &str) -> Option<u32> {
        self.numbers.get(term).copied()
    }

    fn intern(&mut self, term: String) -> Option<u32> {
        if let Some(number) = self.number(&term) {
            return Some(number);
        }
        let number = u32::try_from(self.terms.len()).ok()?;
        let term = term.into_boxed_str();
        self.terms.push(term.clone());
        self.numbers.insert(term, number);
        Some(number)
    }

    /// Adds the words of a text until there are `most`.
    fn add(&mut self, text: &str, most: usize, into: &mut Vec<u32>) {
        for run in words::runs(text) {
            if into.len() >= most {
                return;
            }
            if let Some(numbers) = self.runs.get(run) {
                into.extend_from_slice(numbers);
                continue;
            }
            let mut found = Vec::new();
            words::of_run(run, &mut |_, term| found.push(term));
            let numbers: Box<[u32]> = found.into_iter().filter_map(|term| self.intern(term)).collect();
            into.extend_from_slice(&numbers);
            self.runs.insert(run.into(), numbers);
        }
    }
}

/// A quick 64-bit digest against damage and change, not against malice. Every step is a bijection of what went before, so
/// that one changed word of eight bytes always changes the result.
pub(super) fn hash(bytes: &[u8]) -> u64 {
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
