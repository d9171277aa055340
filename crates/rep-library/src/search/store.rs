//! The index on disk: one file, replaced as a whole, never trusted.
//!
//! It holds what reading the skills gave, so that only skills that changed are read again. Losing it
//! costs time and nothing else; whatever is wrong with it, it is left aside and made anew.
//!
//! ```text
//! "repindex" version:u32 checksum:u64         the checksum is of all that follows
//! terms:n (length bytes)*                     the most frequent first, so that most numbers take one byte
//! documents:n (location stamp:u64 age (length word*)*5)*
//! ```
//! Numbers without a type are LEB128.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::document::{Document, Vocabulary, hash};
use crate::{error, read};

const MAGIC: &[u8; 8] = b"repindex";
/// Changes with the form of the file and with what counts as a word.
const VERSION: u32 = 1;
pub(super) const HEADER: usize = 8 + 4 + 8;
/// A larger file is not ours.
const BYTES_MAX: u64 = 1024 * 1024 * 1024;
/// How often the index is written before a skill that is in no library any more is forgotten.
const AGE_MAX: u32 = 8;
/// The most skills that are kept beyond those of the library at hand.
const OTHERS_MAX: usize = 20_000;
/// How far a file system's clock may lag: one tick of the slowest kernel, and some.
const TICK_NS: i128 = 20_000_000;

/// How the names of files begin that are being written.
const UNFINISHED: &str = "search.idx.";
/// After how many seconds such a file belongs to nobody.
const STALE_S: i64 = 3600;

/// What an index file holds.
#[derive(Debug, Default)]
pub(super) struct Held {
    pub(super) vocabulary: Vocabulary,
    pub(super) documents: BTreeMap<Vec<u8>, Document>,
}

/// Reads an index file. One that is not there is empty; one that is not sound is an error in words.
pub(super) fn load(file: &Path) -> Result<Held, String> {
    let metadata = match fs::metadata(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Held::default()),
        other => other.map_err(|error| error::words(&error))?,
    };
    if metadata.len() > BYTES_MAX {
        return Err("it is too large".to_owned());
    }
    decode(&read::bytes(file, BYTES_MAX).map_err(|error| error.to_string())?)
}

/// Reads the bytes of an index file.
fn decode(bytes: &[u8]) -> Result<Held, String> {
    let Some((header, rest)) = bytes.split_at_checked(HEADER) else { return Err("it is cut short".to_owned()) };
    let mut header = Reader { rest: header };
    if header.take(8) != Some(MAGIC) {
        return Err("it is no index".to_owned());
    }
    match header.word::<4>().map(u32::from_le_bytes) {
        Some(VERSION) => {}
        Some(version) => return Err(format!("its version is {version}, not {VERSION}")),
        None => return Err("it is cut short".to_owned()),
    }
    if header.word::<8>().map(u64::from_le_bytes) != Some(hash(rest)) {
        return Err("its checksum is wrong".to_owned());
    }
    decode_payload(rest).ok_or_else(|| "it is inconsistent".to_owned())
}

/// Reads what follows the header. The checksum finds damage; this part is still read as if anybody had written it.
pub(super) fn decode_payload(payload: &[u8]) -> Option<Held> {
    Reader { rest: payload }.held()
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }

    fn word<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn number(&mut self) -> Option<u32> {
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

    /// A count of things that take at least a byte each, so that nothing is set aside for what is not there.
    fn count(&mut self) -> Option<usize> {
        let count = usize::try_from(self.number()?).ok()?;
        (count <= self.rest.len()).then_some(count)
    }

    fn held(mut self) -> Option<Held> {
        let count = self.count()?;
        let mut terms: Vec<Box<str>> = Vec::with_capacity(count);
        for _ in 0..count {
            let length = self.count()?;
            terms.push(std::str::from_utf8(self.take(length)?).ok()?.into());
        }
        let mut documents = BTreeMap::new();
        for _ in 0..self.count()? {
            let document = self.document(terms.len())?;
            documents.insert(document.location.clone(), document);
        }
        self.rest.is_empty().then(|| Held { vocabulary: Vocabulary::of(terms), documents })
    }

    fn document(&mut self, terms: usize) -> Option<Document> {
        let length = self.count()?;
        let location = self.take(length)?.to_vec();
        let stamp = u64::from_le_bytes(self.word()?);
        let age = self.number()?;
        let mut document = Document { location, stamp, age, ..Document::default() };
        for at in 0..document.ends.len() {
            let count = self.count()?;
            document.words.reserve(count);
            for _ in 0..count {
                let word = self.number()?;
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

/// An index file that is being made beside the one it will replace.
pub(super) struct Writer {
    file: PathBuf,
    temporary: tempfile::NamedTempFile,
    /// When writing began, by the clock of the file system.
    began_ns: i128,
}

impl Writer {
    /// Begins a file, before the first skill is read.
    pub(super) fn begin(file: &Path) -> io::Result<Writer> {
        let folder = file.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let temporary = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(folder)?;
        let metadata = temporary.as_file().metadata()?;
        sweep(folder, &metadata);
        Ok(Writer { file: file.to_owned(), began_ns: changed_ns(&metadata), temporary })
    }

    /// Whether a file is so new that it could change once more without its times telling.
    pub(super) fn is_too_new(&self, metadata: &fs::Metadata) -> bool {
        changed_ns(metadata) + TICK_NS >= self.began_ns
    }

    /// Writes the file and puts it in place of the old one: whoever reads sees the one or the other, whole.
    pub(super) fn finish(
        mut self,
        vocabulary: &Vocabulary,
        ours: &[Document],
        others: impl Iterator<Item = Document>,
    ) -> io::Result<()> {
        let others: Vec<Document> = others
            .map(|mut other| {
                other.age = other.age.saturating_add(1);
                other
            })
            .filter(|other| other.age <= AGE_MAX)
            .take(OTHERS_MAX)
            .collect();
        let documents: Vec<&Document> = ours.iter().chain(&others).collect();
        let bytes = encode(&vocabulary.terms, &documents);
        self.temporary.write_all(&bytes)?;
        self.temporary.as_file().sync_all()?;
        self.temporary.persist(&self.file).map_err(|error| error.error)?;
        Ok(())
    }
}

/// Removes what a process left behind that was killed while it wrote. Nobody writes an index for an hour.
fn sweep(folder: &Path, now: &fs::Metadata) {
    for item in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_ours = item.file_name().to_string_lossy().starts_with(UNFINISHED);
        let is_stale = |metadata: fs::Metadata| metadata.is_file() && metadata.mtime() < now.mtime() - STALE_S;
        if is_ours && item.metadata().is_ok_and(is_stale) {
            // Somebody else may have swept it; if it stays, it only takes room.
            let _ = fs::remove_file(item.path());
        }
    }
}

fn changed_ns(metadata: &fs::Metadata) -> i128 {
    i128::from(metadata.ctime()) * 1_000_000_000 + i128::from(metadata.ctime_nsec())
}

/// The bytes of an index file. Words no document has are left out.
pub(super) fn encode(terms: &[Box<str>], documents: &[&Document]) -> Vec<u8> {
    let mut counts = vec![0_u32; terms.len()];
    for word in documents.iter().flat_map(|document| &document.words) {
        counts[*word as usize] += 1;
    }
    let mut order: Vec<usize> = (0..terms.len()).filter(|term| counts[*term] > 0).collect();
    order.sort_by(|one, two| counts[*two].cmp(&counts[*one]).then_with(|| terms[*one].cmp(&terms[*two])));
    let mut numbers = vec![0; terms.len()];
    let mut out = Vec::new();
    number(order.len(), &mut out);
    for (at, term) in order.iter().enumerate() {
        numbers[*term] = at;
        text(terms[*term].as_bytes(), &mut out);
    }
    let mut sorted = documents.to_vec();
    sorted.sort_by(|one, two| one.location.cmp(&two.location));
    number(sorted.len(), &mut out);
    for document in sorted {
        text(&document.location, &mut out);
        out.extend(document.stamp.to_le_bytes());
        number(document.age as usize, &mut out);
        for field in super::Field::ALL {
            let words = document.field(field);
            number(words.len(), &mut out);
            for word in words {
                number(numbers[*word as usize], &mut out);
            }
        }
    }
    let mut file = MAGIC.to_vec();
    file.extend(VERSION.to_le_bytes());
    file.extend(hash(&out).to_le_bytes());
    file.extend(out);
    file
}

fn text(bytes: &[u8], out: &mut Vec<u8>) {
    number(bytes.len(), out);
    out.extend_from_slice(bytes);
}

#[expect(clippy::cast_possible_truncation, reason = "seven bits are kept on purpose")]
fn number(mut value: usize, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> (Vec<Box<str>>, Vec<Document>) {
        let terms = ["pdf", "form", "unused", "fill"].into_iter().map(Box::from).collect();
        let document = |location: &str, words: &[u32], ends: [usize; 5]| Document {
            location: location.as_bytes().to_vec(),
            stamp: 7,
            age: 0,
            words: words.to_vec(),
            ends,
        };
        (terms, vec![document("/b", &[0, 1, 1, 3], [1, 2, 2, 2, 4]), document("/a", &[3], [0, 1, 1, 1, 1])])
    }

    fn bytes() -> Vec<u8> {
        let (terms, documents) = sample();
        encode(&terms, &documents.iter().collect::<Vec<_>>())
    }

    #[test]
    fn what_is_written_is_read_back() {
        let held = decode(&bytes()).unwrap();
        let words = |location: &str, field| -> Vec<&str> {
            let document = &held.documents[location.as_bytes()];
            document.field(field).iter().map(|word| &*held.vocabulary.terms[*word as usize]).collect()
        };
        assert_eq!(held.vocabulary.terms.len(), 3, "the unused word is left out");
        assert_eq!(words("/b", super::super::Field::Name), ["pdf"]);
        assert_eq!(words("/b", super::super::Field::Body), ["form", "fill"]);
        assert_eq!(words("/a", super::super::Field::Description), ["fill"]);
    }

    #[test]
    fn every_cut_and_every_changed_byte_is_noticed() {
        let whole = bytes();
        for length in 0..whole.len() {
            assert!(decode(&whole[..length]).is_err(), "cut at {length}");
        }
        for at in 0..whole.len() {
            for bit in 0..8 {
                let mut damaged = whole.clone();
                damaged[at] ^= 1 << bit;
                assert!(decode(&damaged).is_err(), "bit {bit} of byte {at}");
            }
        }
    }

    /// A checksum can be right over nonsense; reading it must still end well.
    #[test]
    fn nonsense_with_a_right_checksum_is_no_panic() {
        let whole = bytes();
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize
        };
        for _ in 0..20_000 {
            let mut inside = whole[HEADER..].to_vec();
            for _ in 0..=random() % 4 {
                let at = random() % inside.len();
                inside[at] = u8::try_from(random() & 0xff).unwrap();
            }
            inside.truncate(inside.len() - random() % 3);
            let mut file = whole[..12].to_vec();
            file.extend(hash(&inside).to_le_bytes());
            file.extend(inside);
            if let Ok(held) = decode(&file) {
                let terms = held.vocabulary.terms.len();
                assert!(
                    held.documents.values().all(|document| document.words.iter().all(|word| (*word as usize) < terms))
                );
            }
        }
    }

    /// The age comes from a file that is not trusted.
    #[test]
    fn a_skill_of_any_age_is_forgotten_without_an_overflow() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("search.idx");
        let (terms, documents) = sample();
        let others = [AGE_MAX - 1, AGE_MAX, u32::MAX].map(|age| Document {
            location: format!("/{age}").into_bytes(),
            age,
            ..documents[1].clone()
        });
        let writer = Writer::begin(&file).unwrap();
        writer.finish(&Vocabulary::of(terms), &documents[..1], others.into_iter()).unwrap();
        let held = load(&file).unwrap();
        let kept: Vec<&[u8]> = held.documents.keys().map(Vec::as_slice).collect();
        assert_eq!(kept, [b"/7".as_slice(), b"/b"]);
    }

    #[test]
    fn another_version_is_left_aside() {
        let mut newer = bytes();
        newer[8] = 2;
        assert_eq!(decode(&newer).unwrap_err(), "its version is 2, not 1");
    }
}
