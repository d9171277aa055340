//! The index on disk: a single file that is replaced atomically and never trusted.
//!
//! It caches the words of skills, so that only changed skills are read again. Losing it only costs time. An invalid
//! file is ignored and rebuilt.
//!
//! ```text
//! "repindex" version:u32 checksum:u64         checksum of everything that follows
//! terms:n (length bytes)*                     the most frequent first, so that most numbers take one byte
//! documents:n (location stamp:u64 age (length word*)*5)*
//! ```
//! Numbers without a type are LEB128.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rep_storage::owner::ProcessOwner;
use rep_storage::platform::FileMarks;

use super::document::{SearchDocument, SearchVocabulary, compute_checksum};
use crate::{error, skill_reader};

const MAGIC: &[u8; 8] = b"repindex";
/// Changes with the file format and with the definition of a word.
const VERSION: u32 = 2;
pub(super) const HEADER_BYTES: usize = 8 + 4 + 8;
/// The maximum size of an index file.
const BYTES_MAX: u64 = 1024 * 1024 * 1024;
/// The number of index writes after which a skill that is in no library is removed.
const AGE_MAX: u32 = 8;
/// The maximum number of retained skills from other libraries.
const OTHERS_MAX: usize = 20_000;
/// The maximum lag of a file system's clock: one tick of the slowest kernel, with a margin.
const TICK_NS: i128 = 20_000_000;

/// The prefix of files that are being written.
const UNFINISHED_PREFIX: &str = "search.idx.";

/// The contents of an index file.
#[derive(Debug, Default)]
pub(super) struct IndexContents {
    pub(super) vocabulary: SearchVocabulary,
    pub(super) documents: BTreeMap<Vec<u8>, SearchDocument>,
}

/// Reads an index file. A missing file is empty, and an invalid one is an error.
pub(super) fn load_index(file: &Path) -> Result<IndexContents, String> {
    let metadata = match fs::metadata(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(IndexContents::default()),
        other => other.map_err(|error| error::describe_io_error(&error))?,
    };
    if metadata.len() > BYTES_MAX {
        return Err("it is too large".to_owned());
    }
    decode_index(&skill_reader::read_bytes(file, BYTES_MAX).map_err(|error| error.to_string())?)
}

/// Parses an index file.
fn decode_index(bytes: &[u8]) -> Result<IndexContents, String> {
    let Some((header, rest)) = bytes.split_at_checked(HEADER_BYTES) else { return Err("it is truncated".to_owned()) };
    let mut header = PayloadReader { rest: header };
    if header.take_bytes(8) != Some(MAGIC) {
        return Err("it is not a search index".to_owned());
    }
    match header.read_array::<4>().map(u32::from_le_bytes) {
        Some(VERSION) => {}
        Some(version) => return Err(format!("its version is {version}, not {VERSION}")),
        None => return Err("it is truncated".to_owned()),
    }
    if header.read_array::<8>().map(u64::from_le_bytes) != Some(compute_checksum(rest)) {
        return Err("its checksum is wrong".to_owned());
    }
    decode_payload(rest).ok_or_else(|| "it is inconsistent".to_owned())
}

/// Parses the payload. The checksum detects damage, but the payload is still treated as untrusted.
pub(super) fn decode_payload(payload: &[u8]) -> Option<IndexContents> {
    PayloadReader { rest: payload }.read_contents()
}

struct PayloadReader<'a> {
    rest: &'a [u8],
}

impl<'a> PayloadReader<'a> {
    fn take_bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }

    fn read_array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take_bytes(N)?.try_into().ok()
    }

    fn read_number(&mut self) -> Option<u32> {
        let mut value = 0;
        for (at, byte) in self.rest.iter().take(5).enumerate() {
            value |= u64::from(byte & 0x7f) << (7 * at);
            if byte & 0x80 == 0 {
                self.rest = &self.rest[at + 1..];
                return u32::try_from(value).ok();
            }
        }
        None
    }

    /// Reads a count of items of at least one byte each, which bounds the memory to allocate.
    fn read_count(&mut self) -> Option<usize> {
        let count = usize::try_from(self.read_number()?).ok()?;
        (count <= self.rest.len()).then_some(count)
    }

    fn read_contents(mut self) -> Option<IndexContents> {
        let count = self.read_count()?;
        let mut terms: Vec<Box<str>> = Vec::with_capacity(count);
        for _ in 0..count {
            let length = self.read_count()?;
            terms.push(std::str::from_utf8(self.take_bytes(length)?).ok()?.into());
        }
        let mut documents = BTreeMap::new();
        for _ in 0..self.read_count()? {
            let document = self.read_document(terms.len())?;
            documents.insert(document.location.clone(), document);
        }
        let vocabulary = SearchVocabulary::from_terms(terms)?;
        self.rest.is_empty().then_some(IndexContents { vocabulary, documents })
    }

    fn read_document(&mut self, terms: usize) -> Option<SearchDocument> {
        let length = self.read_count()?;
        let location = self.take_bytes(length)?.to_vec();
        let stamp = u64::from_le_bytes(self.read_array()?);
        let age = self.read_number()?;
        let mut document = SearchDocument { location, stamp, age, ..SearchDocument::default() };
        for at in 0..document.ends.len() {
            let count = self.read_count()?;
            document.words.reserve(count);
            for _ in 0..count {
                let word = self.read_number()?;
                if word as usize >= terms {
                    return None;
                }
                document.words.push(word);
            }
            document.ends[at] = document.words.len();
        }
        Some(document)
    }
}

/// An index file to be written. It has no name on disk before all skills are read, so that an interrupted search leaves
/// nothing behind.
pub(super) struct IndexWriter {
    file: PathBuf,
    /// When writing started, by the clock of the file system.
    began_ns: i128,
}

impl IndexWriter {
    /// Checks that the directory can be written, before the first skill is read.
    pub(super) fn begin(file: &Path) -> io::Result<IndexWriter> {
        let folder = file.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        remove_abandoned_files(folder);
        let clock = tempfile::tempfile_in(folder)?.metadata()?;
        Ok(IndexWriter { file: file.to_owned(), began_ns: changed_ns(&clock) })
    }

    /// Returns whether a file is so new that it could change again without a different timestamp.
    pub(super) fn is_too_new(&self, metadata: &fs::Metadata) -> bool {
        changed_ns(metadata) + TICK_NS >= self.began_ns
    }

    /// Writes the file and replaces the old one atomically.
    pub(super) fn finish(
        self,
        vocabulary: &SearchVocabulary,
        ours: &[SearchDocument],
        others: impl Iterator<Item = SearchDocument>,
    ) -> io::Result<()> {
        let others: Vec<SearchDocument> = others
            .map(|mut other| {
                other.age = other.age.saturating_add(1);
                other
            })
            .filter(|other| other.age <= AGE_MAX)
            .take(OTHERS_MAX)
            .collect();
        let documents: Vec<&SearchDocument> = ours.iter().chain(&others).collect();
        let bytes = encode_index(&vocabulary.terms, &documents);
        let folder = self.file.parent().unwrap_or(Path::new("."));
        let prefix = format!("{UNFINISHED_PREFIX}{}.", std::process::id());
        let mut temporary = tempfile::Builder::new().prefix(&prefix).tempfile_in(folder)?;
        temporary.write_all(&bytes)?;
        temporary.as_file().sync_all()?;
        temporary.persist(&self.file).map_err(|error| error.error)?;
        Ok(())
    }
}

/// Removes files left by processes that were killed while writing. Their names contain the process.
fn remove_abandoned_files(folder: &Path) {
    for item in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = item.file_name().to_string_lossy().into_owned();
        let Some(rest) = name.strip_prefix(UNFINISHED_PREFIX) else { continue };
        let owner = rest.split_once('.').and_then(|(pid, _)| pid.parse::<u32>().ok());
        let is_running = owner.is_some_and(|pid| ProcessOwner::from_pid(pid).is_some());
        if !is_running && item.metadata().is_ok_and(|metadata| metadata.is_file()) {
            // Another process may have removed it. If it remains, it only takes up space.
            let _ = fs::remove_file(item.path());
        }
    }
}

fn changed_ns(metadata: &fs::Metadata) -> i128 {
    FileMarks::from_metadata(metadata).changed_ns()
}

/// Encodes an index file. Words that no document uses are omitted.
pub(super) fn encode_index(terms: &[Box<str>], documents: &[&SearchDocument]) -> Vec<u8> {
    let mut counts = vec![0_u32; terms.len()];
    for word in documents.iter().flat_map(|document| &document.words) {
        counts[*word as usize] += 1;
    }
    let mut order: Vec<usize> = (0..terms.len()).filter(|term| counts[*term] > 0).collect();
    order.sort_by(|one, two| counts[*two].cmp(&counts[*one]).then_with(|| terms[*one].cmp(&terms[*two])));
    let mut numbers = vec![0; terms.len()];
    let mut out = Vec::new();
    append_number(order.len(), &mut out);
    for (at, term) in order.iter().enumerate() {
        numbers[*term] = at;
        append_bytes(terms[*term].as_bytes(), &mut out);
    }
    let mut sorted = documents.to_vec();
    sorted.sort_by(|one, two| one.location.cmp(&two.location));
    append_number(sorted.len(), &mut out);
    for document in sorted {
        append_bytes(&document.location, &mut out);
        out.extend(document.stamp.to_le_bytes());
        append_number(document.age as usize, &mut out);
        for field in super::SearchField::ALL {
            let words = document.field_words(field);
            append_number(words.len(), &mut out);
            for word in words {
                append_number(numbers[*word as usize], &mut out);
            }
        }
    }
    let mut file = MAGIC.to_vec();
    file.extend(VERSION.to_le_bytes());
    file.extend(compute_checksum(&out).to_le_bytes());
    file.extend(out);
    file
}

fn append_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    append_number(bytes.len(), out);
    out.extend_from_slice(bytes);
}

#[expect(clippy::cast_possible_truncation, reason = "only seven bits are used")]
fn append_number(mut value: usize, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample_documents() -> (Vec<Box<str>>, Vec<SearchDocument>) {
        let terms = ["pdf", "form", "unused", "fill"].into_iter().map(Box::from).collect();
        let document = |location: &str, words: &[u32], ends: [usize; 5]| SearchDocument {
            location: location.as_bytes().to_vec(),
            stamp: 7,
            age: 0,
            words: words.to_vec(),
            ends,
        };
        (terms, vec![document("/b", &[0, 1, 1, 3], [1, 2, 2, 2, 4]), document("/a", &[3], [0, 1, 1, 1, 1])])
    }

    fn sample_bytes() -> Vec<u8> {
        let (terms, documents) = sample_documents();
        encode_index(&terms, &documents.iter().collect::<Vec<_>>())
    }

    #[test]
    fn what_is_written_is_read_back() {
        let held = decode_index(&sample_bytes()).unwrap();
        let words = |location: &str, field| -> Vec<&str> {
            let document = &held.documents[location.as_bytes()];
            document.field_words(field).iter().map(|word| &*held.vocabulary.terms[*word as usize]).collect()
        };
        assert_eq!(held.vocabulary.terms.len(), 3, "the unused word is omitted");
        assert_eq!(words("/b", super::super::SearchField::Name), ["pdf"]);
        assert_eq!(words("/b", super::super::SearchField::Body), ["form", "fill"]);
        assert_eq!(words("/a", super::super::SearchField::Description), ["fill"]);
    }

    #[test]
    fn a_word_that_is_listed_twice_is_inconsistent() {
        let (terms, documents) = sample_documents();
        let twice: Vec<Box<str>> =
            terms.iter().map(|term| if &**term == "fill" { "form".into() } else { term.clone() }).collect();
        let bytes = encode_index(&twice, &documents.iter().collect::<Vec<_>>());
        assert_eq!(decode_index(&bytes).err().as_deref(), Some("it is inconsistent"));
    }

    #[test]
    fn every_cut_and_every_changed_byte_is_noticed() {
        let whole = sample_bytes();
        for length in 0..whole.len() {
            assert!(decode_index(&whole[..length]).is_err(), "cut at {length}");
        }
        for at in 0..whole.len() {
            for bit in 0..8 {
                let mut damaged = whole.clone();
                damaged[at] ^= 1 << bit;
                assert!(decode_index(&damaged).is_err(), "bit {bit} of byte {at}");
            }
        }
    }

    /// Nonsense can have a correct checksum. Parsing it must not panic.
    #[test]
    fn nonsense_with_a_right_checksum_is_no_panic() {
        let whole = sample_bytes();
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize
        };
        for _ in 0..20_000 {
            let mut inside = whole[HEADER_BYTES..].to_vec();
            for _ in 0..=random() % 4 {
                let at = random() % inside.len();
                inside[at] = u8::try_from(random() & 0xff).unwrap();
            }
            inside.truncate(inside.len() - random() % 3);
            let mut file = whole[..12].to_vec();
            file.extend(compute_checksum(&inside).to_le_bytes());
            file.extend(inside);
            if let Ok(held) = decode_index(&file) {
                let terms = held.vocabulary.terms.len();
                assert!(
                    held.documents.values().all(|document| document.words.iter().all(|word| (*word as usize) < terms))
                );
            }
        }
    }

    /// The age comes from an untrusted file.
    #[test]
    fn a_skill_of_any_age_is_forgotten_without_an_overflow() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("search.idx");
        let (terms, documents) = sample_documents();
        let others = [AGE_MAX - 1, AGE_MAX, u32::MAX].map(|age| SearchDocument {
            location: format!("/{age}").into_bytes(),
            age,
            ..documents[1].clone()
        });
        let writer = IndexWriter::begin(&file).unwrap();
        writer.finish(&SearchVocabulary::from_terms(terms).unwrap(), &documents[..1], others.into_iter()).unwrap();
        let held = load_index(&file).unwrap();
        let kept: Vec<&[u8]> = held.documents.keys().map(Vec::as_slice).collect();
        assert_eq!(kept, [b"/7".as_slice(), b"/b"]);
    }

    #[test]
    fn what_killed_processes_left_is_removed_and_nothing_new_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("search.idx");
        let running = format!("search.idx.{}.abc", std::process::id());
        // Process ids are below 2^22.
        for name in ["search.idx.4194999.abc", "search.idx.Xy12Z", running.as_str(), "other"] {
            fs::write(folder.path().join(name), "x").unwrap();
        }
        let names = || {
            let mut names: Vec<String> = fs::read_dir(folder.path())
                .unwrap()
                .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
                .collect();
            names.sort();
            names
        };
        // A search that is interrupted here leaves nothing.
        let writer = IndexWriter::begin(&file).unwrap();
        assert_eq!(names(), ["other".to_owned(), running.clone()]);
        writer.finish(&SearchVocabulary::default(), &[], std::iter::empty()).unwrap();
        assert_eq!(names(), ["other".to_owned(), "search.idx".to_owned(), running]);
    }

    #[test]
    fn another_version_is_left_aside() {
        let mut newer = sample_bytes();
        newer[8] = 3;
        assert_eq!(decode_index(&newer).unwrap_err(), "its version is 3, not 2");
    }
}
